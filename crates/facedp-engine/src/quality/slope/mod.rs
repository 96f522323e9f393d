//! SSIMULACRA2 with a gradient: where a change of luma costs quality.
//!
//! The crates that compute the score (`ssimulacra2`, `fast-ssim2`) have no derivatives. This follows their
//! definition, libjxl's `ssimulacra2.cc`: pictures are compared in the colour space XYB at several sizes,
//! by structural similarity, by edges that were added and by detail that was lost. Terms with a weight
//! below 0.1 are left out. Reported scores are the complete ones of [`Original`](super::Original).

mod colour;
mod window;

use colour::{Channel, Linear, Xyb};
use pulp::{Arch, NullaryFnOnce};
use window::{Blur, Window, sums};

/// Pictures smaller than this are not compared.
const MIN_SIDE: usize = 8;

/// The weights of one channel at one size.
struct Term {
    channel: Channel,
    /// How often the picture was halved.
    halvings: usize,
    /// Of structural dissimilarity, added edges and lost detail: of their means.
    mean: [f32; 3],
    /// Of the fourth roots of the means of their fourth powers.
    peak: [f32; 3],
}

const fn term(channel: Channel, halvings: usize, mean: [f32; 3], peak: [f32; 3]) -> Term {
    Term { channel, halvings, mean, peak }
}

const TERMS: [Term; 11] = [
    term(Channel::X, 1, [0.0; 3], [1.104_172_6, 0.0, 0.0]),
    term(Channel::X, 2, [0.0; 3], [1.842_245_6, 11.441_173, 0.0]),
    term(Channel::X, 3, [0.0; 3], [1.878_759_5, 10.949_07, 0.0]),
    term(Channel::X, 4, [0.0, 0.967_793_7, 0.0], [0.0, 0.998_176_7, 0.0]),
    term(Channel::Y, 0, [0.0; 3], [7.466_890_3, 0.0, 17.445_834]),
    term(Channel::Y, 1, [0.0; 3], [6.683_678, 0.0, 1.027_889_9]),
    term(Channel::Y, 2, [225.205_15, 0.0, 0.0], [19.213_238, 0.0, 0.0]),
    term(Channel::Y, 3, [176.393_18, 0.0, 0.0], [24.433_01, 0.285_208_03, 0.0]),
    term(Channel::Y, 4, [0.0; 3], [34.779_063, 44.835_625, 0.0]),
    term(Channel::B, 3, [0.0; 3], [8.826_983, 23.192_433, 0.0]),
    term(Channel::B, 4, [95.108_05, 0.986_397_8, 0.983_438_3], [0.0, 171.266_73, 0.980_785_9]),
];

/// What a change costs, and where.
pub(crate) struct Cost {
    /// Grows with the visible difference; [`loss_at`] maps scores to it.
    pub(crate) loss: f64,
    /// The derivative of the loss by the change of each pixel of the changed picture.
    pub(crate) gradient: Vec<f32>,
}

/// The loss of a picture that scores `score`.
pub(crate) fn loss_at(score: f64) -> f64 {
    ((100.0 - score).max(0.0) / 10.0).powf(1.0 / EXPONENT)
}

/// The score of a picture with this loss.
pub(crate) fn score_at(loss: f64) -> f64 {
    100.0 - 10.0 * loss.max(0.0).powf(EXPONENT)
}

const EXPONENT: f64 = 0.627_633_646_783_138_7;

/// Compares two pictures: red, green and blue planes of `width` columns, 0 to 255.
pub(crate) fn cost(original: &[Vec<f32>; 3], changed: &[Vec<f32>; 3], width: usize) -> Cost {
    cost_along([1.0; 3], original, changed, width)
}

/// The same, with the derivative by a change that adds these shares of it to red, green and blue.
pub(crate) fn cost_along(
    shares: [f32; 3],
    original: &[Vec<f32>; 3],
    changed: &[Vec<f32>; 3],
    width: usize,
) -> Cost {
    Arch::new().dispatch(Comparison { shares, original, changed, width })
}

/// Work that is compiled for the vector instructions of the machine it runs on: `pulp` calls it from functions
/// that are, and everything in it is inlined there. A closure would not be.
struct Comparison<'a> {
    shares: [f32; 3],
    original: &'a [Vec<f32>; 3],
    changed: &'a [Vec<f32>; 3],
    width: usize,
}

impl NullaryFnOnce for Comparison<'_> {
    type Output = Cost;

    #[inline(always)]
    fn call(self) -> Cost {
        compare(self)
    }
}

