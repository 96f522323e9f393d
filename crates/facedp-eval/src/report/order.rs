//! Whether better-optimised scales preserve more of the picture: optimal, LMGD, NA, uniform.

use facedp::Preset;

use super::pick;
use super::style::name;
use super::text::{counted, number, short};
use crate::results::{QualityRow, Results};

/// Best first, as theory predicts.
const ORDER: [Preset; 4] = [Preset::RdpOptimal, Preset::RdpLmgd, Preset::RdpNa, Preset::Rdp];

/// Shortfalls (dB) up to this are attributed to rounding.
const ROUNDING: f64 = 0.01;

/// Shortfalls (dB) below this are invisible; the text says so.
const SMALL: f64 = 0.1;

/// A case in which the method that should be better is worse.
pub(super) struct Violation {
    better: Preset,
    worse: Preset,
    features: usize,
    epsilon: f64,
    /// The shortfall in dB.
    short: f64,
    /// Whether the intervals of the two methods are disjoint, so that chance is unlikely.
    clear: bool,
}

pub(super) struct Order {
    /// The number of comparisons.
    pub compared: usize,
    /// Largest first.
    pub violations: Vec<Violation>,
}

impl Order {
    /// By the expected squared error, which is exact.
    pub fn expected(results: &Results) -> Self {
        Self::by(results, |row| row.psnr_expected, |_, _| true)
    }

    /// By the measured mean squared error, which is subject to chance.
    pub fn measured(results: &Results) -> Self {
        let clear = |better: &QualityRow, worse: &QualityRow| better.mse.low > worse.mse.high;
        Self::by(results, |row| row.psnr_mean_mse, clear)
    }

    fn by(
        results: &Results,
        psnr: impl Fn(&QualityRow) -> Option<f64>,
        clear: impl Fn(&QualityRow, &QualityRow) -> bool,
    ) -> Self {
        let mut order = Self { compared: 0, violations: Vec::new() };
        for features in pick::features(results) {
            for epsilon in pick::budgets(results) {
                let at = |method| {
                    let row = pick::quality(results, method, features, epsilon)?;
                    Some((row, psnr(row)?))
                };
                for pair in ORDER.windows(2) {
                    let &[better, worse] = pair else { continue };
                    let (Some(high), Some(low)) = (at(better), at(worse)) else { continue };
                    order.compared += 1;
                    let short = low.1 - high.1;
                    if short > ROUNDING {
                        let clear = clear(high.0, low.0);
                        order.violations.push(Violation {
                            better,
                            worse,
                            features,
                            epsilon,
                            short,
                            clear,
                        });
                    }
                }
            }
        }
        order.violations.sort_by(|a, b| b.short.total_cmp(&a.short));
        order
    }

    /// A predicate for a sentence about the order: whether it holds, and where it does not.
    pub fn in_words(&self) -> String {
        let Some(worst) = self.violations.first() else {
            return match self.compared {
                0 => "could not be checked".to_owned(),
                n => format!("holds in {}", counted(n, "comparison", "comparisons")),
            };
        };
        let clear = self.violations.iter().filter(|violation| violation.clear).count();
        let all = counted(self.compared, "comparison", "comparisons");
        let verdict = match (clear, self.violations.len()) {
            (0, by_chance) => format!(
                "holds in {all} within chance: in {by_chance} the order is reversed, with \
                 overlapping intervals; the largest violation is"
            ),
            (clear, violations) if clear == violations => {
                format!("does not hold in {clear} of {all}; the largest violation is")
            }
            (clear, violations) => format!(
                "does not hold in {clear} of {all}; in {} more the order is reversed, with \
                 overlapping intervals; the largest violation is",
                violations - clear
            ),
        };
        format!(
            "{verdict} {} {} dB below {} ({} features, ε₀ {}){}",
            name(worst.better),
            number(worst.short, 2),
            name(worst.worse),
            worst.features,
            short(worst.epsilon),
            if worst.short < SMALL { ", so all are below 0.1 dB" } else { "" },
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::report::sample;

    #[test]
    fn the_text_says_whether_and_where() {
        let mut results = sample::results();
        let order = Order::expected(&results);
        assert!(order.in_words().starts_with("holds in "), "{}", order.in_words());
        for row in &mut results.quality {
            if row.method == Preset::RdpNa && row.features == 16 && pick::same(row.epsilon, 0.4) {
                row.psnr_expected = Some(20.0);
            }
        }
        let words = Order::expected(&results).in_words();
        assert!(words.starts_with("does not hold in 1 of "), "{words}");
        assert!(words.contains("RDP-NA") && words.contains("(16 features, ε₀ 0.4)"), "{words}");
        // A violation within the intervals counts as chance.
        let at = |results: &mut Results, method, psnr: f64| {
            let row = results.quality.iter_mut().find(|r| r.method == method && r.features == 16);
            let row = row.unwrap();
            row.psnr_mean_mse = Some(psnr);
            let mse = 65_025.0 / 10f64.powf(psnr / 10.0);
            row.mse =
                crate::results::Estimate { value: mse, low: 0.9 * mse, high: 1.1 * mse, n: 9 };
        };
        at(&mut results, Preset::RdpOptimal, 60.0);
        at(&mut results, Preset::RdpLmgd, 60.2);
        let words = Order::measured(&results).in_words();
        assert!(words.starts_with("holds in ") && words.contains("within chance"), "{words}");
        at(&mut results, Preset::RdpLmgd, 63.0);
        let words = Order::measured(&results).in_words();
        assert!(words.starts_with("does not hold in 1 of "), "{words}");
        results.quality.clear();
        let words = Order::expected(&results).in_words();
        assert_eq!(words, "could not be checked");
    }
}
