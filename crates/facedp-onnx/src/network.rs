//! A network in an ONNX file, run by RTen.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use facedp_nets::Embed;
use rten::{Model, ModelOptions, RunOptions, ThreadPool, Value, ValueView};
use rten_tensor::prelude::*;
use sha2::{Digest, Sha256};

use crate::file;

pub struct Network {
    model: Model,
    side: usize,
    digest: String,
    /// Pools of one thread that no call uses at the moment. Callers run in parallel, each on one thread.
    idle: Mutex<Vec<Arc<ThreadPool>>>,
}

impl Network {
    /// Reads an ONNX file. Its network must take one chip.
    pub fn new(file: &[u8], side: usize) -> Result<Self, String> {
        let model = guarded(|| file::read(file, side))?;
        let model = guarded(|| {
            ModelOptions::with_all_ops().prepack_weights(true).load(model).map_err(cannot_run)
        })?;
        let digest = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { model, side, digest, idle: Mutex::default() })
    }

    fn run(&self, values: &[f32], pool: &Arc<ThreadPool>) -> Result<Vec<f32>, String> {
        let face =
            ValueView::from_shape([1, 3, self.side, self.side], values).map_err(cannot_run)?;
        let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
        vector(self.model.run_one(face.into(), Some(options)).map_err(cannot_run)?)
    }
}

impl Embed for Network {
    fn embed(&self, values: &[f32]) -> Result<Vec<f32>, String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = idle().pop().unwrap_or_else(|| Arc::new(ThreadPool::with_num_threads(1)));
        let embedding = guarded(|| self.run(values, &pool));
        idle().push(pool);
        embedding
    }

    fn digest(&self) -> &str {
        &self.digest
    }
}

/// The numbers of an output that is one vector; axes of length 1 do not matter.
fn vector(output: Value) -> Result<Vec<f32>, String> {
    let sizes = output.shape().to_vec();
    if sizes.iter().filter(|size| **size != 1).count() != 1 {
        return Err(format!("returns {sizes:?} for a face, not one vector [1, n]"));
    }
    match output {
        Value::FloatTensor(numbers) => Ok(numbers.to_vec()),
        Value::Int32Tensor(numbers) => Ok(numbers.iter().map(|number| *number as f32).collect()),
        other => Err(format!("returns {} for a face, not 32-bit floats", other.dtype())),
    }
}

fn cannot_run(reason: impl Display) -> String {
    format!("cannot be run: {reason}")
}

/// Runs `work` on a thread of its own, and turns a panic into a sentence: some broken files make RTen
/// panic. A thread of the caller's pool that waited for RTen's would meanwhile begin other work of the
/// caller's, on top of what it holds.
fn guarded<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let done = thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, work).map_err(cannot_run)?;
        let damaged = |_| cannot_run("damaged, or beyond what RTen supports");
        started.join().map_err(damaged)
    });
    done?
}
