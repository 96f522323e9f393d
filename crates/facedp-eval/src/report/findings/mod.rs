//! What the paper says, one sentence at a time, beside what was found here.

mod picture;
mod recognition;

use super::table::Table;
use crate::results::Results;

/// One sentence of the paper.
pub(super) struct Finding {
    /// Which section of the report it belongs to.
    pub section: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// What was found here.
    pub ours: String,
    /// Whether that is the same.
    pub verdict: Verdict,
}

/// Whether a sentence of the paper was found to be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In all cases looked at.
    Confirmed,
    /// In some of them.
    InPart,
    /// In none.
    NotConfirmed,
    /// There was nothing to look at.
    NotMeasured,
}

impl Verdict {
    /// The verdict over several cases.
    pub fn over(cases: impl IntoIterator<Item = bool>) -> Self {
        let (mut yes, mut no) = (false, false);
        for case in cases {
            yes |= case;
            no |= !case;
        }
        match (yes, no) {
            (false, false) => Verdict::NotMeasured,
            (true, false) => Verdict::Confirmed,
            (true, true) => Verdict::InPart,
            (false, true) => Verdict::NotConfirmed,
        }
    }

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::InPart => "in part",
            Verdict::NotConfirmed => "not confirmed",
            Verdict::NotMeasured => "not measured",
        }
    }

    fn html(self) -> String {
        let (class, sign) = match self {
            Verdict::Confirmed => ("yes", "✓"),
            Verdict::InPart => ("part", "◐"),
            Verdict::NotConfirmed => ("no", "✗"),
            Verdict::NotMeasured => ("open", "·"),
        };
        format!("<span class=\"verdict {class}\">{sign} {}</span>", self.in_words())
    }
}

/// All findings, in the order of the paper.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let mut findings = picture::all(results);
    findings.extend(recognition::all(results));
    findings
}

/// Findings as a table.
pub(super) fn table(findings: &[Finding], caption: &str) -> String {
    let mut table = Table::new(3, ["the paper says", "found here", "verdict"]).of_sentences();
    for finding in findings {
        table.row([finding.claim, &finding.ours, &finding.verdict.html()]);
    }
    table.html(caption)
}

/// The findings of one section of the report, if any.
pub(super) fn of_section(results: &Results, section: &str) -> String {
    let findings: Vec<Finding> =
        all(results).into_iter().filter(|finding| finding.section == section).collect();
    if findings.is_empty() { String::new() } else { table(&findings, "Beside the paper.") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn verdicts_follow_from_the_cases() {
        assert_eq!(Verdict::over([]), Verdict::NotMeasured);
        assert_eq!(Verdict::over([true, true]), Verdict::Confirmed);
        assert_eq!(Verdict::over([true, false]), Verdict::InPart);
        assert_eq!(Verdict::over([false]), Verdict::NotConfirmed);
    }

    #[test]
    fn nothing_measured_is_nothing_claimed() {
        let findings = all(&sample::nothing());
        assert!(findings.iter().all(|f| f.verdict == Verdict::NotMeasured));
    }

    #[test]
    fn made_up_results_get_the_verdicts_they_deserve() {
        let results = sample::results();
        let verdict =
            |part: &str| all(&results).iter().find(|f| f.claim.contains(part)).map(|f| f.verdict);
        assert_eq!(verdict("not exceed 0.05"), Some(Verdict::NotConfirmed));
        assert_eq!(verdict("higher SSIM"), Some(Verdict::InPart));
        assert_eq!(verdict("about 10 dB"), Some(Verdict::InPart));
        assert_eq!(verdict("81 %"), Some(Verdict::NotConfirmed));
    }
}
