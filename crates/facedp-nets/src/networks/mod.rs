//! The three networks, layer by layer. Weights are embedded in half precision; their provenance is in
//! `assets/networks.md`.

#[cfg(feature = "dlib")]
pub(crate) mod dlib;
#[cfg(feature = "sface")]
pub(crate) mod sface;
#[cfg(feature = "yunet")]
pub(crate) mod yunet;
