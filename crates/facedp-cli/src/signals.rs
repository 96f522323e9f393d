//! Signals: the first one asks the work to end, the second ends the program at once.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};

use crate::failure::complain;

/// How long the work may go on after SIGTERM, whatever it waits for.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_millis(600);

/// A flag that the first signal sets, and says so. What the second leaves unfinished is removed when the run is
/// resumed.
pub fn stop_on_signal(message: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_signal(move || {
        flag.store(true, Ordering::Relaxed);
        // Somebody may be waiting in the middle of a line on standard error: this must not wait, too.
        thread::spawn(move || complain(message));
    })?;
    Ok(stop)
}

/// Calls `stop` at the first signal.
#[cfg(unix)]
pub fn on_signal(stop: impl Fn() + Send + 'static) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.context("cannot catch signals")?;
    thread::spawn(move || {
        let mut heard = false;
        for signal in signals.forever() {
            if heard {
                exit(128 + signal);
            }
            heard = true;
            if signal == SIGTERM {
                thread::spawn(move || {
                    thread::sleep(GRACE);
                    exit(128 + signal);
                });
            }
            stop();
        }
    });
    Ok(())
}

/// Calls `stop` at the first signal.
#[cfg(not(unix))]
pub fn on_signal(stop: impl Fn() + Send + 'static) -> Result<()> {
    let heard = AtomicBool::new(false);
    let handler = move || match heard.swap(true, Ordering::Relaxed) {
        true => exit(130),
        false => stop(),
    };
    ctrlc::set_handler(handler).context("cannot catch Ctrl-C")
}
