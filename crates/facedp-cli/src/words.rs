//! Words that several commands share.

use facedp_engine::ledger::{NoBound, Total};
use facedp_engine::{DetectedFace, Distance};

/// A number of decibels, or what it means that there is none.
pub fn decibels(value: Option<f64>, none: &str) -> String {
    value.map_or(none.to_owned(), |value| format!("{value:.2} dB"))
}

/// Match or not.
pub fn matches(distance: &Distance) -> &'static str {
    if distance.matches { "match" } else { "no match" }
}

/// A number of things, in one or many.
pub fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// A recogniser as it is called in print.
pub fn recogniser(name: &str) -> &str {
    match name {
        "facexzoo" => "FaceX-Zoo",
        "intel" => "Intel",
        "mobilefacenet" => "MobileFaceNet",
        "sface" => "SFace",
        name => name,
    }
}

/// What all releases of a photo cost together.
pub fn cost(total: &Total) -> String {
    match (total.epsilon, &total.no_bound) {
        (Some(epsilon), _) => format!("epsilon {} in all for each face", budget(epsilon)),
        (None, why) => why.as_ref().map_or("no bound".to_owned(), NoBound::in_words),
    }
}

/// A budget without the last digits of a sum of doubles.
fn budget(epsilon: f64) -> f64 {
    let rounded = format!("{epsilon:.12e}").parse();
    rounded.unwrap_or(epsilon)
}

/// Where a face is, as `--box` takes it.
pub fn place(face: &DetectedFace) -> String {
    let [x, y, width, height] = face.rect;
    // A box must lie in the photo; what lies beyond it shows nothing.
    let (left, top) = (x.max(0.0), y.max(0.0));
    format!("{left:.0},{top:.0},{:.0},{:.0}", x + width - left, y + height - top)
}
