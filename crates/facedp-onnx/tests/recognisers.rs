//! Small networks against ONNX Runtime (`tools/make_onnx_golden.py`), and files that must be refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use facedp_nets::{Chip, Workspace};
use facedp_onnx::open;
use serde_json::Value;
use tempfile::TempDir;

const TOML: &str = include_str!("golden/tiny.toml");

fn golden(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name)
}

/// A network of the golden files with a description of its own.
fn described(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join(name);
    fs::copy(golden(name), &model).unwrap();
    fs::write(model.with_extension("toml"), text).unwrap();
    (folder, model)
}

/// The numbers of a JSON value, however nested.
fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap() as f32],
    }
}

#[test]
fn embeddings_are_those_of_onnx_runtime() {
    let text = fs::read_to_string(golden("tiny.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let text: String = TOML
            .lines()
            .map(|line| match line.split_once(" = ") {
                Some((key @ ("channels" | "mean" | "factor"), _)) => {
                    format!("{key} = {}\n", case[key])
                }
                _ => format!("{line}\n"),
            })
            .collect();
        let network = case["network"].as_str().unwrap();
        let (_folder, model) = described(network, &text);
        let recogniser = open(&model).unwrap();
        let chip = Chip::new(16, numbers(&case["pixels"])).unwrap();
        let found = recogniser.embed(&chip, &mut Workspace::default()).unwrap();
        let expected = numbers(&case["embedding"]);
        assert_eq!(found.len(), expected.len());
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{network}, {}: {worst:.1e}", case["channels"]);
        assert!(worst <= 1e-4, "{network}, {}: {worst}", case["channels"]);
    }
}

#[test]
fn the_description_beside_a_model_is_read() {
    let recogniser = open(&golden("tiny.onnx")).unwrap();
    assert_eq!((recogniser.name(), recogniser.side()), ("tiny", 16));
    assert_eq!(recogniser.threshold(), 0.5);
    // The SHA-256 of the file, which a resumed run compares.
    let fingerprint = recogniser.fingerprint().unwrap();
    let rest = fingerprint.strip_prefix("recogniser 1: tiny, network ").unwrap();
    let digest = rest.split(',').next().unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{fingerprint}");
    let mut bytes = fs::read(golden("tiny.onnx")).unwrap();
    let (_folder, other) = described("tiny.onnx", TOML);
    let weight = bytes.windows(7).rposition(|w| w == b"dense.b").unwrap() + 20;
    bytes[weight] ^= 1;
    fs::write(&other, bytes).unwrap();
    assert_ne!(open(&other).unwrap().fingerprint().unwrap(), fingerprint);
}

#[test]
fn the_example_is_a_description() {
    let example = include_str!("../src/example.toml");
    let rule: facedp_nets::Rule = toml::from_str(example).unwrap();
    rule.validate().unwrap();
    let readme = fs::read_to_string(golden("../../../../README.md")).unwrap();
    assert!(readme.contains(example), "the README's example differs");
}

#[test]
fn other_files_are_refused_with_a_reason() {
    // A network, a changed line of its description, and words of the message.
    let cases: [(&str, &str, &[&str]); 13] = [
        ("map.onnx", "", &["map.onnx", "[", "16", "not one vector"]),
        ("two.onnx", "", &["two.onnx", "2 outputs", "export"]),
        ("nan.onnx", "", &["nan.onnx", "length NaN", "mean and factor"]),
        ("last.onnx", "", &["last.onnx", "[1, 16, 16, 3]", "[1, 3, 16, 16]", "colours before"]),
        ("double.onnx", "", &["double.onnx", "DOUBLE", "32-bit floats"]),
        ("tiny.onnx", "side = 112", &["tiny.onnx", "[?, 3, 16, 16]", "112", "`side`"]),
        ("tiny.onnx", "side = \"16\"", &["tiny.toml", "line 2", "invalid type"]),
        ("tiny.onnx", "side = 4", &["tiny.toml", "side = 4", "8 to 1024"]),
        ("tiny.onnx", "factor = nan", &["tiny.toml", "factor = NaN", "above 0"]),
        ("tiny.onnx", "threshold = 3.0", &["tiny.toml", "threshold = 3", "largest distance"]),
        ("tiny.onnx", "name = \"dlib\"", &["tiny.toml", "\"dlib\"", "built-in"]),
        ("tiny.onnx", "metric = \"l2\"", &["tiny.toml", "line 7", "euclidean", "cosine"]),
        ("tiny.onnx", "channels = ", &["tiny.toml", "line 6"]),
    ];
    for (name, line, words) in cases {
        let key = line.split(" = ").next().unwrap();
        let text: String = TOML
            .lines()
            .map(|l| format!("{}\n", if !key.is_empty() && l.starts_with(key) { line } else { l }))
            .collect();
        let (_folder, model) = described(name, &text);
        refused(&model, words);
    }
    let more = format!("{TOML}std = 128\n");
    refused(&described("tiny.onnx", &more).1, &["tiny.toml", "unknown field `std`", "`factor`"]);
    let less = TOML.lines().skip(1).collect::<Vec<_>>().join("\n");
    refused(&described("tiny.onnx", &less).1, &["tiny.toml", "missing field `name`"]);
}

fn refused(model: &Path, words: &[&str]) {
    let Err(error) = open(model) else { panic!("{} is taken", model.display()) };
    let text = error.to_string();
    println!("{text}\n");
    assert!(words.iter().all(|word| text.contains(word)), "{text}: no {words:?}");
}

#[test]
fn missing_and_foreign_files_are_named() {
    let (folder, model) = described("tiny.onnx", TOML);
    refused(&folder.path().join("nowhere.onnx"), &["nowhere.onnx", "No such file"]);
    for (text, problem) in [("", "not an ONNX"), ("no network", "not an ONNX")] {
        fs::write(&model, text).unwrap();
        refused(&model, &["tiny.onnx", problem]);
    }
    fs::copy(golden("tiny.onnx"), &model).unwrap();
    fs::remove_file(model.with_extension("toml")).unwrap();
    refused(&model, &["tiny.toml", "no such file", "tiny.onnx", "template = [", "threshold = "]);
}

/// Every 37th byte changed, and truncated files: a network or an error, never a panic.
#[test]
fn damaged_files_are_errors() {
    let whole = fs::read(golden("tiny.onnx")).unwrap();
    let (_folder, model) = described("tiny.onnx", TOML);
    let mut refused = 0;
    for at in (0..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x15;
        for bytes in [damaged.as_slice(), &whole[..at]] {
            fs::write(&model, bytes).unwrap();
            refused += usize::from(open(&model).is_err());
        }
    }
    assert!(refused > whole.len() / 37, "only {refused} refused");
}
