//! Model files: safetensors with a version and a checksum.
//!
//! The tensors are `mean` in f32, `eigenfaces` in f16, and in f64 `singular_values`, `sensitivities`,
//! `boxes` and, if anybody had two pictures, `radii`. Eigenfaces are scaled to entries of about 1;
//! since rounding makes them slightly skew, they are orthonormalised again when read. The header has
//! one metadata entry, `facedp`: JSON with the format version, the provenance, and the SHA-256 over
//! provenance and tensors.

use std::collections::HashMap;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{FeatureModel, Provenance};
use crate::error::{Error, Result};
use crate::linear::orthonormalise;

const FORMAT_VERSION: u64 = 1;
/// The only metadata entry: the order of several would vary, and files must be reproducible.
const ENTRY: &str = "facedp";

pub(super) struct Content {
    pub side: usize,
    pub mean: Vec<f32>,
    pub eigenfaces: Vec<f16>,
    pub singular_values: Vec<f64>,
    pub sensitivities: Vec<f64>,
    pub boxes: Vec<[f64; 2]>,
    pub radii: Option<Vec<f64>>,
    pub provenance: Provenance,
}

#[derive(Serialize, Deserialize)]
struct Header {
    version: u64,
    provenance: Provenance,
    sha256: String,
}

/// Orthonormal eigenfaces from their stored f16 rows.
pub(super) fn restore(stored: &[f16], pixels: usize) -> Result<Vec<f64>> {
    let mut rows: Vec<f64> = stored.iter().map(|&v| f64::from(v)).collect();
    orthonormalise(&mut rows, pixels)
        .map_err(|row| bad("eigenfaces", format!("are not independent (number {})", row + 1)))?;
    Ok(rows)
}

