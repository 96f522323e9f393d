//! Recognisers one at a time: those inside, and those of ONNX files.

use std::path::PathBuf;
use std::sync::Arc;

use facedp_engine::{DetectedFace, Error, Recognisers};
use pyo3::prelude::*;

use crate::error::raised;
use crate::picture::Given;
use crate::shared;

#[pyclass(frozen)]
pub struct Recogniser {
    recognisers: Arc<Recognisers>,
    /// Its place among them.
    at: usize,
}

#[pymethods]
impl Recogniser {
    /// The names of the recognisers inside.
    #[staticmethod]
    fn names(py: Python<'_>) -> PyResult<Vec<String>> {
        shared::work(py, |tools, _| {
            let recognisers = tools.recognisers()?;
            Ok(recognisers.as_slice().iter().map(|r| r.name().to_owned()).collect())
        })
    }

    /// One of those inside.
    #[staticmethod]
    fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        shared::work(py, |tools, _| {
            let recognisers = tools.recognisers()?;
            let at = recognisers.as_slice().iter().position(|r| r.name() == name);
            let at = at.ok_or_else(|| Error::UnknownRecogniser {
                name: name.to_owned(),
                known: recognisers.as_slice().iter().map(|r| r.name().to_owned()).collect(),
            })?;
            Ok(Self { recognisers, at })
        })
    }

    /// One of an ONNX file, with the TOML file beside it.
    #[staticmethod]
    #[cfg(feature = "onnx")]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| facedp_onnx::open(&path));
        let recogniser =
            opened.map_err(|error| raised(py, Error::Request { problem: error.to_string() }))?;
        let recognisers = shared::work(py, |_, _| Recognisers::embedded())?;
        let recognisers = Arc::new(recognisers.keep(&[]).with(recogniser));
        Ok(Self { recognisers, at: 0 })
    }

    #[staticmethod]
    #[cfg(not(feature = "onnx"))]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let problem = format!("{}: this build reads no ONNX files", path.display());
        Err(raised(py, Error::Request { problem }))
    }

    #[getter]
    fn name(&self) -> &str {
        self.recogniser().name()
    }

    #[getter]
    fn threshold(&self) -> f32 {
        self.recogniser().threshold()
    }

    /// The embedding of one face of a picture, which is given as JSON.
    fn embed(&self, py: Python<'_>, picture: Given<'_>, faces: &str) -> PyResult<Vec<Vec<f32>>> {
        let faces: Vec<DetectedFace> = serde_json::from_str(faces)
            .map_err(|e| raised(py, Error::Request { problem: e.to_string() }))?;
        let source = picture.source()?;
        shared::work(py, |_, work| {
            let photo = source.decode()?;
            let recogniser = self.recogniser();
            let picture = photo.picture(photo.whole())?;
            let embed = |face: &DetectedFace| {
                let placement = recogniser.placement(&face.landmarks)?;
                let chip = picture.chip(&placement, recogniser.side());
                Ok(recogniser.embed(&chip, work)?)
            };
            faces.iter().map(embed).collect()
        })
    }

    fn distance(&self, a: Vec<f32>, b: Vec<f32>) -> f32 {
        self.recogniser().distance(&a, &b)
    }
}

impl Recogniser {
    fn recogniser(&self) -> &facedp_engine::Recogniser {
        &self.recognisers.as_slice()[self.at]
    }
}
