//! Dense linear algebra in double precision, on one thread.
//!
//! faer does the work. Its functions are generic, so every crate that calls one compiles it again, for
//! up to half a minute each. The functions here are not: they are compiled once.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Par, Side};

pub use faer::{Mat, MatMut, MatRef};

/// `a b`.
///
/// ```
/// use facedp_linalg::{MatRef, product};
///
/// let a = MatRef::from_row_major_slice(&[1.0, 2.0, 3.0, 4.0], 2, 2);
/// let b = MatRef::from_row_major_slice(&[1.0, 10.0], 2, 1);
/// let c = product(a, b);
/// assert_eq!((c[(0, 0)], c[(1, 0)]), (21.0, 43.0));
/// ```
pub fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    product_into(out.as_mut(), a, b);
    out
}

/// Sets `out` to `a b`.
pub fn product_into(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// Adds `factor a b` to `out`.
pub fn add_product(out: MatMut<'_, f64>, factor: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Add, a, b, factor, Par::Seq);
}

/// Adds the lower half of `a a^T` to `out`, whose upper half stays as it is.
pub fn add_gram(out: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(out, lower, Accum::Add, a, whole, a.transpose(), whole, 1.0, Par::Seq);
}

/// The eigenvalues of a symmetric matrix in ascending order, and their vectors as columns. Reads the lower half.
/// `None` if they were not found, as for a matrix with NaN.
///
/// ```
/// use facedp_linalg::{MatRef, symmetric_eigen};
///
/// let (values, vectors) = symmetric_eigen(MatRef::from_row_major_slice(&[2.0, 1.0, 1.0, 2.0], 2, 2)).unwrap();
/// assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
/// assert!((vectors[(0, 1)] - vectors[(1, 1)]).abs() < 1e-12);
/// ```
pub fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    Some((eigen.S().column_vector().iter().copied().collect(), eigen.U().to_owned()))
}

/// Orthonormal columns that span those of a matrix with at least as many rows as columns.
pub fn orthonormal(matrix: MatRef<'_, f64>) -> Mat<f64> {
    matrix.qr().compute_thin_Q()
}

/// The solution `x` of `matrix x = right`; not finite if the matrix is singular.
///
/// ```
/// use facedp_linalg::{MatRef, solve};
///
/// let matrix = MatRef::from_row_major_slice(&[2.0, 0.0, 1.0, 4.0], 2, 2);
/// let x = solve(matrix, MatRef::from_row_major_slice(&[2.0, 9.0], 2, 1));
/// assert_eq!((x[(0, 0)], x[(1, 0)]), (1.0, 2.0));
/// ```
pub fn solve(matrix: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    matrix.partial_piv_lu().solve(right)
}
