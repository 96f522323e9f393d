//! Bad input: each case ends with a clear message and exit code, without a panic, and leaves no
//! file behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;

use support::{NOISE, QUICK, facedp, files_below, workshop};

/// Arguments, exit code, and words that the message must hold.
type Case = (&'static [&'static str], i32, &'static [&'static str]);

const CASES: &[Case] = &[
    // Budgets and parameters.
    (&["plan", "--epsilon", "0"], 2, &["--epsilon", "'0'", "above 0"]),
    (&["plan", "--epsilon", "-1"], 2, &["--epsilon", "'-1'", "above 0"]),
    (&["plan", "--epsilon", "NaN"], 2, &["--epsilon", "'NaN'", "finite"]),
    (&["plan", "--epsilon", "inf"], 2, &["--epsilon", "'inf'", "finite"]),
    (&["plan", "--epsilon", "much"], 2, &["--epsilon", "'much'", "not a number"]),
    (&["plan", "--epsilon", "1e-200"], 2, &["epsilon", "range"]),
    (&["plan", "--geometric-p", "0"], 2, &["--geometric-p", "'0'", "between 0 and 1"]),
    (&["plan", "--geometric-p", "1"], 2, &["--geometric-p", "'1'", "between 0 and 1"]),
    (&["plan", "--geometric-p", "-0.5"], 2, &["--geometric-p", "'-0.5'", "between 0 and 1"]),
    (&["plan", "--geometric-p", "NaN"], 2, &["--geometric-p", "'NaN'", "between 0 and 1"]),
    (&["plan", "--features", "65"], 2, &["64 features", "65"]),
    (&["plan", "--features", "0"], 2, &["64 features", "not 0"]),
    (&["plan", "--method", "rdp-lmgd", "--ranking", "amplitude"], 2, &["amplitude", "lmgd", "use"]),
    (&["plan", "--ranking", "amplitude"], 2, &["amplitude", "optimal", "use"]),
    (&["plan", "--method", "rdp", "--ranking", "energy"], 2, &["energy", "uniform", "use"]),
    (&["plan", "--method", "magic"], 2, &["magic", "rdp-optimal"]),
    (&["plan", "--method", "rdp-lmdg"], 2, &["did you mean rdp-lmgd?"]),
    (&["plan", "--method", "lmgd"], 2, &["did you mean rdp-lmgd?"]),
    (&["protect", "face.png", "-o", "out", "--method", "stered"], 2, &["did you mean steered?"]),
    (&["plan", "--method", "rdp-lmgd", "--eta", "2"], 2, &["eta", "0.01", "2"]),
    (&["plan", "--method", "rdp-na", "--significance", "2"], 2, &["significance", "2"]),
    (&["plan", "--levels", "9"], 2, &["Haar levels", "9", "1..=7"]),
    (&["plan", "--method", "rdp", "--eta", "0.1"], 2, &["--eta", "rdp-lmgd"]),
    (&["plan", "--method", "rdp", "--significance", "0.1"], 2, &["--significance", "rdp-na"]),
    (&["plan", "--basis", "dct", "--levels", "3"], 2, &["--levels", "Haar"]),
    // Models.
    (&["plan", "--model", "nowhere"], 1, &["nowhere", "No such file"]),
    (&["plan", "--model", "text.jpg"], 1, &["text.jpg", "not a facedp model", "facedp train"]),
    (&["plan", "--model", "damaged.safetensors"], 1, &["damaged.safetensors", "damaged"]),
    (&["plan", "--model", "cut.safetensors"], 1, &["cut.safetensors", "not a facedp model"]),
    (&["plan", "--model", "foreign.safetensors"], 1, &["foreign.safetensors", "another kind"]),
    // Training.
    (&["train", "people", "-o", "m"], 1, &["no face found", "--aligned", "2 identities"]),
    (&["train", "people", "-o", "m", "--crop", "32"], 2, &["--aligned"]),
    (&["train", "people", "-o", "m", "--aligned", "--size", "100"], 2, &["power of two", "100"]),
    (&["train", "people", "-o", "m", "--aligned", "--size", "0"], 2, &["power of two", "0"]),
    (&["train", "empty", "-o", "m", "--aligned"], 1, &["empty", "no pictures"]),
    (&["train", "nowhere", "-o", "m", "--aligned"], 1, &["nowhere"]),
    (&["train", "one", "-o", "m", "--aligned", "--features", "4"], 1, &["one", "2 identities"]),
    (&["train", "people", "-o", "m", "--aligned"], 1, &["64 features", "12"]),
    (&["train", "people", "-o", "m", "--aligned", "--features", "0"], 2, &["--features", "0"]),
    (&["train", "people", "-o", "face.png/m", "--aligned", "--features", "4"], 1, &["face.png/m"]),
    (&["train", "people", "-o", "empty", "--aligned", "--features", "4"], 2, &["empty", "folder"]),
    (&["train", "people", "-o", "new/", "--aligned", "--features", "4"], 2, &["new/", "folder"]),
    (&["train", "people", "-o", "new/m", "--aligned"], 1, &["64 features", "12"]),
    (&["train", "people", "-o", "face.png", "--aligned", "--features", "4"], 1, &["exists"]),
    (&["train", "people", "-o", "m", "--aligned", "--crop", "65"], 1, &["65", "64x64"]),
    // Pictures.
    (&["protect", "face.png", "-o", "out"], 1, &["face.png", "no face found", "--box"]),
    (&["protect", "face.png", "-o", "out", "--faces", "2"], 1, &["face 2", "0 were found"]),
    (&["protect", "face.png", "-o", "out", "--faces", "0"], 2, &["--faces", "largest"]),
    (&["protect", "face.png", "-o", "out", "--faces", "some"], 2, &["--faces", "largest"]),
    (&["protect", "face.png", "-o", "out", "--box", "1,2,3"], 2, &["--box", "width"]),
    (&["protect", "face.png", "-o", "out", "--box", "1,2,3,0"], 2, &["--box", "width"]),
    (&["protect", "face.png", "-o", "out", "--box", "1,2,nan,4"], 2, &["--box", "width"]),
    (&["protect", "face.png", "-o", "out", "--box", "100,0,40,40"], 1, &["100,0,40,40", "128x128"]),
    (&["protect", "face.png", "-o", "out", "--box", "-1,0,40,40"], 1, &["-1,0,40,40", "128x128"]),
    (
        &["protect", "face.png", "big.jpg", "-o", "out", "--box", "0,0,9,9"],
        2,
        &["--box", "one photo"],
    ),
    (
        &["protect", "face.png", "-o", "out", "--aligned", "--faces", "1"],
        2,
        &["--aligned", "--faces"],
    ),
    (&["protect", "face.png", "-o", "out", "--crop", "9"], 2, &["--aligned"]),
    (&["protect", "face.png", "-o", "out", "--resume", "--force"], 2, &["--resume", "--force"]),
    (&["protect", "face.png", "-o", "out", "--seed", "1", "--key", "k"], 2, &["--seed", "--key"]),
    (&["protect", "face.png", "-o", "out", "--key", "nowhere"], 1, &["nowhere", "No such file"]),
    (&["protect", "face.png", "-o", "out", "--key", "secret"], 1, &["secret", "facedp key new"]),
    (
        &["protect", "face.png", "-o", "out", "--method", "none", "--receipt"],
        2,
        &["--receipt", "none"],
    ),
    (
        &["protect", "face.png", "-o", "out", "--method", "none", "--seed", "1"],
        2,
        &["--seed", "none"],
    ),
    (&["protect", "face.png", "-o", "out", "--require-no-match", "--no-check"], 2, &["--no-check"]),
    (&["protect", "face.png", "-o", "out", "--jpeg-quality", "0"], 2, &["--jpeg-quality", "0"]),
    (&["protect", "face.png", "-o", "out", "--format", "gif"], 2, &["gif", "webp"]),
    (&["protect", "face.png", "-o", "out", "--jobs", "0"], 2, &["--jobs", "0"]),
    (&["protect", "*.tiff", "-o", "out", "--aligned"], 1, &["*.tiff", "no picture", "pattern"]),
    (
        &["protect", "holiday", "-o", "out", "--aligned"],
        1,
        &["IMG_1.HEIC", "damaged", "film.mov", "convert"],
    ),
    (&["protect", "photo.heic", "-o", "out", "--aligned"], 1, &["photo.heic", "damaged"]),
    (&["protect", "nothing.jpg", "-o", "out", "--aligned"], 1, &["nothing.jpg", "empty file"]),
    (&["protect", "half.jpg", "-o", "out", "--aligned"], 1, &["half.jpg", "truncated"]),
    (
        &["protect", "separate.jpg", "-o", "out", "--aligned"],
        1,
        &["separate.jpg", "separate scans"],
    ),
    (&["protect", "moving.png", "-o", "out", "--aligned"], 1, &["moving.png", "animated"]),
    (&["protect", "moving.webp", "-o", "out", "--aligned"], 1, &["moving.webp", "animated"]),
    (&["receipt", "show", "nowhere"], 1, &["nowhere", "No such file"]),
    (&["receipt", "public", "text.jpg"], 1, &["text.jpg", "not a receipt"]),
    (&["key", "new", "face.png"], 1, &["face.png", "exists", "--force"]),
    (
        &["protect", "text.jpg", "-o", "out", "--aligned"],
        1,
        &["text.jpg", "JPEG, PNG, WebP and HEIC"],
    ),
    (&["protect", "cut.png", "-o", "out", "--aligned"], 1, &["cut.png", "damaged"]),
    (
        &["protect", "bomb.png", "-o", "out", "--aligned"],
        1,
        &["bomb.png", "60000x60000", "100000000"],
    ),
    (&["protect", "nowhere.png", "-o", "out", "--aligned"], 1, &["nowhere.png", "No such file"]),
    (&["protect", "empty", "-o", "out", "--aligned"], 1, &["empty", "no pictures"]),
    (&["protect", "face.png", "-o", "face.png/out", "--aligned"], 1, &["face.png/out"]),
    (&["protect", "face.png", "-o", ".", "--aligned"], 1, &["overwrite the original", "face.png"]),
    (
        &["protect", "face.png", "-o", ".", "--aligned", "--force"],
        1,
        &["overwrite the original", "face.png"],
    ),
    (&["protect", "twin.jpg", "-o", ".", "--aligned", "--force"], 1, &["overwrite the original"]),
    (
        &["protect", "twin.jpg", "twin.png", "-o", ".", "--aligned", "--force", "--format", "png"],
        1,
        &["overwrite the original"],
    ),
    (&["protect", "face.png", "-o", "out", "--aligned", "--crop", "500"], 1, &["500", "128x128"]),
    (&["protect", "-o", "out", "--aligned"], 2, &["PATHS"]),
    (&["inspect", "face.png"], 1, &[]),
    (&["inspect", "twin.png", "--annotate", "twin.png"], 1, &["twin.png", "exists already"]),
    (
        &["inspect", "twin.png", "--annotate", "twin.png", "--force"],
        1,
        &["twin.png", "not the photo"],
    ),
    (&["inspect", "nowhere.png"], 1, &["nowhere.png", "No such file"]),
    (&["inspect", "text.jpg"], 1, &["text.jpg", "JPEG, PNG, WebP and HEIC"]),
    (&["inspect", "face.png", "--min-score", "2"], 2, &["--min-score", "between 0 and 1"]),
    (&["inspect", "face.png", "--annotate", "face.png/a.png"], 1, &["face.png/a.png"]),
    (&["evaluate", "paper", "people"], 2, &["--output", "required"]),
    (&["evaluate", "recognisers", "people"], 2, &["--pairs", "required"]),
    (&["evaluate", "people"], 2, &["people"]),
    (&["evaluate", "paper", "people", "-o", "r", "--goals", "away"], 2, &["--goals"]),
    (&["evaluate", "steered", "people", "-o", "r", "--epsilons", "1"], 2, &["--epsilons"]),
    (&["evaluate", "certified", "people", "-o", "r", "--margin", "1"], 2, &["--margin"]),
    (&["evaluate", "recognisers", "people", "-o", "r"], 2, &["-o"]),
    (&["evaluate", "steered", "people", "-o", "r", "--margin", "-1"], 2, &["margin", "-1"]),
    (&["evaluate", "steered", "people", "-o", "r", "--min-quality", "99"], 2, &["99", "30", "95"]),
    (&["evaluate", "certified", "people", "-o", "r", "--features", "65"], 2, &["65", "64"]),
    (&["evaluate", "paper", "empty", "-o", "r"], 1, &["empty", "no pictures", "--identities all"]),
    (&["evaluate", "paper", "nowhere", "-o", "r"], 1, &["nowhere"]),
    (&["evaluate", "paper", "people", "-o", "r", "--features", "65"], 2, &["--features 65", "64"]),
    (&["evaluate", "paper", "people", "-o", "r", "--psnr", "500"], 2, &["--psnr", "100"]),
    (&["evaluate", "paper", "people", "-o", "r", "--images", "some"], 2, &["--images", "all"]),
    (&["evaluate", "paper", "people", "-o", "r", "--attacks", "magic"], 2, &["magic", "jpeg-75"]),
    (&["evaluate", "paper", "people", "-o", "r", "--methods", "magic"], 2, &["magic", "rdp-na"]),
    (&["evaluate", "paper", "people", "-o", "r", "--epsilons", "0"], 2, &["--epsilons", "above 0"]),
    (&["evaluate", "steered", "people", "-o", "r", "--tune", "smooth=9e9"], 2, &["smooth", "16"]),
    (&["evaluate", "steered", "people", "-o", "r", "--tune", "chroma=-1"], 2, &["chroma", "10"]),
    (&["evaluate", "steered", "people", "-o", "r", "--tune", "chroma=NaN"], 2, &["chroma"]),
    (
        &["evaluate", "steered", "people", "-o", "r", "--tune", "depth=1"],
        2,
        &["depth", "smooth", "chroma"],
    ),
    (&["audit", "--method", "steered"], 2, &["steered claims no epsilon", "evaluate"]),
    (&["audit", "--method", "none"], 2, &["none claims no epsilon"]),
    (&["audit", "--runs", "3"], 2, &["3 runs", "40"]),
    (&["audit", "--runs", "999999999999"], 2, &["999999999999 runs", "memory"]),
    (&["audit", "--confidence", "1"], 2, &["confidence of 1"]),
    (&["audit", "--epsilon", "0"], 2, &["--epsilon", "above 0"]),
    (&["audit", "--epsilon", "inf"], 2, &["--epsilon", "inf"]),
    (&["audit", "--epsilon", "1e-9"], 2, &["0.0001"]),
    (&["audit", "--data", "nowhere"], 1, &["nowhere"]),
    (&["audit", "--method", "rdp", "--mechanism", "knorm"], 2, &["--mechanism", "certified"]),
    (&["audit", "--method", "certified", "--ranking", "energy"], 2, &["--ranking", "certified"]),
    (&["audit", "--features", "65"], 2, &["65", "64"]),
    (&["plan", "--method", "steered"], 2, &["steered has no plan"]),
    (
        &["evaluate", "paper", "people", "-o", "r", "--resume", "--force"],
        2,
        &["--resume", "--force"],
    ),
    #[cfg(not(feature = "onnx"))]
    (
        &["evaluate", "paper", "people", "-o", "r", "--recogniser", "mine.onnx"],
        2,
        &["--recogniser mine.onnx", "built without", "cargo build --release --features onnx"],
    ),
    #[cfg(not(feature = "onnx"))]
    (
        &["evaluate", "recognisers", "people", "--pairs", "p", "--recognizer", "m.onnx"],
        2,
        &["m.onnx", "build it"],
    ),
    #[cfg(feature = "onnx")]
    (
        &["evaluate", "paper", "people", "-o", "r", "--recogniser", "m.onnx"],
        1,
        &["m.onnx", "No such file"],
    ),
    #[cfg(feature = "onnx")]
    (
        &["evaluate", "paper", "people", "-o", "r", "--recogniser", "text.jpg"],
        1,
        &["text.toml", "side = "],
    ),
    (&["evaluate", "recognisers", "people", "--pairs", "nowhere"], 1, &["nowhere", "No such file"]),
    (
        &["evaluate", "recognisers", "nowhere", "--pairs", "text.jpg"],
        1,
        &["nowhere", "not a folder"],
    ),
    (
        &["evaluate", "recognisers", "people", "--pairs", "text.jpg"],
        1,
        &["text.jpg", "line 1", "pairs.txt"],
    ),
    (&["check", "face.png", "text.jpg"], 1, &["text.jpg", "JPEG, PNG, WebP and HEIC"]),
    (&["check", "face.png", "big.jpg"], 1, &["big.jpg", "128x128", "300x200"]),
    (&["check", "nowhere.png", "face.png"], 1, &["nowhere.png"]),
    (&["check", "empty", "face.png"], 1, &["empty"]),
];