#[inline(always)]
fn compare(Comparison { shares, original, changed, width }: Comparison<'_>) -> Cost {
    let height = original[0].len() / width;
    let mut sizes =
        vec![[Linear::new(original, width, height), Linear::new(changed, width, height)]];
    let last = TERMS.iter().map(|term| term.halvings).max().unwrap_or(0);
    while sizes.len() <= last {
        let [original, changed] = &sizes[sizes.len() - 1];
        let halved = [original.halved(), changed.halved()];
        if halved[0].width.min(halved[0].height) < MIN_SIDE {
            break;
        }
        sizes.push(halved);
    }
    let mut sum = 0.0;
    // The gradient by linear colours, from the smallest size to the largest.
    let mut gradient: Option<Linear> = None;
    for (halvings, [original, changed]) in sizes.iter().enumerate().rev() {
        let mut at_size = match gradient {
            Some(smaller) => smaller.spread(changed.width, changed.height),
            None => changed.zeros(),
        };
        let (before, after) = (Xyb::new(original), Xyb::new(changed));
        let mut blur = Blur::new(changed.width, changed.height);
        for term in TERMS.iter().filter(|term| term.halvings == halvings) {
            let (part, by_channel) = term.compare(&before, &after, &mut blur);
            sum += part;
            after.backward(term.channel, &by_channel, &mut at_size);
        }
        gradient = Some(at_size);
    }
    let (loss, slope) = curve(f64::from(sum));
    let gradient =
        gradient.map_or_else(Vec::new, |all| all.by_change(shares, changed, slope as f32));
    Cost { loss, gradient }
}

/// The polynomial that maps the weighted sum of all terms to the loss, and its derivative.
fn curve(sum: f64) -> (f64, f64) {
    const SCALE: f64 = 0.956_238_261_683_484_4;
    const POWERS: [f64; 3] =
        [2.326_765_642_916_932, -0.020_884_521_182_843_837, 6.248_496_625_763_138e-5];
    let x = SCALE * sum;
    let [a, b, c] = POWERS;
    (((c * x + b) * x + a) * x, SCALE * ((3.0 * c * x + 2.0 * b) * x + a))
}

impl Term {
    /// The weighted loss, and its gradient by the channel of the changed picture.
    #[inline(always)]
    fn compare(&self, before: &Xyb, after: &Xyb, blur: &mut Blur) -> (f32, Vec<f32>) {
        let (p, q) = (before.channel(self.channel), after.channel(self.channel));
        let count = p.len();
        let (mut p_mean, mut q_mean) = (p.clone(), q.clone());
        let [mut squares, mut products] = [(); 2].map(|()| vec![0.0; count]);
        for n in 0..count {
            squares[n] = p[n] * p[n] + q[n] * q[n];
            products[n] = p[n] * q[n];
        }
        for plane in [&mut p_mean, &mut q_mean, &mut squares, &mut products] {
            blur.apply(plane);
        }
        let [mut dissimilar, mut added, mut lost] = [(); 3].map(|()| vec![0.0; count]);
        for n in 0..count {
            let window = Window::new(p_mean[n], q_mean[n], squares[n], products[n]);
            let edge = (1.0 + (q[n] - q_mean[n]).abs()) / (1.0 + (p[n] - p_mean[n]).abs()) - 1.0;
            dissimilar[n] = (1.0 - window.value()).max(0.0);
            added[n] = edge.max(0.0);
            lost[n] = (-edge).max(0.0);
        }
        let mut loss = 0.0;
        // From values to the derivative of the loss by each of them.
        let kinds = [&mut dissimilar, &mut added, &mut lost].into_iter();
        for (values, (mean, peak)) in kinds.zip(self.mean.into_iter().zip(self.peak)) {
            if mean == 0.0 && peak == 0.0 {
                values.fill(0.0);
                continue;
            }
            let over = 1.0 / count as f32;
            let [first, fourth] = sums(values).map(|sum| over * sum);
            let fourth = fourth + 1e-28;
            loss += mean * first + peak * fourth.powf(0.25);
            let (share, mean) = (peak * over * fourth.powf(-0.75), mean * over);
            for value in values.iter_mut() {
                let v = *value;
                *value = if v > 0.0 { mean + share * v * v * v } else { 0.0 };
            }
        }
        let mut gradient = vec![0.0; count];
        for n in 0..count {
            let window = Window::new(p_mean[n], q_mean[n], squares[n], products[n]);
            let [by_mean, by_square, by_product] = window.derivatives();
            let sign = 1f32.copysign(q[n] - q_mean[n]);
            let edge = (added[n] - lost[n]) * sign / (1.0 + (p[n] - p_mean[n]).abs());
            gradient[n] = edge;
            // What is in these planes is not needed any more.
            q_mean[n] = -dissimilar[n] * by_mean - edge;
            squares[n] = -dissimilar[n] * by_square;
            products[n] = -dissimilar[n] * by_product;
        }
        // A Gaussian window is its own transpose.
        for plane in [&mut q_mean, &mut squares, &mut products] {
            blur.apply(plane);
        }
        for n in 0..count {
            gradient[n] += q_mean[n] + 2.0 * q[n] * squares[n] + p[n] * products[n];
        }
        (loss, gradient)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Original;
    use super::*;
    use crate::photo::{Limits, Photo};
    use facedp_nets::Picture;

    const WIDTH: usize = 150;

    fn portrait() -> [Vec<f32>; 3] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/portrait.png");
        let photo = Photo::decode(&std::fs::read(path).unwrap(), &Limits::default()).unwrap();
        let picture = photo.picture(photo.whole()).unwrap();
        let at = |n: usize, c: usize| {
            let (x, y) = (40 + n % WIDTH, 30 + n / WIDTH);
            f32::from(picture.rgb()[3 * (y * picture.width() + x) + c]).clamp(20.0, 235.0)
        };
        [0, 1, 2].map(|c| (0..WIDTH * 161).map(|n| at(n, c)).collect())
    }

