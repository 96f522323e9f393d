//! The three networks, layer by layer. Weights are embedded, in half precision;
//! `assets/networks.md` says where they come from.

#[cfg(feature = "dlib")]
pub(crate) mod dlib;
#[cfg(feature = "sface")]
pub(crate) mod sface;
#[cfg(feature = "yunet")]
pub(crate) mod yunet;
