//! Gradient descent: the optimisation of one face.

use facedp::basis::{Haar, Transform};
use facedp::{Epsilon, Plane};
use facedp_nets::{Landmarks, Picture, Recogniser, Workspace};
use rand_core::CryptoRng;

use super::scene::Scene;
use super::shape::Shape;
use super::view::View;
use crate::error::Result;
use crate::patch::Patch;
use crate::photo::{Component, Photo};
use crate::prior::Prior;
use crate::recognise::after_jpeg;
use crate::steering::{Goal, Steering};

/// Mean squared error that rounding to whole grey levels adds (1/12), with a small reserve.
const ROUNDING_MSE: f64 = 0.09;

/// The result of steering one face.
pub(super) struct SteeredFace {
    /// The change of each component, to be lifted to the photo.
    pub(super) planes: Vec<(Component, Plane)>,
    pub(super) steps: usize,
    /// Whether all distances exceed their thresholds by the margin.
    pub(super) reached: bool,
}

/// The change of one colour component, as Haar coefficients.
struct Layer {
    component: Component,
    shape: Shape,
    coefficients: Vec<f64>,
    momentum: Vec<f64>,
    /// Largest mean squared change, in squared grey levels.
    max_mse: f64,
}

/// A recogniser, with the embedding to leave and the embedding to approach.
struct Target<'a> {
    recogniser: &'a Recogniser,
    original: Vec<f32>,
    drawn: Vec<f32>,
    /// Distance from the original over the threshold, averaged over recent steps.
    mean_ratio: f64,
}

/// A face of a photo, and its position.
pub(super) struct FaceSite<'a> {
    pub(super) photo: &'a Photo,
    /// The chip that may change.
    pub(super) patch: &'a Patch,
    /// Landmarks by which recognisers align the face.
    pub(super) landmarks: &'a Landmarks,
}

/// The optimisation, with the inputs that all faces share.
pub(super) struct Descent<'a> {
    pub(super) recognisers: &'a [&'a Recogniser],
    pub(super) prior: &'a Prior,
    pub(super) steering: &'a Steering,
}

impl Descent<'_> {
    /// Steers one face of a photo. The same randomness gives the same change. `proceed` is called before
    /// every step; its error ends the descent.
    pub(super) fn run(
        &self,
        site: &FaceSite<'_>,
        random: &mut dyn CryptoRng,
        proceed: &dyn Fn() -> Result<()>,
        work: &mut Workspace,
    ) -> Result<SteeredFace> {
        let Self { recognisers, prior, steering } = self;
        let scene = Scene::new(site, recognisers)?;
        let mut targets = targets(&scene, recognisers, prior, steering.epsilon, random, work)?;
        let mut optimiser = Optimiser::new(&scene, site.photo, steering)?;
        let mut reached = false;
        let mut steps = 0;
        while steps < steering.tuning.steps && !reached {
            proceed()?;
            optimiser.step(steps, &mut targets, random, work)?;
            steps += 1;
            if steps % steering.tuning.check_every == 0 {
                reached = optimiser.reaches_margin(&targets, work)?;
            }
        }
        let planes = optimiser.layers.iter();
        let planes = planes.map(|layer| (layer.component, optimiser.plane(layer))).collect();
        Ok(SteeredFace { planes, steps, reached })
    }
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
    let originals = each.map(|(r, recogniser)| {
        Ok(recogniser.embed(&picture.chip(scene.placement(r), recogniser.side()), work)?)
    });
    let originals = originals.collect::<Result<Vec<_>>>()?;
    let names: Vec<&str> = recognisers.iter().map(|r| r.name()).collect();
    let draws = prior.draw(&names, &originals, epsilon, random);
    let target =
        |((recogniser, original), drawn)| Target { recogniser, original, drawn, mean_ratio: 0.0 };
    Ok(recognisers.iter().copied().zip(originals).zip(draws).map(target).collect())
}

/// The state of the optimisation of one face.
struct Optimiser<'a> {
    scene: &'a Scene,
    steering: &'a Steering,
    haar: Haar,
    layers: Vec<Layer>,
}

impl<'a> Optimiser<'a> {
    fn new(scene: &'a Scene, photo: &Photo, steering: &'a Steering) -> Result<Self> {
        let side = scene.side();
        let tuning = &steering.tuning;
        let scale = side as f64 / 128.0;
        let floor_mse = 255f64.powi(2) / 10f64.powf(steering.min_psnr / 10.0) - ROUNDING_MSE;
        // The eye sees relative changes of brightness: a dark face may change less.
        let light = scene.light() / tuning.light;
        let max_mse = floor_mse * light.min(1.0).powi(2);
        let layer = |component: Component| {
            let (smooth, max_mse) = match component {
                Component::Luma => (tuning.smooth, max_mse),
                // Files usually store chroma at half the size, and the eye resolves it no better.
                Component::Cb | Component::Cr => {
                    (tuning.chroma_smooth * tuning.smooth, tuning.chroma * max_mse)
                }
            };
            let shape = Shape::new(scene.chip(), scale * smooth, tuning.contrast);
            let zeros = vec![0.0; side * side];
            Layer { component, shape, coefficients: zeros.clone(), momentum: zeros, max_mse }
        };
        let components: &[Component] = match steering.colour && photo.has_colour() {
            true => &Component::ALL,
            false => &[Component::Luma],
        };
        let layers = components.iter().copied().map(layer).collect();
        Ok(Self { scene, steering, haar: Haar::new(side, side, None)?, layers })
    }

