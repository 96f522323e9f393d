//! Tests of steering on a photo, judged by recognisers.
#![allow(clippy::unwrap_used)]

use facedp::Plane;
use facedp::metrics::Quality;
use facedp::noise::experiment;
use facedp_nets::Workspace;

use super::*;
use crate::detect::{DetectedFace, FaceDetector};
use crate::lift::apply;
use crate::patch::Patch;
use crate::photo::Limits;

fn collins() -> Photo {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos/collins.jpg");
    Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap()
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

    fn steer(&self, steering: &Steering, label: &str) -> (SteeredFace, Photo) {
        let recognisers: Vec<_> = self.recognisers.as_slice().iter().collect();
        let Self { photo, patch, face, .. } = self;
        let site = FaceSite { photo, patch, landmarks: &face.landmarks };
        let prior = &Prior::embedded().unwrap();
        let descent = Descent { recognisers: &recognisers, prior, steering };
        let work = &mut Workspace::default();
        let steps = descent.run(&site, &mut experiment(1, label), &|| Ok(()), work).unwrap();
        let mut changed = photo.clone();
        let planes = steps.planes.iter();
        let lifts =
            planes.map(|(component, plane)| Lift::of_component(plane, *component, patch, photo));
        apply(&lifts.collect::<Vec<_>>(), &mut changed);
        (steps, changed)
    }

    /// Distances of the changed photo from the original, over the thresholds.
    fn distances(&self, changed: &Photo) -> Vec<f32> {
        let work = &mut Workspace::default();
        let reference = self.recognisers.reference(&self.photo, &self.face, work).unwrap();
        let verdicts = self.recognisers.judge(&reference, changed, Trial::Plain, work).unwrap();
        verdicts.iter().map(|v| v.plain.distance / v.threshold).collect()
    }
}

/// Steering ends the match; noise of the same strength and smoothness does not.
#[test]
fn steering_leads_away_and_noise_does_not() {
    let case = Case::new();
    let mut steering = default_steering();
    steering.tuning.steps = 20;
    let (steered, changed) = case.steer(&steering, "steered");
    let far = case.distances(&changed);
    assert!(far.iter().all(|d| *d > 1.1), "{far:?}");

    // The same change upside down: equally strong and smooth.
    let turned = steered.planes.iter().map(|(component, plane)| {
        let mut turned = Plane::zeros(plane.width(), plane.height());
        let reversed = plane.data().iter().rev();
        turned.data_mut().iter_mut().zip(reversed).for_each(|(to, from)| *to = *from);
        Lift::of_component(&turned, *component, &case.patch, &case.photo)
    });
    let turned: Vec<Lift> = turned.collect();
    let mut noisy = case.photo.clone();
    apply(&turned, &mut noisy);
    let near = case.distances(&noisy);
    assert!(near.iter().all(|d| *d < 0.7), "{near:?}");
}

/// The quality floor holds in the photo, and a lower floor gives a larger distance.
#[test]
fn floors_hold() {
    let case = Case::new();
    let mut last = 0.0;
    for min_psnr in [44.0, 40.0, 36.0] {
        let mut steering = default_steering();
        steering.min_psnr = min_psnr;
        steering.margin = 9.0;
        steering.tuning.steps = 12;
        let (steered, changed) = case.steer(&steering, "floor");
        assert_eq!((steered.steps, steered.reached), (12, false));
        let region = case.patch.region(&case.photo);
        let quality = Quality::compare(&case.photo.luma(region), &changed.luma(region)).unwrap();
        let psnr = quality.psnr.unwrap();
        assert!((min_psnr..min_psnr + 1.0).contains(&psnr), "{min_psnr}: {psnr}");
        let far: f32 = case.distances(&changed).iter().sum();
        assert!(far > last, "{min_psnr}: {far} after {last}");
        last = far;
    }
}

/// With colour, chroma changes too and the floor of luma holds; without it only luma changes.
#[test]
fn colour_keeps_the_floor_of_luma() {
    let case = Case::new();
    let region = case.patch.region(&case.photo);
    for (colour, layers) in [(true, 3), (false, 1)] {
        let mut steering = default_steering();
        steering.colour = colour;
        steering.tuning.steps = 10;
        let (steered, changed) = case.steer(&steering, "colour");
        assert_eq!(steered.planes.len(), layers);
        let quality = Quality::compare(&case.photo.luma(region), &changed.luma(region)).unwrap();
        assert!(quality.psnr.unwrap() >= 36.0, "{:?}", quality.psnr);
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    for margin in [f32::NAN, -0.5, f32::NEG_INFINITY] {
        let experiment = crate::request::Experiment { margin: Some(margin), ..Default::default() };
        let request = Request { experiment: Some(experiment), ..Request::default() };
        assert!(matches!(Steering::of(&request), Err(Error::Margin { .. })), "{margin}");
    }
    for min_psnr in [f64::NAN, 24.9, 51.0] {
        let request = Request { min_psnr: Some(min_psnr), ..Request::default() };
        assert!(matches!(Steering::of(&request), Err(Error::MinPsnr { .. })), "{min_psnr}");
    }
}

/// Keyed randomness depends on this text.
#[test]
fn steering_keeps_its_fingerprint() {
    assert_eq!(
        default_steering().fingerprint(),
        "steered 1: both, 36.0 dB, margin 1.5, epsilon 0.2, by [], colour true, 40 steps, stride 0.3, \
         momentum 0.7, smooth 0.7, contrast 0.5, light 100.0, pull 1.2, balance 3.0, start 0.5, \
         check every 4, chroma 0.3, chroma smooth 3.0, coarse 0.2"
    );
}
