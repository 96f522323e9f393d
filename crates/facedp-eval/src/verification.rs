//! Face verification: accuracy and error rates from the distances of labelled pairs.

use serde::Serialize;

use crate::statistics::{average, standard_error};

/// A labelled pair with its distance.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    /// Infinite if a picture has no face: such a pair never matches.
    pub distance: f32,
    /// Whether both pictures show the same person.
    pub same: bool,
    /// Folds are counted from 0.
    pub fold: usize,
}

/// The performance of one recogniser.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    pub name: String,
    /// Mean over folds. Each fold is judged at the best threshold of the other folds.
    pub accuracy: f64,
    /// Standard error of `accuracy` over folds.
    pub standard_error: f64,
    /// The recogniser's own threshold.
    pub standard_threshold: f32,
    pub standard_accuracy: f64,
    /// The threshold with the highest accuracy over all pairs.
    pub best_threshold: f32,
    pub best_accuracy: f64,
    /// True positive rate at a false accept rate of 1e-2.
    pub tpr_at_far_1e2: f64,
    /// True positive rate at a false accept rate of 1e-3.
    pub tpr_at_far_1e3: f64,
    pub threshold_at_far_1e2: f32,
    pub threshold_at_far_1e3: f32,
}

impl Verification {
    pub fn new(name: &str, standard_threshold: f32, pairs: &[Scored]) -> Self {
        let folds = pairs.iter().map(|p| p.fold + 1).max().unwrap_or(1);
        let by_fold: Vec<f64> = (0..folds)
            .map(|fold| {
                let (test, rest): (Vec<Scored>, Vec<Scored>) =
                    pairs.iter().partition(|pair| pair.fold == fold);
                accuracy(&test, best_threshold(&rest))
            })
            .collect();
        let best_threshold = best_threshold(pairs);
        let (threshold_at_far_1e2, tpr_at_far_1e2) = at_far(pairs, 1e-2);
        let (threshold_at_far_1e3, tpr_at_far_1e3) = at_far(pairs, 1e-3);
        Self {
            name: name.to_owned(),
            accuracy: average(&by_fold),
            standard_error: standard_error(&by_fold),
            standard_threshold,
            standard_accuracy: accuracy(pairs, standard_threshold),
            best_threshold,
            best_accuracy: accuracy(pairs, best_threshold),
            tpr_at_far_1e2,
            tpr_at_far_1e3,
            threshold_at_far_1e2,
            threshold_at_far_1e3,
        }
    }
}

/// Share of pairs judged correctly if distances up to the threshold match.
fn accuracy(pairs: &[Scored], threshold: f32) -> f64 {
    let right = pairs.iter().filter(|pair| (pair.distance <= threshold) == pair.same).count();
    right as f64 / pairs.len().max(1) as f64
}

/// The threshold with the highest accuracy: halfway between two neighbouring distances.
fn best_threshold(pairs: &[Scored]) -> f32 {
    let mut sorted: Vec<Scored> =
        pairs.iter().filter(|p| p.distance.is_finite()).copied().collect();
    sorted.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    // Accept one more pair at a time: a pair of one person gains, a pair of two people loses.
    let (mut gained, mut best) = (0i64, (0i64, f32::MIN));
    for (i, pair) in sorted.iter().enumerate() {
        gained += if pair.same { 1 } else { -1 };
        let next = sorted.get(i + 1).map_or(pair.distance, |next| next.distance);
        if gained > best.0 && (next > pair.distance || i + 1 == sorted.len()) {
            best = (gained, (pair.distance + next) / 2.0);
        }
    }
    best.1
}

/// The largest threshold at which the false accept rate is at most `far`, and the true positive rate
/// there.
fn at_far(pairs: &[Scored], far: f64) -> (f32, f64) {
    let mut false_pairs: Vec<f32> =
        pairs.iter().filter(|pair| !pair.same).map(|pair| pair.distance).collect();
    false_pairs.sort_by(f32::total_cmp);
    let allowed = (far * false_pairs.len() as f64) as usize;
    // Just below the first false pair that must be rejected.
    let threshold = false_pairs.get(allowed).map_or(f32::MAX, |distance| distance.next_down());
    let same = pairs.iter().filter(|pair| pair.same);
    let accepted = same.clone().filter(|pair| pair.distance <= threshold).count();
    (threshold, accepted as f64 / same.count().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_rates() {
        let scored = |distance, same, fold| Scored { distance, same, fold };
        let pairs = [
            scored(0.1, true, 0),
            scored(0.3, true, 0),
            scored(0.6, true, 1),
            scored(f32::INFINITY, true, 1),
            scored(0.5, false, 0),
            scored(0.75, false, 0),
            scored(0.8, false, 1),
            scored(0.9, false, 1),
        ];
        assert_eq!(accuracy(&pairs, 0.4), 6.0 / 8.0);
        assert_eq!(best_threshold(&pairs), 0.4);
        let (threshold, tpr) = at_far(&pairs, 0.25); // one of four may pass
        assert!(threshold > 0.74 && threshold < 0.75);
        assert_eq!(tpr, 0.75);
        let (threshold, tpr) = at_far(&pairs, 1e-3);
        assert!(threshold < 0.5 && threshold > 0.49);
        assert_eq!(tpr, 0.5);
        let all = Verification::new("test", 0.65, &pairs);
        assert_eq!(all.standard_accuracy, 6.0 / 8.0);
        // Fold 0 is judged at the best threshold of fold 1 (0.7) and the reverse (0.4).
        assert!((all.accuracy - 0.5 * (0.75 + 0.5)).abs() < 1e-9, "{}", all.accuracy);
    }
}
