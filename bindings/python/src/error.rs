//! Errors of the libraries as exceptions of `facedp._errors`.

use facedp_engine::Error;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The exception for an error: its name, its message, its facts as JSON.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let (kind, facts) = match serde_json::to_value(&error) {
        Ok(Value::String(kind)) => (kind, json!({})),
        Ok(Value::Object(only)) => match only.into_iter().next() {
            Some((kind, facts @ Value::Object(_))) => (kind, facts),
            Some((kind, problem)) => (kind, json!({ "problem": problem })),
            None => (String::new(), json!({})),
        },
        _ => (String::new(), json!({})),
    };
    exception(py, &kind, &error.to_string(), &facts)
}

fn exception(py: Python<'_>, kind: &str, message: &str, facts: &Value) -> PyErr {
    let made = py
        .import("facedp._errors")
        .and_then(|module| module.getattr("exception")?.call1((kind, message, facts.to_string())));
    made.map_or_else(|error| error, PyErr::from_value)
}
