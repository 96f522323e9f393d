//! Operations that RTen lacks, said with those it has.

use std::mem;

use rten_onnx::onnx::{GraphProto, NodeProto, TensorProto};

use crate::nodes::{Steps, attribute, float, input, integer, integers, number};

/// Rewrites the nodes of a graph that RTen refuses, or gets wrong.
pub fn fill(graph: &mut GraphProto) -> Result<(), String> {
    let nodes = mem::take(&mut graph.node);
    for (number, mut node) in nodes.into_iter().enumerate() {
        // The branches of an `If`.
        node.attribute.iter_mut().filter_map(|branch| branch.g.as_mut()).try_for_each(fill)?;
        state_sizes(&mut node, &graph.initializer);
        let mut steps = Steps { graph, number, made: 0 };
        match node.op_type.as_deref() {
            Some("Selu") => steps.selu(&node),
            Some("ThresholdedRelu") => steps.thresholded_relu(&node),
            Some("LRN") => steps.local_response_normalization(&node),
            Some("SpaceToDepth") => steps.space_to_depth(&node),
            Some("Conv" | "MaxPool" | "AveragePool") if pads_above(&node) => {
                steps.padded_above(node);
            }
            Some(kind) if pads_above(&node) => {
                return Err(format!("has auto_pad = SAME_LOWER in a {kind}: export it with pads"));
            }
            _ => graph.node.push(node),
        }
    }
    Ok(())
}

/// States what RTen needs and files may leave out: a convolution's kernel has the size of its weights, a
/// pool moves by 1.
fn state_sizes(node: &mut NodeProto, weights: &[TensorProto]) {
    let kernel = attribute(node, "kernel_shape").map(|kernel| kernel.ints.len());
    match (node.op_type.as_deref(), kernel) {
        (Some("Conv" | "ConvTranspose"), None) => {
            let of = |weight: &&TensorProto| weight.name.as_ref() == node.input.get(1);
            let weight = weights.iter().find(of);
            if let Some(sizes) = weight.and_then(|weight| weight.dims.get(2..)) {
                node.attribute.push(integers("kernel_shape", sizes));
            }
        }
        (Some("MaxPool" | "AveragePool"), Some(axes)) if attribute(node, "strides").is_none() => {
            node.attribute.push(integers("strides", &vec![1; axes]));
        }
        _ => {}
    }
}

/// Whether odd padding goes above and left. RTen puts it below and right, and does not say so.
fn pads_above(node: &NodeProto) -> bool {
    let pad = attribute(node, "auto_pad").and_then(|pad| pad.s.as_deref());
    pad == Some("SAME_LOWER")
}

impl Steps<'_> {
    fn selu(&mut self, node: &NodeProto) {
        let alpha = float(node, "alpha", 1.673_263_2);
        let gamma = self.constant(float(node, "gamma", 1.050_701));
        let elu = self.add("Elu", &[input(node)], vec![number("alpha", alpha)]);
        self.last("Mul", &[&elu, &gamma], vec![], node);
    }

    fn thresholded_relu(&mut self, node: &NodeProto) {
        let alpha = self.constant(float(node, "alpha", 1.0));
        let zero = self.constant(0.0);
        let above = self.add("Greater", &[input(node), &alpha], vec![]);
        self.last("Where", &[&above, input(node), &zero], vec![], node);
    }

    /// `x / (bias + alpha * m)^beta`, where `m` is the mean of `x^2` over neighbouring channels.
    fn local_response_normalization(&mut self, node: &NodeProto) {
        let size = attribute(node, "size").and_then(|size| size.i).unwrap_or(1);
        let (before, after) = ((size - 1) / 2, size / 2);
        let alpha = self.constant(float(node, "alpha", 1e-4));
        let bias = self.constant(float(node, "bias", 1.0));
        let beta = self.constant(float(node, "beta", 0.75));
        let square = self.add("Mul", &[input(node), input(node)], vec![]);
        let last = self.add("Transpose", &[&square], vec![integers("perm", &[0, 2, 3, 1])]);
        let pool = vec![
            integers("kernel_shape", &[1, size]),
            integers("strides", &[1, 1]),
            integers("pads", &[0, before, 0, after]),
            integer("count_include_pad", 1),
        ];
        let mean = self.add("AveragePool", &[&last], pool);
        let mean = self.add("Transpose", &[&mean], vec![integers("perm", &[0, 3, 1, 2])]);
        let scaled = self.add("Mul", &[&mean, &alpha], vec![]);
        let sum = self.add("Add", &[&scaled, &bias], vec![]);
        let power = self.add("Pow", &[&sum, &beta], vec![]);
        self.last("Div", &[input(node), &power], vec![], node);
    }

    fn space_to_depth(&mut self, node: &NodeProto) {
        let block = attribute(node, "blocksize").and_then(|size| size.i).unwrap_or(1);
        // More would be no recogniser, but many nodes.
        let block = block.clamp(1, 16);
        let steps = self.list(&[block, block]);
        let mut parts = Vec::new();
        for row in 0..block {
            for column in 0..block {
                let starts = self.list(&[row, column]);
                parts.push(self.slice(input(node), &starts, i64::MAX, &steps));
            }
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.last("Concat", &parts, vec![integer("axis", 1)], node);
    }

    /// Turned upside down, odd padding is where RTen puts it.
    fn padded_above(&mut self, mut node: NodeProto) {
        let back = self.list(&[-1, -1]);
        for name in node.input.iter_mut().take(2) {
            *name = self.slice(name, &back, i64::MIN, &back);
        }
        for pad in node.attribute.iter_mut().filter(|a| a.name.as_deref() == Some("auto_pad")) {
            pad.s = Some("SAME_UPPER".to_owned());
        }
        let turned = self.name();
        let output = mem::replace(&mut node.output, vec![turned.clone()]);
        self.graph.node.push(node);
        let ends = self.list(&[i64::MIN, i64::MIN]);
        let axes = self.list(&[2, 3]);
        self.push("Slice", &[&turned, &back, &ends, &axes, &back], vec![], output);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rten_onnx::onnx::AttributeProto;

    use super::*;

    fn padded_above(kind: &str) -> GraphProto {
        let (name, value) = (Some("auto_pad".to_owned()), Some("SAME_LOWER".to_owned()));
        let pad = AttributeProto { name, s: value, ..Default::default() };
        let input = ["face".to_owned(), "weights".to_owned()].to_vec();
        let (op_type, attribute) = (Some(kind.to_owned()), vec![pad]);
        let node = NodeProto { op_type, input, attribute, ..Default::default() };
        GraphProto { node: vec![node], ..Default::default() }
    }

    /// RTen would take these and compute something else; `rare.onnx` holds the values of the others.
    #[test]
    fn padding_above_is_never_left_to_rten() {
        let refused = fill(&mut padded_above("ConvTranspose")).unwrap_err();
        assert!(refused.contains("SAME_LOWER in a ConvTranspose"), "{refused}");

        let branch = AttributeProto { g: Some(padded_above("Conv")), ..Default::default() };
        let node = NodeProto { attribute: vec![branch], ..Default::default() };
        let mut graph = GraphProto { node: vec![node], ..Default::default() };
        fill(&mut graph).unwrap();
        let nodes = &graph.node[0].attribute[0].g.as_ref().unwrap().node;
        let kinds: Vec<&str> = nodes.iter().filter_map(|node| node.op_type.as_deref()).collect();
        assert_eq!(kinds, ["Slice", "Slice", "Conv", "Slice"]);
        assert_eq!(nodes[2].attribute[0].s.as_deref(), Some("SAME_UPPER"));
    }
}
