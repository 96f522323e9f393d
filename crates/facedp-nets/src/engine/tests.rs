//! The engine against plain loops, and its gradients against finite differences.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use half::f16;

use super::registers::with_each_kind;
use super::{
    Builder, Conv, Dense, Depthwise, Network, NodeId, Op, Pool, Shape, Stem, Unit, Window,
    Workspace,
};
use crate::{Chip, Recogniser};

/// Repeatable numbers in -1..1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn take(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A network of one operation on an input of that many channels.
fn single(op: Op, channels: usize) -> Network {
    let mut net = Builder::default();
    let input = picture(&mut net, channels);
    let out =
        if matches!(op, Op::Stem(_)) { net.then(net.input(), op) } else { net.then(input, op) };
    net.finish(&[out])
}

/// The input of a network as any operation can use it: a convolution that changes nothing.
fn picture(net: &mut Builder, channels: usize) -> NodeId {
    let weights: Vec<f32> =
        (0..channels * channels).map(|n| if n % (channels + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let stem = Stem::new(Window::new(1, 1, 0), channels, &weights, &vec![0.0; channels]);
    net.then(net.input(), Op::Stem(stem.unwrap()))
}

/// The same in registers of each kind, but for rounding.
fn run(network: &Network, shape: Shape, input: &[f32]) -> Vec<f32> {
    let mut outputs: Vec<Vec<f32>> = Vec::new();
    with_each_kind(|| {
        let mut work = Workspace::default();
        network.forward(&mut work, shape, |x| x.copy_from_slice(input));
        outputs.push(network.output(&work, 0));
    });
    assert!(outputs.iter().all(|output| close(output, &outputs[0])));
    outputs.remove(1)
}

/// [`Network::backward`] after a run, likewise.
fn gradient(network: &Network, shape: Shape, input: &[f32], upstream: &[f32]) -> Vec<f32> {
    let mut gradients: Vec<Vec<f32>> = Vec::new();
    with_each_kind(|| {
        let mut work = Workspace::default();
        network.forward(&mut work, shape, |x| x.copy_from_slice(input));
        gradients.push(network.backward(&mut work, 0, upstream).to_vec());
    });
    assert!(gradients.iter().all(|gradient| close(gradient, &gradients[0])));
    gradients.remove(1)
}

/// The cells of a window at output (y, x): the input position, `None` in the padding, and the kernel
/// position.
fn window_cells(
    w: Window,
    shape: Shape,
    (y, x): (usize, usize),
) -> impl Iterator<Item = (Option<(usize, usize)>, usize)> {
    (0..w.kernel * w.kernel).map(move |k| {
        let at = |o: usize, k: usize, n: usize| {
            (o * w.stride + k).checked_sub(w.padding).filter(|&i| i < n)
        };
        let cell = at(y, k / w.kernel, shape.height).zip(at(x, k % w.kernel, shape.width));
        (cell, k)
    })
}

fn close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs()))
}

prop_compose! {
    fn windows()(kernel in 1usize..5, stride in 1usize..4, padding in 0usize..3) -> Window {
        Window::new(kernel, stride, padding.min(kernel - 1))
    }
}

