//! Whether steered photos are recognised: by the recognisers that steered, by others, after attacks,
//! and in galleries of steered photos.

mod bench;
mod results;

use std::path::Path;
use std::sync::Arc;

use facedp::{CertifiedMethod, CertifiedPlan, FeatureModel};
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::steer::Prior;
use facedp_engine::{Eyes, Recogniser, Steering};
use serde_json::json;

use crate::dataset::{self, Half};
use crate::error::Result;
use crate::journal::{Earlier, Journal};
use crate::progress::Progress;
use crate::recognition::Stage;
use crate::sample::{self, Subject};

use bench::{Bench, Change};
pub use results::{Attacked, Gallery, Judge, SteeringResults, SteeringRow};

/// What is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Each way of changing photos.
    pub ways: Vec<Way>,
    /// People whose photos are steered: of those with two photos at least, in a seeded order.
    pub people: usize,
    /// People at the head of that order who are left out, so that others can tune.
    pub skip: usize,
    /// Photos that thresholds are measured on, at least.
    pub threshold_images: usize,
    /// Whether the second photo is steered too, for galleries of steered photos.
    pub galleries: bool,
    /// Attacks, by name.
    pub attacks: Vec<String>,
    /// The recognisers inside the program that judge, by name.
    pub recognisers: Vec<String>,
    /// Whose pictures.
    pub half: Half,
    /// The seed of everything random.
    pub seed: u64,
}

/// A way of changing photos.
#[derive(Debug, Clone, PartialEq)]
pub enum Way {
    /// Steering.
    Steered(Steering),
    /// Features replaced by noisy ones.
    Certified(CertifiedMethod),
}

/// Steers photos of people, asks recognisers, and writes `steering.json`. Steered photos are kept in
/// the report folder.
pub fn run(
    data: &Path,
    folder: &Path,
    model: &Arc<FeatureModel>,
    options: &Options,
    foreign: Vec<Recogniser>,
    earlier: Earlier,
    progress: &Progress<'_>,
) -> Result<SteeringResults> {
    let people = dataset::people(data, options.half)?;
    let name = data.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let identities: Vec<String> = foreign.iter().filter_map(Recogniser::identity).collect();
    let settings = json!({
        "steering": env!("CARGO_PKG_VERSION"), "data": name, "seed": options.seed,
        "half": format!("{:?}", options.half), "judges": options.recognisers,
        "foreign": identities,
    });
    // Photos that are steered already serve any number of people.
    let journal = Journal::open(folder, &settings, earlier)?;
    let chosen = sample::pairs_in_order(&people, options.seed);
    let wanted = 2 * (options.skip + options.people).max(options.threshold_images.div_ceil(2));
    let chosen = &chosen[..chosen.len().min(wanted)];
    let by_inside = Eyes::open()?;
    let judges = Eyes::open()?.keep(&options.recognisers);
    let judges = foreign.into_iter().fold(judges, Eyes::with);
    let (subjects, skipped) = sample::read_all(data, chosen, model, &judges, progress)?;
    let stage = Stage::new(&judges, &subjects, progress)?;
    let bench = Bench {
        folder,
        journal: &journal,
        stage: &stage,
        subjects: &subjects,
        steerers: &by_inside,
        prior: Prior::embedded()?,
        pairs: pairs(&subjects, options),
        options,
        progress,
    };
    let mut rows = Vec::new();
    for way in &options.ways {
        rows.push(match way {
            Way::Steered(steering) => bench.row(&Change::Steer(steering))?,
            Way::Certified(method) => {
                let plan = CertifiedPlan::new(Arc::clone(model), *method)?;
                bench.row(&Change::Certify(&plan))?
            }
        });
    }
    let results = SteeringResults {
        tool: concat!("facedp ", env!("CARGO_PKG_VERSION")).to_owned(),
        data: name,
        seed: options.seed,
        recognisers: stage.recognisers.clone(),
        rows,
        skipped,
    };
    let text = serde_json::to_vec_pretty(&results)?;
    write_whole(&folder.join("steering.json"), &text, Readers::Usual, Existing::Replace)?;
    Ok(results)
}

/// The two photos of each person who is steered.
fn pairs(subjects: &[Subject], options: &Options) -> Vec<(usize, usize)> {
    let both = subjects.windows(2).enumerate().filter_map(|(n, two)| {
        let first = n == 0 || subjects[n - 1].person != two[0].person;
        (first && two[0].person == two[1].person).then_some((n, n + 1))
    });
    both.skip(options.skip).take(options.people).collect()
}

/// A way of changing photos, for people.
pub fn in_words(way: &Way) -> String {
    let steering = match way {
        Way::Steered(steering) => steering,
        Way::Certified(CertifiedMethod { epsilon, features, mechanism, .. }) => {
            let noise = mechanism.in_words();
            return format!("certified, epsilon {}, {features} features, {noise}", epsilon.get());
        }
    };
    let by = match steering.recognisers.as_slice() {
        [] => String::new(),
        names => format!(" by {}", names.join(" and ")),
    };
    let colour = if steering.colour { "" } else { ", luma only" };
    format!("{:?}, at least {} dB{by}{colour}", steering.goal, steering.min_psnr).to_lowercase()
}
