//! What a user of the command line can do about an error. The libraries state facts only.

use std::fmt::Display;

use facedp::Error as Mechanism;
use facedp_engine::Error;
use facedp_eval::Error as Evaluation;
use facedp_eval::dataset::Half;
use facedp_web::Error as Page;

/// The fact and the remedy, if there is one.
pub fn explained(error: &Error) -> String {
    with(error, remedy(error))
}

/// The fact and the remedy of whatever error a chain ends in.
pub fn explained_chain(error: &anyhow::Error) -> String {
    with(&format_args!("{error:#}"), error.chain().find_map(remedy_of_any))
}

fn with(fact: &impl Display, remedy: Option<String>) -> String {
    remedy.map_or(fact.to_string(), |remedy| format!("{fact}: {remedy}"))
}

fn remedy_of_any(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let engine = error.downcast_ref::<Error>().and_then(remedy);
    let engine = engine.or_else(|| error.downcast_ref::<Mechanism>().and_then(remedy_of_mechanism));
    let evaluation = error.downcast_ref::<Evaluation>().and_then(remedy_of_evaluation);
    engine.or(evaluation).or_else(|| error.downcast_ref::<Page>().and_then(remedy_of_page))
}

fn remedy_of_page(error: &Page) -> Option<String> {
    match error {
        Page::Listen { .. } => Some("leave --port out for a free one".to_owned()),
        Page::Engine(error) => remedy(error),
        _ => None,
    }
}

fn remedy_of_evaluation(error: &Evaluation) -> Option<String> {
    let remedy = match error {
        Evaluation::NoPeople { half, .. } if *half != Half::All => {
            "pass --identities all to take everybody"
        }
        Evaluation::ReportExists { .. } => {
            "choose another -o, or pass --resume to continue it or --force to replace it"
        }
        Evaluation::OtherOptions { .. } => {
            "resume it with the same options, or start over with --force"
        }
        Evaluation::Schema { .. } | Evaluation::DamagedJournal { .. } => "start over with --force",
        Evaluation::Engine(error) => return remedy(error),
        _ => return None,
    };
    Some(remedy.to_owned())
}

fn remedy_of_mechanism(error: &Mechanism) -> Option<String> {
    let remedy = match error {
        Mechanism::Combination { .. } => "use --ranking influence, or another --method",
        Mechanism::ForeignModel(_) | Mechanism::ModelVersion { .. } => {
            "`facedp train` makes models, or leave --model out"
        }
        Mechanism::DamagedModel { .. } => "fetch or fit it again",
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// What has a setting.
fn owner(setting: &str) -> &'static str {
    match setting {
        "strength" | "goal" | "min_quality" | "shape" | "steer_by" => "--method steered",
        "mechanism" => "--method certified",
        "eta" => "--method rdp-lmgd",
        "significance" => "--method rdp-na",
        "levels" => "the Haar basis",
        "receipt" => "methods that change faces",
        _ => "the paper's methods",
    }
}

fn remedy(error: &Error) -> Option<String> {
    Some(
        match error {
            Error::Format { .. } => "convert AVIF, GIF or video frames to one of these first",
            Error::Animated => "save one frame as a picture of its own",
            Error::FloatingPoint => "save it with 8 or 16 bits",
            Error::TooManyPixels { .. } => "reduce it first",
            Error::NotRead { .. } => "convert it first, or leave it out",
            Error::NoFace => "mark it with --box x,y,w,h, or lower --min-score",
            Error::TooSmall { .. } => {
                "use the photo at a larger size, or a method of noise such as --method rdp-optimal"
            }
            Error::FaceNumber { .. } => "`facedp inspect` numbers them",
            Error::Setting { setting, .. } => {
                let (option, owner) = (setting.replace('_', "-"), owner(setting));
                return Some(format!("leave --{option} out, which is for {owner}"));
            }
            Error::Mechanism(error) => return remedy_of_mechanism(error),
            Error::CertifiedMetadata => "leave --keep-metadata out",
            Error::OverOriginal { .. } => "choose another -o",
            Error::OverResult { .. } => "rename one of them",
            Error::Exists { .. } => "choose another -o, or pass --force to replace it",
            Error::ResultSize { .. } => "remove the result",
            Error::Busy { .. } => "wait for it to end",
            Error::Interrupted { .. } => "go on with --resume, or start over with --force",
            Error::OtherRun { .. } => "resume it with the same ones, or start over with --force",
            Error::RunRecord { .. } => "start over with --force",
            Error::Key { .. } => "`chmod 600` keeps a key to yourself, `facedp key new` makes one",
            Error::TooManyThreads { .. } => "leave --jobs out for one per core",
            Error::NotOwn { .. } => {
                "look at who put it there, and remove it (a copy in its place is fine)"
            }
            Error::Ledger { .. } => "mend the line, or move the file away",
            Error::NoHome => "name a file with --key, or --ledger",
            _ => return None,
        }
        .to_owned(),
    )
}
