//! MobileFaceNet by foamliu: 112x112 chips, 128 numbers.

use super::bottleneck::{FIRST, LAST, blocks};
use crate::engine::{Builder, Network, NodeId, Op, Window};
use crate::error::Result;
use crate::weights::Weights;

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("mobilefacenet", facedp_weights_small::MOBILEFACENET)?;
    let mut net = Builder::default();
    let activate = |net: &mut Builder, x: NodeId, _: &str| Ok(net.then(x, Op::Relu6));
    let mut x = net.then(net.input(), Op::Stem(weights.stem("conv", Window::new(3, 2, 1))?));
    x = net.then(x, Op::Relu6);
    x = net.then(x, weights.depthwise("depthwise", Window::new(3, 1, 1))?);
    x = net.then(x, Op::Relu);
    x = net.then(x, weights.conv("pointwise", FIRST, Window::new(1, 1, 0))?);
    x = net.then(x, Op::Relu);
    for block in blocks() {
        let y = block.apply(&mut net, &weights, x, activate)?;
        x = if block.stride == 1 { net.add(x, y) } else { y };
    }
    x = net.then(x, weights.conv("last", LAST, Window::new(1, 1, 0))?);
    x = net.then(x, Op::Relu6);
    x = net.then(x, weights.depthwise("global", Window::new(7, 1, 0))?);
    x = net.then(x, weights.conv("fc", 512, Window::new(1, 1, 0))?);
    Ok(net.finish(&[x]))
}
