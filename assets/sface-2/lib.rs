//! Weights of SFace in half precision, for `facedp-nets`: the second half of the file, since a package may have 10 MiB at most.

/// The second half of a safetensors file.
pub const PART: &[u8] = include_bytes!("sface.safetensors.2");
