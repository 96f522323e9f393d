//! The paper's figures, each with the place where it appears.
//!
//! The paper states neither the number of features nor the size of the pictures.

use facedp::Preset;

/// A data set of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dataset {
    /// Labeled Faces in the Wild.
    Lfw,
    PubFig83,
}

impl Dataset {
    /// The data set that a folder is named after.
    pub fn of(folder: &str) -> Option<Self> {
        let folder = folder.to_lowercase();
        if folder.contains("pubfig") {
            Some(Dataset::PubFig83)
        } else {
            folder.contains("lfw").then_some(Dataset::Lfw)
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Dataset::Lfw => "LFW",
            Dataset::PubFig83 => "PubFig83",
        }
    }
}

/// The budgets of the paper's tables and figures.
pub(super) const BUDGETS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// The smallest budget, which the paper's text refers to.
pub(super) const SMALLEST: f64 = BUDGETS[0];

/// The methods that the paper proposes, as printed. Findings of the paper are judged by these.
pub(super) const PROPOSED: [Preset; 2] = [Preset::RdpNaLiteral, Preset::RdpLmgdLiteral];

/// Our versions of them.
pub(super) const OURS: [Preset; 2] = [Preset::RdpNa, Preset::RdpLmgd];

/// The methods that the paper compares its own with.
pub(super) const COMPARED: [Preset; 3] = [Preset::PixelDp, Preset::DctDp, Preset::Rdp];

/// Table "Privacy budget vs. SSIM", in the order of [`BUDGETS`].
pub(super) fn ssim(data: Dataset, method: Preset) -> Option<[f64; 5]> {
    Some(match (data, method) {
        (Dataset::Lfw, Preset::DctDp) => [0.9767, 0.9908, 0.9937, 0.9956, 0.9965],
        (Dataset::Lfw, Preset::PixelDp) => [0.9826, 0.9918, 0.9953, 0.9962, 0.9972],
        (Dataset::Lfw, Preset::Rdp) => [0.9844, 0.9926, 0.9953, 0.9963, 0.9973],
        (Dataset::Lfw, Preset::RdpNa) => [0.9954, 0.9980, 0.9988, 0.9992, 0.9994],
        (Dataset::Lfw, Preset::RdpLmgd) => [0.9955, 0.9983, 0.9991, 0.9993, 0.9994],
        (Dataset::PubFig83, Preset::DctDp) => [0.9728, 0.9882, 0.9931, 0.9947, 0.9958],
        (Dataset::PubFig83, Preset::PixelDp) => [0.9836, 0.9923, 0.9951, 0.9964, 0.9971],
        (Dataset::PubFig83, Preset::Rdp) => [0.9815, 0.9905, 0.9940, 0.9960, 0.9969],
        (Dataset::PubFig83, Preset::RdpNa) => [0.9968, 0.9985, 0.9989, 0.9992, 0.9994],
        (Dataset::PubFig83, Preset::RdpLmgd) => [0.9967, 0.9986, 0.9991, 0.9993, 0.9994],
        (_, Preset::RdpOptimal | Preset::RdpNaLiteral | Preset::RdpLmgdLiteral) => return None,
    })
}

/// The paper's mean SSIM at a budget.
pub(super) fn ssim_at(data: Dataset, method: Preset, epsilon: f64) -> Option<f64> {
    let at = BUDGETS.iter().position(|&budget| super::pick::same(budget, epsilon))?;
    ssim(data, method)?.get(at).copied()
}

/// Table "False Negative Rate under the Same Utility Setting", for LFW only: noisy photo against its
/// original, match below a distance of 0.975 in the library `face_recognition`. The paper does not state
/// the PSNR.
pub(super) fn miss_rate(method: Preset) -> Option<f64> {
    match method {
        Preset::DctDp => Some(0.3775),
        Preset::PixelDp => Some(0.3944),
        Preset::Rdp => Some(0.4005),
        Preset::RdpNa => Some(0.7718),
        Preset::RdpLmgd => Some(0.8138),
        Preset::RdpOptimal | Preset::RdpNaLiteral | Preset::RdpLmgdLiteral => None,
    }
}

/// Variance: the normalised difference of RDP-NA and RDP-LMGD does "not exceed 0.05".
pub(super) const DIFFERENCE_PROPOSED: f64 = 0.05;

/// Variance: the difference of RDP is "never higher than 0.15"; DCT-DP and Pixel-DP stay in (0.05, 0.15).
pub(super) const DIFFERENCE_COMPARED: f64 = 0.15;

/// Variance: at the smallest budget the log variance of RDP-NA and RDP-LMGD is "less than 4.0".
pub(super) const LOG_VARIANCE_PROPOSED: f64 = 4.0;

/// Variance: the log variance of DCT-DP, the smallest of the compared methods, is "around 4.75".
pub(super) const LOG_VARIANCE_DCT: f64 = 4.75;

/// PSNR: at the smallest budget RDP-NA and RDP-LMGD "significantly exceeded 50 dB".
pub(super) const PSNR_PROPOSED: f64 = 50.0;

/// PSNR: "the best PSNR of the compared methods is only around 42 dB".
pub(super) const PSNR_COMPARED: f64 = 42.0;

/// PSNR: the lead of the proposed methods, "about 10 dB".
pub(super) const PSNR_LEAD: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_select_the_data_set() {
        assert_eq!(Dataset::of("lfw-deepfunneled"), Some(Dataset::Lfw));
        assert_eq!(Dataset::of("PubFig83"), Some(Dataset::PubFig83));
        assert_eq!(Dataset::of("holiday"), None);
    }

    #[test]
    fn ssim_never_falls_with_the_budget() {
        for data in [Dataset::Lfw, Dataset::PubFig83] {
            for method in Preset::ALL {
                assert!(ssim(data, method).is_none_or(|values| values.is_sorted()));
            }
        }
    }
}
