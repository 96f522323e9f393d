//! Recognisers of one's own, in a program that was built with them.
#![cfg(feature = "onnx")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use support::{facedp, facedp_json, workshop};

/// A golden file of another crate, copied.
fn copy(from: &str, to: &Path) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(Path::new(folder).join(from), to).unwrap();
}

/// Two people with two pictures each, a network and its description.
fn prepare(path: &Path) {
    for name in ["hopper", "astronaut"] {
        for number in 1..=2 {
            let to = path.join(format!("data/{name}/{name}_000{number}.jpg"));
            copy(&format!("facedp-nets/tests/golden/yunet_{name}.png"), &to);
        }
    }
    for ending in ["onnx", "toml"] {
        let file = format!("tiny.{ending}");
        copy(&format!("facedp-onnx/tests/golden/{file}"), &path.join(file));
    }
    let pairs = "2 1\nhopper 1 2\nhopper 1 astronaut 1\nastronaut 1 2\nastronaut 2 hopper 2\n";
    fs::write(path.join("pairs.txt"), pairs).unwrap();
}

#[test]
fn pairs_are_judged_by_a_foreign_recogniser_too() {
    let folder = workshop();
    let path = folder.path();
    prepare(path);
    let args =
        ["evaluate", "recognisers", "data", "--pairs", "pairs.txt", "--recogniser", "tiny.onnx"];
    let report = &facedp_json(path, &args)[0];
    let names: Vec<&str> = report["recognisers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|recogniser| recogniser["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["dlib", "sface", "intel", "mobilefacenet", "facexzoo", "tiny"]);
    let table = facedp(path, &args).stdout;
    assert!(table.contains("tiny"), "{table}");

    let twice = facedp(path, &[args.as_slice(), &["--recogniser", "tiny.onnx"]].concat());
    assert_eq!(twice.code, 2);
    assert!(twice.stderr.contains("another --recogniser has the name tiny"), "{}", twice.stderr);
}

#[test]
fn a_report_asks_it_and_is_resumed_with_the_same_file_only() {
    let folder = workshop();
    let path = folder.path();
    prepare(path);
    let args = "evaluate paper data -o report --identities all --methods rdp --epsilons 0.2 --features 4 \
                --psnr 20 --attacks none --draws 10 --audit-runs 0 --recogniser tiny.onnx";
    let args: Vec<&str> = args.split_whitespace().collect();
    facedp_json(path, &args);
    let results = fs::read_to_string(path.join("report/results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let row = &results["recognisers"][2];
    assert_eq!(row["recogniser"], "tiny");
    assert!(row["identity"].as_str().unwrap().contains("recogniser 1: tiny"), "{row}");
    let page = fs::read_to_string(path.join("report/report.html")).unwrap();
    assert!(page.contains("tiny"));

    let again = [args.as_slice(), &["--resume"]].concat();
    facedp_json(path, &again);
    let text = fs::read_to_string(path.join("tiny.toml")).unwrap();
    fs::write(path.join("tiny.toml"), text.replace("threshold = 0.5", "threshold = 0.4")).unwrap();
    let other = facedp(path, &again);
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("begun with other options"), "{}", other.stderr);
}
