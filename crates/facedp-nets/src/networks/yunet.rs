//! YuNet (2023mar): a small detector with heads at strides 8, 16 and 32.
//!
//! Each head gives 16 channels: class, object, box (4), landmarks (10); the first two before their
//! sigmoid. Sides of the input must be multiples of 32.

use crate::engine::{Builder, Chain, Link, Network, NodeId, Op, Pool, Window};
use crate::error::Result;
use crate::weights::Weights;

/// Strides of the heads, in the order of the outputs.
pub(crate) const STRIDES: [usize; 3] = [8, 16, 32];

pub(crate) fn network() -> Result<Network> {
    let weights = Weights::read("yunet", facedp_weights_small::YUNET)?;
    let mut net = Builder::default();
    let unit = |net: &mut Builder, x: NodeId, name: &str, inputs: usize| -> Result<NodeId> {
        Ok(net.then(x, Op::Unit(weights.unit(name, inputs)?)))
    };
    let active = |net: &mut Builder, x: NodeId, name: &str, inputs: usize| -> Result<NodeId> {
        let x = unit(net, x, name, inputs)?;
        Ok(net.then(x, Op::Relu))
    };
    let half = |net: &mut Builder, x| net.then(x, Op::Pool(Pool::Max(Window::new(2, 2, 0))));

    // Nothing but the next layer needs the values of the first stages, which are large.
    let link = |name: &str, inputs: usize| Ok(Link::Unit(weights.unit(name, inputs)?));
    let mut links = vec![link("stem.unit", 16)?];
    // Channels into both units of a stage; stage 2 does not halve its input.
    for (stage, inputs) in [(1, 16), (2, 32), (3, 64)] {
        if stage != 2 {
            links.push(Link::Halve);
        }
        links.push(link(&format!("stage{stage}.unit1"), inputs)?);
        links.push(link(&format!("stage{stage}.unit2"), inputs)?);
    }
    let stem = weights.stem("stem.conv", Window::new(3, 2, 1))?;
    let mut x = net.then(net.input(), Op::Chain(Chain::new(stem, links)));
    let mut stages = vec![x];
    for stage in [4, 5] {
        x = half(&mut net, x);
        x = active(&mut net, x, &format!("stage{stage}.unit1"), 64)?;
        x = active(&mut net, x, &format!("stage{stage}.unit2"), 64)?;
        stages.push(x);
    }
    let at32 = active(&mut net, stages[2], "neck32", 64)?;
    let up = net.then(at32, Op::Upsample);
    let sum = net.add(stages[1], up);
    let at16 = active(&mut net, sum, "neck16", 64)?;
    let up = net.then(at16, Op::Upsample);
    let sum = net.add(stages[0], up);
    let at8 = active(&mut net, sum, "neck8", 64)?;

    let heads = [
        unit(&mut net, at8, "head8", 64)?,
        unit(&mut net, at16, "head16", 64)?,
        unit(&mut net, at32, "head32", 64)?,
    ];
    Ok(net.finish(&heads))
}
