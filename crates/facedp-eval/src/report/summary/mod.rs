//! The results in plain words, for readers who read nothing else.

mod attackers;
mod picture;

use super::findings::{self, Verdict};
use crate::results::Results;

/// The sentences, as markup.
pub(super) fn sentences(results: &Results) -> Vec<String> {
    let picture = [picture::best(results), picture::order(results), picture::unchanged(results)];
    let attackers =
        [attackers::attacks(results), attackers::averaging(results), attackers::gallery(results)];
    let mut sentences: Vec<String> = picture.into_iter().flatten().collect();
    sentences.extend(self::attackers::recognition(results));
    sentences.extend(attackers.into_iter().flatten());
    sentences.push(paper(results));
    sentences
}

/// The paper's findings, counted; the table follows.
fn paper(results: &Results) -> String {
    let findings = findings::all(results);
    let of = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
    let part = |verdict: Verdict| format!("{} {}", of(verdict), verdict.in_words());
    format!(
        "<b>Does the paper’s evaluation stand?</b> Of {} findings, {}, {}, {}, {} (table below).",
        findings.len(),
        part(Verdict::Confirmed),
        part(Verdict::InPart),
        part(Verdict::NotConfirmed),
        part(Verdict::NotMeasured),
    )
}

#[cfg(test)]
mod tests {
    use super::sentences;
    use crate::report::sample;

    #[test]
    fn says_what_the_results_say() {
        let all = sentences(&sample::results()).join("\n");
        for words in [
            "with 4 features it is RDP-optimal",
            "By expected squared error it holds",
            "At ε₀ 0.2, after rounding",
            "Does dlib still match noisy photos?</b> Under its rule “standard”, at 40 dB",
            "all 16 are the same and averaging gains 0.0 dB",
            "findings",
        ] {
            assert!(all.contains(words), "{words}: {all}");
        }
    }

    #[test]
    fn has_little_to_say_about_nothing() {
        assert_eq!(sentences(&sample::nothing()).len(), 1);
    }
}
