//! SSIMULACRA2 with a gradient: where a change of luma costs quality.
//!
//! The crates that compute the score (`ssimulacra2`, `fast-ssim2`) have no derivatives. This follows their
//! definition, libjxl's `ssimulacra2.cc`: pictures are compared in the colour space XYB at several sizes,
//! by structural similarity, by edges that were added and by detail that was lost. Terms with a weight
//! below 0.1 are left out. Reported scores are the complete ones of [`Original`](super::Original).

/// Half the width of the Gaussian window, in pixels.
const RADIUS: usize = 5;
const SIGMA: f32 = 1.5;
/// The constant that keeps structural similarity finite on flat areas.
const FLAT: f32 = 0.0009;
/// Response of the three kinds of cones to linear red, green and blue.
const CONES: [[f32; 3]; 3] =
    [[0.30, 0.622, 0.078], [0.23, 0.692, 0.078], [0.243_422_69, 0.204_767_44, 0.551_809_87]];
const BIAS: f32 = 0.003_793_073_3;
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

#[derive(Clone, Copy, PartialEq)]
enum Channel {
    X,
    Y,
    B,
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
    let height = original[0].len() / width;
    let mut sizes = vec![[original, changed].map(|colours| Linear::new(colours, width, height))];
    let last = TERMS.iter().map(|term| term.halvings).max().unwrap_or(0);
    while sizes.len() <= last {
        let halved = sizes[sizes.len() - 1].each_ref().map(Linear::halved);
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
        let [before, after] = [original, changed].map(Xyb::new);
        for term in TERMS.iter().filter(|term| term.halvings == halvings) {
            let (part, by_channel) = term.compare(&before, &after, changed.width);
            sum += part;
            after.backward(term.channel, &by_channel, &mut at_size);
        }
        gradient = Some(at_size);
    }
    let (loss, slope) = curve(f64::from(sum));
    let gradient = gradient.map_or_else(Vec::new, |linear| linear.by_change(shares, changed));
    Cost { loss, gradient: gradient.into_iter().map(|g| slope as f32 * g).collect() }
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

/// Planes of linear red, green and blue, or a gradient by them.
struct Linear {
    width: usize,
    height: usize,
    planes: [Vec<f32>; 3],
}

impl Linear {
    fn new(colours: &[Vec<f32>; 3], width: usize, height: usize) -> Self {
        let linear = |v: &f32| {
            let v = v / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        let planes = colours.each_ref().map(|plane| plane.iter().map(linear).collect());
        Self { width, height, planes }
    }

    fn zeros(&self) -> Self {
        let planes = std::array::from_fn(|_| vec![0.0; self.planes[0].len()]);
        Self { planes, ..*self }
    }

    /// Each pixel is the mean of two by two; the last row and column repeat where there is no second.
    fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let planes = self.planes.each_ref().map(|plane| {
            let mean =
                |at: usize| 0.25 * self.four(at, width).map(|from| plane[from]).iter().sum::<f32>();
            (0..width * height).map(mean).collect()
        });
        Self { width, height, planes }
    }

    /// The pixels whose mean is pixel `at` of the halved picture, which has `columns` columns.
    fn four(&self, at: usize, columns: usize) -> [usize; 4] {
        let (x, y) = (2 * (at % columns), 2 * (at / columns));
        let (right, below) = ((x + 1).min(self.width - 1), (y + 1).min(self.height - 1));
        [
            y * self.width + x,
            y * self.width + right,
            below * self.width + x,
            below * self.width + right,
        ]
    }

    /// The transpose of [`Self::halved`], for a gradient.
    fn spread(&self, width: usize, height: usize) -> Self {
        let planes = std::array::from_fn(|_| vec![0.0; width * height]);
        let mut larger = Self { width, height, planes };
        for at in 0..self.planes[0].len() {
            let four = larger.four(at, self.width);
            for (to, from) in larger.planes.iter_mut().zip(&self.planes) {
                four.iter().for_each(|n| to[*n] += 0.25 * from[at]);
            }
        }
        larger
    }

