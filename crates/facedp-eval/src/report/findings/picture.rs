//! The paper's findings on how much of the picture is preserved.

use facedp::Preset;

use super::{Finding, Verdict, has_quality};
use crate::report::paper::{self, COMPARED, OURS, PROPOSED, SMALLEST};
use crate::report::pick;
use crate::report::style::name;
use crate::report::text::{counted, list, number, span};
use crate::results::{QualityRow, Results};

/// The paper's two methods: as printed, or our versions.
type Two = [Preset; 2];

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let both = |finding: &dyn Fn(Two) -> Finding| finding(PROPOSED).beside(finding(OURS));
    let other = |claim: &'static str, methods: &[Preset], agrees: &dyn Fn(f64) -> bool| {
        difference(results, claim, methods, agrees)
    };
    let first = "For RDP-NA and RDP-LMGD, the normalised difference of real and theoretical variance \
                 does “not exceed 0.05”.";
    let (least, most) = (paper::DIFFERENCE_PROPOSED, paper::DIFFERENCE_COMPARED);
    vec![
        both(&|two| difference(results, first, &two, |share| share <= least)),
        other(
            "For RDP, the normalised difference is never more than 0.15.",
            &[Preset::Rdp],
            &|share| share <= most,
        ),
        other(
            "For DCT-DP and Pixel-DP, the normalised difference is between 0.05 and 0.15.",
            &[Preset::DctDp, Preset::PixelDp],
            &|share| (least..=most).contains(&share),
        ),
        both(&|two| log_variance(results, two)),
        log_variance_dct(results),
        both(&|two| lmgd_below_na(results, two)),
        both(&|two| ssim(results, two)),
        both(&|two| psnr(results, two)),
        both(&|two| lead(results, two)),
    ]
}

/// A finding on the normalised difference, judged at each number of features and budget.
fn difference(
    results: &Results,
    claim: &'static str,
    methods: &[Preset],
    agrees: impl Fn(f64) -> bool,
) -> Finding {
    let rows = || pick::default_ranking(results).filter(|row| methods.contains(&row.method));
    let shares = rows().map(|row| row.difference.value);
    let ours = format!("{} over all cases", span(shares, |v| number(v, 2)));
    let verdict = Verdict::over(rows().map(|row| agrees(row.difference.value)));
    let finding = Finding { section: "difference", claim, ours, verdict };
    finding.about(methods.iter().copied(), has_quality(results))
}

