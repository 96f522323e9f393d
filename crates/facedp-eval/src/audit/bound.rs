//! From counts to a lower bound on epsilon.
//!
//! Under eps-differential privacy, `Pr[event | a] <= e^eps Pr[event | b]` for every event. So a lower
//! bound of the one and an upper bound of the other (Clopper and Pearson 1934, which never fall short
//! of their confidence) bound epsilon from below.

use statrs::function::beta::inv_beta_reg;

/// A lower bound of a probability of which `hits` of `n` trials were hits, wrong with a chance of at
/// most `alpha`.
pub fn at_least(hits: u64, n: u64, alpha: f64) -> f64 {
    if hits == 0 { 0.0 } else { inv_beta_reg(hits as f64, (n - hits + 1) as f64, alpha) }
}

/// An upper bound, likewise.
pub fn at_most(hits: u64, n: u64, alpha: f64) -> f64 {
    if hits == n { 1.0 } else { inv_beta_reg((hits + 1) as f64, (n - hits) as f64, 1.0 - alpha) }
}

/// A lower bound of epsilon from the hits of an event on either side, in `n` runs each: wrong with a
/// chance of at most `alpha`.
pub fn epsilon(hits: [u64; 2], n: u64, alpha: f64) -> f64 {
    let (low, high) = (at_least(hits[0], n, alpha / 2.0), at_most(hits[1], n, alpha / 2.0));
    (low / high).ln().max(0.0)
}

/// The bound that the Laplace mechanism of that epsilon would get from its best event, if hits were as
/// expected: more can hardly be hoped for from so many runs.
pub fn attainable(claimed: f64, n: u64, alpha: f64) -> f64 {
    let hits = |probability: f64| (probability * n as f64).round() as u64;
    // All outputs below a point between both inputs.
    let bound = |share: f64| {
        let (low, high) = ((-claimed * share).exp(), (-claimed * (1.0 - share)).exp());
        epsilon([hits(1.0 - 0.5 * low), hits(0.5 * high)], n, alpha)
    };
    (0..=50).map(|n| bound(f64::from(n) / 50.0)).fold(0.0, f64::max)
}

/// The least number of runs a side at which an event of these rates would refute a claim, half of the
/// runs being spent on choosing the event; none if it never does.
pub fn runs_needed(rates: [f64; 2], claimed: f64, alpha: f64) -> Option<u64> {
    let refutes = |n: u64| {
        let hits = rates.map(|rate| (rate * n as f64).round() as u64);
        epsilon(hits, n, alpha) > claimed
    };
    let enough = (2..40).map(|bits| 1u64 << bits).find(|n| refutes(*n))?;
    let (mut low, mut high) = (enough / 2, enough);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if refutes(middle) { high = middle } else { low = middle }
    }
    Some(2 * high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.beta.ppf, SciPy 1.17.1.
    #[test]
    fn clopper_pearson_intervals_are_those_of_scipy() {
        for (hits, n, alpha, low, high) in SCIPY {
            let found = (at_least(hits, n, alpha), at_most(hits, n, alpha));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.max(1e-12);
            assert!(near(found.0, low) && near(found.1, high), "{hits} of {n}: {found:?}");
        }
    }

    const SCIPY: [(u64, u64, f64, f64, f64); 9] = [
        (0, 10, 0.025, 0.0, 0.3084971078187607),
        (10, 10, 0.025, 0.6915028921812392, 1.0),
        (3, 10, 0.05, 0.08726443391415033, 0.6066242161054123),
        (7, 7, 0.0125, 0.5347244000266966, 1.0),
        (5000, 50000, 0.003, 0.09634657982181288, 0.10373961180141705),
        (250000, 500000, 0.0001, 0.49736927774373363, 0.5026307222562664),
        (84, 500000, 1e-05, 0.00010096229373769659, 0.00026034567115760957),
        (499990, 500000, 0.01, 0.9999597110482842, 0.9999917395614406),
        (1, 50000, 1e-06, 2.0000009999806667e-11, 0.0003337160580485963),
    ];

    /// FINDINGS of the prototype: 7 runs a side are enough for a perfect distinguisher at 0.2 and 95 %.
    #[test]
    fn few_runs_refute_what_is_plainly_wrong() {
        assert!(epsilon([7, 0], 7, 0.05) > 0.2 && epsilon([6, 0], 6, 0.05) < 0.2);
        assert_eq!(runs_needed([1.0, 0.0], 0.2, 0.05), Some(14));
        assert_eq!(runs_needed([0.5, 0.5], 0.2, 0.05), None);
        let attainable = [1e4, 1e5, 1e6].map(|n| attainable(0.2, n as u64, 0.05));
        assert!((attainable[0] - 0.157).abs() < 0.01 && (attainable[2] - 0.196).abs() < 2e-3);
    }
}
