//! What the Python package `facedp` takes from Rust. Values cross as JSON, files as bytes, pixels as arrays;
//! `python/facedp` makes Python's own types of them.

mod engine;
mod error;
mod picture;
mod recogniser;
mod shared;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::sync::atomic::AtomicBool;

    use facedp_engine::{Key, Limits, Request, files};
    use facedp_eval::audit::Options;
    use facedp_eval::progress::{Progress, Silent};
    use pyo3::prelude::*;

    use crate::error::raised;
    use crate::picture::Given;
    use crate::shared;

    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::recogniser::Recogniser;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// A request with its defaults filled in, from and to JSON.
    #[pyfunction]
    fn request(py: Python<'_>, text: &str) -> PyResult<String> {
        let request = Request::from_json(text).map_err(|e| raised(py, e))?;
        crate::shared::json(py, &request)
    }

    /// The user's own key file.
    #[pyfunction]
    fn key_path(py: Python<'_>) -> PyResult<PathBuf> {
        Key::default_path().map_err(|e| raised(py, e))
    }

    /// The bytes of a regular file, within the limits of photos.
    #[pyfunction]
    fn read<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, pyo3::types::PyBytes>> {
        let file = py.detach(|| files::read(&path, Limits::default().file_bytes));
        Ok(pyo3::types::PyBytes::new(py, &file.map_err(|e| raised(py, e))?))
    }

    /// Writes a whole file or nothing; `private` ones can be read by their owner only.
    #[pyfunction]
    fn write(py: Python<'_>, path: PathBuf, file: &[u8], private: bool) -> PyResult<()> {
        let readers = if private { files::Readers::Owner } else { files::Readers::Default };
        let written = files::write_whole(&path, file, readers, files::Existing::Replace);
        written.map_err(|e| raised(py, e))
    }

    /// The faces of a picture, and places that may be faces.
    #[pyfunction]
    fn detect(py: Python<'_>, picture: Given<'_>, min_score: f32) -> PyResult<String> {
        let photo = picture.source()?;
        let found = shared::work(py, |tools, work| {
            let found = tools.detector()?.search(&photo.decode()?, min_score, work)?;
            Ok((found.faces, found.doubts))
        })?;
        crate::shared::json(py, &found)
    }

    /// A picture against its original.
    #[pyfunction]
    fn check(py: Python<'_>, original: Given<'_>, released: Given<'_>) -> PyResult<String> {
        let (original, released) = (original.source()?, released.source()?);
        let checked = shared::work(py, |tools, work| {
            tools.plain()?.check_photos(&original.decode()?, &released.decode()?, work)
        })?;
        crate::shared::json(py, &checked)
    }

    /// What a request's method will do, before any photo.
    #[pyfunction]
    fn plan(py: Python<'_>, request: &str) -> PyResult<String> {
        let plan = shared::work(py, |tools, _| {
            facedp_cli::plan_json(&Request::from_json(request)?, tools.model()?)
        })?;
        Ok(plan.to_string())
    }

    /// Tries to refute what is claimed of a request's method. The verdict comes in words, too.
    #[pyfunction]
    fn audit(
        py: Python<'_>,
        request: &str,
        data: Option<PathBuf>,
        runs: usize,
        confidence: f64,
        seed: u64,
    ) -> PyResult<(String, String)> {
        let request = Request::from_json(request).map_err(|e| raised(py, e))?;
        let options = Options { runs, confidence, seed, real: Vec::new() };
        let model = shared::work(py, |tools, _| tools.model())?;
        let never = AtomicBool::new(false);
        let audit = py.detach(|| {
            let progress = Progress::new(&Silent, &never);
            facedp_eval::audit::request(&request, &model, data.as_deref(), options, &progress)
        });
        let audit = audit.map_err(|error| match error {
            facedp_eval::Error::Engine(error) => raised(py, error),
            error => raised(py, facedp_engine::Error::Request { problem: error.to_string() }),
        })?;
        Ok((crate::shared::json(py, &audit)?, audit.verdict()))
    }

    /// The program, with a command line; returns its exit code. Help and usage errors end the process.
    #[pyfunction]
    fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
        let code = py.detach(|| facedp_cli::run(args));
        (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
    }
}
