//! Text that the program stores or is sent: ledgers, run records, receipts, requests, keys.
#![no_main]

mod fixed;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use facedp_engine::batch::{Mode, Record};
use facedp_engine::ledger::{Ledger, totals};
use facedp_engine::{Engine, Key, MethodName, Receipt, Request, Resources, Secret};
use libfuzzer_sys::fuzz_target;

/// Its name is the same in every run; `fuzz/run` gives each run a folder of its own for temporary files.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join("facedp-records");
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let resources = Resources::new(Secret::Seed(1)).expect("resources");
    Engine::new(Request::new(MethodName::None), resources).expect("engine")
});

fuzz_target!(|data: &[u8]| {
    fixed::executes(data);
    let path = FOLDER.join(".facedp-run");
    fs::write(&path, data).expect("written");
    if let Ok(entries) = Ledger::read(&path) {
        let _ = totals(&entries);
    }
    let _ = Key::read(&path);
    let _ = Record::look(&FOLDER, &ENGINE, Mode::Resume);
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(receipt) = Receipt::from_json(text) {
        let terms = &receipt.public.terms;
        let _ = (terms.claim().in_words(), terms.method(), terms.tool(), terms.randomness());
        let written = serde_json::to_string(&receipt).expect("a receipt can be written");
        Receipt::from_json(&written).expect("a written receipt can be read");
    }
    let _ = Request::from_json(text);
});
