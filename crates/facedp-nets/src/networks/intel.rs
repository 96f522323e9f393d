//! Intel's face-reidentification-retail-0095: blocks with squeeze and excitation on 128x128 chips, 256
//! numbers.

use super::bottleneck::{Block, LAST, blocks};
use crate::engine::{Builder, Network, NodeId, Op, Window};
use crate::error::Result;
use crate::weights::Weights;

/// Channels of a block's result for each channel of its squeezed form.
const REDUCTION: usize = 8;

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("intel", facedp_weights_small::INTEL)?;
    let mut net = Builder::default();
    let activate = |net: &mut Builder, x: NodeId, name: &str| -> Result<NodeId> {
        Ok(net.then(x, weights.prelu(name)?))
    };
    let mut x = net.then(net.input(), Op::Stem(weights.stem("conv", Window::new(3, 2, 1))?));
    x = activate(&mut net, x, "conv")?;
    x = net.then(x, weights.depthwise("depthwise", Window::new(3, 1, 1))?);
    x = activate(&mut net, x, "depthwise")?;
    for block in blocks() {
        let y = block.apply(&mut net, &weights, x, activate)?;
        let y = excite(&mut net, &weights, y, &block)?;
        x = if block.stride == 1 { net.add(x, y) } else { y };
    }
    x = net.then(x, weights.conv("last", LAST, Window::new(1, 1, 0))?);
    x = activate(&mut net, x, "last")?;
    x = net.then(x, weights.depthwise("global", Window::new(8, 1, 0))?);
    x = net.then(x, weights.matrix("fc", 512)?);
    Ok(net.finish(&[x]))
}

/// Scales each channel by a function of the means of all channels.
fn excite(net: &mut Builder, weights: &Weights<'_>, x: NodeId, block: &Block) -> Result<NodeId> {
    let (squeeze, excite) = (format!("{}.squeeze", block.name), format!("{}.excite", block.name));
    let point = Window::new(1, 1, 0);
    let mut factors = net.then(x, Op::GlobalAverage);
    factors = net.then(factors, weights.conv(&squeeze, block.outputs, point)?);
    factors = net.then(factors, weights.prelu(&squeeze)?);
    factors = net.then(factors, weights.conv(&excite, block.outputs / REDUCTION, point)?);
    factors = net.then(factors, Op::Sigmoid);
    Ok(net.scale(x, factors))
}
