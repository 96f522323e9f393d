//! What all releases of a photo spend together, where that can be said at all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::Entry;

/// The total cost of a photo.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Total {
    /// Releases that differ.
    pub releases: usize,
    /// How many of them are differentially private by themselves.
    pub private_releases: usize,
    /// Sum of their budgets, per face, where it bounds what all releases show together.
    pub epsilon: Option<f64>,
    /// Why there is no such bound; in words when serialised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_bound: Option<NoBound>,
}

/// Why budgets do not add up (`proofs/repeated.md`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoBound {
    /// Some releases carry no guarantee, and can show what the others hide.
    OtherMethods { methods: Vec<String> },
    /// Different parts of the photo were hidden: one release shows what another hides.
    OtherParts,
}

impl NoBound {
    pub fn in_words(&self) -> String {
        match self {
            NoBound::OtherMethods { methods } => {
                format!("no bound: {} can show what the others hide", methods.join(", "))
            }
            NoBound::OtherParts => {
                "no bound: with different outlines, together they can show what each \
                                    of them hides"
                    .to_owned()
            }
        }
    }
}

impl Serialize for NoBound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.in_words())
    }
}

impl Total {
    /// The total of the releases of one photo.
    pub(super) fn of(entries: &[&Entry]) -> Self {
        let (private, others): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| entry.claim.is_private());
        let same_parts = private.windows(2).all(|pair| pair[0].split == pair[1].split);
        let no_bound = match (others.is_empty(), same_parts) {
            (true, true) => None,
            (true, false) => Some(NoBound::OtherParts),
            (false, _) => {
                let methods: BTreeSet<String> = others.iter().map(|e| described(e)).collect();
                Some(NoBound::OtherMethods { methods: methods.into_iter().collect() })
            }
        };
        let sum = private.iter().filter_map(|entry| entry.epsilon).sum();
        Self {
            releases: entries.len(),
            private_releases: private.len(),
            epsilon: no_bound.is_none().then_some(sum),
            no_bound,
        }
    }
}

/// A release without a guarantee, for readers.
fn described(entry: &Entry) -> String {
    match entry.method.as_str() {
        "certified" => "certified with a seed".to_owned(),
        method => method.to_owned(),
    }
}

/// The totals of all photos: first those without a bound, then by descending cost.
pub fn totals(entries: &[Entry]) -> Vec<(String, Total)> {
    let mut by_photo: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_photo.entry(&entry.photo).or_default().push(entry);
    }
    let each = by_photo.into_iter();
    let mut totals: Vec<(String, Total)> =
        each.map(|(photo, entries)| (photo.to_owned(), Total::of(&entries))).collect();
    let cost = |total: &Total| total.epsilon.unwrap_or(f64::INFINITY);
    totals.sort_by(|a, b| cost(&b.1).total_cmp(&cost(&a.1)));
    totals
}

#[cfg(test)]
mod tests {
    use facedp::Claim;

    use super::*;

    fn entry(method: &str, claim: Claim, epsilon: Option<f64>) -> Entry {
        Entry { claim, epsilon, ..Entry::new(&[1; 32], method, 1) }
    }

    #[test]
    fn only_releases_with_a_guarantee_add_up() {
        let certified = |epsilon| entry("certified", Claim::EpsDpFace, Some(epsilon));
        let [first, second] = [certified(0.2), certified(0.5)];
        let total = Total::of(&[&first, &second]);
        assert_eq!((total.epsilon, total.no_bound), (Some(0.7), None));
        for (method, claim) in [
            ("none", Claim::None),
            ("steered", Claim::None),
            ("rdp-optimal", Claim::PaperAccounting),
            ("certified", Claim::None),
        ] {
            let other = entry(method, claim, Some(0.1));
            let total = Total::of(&[&first, &other, &second]);
            assert_eq!((total.releases, total.private_releases, total.epsilon), (3, 2, None));
            let words = total.no_bound.as_ref().map(NoBound::in_words);
            assert!(words.is_some_and(|words| words.contains(method)));
        }
    }
}
