//! Engines that share networks, and work that is stopped half-way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use facedp_engine::{Control, Engine, Error, Request, Workspace};
use support::{noisy, noisy_with, resources, two_faces};

#[test]
fn an_engine_with_shared_networks_makes_the_same() {
    let shared = resources();
    let work = &mut Workspace::default();
    let file = two_faces();
    let expected = noisy(Request::default()).protect(&file, work).unwrap();
    let steering = Engine::new(Request::default(), shared.clone()).unwrap();
    assert_eq!(steering.inspect(&file, work).unwrap().faces.len(), 2);
    let result = noisy_with(Request::default(), shared).protect(&file, work).unwrap();
    assert!(result.file == expected.file);
}

#[test]
fn steering_stops_when_asked_to() {
    let engine = Engine::new(Request::default(), resources()).unwrap();
    let work = &mut Workspace::default();
    let (stop, reports) = (AtomicBool::new(false), AtomicUsize::new(0));
    let progress = |done: usize, of: usize| {
        assert_eq!((done, of), (0, 2));
        reports.fetch_add(1, Ordering::Relaxed);
        // While the first face is worked on.
        stop.store(true, Ordering::Relaxed);
    };
    let control = Control { threads: 1, progress: &progress, stop: &stop };
    let result = engine.protect_with(&two_faces(), control, work);
    assert!(matches!(result, Err(Error::Stopped)));
    assert_eq!(reports.into_inner(), 1);
    // Every method stops, and before anything is written.
    let engine = noisy(Request::default());
    let control = Control { stop: &AtomicBool::new(true), ..Control::default() };
    let result = engine.protect_with(&two_faces(), control, work);
    assert!(matches!(result, Err(Error::Stopped)));
}
