//! The engine against plain loops, and its gradients against finite differences.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{
    Builder, Conv, Depthwise, Network, NodeId, Op, Pool, Shape, Window, Winograd, Workspace,
};

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

/// A network of one operation.
fn single(op: Op) -> Network {
    let mut net = Builder::default();
    let out = net.then(net.input(), op);
    net.finish(&[out])
}

fn run(network: &Network, shape: Shape, input: &[f32]) -> Vec<f32> {
    let mut work = Workspace::default();
    network.forward(&mut work, shape, |x| x.copy_from_slice(input));
    network.output(&work, 0).to_vec()
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
    fn shapes()(channels in 1usize..5, height in 5usize..12, width in 5usize..12) -> Shape {
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
        let conv = Conv::new(w, shape.channels, weights.clone(), bias.clone()).unwrap();
        let own = Depthwise::new(w, weights[..shape.channels * area].to_vec(),
            numbers.take(shape.channels)).unwrap();
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
        prop_assert!(close(&run(&single(Op::Conv(conv)), shape, &input), &expected));

        let found = run(&single(Op::Depthwise(own.clone())), shape, &input);
        let no_bias = Depthwise::new(w, weights[..shape.channels * area].to_vec(),
            vec![0.0; shape.channels]).unwrap();
        let plain = run(&single(Op::Depthwise(no_bias)), shape, &input);
        let mut expected = Vec::new();
        for c in 0..shape.channels {
            for at in (0..rows * columns).map(|i| (i / columns, i % columns)) {
                let cells = window_cells(w, shape, at);
                expected.push(cells.map(|(cell, k)| {
                    cell.map_or(0.0, |cell| weights[c * area + k] * pixel(c, cell))
                }).sum::<f32>());
            }
        }
        prop_assert!(close(&plain, &expected));
        prop_assert_eq!(found.len(), plain.len());
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
        prop_assert!(close(&run(&single(Op::Pool(Pool::Max(w))), shape, &input), &largest));
        prop_assert!(close(&run(&single(Op::Pool(Pool::Average(w))), shape, &input), &mean));
    }
}

/// Both kinds of convolution are accurate to a few units of the last place of the largest terms.
#[test]
fn winograds_convolution_equals_the_plain_one() {
    for (height, width, inputs, outputs) in
        [(8, 8, 4, 6), (5, 9, 3, 1), (17, 17, 20, 7), (2, 1, 1, 2)]
    {
        let (mut numbers, shape) = (Numbers(12), Shape::new(inputs, height, width));
        let weights = numbers.take(outputs * inputs * 9);
        let (bias, input) = (numbers.take(outputs), numbers.take(shape.len()));
        let fast = Winograd::new(inputs, &weights, bias.clone()).unwrap();
        let plain = Conv::new(Window::new(3, 1, 1), inputs, weights, bias).unwrap();
        let upstream = numbers.take(outputs * shape.area());
        let [(output, gradient), (expected, slopes)] =
            [Op::Winograd(fast), Op::Conv(plain)].map(|op| {
                let (network, mut work) = (single(op), Workspace::default());
                network.forward(&mut work, shape, |x| x.copy_from_slice(&input));
                let output = network.output(&work, 0).to_vec();
                (output, network.backward(&mut work, 0, &upstream).to_vec())
            });
        let worst =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert_eq!((output.len(), gradient.len()), (expected.len(), slopes.len()));
        assert!(worst(&output, &expected) < 1e-5, "{}", worst(&output, &expected));
        assert!(worst(&gradient, &slopes) < 1e-5, "{}", worst(&gradient, &slopes));
    }
    assert!(Winograd::new(2, &[0.0; 9], vec![0.0]).is_none());
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
    let mut work = Workspace::default();
    network.forward(&mut work, shape, |input| input.copy_from_slice(&x));
    let gradient = network.backward(&mut work, 0, &upstream);
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
        Op::Conv(Conv::new(window, 3, weights, numbers.take(5)).unwrap())
    };
    let mut ops = vec![
        ("conv 1x1", conv(1, 1, 0)),
        ("conv 3x3", conv(3, 1, 1)),
        ("conv 3x3/2", conv(3, 2, 0)),
        ("conv 7x7/2", conv(7, 2, 3)),
    ];
    let window = numbers.take(5 * 3 * 9);
    ops.push(("winograd", Op::Winograd(Winograd::new(3, &window, numbers.take(5)).unwrap())));
    let mut depthwise = |stride, padding| {
        let window = Window::new(3, stride, padding);
        Op::Depthwise(Depthwise::new(window, numbers.take(27), numbers.take(3)).unwrap())
    };
    ops.extend([("depthwise", depthwise(1, 1)), ("depthwise/2", depthwise(2, 1))]);
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
        let (gradient, difference) = slopes(&single(op), shape, step);
        let within = 3e-3 * (1.0 + difference.abs());
        assert!((gradient - difference).abs() < within, "{name}: {gradient}, {difference}");
    }
}