/// Figures of the methods at the smallest budget, by number of features.
fn by_features(
    results: &Results,
    methods: &[Preset],
    digits: usize,
    figure: impl Fn(&QualityRow) -> Option<f64>,
) -> String {
    let parts = pick::features(results).into_iter().filter_map(|features| {
        let figures: Vec<String> = methods
            .iter()
            .filter_map(|&method| {
                let row = pick::quality(results, method, features, SMALLEST)?;
                Some(format!("{} {}", name(method), number(figure(row)?, digits)))
            })
            .collect();
        (!figures.is_empty()).then(|| format!("{features} features: {}", figures.join(", ")))
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn log_variance(results: &Results, two: Two) -> Finding {
    let rows = pick::default_ranking(results)
        .filter(|row| two.contains(&row.method) && pick::same(row.epsilon, SMALLEST));
    let finding = Finding {
        section: "variance",
        claim: "At ε₀ 0.2, the log variance of RDP-NA and RDP-LMGD is less than 4.0.",
        ours: by_features(results, &two, 2, |row| Some(row.reliable_log10_variance())),
        verdict: Verdict::over(
            rows.map(|row| row.reliable_log10_variance() < paper::LOG_VARIANCE_PROPOSED),
        ),
    };
    finding.about(two, has_quality(results))
}

fn log_variance_dct(results: &Results) -> Finding {
    let near = 0.25;
    let agrees = |features: usize| {
        let at =
            |method| Some(pick::quality(results, method, features, SMALLEST)?.log10_variance.value);
        let (dct, pixel, rdp) = (at(Preset::DctDp)?, at(Preset::PixelDp)?, at(Preset::Rdp)?);
        Some(dct < pixel && dct < rdp && (dct - paper::LOG_VARIANCE_DCT).abs() <= near)
    };
    Finding {
        section: "variance",
        claim: "At ε₀ 0.2, the log variance of DCT-DP is about 4.75, the smallest of the other three \
                methods.",
        ours: by_features(results, &COMPARED, 2, |row| Some(row.log10_variance.value)),
        verdict: Verdict::over(pick::features(results).into_iter().filter_map(agrees)),
    }
}

fn lmgd_below_na(results: &Results, [na, lmgd]: Two) -> Finding {
    let cases: Vec<bool> = pick::default_ranking(results)
        .filter(|row| row.method == lmgd)
        .filter_map(|row| {
            let na = pick::quality(results, na, row.features, row.epsilon)?;
            Some(row.log10_variance.value < na.log10_variance.value)
        })
        .collect();
    let claim = "On LFW, the log variance of RDP-LMGD is always slightly less than that of RDP-NA.";
    over_cases("variance", claim, &cases)
}

fn ssim(results: &Results, two: Two) -> Finding {
    let mut cases = Vec::new();
    for features in pick::features(results) {
        for epsilon in pick::budgets(results) {
            let at = |method: &Preset| {
                Some(pick::quality(results, *method, features, epsilon)?.ssim.value)
            };
            let proposed = two.iter().filter_map(at).reduce(f64::min);
            let compared = COMPARED.iter().filter_map(at).reduce(f64::max);
            cases.extend(proposed.zip(compared).map(|(proposed, compared)| proposed > compared));
        }
    }
    let claim = "RDP-NA and RDP-LMGD always have a higher SSIM than the other three methods.";
    over_cases("ssim", claim, &cases).about(two.into_iter().chain(COMPARED), has_quality(results))
}

fn psnr(results: &Results, two: Two) -> Finding {
    let rows = pick::default_ranking(results)
        .filter(|row| two.contains(&row.method) && pick::same(row.epsilon, SMALLEST));
    let finding = Finding {
        section: "psnr",
        claim: "At ε₀ 0.2, the PSNR of RDP-NA and RDP-LMGD exceeds 50 dB.",
        ours: by_features(results, &two, 1, QualityRow::reliable_psnr),
        verdict: Verdict::over(
            rows.filter_map(|row| Some(row.reliable_psnr()? > paper::PSNR_PROPOSED)),
        ),
    };
    finding.about(two, has_quality(results))
}

/// Four fifths of the paper's lead count as confirmed, any lead as partly confirmed.
fn lead(results: &Results, two: Two) -> Finding {
    let leads: Vec<(usize, f64)> = pick::features(results)
        .into_iter()
        .filter_map(|features| {
            let at = |m: &Preset| pick::quality(results, *m, features, SMALLEST)?.reliable_psnr();
            let proposed = two.iter().filter_map(at).reduce(f64::max)?;
            Some((features, proposed - COMPARED.iter().filter_map(at).reduce(f64::max)?))
        })
        .collect();
    let far = Verdict::over(leads.iter().map(|lead| lead.1 >= 0.8 * paper::PSNR_LEAD));
    let some = leads.iter().any(|lead| lead.1 > 0.0);
    let parts: Vec<String> = leads
        .iter()
        .map(|(features, lead)| format!("{} dB with {features} features", number(*lead, 1)))
        .collect();
    let finding = Finding {
        section: "psnr",
        claim: "At ε₀ 0.2, RDP-NA and RDP-LMGD lead the best of the other three methods (about 42 dB) \
                by about 10 dB.",
        ours: if parts.is_empty() { String::new() } else { list(&parts) },
        verdict: if far == Verdict::NotConfirmed && some { Verdict::InPart } else { far },
    };
    finding.about(two.into_iter().chain(COMPARED), has_quality(results))
}

/// A finding that is true or false in each case.
fn over_cases(section: &'static str, claim: &'static str, cases: &[bool]) -> Finding {
    let yes = cases.iter().filter(|&&case| case).count();
    let all = counted(cases.len(), "case", "cases");
    let ours = if cases.is_empty() { String::new() } else { format!("true in {yes} of {all}") };
    Finding { section, claim, ours, verdict: Verdict::over(cases.iter().copied()) }
}
