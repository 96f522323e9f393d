//! The noise of one chip, as coefficients.

use std::borrow::Cow;

use rand_core::CryptoRng;

use super::{Plan, Ranked};
use crate::noise::discrete_laplace;

/// A plan with its ranking for one chip.
pub struct Sampler<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ranked: Cow<'a, Ranked>,
}

impl Sampler<'_> {
    /// Draws `K` and the noise of the top `K` coefficients, as `(coefficient, noise)` pairs.
    pub fn draw<R: CryptoRng + ?Sized>(&self, noise: &mut R) -> (usize, Vec<(usize, f64)>) {
        let geometric_number = self.plan.law.sample(noise);
        let scales = &self.ranked.scales;
        let reached = self.ranked.order.iter().zip(scales.units()).take(geometric_number);
        let mut sparse = Vec::with_capacity(reached.len());
        for (&k, &units) in reached.filter(|(_, units)| **units > 0) {
            let drawn = discrete_laplace(units, noise);
            // The same number; converting 128 bits takes a call.
            let drawn = match i64::try_from(drawn) {
                Ok(drawn) => drawn as f64,
                Err(_) => drawn as f64,
            };
            sparse.push((k as usize, drawn * scales.grid()));
        }
        (geometric_number, sparse)
    }

    /// [`Release::expected_variance`](super::Release::expected_variance).
    pub(super) fn expected_variance(&self) -> f64 {
        2.0 * self.ranked.scales.cost()
    }

    /// Coefficients by rank, with the scales `b_k` of their noise.
    pub fn ranks(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let Ranked { order, scales } = &*self.ranked;
        order.iter().enumerate().map(|(rank, &k)| (k as usize, scales.scale(rank)))
    }

    /// The change of the features per unit of each coefficient: `w_1k, w_2k, ...` by rank.
    pub fn directions(&self) -> Vec<Vec<f64>> {
        let (model, features) = (&self.plan.model, self.plan.method.features);
        let mut directions = vec![vec![0.0; features]; self.ranked.order.len()];
        for (i, face) in model.eigenfaces().chunks_exact(model.pixels()).take(features).enumerate()
        {
            let mut face = face.to_vec();
            self.plan.transform.forward(&mut face);
            for (direction, &k) in directions.iter_mut().zip(&self.ranked.order) {
                direction[i] = face[k as usize];
            }
        }
        directions
    }
}
