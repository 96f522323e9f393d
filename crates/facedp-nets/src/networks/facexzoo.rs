//! FaceX-Zoo's MobileFaceNet, trained with MV-softmax: 112x112 chips, 512 numbers.

use super::bottleneck::{LAST, blocks};
use crate::engine::{Builder, Network, NodeId, Op, Window};
use crate::error::Result;
use crate::weights::Weights;

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("facexzoo", facedp_weights_small::FACEXZOO)?;
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
        x = if block.stride == 1 { net.add(x, y) } else { y };
    }
    x = net.then(x, weights.conv("last", LAST, Window::new(1, 1, 0))?);
    x = activate(&mut net, x, "last")?;
    x = net.then(x, weights.depthwise("global", Window::new(7, 1, 0))?);
    x = net.then(x, weights.conv("fc", 512, Window::new(1, 1, 0))?);
    Ok(net.finish(&[x]))
}
