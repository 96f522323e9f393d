//! From counts to a lower bound on epsilon.
//!
//! Under eps-differential privacy, `Pr[event | a] <= e^eps Pr[event | b]` for every event. A lower bound
//! on the first probability and an upper bound on the second therefore bound epsilon from below. Both
//! bounds are Clopper and Pearson's (1934), whose coverage never falls short of the stated confidence.
//!
//! These bounds are usually computed as quantiles of the beta distribution. The search in statrs 0.19
//! does not terminate for some counts, so this module sums the binomial tail directly.

/// A lower bound on the probability of an event that occurred in `hits` of `n` trials: the probability at
/// which `hits` or more would occur with probability `alpha`. The bound is wrong with probability at most
/// `alpha`.
pub fn at_least(hits: u64, n: u64, alpha: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, hits as f64 / n as f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if tail(hits, n, middle) < alpha { low = middle } else { high = middle }
    }
    low
}

/// The matching upper bound.
pub fn at_most(hits: u64, n: u64, alpha: f64) -> f64 {
    1.0 - at_least(n - hits, n, alpha)
}

/// `Pr[at least that many hits in n trials]`, for a probability of at most `hits / n`.
fn tail(hits: u64, n: u64, probability: f64) -> f64 {
    if probability <= 0.0 || probability >= 1.0 {
        return f64::from(probability >= 1.0);
    }
    let (k, count) = (hits as f64, n as f64);
    let ways = ln_factorial(count) - ln_factorial(k) - ln_factorial(count - k);
    let first = ways + k * probability.ln() + (count - k) * (-probability).ln_1p();
    let odds = probability / (1.0 - probability);
    let (mut term, mut sum, mut at) = (1.0, 1.0, k);
    while at < count && term > 1e-17 * sum {
        term *= (count - at) / (at + 1.0) * odds;
        sum += term;
        at += 1.0;
    }
    (first + sum.ln()).exp()
}

/// `ln n!`; from 32 on by Stirling's series, which is then exact to the last bits.
fn ln_factorial(n: f64) -> f64 {
    if n < 32.0 {
        return (2..=n as u32).map(|k| f64::from(k).ln()).sum();
    }
    let inverse = 1.0 / n;
    let series =
        inverse * (1.0 / 12.0 - inverse.powi(2) * (1.0 / 360.0 - inverse.powi(2) / 1260.0));
    n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + series
}

/// A fast approximation of [`epsilon`], for choosing among many events.
pub fn promise(hits: [u64; 2], n: u64, alpha: f64) -> f64 {
    let square = -2.0 * (alpha / 2.0).ln();
    let count = n as f64;
    // Wilson's intervals.
    let ends = |hits: u64| {
        let share = hits as f64 / count;
        let centre = share + square / (2.0 * count);
        let half =
            (square * (share * (1.0 - share) / count + square / (4.0 * count * count))).sqrt();
        [centre - half, centre + half].map(|end| end / (1.0 + square / count))
    };
    let ([low, _], [_, high]) = (ends(hits[0]), ends(hits[1]));
    if low > 0.0 { (low / high).ln() } else { f64::NEG_INFINITY }
}

/// A lower bound on epsilon from the hits of an event in `n` runs of each neighbour. The bound is wrong
/// with probability at most `alpha`.
pub fn epsilon(hits: [u64; 2], n: u64, alpha: f64) -> f64 {
    let (low, high) = (at_least(hits[0], n, alpha / 2.0), at_most(hits[1], n, alpha / 2.0));
    (low / high).ln().max(0.0)
}

/// The bound that the Laplace mechanism with the claimed epsilon would reach with its best event if the
/// hits were as expected. By chance, a correct mechanism often shows a little more.
pub fn expected_bound(claimed: f64, n: u64, alpha: f64) -> f64 {
    let hits = |probability: f64| (probability * n as f64).round() as u64;
    // All outputs below a point between the two inputs.
    let event = |n: u32| {
        let share = f64::from(n) / 50.0;
        let (low, high) = ((-claimed * share).exp(), (-claimed * (1.0 - share)).exp());
        [hits(1.0 - 0.5 * low), hits(0.5 * high)]
    };
    let promise = |hits: &[u64; 2]| promise(*hits, n, alpha);
    let best = (0..=50).map(event).max_by(|a, b| promise(a).total_cmp(&promise(b)));
    best.map_or(0.0, |hits| epsilon(hits, n, alpha))
}

/// The smallest number of runs per neighbour at which an event with these rates would refute the claim.
/// Half of the runs are spent on choosing the event. `None` if more than `max` would be needed.
pub fn runs_needed(rates: [f64; 2], claimed: f64, max: u64, alpha: f64) -> Option<u64> {
    let refutes = |n: u64| {
        let hits = rates.map(|rate| (rate * n as f64).round() as u64);
        epsilon(hits, n, alpha) > claimed
    };
    let doubled = (2..40).map(|bits| 1u64 << bits).take_while(|n| *n < 2 * max);
    let enough = doubled.into_iter().find(|n| refutes(*n))?;
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

    /// 7 runs per neighbour are enough for a perfect distinguisher at epsilon 0.2 and 95 %.
    #[test]
    fn few_runs_refute_what_is_plainly_wrong() {
        assert!(epsilon([7, 0], 7, 0.05) > 0.2 && epsilon([6, 0], 6, 0.05) < 0.2);
        assert_eq!(runs_needed([1.0, 0.0], 0.2, 1000, 0.05), Some(14));
        assert_eq!(runs_needed([0.5, 0.5], 0.2, 1000, 0.05), None);
        let expected = [1e4, 1e5, 1e6].map(|n| expected_bound(0.2, n as u64, 0.05));
        assert!((expected[0] - 0.157).abs() < 0.01 && (expected[2] - 0.196).abs() < 2e-3);
    }
}
