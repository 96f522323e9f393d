//! Face model files: safetensors with a version and a checksum.
//!
//! The tensors are `directions` in f16, scaled to entries of about 1, and in f32 `mean`, `context_mean`,
//! `prediction`, `boxes` and `spreads`. Directions are orthonormalised again when read.

use std::collections::HashMap;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::FaceModel;
use crate::error::{Error, Result};
use crate::features::Provenance;
use crate::linear::orthonormalise;

const FORMAT_VERSION: u64 = 1;
/// The only metadata entry.
const ENTRY: &str = "facedp faces";

#[derive(Serialize, Deserialize)]
struct Header {
    version: u64,
    provenance: Provenance,
}

pub(super) struct Content {
    pub mean: Vec<f32>,
    pub directions: Vec<f32>,
    pub context_mean: Vec<f32>,
    pub prediction: Vec<f32>,
    pub boxes: Vec<f32>,
    pub spreads: Vec<f32>,
    pub provenance: Provenance,
}

fn foreign(error: impl std::fmt::Display) -> Error {
    Error::ForeignModel(error.to_string())
}

fn bad(tensor: &str, problem: impl Into<String>) -> Error {
    Error::ModelTensor { tensor: tensor.to_owned(), problem: problem.into() }
}

pub(super) fn write(content: &Content) -> Result<Vec<u8>> {
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (values, features) = (content.mean.len(), content.spreads.len());
    let scale = (values as f32).sqrt();
    let directions: Vec<u8> =
        content.directions.iter().flat_map(|v| f16::from_f32(v * scale).to_le_bytes()).collect();
    let context = content.context_mean.len();
    let parts = [
        ("boxes", Dtype::F32, vec![features, 2], bytes(&content.boxes)),
        ("context_mean", Dtype::F32, vec![context], bytes(&content.context_mean)),
        ("directions", Dtype::F16, vec![features, values], directions),
        ("mean", Dtype::F32, vec![values], bytes(&content.mean)),
        ("prediction", Dtype::F32, vec![features, context], bytes(&content.prediction)),
        ("spreads", Dtype::F32, vec![features], bytes(&content.spreads)),
    ];
    let views = parts.iter().map(|(name, dtype, shape, bytes)| {
        Ok((*name, TensorView::new(*dtype, shape.clone(), bytes).map_err(foreign)?))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let header = Header { version: FORMAT_VERSION, provenance: content.provenance.clone() };
    let header = serde_json::to_string(&header).map_err(foreign)?;
    let metadata = HashMap::from([(ENTRY.to_owned(), header)]);
    safetensors::serialize(views, Some(metadata)).map_err(foreign)
}

impl FaceModel {
    /// Reads a file that [`FaceModel::fit`] made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(foreign)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(foreign)?;
        let header = metadata.metadata().as_ref().and_then(|m| m.get(ENTRY));
        let header = header.ok_or_else(|| foreign("a safetensors file of another kind"))?;
        let Header { version, provenance } = serde_json::from_str(header).map_err(foreign)?;
        if version != FORMAT_VERSION {
            return Err(Error::ModelVersion { found: version, supported: FORMAT_VERSION });
        }
        let tensor = |name: &str| tensors.tensor(name).map_err(|_| bad(name, "is missing"));
        let shape = tensor("directions")?.shape().to_vec();
        let &[features, values] = shape.as_slice() else {
            return Err(bad("directions", format!("have the shape {shape:?}")));
        };
        let context = tensor("context_mean")?.shape().iter().product();
        let numbers = |name: &str, count: usize| -> Result<Vec<f32>> {
            let found = tensor(name)?;
            let numbers: Vec<f32> = match found.dtype() {
                Dtype::F32 => {
                    let all = found.data().as_chunks::<4>().0;
                    all.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
                }
                Dtype::F16 => {
                    let all = found.data().as_chunks::<2>().0;
                    all.iter().map(|bytes| f32::from(f16::from_le_bytes(*bytes))).collect()
                }
                other => return Err(bad(name, format!("is {other:?}"))),
            };
            let good = numbers.len() == count && numbers.iter().all(|n| n.is_finite());
            if good { Ok(numbers) } else { Err(bad(name, format!("is not {count} numbers"))) }
        };
        if features == 0 || values == 0 || features > values {
            return Err(bad("directions", format!("have the shape {shape:?}")));
        }
        let stored = numbers("directions", features * values)?;
        let mut directions: Vec<f64> = stored.into_iter().map(f64::from).collect();
        orthonormalise(&mut directions, values)
            .map_err(|row| bad("directions", format!("are not independent ({})", row + 1)))?;
        let boxes = numbers("boxes", 2 * features)?;
        let boxes = boxes.as_chunks::<2>().0.iter();
        Ok(Self {
            mean: numbers("mean", values)?,
            directions: directions.into_iter().map(|v| v as f32).collect(),
            context_mean: numbers("context_mean", context)?,
            prediction: numbers("prediction", features * context)?,
            boxes: boxes.map(|ends| ends.map(f64::from)).collect(),
            spreads: numbers("spreads", features)?.into_iter().map(f64::from).collect(),
            provenance,
            hash: Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}
