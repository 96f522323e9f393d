//! Tests of steering on a photo, judged by recognisers.
#![allow(clippy::unwrap_used)]

use facedp::Plane;
use facedp::noise::experiment;
use facedp_nets::Workspace;

use super::*;
use crate::detect::{DetectedFace, FaceDetector};
use crate::lift::{Lift, apply};
use crate::patch::Patch;
use crate::photo::Limits;
use crate::quality::{seen, square};
use crate::recognise::Recognisers;

fn collins() -> Photo {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos/collins.jpg");
    Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap()
}

fn lossless() -> Encoding {
    Request { format: Some(crate::format::Format::Png), ..Request::default() }.encoding()
}

fn default_steering() -> Steering {
    Steering::of(&Request::default()).unwrap()
}

struct Case {
    recognisers: Recognisers,
    photo: Photo,
    face: DetectedFace,
    patch: Patch,
}

impl Case {
    fn new() -> Self {
        let photo = collins();
        let work = &mut Workspace::default();
        let face = FaceDetector::new().unwrap().central_face(&photo, work).unwrap().unwrap();
        let patch = Patch::face(&face.landmarks).unwrap();
        Self { recognisers: Recognisers::embedded().unwrap(), photo, face, patch }
    }

    fn steer(&self, steering: &Steering, label: &str) -> (SteeredFace, Finished, Photo) {
        let recognisers: Vec<_> = self.recognisers.as_slice().iter().collect();
        let Self { photo, patch, face, .. } = self;
        let square = square(face, photo);
        let work = &mut Workspace::default();
        let reference = self.recognisers.reference(photo, face, work).unwrap();
        let originals = reference.embeddings().to_vec();
        let site = FaceSite { photo, patch, landmarks: &face.landmarks, square, originals };
        let prior = &Prior::embedded().unwrap();
        let descent = Descent { recognisers: &recognisers, prior, steering };
        let steered = descent.run(&site, &mut experiment(1, label), &|| Ok(()), work).unwrap();
        let mut changed = photo.clone();
        let face = Face::detected(*face, photo).unwrap();
        let (floor, encoding) = (steering.min_quality, lossless());
        let finished = finish(&mut changed, &face, &steered, floor, &encoding).unwrap();
        (steered, finished, changed)
    }

    /// The score of the changed photo.
    fn score(&self, finished: &Finished, changed: &Photo) -> f64 {
        let picture = changed.picture(square(&self.face, changed)).unwrap();
        finished.original.score(&seen(&picture).unwrap()).unwrap()
    }

    /// Distances of the changed photo from the original, over the thresholds.
    fn distances(&self, changed: &Photo) -> Vec<f32> {
        let work = &mut Workspace::default();
        let reference = self.recognisers.reference(&self.photo, &self.face, work).unwrap();
        let there = reference.alignment();
        let verdicts = self.recognisers.judge(&reference, changed, there, Trial::Plain, work);
        let verdicts = verdicts.unwrap();
        verdicts.iter().map(|v| v.plain.distance / v.threshold).collect()
    }
}

/// Steering ends the match; noise of the same strength and smoothness does not.
#[test]
fn steering_leads_away_and_noise_does_not() {
    let case = Case::new();
    let mut steering = default_steering();
    steering.tuning.steps = 25;
    let (steered, _, changed) = case.steer(&steering, "steered");
    let far = case.distances(&changed);
    assert!(far.iter().all(|d| *d > 1.0), "{far:?}");

    // The same change of luma upside down: equally strong and smooth.
    let mut turned = Plane::zeros(steered.luma.width(), steered.luma.height());
    let reversed = steered.luma.data().iter().rev();
    turned.data_mut().iter_mut().zip(reversed).for_each(|(to, from)| *to = *from);
    let mut noisy = case.photo.clone();
    apply(&[Lift::new(&turned, &case.patch, &case.photo)], &mut noisy);
    let near = case.distances(&noisy);
    assert!(near.iter().all(|d| *d < 0.7), "{near:?}");
}

/// The floor holds in the photo as written, and a lower floor gives a larger distance.
#[test]
fn floors_hold() {
    let case = Case::new();
    let mut last = 0.0;
    for min_quality in [90.0, 80.0, 65.0] {
        let mut steering = default_steering();
        steering.min_quality = min_quality;
        steering.margin = 9.0;
        (steering.tuning.steps, steering.tuning.level) = (12, 255.0);
        let (steered, finished, changed) = case.steer(&steering, "floor");
        assert_eq!((steered.steps, steered.reached), (12, false));
        let score = case.score(&finished, &changed);
        assert!((min_quality..min_quality + 1.0).contains(&score), "{min_quality}: {score}");
        let far: f32 = case.distances(&changed).iter().sum();
        assert!(far > last, "{min_quality}: {far} after {last}");
        last = far;
    }
}

