//! One picture: read, add noise, write.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use facedp::noise::{Source, experiment};
use facedp::resample::resized;
use facedp::{Plan, Quality, Receipt};
use getrandom::SysRng;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::Serialize;

use crate::args::Protect;
use crate::files::{self, Found, Readers};
use crate::photo::{Photo, chip};

/// A picture and where its result goes.
pub struct Job {
    found: Found,
    target: PathBuf,
    receipt: Option<PathBuf>,
    /// Why it cannot be done, if that is known already.
    refused: Option<String>,
}

/// What was done to one file.
#[derive(Serialize)]
pub struct Done {
    pub file: String,
    pub output: String,
    /// Mean squared noise on the face chip, before lifting and rounding: comparable with theory.
    pub mse: f64,
    /// What the plan expects of it.
    pub expected_mse: f64,
    /// Whether the picture written is equal to its original.
    pub unchanged: bool,
    #[serde(flatten)]
    pub quality: Quality,
    pub stripped: Vec<String>,
}

impl Job {
    /// A job for each picture, with its place in the output folder.
    ///
    /// No result may replace an original of this run or another result of it, whatever the options;
    /// older results only by `--force`.
    pub fn list(found: Vec<Found>, args: &Protect, receipts: Option<&Path>) -> Vec<Self> {
        let originals: HashSet<PathBuf> =
            found.iter().filter_map(|f| fs::canonicalize(&f.path).ok()).collect();
        let mut taken: HashMap<PathBuf, PathBuf> = HashMap::new();
        let job = |found: Found| {
            let target = args.output.join(found.relative.with_extension("png"));
            let receipt = receipts.map(|r| r.join(found.relative.with_extension("png.json")));
            let existing = [Some(&target), receipt.as_ref()].into_iter().flatten();
            let existing = existing.filter(|_| !args.force).find(|path| path.exists());
            let refused = if fs::canonicalize(&target).is_ok_and(|t| originals.contains(&t)) {
                let target = target.display();
                Some(format!("the result would overwrite the original {target}: choose another -o"))
            } else if let Some(rival) = taken.get(&target) {
                let (target, rival) = (target.display(), rival.display());
                Some(format!("the result {target} would overwrite that of {rival}: rename one"))
            } else {
                existing.map(|path| {
                    format!("{} exists already: choose another -o or pass --force", path.display())
                })
            };
            taken.entry(target.clone()).or_insert_with(|| found.path.clone());
            Self { found, target, receipt, refused }
        };
        found.into_iter().map(job).collect()
    }

    /// The picture's name, for messages.
    pub fn name(&self) -> String {
        self.found.path.to_string_lossy().into_owned()
    }

    /// Does it. Errors name the file.
    pub fn run(&self, plan: &Plan, args: &Protect) -> Result<Done> {
        self.try_run(plan, args).with_context(|| self.name())
    }

    fn try_run(&self, plan: &Plan, args: &Protect) -> Result<Done> {
        if let Some(reason) = &self.refused {
            bail!("{reason}");
        }
        let original = Photo::read(&self.found.path)?;
        let square = original.centre(args.crop)?;
        let luma = original.luma();
        let face = chip(&luma, square, plan.model().side());
        let release = plan.protect(&face, &mut self.noise(args.seed)?)?;

        let mut released = original.clone();
        released.add(&resized(&release.noise, square.side, square.side), square);
        let quality = Quality::compare(&luma, &released.luma())?;
        let stripped = original.metadata().to_vec();
        let picture = released.to_png()?;
        // The receipt first: there must be no picture without the one that was asked for.
        if let Some(path) = &self.receipt {
            let receipt = Receipt::new(&release, Some(quality), stripped.clone())?;
            files::write_whole(path, &serde_json::to_vec_pretty(&receipt)?, Readers::Owner)?;
        }
        if let Err(error) = files::write_whole(&self.target, &picture, Readers::Usual) {
            if let Some(path) = &self.receipt {
                fs::remove_file(path).ok();
            }
            return Err(error);
        }
        let pixels = face.data().len() as f64;
        Ok(Done {
            file: self.name(),
            output: self.target.to_string_lossy().into_owned(),
            mse: release.real_variance() / pixels,
            expected_mse: release.expected_variance / pixels,
            unchanged: original.same_pixels(&released),
            quality,
            stripped,
        })
    }

    fn noise(&self, seed: Option<u64>) -> Result<Source<ChaCha20Rng>> {
        match seed {
            Some(seed) => Ok(experiment(seed, &self.found.relative.to_string_lossy())),
            None => ChaCha20Rng::try_from_rng(&mut SysRng)
                .map(Source::system)
                .map_err(|e| anyhow!("the system gives no entropy: {e}")),
        }
    }
}
