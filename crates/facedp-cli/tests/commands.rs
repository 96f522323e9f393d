//! The commands as a user meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;

use sha2::{Digest, Sha256};

use support::{NOISE, QUICK, facedp, facedp_json, files_below, workshop};

#[test]
fn plan_prints_every_promised_field() {
    let folder = workshop();
    let plan = &facedp_json(folder.path(), &["plan", "--method", "rdp-lmgd"])[0];
    for field in [
        "method",
        "basis",
        "ranking",
        "features",
        "epsilon",
        "budget_spent",
        "cost",
        "psnr_of_expected_mse",
        "bound_psnr",
        "gap",
        "iterations",
        "seconds",
        "support",
        "prob_full_support",
        "energy_below_g01",
        "f1",
        "f2",
    ] {
        assert!(!plan[field].is_null(), "no {field} in {plan}");
    }
    assert_eq!(plan["claim"], "paper-accounting");
    let all = &facedp_json(folder.path(), &["plan", "--all", "--features", "16"])[0];
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|row| row["method"].as_str().unwrap()).collect();
    let expected = [
        "pixel-dp",
        "dct-dp",
        "rdp",
        "rdp-na",
        "rdp-lmgd",
        "rdp-optimal",
        "rdp-na-literal",
        "rdp-lmgd-literal",
    ];
    assert_eq!(names, expected);
    for row in all.as_array().unwrap() {
        assert!((row["budget_spent"].as_f64().unwrap() - 0.2).abs() < 1e-9, "{row}");
    }
    let table = facedp(folder.path(), &["plan", "--all"]).stdout;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
    assert!(table.contains("not a differential privacy guarantee"), "{table}");

    let unknown =
        &facedp_json(folder.path(), &["plan", "--method", "rdp", "--ranking", "amplitude"])[0];
    assert!(unknown["cost"].is_null());
    assert_eq!(unknown["claim"], "none");
}

#[test]
fn protect_writes_noise_and_says_what_it_did() {
    let folder = workshop();
    let path = folder.path();
    // A budget small enough that the noise is well above rounding.
    let args = [
        "protect",
        "face.png",
        "big.jpg",
        "-o",
        "out",
        "--aligned",
        "--epsilon",
        "0.01",
        "--seed",
        "3",
        "--receipt",
        "--format",
        "png",
    ];
    let lines = facedp_json(path, &[&args[..], &NOISE].concat());
    assert_eq!(lines.len(), 3, "a line a file and a summary");
    let summary = &lines[2]["summary"];
    assert_eq!((summary["written"].as_u64(), summary["failed"].as_u64()), (Some(2), Some(0)));
    assert_eq!(summary["claim"], "none", "seeded noise claims nothing");
    for field in ["psnr_mean_mse", "psnr_median", "ssim_mean", "unchanged", "seconds"] {
        assert!(summary[field].is_number(), "no {field} in {summary}");
    }
    assert_eq!(files_below(&path.join("out")), ["big.png", "face.png"]);
    assert_eq!(files_below(&path.join("out.receipts")), ["big.png.json", "face.png.json"]);

    // What protect reports is what check finds.
    let line = lines.iter().find(|line| line["file"] == "face.png").unwrap();
    assert_eq!((&line["result"], &line["unchanged"]), (&"written".into(), &false.into()));
    let face = &line["faces"][0];
    let check = &facedp_json(path, &["check", "face.png", "out/face.png"])[0];
    for field in ["psnr", "psnr_paper", "ssim", "ssim_wang", "variance"] {
        assert_eq!(face[field], check[field], "{field}");
    }

    // Colour: the same change on all three channels, but for clipping; size kept, and nothing
    // outside the centre square.
    let before = image::open(path.join("big.jpg")).unwrap().to_rgb8();
    let after = image::open(path.join("out/big.png")).unwrap().to_rgb8();
    assert_eq!(before.dimensions(), after.dimensions());
    let mut changed = 0;
    for ((x, _, a), b) in before.enumerate_pixels().zip(after.pixels()) {
        let moved: Vec<i32> = (0..3).map(|c| i32::from(b[c]) - i32::from(a[c])).collect();
        let clipped = b.0.iter().any(|&level| level == 0 || level == 255);
        assert!(clipped || moved.iter().all(|m| *m == moved[0]), "channels differ: {moved:?}");
        assert!((50..250).contains(&x) || moved[0] == 0, "changed outside the square");
        changed += usize::from(moved[0] != 0);
    }
    assert!(changed > 1000, "only {changed} pixels changed");

    // The same seed gives the same pictures, whatever the number of workers.
    let mut again = args;
    again[4] = "again";
    facedp_json(path, &[&again[..], &["--jobs", "1"], &NOISE].concat());
    for name in ["face.png", "big.png"] {
        let [a, b] = ["out", "again"].map(|d| fs::read(path.join(d).join(name)).unwrap());
        assert_eq!(a, b, "{name}");
    }
}

