//! Weights of SFace in half precision, for `facedp-nets`: the first half of the file, since a package may have 10 MiB at most.

/// The first half of a safetensors file.
pub const PART: &[u8] = include_bytes!("sface.safetensors.1");
