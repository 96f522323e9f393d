//! The methods that the page offers, in words that promise no more than is true.

use std::collections::BTreeMap;

use facedp::certified::CertifiedMethod;
use facedp::{Claim, Preset};
use facedp_engine::{DEFAULT_EPSILON, Goal, MethodName, Strength};
use serde::Serialize;

use crate::bounds::Bounds;

/// Budgets that a request may have, whatever the method.
pub(crate) const EPSILONS: [f64; 2] = CertifiedMethod::EPSILONS;

/// What the page offers, and how much it takes.
#[derive(Serialize)]
pub(crate) struct Offer {
    version: &'static str,
    default: MethodName,
    methods: Vec<OfferedMethod>,
    limits: PhotoLimits,
}

#[derive(Serialize)]
struct PhotoLimits {
    file_bytes: u64,
    pixels: u64,
    photos: usize,
    seconds: u64,
}

#[derive(Serialize)]
struct OfferedMethod {
    name: MethodName,
    #[serde(flatten)]
    words: Words,
    claim_in_words: &'static str,
    /// Settings with a default of their own; `openapi.json` has the others too.
    settings: BTreeMap<&'static str, Setting>,
}

/// What the page says of a method.
#[derive(Serialize)]
pub(crate) struct Words {
    /// Methods with the same title share a card.
    title: &'static str,
    gives: &'static str,
    missing: &'static str,
    /// What to do if a recogniser still matches a face.
    advice: &'static str,
    claim: Claim,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Setting {
    Strength { default: Strength, values: [Strength; 3] },
    Goal { default: Goal, values: [Goal; 3] },
    Number { default: f64, min: f64, max: f64 },
}

/// The words for a method; none if the page does not offer it.
pub(crate) fn words(method: MethodName) -> Option<Words> {
    match method {
        // It changes no face.
        MethodName::None => None,
        MethodName::Steered => Some(Words {
            title: "Mislead recognisers",
            gives: "Changes each face slightly until the recognisers in this program no longer match it, \
                    and tells you whether that worked.",
            missing: "There is no guarantee: other recognisers may still match the face, and people will \
                      still recognise it.",
            advice: "Choose the faces again, and allow more change (High).",
            claim: Claim::None,
        }),
        MethodName::Certified => Some(Words {
            title: "Certified faces",
            gives: "Throws everything inside a face's outline away and puts a face there that is made only \
                    from the photo around it, the places of eyes, nose and mouth, and a few numbers drawn \
                    with differential privacy. Whatever face had been there, with eyes, nose and mouth at \
                    the same rounded places, each result would have been at most e^epsilon times as \
                    likely: it matches its own person at most e^epsilon times as often as if somebody \
                    else had been there.",
            missing: "This holds for one published result, and not for what is outside the outline (hair, \
                      neck, clothes, background), which can show who it is. Faces look like averages.",
            advice: NOT_FOR_RECOGNISERS,
            claim: Claim::EpsDpFace,
        }),
        MethodName::Noise(preset) => Some(Words {
            title: "The paper's methods",
            gives: match preset {
                Preset::PixelDp => "Adds noise to the pixels that matter most for facial features.",
                Preset::DctDp => {
                    "Adds noise to the cosine coefficients that matter most for facial features."
                }
                Preset::Rdp => "Adds noise of one size to the Haar coefficients that matter most.",
                Preset::RdpNa => {
                    "Adds noise to Haar coefficients, with sizes by our version of the paper's formula."
                }
                Preset::RdpLmgd => {
                    "Adds noise to Haar coefficients, with sizes by our version of the paper's steps."
                }
                Preset::RdpNaLiteral => {
                    "RDP-NA with the paper's formula as printed: far more noise."
                }
                Preset::RdpLmgdLiteral => {
                    "RDP-LMGD with the paper's steps as printed: hardly moves."
                }
                Preset::RdpOptimal => {
                    "Adds noise to Haar coefficients, with the sizes that change the face least."
                }
            },
            missing: "Epsilon follows the paper's formula, which guarantees nothing. Recognisers still \
                      match, and the change is often too small to see.",
            advice: NOT_FOR_RECOGNISERS,
            claim: Claim::PaperAccounting,
        }),
    }
}

const NOT_FOR_RECOGNISERS: &str = "This method is not made to mislead recognisers.";

/// The offer of a server whose model has that many features.
pub(crate) fn offer(features: usize, bounds: &Bounds) -> Offer {
    let setting = |name: &&'static str| {
        let [min, max] = EPSILONS;
        let features = features as f64;
        let setting = match *name {
            "strength" => Setting::Strength { default: Strength::default(), values: Strength::ALL },
            "goal" => Setting::Goal { default: Goal::default(), values: Goal::ALL },
            "epsilon" => Setting::Number { default: DEFAULT_EPSILON, min, max },
            "features" => Setting::Number { default: features, min: 1.0, max: features },
            _ => return None,
        };
        Some((*name, setting))
    };
    let offered = |name: MethodName| {
        let words = words(name)?;
        let settings = name.info().settings.iter().filter_map(setting).collect();
        Some(OfferedMethod { name, claim_in_words: words.claim.in_words(), words, settings })
    };
    Offer {
        version: env!("CARGO_PKG_VERSION"),
        default: MethodName::default(),
        methods: MethodName::all().into_iter().filter_map(offered).collect(),
        limits: PhotoLimits {
            file_bytes: bounds.photo.file_bytes,
            pixels: bounds.photo.pixels,
            photos: bounds.jobs,
            seconds: bounds.job_time.as_secs(),
        },
    }
}
