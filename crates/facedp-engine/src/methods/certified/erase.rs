//! Erasing faces: what was inside their outlines becomes features, and the photo is left blank there.

use std::sync::OnceLock;

use facedp::certified::{Cells, CertifiedPlan};
use facedp::faces::FaceModel;

use super::frame::{Frame, Polar, disc, from_disc};
use crate::photo::Photo;

/// Cells along a side of a frame.
pub(super) const SIDE: usize = 96;
/// Where surroundings are sampled: distances from the centre, and the number of angles.
const RINGS: [f32; 3] = [1.06, 1.16, 1.3];
const ANGLES: usize = 24;

/// A photo that is blank inside the outlines of its faces. It is public.
pub(super) struct PublicPhoto {
    pub(super) photo: Photo,
    pub(super) frames: Vec<Frame>,
}

/// Frames of faces, and which pixel belongs to which.
struct Owners<'a>(&'a [Frame]);

impl Owners<'_> {
    /// The face whose outline has a pixel inside; where outlines overlap, the one to whose centre it is nearer,
    /// as a share of the outline. So every pixel belongs to one face at most, whatever the order of the faces,
    /// which depends on pixels (proofs/face.md).
    fn of(&self, x: usize, y: usize) -> Option<usize> {
        let radii = self.0.iter().enumerate().map(|(n, frame)| (n, frame.radius(x, y)));
        let inside = radii.filter(|(_, radius)| *radius < 1.0);
        let order = |a: usize, b: usize| self.0[a].cmp_places(&self.0[b]);
        inside.min_by(|a, b| a.1.total_cmp(&b.1).then_with(|| order(a.0, b.0))).map(|(n, _)| n)
    }
}

impl PublicPhoto {
    /// Whether a pixel was erased, and for which face.
    pub(super) fn owner(&self, x: usize, y: usize) -> Option<usize> {
        Owners(&self.frames).of(x, y)
    }

    /// The colour of a pixel that was not erased.
    pub(super) fn known(&self, [x, y]: [f32; 2]) -> Option<[f32; 3]> {
        let (x, y) = pixel(&self.photo, [x, y])?;
        self.owner(x, y).is_none().then(|| self.photo.colour(x, y))
    }

    /// The surroundings of a face, from pixels that were not erased.
    pub(super) fn context(&self, face: usize) -> Vec<f32> {
        let frame = &self.frames[face];
        let mut samples: Vec<Option<[f32; 3]>> = Vec::new();
        for radius in RINGS {
            for n in 0..ANGLES {
                let angle = n as f32 * std::f32::consts::TAU / ANGLES as f32;
                let cell = from_disc(Polar { radius, angle });
                let corner = cell.map(|v| v - 0.5 / SIDE as f32);
                samples.push(mean(subsamples(frame, corner).filter_map(|at| self.known(at))));
            }
        }
        // Where nothing is known, the surroundings are as elsewhere.
        let other = mean(samples.iter().flatten().copied()).unwrap_or([f32::NAN; 3]);
        samples.into_iter().flat_map(|sample| sample.unwrap_or(other)).collect()
    }

    /// Coordinates of a face as far as its surroundings tell them.
    pub(super) fn predicted(&self, face: usize, model: &FaceModel) -> Vec<f32> {
        let context = self.context(face);
        match context.iter().any(|value| value.is_nan()) {
            true => vec![0.0; model.features()],
            false => model.predicted(&context),
        }
    }
}

