//! Weights of dlib's face descriptor in half precision, for `facedp-nets`.

/// A safetensors file.
pub static DLIB: &[u8] = include_bytes!("dlib.safetensors");