#[test]
fn folders_keep_their_structure_and_results_are_not_taken_as_input() {
    let folder = workshop();
    let path = folder.path();
    for run in 0..2 {
        let args = ["protect", "people", "-o", "people/out", "--aligned", "--force"];
        let outcome = facedp(path, &[&args[..], &NOISE].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("12 of 12 photos"), "run {run}: {}", outcome.stdout);
    }
    assert!(path.join("people/out/Ada/0.png").exists());
}

#[test]
fn alpha_sixteen_bits_and_grey_survive() {
    let folder = workshop();
    let path = folder.path();
    let deep = image::ImageBuffer::<image::LumaA<u16>, _>::from_fn(96, 64, |x, y| {
        image::LumaA([20_000 + 100 * x as u16, 1000 * y as u16])
    });
    image::DynamicImage::ImageLumaA16(deep.clone()).save(path.join("deep.png")).unwrap();
    let args =
        ["protect", "deep.png", "-o", "out", "--aligned", "--epsilon", "0.01", "--seed", "1"];
    assert_eq!(facedp(path, &[&args[..], &NOISE].concat()).code, 0);
    let image::DynamicImage::ImageLumaA16(after) = image::open(path.join("out/deep.png")).unwrap()
    else {
        panic!("the sample type changed");
    };
    assert_ne!(deep, after);
    for (a, b) in deep.pixels().zip(after.pixels()) {
        assert_eq!(a[1], b[1], "alpha changed");
    }
}

