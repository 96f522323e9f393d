//! SFace: depthwise separable convolutions on 112x112 chips, 128 numbers.

use crate::engine::{Builder, Network, NodeId, Op, Window};
use crate::error::Result;
use crate::weights::Weights;

/// The file comes in two halves, since a package may have 10 MiB at most.
const PARTS: [&[u8]; 2] = [facedp_weights_sface_1::PART, facedp_weights_sface_2::PART];
static FILE: [u8; PARTS[0].len() + PARTS[1].len()] = joined();

/// Joined by the compiler: the program has the file once, and in one piece.
const fn joined<const N: usize>() -> [u8; N] {
    let mut file = [0; N];
    let (first, second) = file.split_at_mut(PARTS[0].len());
    first.copy_from_slice(PARTS[0]);
    second.copy_from_slice(PARTS[1]);
    file
}

/// Blocks (from 1) that halve the picture.
const HALVING: [usize; 4] = [2, 4, 6, 12];
/// Channels before each block, and after the last.
const CHANNELS: [usize; 14] =
    [32, 64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024];

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("sface", &FILE)?;
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
