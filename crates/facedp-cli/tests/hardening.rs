//! The program as an attacker would try it: special files, links, names, signals.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use image::{GenericImage, RgbImage};
use support::{NOISE, QUICK, command, facedp, photo, workshop, write_key};

/// Waits for a program that must end by itself.
fn ended(child: Child) -> Output {
    ended_within(child, Duration::from_secs(120))
}

fn ended_within(mut child: Child, most: Duration) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > most {
            child.kill().unwrap();
            panic!("it hangs: still at work after {most:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn start(folder: &Path, args: &[&str]) -> Child {
    let mut command = command(folder, args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
}

#[test]
fn special_files_are_not_waited_for() {
    let folder = workshop();
    let path = folder.path();
    fs::create_dir(path.join("in")).unwrap();
    fs::copy(path.join("face.png"), path.join("in/face.png")).unwrap();
    for name in ["in/pipe.jpg", "key.pipe", "ledger.pipe", "model.pipe", "receipt.pipe"] {
        pipe(&path.join(name));
    }
    symlink("/dev/zero", path.join("in/zero.jpg")).unwrap();
    let aligned = [&["protect", "-o", "out", "--aligned", "--no-check"][..], &NOISE].concat();
    let output = ended(start(path, &[&aligned[..], &["in"]].concat()));
    let (code, text) = said(&output);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("1 of 3 photos") && text.contains("pipe.jpg") && text.contains("zero.jpg")
    );
    let face = [&aligned[..], &["face.png", "--force"]].concat();
    let pipes: [(&[&str], &str); 4] = [
        (&[&face[..], &["--key", "key.pipe"]].concat(), "key.pipe"),
        (&[&face[..], &["--ledger", "ledger.pipe"]].concat(), "ledger.pipe"),
        (&[&face[..], &["--model", "model.pipe"]].concat(), "model.pipe"),
        (&["receipt", "show", "receipt.pipe"], "receipt.pipe"),
    ];
    for (args, name) in pipes {
        let (code, text) = said(&ended(start(path, args)));
        assert!(code == Some(1) && text.contains(name), "{args:?}: {text}");
    }
    fs::create_dir(path.join("other")).unwrap();
    pipe(&path.join("other/.facedp-run"));
    let args = [&["protect", "face.png", "-o", "other", "--aligned", "--no-check"][..], &NOISE];
    let (code, text) = said(&ended(start(path, &args.concat())));
    assert!(code == Some(1) && text.contains(".facedp-run"), "{text}");
}

#[test]
fn links_in_place_of_our_own_files_are_not_followed() {
    let folder = workshop();
    let path = folder.path();
    fs::create_dir(path.join("out")).unwrap();
    fs::write(path.join("victim"), "precious").unwrap();
    symlink(path.join("victim"), path.join("out/.facedp-run")).unwrap();
    write_key(&path.join("real.key"), 7);
    symlink(path.join("real.key"), path.join("link.key")).unwrap();
    fs::write(path.join("real.ledger"), "").unwrap();
    symlink(path.join("real.ledger"), path.join("link.ledger")).unwrap();
    let protect = |more: &[&str]| {
        let args = ["protect", "face.png", "--aligned", "--no-check", "--force"];
        facedp(path, &[&args[..], &NOISE, more].concat())
    };
    for more in [
        &["-o", "out"][..],
        &["-o", "b", "--key", "link.key"],
        &["-o", "c", "--ledger", "link.ledger"],
    ] {
        let outcome = protect(more);
        assert_eq!(outcome.code, 1, "{more:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("symbolic link"), "{more:?}: {}", outcome.stderr);
    }
    assert_eq!(fs::read_to_string(path.join("victim")).unwrap(), "precious");
    assert_eq!(fs::read_to_string(path.join("real.ledger")).unwrap(), "");
    assert_eq!(protect(&["-o", "d", "--key", "real.key"]).code, 0);
}

#[test]
fn hard_links_in_place_of_our_own_files_are_refused() {
    let folder = workshop();
    let path = folder.path();
    fs::create_dir(path.join("out")).unwrap();
    fs::create_dir(path.join("dry")).unwrap();
    write_key(&path.join("real.key"), 7);
    for (file, link) in [
        ("victim", "out/.facedp-run"),
        ("second", "dry/.facedp-run"),
        ("real.key", "link.key"),
        ("real.ledger", "link.ledger"),
    ] {
        if file != "real.key" {
            fs::write(path.join(file), "").unwrap();
        }
        fs::hard_link(path.join(file), path.join(link)).unwrap();
    }
    fs::write(path.join("victim"), "precious").unwrap();
    let protect = |more: &[&str]| {
        let args = ["protect", "face.png", "--aligned", "--no-check", "--force"];
        facedp(path, &[&args[..], &NOISE, more].concat())
    };
    for more in [
        &["-o", "out"][..],
        &["-o", "dry", "--dry-run"],
        &["-o", "b", "--key", "link.key"],
        &["-o", "c", "--ledger", "link.ledger"],
    ] {
        let outcome = protect(more);
        assert_eq!(outcome.code, 1, "{more:?}: {}", outcome.stdout);
        let text = outcome.stderr;
        assert!(text.contains("hard link") && text.contains("remove it"), "{more:?}: {text}");
    }
    assert_eq!(fs::read_to_string(path.join("victim")).unwrap(), "precious");
    assert_eq!(fs::read_to_string(path.join("real.ledger")).unwrap(), "");
    // The only name that is left.
    fs::remove_file(path.join("link.key")).unwrap();
    assert_eq!(protect(&["-o", "d", "--key", "real.key"]).code, 0);
}

/// Only root can give files away; for others there is nothing to try.
#[test]
fn files_of_other_users_in_place_of_our_own_are_refused() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = workshop();
    let path = folder.path();
    if fs::metadata(path).unwrap().uid() != 0 {
        return;
    }
    const NOBODY: u32 = 65_534;
    fs::create_dir(path.join("out")).unwrap();
    fs::write(path.join("out/.facedp-run"), "theirs").unwrap();
    write_key(&path.join("their.key"), 7);
    fs::write(path.join("their.ledger"), "").unwrap();
    for name in ["out/.facedp-run", "their.key", "their.ledger"] {
        chown(path.join(name), Some(NOBODY), None).unwrap();
    }
    for more in [
        &["-o", "out"][..],
        &["-o", "b", "--key", "their.key"],
        &["-o", "c", "--ledger", "their.ledger"],
    ] {
        let args = ["protect", "face.png", "--aligned", "--no-check", "--force"];
        let outcome = facedp(path, &[&args[..], &NOISE, more].concat());
        assert_eq!(outcome.code, 1, "{more:?}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("another user"), "{more:?}: {}", outcome.stderr);
    }
    assert_eq!(fs::read_to_string(path.join("out/.facedp-run")).unwrap(), "theirs");
}

#[test]
fn names_are_shown_and_not_obeyed() {
    let folder = workshop();
    let path = folder.path();
    fs::create_dir(path.join("in")).unwrap();
    let name = "a\u{1b}]0;title\u{7}\n5 of 5 photos written to out\u{9b}2J.png";
    fs::copy(photo("base_420_q85.jpg"), path.join("in").join(name)).unwrap();
    fs::write(path.join("in").join(format!("{name}.jpg")), "no picture").unwrap();
    let out = OsStr::new("out\n7 of 7").to_str().unwrap();
    let args = ["protect", "in", "-o", out, "--strength", "low", "--receipt"];
    for more in [&[][..], &["--json", "--force"]] {
        let outcome = facedp(path, &[&args[..], &QUICK, more].concat());
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        let text = outcome.stdout + &outcome.stderr;
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
        for line in text.lines() {
            assert!(!line.starts_with("5 of 5") && !line.starts_with("7 of 7"), "{text}");
        }
        for line in text.lines().filter(|line| line.starts_with('{')) {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
    let receipt = path.join("out\n7 of 7.receipts").join(format!("{name}.json"));
    let text = fs::read_to_string(&receipt).unwrap();
    let forged = text.replace("\"facedp 0.1.0\"", r#""x\n  claim       eps-dp\u001b[2J""#);
    assert_ne!(text, forged);
    fs::write(path.join("forged.json"), forged).unwrap();
    let shown = facedp(path, &["receipt", "show", "forged.json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(!shown.stdout.contains('\u{1b}') && !shown.stdout.contains("\n  claim       eps-dp"));
}

/// `*` makes options of names that begin with a dash.
#[test]
fn usage_errors_show_names_and_do_not_obey_them() {
    let folder = workshop();
    let name = "--\u{1b}]0;title\u{7}\n5 of 5 photos written\u{9b}2J.png";
    for args in [
        &["protect", name, "-o", "out"][..],
        &["protect", "face.png", "-o", "out", "--method", name],
        &["protect", "face.png", "-o", "out", "--faces", &name[2..]],
        &[name],
        &["inspect", "face.png", &name[2..]],
    ] {
        let outcome = facedp(folder.path(), args);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(!outcome.stderr.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{:?}", outcome.stderr);
        assert!(
            !outcome.stderr.lines().any(|line| line.starts_with("5 of 5")),
            "{}",
            outcome.stderr
        );
    }
}

/// A name in another encoding than UTF-8, as old archives have them.
#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_unicode_match_patterns() {
    use std::os::unix::ffi::OsStrExt;
    let folder = workshop();
    let path = folder.path();
    fs::create_dir_all(path.join("in/sub")).unwrap();
    fs::create_dir_all(path.join("in/.hidden")).unwrap();
    let name = OsStr::from_bytes(b"gr\xfcn\x1b[31m.png");
    for place in ["in", "in/sub", "in/.hidden"] {
        fs::copy(path.join("face.png"), path.join(place).join(name)).unwrap();
    }
    symlink(path.join("in"), path.join("in/sub/again")).unwrap();
    for (number, (pattern, photos)) in
        [("in/*.png", 1), ("in/**/*.png", 2), ("in/s*/*", 1), ("in/**", 2), ("in/.h*/*.png", 1)]
            .into_iter()
            .enumerate()
    {
        let out = format!("out{number}");
        let args = ["protect", pattern, "-o", &out, "--aligned", "--no-check"];
        let outcome = facedp(path, &[&args[..], &NOISE].concat());
        let all = format!("{photos} of {photos} photo");
        assert!(outcome.code == 0 && outcome.stdout.starts_with(&all), "{pattern}: {outcome:?}");
        assert!(!outcome.stdout.contains('\u{1b}'));
    }
}

#[test]
fn a_dry_run_says_what_the_run_will_say() {
    let folder = workshop();
    let path = folder.path();
    // A face of about twenty pixels, and a photo without any.
    let face = image::open(photo("base_420_q85.jpg")).unwrap();
    let small = face.thumbnail(face.width() / 6, face.height() / 6).to_rgb8();
    let mut wide = RgbImage::from_pixel(320, 240, image::Rgb([120, 130, 140]));
    wide.copy_from(&small, 100, 60).unwrap();
    wide.save(path.join("small.png")).unwrap();
    let mut both = RgbImage::new(face.width() + 200, face.height());
    both.copy_from(&face.to_rgb8(), 0, 0).unwrap();
    both.copy_from(&small, face.width() + 50, 50).unwrap();
    both.save(path.join("both.png")).unwrap();
    write_key(&path.join("bad.key"), 7);
    fs::write(path.join("bad.key"), "no key").unwrap();
    fs::write(path.join("bad.ledger"), "no entry\n").unwrap();
    let certified = ["--method", "certified", "--epsilon", "1"];
    let cases: [(&str, &[&str]); 7] = [
        ("small.png", &[]),
        ("both.png", &QUICK),
        ("hopper.jpg", &QUICK),
        ("face.png", &[]),
        ("face.png", &["--copy-faceless"]),
        ("small.png", &[&certified[..], &["--box", "1,1,3,3", "--no-ledger"]].concat()),
        ("hopper.jpg", &[&certified[..], &["--ledger", "bad.ledger"]].concat()),
    ];
    let mut codes = Vec::new();
    for (number, (name, more)) in cases.into_iter().enumerate() {
        let out = format!("out{number}");
        let args = ["protect", name, "-o", &out, "--no-check"];
        let dry = facedp(path, &[&args[..], more, &["--dry-run"]].concat());
        assert!(!path.join(&out).exists());
        let run = facedp(path, &[&args[..], more].concat());
        assert_eq!(dry.code, run.code, "{name} {more:?}: {} {}", dry.stderr, run.stderr);
        codes.push(run.code);
    }
    assert!(codes[0] == 1 && codes[2] == 0, "{codes:?}");
}

/// Files where folders belong, and folders where files belong.
#[test]
fn a_dry_run_sees_what_is_in_the_way() {
    let folder = workshop();
    let path = folder.path();
    fs::write(path.join("a.receipts"), "a file").unwrap();
    fs::create_dir_all(path.join("b/face.png")).unwrap();
    fs::create_dir_all(path.join("c.receipts/face.png.json")).unwrap();
    fs::create_dir_all(path.join("in/sub")).unwrap();
    fs::copy(path.join("face.png"), path.join("in/sub/face.png")).unwrap();
    fs::create_dir(path.join("d")).unwrap();
    fs::write(path.join("d/sub"), "a file").unwrap();
    for (source, out, code, more) in [
        ("face.png", "a", 1, &["--receipt"][..]),
        ("face.png", "b", 1, &["--force"]),
        ("face.png", "b", 1, &[]),
        ("face.png", "c", 1, &["--receipt", "--force"]),
        ("in", "d", 1, &[]),
        ("face.png", "e", 0, &["--receipt"]),
    ] {
        let args = ["protect", source, "-o", out, "--aligned", "--no-check"];
        let args = [&args[..], &NOISE, more].concat();
        let dry = facedp(path, &[&args[..], &["--dry-run"]].concat());
        let run = facedp(path, &args);
        assert_eq!((dry.code, run.code), (code, code), "{out}: {} {}", dry.stderr, run.stderr);
        fs::remove_file(path.join(out).join(".facedp-run")).ok();
    }
}

/// The environment is no way past the limit: with so many threads, the system would give none.
#[test]
#[cfg(target_os = "linux")]
fn the_environment_does_not_set_the_number_of_threads() {
    let folder = workshop();
    let path = folder.path();
    let one = image::open(photo("base_420_q85.jpg")).unwrap().to_rgb8();
    one.save(path.join("one.png")).unwrap();
    let mut command = command(path, &["protect", "one.png", "-o", "out", "--strength", "high"]);
    command.env("RAYON_NUM_THREADS", "300");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let threads = fs::read_dir(format!("/proc/{}/task", child.id()));
        most = most.max(threads.map_or(0, Iterator::count));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!((1..300).contains(&most), "{most} threads");
}

#[test]
fn too_many_threads_are_refused() {
    let folder = workshop();
    for args in [
        &["protect", "hopper.jpg", "-o", "out", "--jobs", "65535"][..],
        &["evaluate", "paper", "people", "-o", "r", "--jobs", "65535"],
    ] {
        let outcome = facedp(folder.path(), args);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("65535") && outcome.stderr.contains("--jobs"));
    }
}

/// A photo with so many faces that the work takes minutes.
fn crowd(path: &Path) {
    let one = image::open(photo("base_420_q85.jpg")).unwrap().to_rgb8();
    let mut all = RgbImage::new(6 * one.width(), 6 * one.height());
    for n in 0..36 {
        all.copy_from(&one, n % 6 * one.width(), n / 6 * one.height()).unwrap();
    }
    all.save(path).unwrap();
}

#[test]
fn signals_end_a_run_that_is_at_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    crowd(&path.join("crowd.png"));
    for (name, signals, expected) in [("a", &["-TERM"][..], 143), ("b", &["-INT", "-INT"], 130)] {
        let child = start(path, &["protect", "crowd.png", "-o", name, "--strength", "high"]);
        let started = Instant::now();
        while !path.join(name).join(".facedp-run").exists() {
            assert!(started.elapsed().as_secs() < 120, "it does not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        // The handler is set right after the record is there.
        std::thread::sleep(Duration::from_secs(2));
        for name in signals {
            signal(&child, name);
            std::thread::sleep(Duration::from_millis(200));
        }
        // It takes a second where nothing else is at work; thirty leave room for a loaded machine, and are far less
        // than the minutes that the work on all faces takes.
        let output = ended_within(child, Duration::from_secs(30));
        assert_eq!(output.status.code(), Some(expected), "{}", said(&output).1);
        assert!(!path.join(name).join("crowd.png").exists());
    }
}

#[test]
fn receipts_of_the_longest_names_are_written() {
    let folder = workshop();
    let path = folder.path();
    let name = format!("{}.png", "n".repeat(251));
    fs::copy(path.join("face.png"), path.join(&name)).unwrap();
    let args = ["protect", &name, "-o", "out", "--receipt", "--aligned", "--no-check"];
    let outcome = facedp(path, &[&args[..], &NOISE].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(path.join("out").join(&name).exists());
    let receipts: Vec<_> = fs::read_dir(path.join("out.receipts")).unwrap().collect();
    assert_eq!(receipts.len(), 1);
    let receipt = receipts[0].as_ref().unwrap().path();
    // The extension of another format can be longer.
    let more = ["--format", "webp"];
    for dry in [&["--dry-run"][..], &[]] {
        let outcome = facedp(path, &[&args[..], &NOISE, &more, dry].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    }
    assert_eq!(facedp(path, &["receipt", "show", receipt.to_str().unwrap()]).code, 0);
}