    fn lit(colours: &[Vec<f32>; 3], change: impl Fn(usize) -> f32) -> [Vec<f32>; 3] {
        colours
            .each_ref()
            .map(|plane| plane.iter().enumerate().map(|(n, v)| v + change(n)).collect())
    }

    fn picture(colours: &[Vec<f32>; 3]) -> Picture {
        let [red, green, blue] = colours;
        let pixels = red.iter().zip(green).zip(blue);
        let rgb = pixels.flat_map(|((r, g), b)| [*r, *g, *b].map(|v| v.round() as u8)).collect();
        Picture::new(WIDTH, red.len() / WIDTH, rgb).unwrap()
    }

    /// A change with fine and coarse parts.
    fn pattern(strength: f32) -> impl Fn(usize) -> f32 {
        move |n| {
            let (x, y) = ((n % WIDTH) as f32, (n / WIDTH) as f32);
            (strength * ((0.9 * x + 0.4 * y).sin() + (0.11 * x).sin() * (0.17 * y).cos())).round()
        }
    }

    /// The score agrees with the crate that computes the complete one.
    #[test]
    fn losses_are_those_of_the_complete_score() {
        let original = portrait();
        assert!(score_at(cost(&original, &original, WIDTH).loss) > 99.8);
        let reference = Original::new(&picture(&original)).unwrap();
        for strength in [1.0, 2.0, 4.0, 8.0] {
            let changed = lit(&original, pattern(strength));
            let expected = reference.score(&picture(&changed)).unwrap();
            let found = score_at(cost(&original, &changed, WIDTH).loss);
            assert!((found - expected).abs() < 0.5, "{strength}: {found}, not {expected}");
            assert!(expected < 95.0, "{expected}");
        }
        for score in [50.0, 75.0, 90.0] {
            assert!((score_at(loss_at(score)) - score).abs() < 1e-9);
        }
    }

    /// Central differences along several directions.
    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let original = portrait();
        // A change that adds these shares of itself to red, green and blue.
        let tinted = |colours: &[Vec<f32>; 3], shares: [f32; 3], change: &dyn Fn(usize) -> f32| {
            [0, 1, 2].map(|c| lit(colours, |n| shares[c] * change(n))[c].clone())
        };
        for (part, shares) in (0..4).flat_map(|part| [(part, [1.0; 3]), (part, [1.4, -0.7, 0.2])]) {
            let changed = tinted(&original, shares, &pattern(3.0));
            let Cost { gradient, .. } = cost_along(shares, &original, &changed, WIDTH);
            // The change itself and another one, each in a quarter of the picture.
            let direction = |n: usize| {
                let (x, y) = (n % WIDTH, n / WIDTH);
                let inside = (x < WIDTH / 2) == (part % 2 == 0) && (y < 80) == (part < 2);
                let wave = (0.2 * x as f32 + 0.1 * part as f32 * y as f32).sin();
                if inside { pattern(1.0)(n) + wave } else { 0.0 }
            };
            let step = 0.1;
            let [up, down] = [step, -step].map(|step| {
                let moved = tinted(&changed, shares, &|n| step * direction(n));
                cost(&original, &moved, WIDTH).loss
            });
            let expected = (up - down) / (2.0 * f64::from(step));
            let each = gradient.iter().enumerate().map(|(n, g)| f64::from(g * direction(n)));
            let found: f64 = each.sum();
            assert!((found - expected).abs() < 0.02 * expected.abs(), "{found}, not {expected}");
            assert!(expected > 0.1, "{expected}");
        }
    }
}
