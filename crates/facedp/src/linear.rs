//! Dense linear algebra outside of training.

use pulp::{Arch, NullaryFnOnce};

#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Independent partial sums let the compiler use vector registers.
    let mut lanes = [0.0; 8];
    let (left, right) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (left, right) in left.zip(right) {
        for ((lane, a), b) in lanes.iter_mut().zip(left).zip(right) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Makes rows of `width` values orthonormal by modified Gram-Schmidt. The error is the first row that
/// depends on earlier ones.
pub(crate) fn orthonormalise(rows: &mut [f64], width: usize) -> Result<(), usize> {
    Arch::new().dispatch(Orthonormalised { rows, width })
}

/// Compiled for the vector instructions of the machine it runs on: the feature model is made orthonormal at each
/// start of the program.
struct Orthonormalised<'a> {
    rows: &'a mut [f64],
    width: usize,
}

impl NullaryFnOnce for Orthonormalised<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn call(self) -> Result<(), usize> {
        let Self { rows, width } = self;
        for i in 0..rows.len() / width {
            let (before, rest) = rows.split_at_mut(i * width);
            let row = &mut rest[..width];
            let length = dot(row, row).sqrt();
            for earlier in before.chunks_exact(width) {
                let along = dot(row, earlier);
                row.iter_mut().zip(earlier).for_each(|(r, e)| *r -= along * e);
            }
            let left = dot(row, row).sqrt();
            if left.is_nan() || left <= 1e-3 * length {
                return Err(i);
            }
            row.iter_mut().for_each(|r| *r /= left);
        }
        Ok(())
    }
}
