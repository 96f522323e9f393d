//! The methods in words that promise no more than is so.

use facedp::{Claim, Preset};
use facedp_engine::{Goal, Strength};
use serde::Serialize;

use crate::app::App;
use crate::settings::{EPSILONS, USUAL_EPSILON, USUAL_METHOD};

/// What the program offers, and how much it takes.
#[derive(Serialize)]
pub(crate) struct Offer {
    version: &'static str,
    usual: &'static str,
    methods: Vec<Offered>,
    limits: Limits,
}

#[derive(Serialize)]
struct Limits {
    file_bytes: u64,
    pixels: u64,
    photos: usize,
    seconds: u64,
}

/// A method.
#[derive(Serialize)]
struct Offered {
    name: String,
    title: &'static str,
    /// What it gives, in a sentence.
    gives: &'static str,
    /// What it does not.
    lacks: &'static str,
    claim: Claim,
    claim_in_words: &'static str,
    settings: Choices,
}

/// What can be chosen, by name.
#[derive(Default, Serialize)]
struct Choices {
    #[serde(skip_serializing_if = "Option::is_none")]
    strength: Option<Words<Strength>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<Words<Goal>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Range>,
}

#[derive(Serialize)]
struct Words<T> {
    usual: T,
    values: Vec<T>,
}

#[derive(Serialize)]
struct Range {
    usual: f64,
    least: f64,
    most: f64,
}

pub(crate) fn offer(app: &App) -> Offer {
    let most = app.config.model.features() as f64;
    let [least, largest] = EPSILONS;
    let noise = |features: f64| Choices {
        epsilon: Some(Range { usual: USUAL_EPSILON, least, most: largest }),
        features: Some(Range { usual: features, least: 1.0, most: features }),
        ..Choices::default()
    };
    let method = |name: String,
                  [title, gives, lacks]: [&'static str; 3],
                  claim: Claim,
                  settings| {
        Offered { name, title, gives, lacks, claim, claim_in_words: claim.in_words(), settings }
    };
    let steered = Choices {
        strength: Some(Words {
            usual: Strength::default(),
            values: vec![Strength::Low, Strength::Medium, Strength::High],
        }),
        goal: Some(Words {
            usual: Goal::default(),
            values: vec![Goal::Away, Goal::Both, Goal::Draw],
        }),
        ..Choices::default()
    };
    let mut methods = vec![
        method(
            "steered".to_owned(),
            [
                "Mislead recognisers",
                "Changes each face a little, until the two recognisers in this program no longer match \
                 it, and tells you whether that worked.",
                "It promises nothing: other recognisers may still match, and people will.",
            ],
            Claim::None,
            steered,
        ),
        method(
            "certified".to_owned(),
            [
                "Certified features",
                "Replaces measurements of the face by random ones near them; what those numbers tell is \
                 limited by epsilon, and that is proven.",
                "The rest of the face stays as it is: it can show who it is, and give the measurements \
                 away. Faces look like masks.",
            ],
            Claim::EpsDpFeatures,
            noise(most),
        ),
    ];
    let words = |preset: Preset| match preset {
        Preset::PixelDp => "Noise on the pixels that matter most for facial features.",
        Preset::DctDp => "Noise on the cosine coefficients that matter most for facial features.",
        Preset::Rdp => "Noise of one size on the Haar coefficients that matter most.",
        Preset::RdpNa => "Noise on Haar coefficients, sizes by the paper's closed form.",
        Preset::RdpLmgd => "Noise on Haar coefficients, sizes by the paper's iteration.",
        Preset::RdpOptimal => "Noise on Haar coefficients, with the sizes that change least.",
    };
    methods.extend(Preset::ALL.into_iter().rev().map(|preset| {
        let lacks = "Epsilon is spent by the paper's formula, which guarantees nothing; recognisers \
                     still match, and the change is often too small to see.";
        method(
            preset.to_string(),
            ["The paper's noise", words(preset), lacks],
            Claim::PaperAccounting,
            noise(most),
        )
    }));
    let bounds = &app.config.bounds;
    Offer {
        version: env!("CARGO_PKG_VERSION"),
        usual: USUAL_METHOD,
        methods,
        limits: Limits {
            file_bytes: bounds.photo.file_bytes,
            pixels: bounds.photo.pixels,
            photos: bounds.jobs,
            seconds: bounds.job_time.as_secs(),
        },
    }
}
