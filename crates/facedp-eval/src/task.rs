//! What all evaluations of a data folder share.

use std::path::Path;
use std::sync::Arc;

use facedp::FeatureModel;
use facedp_engine::files::{Existing, Readers, write_whole};
use facedp_engine::{Check, Engine, FaceDetector, Format, Recognisers, Request, Resources, Secret};
use serde::Serialize;
use serde_json::{Value, json};

use crate::dataset::{self, Half, Person};
use crate::error::Result;
use crate::journal::{Earlier, Journal};
use crate::progress::Progress;
use crate::results::Skipped;
use crate::sample::{self, Choice, Subject};

/// The data, the recognisers that judge photos, and the folder for the report.
pub struct Task<'a> {
    /// A folder of people: DATA/NAME/*.jpg.
    pub data: &'a Path,
    pub half: Half,
    /// The report folder; made if missing.
    pub folder: &'a Path,
    pub earlier: Earlier,
    pub model: Arc<FeatureModel>,
    pub recognisers: Recognisers,
    /// The seed of everything random.
    pub seed: u64,
    pub progress: &'a Progress<'a>,
}

impl Task<'_> {
    /// The people of the data folder. Fails before any photo is read if no report may be written.
    pub(crate) fn people(&self) -> Result<Vec<Person>> {
        Journal::require_free(self.folder, self.earlier)?;
        dataset::people(self.data, self.half)
    }

    /// The name of the data folder.
    pub(crate) fn name(&self) -> String {
        self.data.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Reads photos and finds their faces.
    pub(crate) fn read(
        &self,
        pictures: &[Choice<'_>],
        detector: &FaceDetector,
    ) -> Result<(Vec<Subject>, Vec<Skipped>)> {
        sample::read_all(self.data, pictures, &self.model, detector, self.progress)
    }

    /// The journal of the report folder. Its cells are reused only if everything here is the same.
    pub(crate) fn journal(&self, evaluation: &str, options: &impl Serialize) -> Result<Journal> {
        let settings = self.settings(evaluation, options)?;
        Journal::open(self.folder, &settings, self.earlier)
    }

    fn settings(&self, evaluation: &str, options: &impl Serialize) -> Result<Value> {
        let recognisers = self.recognisers.as_slice().iter();
        let recognisers =
            recognisers.map(|r| json!({ "name": r.name(), "fingerprint": r.fingerprint() }));
        Ok(json!({
            "evaluation": evaluation,
            "version": env!("CARGO_PKG_VERSION"),
            "data": self.name(),
            "identities": self.half,
            "seed": self.seed,
            "model_sha256": self.model.hash(),
            "recognisers": recognisers.collect::<Vec<_>>(),
            "options": serde_json::to_value(options)?,
        }))
    }

    /// What engines need to treat photos repeatably.
    pub(crate) fn resources(&self) -> Result<Resources> {
        let resources = Resources::new(Secret::Seed(self.seed))?;
        Ok(Resources { model: Arc::clone(&self.model).into(), ..resources })
    }

    /// Writes a file of the report.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        Ok(write_whole(&self.folder.join(name), bytes, Readers::Default, Existing::Replace)?)
    }
}

/// An engine that treats photos as the request says, and writes them without loss. It asks no recogniser:
/// the evaluation does.
pub(crate) fn engine(request: &Request, resources: &Resources) -> Result<Engine> {
    let (format, check) = (Some(Format::Png), Check::Off);
    Ok(Engine::new(Request { format, check, ..request.clone() }, resources.clone())?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::AtomicBool;

    use facedp_engine::embedded_model;

    use super::*;
    use crate::paper;
    use crate::progress::Silent;

    /// Journals hold this, and are resumed only if it is the same.
    #[test]
    fn settings_are_spelled_out() {
        let stop = AtomicBool::new(false);
        let model = embedded_model().unwrap();
        let task = Task {
            data: Path::new("data/lfw"),
            half: Half::Odd,
            folder: Path::new("report"),
            earlier: Earlier::Refuse,
            model: Arc::clone(&model),
            recognisers: Recognisers::embedded().unwrap(),
            seed: 7,
            progress: &Progress::new(&Silent, &stop),
        };
        let found = task.settings("paper", &paper::Options::default()).unwrap();
        let expected = json!({
            "evaluation": "paper",
            "version": env!("CARGO_PKG_VERSION"),
            "data": "lfw",
            "identities": "odd",
            "seed": 7,
            "model_sha256": model.hash(),
            "recognisers": [
                { "name": "dlib", "fingerprint": null },
                { "name": "sface", "fingerprint": null },
                { "name": "intel", "fingerprint": null },
                { "name": "mobilefacenet", "fingerprint": null },
                { "name": "facexzoo", "fingerprint": null },
            ],
            "options": {
                "methods": [
                    "pixel-dp", "dct-dp", "rdp", "rdp-na", "rdp-lmgd", "rdp-optimal", "rdp-na-literal",
                    "rdp-lmgd-literal",
                ],
                "epsilons": [0.2, 0.4, 0.6, 0.8, 1.0],
                "matcher_epsilons": [0.001, 0.0003, 0.0001],
                "features": [4, 16, 64],
                "geometric_p": 0.02,
                "amplitude_images": 100,
                "images": 1000,
                "repeats": 1,
                "draws": 10_000,
                "audit_runs": 10_000,
                "recognition_images": 1100,
                "decibels": [40.0, 30.0, 20.0, 15.0],
                "attacks": ["none", "jpeg-75", "half-size", "blur-3x3", "median-3x3", "wavelet-shrinkage"],
                "attack_images": 300,
                "attack_psnr": 20.0,
            },
        });
        assert_eq!(found, expected);
    }
}
