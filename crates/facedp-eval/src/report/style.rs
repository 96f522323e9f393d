//! Names, colours and markers of methods, the same throughout the page.
//!
//! Every method has its own marker as well as its own colour, so charts are readable without colours.

use facedp::{Preset, Ranking};

use super::pick;

/// The number of a colour and marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style(pub usize);

impl Style {
    /// Photos without noise.
    pub const UNTOUCHED: Style = Style(8);
    /// A claimed epsilon.
    pub const CLAIM: Style = Style(8);
    /// The lower bound that an audit found.
    pub const BOUND: Style = Style(3);

    pub fn of(method: Preset) -> Self {
        Style(Preset::ALL.iter().position(|&m| m == method).unwrap_or(0))
    }

    /// The style of a method; `None` stands for photos without noise.
    pub fn of_any(method: Option<Preset>) -> Self {
        method.map_or(Style::UNTOUCHED, Style::of)
    }

    /// The CSS class that sets the colour.
    pub fn class(self) -> String {
        format!("s{}", self.0)
    }

    /// The marker at a point, as SVG, with a tooltip unless that is empty.
    pub fn marker(self, x: f64, y: f64, tooltip: &str) -> String {
        let path = match self.0 {
            0 => "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0-4 0Z",
            1 => "M-3.6-3.6H3.6V3.6H-3.6Z",
            2 => "M0-4.8L4.6 3.4H-4.6Z",
            3 => "M0-5.2L5.2 0L0 5.2L-5.2 0Z",
            4 => "M0 4.8L4.6-3.4H-4.6Z",
            5 => "M0-5.6L1.4-1.9L5.3-1.7L2.2.7L3.3 4.5L0 2.3L-3.3 4.5L-2.2.7L-5.3-1.7L-1.4-1.9Z",
            6 => "M-4-4L4 4M4-4L-4 4M-4-4H4V4H-4Z",
            7 => "M-5 0L0-3L5 0L0 3Z",
            _ => "M-1.3-4.5H1.3V-1.3H4.5V1.3H1.3V4.5H-1.3V1.3H-4.5V-1.3H-1.3Z",
        };
        let title =
            if tooltip.is_empty() { String::new() } else { format!("<title>{tooltip}</title>") };
        format!(
            "<path class=\"marker\" transform=\"translate({x:.1} {y:.1})\" d=\"{path}\">{title}</path>"
        )
    }
}

/// The name of a method as the paper writes it.
pub(super) fn name(method: Preset) -> &'static str {
    match method {
        Preset::PixelDp => "Pixel-DP",
        Preset::DctDp => "DCT-DP",
        Preset::Rdp => "RDP",
        Preset::RdpNa => "RDP-NA",
        Preset::RdpLmgd => "RDP-LMGD",
        Preset::RdpOptimal => "RDP-optimal",
        Preset::RdpNaLiteral => "RDP-NA as printed",
        Preset::RdpLmgdLiteral => "RDP-LMGD as printed",
    }
}

/// The name of a method; `None` stands for photos without noise.
pub(super) fn name_any(method: Option<Preset>) -> &'static str {
    method.map_or("untouched", name)
}

/// The name of a method, with its ranking unless that is the default.
pub(super) fn name_ranked(method: Preset, ranking: Ranking) -> String {
    if pick::is_default_ranking(method, ranking) {
        name(method).to_owned()
    } else {
        format!("{}, {ranking} ranking", name(method))
    }
}
