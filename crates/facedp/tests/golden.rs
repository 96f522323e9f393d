//! Golden vectors from other libraries (`tools/make_golden.py`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use facedp::basis::{Basis, Transform};
use facedp::metrics::Quality;
use facedp::resample::resized;
use facedp::{Geometric, Plane};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The tolerance for values that other libraries compute in f64, relative to the largest value.
const DOUBLE: f64 = 1e-9;
/// Pillow stores f32.
const SINGLE: f64 = 1e-6;

type Rows = Vec<Vec<f64>>;

fn cases<T: DeserializeOwned>(json: &str, expected: usize) -> Vec<T> {
    #[derive(Deserialize)]
    struct File<T> {
        cases: Vec<T>,
    }
    let File { cases } = serde_json::from_str(json).unwrap();
    assert_eq!(cases.len(), expected);
    cases
}

fn plane(rows: &Rows, width: usize, height: usize) -> Plane {
    assert_eq!(rows.len(), height);
    assert!(rows.iter().all(|row| row.len() == width));
    Plane::new(width, height, rows.concat()).unwrap()
}

/// Fails if any difference exceeds `tolerance` times the largest expected value.
fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    assert!(largest > 0.0, "{what}: nothing to compare with");
    let mut worst = 0.0f64;
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        let deviation = (f - e).abs() / largest;
        // Not `>`: NaN must fail too.
        assert!(deviation <= tolerance, "{what}: {f} instead of {e} at {i}");
        worst = worst.max(deviation);
    }
    println!("{what}: {worst:.1e}");
}

fn assert_transform(what: &str, basis: &dyn Transform, pixels: &Plane, coefficients: &Plane) {
    let mut found = pixels.clone();
    basis.forward(found.data_mut());
    assert_close(&format!("{what} forward"), found.data(), coefficients.data(), DOUBLE);
    let mut found = coefficients.clone();
    basis.inverse(found.data_mut());
    assert_close(&format!("{what} inverse"), found.data(), pixels.data(), DOUBLE);
}

#[test]
fn haar_is_that_of_pywavelets() {
    #[derive(Deserialize)]
    struct Case {
        side: usize,
        input: Rows,
        depths: Vec<Depth>,
    }
    #[derive(Deserialize)]
    struct Depth {
        levels: u32,
        coefficients: Rows,
    }
    let cases: Vec<Case> = cases(include_str!("golden/haar.json"), 2);
    let mut seen = Vec::new();
    for Case { side, input, depths } in &cases {
        let input = plane(input, *side, *side);
        for Depth { levels, coefficients } in depths {
            let packed = plane(coefficients, *side, *side);
            let haar = Basis::Haar { levels: Some(*levels) }.transform(*side, *side).unwrap();
            assert_transform(&format!("haar {side}, {levels} levels"), &*haar, &input, &packed);
            seen.push((*side, *levels));
        }
    }
    assert_eq!(seen, [(16, 1), (16, 2), (16, 3), (16, 4), (32, 5)]);
}

#[test]
fn dct_is_that_of_scipy() {
    #[derive(Deserialize)]
    struct Case {
        width: usize,
        height: usize,
        input: Rows,
        coefficients: Rows,
    }
    let cases: Vec<Case> = cases(include_str!("golden/dct.json"), 2);
    for &Case { width, height, ref input, ref coefficients } in &cases {
        let (input, expected) = (plane(input, width, height), plane(coefficients, width, height));
        let dct = Basis::Dct.transform(width, height).unwrap();
        assert_transform(&format!("dct {width}x{height}"), &*dct, &input, &expected);
    }
    assert!(cases.iter().any(|c| c.width != c.height));
}

#[test]
fn quality_is_that_of_scikit_image() {
    #[derive(Deserialize)]
    struct Case {
        name: String,
        width: usize,
        height: usize,
        #[serde(flatten)]
        expected: Quality,
        original: Rows,
        released: Rows,
    }
    let cases: Vec<Case> = cases(include_str!("golden/quality.json"), 7);
    for Case { name, width, height, expected, original, released } in &cases {
        let original = plane(original, *width, *height);
        let released = plane(released, *width, *height);
        let found = Quality::compare(&original, &released).unwrap();
        assert_eq!(found.variance, expected.variance, "{name}"); // whole numbers
        let decibels = [
            ("psnr", found.psnr, expected.psnr),
            ("psnr_paper", found.psnr_paper, expected.psnr_paper),
        ];
        for (what, found, expected) in decibels {
            assert_eq!(found.is_some(), expected.is_some(), "{name}: {what}");
            if let (Some(found), Some(expected)) = (found, expected) {
                assert_close(&format!("{name}: {what}"), &[found], &[expected], DOUBLE);
            }
        }
        // Similarities are of order 1, so their deviations are absolute.
        let similarities = [
            ("ssim", found.ssim, expected.ssim),
            ("ssim_wang", found.ssim_wang, expected.ssim_wang),
        ];
        for (what, found, expected) in similarities {
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert_close(&format!("{name}: {what}"), &[1.0, found], &[1.0, expected], DOUBLE);
        }
    }
    let unchanged: Vec<&str> =
        cases.iter().filter(|c| c.expected.psnr.is_none()).map(|c| c.name.as_str()).collect();
    assert_eq!(unchanged, ["identical"]);
}

#[test]
fn resizing_is_that_of_pillow() {
    #[derive(Deserialize)]
    struct Case {
        width: usize,
        height: usize,
        to_width: usize,
        to_height: usize,
        input: Rows,
        output: Rows,
    }
    let cases: Vec<Case> = cases(include_str!("golden/resize.json"), 4);
    for &Case { width, height, to_width, to_height, ref input, ref output } in &cases {
        let input = plane(input, width, height);
        assert!(input.data().iter().any(|&v| v < 0.0));
        let expected = plane(output, to_width, to_height);
        let found = resized(&input, to_width, to_height);
        assert_eq!((found.width(), found.height()), (to_width, to_height));
        let what = format!("{width}x{height} to {to_width}x{to_height}");
        assert_close(&what, found.data(), expected.data(), SINGLE);
    }
}

#[test]
fn geometric_law_is_exact() {
    #[derive(Deserialize)]
    struct Case {
        p: f64,
        n: usize,
        noisy_ranks: Option<usize>,
        k: Vec<usize>,
        /// 30 digits, more than a JSON number keeps.
        survival: Vec<String>,
    }
    let cases: Vec<Case> = cases(include_str!("golden/geometric.json"), 9);
    let mut compared = 0;
    for &Case { p, n, noisy_ranks, ref k, ref survival } in &cases {
        assert_eq!(k.len(), survival.len());
        let law = Geometric::new(p, n).unwrap();
        for (&k, expected) in k.iter().zip(survival) {
            let what = format!("p = {p}, n = {n}, k = {k}");
            assert_close(&what, &[law.survival(k)], &[expected.parse().unwrap()], 1e-12);
            compared += 1;
        }
        assert_eq!(law.survival(n + 1), 0.0);
        if let Some(ranks) = noisy_ranks {
            assert_eq!(law.survivals().len(), ranks, "p = {p}, n = {n}");
        }
    }
    assert_eq!(compared, 63);
    assert_eq!(cases.iter().filter(|c| c.noisy_ranks.is_some()).count(), 8);
}