prop_compose! {
    fn shapes()(channels in 1usize..4, height in 5usize..12, width in 5usize..12) -> Shape {
        Shape::new(channels, height, width)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        // The same cases every time.
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn convolutions_equal_plain_loops(w in windows(), shape in shapes(), outputs in 1usize..4) {
        let mut numbers = Numbers(1);
        let area = w.kernel * w.kernel;
        let input = numbers.take(shape.len());
        let weights = numbers.take(outputs * shape.channels * area);
        let bias = numbers.take(outputs);
        let conv = Conv::new(w, shape.channels, &weights, &bias).unwrap();
        let stem = Stem::new(w, shape.channels, &weights, &bias).unwrap();
        let (rows, columns) = (w.positions(shape.height), w.positions(shape.width));
        let pixel = |c: usize, (y, x): (usize, usize)| input[c * shape.area() + y * shape.width + x];

        let mut expected = Vec::new();
        for o in 0..outputs {
            for at in (0..rows * columns).map(|i| (i / columns, i % columns)) {
                let mut sum = bias[o];
                for c in 0..shape.channels {
                    for (cell, k) in window_cells(w, shape, at) {
                        let weight = weights[(o * shape.channels + c) * area + k];
                        sum += cell.map_or(0.0, |cell| weight * pixel(c, cell));
                    }
                }
                expected.push(sum);
            }
        }
        for op in [Op::Conv(conv), Op::Stem(stem)] {
            prop_assert!(close(&run(&single(op, shape.channels), shape, &input), &expected));
        }

        let bias = numbers.take(shape.channels);
        let weights = numbers.take(shape.channels * area);
        let own = Depthwise::new(w, &weights, &bias).unwrap();
        let found = run(&single(Op::Depthwise(own), shape.channels), shape, &input);
        let mut expected = Vec::new();
        for c in 0..shape.channels {
            for at in (0..rows * columns).map(|i| (i / columns, i % columns)) {
                let cells = window_cells(w, shape, at);
                expected.push(cells.map(|(cell, k)| {
                    cell.map_or(0.0, |cell| weights[c * area + k] * pixel(c, cell))
                }).sum::<f32>() + bias[c]);
            }
        }
        prop_assert!(close(&found, &expected));
    }

    #[test]
    fn pools_equal_plain_loops(w in windows(), shape in shapes()) {
        let input = Numbers(2).take(shape.len());
        let (rows, columns) = (w.positions(shape.height), w.positions(shape.width));
        let (mut largest, mut mean) = (Vec::new(), Vec::new());
        for c in 0..shape.channels {
            for at in (0..rows * columns).map(|i| (i / columns, i % columns)) {
                let inside: Vec<f32> = window_cells(w, shape, at).filter_map(|(cell, _)| cell)
                    .map(|(y, x)| input[c * shape.area() + y * shape.width + x]).collect();
                largest.push(inside.iter().copied().fold(f32::NEG_INFINITY, f32::max));
                mean.push(inside.iter().sum::<f32>() / (w.kernel * w.kernel) as f32);
            }
        }
        prop_assert!(close(&run(&single(Op::Pool(Pool::Max(w)), shape.channels), shape, &input), &largest));
        prop_assert!(close(&run(&single(Op::Pool(Pool::Average(w)), shape.channels), shape, &input), &mean));
    }
}

/// With more channels than fit into one group, and pictures larger than what is computed at once.
#[test]
fn many_channels_and_pixels_equal_plain_loops() {
    let mut numbers = Numbers(12);
    let (shape, middle) = (Shape::new(3, 13, 21), 35);
    let (first, second) = (numbers.take(middle * 3), numbers.take(20 * middle * 9));
    let (depth, bias) = (numbers.take(20 * 9), numbers.take(20));
    let mut net = Builder::default();
    let point = Stem::new(Window::new(1, 1, 0), 3, &first, &vec![0.1; middle]).unwrap();
    let wide = net.then(net.input(), Op::Stem(point));
    let window = Window::new(3, 1, 1);
    let conv = net.then(wide, Op::Conv(Conv::new(window, middle, &second, &bias).unwrap()));
    let depthwise = Depthwise::new(window, &depth, &[0.0; 20]).unwrap();
    let out = net.then(conv, Op::Depthwise(depthwise));
    let input = numbers.take(shape.len());
    let found = run(&net.finish(&[out]), shape, &input);

    let area = shape.area();
    let value = |c: usize, n: usize| -> f64 {
        (0..3).map(|i| f64::from(first[c * 3 + i]) * f64::from(input[i * area + n])).sum::<f64>()
            + 0.1
    };
    let plane = |visit: &dyn Fn((usize, usize)) -> f64| -> Vec<f64> {
        (0..area).map(|n| visit((n / shape.width, n % shape.width))).collect()
    };
    for c in 0..20 {
        let sum = plane(&|at| {
            let cells = window_cells(window, shape, at);
            let terms = cells.filter_map(|(cell, k)| cell.map(|(y, x)| (y * shape.width + x, k)));
            let term = |(n, k)| -> f64 {
                let weight = |i: usize| f64::from(second[(c * middle + i) * 9 + k]);
                (0..middle).map(|i| weight(i) * value(i, n)).sum()
            };
            f64::from(bias[c]) + terms.map(term).sum::<f64>()
        });
        let expected = plane(&|at| {
            let cells = window_cells(window, shape, at);
            let terms = cells.filter_map(|(cell, k)| cell.map(|(y, x)| (y * shape.width + x, k)));
            terms.map(|(n, k)| f64::from(depth[c * 9 + k]) * sum[n]).sum()
        });
        for (found, expected) in found[c * area..].iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-4, "{found}, not {expected}");
        }
    }
}

