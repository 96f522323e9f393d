//! The steps.

use facedp::basis::{Haar, Transform};
use facedp::{Epsilon, Plane};
use facedp_nets::{Landmarks, Picture, Recogniser, Workspace};
use rand_core::CryptoRng;

use super::prior::Prior;
use super::scene::Scene;
use super::shape::Shape;
use super::view::View;
use super::{Goal, Steering};
use crate::error::Result;
use crate::eyes::after_jpeg;
use crate::lift::Tint;
use crate::patch::Patch;
use crate::photo::Photo;

/// What rounding to whole levels adds to the mean squared change, and a little more.
const ROUNDING: f64 = 0.09;

/// A face's change.
pub struct Steered {
    /// The change of each tint, to be lifted to the photo.
    pub planes: Vec<(Tint, Plane)>,
    /// Steps taken.
    pub steps: usize,
    /// Whether all distances are past their thresholds by the margin that was asked for.
    pub reached: bool,
}

/// The change of one tint: Haar coefficients, and where they are going.
struct Layer {
    tint: Tint,
    shape: Shape,
    coefficients: Vec<f64>,
    momentum: Vec<f64>,
    /// Its largest mean squared change.
    most: f64,
}

/// A recogniser on the way.
struct Target<'a> {
    recogniser: &'a Recogniser,
    own: Vec<f32>,
    draw: Vec<f32>,
    /// Distance from its own embedding over the threshold, lately.
    level: f64,
}

/// Where a face is.
pub struct Place<'a> {
    /// The photo.
    pub photo: &'a Photo,
    /// The chip that may change.
    pub patch: &'a Patch,
    /// Its landmarks, by which recognisers align it.
    pub landmarks: &'a Landmarks,
}

/// Steers one face of a photo. The same source gives the same change. `go_on` is asked before every step
/// and ends it by failing.
pub fn steer(
    place: &Place<'_>,
    recognisers: &[&Recogniser],
    prior: &Prior,
    steering: &Steering,
    random: &mut dyn CryptoRng,
    go_on: &dyn Fn() -> Result<()>,
    work: &mut Workspace,
) -> Result<Steered> {
    let scene = Scene::new(place, recognisers)?;
    let mut targets = targets(&scene, recognisers, prior, steering.epsilon, random, work)?;
    let mut path = Path::new(&scene, place.photo, steering)?;
    let mut reached = false;
    let mut steps = 0;
    while steps < steering.tuning.steps && !reached {
        go_on()?;
        path.step(steps, &mut targets, random, work)?;
        steps += 1;
        if steps % steering.tuning.check_every == 0 {
            reached = path.is_enough(&targets, work)?;
        }
    }
    let planes = path.layers.iter().map(|layer| (layer.tint, path.plane(layer))).collect();
    Ok(Steered { planes, steps, reached })
}

fn targets<'a>(
    scene: &Scene,
    recognisers: &[&'a Recogniser],
    prior: &Prior,
    epsilon: Epsilon,
    random: &mut dyn CryptoRng,
    work: &mut Workspace,
) -> Result<Vec<Target<'a>>> {
    let picture = scene.written(&[])?;
    let each = recognisers.iter().enumerate();
    let own = each.map(|(r, recogniser)| {
        Ok(recogniser.embed(&picture.chip(scene.placement(r), recogniser.side()), work)?)
    });
    let own = own.collect::<Result<Vec<_>>>()?;
    let names: Vec<&str> = recognisers.iter().map(|r| r.name()).collect();
    let draws = prior.draw(&names, &own, epsilon, random);
    let target = |((recogniser, own), draw)| Target { recogniser, own, draw, level: 0.0 };
    Ok(recognisers.iter().copied().zip(own).zip(draws).map(target).collect())
}

/// How far steering has come.
struct Path<'a> {
    scene: &'a Scene,
    steering: &'a Steering,
    haar: Haar,
    layers: Vec<Layer>,
}

impl<'a> Path<'a> {
    fn new(scene: &'a Scene, photo: &Photo, steering: &'a Steering) -> Result<Self> {
        let side = scene.side();
        let tuning = &steering.tuning;
        let scale = side as f64 / 128.0;
        let floor = 255f64.powi(2) / 10f64.powf(steering.min_psnr / 10.0) - ROUNDING;
        // Eyes see changes in proportion to light: a dark face may change less.
        let light = scene.light() / tuning.light;
        let most = floor * light.min(1.0).powi(2);
        let layer = |tint: Tint| {
            let (smooth, most) = match tint {
                Tint::Luma => (tuning.smooth, most),
                // Files keep chroma at half the size, and eyes see it no finer.
                Tint::Blue | Tint::Red => {
                    (tuning.chroma_smooth * tuning.smooth, tuning.chroma * most)
                }
            };
            let shape = Shape::new(scene.chip(), scale * smooth, tuning.contrast);
            let nothing = vec![0.0; side * side];
            Layer { tint, shape, coefficients: nothing.clone(), momentum: nothing, most }
        };
        let tints: &[Tint] = match steering.colour && photo.has_colour() {
            true => &[Tint::Luma, Tint::Blue, Tint::Red],
            false => &[Tint::Luma],
        };
        let layers = tints.iter().copied().map(layer).collect();
        Ok(Self { scene, steering, haar: Haar::new(side, side, None)?, layers })
    }

