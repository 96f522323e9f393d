//! Directions of feature space that the noise does not reach. They alone refute the paper's privacy
//! theorem (`proofs/paper.md`).

use facedp::Geometric;
use serde::{Deserialize, Serialize};

/// What follows from the directions alone, without any draw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Structural {
    /// The probability that some direction of feature space gets no noise. Two faces that differ only in
    /// that direction are then told apart with certainty, so delta is at least this for every epsilon.
    pub delta_floor: f64,
    /// The rank from which the noise reaches every direction, if it ever does.
    pub full_rank_at: Option<usize>,
}

/// The directions of the noise in the order of their ranks, orthonormalised: an attacker's coordinates.
pub(super) struct Structure {
    /// An orthonormal basis of feature space. Directions that the noise reaches come first.
    basis: Vec<Vec<f64>>,
    /// The rank (from 1) at which the noise first reaches each direction. Directions that it never reaches
    /// have none.
    ranks: Vec<usize>,
    features: usize,
    /// The probability that a draw does not reach all directions.
    delta_floor: f64,
}

/// A direction counts as new if at least this share of it is orthogonal to the basis.
const NEW: f64 = 1e-9;

impl Structure {
    pub(super) fn new(
        directions: &[Vec<f64>],
        scales: &[f64],
        features: usize,
        law: &Geometric,
    ) -> Self {
        let (mut basis, mut ranks) = (Vec::<Vec<f64>>::new(), Vec::new());
        for (rank, (direction, scale)) in directions.iter().zip(scales).enumerate() {
            if basis.len() == features {
                break;
            }
            if *scale > 0.0 && add(&mut basis, direction) {
                ranks.push(rank + 1);
            }
        }
        let delta_floor = match ranks.last() {
            Some(&last) if basis.len() == features => 1.0 - law.survival(last),
            _ => 1.0,
        };
        for n in 0..features {
            let axis: Vec<f64> = (0..features).map(|i| f64::from(i == n)).collect();
            if basis.len() < features {
                add(&mut basis, &axis);
            }
        }
        Self { basis, ranks, features, delta_floor }
    }

    pub(super) fn summary(&self) -> Structural {
        let full =
            (self.ranks.len() == self.features).then(|| self.ranks.last().copied()).flatten();
        Structural { delta_floor: self.delta_floor, full_rank_at: full }
    }

    /// The direction that the noise reaches last, or never.
    pub(super) fn last(&self) -> &[f64] {
        self.basis.last().map_or(&[], Vec::as_slice)
    }

    /// The smallest rank up to which noise explains the output, assuming that it comes from `input`;
    /// infinite if no rank does.
    pub(super) fn rank_of(&self, output: &[f64], input: &[f64], tolerance: f64) -> f64 {
        let along = |direction: &[f64]| -> f64 {
            output.iter().zip(input).zip(direction).map(|((y, f), d)| (y - f) * d).sum()
        };
        let last = (0..self.basis.len()).rev().find(|n| along(&self.basis[*n]).abs() > tolerance);
        match last {
            None => 0.0,
            Some(n) => self.ranks.get(n).map_or(f64::INFINITY, |rank| *rank as f64),
        }
    }
}

/// Extends an orthonormal basis by the new part of a direction. Returns whether there was any.
fn add(basis: &mut Vec<Vec<f64>>, direction: &[f64]) -> bool {
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let whole = size(direction);
    let mut rest = direction.to_vec();
    // Orthogonalising twice is enough (Giraud and Langou).
    for _ in 0..2 {
        for known in basis.iter() {
            let along: f64 = rest.iter().zip(known).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(known).for_each(|(r, k)| *r -= along * k);
        }
    }
    let left = size(&rest);
    if left.is_nan() || left <= NEW * whole || whole == 0.0 {
        return false;
    }
    rest.iter_mut().for_each(|r| *r /= left);
    basis.push(rest);
    true
}
