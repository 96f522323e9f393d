//! Blocks: which features share noise, and how the budget is split among them.
//!
//! In a block of m features with budget eps, K-norm noise has a variance of
//! `(m+1)(m+2)/3 * Delta_i^2 / eps^2` in each feature. A single feature can have staircase noise instead.
//! Without a prior, the cost is the sum of these variances. It is
//! least when budgets are proportional to the cube roots of `(m+1)(m+2)/3 * sum Delta_i^2`, so the
//! best blocks have the least sum of cube roots. With a public prior of variance `tau_i^2`, the cost
//! is the error that remains after shrinking, `tau^2 v / (tau^2 + v)`. It is not convex in eps: a
//! feature that its noise would drown is better left without a budget. Both problems are solved by
//! dynamic programming over features in the order of their widths.

use std::ops::Range;

use super::Mechanism;
use crate::noise::best_staircase;

/// Features in the order in which they are put into blocks.
#[derive(Debug, Clone)]
pub(super) struct Items {
    /// `Delta_i^2`.
    pub(super) widths: Vec<f64>,
    /// `tau_i^2`; `None` if features are not shrunk.
    pub(super) spreads: Option<Vec<f64>>,
    /// The maximum number of features that share noise.
    pub(super) max_block: usize,
    pub(super) mechanism: Mechanism,
}

/// A block and its budget.
pub(super) type Share = (Range<usize>, f64);

/// The variance of K-norm noise on a feature of width 1 in a block of m features with a budget of 1.
pub(super) fn variance(m: usize) -> f64 {
    ((m + 1) * (m + 2)) as f64 / 3.0
}

/// The variance of the noise on a feature of width 1 in a block of m features, and the first step of the
/// staircase if that is the noise.
pub(super) fn noise(mechanism: Mechanism, m: usize, epsilon: f64) -> (f64, Option<f64>) {
    let knorm = variance(m) / (epsilon * epsilon);
    if m > 1 || matches!(mechanism, Mechanism::Knorm | Mechanism::Laplace) {
        return (knorm, None);
    }
    let (share, staircase) = best_staircase(epsilon);
    match mechanism == Mechanism::Staircase || staircase < knorm {
        true => (staircase, Some(share)),
        false => (knorm, None),
    }
}

impl Items {
    fn len(&self) -> usize {
        self.widths.len()
    }

    /// The expected squared error of a block; with a budget of 0, that of the prior.
    fn cost(&self, block: Range<usize>, epsilon: f64) -> f64 {
        if epsilon == 0.0 && self.spreads.is_some() {
            return self.prior_cost(block);
        }
        let (factor, _) = noise(self.mechanism, block.len(), epsilon);
        let noise = self.widths[block.clone()].iter().map(|width| factor * width);
        match &self.spreads {
            None => noise.sum(),
            Some(spreads) => {
                let spreads = &spreads[block];
                noise.zip(spreads).map(|(noise, spread)| spread * noise / (spread + noise)).sum()
            }
        }
    }

    /// The expected squared error of the prior alone.
    fn prior_cost(&self, block: Range<usize>) -> f64 {
        self.spreads.as_ref().map_or(f64::INFINITY, |spreads| spreads[block].iter().sum())
    }

    /// The expected squared error of all features.
    pub(super) fn total(&self, shares: &[Share]) -> f64 {
        let given = shares.iter().map(|(block, epsilon)| self.cost(block.clone(), *epsilon));
        let mut rest = self.spreads.clone().unwrap_or_default();
        let covered = shares.iter().flat_map(|(block, _)| block.clone());
        covered.for_each(|n| rest.get_mut(n).into_iter().for_each(|spread| *spread = 0.0));
        given.sum::<f64>() + rest.iter().sum::<f64>()
    }

    /// The best blocks and budgets found, from public values alone (proofs/face.md). Never worse than
    /// single features with equal budgets, or with budgets proportional to `Delta^(2/3)`.
    pub(super) fn best(&self, epsilon: f64) -> Vec<Share> {
        let one_by_one = |share: &dyn Fn(usize) -> f64| -> Vec<Share> {
            let sum: f64 = (0..self.len()).map(share).sum();
            (0..self.len()).map(|n| (n..n + 1, epsilon * share(n) / sum)).collect()
        };
        let mut found = vec![
            one_by_one(&|_| 1.0),
            one_by_one(&|n| self.widths[n].cbrt()),
            by_cube_roots(&Self { spreads: None, ..self.clone() }, epsilon),
        ];
        if self.spreads.is_some() {
            found.push(self.polished(on_grid(self, epsilon, self.units())));
        }
        let best = found.into_iter().min_by(|a, b| self.total(a).total_cmp(&self.total(b)));
        best.unwrap_or_default()
    }

