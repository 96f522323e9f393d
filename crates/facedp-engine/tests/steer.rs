//! Steering, against what recognisers say and against lifting as photos get it.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use facedp::noise::experiment;
use facedp::{Plane, Quality};
use facedp_engine::lift::{Lift, apply};
use facedp_engine::steer::{Place, Prior, Steered, steer};
use facedp_engine::{Eyes, Goal, Limits, Patch, Photo, Spot, Steering, Strength, Trial, Workspace};

fn collins() -> Photo {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos/collins.jpg");
    Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap()
}

struct Case {
    eyes: Eyes,
    photo: Photo,
    spot: Spot,
    patch: Patch,
}

impl Case {
    fn new() -> Self {
        let (eyes, photo) = (Eyes::open().unwrap(), collins());
        let spot = eyes.central_face(&photo, &mut Workspace::default()).unwrap().unwrap();
        let patch = Patch::face(&spot.landmarks).unwrap();
        Self { eyes, photo, spot, patch }
    }

    fn steer(&self, steering: &Steering, label: &str) -> (Steered, Photo) {
        let recognisers: Vec<_> = self.eyes.recognisers().iter().collect();
        let Self { photo, patch, spot, .. } = self;
        let place = Place { photo, patch, landmarks: &spot.landmarks };
        let prior = Prior::embedded().unwrap();
        let random = &mut experiment(1, label);
        let work = &mut Workspace::default();
        let steered =
            steer(&place, &recognisers, &prior, steering, random, &|| Ok(()), work).unwrap();
        let mut changed = photo.clone();
        let planes = steered.planes.iter();
        let lifts = planes.map(|(tint, plane)| Lift::tinted(plane, *tint, patch, photo));
        apply(&lifts.collect::<Vec<_>>(), &mut changed);
        (steered, changed)
    }

    /// Distances over thresholds, of the changed photo to the original.
    fn distances(&self, changed: &Photo) -> Vec<f32> {
        let work = &mut Workspace::default();
        let witness = self.eyes.witness(&self.photo, &self.spot, work).unwrap();
        let verdicts = self.eyes.judge(&witness, changed, Trial::Plain, work).unwrap();
        verdicts.iter().map(|v| v.plain.distance / v.threshold).collect()
    }
}

/// Steps along gradients lead out of the match; as much noise of the same shape does not.
#[test]
fn steering_leads_away_and_noise_does_not() {
    let case = Case::new();
    let mut steering = Steering::new(Strength::Medium, Goal::Both).unwrap();
    steering.tuning.steps = 20;
    let (steered, changed) = case.steer(&steering, "steered");
    let far = case.distances(&changed);
    assert!(far.iter().all(|d| *d > 1.1), "{far:?}");

    // The same change, turned upside down: as strong and as smooth.
    let turned = steered.planes.iter().map(|(tint, plane)| {
        let mut turned = Plane::zeros(plane.width(), plane.height());
        let reversed = plane.data().iter().rev();
        turned.data_mut().iter_mut().zip(reversed).for_each(|(to, from)| *to = *from);
        Lift::tinted(&turned, *tint, &case.patch, &case.photo)
    });
    let turned: Vec<Lift> = turned.collect();
    let mut noisy = case.photo.clone();
    apply(&turned, &mut noisy);
    let near = case.distances(&noisy);
    assert!(near.iter().all(|d| *d < 0.7), "{near:?}");
}

/// The floor holds for the photo as it is, and the more may change, the further it goes.
#[test]
fn floors_hold() {
    let case = Case::new();
    let mut last = 0.0;
    for min_psnr in [44.0, 40.0, 36.0] {
        let mut steering = Steering::new(Strength::Medium, Goal::Both).unwrap();
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

/// Colour moves chroma and leaves luma's floor alone; without it only luma moves.
#[test]
fn colour_keeps_the_floor_of_luma() {
    let case = Case::new();
    let region = case.patch.region(&case.photo);
    for (colour, layers) in [(true, 3), (false, 1)] {
        let mut steering = Steering::new(Strength::Medium, Goal::Both).unwrap();
        steering.colour = colour;
        steering.tuning.steps = 10;
        let (steered, changed) = case.steer(&steering, "colour");
        assert_eq!(steered.planes.len(), layers);
        let quality = Quality::compare(&case.photo.luma(region), &changed.luma(region)).unwrap();
        assert!(quality.psnr.unwrap() >= 36.0, "{:?}", quality.psnr);
    }
}
