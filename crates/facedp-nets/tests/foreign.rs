//! Foreign networks, and the rules that describe them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp_nets::{Channels, Chip, Embed, Error, Metric, Recogniser, Rule, Workspace};
use serde_json::{Value, json};

const SIDE: usize = 8;

fn described() -> Value {
    json!({
        "name": "mine-2.0",
        "side": SIDE,
        "template": [[2.0, 2.0], [6.0, 2.0], [4.0, 4.0], [3.0, 6.0], [5.0, 6.0]],
        "mean": [10.0, 20.0, 30.0],
        "factor": 0.5,
        "channels": "rgb",
        "metric": "euclidean",
        "threshold": 0.6,
    })
}

fn rule() -> Rule {
    serde_json::from_value(described()).unwrap()
}

/// A chip with one level for each colour.
fn chip(side: usize, levels: [f32; 3]) -> Chip {
    Chip::new(side, levels.iter().flat_map(|v| vec![*v; side * side]).collect()).unwrap()
}

/// The first value of each plane.
fn corners(values: &[f32]) -> Result<Vec<f32>, String> {
    Ok(values.chunks_exact(SIDE * SIDE).map(|plane| plane[0]).collect())
}

#[test]
fn a_foreign_network_sees_chips_as_its_rule_says() {
    let mut work = Workspace::default();
    let face = chip(SIDE, [110.0, 60.0, 34.0]);
    let own = Recogniser::foreign(rule(), Box::new(corners)).unwrap();
    assert_eq!((own.name(), own.side(), own.threshold()), ("mine-2.0", SIDE, 0.6));
    assert_eq!(own.embed(&face, &mut work).unwrap(), [50.0, 20.0, 2.0]);
    // The mean stays with its colour, whatever the order.
    let turned = Rule { channels: Channels::Bgr, ..rule() };
    let turned = Recogniser::foreign(turned, Box::new(corners)).unwrap();
    assert_eq!(turned.embed(&face, &mut work).unwrap(), [2.0, 20.0, 50.0]);

    assert_eq!(own.distance(&[0.0, 0.0], &[3.0, 4.0]), 5.0);
    assert!(own.matches(0.6) && !own.matches(0.61));
    let cosine = Rule { metric: Metric::Cosine, ..rule() };
    let cosine = Recogniser::foreign(cosine, Box::new(corners)).unwrap();
    assert_eq!(cosine.distance(&[0.0, 2.0], &[3.0, 0.0]), 1.0);

    let other = own.embed(&chip(9, [0.0; 3]), &mut work);
    assert_eq!(other, Err(Error::ChipSize { expected: 192, found: 243 }));
}

#[test]
fn a_foreign_network_has_no_gradient() {
    let own = Recogniser::foreign(rule(), Box::new(corners)).unwrap();
    let face = chip(SIDE, [1.0; 3]);
    let gradient = own.gradient(&face, &mut Workspace::default(), |e| e.to_vec());
    assert!(gradient.unwrap_err().to_string().contains("mine-2.0 has no gradient"));
}

/// A network with a digest.
struct Digested;

impl Embed for Digested {
    fn embed(&self, values: &[f32]) -> Result<Vec<f32>, String> {
        corners(values)
    }

    fn digest(&self) -> &str {
        "c0ffee"
    }
}

/// Resumed runs compare fingerprints: these lines must never change.
#[test]
fn fingerprints_are_fixed() {
    let of = |rule| Recogniser::foreign(rule, Box::new(Digested)).unwrap().fingerprint();
    assert_eq!(
        of(rule()).unwrap(),
        "recogniser 1: mine-2.0, network c0ffee, side 8, \
         template [2.0 2.0, 6.0 2.0, 4.0 4.0, 3.0 6.0, 5.0 6.0], mean 10.0 20.0 30.0, factor 0.5, \
         rgb, euclidean, threshold 0.6"
    );
    let factor = 1.0 / 128.0;
    let other = Rule { channels: Channels::Bgr, metric: Metric::Cosine, factor, ..rule() };
    assert_eq!(
        of(other).unwrap(),
        "recogniser 1: mine-2.0, network c0ffee, side 8, \
         template [2.0 2.0, 6.0 2.0, 4.0 4.0, 3.0 6.0, 5.0 6.0], mean 10.0 20.0 30.0, \
         factor 0.0078125, bgr, cosine, threshold 0.6"
    );
}