    /// From a gradient by linear colours to one by a change that adds these shares of it to the colours.
    fn by_change(&self, shares: [f32; 3], colours: &[Vec<f32>; 3]) -> Vec<f32> {
        let mut sum = vec![0.0; self.planes[0].len()];
        for ((gradient, colour), share) in self.planes.iter().zip(colours).zip(shares) {
            for ((sum, g), v) in sum.iter_mut().zip(gradient).zip(colour) {
                let v = v / 255.0;
                let slope = if v <= 0.040_45 {
                    1.0 / 12.92
                } else {
                    2.4 / 1.055 * ((v + 0.055) / 1.055).powf(1.4)
                };
                *sum += share * g * slope / 255.0;
            }
        }
        sum
    }
}

/// The cones' responses, from which the channels follow.
struct Xyb {
    cones: [Vec<f32>; 3],
}

impl Xyb {
    fn new(linear: &Linear) -> Self {
        let [red, green, blue] = &linear.planes;
        let cones = CONES.map(|[r, g, b]| {
            let pixels = red.iter().zip(green).zip(blue);
            pixels.map(|((x, y), z)| (r * x + g * y + b * z + BIAS).cbrt()).collect()
        });
        Self { cones }
    }

    fn channel(&self, channel: Channel) -> Vec<f32> {
        let [long, middle, short] = &self.cones;
        let pairs = long.iter().zip(middle);
        let zero = BIAS.cbrt();
        match channel {
            Channel::X => pairs.map(|(l, m)| 7.0 * (l - m) + 0.42).collect(),
            Channel::Y => pairs.map(|(l, m)| 0.5 * (l + m) - zero + 0.01).collect(),
            Channel::B => pairs.zip(short).map(|((l, m), s)| s - 0.5 * (l + m) + 0.55).collect(),
        }
    }

    /// Adds a gradient by a channel to one by linear colours.
    fn backward(&self, channel: Channel, gradient: &[f32], into: &mut Linear) {
        let shares: [f32; 3] = match channel {
            Channel::X => [7.0, -7.0, 0.0],
            Channel::Y => [0.5, 0.5, 0.0],
            Channel::B => [-0.5, -0.5, 1.0],
        };
        let [red, green, blue] = &mut into.planes;
        for ((cone, share), weights) in self.cones.iter().zip(shares).zip(CONES) {
            if share == 0.0 {
                continue;
            }
            let colours = red.iter_mut().zip(green.iter_mut()).zip(blue.iter_mut());
            for ((((r, g), b), cone), by_channel) in colours.zip(cone).zip(gradient) {
                // The derivative of a cube root.
                let by_mix = share * by_channel / (3.0 * cone * cone);
                *r += weights[0] * by_mix;
                *g += weights[1] * by_mix;
                *b += weights[2] * by_mix;
            }
        }
    }
}

impl Term {
    /// The weighted loss, and its gradient by the channel of the changed picture.
    fn compare(&self, before: &Xyb, after: &Xyb, width: usize) -> (f32, Vec<f32>) {
        let (p, q) = (before.channel(self.channel), after.channel(self.channel));
        let product =
            |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
        let [p_mean, q_mean] = [&p, &q].map(|plane| blurred(plane, width));
        let [pp, qq, pq] =
            [(&p, &p), (&q, &q), (&p, &q)].map(|(a, b)| blurred(&product(a, b), width));
        let count = p.len();
        let mut values: [Vec<f32>; 3] = std::array::from_fn(|_| Vec::with_capacity(count));
        for n in 0..count {
            let window = Window::new(p_mean[n], q_mean[n], pp[n], qq[n], pq[n]);
            let edge = (1.0 + (q[n] - q_mean[n]).abs()) / (1.0 + (p[n] - p_mean[n]).abs()) - 1.0;
            let all = [1.0 - window.value(), edge, -edge];
            values.iter_mut().zip(all).for_each(|(to, v)| to.push(v.max(0.0)));
        }
        let mut loss = 0.0;
        // From values to the derivative of the loss by each of them.
        for (values, (mean, peak)) in values.iter_mut().zip(self.mean.into_iter().zip(self.peak)) {
            let over = 1.0 / count as f32;
            let sum =
                |power: i32| values.iter().map(|v| f64::from(v.powi(power))).sum::<f64>() as f32;
            let (first, fourth) = (over * sum(1), over * sum(4) + 1e-28);
            loss += mean * first + peak * fourth.powf(0.25);
            let share = peak * over * fourth.powf(-0.75);
            for value in values.iter_mut() {
                *value = if *value > 0.0 { mean * over + share * value.powi(3) } else { 0.0 };
            }
        }
        let [dissimilar, added, lost] = values;
        let mut gradient = vec![0.0; count];
        let [mut by_mean, mut by_square, mut by_product] = [(); 3].map(|()| vec![0.0; count]);
        for n in 0..count {
            let window = Window::new(p_mean[n], q_mean[n], pp[n], qq[n], pq[n]);
            let [mean, square, product] = window.derivatives();
            let sign = (q[n] - q_mean[n]).signum();
            let edge = (added[n] - lost[n]) * sign / (1.0 + (p[n] - p_mean[n]).abs());
            gradient[n] = edge;
            by_mean[n] = -dissimilar[n] * mean - edge;
            by_square[n] = -dissimilar[n] * square;
            by_product[n] = -dissimilar[n] * product;
        }
        // A Gaussian window is its own transpose.
        let [by_mean, by_square, by_product] =
            [by_mean, by_square, by_product].map(|plane| blurred(&plane, width));
        for n in 0..count {
            gradient[n] += by_mean[n] + 2.0 * q[n] * by_square[n] + p[n] * by_product[n];
        }
        (loss, gradient)
    }
}

/// A window of both pictures, with the parts of its structural similarity: from means of both pictures, of their squares and their product.
struct Window {
    p: f32,
    q: f32,
    means: f32,
    covariance: f32,
    variances: f32,
}

impl Window {
    fn new(p: f32, q: f32, pp: f32, qq: f32, pq: f32) -> Self {
        Self {
            p,
            q,
            means: 1.0 - (p - q).powi(2),
            covariance: 2.0 * (pq - p * q) + FLAT,
            variances: (pp - p * p) + (qq - q * q) + FLAT,
        }
    }