/// Also in pictures that are narrower than what is computed at once.
#[test]
fn units_equal_their_parts() {
    for (height, width) in [(1, 1), (2, 3), (3, 4), (5, 5), (9, 21)] {
        let (mut numbers, shape) = (Numbers(14), Shape::new(3, height, width));
        let (weights, bias) = (numbers.take(3 * 20), numbers.take(20));
        let point = Conv::new(Window::new(1, 1, 0), 3, &weights, &bias).unwrap();
        let weights = numbers.take(20 * 9);
        let depth = Depthwise::new(Window::new(3, 1, 1), &weights, &bias).unwrap();
        let input = numbers.take(shape.len());
        let mut net = Builder::default();
        let x = picture(&mut net, 3);
        let x = net.then(x, Op::Conv(point.clone()));
        let x = net.then(x, Op::Depthwise(depth.clone()));
        let parts = net.finish(&[x]);
        let unit = single(Op::Unit(Unit::new(point.clone(), depth).unwrap()), 3);
        assert!(close(&run(&unit, shape, &input), &run(&parts, shape, &input)));
        let depth = Depthwise::new(Window::new(3, 2, 1), &weights, &bias).unwrap();
        assert!(Unit::new(point, depth).is_none());
    }
}

/// On each kind of processor, in both directions.
#[test]
fn weights_in_half_precision_equal_the_same_in_single_precision() {
    for (window, side) in [(Window::new(1, 1, 0), 5), (Window::new(3, 2, 1), 9)] {
        let (mut numbers, shape) = (Numbers(15), Shape::new(3, side, side + 1));
        let area = window.kernel * window.kernel;
        let halves: Vec<f16> =
            numbers.take(40 * 3 * area).iter().map(|w| f16::from_f32(*w)).collect();
        let weights: Vec<f32> = halves.iter().map(|half| half.to_f32()).collect();
        let (bias, input) = (numbers.take(40), numbers.take(shape.len()));
        let packed = single(Op::Conv(Conv::packed(window, 3, &halves, &bias).unwrap()), 3);
        let plain = single(Op::Conv(Conv::new(window, 3, &weights, &bias).unwrap()), 3);
        let output = run(&plain, shape, &input);
        assert!(close(&run(&packed, shape, &input), &output));
        let upstream = numbers.take(output.len());
        let slopes = gradient(&plain, shape, &input, &upstream);
        assert!(close(&gradient(&packed, shape, &input, &upstream), &slopes));
        assert!(Conv::packed(window, 4, &halves, &bias).is_none());
    }
}

/// Weights in half precision, in an order of their own.
#[test]
fn dense_layers_equal_plain_loops() {
    let (mut numbers, shape) = (Numbers(13), Shape::new(3, 30, 31));
    let weights: Vec<f16> =
        numbers.take(5 * shape.len()).iter().map(|w| f16::from_f32(*w)).collect();
    let (bias, input) = (numbers.take(5), numbers.take(shape.len()));
    let dense = Dense::new(3, shape.area(), &weights, &bias).unwrap();
    let network = single(Op::Dense(dense), 3);
    let mut work = Workspace::default();
    network.forward(&mut work, shape, |x| x.copy_from_slice(&input));
    for (o, found) in network.output(&work, 0).iter().enumerate() {
        let terms = input.iter().zip(&weights[o * shape.len()..]);
        let sum: f64 = terms.map(|(i, w)| f64::from(*i) * w.to_f64()).sum();
        assert!((f64::from(*found) - sum - f64::from(bias[o])).abs() < 1e-3, "{found}, not {sum}");
    }
    let upstream = [0.3, -2.0, 1.0, 0.0, 0.5];
    let mut slopes = Vec::new();
    // In single precision.
    with_each_kind(|| slopes = network.backward(&mut work, 0, &upstream).to_vec());
    for (n, found) in slopes.iter().enumerate() {
        let weight = |o: usize| weights[o * shape.len() + n].to_f32();
        let sum: f32 = upstream.iter().enumerate().map(|(o, up)| up * weight(o)).sum();
        assert!((found - sum).abs() < 1e-5, "{found}, not {sum}");
    }
    assert!(Dense::new(3, 4, &weights, &bias).is_none());
}

