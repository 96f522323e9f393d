//! `facedp protect` on photos and folders of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use support::{NOISE, Outcome, QUICK, command, facedp, facedp_json, files_below, photo, write_key};
use tempfile::TempDir;

/// The default method, so weak that every face still matches.
const HARDLY: [&str; 6] = ["--min-quality", "95", "--steer-by", "dlib", "--shape", "off"];

/// A folder with photos: two with a face, one with two, one without.
fn album() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("photos").join(name);
    fs::create_dir_all(at("sub folder")).unwrap();
    fs::copy(photo("base_420_q85.jpg"), at("hopper.jpg")).unwrap();
    fs::copy(photo("lossy_q80.webp"), at("sub folder/Größe 1.webp")).unwrap();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../facedp-nets/tests/golden");
    fs::copy(format!("{golden}/yunet_both.png"), at("both.png")).unwrap();
    support::colour(200, 150, 3).save(at("sea.png")).unwrap();
    folder
}

fn lines(outcome: &Outcome) -> Vec<Value> {
    let stream = serde_json::Deserializer::from_str(&outcome.stdout);
    stream.into_iter().collect::<Result<_, _>>().unwrap()
}

fn line<'a>(lines: &'a [Value], name: &str) -> &'a Value {
    lines.iter().find(|line| line["file"].as_str().is_some_and(|f| f.ends_with(name))).unwrap()
}

#[test]
fn a_folder_of_photos() {
    let folder = album();
    let path = folder.path();
    let outcome =
        facedp(path, &[&["protect", "photos", "-o", "safe", "--receipt"], &QUICK[..]].concat());
    assert_eq!(outcome.code, 1, "a photo has no face");
    assert!(outcome.stderr.contains("sea.png: no face found"), "{}", outcome.stderr);
    assert_eq!(
        files_below(&path.join("safe")),
        ["both.png", "hopper.jpg", "sub folder", "sub folder/Größe 1.webp"]
    );
    let text = &outcome.stdout;
    assert!(text.contains("3 of 4 photos written to safe"), "{text}");
    assert!(text.contains("4 faces (steered, quality at least 75)"), "{text}");
    let counted =
        |verb: &str| text.contains(&format!(" of 4 faces no longer {verb} by dlib, SFace"));
    assert!(counted("match") || counted("matches"), "{text}");
    assert!(text.contains("claim          none"), "{text}");
    for word in ["private", "protected"] {
        assert!(!text.contains(word), "{text}");
    }

    // Receipts: readable by their owner only, one for each photo, in words and in two parts.
    let receipts = path.join("safe.receipts");
    assert_eq!(
        files_below(&receipts),
        ["both.png.json", "hopper.jpg.json", "sub folder", "sub folder/Größe 1.webp.json"]
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&receipts), 0o700);
        assert_eq!(mode(&receipts.join("both.png.json")), 0o600);
        assert_eq!(mode(&path.join("safe/both.png")) & 0o444, 0o444, "readable as usual");
    }
    let receipt = "safe.receipts/both.png.json";
    let shown = facedp(path, &["receipt", "show", receipt]).stdout;
    for words in ["face 2", "claim       none", "secret key", "do not publish", "dlib", "PSNR"] {
        assert!(shown.contains(words), "no {words:?} in {shown}");
    }
    let public = facedp(path, &["receipt", "public", receipt]).stdout;
    assert!(public.contains("\"claim\": \"none\"") && public.contains("keyed"), "{public}");
    for private in ["notice", "box", "distance"] {
        assert!(!public.contains(private), "{private} in {public}");
    }
    let whole = &facedp_json(path, &["receipt", "show", receipt])[0];
    assert_eq!(whole["private"]["faces"].as_array().unwrap().len(), 2);
}

