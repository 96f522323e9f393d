//! Text that the program stores or is sent: ledgers, receipts, requests, keys.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use facedp_engine::ledger::{Ledger, totals};
use facedp_engine::{Key, Receipt, Request};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder")
});

fuzz_target!(|data: &[u8]| {
    let path = FOLDER.path().join("file");
    fs::write(&path, data).expect("written");
    if let Ok(entries) = Ledger::read(&path) {
        let _ = totals(&entries);
    }
    let _ = Key::read(&path);
    if let Ok(text) = std::str::from_utf8(data) {
        if let Ok(receipt) = Receipt::from_json(text) {
            let _ = receipt.public.terms.claim().in_words();
        }
        let _ = Request::from_json(text);
    }
});