/// The slope of `sum(upstream * output)` along a direction, by the gradient and by central
/// differences.
fn slopes(network: &Network, shape: Shape, step: f32) -> (f64, f64) {
    let mut numbers = Numbers(3);
    let (x, direction) = (numbers.take(shape.len()), numbers.take(shape.len()));
    let upstream = numbers.take(network.output_shapes(shape)[0].len());
    let value = |t: f32| -> f64 {
        let moved: Vec<f32> = x.iter().zip(&direction).map(|(x, d)| x + t * d).collect();
        let out = run(network, shape, &moved);
        out.iter().zip(&upstream).map(|(o, u)| f64::from(*o) * f64::from(*u)).sum()
    };
    let gradient = gradient(network, shape, &x, &upstream);
    let along = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
    (along, (value(step) - value(-step)) / (2.0 * f64::from(step)))
}

/// Single operations. The step is 1e-2: sums of a few hundred f32 terms are accurate to about 1e-5, and
/// dividing by the step makes that 1e-3, against slopes of 1 to 10. Operations with kinks (relu, prelu,
/// max) use a step of 1e-3, so that hardly any value crosses a kink. They are simple enough that
/// rounding still stays below 1e-3.
#[test]
fn gradients_of_operations_equal_finite_differences() {
    let shape = Shape::new(3, 9, 10);
    let mut numbers = Numbers(4);
    let mut conv = |kernel, stride, padding| {
        let window = Window::new(kernel, stride, padding);
        let weights = numbers.take(5 * 3 * kernel * kernel);
        let bias = numbers.take(5);
        let stem = Stem::new(window, 3, &weights, &bias).unwrap();
        [Op::Conv(Conv::new(window, 3, &weights, &bias).unwrap()), Op::Stem(stem)]
    };
    let mut ops = Vec::new();
    for (name, convs) in [
        ("conv 1x1", conv(1, 1, 0)),
        ("conv 3x3", conv(3, 1, 1)),
        ("conv 3x3/2", conv(3, 2, 0)),
        ("conv 7x7/2", conv(7, 2, 3)),
        ("conv 1x1/2", conv(1, 2, 0)),
        ("conv 4x4/3", conv(4, 3, 2)),
    ] {
        ops.extend(convs.map(|conv| (name, conv)));
    }
    let mut depthwise = |stride, padding| {
        let window = Window::new(3, stride, padding);
        Op::Depthwise(Depthwise::new(window, &numbers.take(27), &numbers.take(3)).unwrap())
    };
    ops.extend([("depthwise", depthwise(1, 1)), ("depthwise/2", depthwise(2, 1))]);
    ops.extend([("depthwise/3", depthwise(3, 2)), ("depthwise, inside", depthwise(1, 0))]);
    let point = Conv::new(Window::new(1, 1, 0), 3, &numbers.take(15), &numbers.take(5)).unwrap();
    let window = Window::new(3, 1, 1);
    let depth = Depthwise::new(window, &numbers.take(45), &numbers.take(5)).unwrap();
    ops.push(("unit", Op::Unit(Unit::new(point, depth).unwrap())));
    ops.extend([
        ("relu", Op::Relu),
        // Values are -1 to 1: only the lower bound is crossed. The upper one has a test of its own.
        ("relu6", Op::Relu6),
        ("prelu", Op::Prelu(vec![0.25, -0.5, 0.0])),
        ("sigmoid", Op::Sigmoid),
        ("max pool", Op::Pool(Pool::Max(Window::new(3, 2, 0)))),
        ("average pool", Op::Pool(Pool::Average(Window::new(2, 2, 0)))),
        ("padded pool", Op::Pool(Pool::Average(Window::new(3, 2, 1)))),
        ("global average", Op::GlobalAverage),
        ("upsample", Op::Upsample),
    ]);
    for (name, op) in ops {
        let smooth = !matches!(op, Op::Relu | Op::Relu6 | Op::Prelu(_) | Op::Pool(Pool::Max(_)));
        let step = if smooth { 1e-2 } else { 1e-3 };
        let (gradient, difference) = slopes(&single(op, 3), shape, step);
        let within = 3e-3 * (1.0 + difference.abs());
        assert!((gradient - difference).abs() < within, "{name}: {gradient}, {difference}");
    }
}

