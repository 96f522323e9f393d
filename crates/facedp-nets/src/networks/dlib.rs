//! dlib's face descriptor: a residual network of 29 convolutions on 150x150 chips, 128 numbers.

use crate::engine::{Builder, Network, Op, Pool, Window};
use crate::error::Result;
use crate::weights::Weights;

/// Channels of each residual block, and whether it halves the picture.
const BLOCKS: [(usize, bool); 14] = [
    (32, false),
    (32, false),
    (32, false),
    (64, true),
    (64, false),
    (64, false),
    (64, false),
    (128, true),
    (128, false),
    (128, false),
    (256, true),
    (256, false),
    (256, false),
    (256, true),
];

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("dlib", facedp_weights_dlib::DLIB)?;
    let mut net = Builder::default();
    let mut x = net.then(net.input(), Op::Stem(weights.stem("conv", Window::new(7, 2, 0))?));
    x = net.then(x, Op::Relu);
    x = net.then(x, Op::Pool(Pool::Max(Window::new(3, 2, 0))));
    let mut inputs = 32;
    for (number, (outputs, halves)) in (1..).zip(BLOCKS) {
        let name = format!("block{number}.conv1");
        let first = if halves {
            weights.conv(&name, inputs, Window::new(3, 2, 0))?
        } else {
            weights.conv(&name, inputs, Window::new(3, 1, 1))?
        };
        let mut y = net.then(x, first);
        y = net.then(y, Op::Relu);
        y = net
            .then(y, weights.conv(&format!("block{number}.conv2"), outputs, Window::new(3, 1, 1))?);
        if halves {
            x = net.then(x, Op::Pool(Pool::Average(Window::new(2, 2, 0))));
        }
        x = net.add(y, x); // dlib pads the smaller one with zeros
        x = net.then(x, Op::Relu);
        inputs = outputs;
    }
    x = net.then(x, Op::GlobalAverage);
    x = net.then(x, weights.matrix("fc", 256)?);
    Ok(net.finish(&[x]))
}
