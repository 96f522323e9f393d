//! The six networks, layer by layer. Weights are embedded in half precision; their provenance is in
//! `assets/networks.md`.

#[cfg(any(feature = "facexzoo", feature = "intel", feature = "mobilefacenet"))]
mod bottleneck;
#[cfg(feature = "dlib")]
pub(crate) mod dlib;
#[cfg(feature = "facexzoo")]
pub(crate) mod facexzoo;
#[cfg(feature = "intel")]
pub(crate) mod intel;
#[cfg(feature = "mobilefacenet")]
pub(crate) mod mobilefacenet;
#[cfg(feature = "sface")]
pub(crate) mod sface;
#[cfg(feature = "yunet")]
pub(crate) mod yunet;
