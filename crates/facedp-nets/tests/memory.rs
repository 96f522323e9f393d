//! Memory is reused: a hundred gradients need no more resident memory than a few. This test has a file
//! of its own because nothing else may run in the process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp_nets::{Chip, Recogniser, Workspace};

fn resident() -> i64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * pages.split(' ').nth(1).unwrap().parse::<i64>().unwrap()
}

#[test]
fn embeddings_do_not_grow_memory() {
    let recogniser = Recogniser::dlib().unwrap();
    let chip = Chip::new(150, (0..67_500u32).map(|i| (i * 7 % 256) as f32).collect()).unwrap();
    let mut work = Workspace::default();
    let mut run = |times: usize| {
        for _ in 0..times {
            recogniser.gradient(&chip, &mut work, |e| e.to_vec()).unwrap();
        }
    };
    run(5);
    let before = resident();
    run(100);
    // Leaking one embedding or gradient per run would add 27 MB. 1 MB is left to the allocator.
    let grown = resident() - before;
    assert!(grown < 1 << 20, "{grown} bytes");
}
