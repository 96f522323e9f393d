//! Taking the features of faces out of a photo, and putting others in.
//!
//! With `A` the way from photo to chip, `L` the lift and `U` the eigenfaces, `V = L U (U^T A L U)^-1`
//! is the change of a photo that adds given features to those of its chip, to each its own:
//! `U^T A V = 1`. [`split`] takes `V F` off, [`compose`] puts `V` times an estimate in its place. What is
//! left between them is public. Photos that leave the same bit for bit are neighbours, and since features
//! are whole numbers of cells, and samples fixed point, there are some. `proofs/public.md` says more of
//! them, and what is revealed.

use facedp::certified::{CELLS, Cells, Estimate};
use facedp::noise::Source;
use facedp::{CertifiedPlan, FeatureModel, Plane};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, MatRef, Par};
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::key::Secret;
use crate::lift::Lift;
use crate::patch::Patch;
use crate::photo::{Photo, Region};

/// The least singular value of `U^T A L U` at which features are taken to fit a photo: below, putting
/// one in changes its pixels more than a hundredfold.
const LEAST: f64 = 0.01;

/// A photo without the features of its faces. Nothing is claimed of what it shows.
pub struct Public {
    /// Blank where faces are.
    photo: Photo,
    faces: Vec<Rest>,
}

/// A face without its features: its samples, in fixed point.
struct Rest {
    place: Place,
    samples: Vec<i64>,
}

/// Splits a photo into what is public and the features of its faces (proofs/public.md).
pub fn split(
    photo: Photo,
    patches: &[Patch],
    plan: &CertifiedPlan,
) -> Result<(Public, Vec<Cells>)> {
    let mut public = Public { photo, faces: Vec::<Rest>::new() };
    public.photo.forget_metadata();
    let mut features = Vec::new();
    for (n, patch) in patches.iter().enumerate() {
        let place = Place::new(patch, &public.photo, plan)?
            .ok_or(Error::NoRoom { face: n + 1, features: plan.method().features })?;
        // Features of one face would be left in what is public of the other (proofs/faces.md).
        let clash = |face: &Rest| face.place.region.overlaps(place.region);
        if let Some(other) = public.faces.iter().position(clash) {
            return Err(Error::Overlap { first: other + 1, second: n + 1 });
        }
        let mut samples = public.photo.take(place.region);
        features.push(place.take(&mut samples, &public.photo, plan)?);
        public.faces.push(Rest { place, samples });
    }
    Ok((public, features))
}

/// Puts estimates of features into what is public. Sees nothing else (proofs/post-processing.md).
pub fn compose(public: Public, estimates: &[Estimate], plan: &CertifiedPlan) -> Photo {
    let Public { mut photo, faces } = public;
    for (Rest { place, mut samples }, estimate) in faces.into_iter().zip(estimates) {
        place.add(&mut samples, 1, estimate.features(), &photo, plan);
        photo.put(place.region, &samples);
    }
    photo
}

/// How far the features of a face are from an estimate that was put in: rounding and cutting to the
/// range of samples move them.
pub fn residual(
    photo: &Photo,
    patch: &Patch,
    estimate: &Estimate,
    plan: &CertifiedPlan,
) -> Result<f64> {
    let chip = patch.chip(photo, plan.model().side());
    let found = plan.model().project(&chip, plan.method().features)?;
    let apart = found.iter().zip(estimate.features()).map(|(a, b)| (a - b).abs());
    Ok(apart.fold(0.0, f64::max))
}

/// The randomness of a face. Keyed, it follows from everything that decides the noisy features, exactly:
/// the same noise on two sets of features would show their difference (proofs/repeated.md).
pub fn randomness(
    plan: &CertifiedPlan,
    photo: &[u8; 32],
    patch: &Patch,
    cells: &Cells,
    secret: &Secret,
) -> Result<Source<ChaCha20Rng>> {
    secret.source(&context(plan, photo, patch, cells))
}

/// What tells the noise of a face apart under a key: of equal lengths for equal plans.
pub(crate) fn context(
    plan: &CertifiedPlan,
    photo: &[u8; 32],
    patch: &Patch,
    cells: &Cells,
) -> Vec<u8> {
    let plan = blake3::hash(plan.name().as_bytes());
    let geometry = blake3::hash(format!("{patch:?}").as_bytes());
    let cells: Vec<[u8; 8]> = cells.numbers().iter().map(|cell| cell.to_le_bytes()).collect();
    let parts = [plan.as_bytes(), photo.as_slice(), geometry.as_bytes(), cells.as_flattened()];
    parts.concat()
}