/// As many channels and pixels as are computed at once, and a few more.
#[test]
fn gradients_of_many_channels_equal_finite_differences() {
    let (shape, middle, outputs) = (Shape::new(3, 17, 19), 35, 20);
    let mut numbers = Numbers(15);
    for (kernel, stride, padding) in [(1, 1, 0), (3, 1, 1), (3, 2, 0), (2, 1, 0)] {
        let window = Window::new(kernel, stride, padding);
        let mut net = Builder::default();
        let weights = numbers.take(middle * 27);
        let stem = Stem::new(Window::new(3, 1, 1), 3, &weights, &numbers.take(middle)).unwrap();
        let x = net.then(net.input(), Op::Stem(stem));
        let depth = Depthwise::new(Window::new(3, 1, 1), &numbers.take(9 * middle), &[0.0; 35]);
        let x = net.then(x, Op::Depthwise(depth.unwrap()));
        let weights = numbers.take(outputs * middle * kernel * kernel);
        let conv = Conv::new(window, middle, &weights, &numbers.take(outputs)).unwrap();
        let x = net.then(x, Op::Conv(conv));
        let (gradient, difference) = slopes(&net.finish(&[x]), shape, 1e-2);
        let within = 1e-2 * (1.0 + difference.abs());
        assert!((gradient - difference).abs() < within, "{window:?}: {gradient}, {difference}");
    }
}

#[test]
fn relu6_is_flat_above_6() {
    let network = single(Op::Relu6, 1);
    let (shape, input) = (Shape::new(1, 1, 5), [-1.0, 0.5, 5.9, 6.1, 90.0]);
    let mut work = Workspace::default();
    network.forward(&mut work, shape, |x| x.copy_from_slice(&input));
    // But for the lowest bit, which says what passed.
    assert!(close(&network.output(&work, 0), &[0.0, 0.5, 5.9, 6.0, 6.0]));
    assert_eq!(network.backward(&mut work, 0, &[2.0; 5]), [0.0, 2.0, 2.0, 0.0, 0.0]);
}

/// Squeeze and excitation: both inputs of the product depend on the input of the network.
#[test]
fn gradients_of_scaled_channels_equal_finite_differences() {
    let mut numbers = Numbers(7);
    let mut conv = |inputs: usize, outputs: usize| {
        let weights = numbers.take(outputs * inputs);
        let bias = numbers.take(outputs);
        Op::Conv(Conv::new(Window::new(1, 1, 0), inputs, &weights, &bias).unwrap())
    };
    let mut net = Builder::default();
    let x = picture(&mut net, 3);
    let x = net.then(x, conv(3, 6));
    let mut factors = net.then(x, Op::GlobalAverage);
    for op in [conv(6, 2), Op::Sigmoid, conv(2, 6), Op::Sigmoid] {
        factors = net.then(factors, op);
    }
    let out = net.scale(x, factors);
    let network = net.finish(&[out]);
    let (gradient, difference) = slopes(&network, Shape::new(3, 5, 4), 1e-2);
    let within = 2e-3 * (1.0 + difference.abs());
    assert!((gradient - difference).abs() < within, "{gradient}, {difference}");
    let found = run(&single_scale(), Shape::new(2, 1, 2), &[1.0, 3.0, -2.0, 4.0]);
    assert_eq!(found, [2.0, 6.0, -2.0, 4.0]);
}

/// Channels times their own means.
fn single_scale() -> Network {
    let mut net = Builder::default();
    let input = picture(&mut net, 2);
    let means = net.then(input, Op::GlobalAverage);
    let out = net.scale(input, means);
    net.finish(&[out])
}