#[test]
fn a_trained_model_works_for_planning_and_protecting() {
    let folder = workshop();
    let path = folder.path();
    let train = [
        "train",
        "people",
        "-o",
        "my.safetensors",
        "--aligned",
        "--features",
        "4",
        "--size",
        "32",
        "--source",
        "waves",
    ];
    let summary = &facedp_json(path, &train)[0];
    assert_eq!((summary["pictures"].as_u64(), summary["identities"].as_u64()), (Some(12), Some(4)));
    let plan = &facedp_json(path, &["plan", "--model", "my.safetensors"])[0];
    assert_eq!(plan["features"], 4);
    assert_eq!(plan["model_sha256"], summary["content_sha256"]);
    let protect = ["protect", "face.png", "-o", "out", "--aligned", "--model", "my.safetensors"];
    assert_eq!(facedp(path, &[&protect[..], &NOISE].concat()).code, 0);

    // The last bit of SHA-256: Ada and Grace are odd, Emmy and Lise even.
    for (half, names) in [("odd", ["Ada", "Grace"]), ("even", ["Emmy", "Lise"])] {
        let out = format!("{half}.safetensors");
        let args = ["train", "people", "-o", &out, "--aligned", "--features", "2", "--size", "32"];
        let by_hash =
            facedp_json(path, &[args.as_slice(), &["--identities", half]].concat())[0].clone();
        assert_eq!(by_hash["identities"], 2);
        for name in names {
            let to = path.join(half).join(name);
            fs::create_dir_all(&to).unwrap();
            for file in fs::read_dir(path.join("people").join(name)).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
        let args =
            ["train", half, "-o", "x", "--aligned", "--features", "2", "--size", "32", "--force"];
        assert_eq!(facedp_json(path, &args)[0]["content_sha256"], by_hash["content_sha256"]);
    }
}

#[test]
fn equal_pictures_have_no_finite_psnr() {
    let folder = workshop();
    let check = &facedp_json(folder.path(), &["check", "face.png", "face.png"])[0];
    assert!(check["psnr"].is_null() && check["psnr_paper"].is_null());
    assert_eq!((check["ssim"].as_f64(), check["variance"].as_f64()), (Some(1.0), Some(0.0)));
    let text = facedp(folder.path(), &["check", "face.png", "face.png"]).stdout;
    assert!(text.contains("equal"), "{text}");

    // Too small for a window, and a black picture: said, and no error.
    support::grey(4, 0).save(folder.path().join("tiny.png")).unwrap();
    let tiny = &facedp_json(folder.path(), &["check", "tiny.png", "tiny.png"])[0];
    assert!(tiny["ssim"].is_null() && tiny["ssim_wang"].is_null());
    image::GrayImage::new(128, 128).save(folder.path().join("black.png")).unwrap();
    let black = facedp(folder.path(), &["check", "face.png", "black.png"]);
    assert_eq!(black.code, 0);
    assert!(black.stdout.contains("undefined") && !black.stdout.contains("equal"));
}

#[test]
fn pictures_of_any_size() {
    let folder = workshop();
    for (width, height) in [(1, 1), (7, 7), (300, 8), (2, 500)] {
        let name = format!("{width}x{height}.png");
        support::colour(width, height, 1).save(folder.path().join(&name)).unwrap();
        let args = ["protect", &name, "-o", "out", "--aligned", "--epsilon", "0.01"];
        let outcome = facedp(folder.path(), &[&args[..], &NOISE].concat());
        assert_eq!(outcome.code, 0, "{name}: {}", outcome.stderr);
        let written = image::open(folder.path().join("out").join(&name)).unwrap();
        assert_eq!((written.width(), written.height()), (width, height));
    }
}

#[test]
fn receipts_stay_outside_the_folder_and_are_not_replaced() {
    let folder = workshop();
    let path = folder.path();
    fs::create_dir(path.join("changed")).unwrap();
    let args = [&["protect", "../hopper.jpg", "-o", ".", "--receipt"], &QUICK[..]].concat();
    assert_eq!(facedp(&path.join("changed"), &args).code, 0);
    assert_eq!(files_below(&path.join("changed")), ["hopper.jpg"]);
    assert_eq!(files_below(&path.join("changed.receipts")), ["hopper.jpg.json"]);
    // The picture was moved away; its receipt must not be lost to the next one.
    fs::remove_file(path.join("changed/hopper.jpg")).unwrap();
    let again = facedp(&path.join("changed"), &args);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("hopper.jpg.json exists already"), "{}", again.stderr);
    assert!(!path.join("changed/hopper.jpg").exists());
}

#[test]
fn a_reader_that_leaves_early_does_not_stop_the_work() {
    let folder = workshop();
    let path = folder.path();
    let args = ["protect", "hopper.jpg", "hopper.webp", "-o", "out", "--no-check", "--json"];
    let mut child = support::command(path, &[&args[..], &QUICK].concat())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(files_below(&path.join("out")), ["hopper.jpg", "hopper.webp"]);
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::create("/dev/full").unwrap();
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_facedp"))
            .args(["plan", "--all"])
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1), "lost output is a failure");
    }
}

#[test]
fn links_in_the_docs_lead_somewhere() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages =
        ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"];
    let mut links = 0;
    for page in pages {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = match file {
                "" => root.join(page),
                file => root.join(page).parent().unwrap().join(file),
            };
            assert!(file.exists(), "{page} links to {target}");
            if !heading.is_empty() {
                let words = format!("# {}", heading.replace('-', " "));
                let text = fs::read_to_string(&file).unwrap().to_lowercase();
                assert!(
                    text.lines().any(|line| line.ends_with(&words)),
                    "{page} links to {target}"
                );
            }
            links += 1;
        }
    }
    assert!(links >= 5, "only {links} links found");
}

