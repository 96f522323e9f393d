//! Choosing an event that tells two sides apart.
//!
//! Each run is looked at in several ways, each a number. Numbers are sorted into bins, bins by how much
//! more often the one side falls into them, and the event is a number of bins from the head of that
//! order, or all numbers to one side of a bin's edge. Runs that put bins in order, runs that choose
//! among events, and runs that bound epsilon are three different sets.

use super::bound;

/// Bins of a look, at most.
const BINS: usize = 64;

/// A set of outputs: those whose look falls into some bins.
pub(super) struct Event {
    /// Which look.
    pub(super) look: usize,
    /// The side that it is more likely on.
    pub(super) side: usize,
    bins: Bins,
    inside: Vec<bool>,
}

impl Event {
    pub(super) fn contains(&self, looks: &[f64]) -> bool {
        self.inside[self.bins.of(looks[self.look])]
    }

    /// The event for people, if it is short.
    pub(super) fn in_words(&self) -> String {
        let edges = &self.bins.edges;
        let changes: Vec<usize> =
            (1..self.inside.len()).filter(|n| self.inside[*n] != self.inside[n - 1]).collect();
        let bins = self.inside.iter().filter(|inside| **inside).count();
        match changes[..] {
            [at] if self.inside[at] => format!("at least {:.6}", edges[at - 1]),
            [at] => format!("below {:.6}", edges[at - 1]),
            [from, to] if self.inside[from] && to == from + 1 => format!("{:.6}", edges[from - 1]),
            _ => format!("in {bins} of {} bins", self.inside.len()),
        }
    }
}

/// Looks of runs of both sides: `looks[side][run][look]`.
pub(super) type Looks = [Vec<Vec<f64>>; 2];

/// The event that promises the highest bound: bins from `first`, the choice by `second`.
pub(super) fn choose(first: &Looks, second: &Looks, alpha: f64) -> Option<Event> {
    let looks = first[0].first()?.len();
    let mut best: Option<(f64, Event)> = None;
    for look in 0..looks {
        let bins = Bins::of_values(first.iter().flatten().map(|looks| looks[look]));
        let counts = |runs: &Looks| runs.each_ref().map(|runs| bins.count(runs, look));
        let (order, choice) = (counts(first), counts(second));
        for side in 0..2 {
            let ratio =
                |n: &usize| (order[side][*n] as f64 + 0.5) / (order[1 - side][*n] as f64 + 0.5);
            let natural: Vec<usize> = (0..bins.len()).collect();
            let backward: Vec<usize> = natural.iter().rev().copied().collect();
            let mut by_ratio = natural.clone();
            by_ratio.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
            for order in [natural, backward, by_ratio] {
                let (score, head) = best_head(&order, [&choice[side], &choice[1 - side]], alpha);
                if best.as_ref().is_none_or(|(best, _)| score > *best) {
                    let mut inside = vec![false; bins.len()];
                    order[..head].iter().for_each(|n| inside[*n] = true);
                    best = Some((score, Event { look, side, bins: bins.clone(), inside }));
                }
            }
        }
    }
    best.map(|(_, event)| event)
}

/// How many bins from the head of an order promise the highest bound, and which.
fn best_head(order: &[usize], counts: [&[u64]; 2], alpha: f64) -> (f64, usize) {
    let n: u64 = counts[0].iter().sum();
    let mut hits = [0, 0];
    let mut best = (f64::NEG_INFINITY, 0);
    for (head, bin) in order.iter().enumerate() {
        hits = [hits[0] + counts[0][*bin], hits[1] + counts[1][*bin]];
        let score = bound::promise(hits, n, alpha);
        if score > best.0 {
            best = (score, head + 1);
        }
    }
    best
}

/// Where bins begin; the first begins nowhere.
#[derive(Clone)]
struct Bins {
    edges: Vec<f64>,
}

impl Bins {
    /// Bins of about the same number of values. A value that is frequent has a bin of its own.
    fn of_values(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut edges: Vec<f64> = (1..BINS)
            .filter_map(|n| values.get(n * values.len() / BINS).copied())
            .flat_map(|value| [value, value.next_up()])
            .collect();
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup_by(|a, b| a.total_cmp(b).is_eq());
        Self { edges }
    }

    fn len(&self) -> usize {
        self.edges.len() + 1
    }

    fn of(&self, value: f64) -> usize {
        self.edges.partition_point(|edge| edge.total_cmp(&value).is_le())
    }

    fn count(&self, runs: &[Vec<f64>], look: usize) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        runs.iter().for_each(|looks| counts[self.of(looks[look])] += 1);
        counts
    }
}
