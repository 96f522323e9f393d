//! Choosing an event that tells two neighbours apart.
//!
//! Every run yields several statistics. The values of a statistic are sorted into bins, and the bins by
//! how much more often one neighbour falls into them. An event is a number of bins from the head of that
//! order, or all values on one side of a bin's edge. Three disjoint sets of runs order the bins, choose
//! the event and bound epsilon.

use super::bound;

/// Bins are separated at multiples of the `1 / BINS` quantile.
const BINS: usize = 64;

/// A set of outputs: those for which a statistic falls into certain bins.
pub(super) struct Event {
    /// The number of the statistic.
    pub(super) statistic: usize,
    /// The neighbour on which the event is more likely.
    pub(super) side: usize,
    bins: Bins,
    inside: Vec<bool>,
}

impl Event {
    pub(super) fn contains(&self, values: &[f64]) -> bool {
        self.inside[self.bins.of(values[self.statistic])]
    }

    /// The condition on the statistic, for readers; only a count of bins if there is no short form.
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

/// Statistics of the runs of both neighbours: `values[side][run][statistic]`.
pub(super) type Values = [Vec<Vec<f64>>; 2];

/// The event that promises the highest bound. `first` orders the bins, `second` chooses the event.
pub(super) fn choose(first: &Values, second: &Values, alpha: f64) -> Option<Event> {
    let statistics = first[0].first()?.len();
    let mut best: Option<(f64, Event)> = None;
    for statistic in 0..statistics {
        let bins = Bins::of_values(first.iter().flatten().map(|values| values[statistic]));
        let counts = |runs: &Values| runs.each_ref().map(|runs| bins.count(runs, statistic));
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
                    best = Some((score, Event { statistic, side, bins: bins.clone(), inside }));
                }
            }
        }
    }
    best.map(|(_, event)| event)
}

/// The highest bound that bins from the head of the order promise, and their number.
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

#[derive(Clone)]
struct Bins {
    /// Where bins begin, without the first, which is open below.
    edges: Vec<f64>,
}

impl Bins {
    /// Bins with about the same number of values each. A frequent value gets a bin of its own.
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

    fn count(&self, runs: &[Vec<f64>], statistic: usize) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        runs.iter().for_each(|values| counts[self.of(values[statistic])] += 1);
        counts
    }
}