/// The head of a PNG file that says it is huge: 8 bits, RGB.
fn huge_png(side: u32) -> Vec<u8> {
    let size = side.to_be_bytes();
    let header = [size.as_slice(), &size, &[8, 2, 0, 0, 0]].concat();
    let chunks = [support::png_chunk(b"IHDR", &header), support::png_chunk(b"IDAT", &[])].concat();
    [b"\x89PNG\r\n\x1a\n", chunks.as_slice()].concat()
}

#[test]
fn every_case_fails_clearly_and_leaves_nothing() {
    let folder = workshop();
    let path = folder.path();
    let model = fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/models/eigenfaces.safetensors"
    ))
    .unwrap();
    let mut damaged = model.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    fs::write(path.join("damaged.safetensors"), damaged).unwrap();
    fs::write(path.join("cut.safetensors"), &model[..model.len() / 2]).unwrap();
    let header = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    let foreign = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), b"x"].concat();
    fs::write(path.join("foreign.safetensors"), foreign).unwrap();
    let picture = fs::read(path.join("face.png")).unwrap();
    fs::write(path.join("cut.png"), &picture[..picture.len() / 2]).unwrap();
    for twin in ["twin.jpg", "twin.png"] {
        support::grey(64, 3).save(path.join(twin)).unwrap();
    }
    fs::write(path.join("bomb.png"), huge_png(60_000)).unwrap();
    fs::create_dir(path.join("holiday")).unwrap();
    for name in ["photo.heic", "holiday/IMG_1.HEIC"] {
        fs::copy(support::photo("heic_header.heic"), path.join(name)).unwrap();
    }
    fs::write(path.join("holiday/film.mov"), "").unwrap();
    fs::write(path.join("nothing.jpg"), "").unwrap();
    for name in ["moving.png", "moving.webp"] {
        fs::copy(support::photo(name), path.join(name)).unwrap();
    }
    let jpeg = fs::read(support::photo("base_420_q85.jpg")).unwrap();
    fs::write(path.join("half.jpg"), &jpeg[..jpeg.len() / 2]).unwrap();
    // A scan header that names one component of three.
    let scan = jpeg.windows(5).position(|w| w == [0xff, 0xda, 0, 12, 3]).unwrap();
    let one = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
    let separate = [&jpeg[..scan], &one, &jpeg[scan + 14..]].concat();
    fs::write(path.join("separate.jpg"), separate).unwrap();
    fs::write(path.join("secret"), "not a key").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    let before = files_below(path);
    let mut wrong = Vec::new();
    for (args, code, words) in CASES {
        let outcome = facedp(path, args);
        let missing = words.iter().filter(|word| !outcome.stderr.contains(**word)).count();
        let panicked = outcome.stderr.contains("panicked");
        let left = files_below(path) != before;
        if outcome.code != *code || missing > 0 || panicked || left {
            let (found, text) = (outcome.code, outcome.stderr);
            wrong.push(format!("{args:?}: {code} and {words:?} instead of {found} and {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(fs::read(path.join("face.png")).unwrap(), picture, "an original was changed");
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let folder = workshop();
    let path = folder.path();
    let files = ["text.jpg", "empty", "hopper.jpg", "hopper.webp", "hopper.jpg"];
    let args = [&["protect", "-o", "out", "--no-check"], &files[..], &QUICK].concat();
    let outcome = facedp(path, &args);
    assert_eq!(outcome.code, 1);
    for name in ["text.jpg", "empty: no pictures"] {
        assert!(outcome.stderr.contains(name), "{}", outcome.stderr);
    }
    assert!(outcome.stdout.contains("2 of 4 photos"), "{}", outcome.stdout);
    assert_eq!(files_below(&path.join("out")), ["hopper.jpg", "hopper.webp"]);

    fs::copy(path.join("text.jpg"), path.join("people/Ada/bad.jpg")).unwrap();
    let outcome = facedp(
        path,
        &["train", "people", "-o", "m", "--aligned", "--features", "4", "--size", "32"],
    );
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("bad.jpg"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("12 pictures of 4 people"), "{}", outcome.stdout);
}

#[test]
fn results_are_replaced_only_by_force_and_never_by_each_other() {
    let folder = workshop();
    let path = folder.path();
    let args = [&["protect", "hopper.jpg", "-o", "out", "--no-check"], &QUICK[..]].concat();
    assert_eq!(facedp(path, &args).code, 0);
    let again = facedp(path, &args);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("exists already") && again.stderr.contains("--force"));
    assert_eq!(facedp(path, &[args.as_slice(), &["--force"]].concat()).code, 0);

    fs::create_dir(path.join("twins")).unwrap();
    support::grey(64, 1).save(path.join("twins/a.png")).unwrap();
    support::grey(64, 2).save(path.join("twins/a.jpg")).unwrap();
    let args = ["protect", "twins", "-o", "out", "--aligned", "--format", "png"];
    let twins = facedp(path, &[&args[..], &NOISE].concat());
    assert_eq!(twins.code, 1);
    assert!(twins.stderr.contains("rename one"), "{}", twins.stderr);
    assert!(twins.stdout.contains("1 of 2 photos"), "{}", twins.stdout);
}
