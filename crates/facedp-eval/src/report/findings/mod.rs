//! The findings of the paper, each with the result of this run and a verdict.

mod picture;
mod recognition;

use super::table::Table;
use crate::results::Results;

/// One finding of the paper.
pub(super) struct Finding {
    /// The id of the report's section that it belongs to.
    pub section: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// The result of this run.
    pub ours: String,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// True in all cases.
    Confirmed,
    /// True in some cases.
    InPart,
    /// True in no case.
    NotConfirmed,
    /// The run has no such case.
    NotMeasured,
}

impl Verdict {
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

    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::InPart => "partly confirmed",
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

pub(super) fn table(findings: &[Finding], caption: &str) -> String {
    let mut table = Table::new(3, ["the paper says", "this run", "verdict"]).with_sentences();
    for finding in findings {
        table.row([finding.claim, &finding.ours, &finding.verdict.html()]);
    }
    table.html(caption)
}

/// The table of one section's findings; empty if the section has none.
pub(super) fn of_section(results: &Results, section: &str) -> String {
    let findings: Vec<Finding> =
        all(results).into_iter().filter(|finding| finding.section == section).collect();
    if findings.is_empty() { String::new() } else { table(&findings, "Comparison with the paper.") }
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
    fn without_measurements_there_is_no_verdict() {
        let findings = all(&sample::nothing());
        assert!(findings.iter().all(|f| f.verdict == Verdict::NotMeasured));
    }

    #[test]
    fn sample_results_get_the_right_verdicts() {
        let results = sample::results();
        let verdict =
            |part: &str| all(&results).iter().find(|f| f.claim.contains(part)).map(|f| f.verdict);
        assert_eq!(verdict("not exceed 0.05"), Some(Verdict::NotConfirmed));
        assert_eq!(verdict("higher SSIM"), Some(Verdict::InPart));
        assert_eq!(verdict("about 10 dB"), Some(Verdict::InPart));
        assert_eq!(verdict("81 %"), Some(Verdict::NotConfirmed));
    }
}