/// Erases faces. Returns the photo without them and their features; nothing else of what was inside the
/// outlines is left (proofs/face.md).
pub(super) fn erase(
    mut photo: Photo,
    frames: Vec<Frame>,
    plan: &CertifiedPlan,
) -> (PublicPhoto, Vec<Cells>) {
    photo.drop_metadata();
    let faces: Vec<Vec<f32>> = (0..frames.len()).map(|n| inside(&photo, &frames, n)).collect();
    for frame in &frames {
        let region = frame.region(&photo);
        for y in region.y..region.y + region.height {
            for x in region.x..region.x + region.width {
                if frame.radius(x, y) < 1.0 {
                    photo.erase(x, y);
                }
            }
        }
    }
    let public = PublicPhoto { photo, frames };
    let cells = faces.iter().enumerate().map(|(n, face)| {
        let expected = public.predicted(n, plan.model());
        let features = plan.model().features_of(face, &expected, plan.method().features);
        plan.grid().cells(&features)
    });
    let cells = cells.collect();
    (public, cells)
}

/// A face and its surroundings as a model is fitted to them.
pub fn sample(mut photo: Photo, frame: Frame) -> (Vec<f32>, Vec<f32>) {
    let frames = vec![frame];
    let face = inside(&photo, &frames, 0);
    photo.drop_metadata();
    let public = PublicPhoto { photo, frames };
    let context = public.context(0);
    (face, context)
}

/// The cells of a frame inside the outline, row by row.
pub(super) fn cells() -> impl Iterator<Item = [usize; 2]> {
    static CELLS: OnceLock<Vec<[usize; 2]>> = OnceLock::new();
    let inside =
        |cell: &[usize; 2]| disc(cell.map(|v| (v as f32 + 0.5) / SIDE as f32)).radius < 1.0;
    let all = || (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| [x, y]));
    CELLS.get_or_init(|| all().filter(inside).collect()).iter().copied()
}

/// Red, green and blue of all cells inside the outline; NaN where the photo has no pixel that belongs to
/// the face.
fn inside(photo: &Photo, frames: &[Frame], face: usize) -> Vec<f32> {
    let owners = Owners(frames);
    let colour = |at: [f32; 2]| {
        let (x, y) = pixel(photo, at)?;
        (owners.of(x, y) == Some(face)).then(|| photo.colour(x, y))
    };
    let value = |cell: [usize; 2]| {
        let corner = cell.map(|v| v as f32 / SIDE as f32);
        mean(subsamples(&frames[face], corner).filter_map(colour)).unwrap_or([f32::NAN; 3])
    };
    cells().flat_map(value).collect()
}

/// Points of the photo, evenly spread over a cell of a frame.
fn subsamples(frame: &Frame, corner: [f32; 2]) -> impl Iterator<Item = [f32; 2]> {
    let count = ((frame.size() / SIDE as f32).ceil() as usize).clamp(2, 8);
    let step = 1.0 / (SIDE * count) as f32;
    let all = (0..count).flat_map(move |j| (0..count).map(move |i| [i, j]));
    all.map(move |at| {
        let inner = at.map(|v| (v as f32 + 0.5) * step);
        frame.to_photo([corner[0] + inner[0], corner[1] + inner[1]])
    })
}

/// The pixel at a point, if it lies in the photo.
fn pixel(photo: &Photo, [x, y]: [f32; 2]) -> Option<(usize, usize)> {
    let (x, y) = (x.round(), y.round());
    let inside = x >= 0.0 && y >= 0.0 && x < photo.width() as f32 && y < photo.height() as f32;
    inside.then_some((x as usize, y as usize))
}

