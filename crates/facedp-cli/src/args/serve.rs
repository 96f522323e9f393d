//! The options of `facedp serve`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Open a page in your browser to change the faces in photos, see the difference and check it.
///
/// The page is served by this program on this machine, and answers to this machine only. The address has a
/// token, without which other users of the machine get no answer. It needs no network. No photo, result or
/// receipt is written to the disk unless you download it; releases are recorded in your ledger, as `facedp
/// protect` does. Ctrl-C ends it.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp serve                    opens your browser
  facedp serve --no-open --port 8080

Under /api/v1 there is an interface for programs; /api/v1/openapi.json describes it. It takes the token as
`Authorization: Bearer TOKEN`; --json prints it.")]
pub struct Serve {
    /// The port [default: 4680, or a free one if that is taken]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Answer every user of this machine: the address has no token
    #[arg(long)]
    pub no_token: bool,
    /// File with the secret key [default: your own, made on first use; certified: fresh entropy]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// File in which releases are recorded, to add up what each photo's spend [default: your own]
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Do not record releases
    #[arg(long, conflicts_with = "ledger")]
    pub no_ledger: bool,
}