/// A network with branches, a sum of different sizes, and a node used twice.
fn branched() -> Network {
    let mut numbers = Numbers(5);
    let mut conv = |inputs: usize, outputs: usize, kernel, stride, padding| {
        let weights: Vec<f32> =
            numbers.take(outputs * inputs * kernel * kernel).iter().map(|w| 0.3 * w).collect();
        let bias = numbers.take(outputs);
        Op::Conv(Conv::new(Window::new(kernel, stride, padding), inputs, &weights, &bias).unwrap())
    };
    let mut net = Builder::default();
    let x = picture(&mut net, 3);
    let x = net.then(x, conv(3, 4, 3, 1, 1));
    let x = net.then(x, Op::Sigmoid);
    let deep = net.then(x, conv(4, 8, 3, 2, 0));
    let deep = net.then(deep, conv(8, 8, 3, 1, 1));
    let skip = net.then(x, Op::Pool(Pool::Average(Window::new(2, 2, 0))));
    let sum = net.add(deep, skip); // 8 channels of 4x5 against 4 of 4x5 or 5x5
    let up = net.then(sum, Op::Upsample);
    let out = net.then(up, conv(8, 2, 1, 1, 0));
    net.finish(&[out])
}

/// As for single operations; nothing in this network has a kink.
#[test]
fn gradients_of_branched_networks_equal_finite_differences() {
    for shape in [Shape::new(3, 9, 11), Shape::new(3, 10, 10), Shape::new(3, 12, 9)] {
        let (gradient, difference) = slopes(&branched(), shape, 1e-2);
        let within = 2e-3 * (1.0 + difference.abs());
        assert!((gradient - difference).abs() < within, "{gradient}, {difference}");
    }
}

#[test]
fn sums_of_different_sizes_are_padded_with_zeros() {
    let mut net = Builder::default();
    let input = picture(&mut net, 1);
    let half = net.then(input, Op::Pool(Pool::Max(Window::new(2, 2, 0))));
    let sum = net.add(input, half);
    let network = net.finish(&[sum]);
    let found = run(&network, Shape::new(1, 2, 2), &[1.0, 2.0, 3.0, 5.0]);
    assert_eq!(found, [6.0, 2.0, 3.0, 5.0]);
}

/// Convolutions of all kinds, with the weights of each output channel times a factor.
fn scaled(factor: &mut dyn FnMut() -> f32) -> Network {
    let mut numbers = Numbers(8);
    let (mut factor, mut net) = (|| factor(), Builder::default());
    let mut times = |weights: Vec<f32>, per_channel: usize| -> Vec<f32> {
        let channels = weights.chunks_exact(per_channel);
        channels
            .flat_map(|channel| {
                let factor = factor();
                channel.iter().map(move |w| factor * w)
            })
            .collect()
    };
    let first = times(numbers.take(9), 3);
    let stem = Stem::new(Window::new(1, 1, 0), 3, &first, &numbers.take(3)).unwrap();
    let mut x = net.then(net.input(), Op::Stem(stem));
    for (kernel, stride, padding) in [(3, 1, 1), (3, 2, 0), (1, 1, 0)] {
        let window = Window::new(kernel, stride, padding);
        let weights = times(numbers.take(3 * 3 * kernel * kernel), 3 * kernel * kernel);
        x = net.then(x, Op::Conv(Conv::new(window, 3, &weights, &numbers.take(3)).unwrap()));
        x = net.then(x, Op::Sigmoid);
    }
    for (kernel, stride, padding) in [(3, 1, 1), (3, 2, 1), (2, 1, 0)] {
        let window = Window::new(kernel, stride, padding);
        let weights = times(numbers.take(3 * kernel * kernel), kernel * kernel);
        x = net.then(x, Op::Depthwise(Depthwise::new(window, &weights, &numbers.take(3)).unwrap()));
    }
    net.finish(&[x])
}

#[test]
fn factors_act_like_scaled_weights() {
    // In single precision.
    with_each_kind(check_factors);
}

fn check_factors() {
    let draws = || {
        let mut numbers = Numbers(9);
        move || 1.0 + 0.3 * numbers.next()
    };
    let (plain, other) = (scaled(&mut || 1.0), scaled(&mut draws()));
    let shape = Shape::new(3, 12, 11);
    let (input, mut work) = (Numbers(10).take(shape.len()), Workspace::default());
    let mut both = |network: &Network, factor: Option<&mut dyn FnMut() -> f32>| {
        let fill = |x: &mut [f32]| x.copy_from_slice(&input);
        match factor {
            Some(factor) => network.forward_scaled(&mut work, shape, factor, fill),
            None => network.forward(&mut work, shape, fill),
        }
        let output = network.output(&work, 0);
        let gradient = network.backward(&mut work, 0, &Numbers(11).take(output.len()));
        (output, gradient.to_vec())
    };
    let before = both(&plain, None);
    let (output, gradient) = both(&plain, Some(&mut draws()));
    let (expected, slopes) = both(&other, None);
    assert!(close(&output, &expected) && close(&gradient, &slopes));
    assert!(!close(&output, &before.0) && !close(&gradient, &before.1));
    // Factors are forgotten, and factors of 1 change nothing.
    assert_eq!(both(&plain, None), before);
    let (output, gradient) = both(&plain, Some(&mut || 1.0));
    assert!(close(&output, &before.0) && close(&gradient, &before.1));
}

