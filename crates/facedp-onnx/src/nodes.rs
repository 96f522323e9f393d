//! Nodes for an ONNX graph, and their attributes.

use rten_onnx::onnx::{AttributeProto, DataType, GraphProto, NodeProto, TensorProto};

/// Nodes in the place of one.
pub struct Steps<'a> {
    pub graph: &'a mut GraphProto,
    pub number: usize,
    pub made: usize,
}

impl Steps<'_> {
    /// Every `steps`-th row and column of an input; returns the output's name.
    pub fn slice(&mut self, name: &str, starts: &str, end: i64, steps: &str) -> String {
        let (ends, axes) = (self.list(&[end, end]), self.list(&[2, 3]));
        self.add("Slice", &[name, starts, &ends, &axes, steps], vec![])
    }

    /// Adds a node; returns its output's name.
    pub fn add(&mut self, kind: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> String {
        let name = self.name();
        self.push(kind, inputs, attributes, vec![name.clone()]);
        name
    }

    /// Adds the node whose output is that of the replaced one.
    pub fn last(
        &mut self,
        kind: &str,
        inputs: &[&str],
        attrs: Vec<AttributeProto>,
        node: &NodeProto,
    ) {
        self.push(kind, inputs, attrs, node.output.clone());
    }

    pub fn push(
        &mut self,
        kind: &str,
        inputs: &[&str],
        attribute: Vec<AttributeProto>,
        output: Vec<String>,
    ) {
        let input = inputs.iter().map(|&name| name.to_owned()).collect();
        let op_type = Some(kind.to_owned());
        self.graph.node.push(NodeProto { op_type, input, output, attribute, ..Default::default() });
    }

    pub fn constant(&mut self, value: f32) -> String {
        let (data_type, float_data) = (Some(DataType::FLOAT), vec![value]);
        self.weight(TensorProto { data_type, float_data, ..Default::default() })
    }

    pub fn list(&mut self, values: &[i64]) -> String {
        let (dims, int64_data) = (vec![values.len() as i64], values.to_vec());
        let data_type = Some(DataType::INT64);
        self.weight(TensorProto { dims, data_type, int64_data, ..Default::default() })
    }

    fn weight(&mut self, tensor: TensorProto) -> String {
        let name = self.name();
        self.graph.initializer.push(TensorProto { name: Some(name.clone()), ..tensor });
        name
    }

    pub fn name(&mut self) -> String {
        self.made += 1;
        format!("facedp {} {}", self.number, self.made)
    }
}

pub fn attribute<'a>(node: &'a NodeProto, name: &str) -> Option<&'a AttributeProto> {
    node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some(name))
}

pub fn float(node: &NodeProto, name: &str, default: f32) -> f32 {
    attribute(node, name).and_then(|attribute| attribute.f).unwrap_or(default)
}

pub fn input(node: &NodeProto) -> &str {
    node.input.first().map_or("", String::as_str)
}

pub fn number(name: &str, value: f32) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), f: Some(value), ..Default::default() }
}

pub fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), i: Some(value), ..Default::default() }
}

pub fn integers(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), ints: values.to_vec(), ..Default::default() }
}
