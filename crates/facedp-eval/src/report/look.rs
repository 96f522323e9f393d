//! How methods are called and drawn, the same throughout the page.
//!
//! Each has a colour and a marker of its own, so that charts read in print and without colours.

use facedp::{Preset, Ranking};

/// Colour and marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look(pub usize);

impl Look {
    /// Photos without noise.
    pub const UNTOUCHED: Look = Look(6);
    /// What is claimed of a method.
    pub const CLAIM: Look = Look(6);
    /// What was found about a claim.
    pub const BOUND: Look = Look(3);

    /// That of a method.
    pub fn of(method: Preset) -> Self {
        Look(Preset::ALL.iter().position(|&m| m == method).unwrap_or(0))
    }

    /// That of a method, or of photos without noise.
    pub fn of_any(method: Option<Preset>) -> Self {
        method.map_or(Look::UNTOUCHED, Look::of)
    }

    /// The class that sets the colour.
    pub fn class(self) -> String {
        format!("s{}", self.0)
    }

    /// The marker around a point, as SVG. `words` show when the pointer rests on it.
    pub fn marker(self, x: f64, y: f64, words: &str) -> String {
        let path = match self.0 {
            0 => "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z",
            1 => "M-3.6-3.6H3.6V3.6H-3.6Z",
            2 => "M0-4.8L4.6 3.4H-4.6Z",
            3 => "M0-5.2L5.2 0L0 5.2L-5.2 0Z",
            4 => "M0 4.8L4.6-3.4H-4.6Z",
            5 => "M0-5.6L1.4-1.9L5.3-1.7L2.2.7L3.3 4.5L0 2.3L-3.3 4.5L-2.2.7L-5.3-1.7L-1.4-1.9Z",
            _ => "M-1.3-4.5H1.3V-1.3H4.5V1.3H1.3V4.5H-1.3V1.3H-4.5V-1.3H-1.3Z",
        };
        let title =
            if words.is_empty() { String::new() } else { format!("<title>{words}</title>") };
        format!(
            "<path class=\"marker\" transform=\"translate({x:.1} {y:.1})\" d=\"{path}\">{title}</path>"
        )
    }
}

/// A method's name, written as the paper does.
pub(super) fn name(method: Preset) -> &'static str {
    match method {
        Preset::PixelDp => "Pixel-DP",
        Preset::DctDp => "DCT-DP",
        Preset::Rdp => "RDP",
        Preset::RdpNa => "RDP-NA",
        Preset::RdpLmgd => "RDP-LMGD",
        Preset::RdpOptimal => "RDP-optimal",
    }
}

/// A method's name, or that of photos without noise.
pub(super) fn name_any(method: Option<Preset>) -> &'static str {
    method.map_or("untouched", name)
}

/// A method's name, and its ranking if it is not the usual one.
pub(super) fn name_ranked(method: Preset, ranking: Ranking) -> String {
    if method.parts().1 == ranking {
        name(method).to_owned()
    } else {
        format!("{}, {ranking} ranking", name(method))
    }
}
