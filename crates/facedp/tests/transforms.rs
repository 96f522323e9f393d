//! The bases against naive oracles and the laws of orthonormal transforms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use facedp::basis::{Basis, Transform};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const TOLERANCE: f64 = 1e-9;

/// Fails if any difference exceeds the tolerance times the largest expected value.
fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        // Not `>`: NaN must fail too.
        assert!((f - e).abs() <= TOLERANCE * largest, "{what}: {f} instead of {e} at {i}");
    }
}

/// Grey levels without any symmetry that could hide a mistake.
fn sample(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * i * 31 + i * 17) % 257) as f64 - 40.5).collect()
}

type Matrix = Vec<Vec<f64>>;

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: &Vec<f64>, x: usize| row.iter().zip(b).map(|(v, other)| v * other[x]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|x| entry(row, x)).collect()).collect()
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|x| a.iter().map(|row| row[x]).collect()).collect()
}

/// One level of the one-dimensional Haar transform: averages of pairs, then differences.
fn haar_matrix(side: usize) -> Matrix {
    let mut matrix = vec![vec![0.0; side]; side];
    for pair in 0..side / 2 {
        matrix[pair][2 * pair] = FRAC_1_SQRT_2;
        matrix[pair][2 * pair + 1] = FRAC_1_SQRT_2;
        matrix[side / 2 + pair][2 * pair] = FRAC_1_SQRT_2;
        matrix[side / 2 + pair][2 * pair + 1] = -FRAC_1_SQRT_2;
    }
    matrix
}

/// `W P W^T`, then the same on the top-left quarter.
fn naive_haar(plane: &Matrix, levels: u32) -> Matrix {
    if levels == 0 {
        return plane.clone();
    }
    let w = haar_matrix(plane.len());
    let mut packed = product(&product(&w, plane), &transposed(&w));
    let half = plane.len() / 2;
    let quarter = packed[..half].iter().map(|row| row[..half].to_vec()).collect();
    for (row, next) in packed.iter_mut().zip(naive_haar(&quarter, levels - 1)) {
        row[..half].copy_from_slice(&next);
    }
    packed
}

/// The double cosine sum, term by term.
fn naive_dct(plane: &[f64], width: usize, height: usize) -> Vec<f64> {
    let weight = |u: usize, n: usize| (if u == 0 { 1.0 } else { 2.0 } / n as f64).sqrt();
    let cosine = |u: usize, x: usize, n: usize| {
        weight(u, n) * (PI * u as f64 * (2 * x + 1) as f64 / (2 * n) as f64).cos()
    };
    let coefficient = |u: usize, v: usize| -> f64 {
        let term =
            |(i, p): (usize, &f64)| p * cosine(u, i / width, height) * cosine(v, i % width, width);
        plane.iter().enumerate().map(term).sum()
    };
    (0..width * height).map(|i| coefficient(i / width, i % width)).collect()
}

fn assert_both_ways(what: &str, basis: &dyn Transform, pixels: &[f64], coefficients: &[f64]) {
    let mut found = pixels.to_vec();
    basis.forward(&mut found);
    assert_close(&format!("{what} forward"), &found, coefficients);
    let mut found = coefficients.to_vec();
    basis.inverse(&mut found);
    assert_close(&format!("{what} inverse"), &found, pixels);
}

#[test]
fn haar_equals_the_matrices() {
    for log in 1..=5u32 {
        let side = 1 << log;
        let pixels = sample(side * side);
        let rows: Matrix = pixels.chunks_exact(side).map(<[f64]>::to_vec).collect();
        for levels in 1..=log {
            let expected = naive_haar(&rows, levels).concat();
            let haar = Basis::Haar { levels: Some(levels) }.transform(side, side).unwrap();
            assert_both_ways(&format!("haar {side}, {levels} levels"), &*haar, &pixels, &expected);
        }
    }
}

#[test]
fn dct_equals_the_cosine_sum() {
    for width in 1..=9 {
        for height in 1..=9 {
            let pixels = sample(width * height);
            let expected = naive_dct(&pixels, width, height);
            let dct = Basis::Dct.transform(width, height).unwrap();
            assert_both_ways(&format!("dct {width}x{height}"), &*dct, &pixels, &expected);
        }
    }
}

fn assert_sparse_equals_dense(basis: &dyn Transform, count: usize, sparse: &[(usize, f64)]) {
    let mut dense = vec![0.0; count];
    sparse.iter().for_each(|&(index, value)| dense[index] = value);
    basis.inverse(&mut dense);
    // NaN shows up wherever the plane is not overwritten.
    let mut found = vec![f64::NAN; count];
    basis.synthesise(sparse, &mut found);
    assert_close(&format!("{sparse:?}"), &found, &dense);
}

/// Random corners seldom reach a given border between bands; this test covers all of them.
#[test]
fn every_basis_vector_is_synthesised() {
    for log in 1..=4u32 {
        let (side, count) = (1 << log, 1 << (2 * log));
        for (basis, _) in bases(side, side) {
            for index in 0..count {
                assert_sparse_equals_dense(&*basis, count, &[(index, 1.0)]);
            }
        }
    }
}

/// Every basis that takes this size, Haar with every number of levels.
fn bases(width: usize, height: usize) -> Vec<(Box<dyn Transform>, Basis)> {
    let mut kinds = vec![Basis::Pixel, Basis::Dct];
    if width == height && width.is_power_of_two() {
        kinds.push(Basis::Haar { levels: None });
        kinds.extend((1..=width.trailing_zeros()).map(|n| Basis::Haar { levels: Some(n) }));
    }
    kinds.into_iter().map(|kind| (kind.transform(width, height).unwrap(), kind)).collect()
}

/// Sizes 2..=64, half of them fit for Haar.
fn size() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![(1..=6u32).prop_map(|log| (1 << log, 1 << log)), (2..=64usize, 2..=64usize)]
}

fn picture() -> impl Strategy<Value = (usize, usize, Vec<f64>)> {
    let pixels = |count| prop::collection::vec(-300.0..300.0, count);
    size().prop_flat_map(move |(w, h)| (Just(w), Just(h), pixels(w * h)))
}

/// A few values in a top-left corner of random size. Haar's synthesis treats planes that are zero
/// outside a corner separately, and scattered indices would hardly ever give such a plane.
fn sparse() -> impl Strategy<Value = (usize, usize, Vec<(usize, f64)>)> {
    let corner = |(w, h)| (Just((w, h)), 1..=w, 1..=h);
    size().prop_flat_map(corner).prop_flat_map(|((w, h), across, down)| {
        let entries = prop::collection::btree_map((0..down, 0..across), -1e4..1e4, 0..=12);
        let indices = move |entries: BTreeMap<(usize, usize), f64>| {
            entries.into_iter().map(|((y, x), value)| (y * w + x, value)).collect()
        };
        (Just(w), Just(h), entries.prop_map(indices))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        // The same cases every time.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn inverse_undoes_forward_and_energy_stays((width, height, pixels) in picture()) {
        let energy = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
        for (basis, kind) in bases(width, height) {
            let what = format!("{kind:?} {width}x{height}");
            let mut values = pixels.clone();
            basis.forward(&mut values);
            assert_close(&what, &[energy(&values)], &[energy(&pixels)]);
            basis.inverse(&mut values);
            assert_close(&what, &values, &pixels);
        }
    }

    #[test]
    fn sparse_synthesis_equals_the_dense_inverse((width, height, sparse) in sparse()) {
        for (basis, _) in bases(width, height) {
            assert_sparse_equals_dense(&*basis, width * height, &sparse);
        }
    }
}
