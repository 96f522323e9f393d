//! A file from anywhere: decoded, written again, and read back.
#![no_main]

mod fixed;

use std::sync::LazyLock;

use facedp_engine::{Engine, Limits, MethodName, Photo, Request, Resources, Secret, Workspace};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { file_bytes: 1_000_000, pixels: 1_000_000, bytes: 8_000_000 };

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    // Threads that wait for work count their turns, and so add coverage by chance.
    let here = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    here.build_global().expect("the only pool");
    let resources = Resources::new(Secret::Seed(1)).expect("resources");
    let request = Request { keep_metadata: true, ..Request::new(MethodName::None) };
    Engine::new(request, Resources { limits: LIMITS, ..resources }).expect("engine")
});

fuzz_target!(|file: &[u8]| {
    fixed::executes(file);
    if let Ok(result) = ENGINE.protect(file, &mut Workspace::default()) {
        let again = Photo::decode(&result.file, &LIMITS).expect("a result can be read");
        assert!(again.width() > 0 && again.height() > 0);
    }
});
