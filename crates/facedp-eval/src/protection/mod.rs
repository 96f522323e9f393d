//! Whether recognisers still match photos that a method has treated: recognisers that the method knew,
//! others, after attacks, and in galleries of treated photos.

mod compare;
mod evaluation;
mod results;

use facedp_engine::{FaceDetector, Request};
use serde_json::{Value, json};

use crate::error::Result;
use crate::recognition::Baseline;
use crate::sample::{self, Subject};
use crate::task::Task;

use evaluation::Evaluation;
pub use results::{Attacked, Gallery, Judge, ProtectionResults, ProtectionRow, Quantiles};

/// What is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// One row each.
    pub requests: Vec<Request>,
    /// People whose photos are treated, of those with several photos.
    pub people: usize,
    /// People to leave out at the start of the seeded order, so that methods can be tuned on others.
    pub skip: usize,
    /// Smallest number of photos that thresholds are measured on.
    pub threshold_images: usize,
    /// Whether the second photo of each person is treated too, for galleries of treated photos.
    pub galleries: bool,
    /// Attacks, by name.
    pub attacks: Vec<String>,
}

/// Treats photos of people, shows them to recognisers, and writes `results.json`. Treated photos are kept
/// in the report folder.
pub fn run(task: &Task<'_>, options: &Options) -> Result<ProtectionResults> {
    let people = task.people()?;
    let chosen = sample::pairs_in_order(&people, task.seed);
    let wanted = 2 * (options.skip + options.people).max(options.threshold_images.div_ceil(2));
    let chosen = &chosen[..chosen.len().min(wanted)];
    let (subjects, mut skipped) = task.read(chosen, &FaceDetector::new()?)?;
    // Photos that were treated before are reused, however many people or requests there are now.
    let journal = task.journal("protection", &json!({}))?;
    let baseline = Baseline::new(&task.recognisers, &subjects, task.progress)?;
    let evaluation = Evaluation {
        task,
        options,
        resources: task.resources()?,
        journal: &journal,
        baseline: &baseline,
        subjects: &subjects,
        pairs: pairs(&subjects, options),
    };
    let mut rows = Vec::new();
    for request in &options.requests {
        let (row, refused) = evaluation.row(request)?;
        rows.push(row);
        skipped.extend(refused);
    }
    skipped.sort_by(|a, b| a.file.cmp(&b.file));
    skipped.dedup();
    let results = ProtectionResults {
        tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: task.name(),
        seed: task.seed,
        recognisers: baseline.rows.clone(),
        rows,
        skipped,
    };
    task.write("results.json", &serde_json::to_vec_pretty(&results)?)?;
    Ok(results)
}

/// The two photos of each person whose photos are treated.
fn pairs(subjects: &[Subject], options: &Options) -> Vec<(usize, usize)> {
    let both = subjects.windows(2).enumerate().filter_map(|(n, two)| {
        let first = n == 0 || subjects[n - 1].person != two[0].person;
        (first && two[0].person == two[1].person).then_some((n, n + 1))
    });
    both.skip(options.skip).take(options.people).collect()
}

/// The method and the settings that were given, as in `steered, goal both, min_quality 75`.
pub fn title(request: &Request) -> Result<String> {
    let all = serde_json::to_value(request)?;
    let mut title = request.method.to_string();
    for name in request.method.info().settings.iter().filter(|name| **name != "experiment") {
        let value = match &all[*name] {
            Value::Null => continue,
            Value::String(word) => word.clone(),
            Value::Array(words) if words.is_empty() => continue,
            Value::Array(words) => {
                words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("+")
            }
            number => number.to_string(),
        };
        title += &format!(", {name} {value}");
    }
    Ok(title)
}

/// The recognisers that a method knows: it has changed photos by what they say. `names` are all that are
/// built in.
fn known(request: &Request, names: Vec<String>) -> Result<Vec<String>> {
    if !request.method.info().settings.contains(&"steer_by") {
        return Ok(Vec::new());
    }
    let chosen = request.steering()?.recognisers;
    Ok(if chosen.is_empty() { names } else { chosen })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn request(text: &str) -> Request {
        Request::from_json(text).unwrap()
    }

    #[test]
    fn titles_and_known_recognisers_follow_from_requests() {
        let built_in = || vec!["dlib".to_owned(), "sface".to_owned()];
        for (text, words, by) in [
            (r#"{"goal": "both", "min_quality": 75}"#, "steered, goal both, min_quality 75.0", 2),
            (
                r#"{"steer_by": ["dlib"], "shape": false, "experiment": {"margin": 2.0}}"#,
                "steered, shape false, steer_by dlib",
                1,
            ),
            (
                r#"{"method": "certified", "epsilon": 4, "features": 16}"#,
                "certified, epsilon 4.0, features 16",
                0,
            ),
        ] {
            assert_eq!(title(&request(text)).unwrap(), words);
            assert_eq!(known(&request(text), built_in()).unwrap().len(), by, "{text}");
        }
    }
}