/// The cosine of two gradients, and their distance over the length of the second.
fn compared(a: &[f32], b: &[f32]) -> (f64, f64) {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let apart: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(), (dot(&apart, &apart) / dot(b, b)).sqrt())
}

/// Gradients of the recognisers on a processor that multiplies rounded numbers, and the same in single precision.
#[test]
fn gradients_of_rounded_numbers_are_near_those_in_single_precision() {
    let all = [
        Recogniser::dlib(),
        Recogniser::sface(),
        Recogniser::intel(),
        Recogniser::mobilefacenet(),
        Recogniser::facexzoo(),
    ];
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/");
    for recogniser in all.map(Result::unwrap) {
        let name = match recogniser.side() {
            150 => "dlib_hopper.png",
            128 => "intel_hopper.png",
            _ => "sface_hopper.png",
        };
        let image = image::open(format!("{golden}{name}")).unwrap().to_rgb8();
        let planes = (0..3).flat_map(|c| image.as_raw().iter().skip(c).step_by(3));
        let chip = Chip::new(recogniser.side(), planes.map(|v| f32::from(*v)).collect()).unwrap();
        // With the factors of a draw, if any: their standard deviation is that of steering, 0.05.
        let run = |draw: Option<u64>| {
            let mut work = Workspace::default();
            let upstream = |e: &[f32]| (0..e.len()).map(|i| (3.0 * i as f32).sin()).collect();
            let Some(seed) = draw else {
                return recogniser.gradient(&chip, &mut work, upstream).unwrap();
            };
            let mut numbers = Numbers(seed);
            let factor = || 1.0 + 0.0866 * numbers.next();
            recogniser.jittered_gradient(&chip, &mut work, factor, upstream).unwrap()
        };
        let single = |draw: Option<u64>| {
            let mut found = Vec::new();
            with_each_kind(|| found.push(run(draw)));
            found.remove(1)
        };
        let name = recogniser.name();
        let ((embedding, gradient), (expected, slopes)) = (run(None), single(None));
        let (cosine, apart) = compared(&gradient, &slopes);
        println!("{name}: cosine {cosine:.6}, {apart:.4} apart");
        assert_eq!(embedding, expected);
        assert!(cosine > 0.9999 && apart < 0.01, "{name}: {cosine}, {apart}");

        // Values near kinks come to lie on the other side: less so than in a network with other factors.
        let ((embedding, gradient), (expected, slopes)) = (run(Some(16)), single(Some(16)));
        let (same, _) = compared(&embedding, &expected);
        let (cosine, apart) = compared(&gradient, &slopes);
        let (other, far) = compared(&single(Some(17)).1, &slopes);
        println!("{name}, jittered: embedding {same:.6}, gradient {cosine:.4}, {apart:.3} apart");
        println!("{name}, another draw: gradient {other:.4}, {far:.3} apart");
        assert!(same > 0.9999 && apart < 0.5 * far, "{name}: {same}, {apart}, {far}");
    }
}

/// One workspace serves different networks and sizes in turn.
#[test]
fn a_workspace_can_be_reused() {
    let (a, b) = (branched(), single(Op::Relu, 3));
    let mut work = Workspace::default();
    let (large, small) = (Shape::new(3, 20, 20), Shape::new(3, 9, 9));
    let input = Numbers(6).take(large.len());
    for (network, shape) in [(&a, large), (&b, small), (&a, small), (&a, large), (&b, large)] {
        network.forward(&mut work, shape, |x| x.copy_from_slice(&input[..shape.len()]));
        assert_eq!(network.output(&work, 0), run(network, shape, &input[..shape.len()]));
    }
}
