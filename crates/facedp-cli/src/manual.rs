//! `facedp completions` and `facedp man`: what shells and `man` know of the program.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::{Args, Man};
use crate::failure::Failure;

const NAME: &str = "facedp";

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut script);
    print(&script)
}

/// Prints the program's manual page, or writes it and those of all commands to a folder.
pub fn man(args: &Man) -> Result<ExitCode, Failure> {
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Args::command()).render(&mut page).context("manual page")?;
        return print(&page);
    };
    let name = || format!("{}", folder.display());
    std::fs::create_dir_all(folder).with_context(name)?;
    clap_mangen::generate_to(Args::command(), folder).with_context(name)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes text as it is. A reader that has seen enough is no failure.
fn print(text: &[u8]) -> Result<ExitCode, Failure> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(error).context("cannot write to standard output").into())
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