    /// The number of parts into which the grid search divides the budget.
    fn units(&self) -> usize {
        if self.max_block == 1 { 1024 } else { 256 }
    }

    /// Moves budget between blocks as long as the cost falls.
    fn polished(&self, mut shares: Vec<Share>) -> Vec<Share> {
        let whole: f64 = shares.iter().map(|(_, epsilon)| epsilon).sum();
        let cost = |(block, epsilon): &Share| self.cost(block.clone(), *epsilon);
        let mut step = whole / self.units() as f64;
        while step > 1e-5 * whole {
            let gain = |share: &Share, by: f64| {
                cost(share) - cost(&(share.0.clone(), (share.1 + by).max(0.0)))
            };
            let gains = |by: f64| shares.iter().enumerate().map(move |(n, _)| (n, by));
            let best = |by: f64, among: &dyn Fn(usize) -> bool| {
                let each = gains(by).filter(|(n, _)| among(*n));
                let each = each.map(|(n, by)| (n, gain(&shares[n], by)));
                each.max_by(|a, b| a.1.total_cmp(&b.1))
            };
            let to = best(step, &|_| true);
            let from = best(-step, &|n| Some(n) != to.map(|(to, _)| to) && shares[n].1 >= step);
            match (from, to) {
                (Some((from, loss)), Some((to, gain))) if gain + loss > 1e-12 * gain => {
                    shares[from].1 -= step;
                    shares[to].1 += step;
                }
                _ => step /= 2.0,
            }
        }
        shares.retain(|(_, epsilon)| *epsilon > 0.0);
        shares
    }
}

/// The best blocks and budgets without a prior.
fn by_cube_roots(items: &Items, epsilon: f64) -> Vec<Share> {
    let count = items.len();
    // For the features before each end: the least sum of cube roots, and the start of its last block.
    let mut best = vec![(0.0, 0); count + 1];
    for end in 1..=count {
        let mut sum = 0.0;
        best[end].0 = f64::INFINITY;
        for start in (end.saturating_sub(items.max_block)..end).rev() {
            sum += items.widths[start];
            let root = (variance(end - start) * sum).cbrt();
            if best[start].0 + root < best[end].0 {
                best[end] = (best[start].0 + root, start);
            }
        }
    }
    let mut shares = Vec::new();
    let mut end = count;
    while end > 0 {
        let start = best[end].1;
        shares.push((start..end, epsilon * (best[end].0 - best[start].0) / best[count].0));
        end = start;
    }
    shares.reverse();
    shares
}

/// The best blocks and budgets, with budgets on a grid of `units` parts.
fn on_grid(items: &Items, epsilon: f64, units: usize) -> Vec<Share> {
    let borders = borders(items.len(), items.max_block);
    let last = borders.len() - 1;
    // For the features before each border and each number of parts: the least cost, and the first border
    // and the parts of the last block.
    let mut best = vec![vec![(0.0, 0, 0); units + 1]; last + 1];
    for end in 1..=last {
        let mut row = vec![(f64::INFINITY, 0, 0); units + 1];
        for start in (0..end).rev() {
            let block = borders[start]..borders[end];
            if block.len() > items.max_block {
                break;
            }
            for part in 0..=units {
                let cost = items.cost(block.clone(), epsilon * part as f64 / units as f64);
                for (at, before) in best[start][..=units - part].iter().enumerate() {
                    let total = before.0 + cost;
                    let entry = &mut row[at + part];
                    if total < entry.0 {
                        *entry = (total, start, part);
                    }
                }
            }
        }
        best[end] = row;
    }
    let (mut end, mut left) = (last, units);
    let mut shares = Vec::new();
    while end > 0 {
        let (_, start, part) = best[end][left];
        shares.push((borders[start]..borders[end], epsilon * part as f64 / units as f64));
        (end, left) = (start, left - part);
    }
    shares.reverse();
    shares
}

