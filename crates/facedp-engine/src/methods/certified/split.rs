//! Removing the features of faces from a photo, and inserting others.
//!
//! Let `A` be the map from photo to chip, `L` the lift and `U` the eigenfaces. Then
//! `V = L U (U^T A L U)^-1` maps features to the change of the photo that adds exactly these features to
//! its chip: `U^T A V = 1`. [`split`] subtracts `V F`, where `F` are the features of the face; [`compose`]
//! adds `V` times an estimate. The photo between the two steps is public. Photos with bit-identical public
//! parts are neighbours. They exist because features are integer multiples of cells and samples are fixed
//! point. `proofs/public.md` describes them, and what is revealed.

use facedp::certified::{CELLS, Cells, CertifiedPlan, Estimate};
use facedp::{FeatureModel, Plane};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, MatRef, Par};

use crate::error::{Error, Result};
use crate::lift::Lift;
use crate::patch::Patch;
use crate::photo::{Photo, Region};

/// Smallest singular value of `U^T A L U` at which a photo can hold the features. Below it, inserting a
/// feature amplifies the change of pixels more than a hundredfold.
const MIN_SINGULAR: f64 = 0.01;

/// A photo without the features of its faces. The guarantee does not cover what it shows.
pub(super) struct PublicPhoto {
    /// All zero in the regions of faces.
    photo: Photo,
    faces: Vec<PublicFace>,
}

/// A face without its features.
struct PublicFace {
    site: FeatureSite,
    /// Samples of its region in fixed point.
    samples: Vec<i64>,
}

/// Splits a photo into its public part and the features of its faces (proofs/public.md).
pub(super) fn split(
    photo: Photo,
    patches: &[Patch],
    plan: &CertifiedPlan,
) -> Result<(PublicPhoto, Vec<Cells>)> {
    let mut public = PublicPhoto { photo, faces: Vec::<PublicFace>::new() };
    public.photo.drop_metadata();
    let mut features = Vec::new();
    for (n, patch) in patches.iter().enumerate() {
        let site = FeatureSite::new(patch, &public.photo, plan)?
            .ok_or(Error::NoRoom { face: n + 1, features: plan.method().features })?;
        // The public part of one face would contain features of the other (proofs/faces.md).
        let overlaps = |face: &PublicFace| face.site.region.overlaps(site.region);
        if let Some(other) = public.faces.iter().position(overlaps) {
            return Err(Error::Overlap { first: other + 1, second: n + 1 });
        }
        let mut samples = public.photo.take(site.region);
        features.push(site.remove(&mut samples, &public.photo, plan)?);
        public.faces.push(PublicFace { site, samples });
    }
    Ok((public, features))
}

/// Inserts estimates of features into the public part. It has no other input (proofs/post-processing.md).
pub(super) fn compose(public: PublicPhoto, estimates: &[Estimate], plan: &CertifiedPlan) -> Photo {
    let PublicPhoto { mut photo, faces } = public;
    for (PublicFace { site, mut samples }, estimate) in faces.into_iter().zip(estimates) {
        site.add(&mut samples, 1, estimate.features(), &photo, plan);
        photo.put(site.region, &samples);
    }
    photo
}

/// Largest distance between the features of a face and the estimate that was inserted. Rounding and
/// clamping of samples cause it.
pub(super) fn residual(
    photo: &Photo,
    patch: &Patch,
    estimate: &Estimate,
    plan: &CertifiedPlan,
) -> Result<f64> {
    let chip = patch.chip(photo, plan.model().side());
    let found = plan.model().project(&chip, plan.method().features)?;
    let distances = found.iter().zip(estimate.features()).map(|(a, b)| (a - b).abs());
    Ok(distances.fold(0.0, f64::max))
}

/// Identifies how features were split off a photo. The budgets of two releases add up only if it is the
/// same for both (proofs/repeated.md). Ledgers hold it: the text that is hashed must not change.
pub(super) fn split_fingerprint(plan: &CertifiedPlan, patches: &[Patch]) -> String {
    let (model, features) = (plan.model().hash(), plan.method().features);
    let patches: Vec<String> = patches.iter().map(Patch::fingerprint).collect();
    let patches = patches.join(", ");
    let all = format!("{model}, {features} features, {CELLS} cells, [{patches}]");
    blake3::hash(all.as_bytes()).to_hex()[..16].to_owned()
}

/// The position of a face, and the map that inserts features there. Neither depends on the samples of the
/// photo.
struct FeatureSite {
    patch: Patch,
    region: Region,
    dual: Dual,
}

impl FeatureSite {
    /// None if the photo cannot hold that many features there.
    fn new(patch: &Patch, photo: &Photo, plan: &CertifiedPlan) -> Result<Option<Self>> {
        let region = patch.source_region(photo, plan.model().side());
        let dual = Dual::new(patch, photo, plan.model(), plan.method().features)?;
        Ok(dual.map(|dual| Self { patch: *patch, region, dual }))
    }