/// Help texts are part of the product: a change shows up here. `UPDATE_HELP=1 cargo test` writes
/// them anew.
#[test]
fn help_texts_are_as_recorded() {
    let folder = workshop();
    for command in [
        &[][..],
        &["protect"],
        &["serve"],
        &["check"],
        &["inspect"],
        &["plan"],
        &["audit"],
        &["train"],
        &["evaluate"],
        &["evaluate", "paper"],
        &["evaluate", "steered"],
        &["evaluate", "certified"],
        &["evaluate", "recognisers"],
        &["completions"],
        &["man"],
    ] {
        let outcome = facedp(folder.path(), &[command, &["--help"]].concat());
        assert_eq!(outcome.code, 0);
        let name = if command.is_empty() { "facedp".to_owned() } else { command.join("-") };
        let recorded = format!("{}/tests/help/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_HELP").is_some() {
            fs::create_dir_all(format!("{}/tests/help", env!("CARGO_MANIFEST_DIR"))).unwrap();
            fs::write(&recorded, &outcome.stdout).unwrap();
        }
        let expected = fs::read_to_string(&recorded).unwrap_or_default();
        assert_eq!(outcome.stdout, expected.replace('\r', ""), "help of {name} changed");
    }
}

/// Shells and `man` know every command and the default method.
#[test]
fn completions_and_manual_pages_are_written() {
    let folder = workshop();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = facedp(folder.path(), &["completions", shell]);
        assert_eq!(script.code, 0, "{shell}: {}", script.stderr);
        for word in ["protect", "serve", "strength", "rdp-lmgd"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(facedp(folder.path(), &["completions", "cmd"]).code, 2);
    let page = facedp(folder.path(), &["man"]).stdout;
    assert!(page.contains(".TH facedp 1") && page.contains("protect"), "{page}");
    assert_eq!(facedp(folder.path(), &["man", "-o", "pages/man1"]).code, 0);
    let pages = folder.path().join("pages/man1");
    for name in ["facedp.1", "facedp-protect.1", "facedp-evaluate-steered.1", "facedp-key-new.1"] {
        assert!(pages.join(name).is_file(), "{name}");
    }
    let protect = fs::read_to_string(pages.join("facedp-protect.1")).unwrap();
    assert!(protect.contains("strength") && protect.contains("[default: steered]"), "{protect}");
}

/// The weights inside the program are those whose origin the documents state.
#[test]
fn weights_are_what_their_provenance_says() {
    let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    let texts =
        ["README.md", "networks.md"].map(|name| fs::read_to_string(assets.join(name)).unwrap());
    let mut files = 0;
    let folders = fs::read_dir(&assets).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    for entry in folders.flat_map(|folder| fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if !path.file_name().unwrap().to_str().unwrap().contains(".safetensors") {
            continue;
        }
        let (name, bytes) = (path.file_name().unwrap().to_str().unwrap(), fs::read(&path).unwrap());
        let row = texts.iter().flat_map(|text| text.lines());
        let row = row.clone().find(|line| line.starts_with(&format!("| `{name}` | ")));
        let row = row.unwrap_or_else(|| panic!("nothing says where {name} comes from"));
        let hash: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(row.contains(&hash), "{name} has SHA-256 {hash}: {row}");
        assert!(row.replace(',', "").contains(&format!("| {} |", bytes.len())), "{row}");
        files += 1;
    }
    assert_eq!(files, 10);
}

/// An evaluation says how long it will take before it begins, and what it found, in words, last.
#[test]
fn an_evaluation_begins_with_its_time_and_ends_with_findings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, photo) in [("Ada", "collins.jpg"), ("Bob", "hopper.jpg")] {
        let person = path.join("people").join(name);
        fs::create_dir_all(&person).unwrap();
        let photos = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/photos");
        for number in 1..3 {
            let copy = person.join(format!("{name}_{number:04}.jpg"));
            fs::copy(format!("{photos}/{photo}"), copy).unwrap();
        }
    }
    let pairs = "2\t1\nAda\t1\t2\nAda\t1\tBob\t2\nBob\t1\t2\nBob\t1\tAda\t2\n";
    fs::write(path.join("pairs.txt"), pairs).unwrap();
    let outcome = facedp(path, &["evaluate", "recognisers", "people", "--pairs", "pairs.txt"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("this takes less than a minute"), "{}", outcome.stderr);
    let last = outcome.stdout.trim_end().lines().last().unwrap();
    assert!(last.starts_with("findings: ") && last.ends_with("100.0 of 100"), "{last}");
}