/// What tells apart how features are taken out of a photo: budgets of releases add up only if it is the
/// same for them (proofs/repeated.md).
pub(crate) fn way(plan: &CertifiedPlan, patches: &[Patch]) -> String {
    let (model, features) = (plan.model().hash(), plan.method().features);
    let all = format!("{model}, {features} features, {CELLS} cells, {patches:?}");
    blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
}

/// Where a face is, and how features are put there. It depends on nothing that the photo shows.
struct Place {
    patch: Patch,
    region: Region,
    dual: Dual,
}

impl Place {
    /// None if the photo cannot hold so many features there.
    fn new(patch: &Patch, photo: &Photo, plan: &CertifiedPlan) -> Result<Option<Self>> {
        let region = patch.reach(photo, plan.model().side());
        let dual = Dual::new(patch, photo, plan.model(), plan.method().features)?;
        Ok(dual.map(|dual| Self { patch: *patch, region, dual }))
    }

    /// Takes the features out of samples. They are whole numbers of cells, so that samples which differ
    /// by whole numbers of cells leave the same behind.
    fn take(&self, samples: &mut [i64], photo: &Photo, plan: &CertifiedPlan) -> Result<Cells> {
        let model = plan.model();
        let luma = photo.luma_of_fixed(samples, self.region);
        let levels = |part: Region| {
            luma.crop(part.x - self.region.x, part.y - self.region.y, part.width, part.height)
        };
        let chip = self.patch.chip_of(photo, model.side(), levels);
        let cells = plan.grid().cells(&model.project(&chip, plan.method().features)?);
        self.add(samples, -1, &plan.grid().values(&cells), photo, plan);
        Ok(cells)
    }

    /// Adds features to samples, or takes them off.
    fn add(
        &self,
        samples: &mut [i64],
        sign: i64,
        features: &[f64],
        photo: &Photo,
        plan: &CertifiedPlan,
    ) {
        let change = self.dual.change(features, &self.patch, photo, plan.model());
        photo.add_fixed(samples, &lifted(&change, self.region), sign);
    }
}

/// `(U^T A L U)^-1` of proofs/public.md, which depends on where a face is and on nothing that it shows.
struct Dual {
    inverse: Mat<f64>,
}

impl Dual {
    fn new(
        patch: &Patch,
        photo: &Photo,
        model: &FeatureModel,
        features: usize,
    ) -> Result<Option<Self>> {
        let (side, pixels) = (model.side(), model.pixels());
        let mut seen = Vec::with_capacity(features * pixels);
        for face in model.eigenfaces().chunks_exact(pixels).take(features) {
            let lift = Lift::new(&Plane::new(side, side, face.to_vec())?, patch, photo);
            let chip = patch.chip_of(photo, side, |region| lifted(&lift, region));
            seen.extend_from_slice(chip.data());
        }
        let faces = &model.eigenfaces()[..features * pixels];
        let seen = MatRef::from_row_major_slice(&seen, features, pixels);
        let faces = MatRef::from_row_major_slice(faces, features, pixels);
        let mut product = Mat::zeros(features, features);
        matmul(&mut product, Accum::Replace, faces, seen.transpose(), 1.0, Par::Seq);
        let fits = |values: Vec<f64>| values.iter().all(|value| *value >= LEAST);
        let fits = product.singular_values().is_ok_and(fits);
        Ok(fits.then(|| Self { inverse: product.partial_piv_lu().inverse() }))
    }

    /// The change of a photo that adds features to a face.
    fn change(&self, features: &[f64], patch: &Patch, photo: &Photo, model: &FeatureModel) -> Lift {
        let side = model.side();
        let mut plane = Plane::zeros(side, side);
        for (n, face) in model.eigenfaces().chunks_exact(model.pixels()).enumerate() {
            let Some(row) = (n < features.len()).then(|| self.inverse.row(n)) else { break };
            let weight: f64 = row.iter().zip(features).map(|(a, b)| a * b).sum();
            plane.data_mut().iter_mut().zip(face).for_each(|(sum, value)| *sum += weight * value);
        }
        Lift::new(&plane, patch, photo)
    }
}

