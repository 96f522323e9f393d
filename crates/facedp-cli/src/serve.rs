//! `facedp serve`: the page.

use std::process::ExitCode;

use facedp_engine::ledger::Ledger;
use facedp_engine::{Key, Resources, Secret};
use facedp_web::{Bounds, Config, Server, Token};
use serde_json::json;

use crate::args::{Output, Serve};
use crate::failure::{Failure, complain, say};
use crate::{key, signals};

pub fn run(args: &Serve, output: &Output) -> Result<ExitCode, Failure> {
    let secret = match &args.key {
        Some(path) => Secret::Key(Key::read(path)?),
        None => key::load_default()?,
    };
    let certified_secret = if args.key.is_some() { secret.clone() } else { Secret::Fresh };
    let ledger = match &args.ledger {
        _ if args.no_ledger => None,
        Some(path) => Some(path.clone()),
        None => Some(Ledger::default_path()?),
    };
    let resources = Resources { certified_secret, ledger, ..Resources::new(secret)? };
    // The page asks for it at once.
    resources.model.get()?;
    let token = if args.no_token { None } else { Some(Token::generate()?) };
    let config = Config { resources, bounds: Bounds::default(), token: token.clone() };
    let server = Server::bind(args.port, config)?;
    let url = server.url();
    signals::on_signal(server.stopper())?;
    if output.json {
        let token = token.as_ref().map(Token::as_str);
        say(json!({ "url": url, "api": server.api(), "token": token }))?;
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
