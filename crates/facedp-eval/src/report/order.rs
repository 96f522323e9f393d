//! Whether more work on the scales keeps more of the picture: optimal, LMGD, NA, uniform.

use facedp::Preset;

use super::look::name;
use super::pick;
use super::text::{counted, number, short};
use crate::results::{QualityRow, Results};

/// Best first, as theory has it.
const ORDER: [Preset; 4] = [Preset::RdpOptimal, Preset::RdpLmgd, Preset::RdpNa, Preset::Rdp];

/// Shortfalls (dB) up to this are rounding.
const ROUNDING: f64 = 0.01;

/// Shortfalls (dB) below this are remarked on: nobody could see them.
const SMALL: f64 = 0.1;

/// A place where a method that should be better is worse.
pub(super) struct Breach {
    better: Preset,
    worse: Preset,
    features: usize,
    epsilon: f64,
    /// By how much (dB).
    short: f64,
}

/// What was found of the order.
pub(super) struct Order {
    /// Comparisons that could be made.
    pub compared: usize,
    /// Those that went the wrong way, the worst first.
    pub breaches: Vec<Breach>,
}

impl Order {
    /// By a PSNR of each row.
    pub fn by(results: &Results, psnr: impl Fn(&QualityRow) -> Option<f64>) -> Self {
        let mut order = Self { compared: 0, breaches: Vec::new() };
        for features in pick::features(results) {
            for epsilon in pick::budgets(results) {
                let at = |method| pick::quality(results, method, features, epsilon).and_then(&psnr);
                for pair in ORDER.windows(2) {
                    let &[better, worse] = pair else { continue };
                    let (Some(high), Some(low)) = (at(better), at(worse)) else { continue };
                    order.compared += 1;
                    let short = low - high;
                    if short > ROUNDING {
                        order.breaches.push(Breach { better, worse, features, epsilon, short });
                    }
                }
            }
        }
        order.breaches.sort_by(|a, b| b.short.total_cmp(&a.short));
        order
    }

    /// In words: whether it holds, and where not.
    pub fn in_words(&self) -> String {
        let Some(worst) = self.breaches.first() else {
            return match self.compared {
                0 => "could not be checked".to_owned(),
                n => format!("holds in {}", counted(n, "comparison", "comparisons")),
            };
        };
        format!(
            "does not hold in {} of {}; the largest breach is {} {} dB below {} \
             ({} features, ε₀ {}){}",
            self.breaches.len(),
            counted(self.compared, "comparison", "comparisons"),
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
    use super::*;
    use crate::report::sample;

    #[test]
    fn says_whether_and_where() {
        let mut results = sample::results();
        let order = Order::by(&results, |row| row.psnr_expected);
        assert!(order.in_words().starts_with("holds in "), "{}", order.in_words());
        for row in &mut results.quality {
            if row.method == Preset::RdpNa && row.features == 16 && pick::same(row.epsilon, 0.4) {
                row.psnr_expected = Some(20.0);
            }
        }
        let words = Order::by(&results, |row| row.psnr_expected).in_words();
        assert!(words.starts_with("does not hold in 1 of "), "{words}");
        assert!(words.contains("RDP-NA") && words.contains("(16 features, ε₀ 0.4)"), "{words}");
        results.quality.clear();
        let words = Order::by(&results, |row| row.psnr_expected).in_words();
        assert_eq!(words, "could not be checked");
    }
}
