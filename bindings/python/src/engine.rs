//! An engine that Python's threads share.

use std::path::PathBuf;
use std::sync::Arc;

use facedp::FeatureModel;
use facedp::noise::Randomness;
use facedp_engine::ledger::Ledger;
use facedp_engine::{Control, Error, Key, Protected, Request, Resources, Secret, batch, files};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::raised;
use crate::picture::pixels;
use crate::shared::{self, Workspaces, json};

/// Models have some megabytes.
const MAX_MODEL_BYTES: u64 = 2_000_000_000;

#[pyclass(frozen)]
pub struct Engine {
    engine: facedp_engine::Engine,
    workspaces: Workspaces,
}

/// Where a key comes from.
#[derive(FromPyObject)]
enum KeyGiven {
    Bytes([u8; 32]),
    File(PathBuf),
}

/// Where releases are recorded.
#[derive(FromPyObject)]
enum LedgerGiven {
    /// The user's own, or none.
    Own(bool),
    File(PathBuf),
}

/// What was done, and the receipt if one was asked for, as JSON.
type Report = (String, Option<String>);

#[pymethods]
impl Engine {
    #[new]
    fn new(
        py: Python<'_>,
        request: &str,
        key: Option<KeyGiven>,
        seed: Option<u64>,
        ledger: Option<LedgerGiven>,
        model: Option<PathBuf>,
    ) -> PyResult<Self> {
        let make = || {
            let request = Request::from_json(request)?;
            let shared = shared::resources()?;
            let ledger = match ledger {
                Some(LedgerGiven::Own(true)) => Some(Ledger::default_path()?),
                Some(LedgerGiven::File(path)) => Some(path),
                Some(LedgerGiven::Own(false)) | None => None,
            };
            let model = match model {
                Some(path) => {
                    let bytes = files::read(&path, MAX_MODEL_BYTES)?;
                    Arc::new(FeatureModel::from_bytes(&bytes)?).into()
                }
                None => shared.model.clone(),
            };
            let secret = secret(&request, key, seed)?;
            let certified_secret = secret.clone();
            let resources = Resources { secret, certified_secret, ledger, model, ..shared };
            facedp_engine::Engine::new(request, resources)
        };
        let engine = py.detach(|| batch::without_panic(make)).map_err(|e| raised(py, e))?;
        Ok(Self { engine, workspaces: Workspaces::default() })
    }

    /// A file to publish for a file.
    fn protect_file<'py>(
        &self,
        py: Python<'py>,
        file: PyBackedBytes,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, Report)> {
        let control = Control { threads, ..Control::default() };
        let done =
            self.workspaces.with(py, |work| self.engine.protect_with(&file, control, work))?;
        Ok((PyBytes::new(py, &done.file), report(py, &done)?))
    }

    /// An array to publish for an array: the samples are copied on their way in, not on their way out.
    fn protect_pixels<'py>(
        &self,
        py: Python<'py>,
        array: PyReadonlyArrayDyn<'py, u8>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, Report)> {
        let (pixels, shape) = (pixels(&array)?, array.shape().to_vec());
        let control = Control { threads, ..Control::default() };
        let mut done =
            self.workspaces.with(py, |work| self.engine.protect_pixels(pixels, control, work))?;
        let samples = PyArray1::from_vec(py, std::mem::take(&mut done.file));
        Ok((samples.reshape(shape)?, report(py, &done)?))
    }

    /// Faces that would be treated, and metadata that would be left out.
    fn inspect(&self, py: Python<'_>, file: PyBackedBytes) -> PyResult<String> {
        let seen = self.workspaces.with(py, |work| self.engine.rehearse(&file, work))?;
        json(py, &seen)
    }

    /// A hash of everything that determines results, secrets included; it reveals none.
    fn fingerprint(&self) -> String {
        self.engine.fingerprint()
    }

    /// What may be claimed of results, as receipts have it.
    fn terms(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.engine.terms().map(|terms| json(py, &terms)).transpose()
    }
}

fn report(py: Python<'_>, done: &Protected) -> PyResult<Report> {
    let receipt = done.receipt.as_ref().map(|receipt| json(py, receipt)).transpose()?;
    Ok((json(py, done)?, receipt))
}

/// The program's rule: a seed, a key, or what the method draws from by default.
fn secret(request: &Request, key: Option<KeyGiven>, seed: Option<u64>) -> Result<Secret, Error> {
    Ok(match (seed, key, request.method.info().randomness) {
        (Some(seed), ..) => Secret::Seed(seed),
        (None, Some(KeyGiven::Bytes(key)), _) => Secret::Key(Key::from_bytes(key)),
        (None, Some(KeyGiven::File(path)), _) => Secret::Key(Key::read(&path)?),
        (None, None, Some(Randomness::Keyed)) => Secret::Key(Key::load_default()?.0),
        (None, None, _) => Secret::Fresh,
    })
}
