//! From the command line to an engine.

use anyhow::anyhow;
use facedp::noise::Randomness;
use facedp_engine::files::require_writable;
use facedp_engine::ledger::Ledger;
use facedp_engine::{Engine, Key, Resources, Secret};

use crate::args::{Output, Protect};
use crate::failure::Failure;
use crate::{key, model};

pub fn engine(args: &Protect, output: &Output) -> Result<Engine, Failure> {
    let info = args.method.info();
    if info.randomness.is_none() {
        for (given, option) in [
            (args.run.require_no_match, "--require-no-match"),
            (args.seed.is_some(), "--seed"),
            (args.key.is_some(), "--key"),
        ] {
            if given {
                let method = args.method;
                let problem = anyhow!("{option} needs a method that changes faces, not {method}");
                return Err(Failure::usage(problem));
            }
        }
    }
    if args.run.require_no_match && info.published_unseen {
        let method = args.method;
        return Err(Failure::usage(anyhow!(
            "--require-no-match chooses among draws, and the claim of {method} holds only for draws that \
             are published whatever they look like: leave it out, or use --method steered"
        )));
    }
    let secret = secret(args, info.randomness)?;
    let model = model::shared(args.parameters.model.as_deref())?;
    let ledger = match &args.ledger {
        _ if args.no_ledger => None,
        Some(path) => Some(path.clone()),
        None => Some(Ledger::default_path()?),
    };
    let ledger = match ledger {
        // A ledger that cannot be used is found out, but nothing is written.
        Some(path) if args.run.dry_run => {
            if path.exists() {
                Ledger::read(&path)?;
            }
            require_writable(&path)?;
            None
        }
        ledger => ledger,
    };
    let certified_secret = secret.clone();
    let resources = Resources {
        model,
        certified_secret,
        ledger,
        ..Resources::new(secret).map_err(Failure::from)?
    };
    Engine::new(args.request(output), resources).map_err(Failure::of_request)
}

/// Where randomness comes from: a seed, a key file, or what the method draws from by default. The user's
/// own key is made on first use.
fn secret(args: &Protect, default: Option<Randomness>) -> Result<Secret, Failure> {
    Ok(match (args.seed, &args.key, default) {
        (Some(seed), ..) => Secret::Seed(seed),
        (None, Some(path), _) => Secret::Key(Key::read(path)?),
        // Nothing is drawn in a dry run, so no key has to be made for it.
        (None, None, Some(Randomness::Keyed)) if args.run.dry_run => {
            let path = Key::default_path()?;
            Secret::Key(if path.exists() { Key::read(&path)? } else { Key::generate()? })
        }
        (None, None, Some(Randomness::Keyed)) => key::load_default()?,
        (None, None, _) => Secret::Fresh,
    })
}
