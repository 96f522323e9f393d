//! A network in an ONNX file, run by tract.

use std::panic::{AssertUnwindSafe, catch_unwind};

use facedp_nets::Embed;
use sha2::{Digest, Sha256};
use tract_onnx::pb::ModelProto;
use tract_onnx::pb::tensor_proto::DataLocation;
use tract_onnx::prelude::*;
use tract_onnx::tract_hir::infer::Factoid;
use tract_onnx::tract_hir::internal::DimLike;

pub struct Network {
    plan: TypedRunnableModel<TypedModel>,
    side: usize,
    digest: String,
}

impl Network {
    /// Reads an ONNX file. Its network must take one chip and return one vector.
    pub fn new(file: &[u8], side: usize) -> Result<Self, String> {
        let proto = read(file)?;
        let mut model = guarded(|| onnx().model_for_proto_model(&proto))?;
        check_input(&model, side)?;
        if model.outputs.len() != 1 {
            let found = model.outputs.len();
            return Err(format!(
                "has {found} outputs, not one: export it with the embedding alone"
            ));
        }
        let plan = guarded(|| {
            model.set_input_fact(0, f32::fact([1, 3, side, side]).into())?;
            model.into_optimized()?.into_runnable()
        })?;
        check_output(&plan)?;
        let digest = Sha256::digest(file).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { plan, side, digest })
    }
}

impl Embed for Network {
    fn embed(&self, values: &[f32]) -> Result<Vec<f32>, String> {
        guarded(|| {
            let input = Tensor::from_shape(&[1, 3, self.side, self.side], values)?;
            let outputs = self.plan.run(tvec!(input.into()))?;
            Ok(outputs[0].cast_to::<f32>()?.as_slice::<f32>()?.to_vec())
        })
    }

    fn digest(&self) -> &str {
        &self.digest
    }
}

/// Parses a file and drops the shapes that it states for intermediate tensors: they may be those of
/// another batch size.
fn read(file: &[u8]) -> Result<ModelProto, String> {
    let not_onnx = || "not an ONNX file, or damaged".to_owned();
    let mut proto = guarded(|| onnx().proto_model_for_read(&mut &*file)).map_err(|_| not_onnx())?;
    let graph = proto.graph.as_mut().filter(|graph| !graph.node.is_empty()).ok_or_else(not_onnx)?;
    // The digest would not cover external weights.
    let elsewhere = Some(DataLocation::External as i32);
    if graph.initializer.iter().any(|tensor| tensor.data_location == elsewhere) {
        return Err("has its weights in a separate file: save the model as one file".to_owned());
    }
    graph.value_info.clear();
    Ok(proto)
}

/// Fails if the declared input is not a chip.
fn check_input(model: &InferenceModel, side: usize) -> Result<(), String> {
    let inputs = model.inputs.len();
    if inputs != 1 {
        return Err(format!("has {inputs} inputs, not one: a recogniser takes the chip alone"));
    }
    let fact = guarded(|| model.input_fact(0))?;
    let kind = fact.datum_type.concretize().unwrap_or(f32::datum_type());
    if kind != f32::datum_type() {
        return Err(format!("takes numbers of type {kind:?}: export it with 32-bit floats"));
    }
    let sizes = fact.shape.dims().map(|size| size.concretize()?.to_usize().ok());
    let sizes: Vec<Option<usize>> = sizes.collect();
    let rank = fact.shape.rank().concretize().unwrap_or(4);
    // Any batch size will do: it is replaced by 1.
    let fits = |(found, expected): (&Option<usize>, usize)| found.is_none_or(|n| n == expected);
    if rank == 4 && sizes.iter().skip(1).zip([3, side, side]).all(fits) {
        return Ok(());
    }
    let sizes = sizes.iter().map(|size| size.map_or("?".to_owned(), |size| size.to_string()));
    let found = sizes.collect::<Vec<_>>().join(", ");
    Err(format!(
        "takes [{found}], not [1, 3, {side}, {side}]: correct `side` in the TOML file, or export the \
         model with the colours before the rows"
    ))
}

/// Fails if the output is not one vector.
fn check_output(plan: &TypedRunnableModel<TypedModel>) -> Result<(), String> {
    let fact = guarded(|| plan.model().output_fact(0))?;
    let sizes = fact.shape.as_concrete().unwrap_or_default();
    // Axes of length 1 do not matter.
    if sizes.iter().filter(|size| **size != 1).count() != 1 {
        return Err(format!("returns {:?} for a face, not one vector [1, n]", fact.shape));
    }
    Ok(())
}

/// Turns errors and panics into a sentence: some broken files make tract panic.
fn guarded<T>(work: impl FnOnce() -> TractResult<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| format!("cannot be run: {error:#}")),
        Err(_) => Err("cannot be run: damaged, or beyond what tract supports".to_owned()),
    }
}