    fn value(&self) -> f32 {
        self.means * self.covariance / self.variances
    }

    /// By the mean of the changed picture, the mean of its square and that of the product.
    fn derivatives(&self) -> [f32; 3] {
        let Self { p, q, means, covariance, variances } = self;
        let by_square = -means * covariance / (variances * variances);
        let by_mean =
            (2.0 * (p - q) * covariance - 2.0 * p * means) / variances - 2.0 * q * by_square;
        [by_mean, by_square, 2.0 * means / variances]
    }
}

/// The mean under a Gaussian window; outside, a picture is zero.
fn blurred(plane: &[f32], width: usize) -> Vec<f32> {
    let window: [f32; 2 * RADIUS + 1] = {
        let tap = |n: usize| (-0.5 * ((n as f32 - RADIUS as f32) / SIGMA).powi(2)).exp();
        let taps: [f32; 2 * RADIUS + 1] = std::array::from_fn(tap);
        let sum: f32 = taps.iter().sum();
        taps.map(|tap| tap / sum)
    };
    let height = plane.len() / width;
    let mut across = vec![0.0; plane.len()];
    let mut padded = vec![0.0; width + 2 * RADIUS];
    for (to, from) in across.chunks_exact_mut(width).zip(plane.chunks_exact(width)) {
        padded[RADIUS..RADIUS + width].copy_from_slice(from);
        for (start, weight) in window.iter().enumerate() {
            to.iter_mut().zip(&padded[start..]).for_each(|(to, v)| *to += weight * v);
        }
    }
    let mut down = vec![0.0; plane.len()];
    for (y, to) in down.chunks_exact_mut(width).enumerate() {
        for (n, weight) in window.iter().enumerate() {
            let row = (y + n).wrapping_sub(RADIUS);
            if row < height {
                let from = &across[row * width..][..width];
                to.iter_mut().zip(from).for_each(|(to, v)| *to += weight * v);
            }
        }
    }
    down
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
        let changed = lit(&original, pattern(3.0));
        for (part, shares) in (0..4).flat_map(|part| [(part, [1.0; 3]), (part, [1.4, -0.7, 0.2])]) {
            let Cost { gradient, .. } = cost_along(shares, &original, &changed, WIDTH);
            // The change itself and another one, each in a quarter of the picture.
            let direction = |n: usize| {
                let (x, y) = (n % WIDTH, n / WIDTH);
                let inside = (x < WIDTH / 2) == (part % 2 == 0) && (y < 80) == (part < 2);
                let wave = (0.2 * x as f32 + 0.1 * part as f32 * y as f32).sin();
                if inside { pattern(1.0)(n) + wave } else { 0.0 }
            };
            let step = 0.1;
            let tinted = |step: f32| {
                let colour =
                    |c: usize| lit(&changed, |n| shares[c] * step * direction(n))[c].clone();
                [0, 1, 2].map(colour)
            };
            let [up, down] = [step, -step].map(|step| cost(&original, &tinted(step), WIDTH).loss);
            let expected = (up - down) / (2.0 * f64::from(step));
            let each = gradient.iter().enumerate().map(|(n, g)| f64::from(g * direction(n)));
            let found: f64 = each.sum();
            assert!((found - expected).abs() < 0.02 * expected.abs(), "{found}, not {expected}");
            assert!(expected > 0.1, "{expected}");
        }
    }
}