/// A lift's change of a region, nothing where it does not reach.
fn lifted(lift: &Lift, region: Region) -> Plane {
    let all = region.union(lift.region());
    let mut plane = Plane::zeros(region.width, region.height);
    let mut line = vec![0.0; all.width];
    for (y, out) in plane.data_mut().chunks_exact_mut(region.width.max(1)).enumerate() {
        line.fill(0.0);
        lift.add_row(all.x, region.y + y, &mut line);
        let from = &line[region.x - all.x..];
        out.iter_mut().zip(from).for_each(|(out, value)| *out = f64::from(*value));
    }
    plane
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use facedp::noise::experiment;
    use facedp::{CertifiedMethod, Epsilon, FeatureModel, Mechanism};

    use super::*;
    use crate::Workspace;
    use crate::eyes::Eyes;
    use crate::photo::Limits;

    fn plan(features: usize) -> CertifiedPlan {
        let model = include_bytes!("../../../assets/eigenfaces.safetensors");
        let model = Arc::new(FeatureModel::from_bytes(model).unwrap());
        let epsilon = Epsilon::new(64.0).unwrap();
        let mechanism = Mechanism::Knorm;
        CertifiedPlan::new(model, CertifiedMethod { epsilon, features, mechanism, shrink: true })
            .unwrap()
    }

    fn collins() -> (Photo, Patch) {
        let file = include_bytes!("../../../examples/photos/collins.jpg");
        let photo = Photo::decode(file, &Limits::default()).unwrap();
        let spot = Eyes::detector_only().unwrap();
        let spot = spot.central_face(&photo, &mut Workspace::default()).unwrap().unwrap();
        (photo, Patch::face(&spot.landmarks).unwrap())
    }

    /// The neighbours of the claim: photos in fixed point that differ in their features, by whole
    /// numbers of cells and however far.
    #[test]
    fn what_is_public_is_the_same_for_neighbours() {
        let plan = plan(64);
        let (mut photo, patch) = collins();
        let place = Place::new(&patch, &photo, &plan).unwrap().unwrap();
        let original = photo.take(place.region);
        let mut public = original.clone();
        let cells = place.take(&mut public, &photo, &plan).unwrap();
        for by in [1, -1, 2, 17, -133, 700, -4099, 21_001, 65_536, 90_000] {
            let moved = cells.numbers().iter().enumerate();
            let moved = moved.map(|(n, c)| if n % 3 == 0 { c + by } else { c - by / 2 });
            let moved = Cells::new(moved.collect());
            let mut neighbour = public.clone();
            place.add(&mut neighbour, 1, &plan.grid().values(&moved), &photo, &plan);
            assert_ne!(neighbour, original);
            let found = place.take(&mut neighbour, &photo, &plan).unwrap();
            assert_eq!(found, moved);
            assert_eq!(neighbour, public, "moved by {by} cells");
        }
    }

    #[test]
    fn a_photo_put_together_again_is_the_same_but_for_the_rounding_of_cells() {
        let plan = plan(64);
        let (photo, patch) = collins();
        let place = Place::new(&patch, &photo, &plan).unwrap().unwrap();
        let mut bare = photo.clone();
        let mut samples = bare.take(place.region);
        let cells = place.take(&mut samples, &bare, &plan).unwrap();
        place.add(&mut samples, 1, &plan.grid().values(&cells), &bare, &plan);
        bare.put(place.region, &samples);
        assert_eq!(bare.digest(), photo.digest());
    }

    #[test]
    fn a_composed_photo_has_the_features_that_were_drawn() {
        let plan = plan(64);
        let (photo, patch) = collins();
        let (public, cells) = split(photo.clone(), &[patch], &plan).unwrap();
        let noisy = plan.mechanism(&cells[0], &mut experiment(1, "compose")).unwrap();
        let estimate = plan.estimate(&noisy);
        let composed = compose(public, std::slice::from_ref(&estimate), &plan);
        let (before, after) = (
            residual(&photo, &patch, &estimate, &plan).unwrap(),
            residual(&composed, &patch, &estimate, &plan).unwrap(),
        );
        // Rounding moves a feature by a grey level or two, of thousands; clamping by more.
        println!("{before} {after}");
        assert!(after < 0.02 * before, "{before} {after}");
    }
}
