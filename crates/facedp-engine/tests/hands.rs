//! Engines that share networks, and work that is stopped half-way.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use facedp_engine::{
    Engine, Error, Goal, Hands, Options, Secret, Steering, Strength, Treatment, Workspace,
};
use support::{noisy, plan, two_faces};

fn steering() -> Engine {
    let steering = Box::new(Steering::new(Strength::Medium, Goal::Both).unwrap());
    let treatment = Treatment::Steer { steering, secret: Secret::Seed(1) };
    Engine::new(treatment, Options::default()).unwrap()
}

#[test]
fn an_engine_with_shared_networks_makes_the_same() {
    let plan = Box::new(plan(0.01));
    let options = Options { check: false, ..Options::default() };
    let treatment = Treatment::Noise { plan, secret: Secret::Seed(1) };
    let shared = steering().another(treatment, options).unwrap();
    let work = &mut Workspace::default();
    let file = two_faces();
    let expected = noisy(Options::default()).protect(&file, work).unwrap();
    assert!(shared.protect(&file, work).unwrap().file == expected.file);
    // One without networks has none to share.
    let options = Options::default();
    assert!(support::recoding(options.clone()).another(Treatment::None, options).is_err());
}

#[test]
fn steering_stops_when_asked_to() {
    let engine = steering();
    let work = &mut Workspace::default();
    let (stop, told) = (AtomicBool::new(false), AtomicUsize::new(0));
    let tell = |done: usize, of: usize| {
        assert_eq!((done, of), (0, 2));
        told.fetch_add(1, Ordering::Relaxed);
        // While the first face is worked on.
        stop.store(true, Ordering::Relaxed);
    };
    let hands = Hands { threads: 1, tell: &tell, stop: &stop };
    let result = engine.protect_with(&two_faces(), hands, work);
    assert!(matches!(result, Err(Error::Stopped)));
    assert_eq!(told.into_inner(), 1);
    // Every method hears of it, and before anything is written.
    let engine = noisy(Options::default());
    let hands = Hands { stop: &AtomicBool::new(true), ..Hands::default() };
    let result = engine.protect_with(&two_faces(), hands, work);
    assert!(matches!(result, Err(Error::Stopped)));
}