#[test]
fn relu6_is_flat_above_6() {
    let network = single(Op::Relu6);
    let (shape, input) = (Shape::new(1, 1, 5), [-1.0, 0.5, 5.9, 6.1, 90.0]);
    let mut work = Workspace::default();
    network.forward(&mut work, shape, |x| x.copy_from_slice(&input));
    assert_eq!(network.output(&work, 0), [0.0, 0.5, 5.9, 6.0, 6.0]);
    assert_eq!(network.backward(&mut work, 0, &[2.0; 5]), [0.0, 2.0, 2.0, 0.0, 0.0]);
}

/// Squeeze and excitation: both inputs of the product depend on the input of the network.
#[test]
fn gradients_of_scaled_channels_equal_finite_differences() {
    let mut numbers = Numbers(7);
    let mut conv = |inputs: usize, outputs: usize| {
        let weights = numbers.take(outputs * inputs);
        let bias = numbers.take(outputs);
        Op::Conv(Conv::new(Window::new(1, 1, 0), inputs, weights, bias).unwrap())
    };
    let mut net = Builder::default();
    let x = net.then(net.input(), conv(3, 6));
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
    let means = net.then(net.input(), Op::GlobalAverage);
    let out = net.scale(net.input(), means);
    net.finish(&[out])
}

/// A network with branches, a sum of different sizes, and a node used twice.
fn branched() -> Network {
    let mut numbers = Numbers(5);
    let mut conv = |inputs: usize, outputs: usize, kernel, stride, padding| {
        let weights: Vec<f32> =
            numbers.take(outputs * inputs * kernel * kernel).iter().map(|w| 0.3 * w).collect();
        let bias = numbers.take(outputs);
        Op::Conv(Conv::new(Window::new(kernel, stride, padding), inputs, weights, bias).unwrap())
    };
    let mut net = Builder::default();
    let x: NodeId = net.then(net.input(), conv(3, 4, 3, 1, 1));
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
    let half = net.then(net.input(), Op::Pool(Pool::Max(Window::new(2, 2, 0))));
    let sum = net.add(net.input(), half);
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
    let mut x = net.input();
    for (kernel, stride, padding) in [(3, 1, 1), (3, 2, 0), (1, 1, 0)] {
        let window = Window::new(kernel, stride, padding);
        let weights = times(numbers.take(3 * 3 * kernel * kernel), 3 * kernel * kernel);
        x = net.then(x, Op::Conv(Conv::new(window, 3, weights, numbers.take(3)).unwrap()));
        x = net.then(x, Op::Sigmoid);
    }
    for (kernel, stride, padding) in [(3, 1, 1), (3, 2, 1), (2, 1, 0)] {
        let window = Window::new(kernel, stride, padding);
        let weights = times(numbers.take(3 * kernel * kernel), kernel * kernel);
        x = net.then(x, Op::Depthwise(Depthwise::new(window, weights, numbers.take(3)).unwrap()));
    }
    net.finish(&[x])
}

#[test]
fn factors_act_like_scaled_weights() {
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
        let output = network.output(&work, 0).to_vec();
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

/// One workspace serves different networks and sizes in turn.
#[test]
fn a_workspace_can_be_reused() {
    let (a, b) = (branched(), single(Op::Relu));
    let mut work = Workspace::default();
    let (large, small) = (Shape::new(3, 20, 20), Shape::new(3, 9, 9));
    let input = Numbers(6).take(large.len());
    for (network, shape) in [(&a, large), (&b, small), (&a, small), (&a, large), (&b, large)] {
        network.forward(&mut work, shape, |x| x.copy_from_slice(&input[..shape.len()]));
        assert_eq!(network.output(&work, 0), run(network, shape, &input[..shape.len()]));
    }
}