/// Luma changes by no more than its limit in any pixel, however low the floor is, beside chroma or alone.
#[test]
fn pixels_keep_to_their_limits() {
    let case = Case::new();
    for chroma in [0.0, 0.5] {
        let mut steering = default_steering();
        (steering.shape, steering.min_quality, steering.margin) = (false, 30.0, 9.0);
        let tuning = &mut steering.tuning;
        (tuning.steps, tuning.level, tuning.masking, tuning.chroma) = (8, 3.0, 0.0, chroma);
        let (steered, ..) = case.steer(&steering, "limits");
        for amount in [1.0, 10.0] {
            let largest =
                |plane: &Plane| plane.data().iter().fold(0.0_f64, |max, v| max.max(v.abs()));
            assert!((2.9..=3.0).contains(&largest(&steered.luma(amount))));
        }
    }
    let mut steering = default_steering();
    (steering.shape, steering.min_quality, steering.tuning.steps) = (false, 30.0, 8);
    (steering.tuning.level, steering.tuning.masking) = (3.0, 0.0);
    let (.., changed) = case.steer(&steering, "limits");
    let region = case.patch.region(&case.photo);
    let [before, after] = [&case.photo, &changed].map(|photo| photo.picture(region).unwrap());
    let changes = before.rgb().iter().zip(after.rgb()).map(|(b, a)| b.abs_diff(*a));
    // One more where interpolation overshoots.
    assert!((2..=4).contains(&changes.max().unwrap()));
}

/// Without shape no pixel moves; with it, the displacement stays within its limits, and more is reached.
#[test]
fn shape_adds_to_luma() {
    let case = Case::new();
    let [flat, moved] = [false, true].map(|shape| {
        let mut steering = default_steering();
        (steering.shape, steering.tuning.steps) = (shape, 15);
        let (steered, _, changed) = case.steer(&steering, "shape");
        assert_eq!(steered.field.is_some(), shape);
        if let Some(found) = steered.shape {
            assert!(found.displacement <= 1.001 * steering.tuning.displacement);
            assert!(found.displacement > 0.5 * steering.tuning.displacement);
        }
        case.distances(&changed).iter().sum::<f32>()
    });
    assert!(moved > 1.1 * flat, "{moved} {flat}");
}

/// Hue and saturation stay: all colours of a pixel change by the same number of grey levels. With chroma they
/// do not, and the floor holds all the same.
#[test]
fn colours_are_kept_unless_chroma_may_change() {
    let case = Case::new();
    for chroma in [0.0, 0.5] {
        let mut steering = default_steering();
        (steering.shape, steering.tuning.steps, steering.tuning.chroma) = (false, 8, chroma);
        let (_, finished, changed) = case.steer(&steering, "colour");
        let region = case.patch.region(&case.photo);
        let [before, after] = [&case.photo, &changed].map(|photo| photo.picture(region).unwrap());
        let changes = |at: usize| {
            let [b, a] = [&before, &after].map(|p| [0, 1, 2].map(|c| i32::from(p.rgb()[at + c])));
            let free = a.iter().all(|v| (1..255).contains(v));
            free.then(|| [0, 1, 2].map(|c| a[c] - b[c]))
        };
        let changes: Vec<_> = (0..before.rgb().len()).step_by(3).filter_map(changes).collect();
        assert!(changes.iter().any(|change| change[0] != 0));
        assert_eq!(changes.iter().all(|[r, g, b]| r == g && g == b), chroma == 0.0);
        let score = case.score(&finished, &changed);
        assert!((75.0..76.0).contains(&score), "{chroma}: {score}");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    for margin in [f32::NAN, -0.5, f32::NEG_INFINITY] {
        let experiment = crate::request::Experiment { margin: Some(margin), ..Default::default() };
        let request = Request { experiment: Some(experiment), ..Request::default() };
        assert!(matches!(Steering::of(&request), Err(Error::Margin { .. })), "{margin}");
    }
    for min_quality in [f64::NAN, 29.9, 95.1] {
        let request = Request { min_quality: Some(min_quality), ..Request::default() };
        assert!(matches!(Steering::of(&request), Err(Error::MinQuality { .. })), "{min_quality}");
    }
}

/// Keyed randomness depends on this text.
#[test]
fn steering_keeps_its_fingerprint() {
    assert_eq!(
        default_steering().fingerprint(),
        "steered 8: both, quality 75.0, shape true, margin 1.6, epsilon 0.2, by [], 48 steps of 2, stride 0.3, \
         momentum 0.7, smooth 1.0, contrast 1.2, coarse 0.2, pull 2.0, balance 3.0, start 0.5, jitter 0.05, \
         views 1.0, displacement 0.033, stretch 0.48, outline 0.2, bend 0.15, symmetry 1.0, parts 0.85, \
         retreat 0.45, level 5.0, masking 0.9"
    );
    let mut coloured = default_steering();
    coloured.tuning.chroma = 0.5;
    assert!(coloured.fingerprint().ends_with("masking 0.9, chroma 0.5"));
}
