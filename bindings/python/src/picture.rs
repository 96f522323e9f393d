//! Pictures that Python gives: files as bytes, or arrays of pixels.

use facedp_engine::{Error, Limits, Photo, Pixels};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// A file, or an array of height x width, or of height x width x channels.
#[derive(FromPyObject)]
pub enum Given<'py> {
    File(PyBackedBytes),
    Array(PyReadonlyArrayDyn<'py, u8>),
}

/// The same, out of Python's hands.
pub enum Source {
    File(PyBackedBytes),
    Pixels(Pixels),
}

impl Given<'_> {
    /// An array is copied once: Python may change it meanwhile.
    pub fn source(self) -> PyResult<Source> {
        match self {
            Given::File(file) => Ok(Source::File(file)),
            Given::Array(array) => Ok(Source::Pixels(pixels(&array)?)),
        }
    }
}

impl Source {
    pub fn decode(self) -> Result<Photo, Error> {
        match self {
            Source::File(file) => Photo::decode(&file, &Limits::default()),
            Source::Pixels(pixels) => pixels.into_photo(&Limits::default()),
        }
    }
}

/// The samples of an array. It must be contiguous, as `numpy.ascontiguousarray` makes it.
pub fn pixels(array: &PyReadonlyArrayDyn<'_, u8>) -> PyResult<Pixels> {
    let (height, width, channels) = match *array.shape() {
        [height, width] => (height, width, 1),
        [height, width, channels] => (height, width, channels),
        _ => return Err(PyValueError::new_err("an array of 2 or 3 dimensions is needed")),
    };
    Ok(Pixels { width, height, channels, samples: array.as_slice()?.to_vec() })
}
