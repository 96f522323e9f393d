//! The program `facedp`, as a function, so that other front ends can bring it along.

mod args;
mod audit;
mod check;
mod evaluate;
mod failure;
mod inspect;
mod key;
mod manual;
mod model;
mod photo;
mod plain;
mod plan;
mod progress;
mod protect;
mod receipt;
mod remedy;
mod serve;
mod signals;
mod train;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::Failure;
pub use plan::plan_json;

/// Runs the program with a command line, the program's name first. Help and usage errors end the process.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = parsed(args.into_iter().collect());
    let done = match args.command {
        Command::Protect(command) => protect::run(&command, &args.output),
        Command::Serve(command) => serve::run(&command, &args.output),
        Command::Check(command) => check::run(&command, &args.output),
        Command::Inspect(command) => inspect::run(&command, &args.output),
        Command::Audit(command) => audit::run(&command, &args.output),
        Command::Plan(command) => plan::run(&command, &args.output),
        Command::Evaluate(command) => evaluate::run(&command, &args.output),
        Command::Train(command) => train::run(&command, &args.output),
        Command::Receipt(command) => receipt::run(&command, &args.output),
        Command::Key(command) => key::run(&command, &args.output),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man(command) => manual::man(&command),
    };
    done.unwrap_or_else(Failure::report)
}

/// The command line; help and usage errors end the process. Their messages show what was given, and `*` can give
/// names of files that look like options: those are shown with escapes.
fn parsed(args: Vec<OsString>) -> Args {
    Args::try_parse_from(&args).unwrap_or_else(|error| {
        let shown = args.iter().map(|arg| plain::line(&arg.to_string_lossy()));
        Args::try_parse_from(shown).err().unwrap_or(error).exit()
    })
}
