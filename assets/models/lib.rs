//! The models that come with facedp, as safetensors files. They hold averages and directions, and nobody's face.

/// Eigenfaces: `facedp::FeatureModel::embedded` reads them.
pub static EIGENFACES: &[u8] = include_bytes!("eigenfaces.safetensors");
/// Faces in colour, from which `certified` makes faces.
pub static FACES: &[u8] = include_bytes!("faces.safetensors");
/// Statistics of embeddings, from which `steered` draws its targets.
pub static PRIOR: &[u8] = include_bytes!("prior.safetensors");
