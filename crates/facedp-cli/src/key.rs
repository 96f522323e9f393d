//! `facedp key`: the user's secret key.

use std::process::ExitCode;

use anyhow::anyhow;
use facedp_engine::files::Existing;
use facedp_engine::{Key, Secret};
use serde_json::json;

use crate::args::{Key as Command, Output};
use crate::failure::{Failure, complain, say};
use crate::plain;

pub fn run(command: &Command, output: &Output) -> Result<ExitCode, Failure> {
    let (path, verb) = match command {
        Command::Path => (Key::default_path()?, "is"),
        Command::New { file, force } => {
            let path = match file {
                Some(file) => file.clone(),
                None => Key::default_path()?,
            };
            if path.exists() && !force {
                return Err(anyhow!(
                    "{} exists already: with another key photos get other noise, and two results of \
                     one photo can be averaged; pass --force if you mean it",
                    path.display()
                )
                .into());
            }
            let existing = if *force { Existing::Replace } else { Existing::Keep };
            Key::generate()?.write(&path, existing)?;
            (path, "made")
        }
    };
    if output.json {
        say(json!({ "path": path, "exists": path.exists() }))?;
    } else if verb == "is" || !output.quiet {
        say(plain::line(&path.display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The user's own key, which is made on first use.
pub fn load_default() -> Result<Secret, Failure> {
    let (key, made) = Key::load_default()?;
    if let Some(path) = made {
        complain(format_args!("made your key: {} (keep it secret)", path.display()));
    }
    Ok(Secret::Key(key))
}
