//! The largest eigenvalues of a Gram matrix.
//!
//! Only 64 of thousands are wanted. A block Krylov method finds them in the space of
//! `B, G B, G^2 B, ...` for a random block B, at a fraction of the cost of a full decomposition. Where
//! it does not converge (few pictures, equal eigenvalues), the full decomposition takes over. faer's
//! own partial solver is as fast, but panics on small matrices and does not terminate on singular
//! ones.

use facedp_linalg::{Mat, MatRef, add_product, orthonormal, product, symmetric_eigen};
use rand_core::Rng;

use crate::error::{Error, Result};
use crate::noise::experiment;

/// Extra directions, which speed up the convergence of the last ones wanted.
const SPARE: usize = 16;
/// Blocks of the Krylov space: the minimum before residuals are checked, and the maximum.
const BLOCKS: (usize, usize) = (8, 12);
/// The relative tolerance of residuals and of orthogonality.
const PRECISION: f64 = 1e-10;

/// Eigenvalues in descending order, and their vectors as columns.
pub(crate) type Eigen = (Vec<f64>, Mat<f64>);

/// The `count` largest eigenvalues of a symmetric matrix of which the lower half is given. Fills in the
/// upper half.
pub(crate) fn largest(gram: &mut Mat<f64>, count: usize) -> Result<Eigen> {
    let n = gram.nrows();
    for column in 1..n {
        for row in 0..column {
            gram[(row, column)] = gram[(column, row)];
        }
    }
    let few = n >= 16 * (count + SPARE);
    let found = if few { krylov(gram.as_ref(), count) } else { None };
    found.or_else(|| full(gram.as_ref(), count)).ok_or(Error::Eigen)
}

/// The full decomposition.
fn full(matrix: MatRef<'_, f64>, count: usize) -> Option<Eigen> {
    let (values, vectors) = symmetric_eigen(matrix)?;
    let last = values.len() - 1;
    let top = (0..count).map(|i| values[last - i]).collect();
    Some((top, Mat::from_fn(vectors.nrows(), count, |row, i| vectors[(row, last - i)])))
}

/// The block Krylov method. The space grows until the residuals vanish; `None` if they do not.
fn krylov(gram: MatRef<'_, f64>, count: usize) -> Option<Eigen> {
    let (n, width) = (gram.nrows(), count + SPARE);
    let (min, max) = BLOCKS;
    // Any random block will do. A fixed one makes fits repeatable.
    let mut random = experiment(0, "eigenfaces");
    let mut block = Mat::from_fn(n, width, |_, _| f64::from(random.next_u32()) - 2f64.powi(31));
    let (mut basis, mut image) = (Mat::zeros(n, width * max), Mat::zeros(n, width * max));
    for step in 0..max {
        // Two passes make the block orthogonal up to rounding.
        for _ in 0..2 {
            let before = basis.subcols(0, step * width);
            let along = product(before.transpose(), block.as_ref());
            add_product(block.as_mut(), -1.0, before, along.as_ref());
            block = orthonormal(block.as_ref());
        }
        basis.subcols_mut(step * width, width).copy_from(&block);
        block = product(gram, block.as_ref());
        image.subcols_mut(step * width, width).copy_from(&block);
        if step + 1 < min || step % 2 == 0 {
            continue;
        }
        let size = (step + 1) * width;
        let (basis, image) = (basis.subcols(0, size), image.subcols(0, size));
        let (values, within) = full(product(basis.transpose(), image).as_ref(), count)?;
        let (vectors, moved) = (product(basis, within.as_ref()), product(image, within.as_ref()));
        let residual = Mat::from_fn(n, count, |r, i| moved[(r, i)] - values[i] * vectors[(r, i)]);
        let skew = skew(vectors.as_ref());
        if largest_entry(&residual) <= PRECISION * values[0] && skew < PRECISION {
            return Some((values, vectors));
        }
    }
    None
}

/// The largest absolute entry.
fn largest_entry(matrix: &Mat<f64>) -> f64 {
    matrix.col_iter().flat_map(|column| column.iter()).fold(0.0, |max, v| max.max(v.abs()))
}

/// How far columns are from being orthonormal.
fn skew(columns: MatRef<'_, f64>) -> f64 {
    let mut skew = product(columns.transpose(), columns);
    (0..columns.ncols()).for_each(|i| skew[(i, i)] -= 1.0);
    largest_entry(&skew)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A positive matrix with the given eigenvalues, in random directions.
    fn matrix(values: &[f64]) -> Mat<f64> {
        let n = values.len();
        let mut random = experiment(1, "directions");
        let any = Mat::from_fn(n, n, |_, _| f64::from(random.next_u32()) - 2f64.powi(31));
        let q = orthonormal(any.as_ref());
        let scaled = Mat::from_fn(n, n, |row, i| q[(row, i)] * values[i]);
        product(scaled.as_ref(), q.transpose())
    }

    #[test]
    fn krylov_and_full_decomposition_agree() {
        let falling: Vec<f64> = (0..400).map(|i| 1e6 * 0.9f64.powi(i)).collect();
        let gram = matrix(&falling);
        let (values, vectors) = krylov(gram.as_ref(), 8).unwrap();
        let (expected, directions) = full(gram.as_ref(), 8).unwrap();
        for i in 0..8 {
            assert!((values[i] / expected[i] - 1.0).abs() < 1e-10);
            let pairs = vectors.col(i).iter().zip(directions.col(i).iter());
            let along = pairs.map(|(a, b)| a * b).sum::<f64>().abs();
            assert!((along - 1.0).abs() < 1e-10, "vector {i}: {along}");
        }
    }

    #[test]
    fn hard_matrices_are_left_to_the_full_decomposition() {
        let cases: [(&str, Vec<f64>); 4] = [
            ("zero", vec![0.0; 400]),
            ("rank 3", (0..400).map(|i| if i < 3 { 5.0 } else { 0.0 }).collect()),
            ("identity", vec![1.0; 400]),
            ("slow", (0..400).map(|i| 2.0 - f64::from(i) * 1e-6).collect()),
        ];
        for (name, values) in cases {
            let (found, vectors) = largest(&mut matrix(&values), 8).unwrap();
            for (i, found) in found.iter().enumerate() {
                assert!((found - values[i]).abs() < 1e-9, "{name}: {found} not {}", values[i]);
            }
            assert!(skew(vectors.as_ref()) < 1e-9, "{name}");
        }
    }
}
