//! The settings of a form: the engine's [`Request`], within the limits of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use facedp_engine::{Check, Faces, Request};
use serde::de::IgnoredAny;

use crate::error::Problem;
use crate::methods::{self, EPSILONS};

/// Settings for measurements, and one that the server decides itself.
const REFUSED: [&str; 2] = ["experiment", "receipt"];
/// Settings about detected faces, of which a face crop has none.
const OF_DETECTED: [&str; 4] = ["faces", "boxes", "min_score", "copy_faceless"];
/// More boxes than anybody draws, and larger face numbers than the detector gives.
const MAX_BOXES: usize = 100;
const FACE_NUMBERS: RangeInclusive<usize> = 1..=1000;
/// Pixels; the end is beyond any photo.
const BOX_COORDINATES: RangeInclusive<f32> = 0.0..=1e6;
/// Below this, every leaf is a face and each of them is looked at twice: that takes minutes.
const MIN_SCORES: RangeInclusive<f32> = 0.3..=1.0;
const JPEG_QUALITIES: RangeInclusive<u8> = 1..=100;
/// Pixels; the end is beyond any photo.
const CROPS: RangeInclusive<u32> = 1..=1_000_000;

/// Reads settings, and fills in what the server decides.
pub(crate) fn parse(settings: Option<&str>) -> Result<Request, Problem> {
    let text = settings.unwrap_or("{}");
    let request = Request::from_json(text)
        .map_err(|error| Problem::bad_request(format!("settings: {error}")))?;
    // A setting can be given with its default value, which the request does not show.
    let given: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).unwrap_or_default();
    refuse(&given, &request)?;
    let faces = match request.faces {
        Faces::Numbers(mut numbers) => {
            numbers.sort_unstable();
            numbers.dedup();
            Faces::Numbers(numbers)
        }
        other => other,
    };
    let check = if given.contains_key("check") { request.check } else { Check::Degraded };
    Ok(Request { faces, check, receipt: true, ..request })
}

fn refuse(given: &BTreeMap<String, IgnoredAny>, request: &Request) -> Result<(), Problem> {
    let refused = |message: String| Err(Problem::bad_request(message));
    if let Some(name) = REFUSED.into_iter().find(|name| given.contains_key(*name)) {
        return refused(format!("`{name}` cannot be set here: leave it out"));
    }
    if methods::words(request.method).is_none() {
        return refused(format!("the method `{}` is not offered here", request.method));
    }
    if let Some(epsilon) = request.epsilon {
        within("epsilon", epsilon.get(), EPSILONS[0]..=EPSILONS[1])?;
    }
    if let Some(score) = request.min_score {
        within("min_score", score, MIN_SCORES)?;
    }
    if let Some(quality) = request.jpeg_quality {
        within("jpeg_quality", quality, JPEG_QUALITIES)?;
    }
    if let Some(crop) = request.crop {
        within("crop", crop, CROPS)?;
        if !request.aligned {
            return refused("`crop` is for face crops: set `aligned` too".to_owned());
        }
    }
    let unused = || OF_DETECTED.into_iter().find(|name| given.contains_key(*name));
    if let Some(name) = unused().filter(|_| request.aligned) {
        return refused(format!("`{name}` does not go with `aligned`: no face is looked for"));
    }
    if request.boxes.len() > MAX_BOXES {
        return refused(format!("{} boxes: at most {MAX_BOXES} are accepted", request.boxes.len()));
    }
    for coordinate in request.boxes.iter().flatten() {
        within("a box's coordinate", *coordinate, BOX_COORDINATES)?;
    }
    if let Faces::Numbers(numbers) = &request.faces {
        if numbers.is_empty() && request.boxes.is_empty() {
            return refused("no face is chosen, and no box is drawn".to_owned());
        }
        for number in numbers {
            within("face", *number, FACE_NUMBERS)?;
        }
    }
    // Each name costs a pass through a network at every step.
    let mut names = BTreeSet::new();
    if let Some(name) = request.steer_by.iter().find(|name| !names.insert(*name)) {
        return refused(format!("`steer_by` names {name} twice"));
    }
    Ok(())
}

/// Fails if a value is out of range or not a number.
fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), Problem> {
    if range.contains(&value) {
        return Ok(());
    }
    let message = format!("{name} {value}: the range is {} to {}", range.start(), range.end());
    Err(Problem::bad_request(message))
}