    /// Removes the features from samples and returns them, rounded to cells. Samples whose features differ
    /// by whole cells have the same remainder.
    fn remove(&self, samples: &mut [i64], photo: &Photo, plan: &CertifiedPlan) -> Result<Cells> {
        let model = plan.model();
        let luma = photo.luma_of_fixed(samples, self.region);
        let levels = |part: Region| {
            luma.crop(part.x - self.region.x, part.y - self.region.y, part.width, part.height)
        };
        let chip = self.patch.chip_from(photo, model.side(), levels);
        let cells = plan.grid().cells(&model.project(&chip, plan.method().features)?);
        self.add(samples, -1, &plan.grid().values(&cells), photo, plan);
        Ok(cells)
    }

    /// Adds features to samples, or subtracts them if `sign` is -1.
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

/// `(U^T A L U)^-1` of proofs/public.md. It depends on the position of a face, not on its samples.
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
        let mut chips = Vec::with_capacity(features * pixels);
        for face in model.eigenfaces().chunks_exact(pixels).take(features) {
            let lift = Lift::new(&Plane::new(side, side, face.to_vec())?, patch, photo);
            let chip = patch.chip_from(photo, side, |region| lifted(&lift, region));
            chips.extend_from_slice(chip.data());
        }
        let faces = &model.eigenfaces()[..features * pixels];
        let chips = MatRef::from_row_major_slice(&chips, features, pixels);
        let faces = MatRef::from_row_major_slice(faces, features, pixels);
        let mut product = Mat::zeros(features, features);
        matmul(&mut product, Accum::Replace, faces, chips.transpose(), 1.0, Par::Seq);
        let fits = |values: Vec<f64>| values.iter().all(|value| *value >= MIN_SINGULAR);
        let fits = product.singular_values().is_ok_and(fits);
        Ok(fits.then(|| Self { inverse: product.partial_piv_lu().inverse() }))
    }

    /// The change of a photo that adds features to a face: `V` times the features.
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

/// The change that a lift makes to a region; 0 outside the lift.
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

    use facedp::certified::{CertifiedMethod, Mechanism};
    use facedp::noise::experiment;
    use facedp::{Epsilon, FeatureModel};

    use super::*;
    use crate::Workspace;
    use crate::detect::FaceDetector;
    use crate::photo::Limits;

    fn plan(features: usize) -> CertifiedPlan {
        let model = include_bytes!("../../../../../assets/eigenfaces.safetensors");
        let model = Arc::new(FeatureModel::from_bytes(model).unwrap());
        let epsilon = Epsilon::new(64.0).unwrap();
        let mechanism = Mechanism::Knorm;
        CertifiedPlan::new(model, CertifiedMethod { epsilon, features, mechanism, shrink: true })
            .unwrap()
    }

    fn collins() -> (Photo, Patch) {
        let file = include_bytes!("../../../../../examples/photos/collins.jpg");
        let photo = Photo::decode(file, &Limits::default()).unwrap();
        let detector = FaceDetector::new().unwrap();
        let face = detector.central_face(&photo, &mut Workspace::default()).unwrap().unwrap();
        (photo, Patch::face(&face.landmarks).unwrap())
    }

    /// Neighbours are photos in fixed point whose features differ by whole cells, by any amount.
    #[test]
    fn neighbours_have_the_same_public_part() {
        let plan = plan(64);
        let (mut photo, patch) = collins();
        let site = FeatureSite::new(&patch, &photo, &plan).unwrap().unwrap();
        let original = photo.take(site.region);
        let mut public = original.clone();
        let cells = site.remove(&mut public, &photo, &plan).unwrap();
        for by in [1, -1, 2, 17, -133, 700, -4099, 21_001, 65_536, 90_000] {
            let moved = cells.numbers().iter().enumerate();
            let moved = moved.map(|(n, c)| if n % 3 == 0 { c + by } else { c - by / 2 });
            let moved = Cells::new(moved.collect());
            let mut neighbour = public.clone();
            site.add(&mut neighbour, 1, &plan.grid().values(&moved), &photo, &plan);
            assert_ne!(neighbour, original);
            let found = site.remove(&mut neighbour, &photo, &plan).unwrap();
            assert_eq!(found, moved);
            assert_eq!(neighbour, public, "moved by {by} cells");
        }
    }

    #[test]
    fn removing_and_adding_the_features_restores_the_photo() {
        let plan = plan(64);
        let (photo, patch) = collins();
        let site = FeatureSite::new(&patch, &photo, &plan).unwrap().unwrap();
        let mut bare = photo.clone();
        let mut samples = bare.take(site.region);
        let cells = site.remove(&mut samples, &bare, &plan).unwrap();
        site.add(&mut samples, 1, &plan.grid().values(&cells), &bare, &plan);
        bare.put(site.region, &samples);
        assert_eq!(bare.digest(), photo.digest());
    }

    #[test]
    fn a_composed_photo_has_the_drawn_features() {
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
        // Rounding moves a feature by a grey level or two out of thousands; clamping moves it further.
        println!("{before} {after}");
        assert!(after < 0.02 * before, "{before} {after}");
    }
}
