//! `facedp serve`: the page.

use std::process::ExitCode;

use anyhow::Context;
use facedp_engine::ledger::Ledger;
use facedp_engine::{Key, Secret};
use facedp_web::{Bounds, Config, Server};
use serde_json::json;

use crate::args::{Output, Serve};
use crate::failure::{Failure, complain, say};
use crate::{key, model};

pub fn run(args: &Serve, output: &Output) -> Result<ExitCode, Failure> {
    let (secret, certified) = match &args.key {
        Some(path) => {
            let secret = Secret::Key(Key::read(path)?);
            (secret.clone(), secret)
        }
        None => (key::usual()?, Secret::Fresh),
    };
    let ledger = match &args.ledger {
        _ if args.no_ledger => None,
        Some(path) => Some(path.clone()),
        None => Some(Ledger::usual_path()?),
    };
    let bounds = Bounds::default();
    let config = Config { model: model::load(None)?, secret, certified, ledger, bounds };
    let server = Server::bind(args.port, config)?;
    let (url, stopper) = (server.url(), server.stopper());
    ctrlc::set_handler(move || stopper.stop()).context("cannot catch Ctrl-C")?;
    if output.json {
        say(json!({ "url": url }))?;
    } else if !output.quiet {
        say(format_args!("{url} (on this machine only; Ctrl-C ends it)"))?;
    }
    // A browser that does not open is no failure: the address is there to be clicked.
    if !args.no_open
        && let Err(reason) = open::that_detached(&url)
    {
        complain(format_args!("no browser could be opened ({reason}): open {url} yourself"));
    }
    server.run()?;
    Ok(ExitCode::SUCCESS)
}
