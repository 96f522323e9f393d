//! The body that MobileFaceNet and its relatives share: fifteen blocks with a wide middle.

use crate::engine::{Builder, NodeId, Window};
use crate::error::Result;
use crate::weights::Weights;

/// Channels before the first block.
pub(super) const FIRST: usize = 64;
/// Channels after the last block.
pub(super) const LAST: usize = 128;

pub(super) struct Block {
    pub name: String,
    inputs: usize,
    inside: usize,
    #[cfg_attr(not(feature = "intel"), allow(dead_code))]
    pub outputs: usize,
    pub stride: usize,
}

/// The blocks in order. Those of stride 1 add their input to their result.
pub(super) fn blocks() -> impl Iterator<Item = Block> {
    // Repetitions, channels inside and after the block, stride.
    let stages = [
        (1, 128, 64, 2),
        (4, 128, 64, 1),
        (1, 256, LAST, 2),
        (6, 256, LAST, 1),
        (1, 512, LAST, 2),
        (2, 256, LAST, 1),
    ];
    let mut inputs = FIRST;
    let each = stages.into_iter().flat_map(|(count, inside, outputs, stride)| {
        std::iter::repeat_n((inside, outputs, stride), count)
    });
    (1..).zip(each).map(move |(number, (inside, outputs, stride))| {
        let block = Block { name: format!("block{number}"), inputs, inside, outputs, stride };
        inputs = outputs;
        block
    })
}

impl Block {
    /// The three convolutions of a block. `activate` follows the first two; it gets their names.
    pub(super) fn apply(
        &self,
        net: &mut Builder,
        weights: &Weights<'_>,
        x: NodeId,
        activate: impl Fn(&mut Builder, NodeId, &str) -> Result<NodeId>,
    ) -> Result<NodeId> {
        let point = Window::new(1, 1, 0);
        let name = format!("{}.expand", self.name);
        let x = net.then(x, weights.conv(&name, self.inputs, point)?);
        let x = activate(net, x, &name)?;
        let name = format!("{}.depthwise", self.name);
        let x = net.then(x, weights.depthwise(&name, Window::new(3, self.stride, 1))?);
        let x = activate(net, x, &name)?;
        let name = format!("{}.project", self.name);
        Ok(net.then(x, weights.conv(&name, self.inside, point)?))
    }
}
