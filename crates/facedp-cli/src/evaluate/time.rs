//! How long an evaluation will take, said before it begins.

use facedp_eval::{paper, protection};

use crate::args::Output;
use crate::failure::complain;

/// Seconds on one core of the machine that our figures come from (docs/measurements): finding the face of a picture,
/// showing it to a recogniser, steering it, and making it anew.
const FIND: f64 = 0.02;
const RECOGNISE: f64 = 0.01;
const STEER: f64 = 1.7;
const MAKE: f64 = 0.4;
/// A release of one chip, with all that is measured on it.
const RELEASE: f64 = 0.004;

/// Says how long work of so many seconds on one core will take with the threads that there are.
pub fn announce(seconds: f64, output: &Output) {
    if output.quiet {
        return;
    }
    let threads = rayon::current_num_threads();
    let threaded =
        if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
    let time = in_words(seconds / threads as f64);
    complain(format_args!(
        "this takes {time} with {threaded}, by our own runs; less if a report is continued"
    ));
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => "less than a minute".to_owned(),
        s if s < 5400.0 => format!("about {:.0} min", s / 60.0),
        s => format!("about {:.1} hours", s / 3600.0),
    }
}

/// Photos of people, treated and shown to recognisers.
pub fn of_photos(options: &protection::Options) -> f64 {
    let treat = |steps: bool| if steps { STEER } else { MAKE };
    let each =
        options.requests.iter().map(|r| treat(r.method.info().settings.contains(&"steer_by")));
    let photos = 2.0 * options.people as f64;
    let shown = 5.0 * RECOGNISE * (1.0 + options.attacks.len() as f64);
    let read = (2 * (options.skip + options.people)).max(options.threshold_images) as f64;
    read * (FIND + 5.0 * RECOGNISE) + photos * each.map(|treat| treat + shown).sum::<f64>()
}

/// The paper's tables.
pub fn of_paper(options: &paper::Options) -> f64 {
    let images = options.images.unwrap_or(10_000) as f64;
    let methods = options.methods.len() as f64;
    let cells = (options.epsilons.len() + options.matcher_epsilons.len()) * options.features.len();
    let releases = images * options.repeats as f64 * methods * cells as f64 * RELEASE;
    let faces = options.recognition_images as f64 * methods * options.decibels.len() as f64;
    let attacked = options.attack_images as f64 * methods * options.attacks.len() as f64;
    let audits = methods * options.audit_runs as f64 * RELEASE;
    releases + audits + (faces + attacked) * (0.01 + 5.0 * RECOGNISE) + images * FIND
}

/// Pictures shown to recognisers.
pub fn of_pictures(pictures: usize, recognisers: usize) -> f64 {
    pictures as f64 * (FIND + RECOGNISE * recognisers as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_minutes_and_hours() {
        assert_eq!(in_words(12.0), "less than a minute");
        assert_eq!(in_words(1800.0), "about 30 min");
        assert_eq!(in_words(9000.0), "about 2.5 hours");
    }

    /// Our own runs of the defaults on two cores took half an hour (CONTRIBUTING.md).
    #[test]
    fn the_default_evaluation_of_the_paper_takes_about_half_an_hour() {
        let minutes = of_paper(&paper::Options::default()) / 2.0 / 60.0;
        assert!((20.0..=45.0).contains(&minutes), "{minutes}");
    }
}
