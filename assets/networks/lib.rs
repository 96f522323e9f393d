//! Weights of small networks in half precision, for `facedp-nets`. A program contains only those that it uses.

/// YuNet, as a safetensors file; so are the others.
pub static YUNET: &[u8] = include_bytes!("yunet.safetensors");
/// Intel's face-reidentification-retail-0095.
pub static INTEL: &[u8] = include_bytes!("intel.safetensors");
/// MobileFaceNet by foamliu.
pub static MOBILEFACENET: &[u8] = include_bytes!("mobilefacenet.safetensors");
/// MobileFaceNet of FaceX-Zoo.
pub static FACEXZOO: &[u8] = include_bytes!("facexzoo.safetensors");
