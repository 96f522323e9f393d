//! SFace: depthwise separable convolutions on 112x112 chips, 128 numbers.

use crate::engine::{Builder, Network, NodeId, Op, Window};
use crate::error::Result;
use crate::weights::Weights;

static FILE: &[u8] = include_bytes!("../../../../assets/sface.safetensors");

/// Blocks (from 1) that halve the picture.
const HALVING: [usize; 4] = [2, 4, 6, 12];
/// Channels before each block, and after the last.
const CHANNELS: [usize; 14] =
    [32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024];

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("sface", FILE)?;
    let mut net = Builder::default();
    let activate = |net: &mut Builder, x: NodeId, name: &str| -> Result<NodeId> {
        Ok(net.then(x, weights.prelu(name)?))
    };
    let mut x = net.then(net.input(), Op::Stem(weights.stem("conv", Window::new(3, 1, 1))?));
    x = activate(&mut net, x, "conv")?;
    for (number, inputs) in (1..=13).zip(CHANNELS) {
        let stride = if HALVING.contains(&number) { 2 } else { 1 };
        let name = format!("block{number}.depthwise");
        x = net.then(x, weights.depthwise(&name, Window::new(3, stride, 1))?);
        x = activate(&mut net, x, &name)?;
        let name = format!("block{number}.pointwise");
        x = net.then(x, weights.conv(&name, inputs, Window::new(1, 1, 0))?);
        x = activate(&mut net, x, &name)?;
    }
    x = net.then(x, weights.dense("fc", 1024, 7 * 7)?);
    Ok(net.finish(&[x]))
}
