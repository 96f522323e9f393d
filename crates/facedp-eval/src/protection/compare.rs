//! Distances between treated and untouched photos.

use facedp_engine::Recogniser;

use super::evaluation::Treated;
use super::results::{Attacked, Gallery};
use crate::recognition::{Baseline, Embeddings, rank_1};
use crate::results::Estimate;
use crate::statistics::rate;

/// Embeddings of treated photos, compared by one recogniser.
pub(super) struct Comparison<'a> {
    pub(super) recogniser: &'a Recogniser,
    /// Its number among the embeddings of a photo.
    pub(super) number: usize,
    pub(super) baseline: &'a Baseline<'a>,
    pub(super) treated: &'a Treated,
    /// One per treated photo.
    pub(super) embeddings: &'a [Embeddings],
}

impl Comparison<'_> {
    /// The embedding of an untouched photo.
    fn clean(&self, subject: usize) -> &[f32] {
        &self.baseline.reference(subject).embeddings()[self.number]
    }

    /// The embedding of a treated photo.
    fn changed(&self, at: usize) -> &[f32] {
        &self.embeddings[at][self.number]
    }

    /// Treated photos against untouched ones.
    pub(super) fn with_originals(&self, attack: &str, threshold: f32) -> Attacked {
        let all: Vec<usize> = (0..self.treated.photos.len()).collect();
        let own = |at: usize| self.treated.photos[at].0;
        Attacked {
            attack: attack.to_owned(),
            self_fnr: self.misses(&all, own, threshold),
            pair_fnr: self.pair_misses(&all, threshold),
        }
    }

    /// Some treated photos against another, untouched photo of the same person.
    pub(super) fn pair_misses(&self, photos: &[usize], threshold: f32) -> Estimate {
        let pairs = &self.treated.pairs;
        let other = |at: usize| {
            let (first, second) = pairs[at % pairs.len()];
            if at < pairs.len() { second } else { first }
        };
        self.misses(photos, other, threshold)
    }

    fn misses(
        &self,
        photos: &[usize],
        against: impl Fn(usize) -> usize,
        threshold: f32,
    ) -> Estimate {
        let distance =
            |at: usize| self.recogniser.distance(self.changed(at), self.clean(against(at)));
        rate(photos.iter().filter(|at| distance(**at) > threshold).count(), photos.len())
    }

    /// Treated photos against each other.
    pub(super) fn with_each_other(&self, threshold: f32) -> Gallery {
        let (pairs, recogniser) = (&self.treated.pairs, self.recogniser);
        let count = pairs.len();
        let treated =
            |i: usize, j: usize| recogniser.distance(self.changed(i), self.changed(count + j));
        let clean = |i: usize, j: usize| {
            recogniser.distance(self.clean(pairs[i].0), self.clean(pairs[j].1))
        };
        let misses = (0..count).filter(|i| treated(*i, *i) > threshold).count();
        Gallery {
            pair_fnr: rate(misses, count),
            rank_1: rank_1(count, treated),
            clean_rank_1: rank_1(count, clean),
        }
    }
}
