//! The results in a few sentences, for readers who read nothing else.

mod attackers;
mod picture;

use super::findings::{self, Verdict};
use crate::results::Results;

/// Sentences, as markup.
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

/// The number of the paper's findings by verdict.
fn paper(results: &Results) -> String {
    let findings = findings::all(results);
    let of = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
    let part = |verdict: Verdict| format!("{} {}", of(verdict), verdict.in_words());
    format!(
        "<b>Are the paper’s findings confirmed?</b> {} findings: {}, {}, {}, {} (table below).",
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
    fn sentences_state_the_results() {
        let all = sentences(&sample::results()).join("\n");
        for words in [
            "RDP-optimal with 4 features (65.1 dB",
            "By expected squared error it holds",
            "At ε₀ 0.2, after rounding",
            "Does dlib still match noisy photos?</b> Under the rule “standard”, the miss rate at 40 dB is",
            "all 16 releases are equal, and averaging gains 0.0 dB",
            "findings",
        ] {
            assert!(all.contains(words), "{words}: {all}");
        }
    }

    /// The program prints the sentences of the page.
    #[test]
    fn sentences_can_be_read_without_a_browser() {
        let all = crate::report::in_words(&sample::results()).join("\n");
        assert!(all.contains("Does dlib still match noisy photos? Under the rule"), "{all}");
        assert!(!all.contains(['<', '>']) && !all.contains("&#"), "{all}");
        assert_eq!(crate::report::text::unmarked("<b>a</b> &lt;b&gt; &amp;lt;"), "a <b> &lt;");
    }

    #[test]
    fn without_results_only_the_findings_are_counted() {
        assert_eq!(sentences(&sample::nothing()).len(), 1);
    }
}