/// What is said of the paper's noise: the budget's accounting, and that it does not stop recognisers.
#[test]
fn noise_and_its_receipt() {
    let folder = album();
    let path = folder.path();
    let args = ["protect", "photos/both.png", "-o", "noisy", "--receipt"];
    let outcome = facedp(path, &[&args[..], &NOISE].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let text = &outcome.stdout;
    let check = "dlib: 2 of 2 faces still match their original, SFace: 2 of 2, Intel: 2 of 2, \
                 MobileFaceNet: 2 of 2, FaceX-Zoo: 2 of 2: this method does not stop recognisers";
    assert!(text.contains(check), "{text}");
    let alone =
        facedp(path, &[&["protect", "photos/hopper.jpg", "-o", "alone"], &NOISE[..]].concat());
    let check = "dlib: 1 of 1 face still matches its original, SFace: 1 of 1, Intel: 1 of 1";
    assert!(alone.stdout.contains(check), "{}", alone.stdout);
    assert!(text.contains("not a differential privacy guarantee"), "{text}");
    for word in ["private", "protected"] {
        assert!(!text.contains(word), "{text}");
    }
    let receipt = "noisy.receipts/both.png.json";
    let shown = facedp(path, &["receipt", "show", receipt]).stdout;
    for words in ["face 2", "paper-accounting", "secret key", "do not publish", "dlib", "PSNR"] {
        assert!(shown.contains(words), "no {words:?} in {shown}");
    }
    let public = facedp(path, &["receipt", "public", receipt]).stdout;
    assert!(public.contains("\"claim\": \"paper-accounting\"") && public.contains("keyed"));
    // Who was asked may be published; what they said may not.
    for recogniser in ["dlib", "sface", "intel", "mobilefacenet", "facexzoo"] {
        assert!(public.contains(recogniser), "no {recogniser} in {public}");
    }
    for private in ["notice", "geometric_number", "box", "noisy_features", "distance"] {
        assert!(!public.contains(private), "{private} in {public}");
    }
    let whole = &facedp_json(path, &["receipt", "show", receipt])[0];
    assert_eq!(whole["private"]["faces"].as_array().unwrap().len(), 2);
    assert_eq!(
        whole["private"]["faces"][0]["details"]["noisy_features"].as_array().unwrap().len(),
        64
    );
}

/// Somebody who has no key yet gets one, and the same results with it from then on.
#[test]
fn a_key_is_made_on_first_use() {
    let folder = album();
    let path = folder.path();
    let protect = |out: &str| {
        let args = ["protect", "photos/hopper.jpg", "-o", out, "--no-check"];
        let mut command = command(path, &[&args[..], &NOISE].concat());
        let output = command.env("XDG_CONFIG_HOME", path.join("config")).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        (said, fs::read(path.join(out).join("hopper.jpg")).unwrap())
    };
    let (said, first) = protect("a");
    assert!(said.contains("made your key"), "{said}");
    let key = path.join("config/facedp/key");
    assert!(fs::read_to_string(&key).unwrap().starts_with("facedp-key-1:"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(protect("b"), (String::new(), first));
}

#[test]
fn the_same_key_gives_the_same_noise_and_another_one_does_not() {
    let folder = album();
    let path = folder.path();
    for (name, byte) in [("one", 1), ("two", 2)] {
        write_key(&path.join(name), byte);
    }
    let protect = |out: &str, more: &[&str]| {
        let args = ["protect", "photos/both.png", "-o", out, "--no-check"];
        assert_eq!(facedp(path, &[&args[..], &NOISE, more].concat()).code, 0);
        fs::read(path.join(out).join("both.png")).unwrap()
    };
    let first = protect("a", &["--key", "one", "--epsilon", "0.004"]);
    assert_eq!(
        first,
        protect("b", &["--key", "one", "--jobs", "1", "--no-metrics", "--epsilon", "0.004"])
    );
    assert_ne!(first, protect("c", &["--key", "two", "--epsilon", "0.004"]));
    assert_ne!(first, protect("d", &["--key", "one", "--epsilon", "0.006"]));
    assert_eq!(protect("e", &[]), protect("f", &[]), "the user's own key");
    // A face's noise does not depend on which others are treated.
    let alone = protect("g", &["--key", "one", "--faces", "1", "--epsilon", "0.004"]);
    let [both, alone, plain] = [first, alone, fs::read(path.join("photos/both.png")).unwrap()]
        .map(|file| image::load_from_memory(&file).unwrap().to_rgb8());
    let triples = || both.pixels().zip(alone.pixels()).zip(plain.pixels());
    let moved = triples().filter(|((_, alone), plain)| alone != plain).count();
    let same = triples().filter(|((both, alone), plain)| alone != plain && both == alone).count();
    assert!(moved > 100 && same == moved, "{same} of {moved}");
}

#[test]
fn keys_are_made_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert_eq!(facedp(path, &["key", "new", "one"]).code, 0);
    let key = fs::read_to_string(path.join("one")).unwrap();
    assert!(key.starts_with("facedp-key-1:") && key.trim().len() == 13 + 64, "{key}");
    assert_eq!(facedp(path, &["key", "new", "one"]).code, 1, "a key is not replaced");
    assert_eq!(facedp(path, &["key", "new", "one", "--force"]).code, 0);
    assert_ne!(fs::read_to_string(path.join("one")).unwrap(), key);
    assert!(facedp(path, &["key", "path"]).stdout.contains("facedp"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.join("one")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::set_permissions(path.join("one"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::copy(photo("base_420_q85.jpg"), path.join("hopper.jpg")).unwrap();
        let open = facedp(path, &["protect", "hopper.jpg", "-o", "x", "--key", "one"]);
        assert!(open.code == 1 && open.stderr.contains("others can read it"), "{}", open.stderr);
    }
}

#[test]
fn faces_can_be_chosen_and_drawn() {
    let folder = album();
    let path = folder.path();
    let faces = |more: &[&str]| {
        let args = ["protect", "photos/both.png", "-o", "out", "--force", "--no-check", "--json"];
        let outcome = facedp(path, &[&args[..], &NOISE, more].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        lines(&outcome)[0]["faces"].as_array().unwrap().clone()
    };
    let all = faces(&[]);
    assert_eq!(all.len(), 2);
    let area = |face: &Value| face["box"][2].as_f64().unwrap() * face["box"][3].as_f64().unwrap();
    let largest = faces(&["--faces", "largest"]);
    assert_eq!(largest.len(), 1);
    assert!(all.iter().all(|face| area(face) <= area(&largest[0])));
    assert_eq!(faces(&["--faces", "2"])[0]["box"], all[1]["box"]);
    assert_eq!(faces(&["--faces", "1,2"]).len(), 2);
    assert_eq!(facedp(path, &["protect", "photos/both.png", "-o", "x", "--faces", "3"]).code, 1);

    // A box round a face that was found is that face, with its noise.
    let [x, y, w, h] = [0, 1, 2, 3].map(|i| all[1]["box"][i].as_f64().unwrap().round());
    let given = format!("{x},{y},{w},{h}");
    assert_eq!(faces(&["--faces", "1", "--box", &given]), faces(&[]));
    // One round a face that was missed gets landmarks by a closer look; one on nothing gets those of
    // an upright face.
    let drawn = faces(&["--min-score", "0.99", "--box", &given, "--accept-doubts"]);
    assert_eq!(drawn.len(), 1);
    assert!(drawn[0]["score"].is_null());
    let off = |i: usize, c: usize| {
        let at = |face: &Value| face["landmarks"][i][c].as_f64().unwrap();
        (at(&drawn[0]) - at(&all[1])).abs()
    };
    assert!((0..5).all(|i| off(i, 0) < 0.1 * w && off(i, 1) < 0.1 * h), "{drawn:?}");
    assert_eq!(faces(&["--box", &given]).len(), 2);
    let empty = faces(&["--box", "5,5,20,24"]);
    assert_eq!(empty.len(), 3);
    let [left, right] = [0, 1].map(|i| empty[2]["landmarks"][i][0].as_f64().unwrap());
    assert!((5.0..25.0).contains(&left) && left < right && right < 25.0);
}

#[test]
fn photos_without_a_face_are_written_only_on_request() {
    let folder = album();
    let path = folder.path();
    let outcome = facedp(path, &["protect", "photos/sea.png", "-o", "out", "--json", "--no-check"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(line(&lines(&outcome), "sea.png")["result"], "no-face");
    assert!(!path.join("out").exists());
    let args =
        ["protect", "photos/[hs]*.*", "-o", "out", "--copy-faceless", "--no-check", "--json"];
    let outcome = facedp(path, &[&args[..], &QUICK].concat());
    assert_eq!(outcome.code, 1, "still listed");
    assert!(outcome.stderr.contains("sea.png"), "{}", outcome.stderr);
    assert_eq!(line(&lines(&outcome), "sea.png")["result"], "copied");
    assert_eq!(line(&lines(&outcome), "hopper.jpg")["result"], "written");
    let [a, b] = ["photos/sea.png", "out/sea.png"].map(|f| image::open(path.join(f)).unwrap());
    assert_eq!(a, b);
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = album();
    let path = folder.path();
    fs::copy(photo("tagged.jpg"), path.join("tagged.jpg")).unwrap();
    let args = ["protect", "tagged.jpg", "-o", "safe", "--dry-run", "--keep-metadata", "--json"];
    let kept = facedp_json(path, &args[..args.len() - 1]);
    assert_eq!(
        kept[0]["stripped"],
        serde_json::json!(["IPTC", "comment", "thumbnail", "maker notes"])
    );
    let outcome = facedp(path, &["protect", "photos", "-o", "safe", "--dry-run", "--receipt"]);
    assert_eq!(outcome.code, 1, "a photo has no face");
    assert!(
        outcome.stdout.contains("would write 3 of 4 photos to safe: 4 faces"),
        "{}",
        outcome.stdout
    );
    assert_eq!(files_below(path).iter().filter(|f| f.starts_with("safe")).count(), 0);
    let outcome = facedp(path, &["protect", "photos", "-o", "safe", "--dry-run", "--json"]);
    let all = lines(&outcome);
    assert_eq!(all.last().unwrap()["summary"]["randomness"], "keyed");
    let both = line(&all, "both.png").clone();
    assert_eq!((&both["result"], both["faces"].as_array().unwrap().len()), (&"planned".into(), 2));
}

#[test]
fn a_face_that_still_matches_can_be_an_error() {
    let folder = album();
    let args = ["protect", "photos/hopper.jpg", "-o", "safe", "--require-no-match"];
    let outcome = facedp(folder.path(), &[&args[..], &HARDLY].concat());
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
}

/// What a first run says, the same command with `--resume` says too.
#[test]
fn resuming_forgets_nothing() {
    let folder = album();
    let path = folder.path();
    let args = ["protect", "photos/hopper.jpg", "-o", "a", "--require-no-match"];
    let args = [&args[..], &HARDLY].concat();
    assert_eq!(facedp(path, &args).code, 3);
    let again = facedp(path, &[args.as_slice(), &["--resume"]].concat());
    assert_eq!(again.code, 3, "{}", again.stderr);
    assert!(again.stderr.contains("still matches: a/hopper.jpg: face 1 (dlib, SFace, "));
    let args = ["protect", "photos/sea.png", "-o", "b", "--copy-faceless"];
    assert_eq!(facedp(path, &args).code, 1);
    let again = facedp(path, &[args.as_slice(), &["--resume"]].concat());
    assert!(again.code == 1 && again.stderr.contains("sea.png"), "{}", again.stderr);
    // A receipt that is asked for later is written later.
    let args = ["protect", "photos/hopper.jpg", "-o", "c", "--no-check"];
    let args = [&args[..], &QUICK].concat();
    assert_eq!(facedp(path, &args).code, 0);
    let before = fs::read(path.join("c/hopper.jpg")).unwrap();
    assert_eq!(facedp(path, &[args.as_slice(), &["--resume", "--receipt"]].concat()).code, 0);
    assert!(path.join("c.receipts/hopper.jpg.json").exists());
    assert_eq!(fs::read(path.join("c/hopper.jpg")).unwrap(), before);
    let shown = facedp(path, &["receipt", "show", "c.receipts/hopper.jpg.json"]).stdout;
    let sum: String = Sha256::digest(&before).iter().map(|b| format!("{b:02x}")).collect();
    assert!(shown.contains(&sum), "{shown}");
}

#[test]
fn the_output_folder_can_hold_the_input() {
    let folder = album();
    let path = folder.path();
    let args = ["protect", "photos", "-o", ".", "--aligned", "--no-check"];
    let outcome = facedp(path, &[&args[..], &NOISE].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("4 of 4 photos"), "{}", outcome.stdout);
    let args = ["protect", "./photos/**/*.webp", "-o", ".", "--no-check", "--force"];
    assert_eq!(facedp(path, &[&args[..], &QUICK].concat()).code, 0);
    assert!(path.join("sub folder/Größe 1.webp").exists());
}

#[test]
fn no_method_is_the_floor() {
    let folder = album();
    let path = folder.path();
    let outcome = facedp(path, &["protect", "photos", "-o", "out", "--method", "none"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("4 of 4 photos") && outcome.stdout.contains("no change"));
    let again =
        ["protect", "photos", "-o", "out", "--method", "none", "--copy-faceless", "--resume"];
    assert_eq!(facedp(path, &again).code, 0, "nobody looked for faces");
    for name in ["both.png", "sea.png"] {
        let [a, b] = ["photos", "out"].map(|d| image::open(path.join(d).join(name)).unwrap());
        assert_eq!(a, b, "{name}");
    }
}

#[test]
fn patterns_keep_the_structure_below_them() {
    let folder = album();
    let path = folder.path();
    let args = ["protect", "photos/**/*.webp", "-o", "out", "--no-check"];
    let outcome = facedp(path, &[&args[..], &QUICK].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(files_below(&path.join("out")), ["sub folder", "sub folder/Größe 1.webp"]);
    let args = ["protect", "photos/[bh]*", "-o", "two", "--no-check", "--faces", "largest"];
    let outcome = facedp(path, &[&args[..], &QUICK].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(files_below(&path.join("two")), ["both.png", "hopper.jpg"]);
}

/// Names, links and rights as folders of real photos have them.
#[test]
fn odd_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("in/out")).unwrap();
    let names = ["a photo with spaces.jpg", "фото.JPG", "-dash.jpeg", "wrong.png", "read only.jpg"];
    for name in names {
        fs::copy(photo("base_420_q85.jpg"), path.join("in").join(name)).unwrap();
    }
    fs::write(path.join("in/notes.txt"), "no picture").unwrap();
    fs::write(path.join("in/._ghost.jpg"), "what some systems leave beside a photo").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        symlink(".", path.join("in/loop")).unwrap();
        symlink("itself.jpg", path.join("in/itself.jpg")).unwrap();
        let only = fs::Permissions::from_mode(0o444);
        fs::set_permissions(path.join("in/read only.jpg"), only).unwrap();
    }
    // The output folder lies in the input: what is in it is not taken, now or the next time.
    for more in ["--no-metrics", "--force"] {
        let args = ["protect", "in", "-o", "in/out", "--no-check", more];
        let outcome = facedp(path, &[&args[..], &NOISE].concat());
        assert!(outcome.stdout.contains("5 of "), "{}{}", outcome.stdout, outcome.stderr);
        #[cfg(unix)]
        assert!(outcome.code == 1 && outcome.stderr.contains("itself.jpg"), "{}", outcome.stderr);
        let mut expected = names;
        expected.sort_unstable();
        assert_eq!(files_below(&path.join("in/out")), expected);
    }
    // A wrong ending stays with its content.
    let wrong = fs::read(path.join("in/out/wrong.png")).unwrap();
    assert_eq!(image::guess_format(&wrong).unwrap(), image::ImageFormat::Jpeg);
    // Another format changes the ending, but not one that fits.
    let args =
        ["protect", "in/фото.JPG", "in/wrong.png", "-o", "png", "--no-check", "--format", "png"];
    assert_eq!(facedp(path, &[&args[..], &QUICK].concat()).code, 0);
    assert_eq!(files_below(&path.join("png")), ["wrong.png", "фото.png"]);
}

#[test]
fn a_run_can_be_stopped_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("in")).unwrap();
    for number in 0..5 {
        fs::copy(photo("base_420_q85.jpg"), path.join(format!("in/{number}.jpg"))).unwrap();
    }
    let protect = |out: &str, more: &[&str]| {
        let args = ["protect", "in", "-o", out, "--receipt", "--jobs", "1", "--no-check"];
        let mut command = command(path, &[&args[..], &QUICK, more].concat());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    assert!(protect("whole", &[]).wait().unwrap().success());
    let written = || (0..5).filter(|n| path.join(format!("part/{n}.jpg")).exists()).count();
    let wait_for = |n: usize| {
        let start = std::time::Instant::now();
        while written() < n {
            assert!(start.elapsed().as_secs() < 300, "nothing is written");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    };

    // Killed while at work on the second photo: steering takes seconds, seeing the first milliseconds.
    let mut child = protect("part", &[]);
    wait_for(1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(written() < 5, "it was too fast");
    let again = facedp(path, &["protect", "in", "-o", "part", "--no-check"]);
    assert!(again.code == 1 && again.stderr.contains("--resume"), "{}", again.stderr);
    let args = ["protect", "in", "-o", "part", "--strength", "high", "--resume"];
    let other = facedp(path, &args);
    assert!(other.code == 1 && other.stderr.contains("other options"), "{}", other.stderr);

    // Interrupted: the photo in hand is finished.
    #[cfg(unix)]
    {
        let before = written();
        let child = protect("part", &["--resume"]);
        wait_for(before + 1);
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{complaint}");
        assert!(complaint.contains("--resume"), "{complaint}");
    }

    // Resumed: the same as in one go, and nothing else in the folders.
    let child = protect("part", &["--resume"]);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("done before"), "{text}");
    for suffix in ["", ".receipts"] {
        let [whole, part] = ["whole", "part"].map(|name| path.join(format!("{name}{suffix}")));
        assert_eq!(files_below(&whole), files_below(&part));
        for name in files_below(&whole) {
            assert_eq!(fs::read(whole.join(&name)).unwrap(), fs::read(part.join(&name)).unwrap());
        }
    }
    assert_eq!(files_below(&path.join("part")).len(), 5);
}