    /// The change of a layer in pixels of the chip.
    fn plane(&self, layer: &Layer) -> Plane {
        let side = self.scene.side();
        let mut plane = Plane::zeros(side, side);
        plane.data_mut().copy_from_slice(&layer.coefficients);
        self.haar.inverse(plane.data_mut());
        plane
    }

    /// The change of each layer in pixels of the scene.
    fn changes(&self) -> Vec<(Component, Vec<f32>)> {
        let lifted = |layer: &Layer| (layer.component, self.scene.lifted(&self.plane(layer)));
        self.layers.iter().map(lifted).collect()
    }

    /// Evaluates the gradients of all recognisers, and takes one step.
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
            let Target { recogniser, original, drawn, mean_ratio } = target;
            let view = View::random(self.scene, r, recogniser.side(), step, random);
            let chip = view.chip(&colours, random)?;
            let (embedding, gradient) = recogniser.gradient(&chip, work, |e| {
                let (to_original, to_drawn) =
                    (recogniser.pull(e, original), recogniser.pull(e, drawn));
                let pairs = to_original.iter().zip(to_drawn);
                pairs.map(|(original, drawn)| pull * drawn - away * original).collect()
            })?;
            let distance = recogniser.distance(&embedding, original);
            let ratio = f64::from(distance / recogniser.threshold());
            *mean_ratio += 0.3 * (ratio - *mean_ratio);
            let backward = |layer: &Layer| {
                self.scene.lowered(&view.backward(&gradient, layer.component, colours[0].len()))
            };
            let planes: Vec<Plane> = self.layers.iter().map(backward).collect();
            let size = planes.iter().map(Plane::energy).sum::<f64>().sqrt();
            if size > 0.0 {
                // A recogniser that lags behind the others counts more.
                let weight = (-tuning.balance * *mean_ratio).exp() / size;
                for (sum, plane) in directions.iter_mut().zip(&planes) {
                    let parts = sum.data_mut().iter_mut().zip(plane.data());
                    parts.for_each(|(s, g)| *s += weight * g);
                }
            }
        }
        let done = step as f64 / tuning.steps as f64;
        // Share of `max_mse` that is allowed at this step.
        let allowed = (tuning.start + (1.0 - tuning.start) * (1.5 * done).min(1.0)).powi(2);
        let haar = self.haar;
        for (layer, direction) in self.layers.iter_mut().zip(&directions) {
            let mut shaped = layer.shape.apply(direction);
            haar.forward(shaped.data_mut());
            damp_coarse(shaped.data_mut(), side, tuning.coarse);
            let radius = (allowed * layer.max_mse * (side * side) as f64).sqrt();
            layer.advance(shaped.data(), tuning.momentum, (1.0 - done) * tuning.stride * radius);
        }
        // Scale each layer back to what the floor allows.
        for n in 0..self.layers.len() {
            let layer = &self.layers[n];
            let over =
                self.scene.mse(&self.scene.lifted(&self.plane(layer))) / (allowed * layer.max_mse);
            if over > 1.0 {
                let factor = over.sqrt().recip();
                self.layers[n].coefficients.iter_mut().for_each(|c| *c *= factor);
            }
        }
        Ok(())
    }

    /// Whether all distances exceed their thresholds by the margin, also after JPEG and at half size.
    fn reaches_margin(&self, targets: &[Target<'_>], work: &mut Workspace) -> Result<bool> {
        let plain = self.scene.written(&self.changes())?;
        let (compressed, halved) = (after_jpeg(&plain, 75)?, plain.halved());
        for (r, target) in targets.iter().enumerate() {
            let placement = self.scene.placement(r);
            let trials: [(&Picture, _); 3] = [
                (&plain, *placement),
                (&compressed, *placement),
                (&halved, placement.for_half_size()),
            ];
            for (picture, placement) in trials {
                let recogniser = target.recogniser;
                let embedding =
                    recogniser.embed(&picture.chip(&placement, recogniser.side()), work)?;
                let distance = recogniser.distance(&embedding, &target.original);
                if distance < self.steering.margin * recogniser.threshold() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Layer {
    /// Takes a step of the given length along the momentum, after adding a direction to it.
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

/// Scales the coefficients whose basis functions span an eighth of the plane or more.
fn damp_coarse(coefficients: &mut [f64], side: usize, factor: f64) {
    for row in coefficients.chunks_exact_mut(side).take(8) {
        row.iter_mut().take(8).for_each(|c| *c *= factor);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