/// Where blocks may start and end: at every feature at first, at fewer later on, but never so far apart that no
/// block is short enough.
fn borders(count: usize, max_block: usize) -> Vec<usize> {
    let mut borders = vec![0];
    let mut at = 0;
    while at < count {
        at = (at + (at / 32).clamp(1, max_block)).min(count);
        borders.push(at);
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(shrink: bool, max_block: usize) -> Items {
        let widths: Vec<f64> = [4100.0, 3000.0, 1900.0, 700.0].map(|w: f64| w * w).to_vec();
        let spreads = shrink.then(|| [800.0, 400.0, 390.0, 90.0].map(|s: f64| s * s).to_vec());
        Items { widths, spreads, max_block, mechanism: Mechanism::Best }
    }

    /// All ways to cut `count` features into blocks.
    fn cuts(count: usize) -> Vec<Vec<Range<usize>>> {
        let cut = |mask: usize| {
            let mut blocks = Vec::new();
            let mut start = 0;
            for end in 1..=count {
                if end == count || mask >> (end - 1) & 1 == 1 {
                    blocks.push(start..end);
                    start = end;
                }
            }
            blocks
        };
        (0..1 << (count - 1)).map(cut).collect()
    }

    /// The least cost over all splits of `units` parts among `blocks`.
    fn lowest_cost(
        items: &Items,
        blocks: &[Range<usize>],
        epsilon: f64,
        units: usize,
        all: usize,
    ) -> f64 {
        let Some((first, rest)) = blocks.split_first() else { return 0.0 };
        let each = (0..=units).map(|part| {
            let share = epsilon * part as f64 / all as f64;
            items.cost(first.clone(), share) + lowest_cost(items, rest, epsilon, units - part, all)
        });
        each.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn dynamic_programming_finds_what_brute_force_finds() {
        for epsilon in [0.2, 2.0, 20.0, 200.0] {
            for max_block in [1, 2, 4] {
                let items = items(true, max_block);
                let allowed =
                    |blocks: &Vec<Range<usize>>| blocks.iter().all(|b| b.len() <= max_block);
                let brute = cuts(4).into_iter().filter(allowed);
                let brute = brute.map(|blocks| lowest_cost(&items, &blocks, epsilon, 24, 24));
                let brute = brute.fold(f64::INFINITY, f64::min);
                let found = items.total(&on_grid(&items, epsilon, 24));
                assert!(
                    (found / brute - 1.0).abs() < 1e-12,
                    "{epsilon} {max_block}: {found} {brute}"
                );
            }
        }
    }

    /// Beyond 64 features, not every feature is a border; blocks must be found all the same.
    #[test]
    fn many_features_get_budgets_too() {
        let squares = |from: f64| (0..200).map(|n| (from / f64::from(n + 1)).powi(2)).collect();
        for max_block in [1, 2, 3] {
            let (widths, spreads) = (squares(4000.0), Some(squares(1500.0)));
            let items = Items { widths, spreads, max_block, mechanism: Mechanism::Best };
            let found = on_grid(&items, 60.0, 200);
            let ends: Vec<usize> = found.iter().map(|(block, _)| block.end).collect();
            let starts: Vec<usize> = found.iter().map(|(block, _)| block.start).collect();
            assert_eq!(([0].as_slice(), &ends[..ends.len() - 1]), starts.split_at(1));
            assert!(found.iter().all(|(block, _)| block.len() <= max_block));
            let rules: [&dyn Fn(usize) -> f64; 2] =
                [&|_| 1.0, &|n| if n < 100 { 1.0 } else { 0.0 }];
            for rule in rules {
                let whole: f64 = (0..200).map(rule).sum();
                let share = |n: usize| (n..n + 1, 60.0 * rule(n) / whole);
                let given: Vec<Share> = (0..200).map(share).filter(|(_, e)| *e > 0.0).collect();
                assert!(items.total(&found) < items.total(&given), "{max_block}");
            }
        }
    }

    #[test]
    fn cube_roots_are_the_best_split_without_a_prior() {
        for max_block in [1, 2, 4] {
            let items = Items { mechanism: Mechanism::Knorm, ..items(false, max_block) };
            let best = items.total(&by_cube_roots(&items, 0.2));
            let allowed = |blocks: &Vec<Range<usize>>| blocks.iter().all(|b| b.len() <= max_block);
            for blocks in cuts(4).into_iter().filter(allowed) {
                let grid = lowest_cost(&items, &blocks, 0.2, 40, 40);
                assert!(best <= grid * (1.0 + 1e-12), "{max_block} {blocks:?}: {best} {grid}");
            }
        }
    }

    #[test]
    fn budgets_add_up_and_no_simple_rule_is_better() {
        for (shrink, epsilon) in [(false, 0.2), (true, 0.2), (true, 4.0), (true, 64.0)] {
            for max_block in [1, 4] {
                let items = items(shrink, max_block);
                let best = items.best(epsilon);
                let sum: f64 = best.iter().map(|(_, share)| share).sum();
                assert!(sum <= epsilon * (1.0 + 1e-9), "{sum}");
                let equal: Vec<Share> = (0..4).map(|n| (n..n + 1, epsilon / 4.0)).collect();
                let roots: f64 = items.widths.iter().map(|w| w.cbrt()).sum();
                let rule = |n: usize| (n..n + 1, epsilon * items.widths[n].cbrt() / roots);
                let rule: Vec<Share> = (0..4).map(rule).collect();
                let cost = items.total(&best);
                assert!(cost <= items.total(&equal) && cost <= items.total(&rule));
            }
        }
    }
}