    /// A layer's change at the size of the chip.
    fn plane(&self, layer: &Layer) -> Plane {
        let side = self.scene.side();
        let mut plane = Plane::zeros(side, side);
        plane.data_mut().copy_from_slice(&layer.coefficients);
        self.haar.inverse(plane.data_mut());
        plane
    }

    fn changes(&self) -> Vec<(Tint, Vec<f32>)> {
        let lifted = |layer: &Layer| (layer.tint, self.scene.lifted(&self.plane(layer)));
        self.layers.iter().map(lifted).collect()
    }

    /// One look by every recogniser, and one step.
    fn step(
        &mut self,
        step: usize,
        targets: &mut [Target<'_>],
        random: &mut dyn CryptoRng,
        work: &mut Workspace,
    ) -> Result<()> {
        let Steering { goal, tuning, .. } = self.steering;
        let (away, pull) = match goal {
            Goal::Away => (1.0, 0.0),
            Goal::Both => (1.0, tuning.pull),
            Goal::Draw => (0.0, 1.0),
        };
        let side = self.scene.side();
        let colours = self.scene.changed(&self.changes());
        let mut directions = vec![Plane::zeros(side, side); self.layers.len()];
        for (r, target) in targets.iter_mut().enumerate() {
            let Target { recogniser, own, draw, level } = target;
            let view = View::random(self.scene, r, recogniser.side(), step, random);
            let chip = view.chip(&colours, random)?;
            let (seen, gradient) = recogniser.gradient(&chip, work, |e| {
                let (home, there) = (recogniser.pull(e, own), recogniser.pull(e, draw));
                home.iter().zip(there).map(|(home, there)| pull * there - away * home).collect()
            })?;
            let far = f64::from(recogniser.distance(&seen, own) / recogniser.threshold());
            *level += 0.3 * (far - *level);
            let back = |layer: &Layer| {
                self.scene.lowered(&view.back(&gradient, layer.tint, colours[0].len()))
            };
            let planes: Vec<Plane> = self.layers.iter().map(back).collect();
            let size = planes.iter().map(Plane::energy).sum::<f64>().sqrt();
            if size > 0.0 {
                // Who is not as far as the others counts more.
                let weight = (-tuning.balance * *level).exp() / size;
                for (sum, plane) in directions.iter_mut().zip(&planes) {
                    let parts = sum.data_mut().iter_mut().zip(plane.data());
                    parts.for_each(|(s, g)| *s += weight * g);
                }
            }
        }
        let done = step as f64 / tuning.steps as f64;
        let allowed = (tuning.start + (1.0 - tuning.start) * (1.5 * done).min(1.0)).powi(2);
        let haar = self.haar;
        for (layer, direction) in self.layers.iter_mut().zip(&directions) {
            let mut shaped = layer.shape.apply(direction);
            haar.forward(shaped.data_mut());
            damp_coarse(shaped.data_mut(), side, tuning.coarse);
            let radius = (allowed * layer.most * (side * side) as f64).sqrt();
            layer.advance(shaped.data(), tuning.momentum, (1.0 - done) * tuning.stride * radius);
        }
        // Back to what the floor allows.
        for n in 0..self.layers.len() {
            let layer = &self.layers[n];
            let over =
                self.scene.mse(&self.scene.lifted(&self.plane(layer))) / (allowed * layer.most);
            if over > 1.0 {
                let factor = over.sqrt().recip();
                self.layers[n].coefficients.iter_mut().for_each(|c| *c *= factor);
            }
        }
        Ok(())
    }

    /// Whether all recognisers are past their thresholds by the margin, also after JPEG and at half
    /// size.
    fn is_enough(&self, targets: &[Target<'_>], work: &mut Workspace) -> Result<bool> {
        let plain = self.scene.written(&self.changes())?;
        let (compressed, halved) = (after_jpeg(&plain, 75)?, plain.halved());
        for (r, target) in targets.iter().enumerate() {
            let placement = self.scene.placement(r);
            let looks: [(&Picture, _); 3] = [
                (&plain, *placement),
                (&compressed, *placement),
                (&halved, placement.for_half_size()),
            ];
            for (picture, placement) in looks {
                let recogniser = target.recogniser;
                let seen = recogniser.embed(&picture.chip(&placement, recogniser.side()), work)?;
                let distance = recogniser.distance(&seen, &target.own);
                if distance < self.steering.margin * recogniser.threshold() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Layer {
    /// A step of that length along a direction and what is left of earlier ones.
    fn advance(&mut self, direction: &[f64], momentum: f64, length: f64) {
        let size = norm(direction);
        if size == 0.0 {
            return;
        }
        for (m, d) in self.momentum.iter_mut().zip(direction) {
            *m = momentum * *m + d / size;
        }
        let size = norm(&self.momentum);
        if size > 0.0 {
            let steps = self.coefficients.iter_mut().zip(&self.momentum);
            steps.for_each(|(c, m)| *c += length * m / size);
        }
    }
}

/// Scales the coefficients whose patches are an eighth of the plane and more.
fn damp_coarse(coefficients: &mut [f64], side: usize, factor: f64) {
    for row in coefficients.chunks_exact_mut(side).take(8) {
        row.iter_mut().take(8).for_each(|c| *c *= factor);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