pub(super) fn write(content: &Content) -> Result<Vec<u8>> {
    let features = content.singular_values.len();
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mean: Vec<u8> = content.mean.iter().flat_map(|v| v.to_le_bytes()).collect();
    let eigenfaces: Vec<u8> = content.eigenfaces.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut parts = vec![
        ("boxes", Dtype::F64, vec![features, 2], doubles(content.boxes.as_flattened())),
        ("eigenfaces", Dtype::F16, vec![features, content.side, content.side], eigenfaces),
        ("mean", Dtype::F32, vec![content.side, content.side], mean),
        ("sensitivities", Dtype::F64, vec![features], doubles(&content.sensitivities)),
        ("singular_values", Dtype::F64, vec![features], doubles(&content.singular_values)),
    ];
    if let Some(radii) = &content.radii {
        parts.push(("radii", Dtype::F64, vec![features], doubles(radii)));
    }
    let foreign = |e: &dyn std::fmt::Display| Error::ForeignModel(e.to_string());
    let views: Vec<(&str, TensorView<'_>)> = parts
        .iter()
        .map(|(name, dtype, shape, bytes)| {
            Ok((*name, TensorView::new(*dtype, shape.clone(), bytes).map_err(|e| foreign(&e))?))
        })
        .collect::<Result<_>>()?;
    let header = Header {
        version: FORMAT_VERSION,
        sha256: checksum(&content.provenance, views.iter().map(|(n, v)| (*n, v))),
        provenance: content.provenance.clone(),
    };
    let header = serde_json::to_string(&header).map_err(|e| foreign(&e))?;
    let metadata = HashMap::from([(ENTRY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(|e| foreign(&e))
}

impl FeatureModel {
    /// Reads a model file, checks its checksum and restores the eigenfaces.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let foreign = |e: &dyn std::fmt::Display| Error::ForeignModel(e.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| foreign(&e))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| foreign(&e))?;
        let header = metadata.metadata().as_ref().and_then(|m| m.get(ENTRY));
        let header = header.ok_or_else(|| foreign(&"a safetensors file of another kind"))?;
        #[derive(Deserialize)]
        struct Version {
            version: u64,
        }
        let Version { version } = serde_json::from_str(header).map_err(|e| foreign(&e))?;
        if version != FORMAT_VERSION {
            return Err(Error::ModelVersion { found: version, supported: FORMAT_VERSION });
        }
        let Header { provenance, sha256: expected, .. } =
            serde_json::from_str(header).map_err(|e| foreign(&e))?;
        let all = tensors.tensors();
        let found = checksum(&provenance, all.iter().map(|(n, v)| (n.as_str(), v)));
        if found != expected {
            return Err(Error::DamagedModel { expected, found });
        }

        // The checksum shows only that nothing changed: shapes and values must be checked too.
        let tensor = |name: &str| tensors.tensor(name).map_err(|_| bad(name, "is missing"));
        let (features, side) = match *tensor("eigenfaces")?.shape() {
            [features, height, side] if features > 0 && height == side && side > 0 => {
                (features, side)
            }
            ref other => return Err(bad("eigenfaces", format!("have the shape {other:?}"))),
        };
        let doubles = |name: &str, shape: &[usize]| -> Result<Vec<f64>> {
            let bytes = checked(&tensor(name)?, name, Dtype::F64, shape)?;
            finite(name, bytes.chunks_exact(8).map(|b| f64::from_le_bytes(array(b))).collect())
        };
        let mean = checked(&tensor("mean")?, "mean", Dtype::F32, &[side, side])?;
        let mean = mean.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(array(b)))).collect();
        let shape = [features, side, side];
        let stored = checked(&tensor("eigenfaces")?, "eigenfaces", Dtype::F16, &shape)?;
        let stored: Vec<f16> =
            stored.chunks_exact(2).map(|b| f16::from_le_bytes(array(b))).collect();
        let sensitivities = doubles("sensitivities", &[features])?;
        if sensitivities.iter().any(|&delta| delta <= 0.0) {
            return Err(bad("sensitivities", "are not all above 0"));
        }
        let boxes = doubles("boxes", &[features, 2])?;
        let boxes: Vec<[f64; 2]> = boxes.chunks_exact(2).map(|b| [b[0], b[1]]).collect();
        if boxes.iter().any(|[low, high]| low >= high) {
            return Err(bad("boxes", "are not all of positive width"));
        }
        let radii = tensor("radii").is_ok().then(|| doubles("radii", &[features])).transpose()?;
        Ok(Self {
            side,
            mean: finite("mean", mean)?,
            eigenfaces: restore(&stored, side * side)?,
            singular_values: doubles("singular_values", &[features])?,
            sensitivities,
            boxes,
            radii,
            provenance,
            hash: found,
        })
    }
}

fn bad(tensor: &str, problem: impl Into<String>) -> Error {
    Error::ModelTensor { tensor: tensor.to_owned(), problem: problem.into() }
}

fn checked<'a>(
    view: &TensorView<'a>,
    name: &str,
    dtype: Dtype,
    shape: &[usize],
) -> Result<&'a [u8]> {
    if view.dtype() != dtype || view.shape() != shape {
        let problem =
            format!("is {:?} {:?} instead of {dtype:?} {shape:?}", view.dtype(), view.shape());
        return Err(bad(name, problem));
    }
    Ok(view.data())
}

fn finite(name: &str, values: Vec<f64>) -> Result<Vec<f64>> {
    let good = values.iter().all(|v| v.is_finite());
    if good { Ok(values) } else { Err(bad(name, "holds values that are not finite")) }
}

/// The bytes of one number, from a chunk of exactly that length.
fn array<const N: usize>(chunk: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(chunk);
    bytes
}

/// SHA-256 over provenance and tensors, in order of their names; each field is preceded by its length.
fn checksum<'a>(
    provenance: &Provenance,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'a>)>,
) -> String {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(b"facedp model");
    for number in [FORMAT_VERSION, provenance.pictures as u64, provenance.identities as u64] {
        field(&number.to_le_bytes());
    }
    field(provenance.source.as_bytes());
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|(name, _)| *name);
    for (name, view) in tensors {
        field(name.as_bytes());
        field(view.dtype().to_string().as_bytes());
        field(&view.shape().iter().flat_map(|&n| (n as u64).to_le_bytes()).collect::<Vec<u8>>());
        field(view.data());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