fn mean(colours: impl Iterator<Item = [f32; 3]>) -> Option<[f32; 3]> {
    let (mut sum, mut count) = ([0.0; 3], 0);
    for colour in colours {
        sum = [0, 1, 2].map(|i| sum[i] + colour[i]);
        count += 1;
    }
    (count > 0).then(|| sum.map(|value| value / count as f32))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use facedp::Epsilon;
    use facedp::certified::CertifiedMethod;

    use super::*;
    use crate::methods::certified::{embedded_faces, neighbour};
    use crate::photo::Limits;

    const ONE: [[f32; 2]; 5] =
        [[60.0, 60.0], [90.0, 62.0], [76.0, 78.0], [62.0, 94.0], [88.0, 95.0]];
    const NEAR: [[f32; 2]; 5] =
        [[110.0, 70.0], [138.0, 70.0], [124.0, 85.0], [112.0, 100.0], [136.0, 100.0]];

    fn photo() -> Photo {
        let file = include_bytes!("../../../../facedp-nets/tests/golden/yunet_both.png");
        Photo::decode(file, &Limits::default()).unwrap()
    }

    fn plan() -> CertifiedPlan {
        let method = CertifiedMethod::new(Epsilon::new(8.0).unwrap(), 64);
        CertifiedPlan::new(embedded_faces().unwrap(), method).unwrap()
    }

    /// Whatever is inside the outline of a face, the rest is the same bit for bit, and so are the features
    /// of other faces, even where outlines overlap.
    #[test]
    fn what_is_public_is_the_same_for_neighbours() {
        let plan = plan();
        let frames = || vec![Frame::new(&ONE).unwrap(), Frame::new(&NEAR).unwrap()];
        let (public, cells) = erase(photo(), frames(), &plan);
        let mut changed = photo();
        let all = frames();
        for y in 0..changed.height() {
            for x in 0..changed.width() {
                if Owners(&all).of(x, y) == Some(0) {
                    changed.set_colour(x, y, [(x * 7 % 256) as f32, (y * 5 % 256) as f32, 255.0]);
                }
            }
        }
        assert_ne!(changed.digest(), photo().digest());
        let (other, others) = erase(changed, frames(), &plan);
        assert_eq!(public.photo.digest(), other.photo.digest());
        assert_eq!(public.context(0), other.context(0));
        assert_eq!(cells[1], others[1]);
        assert_ne!(cells[0], others[0]);
    }

    /// The order of faces follows from the detector, which sees what is inside: it must not matter, even where
    /// two outlines are equally near.
    #[test]
    fn the_order_of_faces_does_not_matter() {
        let left = [[100.0, 100.0], [140.0, 100.0], [120.0, 122.0], [104.0, 142.0], [136.0, 142.0]];
        let right = left.map(|[x, y]: [f32; 2]| [x + 64.0, y]);
        let frames = [left, right].map(|landmarks| Frame::new(&landmarks).unwrap());
        let turned = [frames[1].clone(), frames[0].clone()];
        let (one, other) = (Owners(&frames), Owners(&turned));
        let mut ties = 0;
        for (x, y) in (0..260).flat_map(|y| (0..260).map(move |x| (x, y))) {
            let radii = [0, 1].map(|n: usize| frames[n].radius(x, y));
            ties += usize::from(radii[0] == radii[1] && radii[0] < 1.0);
            assert_eq!(one.of(x, y), other.of(x, y).map(|n| 1 - n));
        }
        assert!(ties > 50, "{ties}");
    }

    /// Nothing of a face is left: its pixels are black, and the others are as they were.
    #[test]
    fn erased_pixels_are_black() {
        let (public, _) = erase(photo(), vec![Frame::new(&ONE).unwrap()], &plan());
        let before = photo();
        let mut erased = 0;
        for y in 0..before.height() {
            for x in 0..before.width() {
                match public.owner(x, y) {
                    Some(_) => {
                        assert_eq!(public.photo.colour(x, y), [0.0; 3]);
                        erased += 1;
                    }
                    None => assert_eq!(public.photo.colour(x, y), before.colour(x, y)),
                }
            }
        }
        assert!(erased > 3000, "{erased}");
    }

    /// A neighbour differs from its photo inside the outline only.
    #[test]
    fn neighbours_differ_inside_the_outline() {
        let file = neighbour(photo(), &ONE, &photo(), &NEAR).unwrap();
        let other = Photo::decode(&file, &Limits::default()).unwrap();
        let (plan, frames) = (plan(), || vec![Frame::new(&ONE).unwrap()]);
        let (public, cells) = erase(photo(), frames(), &plan);
        let (same, others) = erase(other, frames(), &plan);
        assert_eq!(public.photo.digest(), same.photo.digest());
        assert_ne!(cells, others);
    }
}
