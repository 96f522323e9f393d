//! An ONNX file, checked and prepared for one face at a time.

use rten_onnx::onnx::{
    DataLocation, DataType, Dimension, GraphProto, ModelProto, TensorShapeProto, TypeProto,
    TypeProtoTensor, ValueInfoProto,
};

use crate::{gaps, wire};

/// Reads an ONNX file with one input, a chip, and one output. Returns the file with every stated shape
/// replaced by that of one chip: the shapes may be those of another batch size.
pub fn read(file: &[u8], side: usize) -> Result<Vec<u8>, String> {
    let not_onnx = || "not an ONNX file, or damaged".to_owned();
    let plain = wire::plain(file).ok_or_else(not_onnx)?;
    let mut model = ModelProto::parse_buf(&plain).map_err(|_| not_onnx())?;
    model.ir_version.get_or_insert(8);
    let graph = model.graph.as_mut().filter(|graph| !graph.node.is_empty()).ok_or_else(not_onnx)?;
    // The digest would not cover external weights.
    let elsewhere = Some(DataLocation::EXTERNAL);
    if graph.initializer.iter().any(|tensor| tensor.data_location == elsewhere) {
        return Err("has its weights in a separate file: save the model as one file".to_owned());
    }
    drop_weights_from_inputs(graph);
    let [input] = graph.input.as_mut_slice() else {
        let inputs = graph.input.len();
        return Err(format!("has {inputs} inputs, not one: a recogniser takes the chip alone"));
    };
    check_input(input, side)?;
    input.r#type = Some(chips(side));
    let [output] = graph.output.as_mut_slice() else {
        let outputs = graph.output.len();
        return Err(format!("has {outputs} outputs, not one: export it with the embedding alone"));
    };
    output.r#type = None;
    graph.value_info.clear();
    gaps::fill(graph)?;
    model.write_buf().map_err(|error| error.to_string())
}

/// Old files list weights as inputs too.
fn drop_weights_from_inputs(graph: &mut GraphProto) {
    let weights = &graph.initializer;
    graph.input.retain(|input| weights.iter().all(|weight| weight.name != input.name));
}

/// Fails if the declared input is not a chip.
fn check_input(input: &ValueInfoProto, side: usize) -> Result<(), String> {
    let Some(tensor) = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref()) else {
        return Ok(());
    };
    let kind = tensor.elem_type.unwrap_or(DataType::FLOAT);
    if kind != DataType::FLOAT {
        return Err(format!("takes numbers of type {kind}: export it with 32-bit floats"));
    }
    let Some(shape) = &tensor.shape else { return Ok(()) };
    let size = |size: &Dimension| size.dim_value.and_then(|n| usize::try_from(n).ok());
    let sizes: Vec<Option<usize>> = shape.dim.iter().map(size).collect();
    // Any batch size will do: it is replaced by 1.
    let fits = |(found, expected): (&Option<usize>, usize)| found.is_none_or(|n| n == expected);
    if sizes.len() == 4 && sizes.iter().skip(1).zip([3, side, side]).all(fits) {
        return Ok(());
    }
    let sizes = sizes.iter().map(|size| size.map_or("?".to_owned(), |size| size.to_string()));
    let found = sizes.collect::<Vec<_>>().join(", ");
    Err(format!(
        "takes [{found}], not [1, 3, {side}, {side}]: correct `side` in the TOML file, or export the \
         model with the colours before the rows"
    ))
}

/// The type of one chip.
fn chips(side: usize) -> TypeProto {
    let size = |n: usize| Dimension { dim_value: i64::try_from(n).ok(), dim_param: None };
    let shape = TensorShapeProto { dim: [1, 3, side, side].map(size).to_vec() };
    let tensor = TypeProtoTensor { elem_type: Some(DataType::FLOAT), shape: Some(shape) };
    TypeProto { tensor_type: Some(tensor), sequence: None }
}