#[test]
fn built_in_recognisers_have_no_fingerprint() {
    assert_eq!(Recogniser::sface().unwrap().fingerprint(), None);
}

#[test]
fn networks_that_give_no_embedding_are_refused() {
    let refused = |network: fn(&[f32]) -> Result<Vec<f32>, String>| {
        Recogniser::foreign(rule(), Box::new(network)).err().unwrap().to_string()
    };
    assert!(refused(|_| Ok(vec![1.0, f32::NAN])).contains("an embedding of length NaN"));
    assert!(refused(|_| Ok(vec![f32::INFINITY])).contains("an embedding of length inf"));
    assert!(refused(|_| Ok(vec![1e10, 0.0])).contains("an embedding of length 1"));
    assert!(refused(|_| Ok(vec![1e-15, 0.0])).contains("an embedding of length 0.000"));
    assert!(refused(|_| Ok(Vec::new())).contains("no numbers"));
    assert_eq!(refused(|_| Err("out of order".into())), "recogniser mine-2.0: out of order");
    // A network whose embeddings change their length.
    let changing = |values: &[f32]| Ok(vec![1.0; if values[0] < 0.0 { 3 } else { 2 }]);
    let rule = Rule { mean: [0.5, 0.0, 0.0], ..rule() };
    let changing = Recogniser::foreign(rule, Box::new(changing)).unwrap();
    let later = changing.embed(&chip(SIDE, [200.0; 3]), &mut Workspace::default());
    assert!(later.unwrap_err().to_string().contains("gave 2 numbers for a face, 3 before"));
}

#[test]
fn rules_are_checked() {
    rule().validate().unwrap();
    let cases = [
        ("name", json!(""), "1 to 32 letters"),
        ("name", json!("x".repeat(33)), "1 to 32 letters"),
        ("name", json!("<b>"), "\"<b>\""),
        ("name", json!("SFace"), "built-in"),
        ("side", json!(0), "8 to 1024"),
        ("side", json!(5000), "5000"),
        ("mean", json!([0.0, 0.0, 1e39]), "finite"),
        ("factor", json!(0.0), "above 0"),
        ("factor", json!(1e39), "finite"),
        ("threshold", json!(-0.363), "-0.363"),
        ("template", json!([[6, 2], [2, 2], [4, 4], [3, 6], [5, 6]]), "on the left"),
        ("template", json!([[2, 6], [6, 6], [4, 4], [3, 2], [5, 2]]), "upright"),
        ("template", json!([[2, 2], [6, 2], [4, 4], [3, 6], [5, 9]]), "within the chip"),
        ("template", json!([[2, 2], [6, 2], [1e39, 4], [3, 6], [5, 6]]), "within the chip"),
    ];
    for (key, value, words) in cases {
        let mut described = described();
        described[key] = value;
        let rule: Rule = serde_json::from_value(described).unwrap();
        let Err(error) = rule.validate() else { panic!("{rule:?} passes") };
        let text = error.to_string();
        assert!(text.starts_with(&format!("{key} = ")) && text.contains(words), "{text}");
        assert!(Recogniser::foreign(rule, Box::new(corners)).is_err());
    }
    let cosine = Rule { metric: Metric::Cosine, threshold: 2.5, ..rule() };
    assert!(cosine.validate().unwrap_err().to_string().contains("one minus the cosine"));
}

#[test]
fn every_key_is_required_and_others_are_refused() {
    for key in described().as_object().unwrap().keys() {
        let mut less = described();
        less.as_object_mut().unwrap().remove(key);
        let error = serde_json::from_value::<Rule>(less).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{key}`")), "{error}");
    }
    for (key, value) in
        [("std", json!(128)), ("metric", json!("angle")), ("channels", json!("yuv"))]
    {
        let mut other = described();
        other[key] = value;
        assert!(serde_json::from_value::<Rule>(other).is_err(), "{key}");
    }
}
