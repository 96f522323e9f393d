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
/// `pair` allows a second thread of the `rayon` pool that this runs in.
pub(crate) fn cost(
    original: &[Vec<f32>; 3],
    changed: &[Vec<f32>; 3],
    width: usize,
    pair: bool,
) -> Cost {
    cost_along([1.0; 3], original, changed, width, pair)
}

/// The same, with the derivative by a change that adds these shares of it to red, green and blue.
pub(crate) fn cost_along(
    shares: [f32; 3],
    original: &[Vec<f32>; 3],
    changed: &[Vec<f32>; 3],
    width: usize,
    pair: bool,
) -> Cost {
    let height = original[0].len() / width;
    let (before, after) = join(
        pair,
        || Arch::new().dispatch(Sizes { colours: original, width, height }),
        || Arch::new().dispatch(Sizes { colours: changed, width, height }),
    );
    let at_size = |halvings: usize| {
        let (original, changed) = (&before[halvings], &after[halvings]);
        Arch::new().dispatch(AtSize { halvings, original, changed })
    };
    // The full size takes as long as all others together.
    let (mut full, smaller) = join(
        pair,
        || at_size(0),
        || {
            let mut all: Option<Part> = None;
            for halvings in (1..before.len()).rev() {
                let mut part = at_size(halvings);
                part.add(all.take());
                all = Some(part);
            }
            all
        },
    );
    full.add(smaller);
    let (loss, slope) = curve(f64::from(full.sum));
    let gradient = full.gradient.by_change(shares, changed, slope as f32);
    Cost { loss, gradient }
}

/// Runs both, on two threads of the `rayon` pool that this runs in if `pair` allows it.
pub(crate) fn join<A: Send, B: Send>(
    pair: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if pair { rayon::join(a, b) } else { (a(), b()) }
}

// Work that is compiled for the vector instructions of the machine it runs on: `pulp` calls it from functions
// that are, and everything in it is inlined there. A closure would not be.

/// A picture in linear light, at all sizes.
struct Sizes<'a> {
    colours: &'a [Vec<f32>; 3],
    width: usize,
    height: usize,
}

impl NullaryFnOnce for Sizes<'_> {
    type Output = Vec<Linear>;

    #[inline(always)]
    fn call(self) -> Vec<Linear> {
        let mut sizes = vec![Linear::new(self.colours, self.width, self.height)];
        let last = TERMS.iter().map(|term| term.halvings).max().unwrap_or(0);
        while sizes.len() <= last {
            let halved = sizes[sizes.len() - 1].halved();
            if halved.width.min(halved.height) < MIN_SIDE {
                break;
            }
            sizes.push(halved);
        }
        sizes
    }
}

/// The terms of one size.
struct AtSize<'a> {
    halvings: usize,
    original: &'a Linear,
    changed: &'a Linear,
}

/// The weighted sum of terms, and its gradient by linear colours of the changed picture.
struct Part {
    sum: f32,
    gradient: Linear,
}

impl Part {
    /// Adds the part of all smaller sizes.
    fn add(&mut self, smaller: Option<Part>) {
        if let Some(Part { sum, gradient }) = smaller {
            self.sum += sum;
            gradient.spread(&mut self.gradient);
        }
    }
}

impl NullaryFnOnce for AtSize<'_> {
    type Output = Part;

    #[inline(always)]
    fn call(self) -> Part {
        let Self { halvings, original, changed } = self;
        let terms = || TERMS.iter().filter(|term| term.halvings == halvings);
        let short = terms().any(|term| term.channel == Channel::B);
        let (before, after) = (Xyb::new(original, short), Xyb::new(changed, short));
        let mut blur = Blur::new(changed.width, changed.height);
        let (mut sum, mut gradient) = (0.0, changed.zeros());
        for term in terms() {
            let (part, by_channel) = term.compare(&before, &after, &mut blur);
            sum += part;
            after.backward(term.channel, &by_channel, &mut gradient);
        }
        Part { sum, gradient }
    }
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
        assert!(score_at(cost(&original, &original, WIDTH, false).loss) > 99.8);
        let reference = Original::new(&picture(&original)).unwrap();
        for strength in [1.0, 2.0, 4.0, 8.0] {
            let changed = lit(&original, pattern(strength));
            let expected = reference.score(&picture(&changed)).unwrap();
            let found = score_at(cost(&original, &changed, WIDTH, false).loss);
            assert!((found - expected).abs() < 0.5, "{strength}: {found}, not {expected}");
            assert!(expected < 95.0, "{expected}");
        }
        for score in [50.0, 75.0, 90.0] {
            assert!((score_at(loss_at(score)) - score).abs() < 1e-9);
        }
    }

    #[test]
    fn two_threads_find_the_same() {
        let original = portrait();
        let changed = lit(&original, pattern(3.0));
        let [one, two] = [false, true].map(|pair| cost(&original, &changed, WIDTH, pair));
        assert_eq!((one.loss, one.gradient), (two.loss, two.gradient));
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
            let Cost { gradient, .. } = cost_along(shares, &original, &changed, WIDTH, false);
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
                cost(&original, &moved, WIDTH, false).loss
            });
            let expected = (up - down) / (2.0 * f64::from(step));
            let each = gradient.iter().enumerate().map(|(n, g)| f64::from(g * direction(n)));
            let found: f64 = each.sum();
            assert!((found - expected).abs() < 0.02 * expected.abs(), "{found}, not {expected}");
            assert!(expected > 0.1, "{expected}");
        }
    }
}
