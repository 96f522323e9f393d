//! The program `facedp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    facedp_cli::run(std::env::args_os())
}
