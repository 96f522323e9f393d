//! The findings of the paper, each with the result of this run and a verdict.

mod picture;
mod recognition;

use facedp::Preset;

use super::pick;
use super::style::name;
use super::table::Table;
use super::text::list;
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

    /// The verdict on a finding about methods of which some did not run: what was not measured cannot be
    /// confirmed.
    fn without(self, missing: bool) -> Self {
        match self {
            Verdict::Confirmed if missing => Verdict::InPart,
            other => other,
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

impl Finding {
    /// A finding about `methods`, judged by those among them that `measured` knows. It names the others.
    fn about(
        self,
        methods: impl IntoIterator<Item = Preset>,
        measured: impl Fn(Preset) -> bool,
    ) -> Self {
        let missing: Vec<String> = methods
            .into_iter()
            .filter(|method| !measured(*method))
            .map(|method| name(method).to_owned())
            .collect();
        if missing.is_empty() || self.verdict == Verdict::NotMeasured {
            return self;
        }
        let ours = format!("{}; not measured: {}", self.ours, list(&missing));
        Self { ours, verdict: self.verdict.without(true), ..self }
    }

    /// The finding with what it would be for our versions of the methods, which do not decide.
    fn beside(self, ours: Finding) -> Self {
        if ours.verdict == Verdict::NotMeasured {
            return self;
        }
        let own = match self.verdict {
            Verdict::NotMeasured => "as printed: not measured".to_owned(),
            _ => format!("as printed: {}", self.ours),
        };
        let verdict = ours.verdict.in_words();
        Self { ours: format!("{own}. Our versions: {} ({verdict})", ours.ours), ..self }
    }
}

/// Whether the quality of a method was measured.
fn has_quality(results: &Results) -> impl Fn(Preset) -> bool {
    let known: Vec<Preset> = pick::default_ranking(results).map(|row| row.method).collect();
    move |method| known.contains(&method)
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
        assert_eq!(verdict("higher SSIM"), Some(Verdict::NotConfirmed));
        assert_eq!(verdict("about 10 dB"), Some(Verdict::NotConfirmed));
        assert_eq!(verdict("81 %"), Some(Verdict::NotConfirmed));
    }

    /// Methods that a finding is about, by a part of its text.
    const ABOUT: [(&str, &[Preset]); 9] = [
        ("not exceed 0.05", &[Preset::RdpNaLiteral, Preset::RdpLmgdLiteral]),
        ("never more than 0.15", &[Preset::Rdp]),
        ("between 0.05 and 0.15", &[Preset::DctDp, Preset::PixelDp]),
        ("less than 4.0", &[Preset::RdpNaLiteral, Preset::RdpLmgdLiteral]),
        ("about 4.75", &[Preset::DctDp, Preset::PixelDp, Preset::Rdp]),
        ("slightly less", &[Preset::RdpNaLiteral, Preset::RdpLmgdLiteral]),
        ("higher SSIM", &ALL_OF_THE_PAPER),
        ("exceeds 50 dB", &[Preset::RdpNaLiteral, Preset::RdpLmgdLiteral]),
        ("81 %", &ALL_OF_THE_PAPER),
    ];
    const ALL_OF_THE_PAPER: [Preset; 5] =
        [Preset::PixelDp, Preset::DctDp, Preset::Rdp, Preset::RdpNaLiteral, Preset::RdpLmgdLiteral];

    /// Whichever methods ran: a finding is confirmed only if all methods that it is about did, and those
    /// that did not are named.
    #[test]
    fn no_verdict_over_methods_that_never_ran() {
        // Results that agree with the paper, so that nothing hides behind "not confirmed".
        let mut agreeing = sample::results();
        for row in &mut agreeing.quality {
            let proposed = matches!(row.method, Preset::RdpNaLiteral | Preset::RdpLmgdLiteral);
            row.difference.value = if proposed { 0.01 } else { 0.1 };
            let lmgd = row.method == Preset::RdpLmgdLiteral;
            let dct = row.method == Preset::DctDp;
            row.log10_variance.value = match (proposed, dct) {
                (true, _) => 3.0 - 0.1 * f64::from(u8::from(lmgd)),
                (_, true) => 4.75,
                _ => 5.0,
            };
            row.ssim.value = if proposed { 0.999 } else { 0.9 };
            row.psnr_mean_mse = Some(if proposed { 60.0 } else { 42.0 });
            row.psnr_expected = row.psnr_mean_mse;
        }
        for row in &mut agreeing.recognition {
            let proposed = matches!(row.method, Preset::RdpNaLiteral | Preset::RdpLmgdLiteral);
            let rate = if proposed { 0.8 } else { 0.3 };
            row.self_fnr = crate::results::Estimate { value: rate, low: rate, high: rate, n: 100 };
        }
        for subset in 0u32..1 << Preset::ALL.len() {
            let ran = |method: Preset| {
                let at = Preset::ALL.iter().position(|m| *m == method).unwrap_or(0);
                subset >> at & 1 == 1
            };
            let mut results = agreeing.clone();
            results.quality.retain(|row| ran(row.method));
            results.recognition.retain(|row| ran(row.method));
            let findings = all(&results);
            for (part, methods) in ABOUT {
                let Some(finding) = findings.iter().find(|f| f.claim.contains(part)) else {
                    unreachable!("{part}")
                };
                let missing: Vec<Preset> = methods.iter().copied().filter(|m| !ran(*m)).collect();
                match finding.verdict {
                    Verdict::Confirmed => assert!(missing.is_empty(), "{part} {subset:b}"),
                    Verdict::NotMeasured => assert!(!missing.is_empty(), "{part} {subset:b}"),
                    Verdict::InPart | Verdict::NotConfirmed => missing.iter().for_each(|method| {
                        assert!(finding.ours.contains(name(*method)), "{}", finding.ours);
                    }),
                }
            }
        }
    }
}
