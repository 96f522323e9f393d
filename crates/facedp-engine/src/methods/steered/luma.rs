//! The change of luma of a face, as Haar coefficients of its chip.

use facedp::Plane;
use facedp::basis::{Haar, Transform};

use super::canvas::Canvas;
use super::scene::Scene;
use super::texture::{Texture, one_sided_deviations};
use super::warp::on_face;
use crate::error::Result;
use crate::quality::{Cost, loss_at, score_at};
use crate::steering::Tuning;

/// Mean squared error that rounding to whole grey levels adds (1/12), with a small reserve.
const ROUNDING_MSE: f64 = 0.09;
/// PSNR in dB at which faces score 65 on average, and dB for each further point: a first guess, which
/// measurements correct.
const FIRST_GUESS: [f64; 2] = [35.5, 0.375];
/// Reach of the squares whose contrast limits the change of a pixel: 4x4.
const LIMIT_REACH: usize = 3;
/// The largest change of a pixel beside the face as a share of that on it: nobody expects shading there.
const BESIDE: f64 = 0.5;
/// Luma from which smooth skin may change by as many grey levels as it may anywhere; in darker places, which show more, it may change by
/// fewer in proportion, down to a share.
const LIGHT: f64 = 60.0;
const DARKEST: f64 = 0.4;
/// Largest share of the loss that one retreat removes: the gradient holds for small steps only.
const MAX_RETREAT: f64 = 0.5;

pub(super) struct Luma {
    haar: Haar,
    texture: Texture,
    limits: Limits,
    coefficients: Vec<f64>,
    momentum: Vec<f64>,
    /// Largest mean squared change, in squared grey levels.
    max_mse: f64,
    /// The change of each pixel of the canvas.
    lifted: Vec<f32>,
}

impl Luma {
    pub(super) fn new(scene: &Scene, min_quality: f64, tuning: &Tuning) -> Result<Self> {
        let side = scene.canvas.side();
        let smooth = tuning.smooth * side as f64 / 128.0;
        let psnr = FIRST_GUESS[0] + FIRST_GUESS[1] * (min_quality - 65.0);
        let zeros = vec![0.0; side * side];
        Ok(Self {
            limits: Limits::new(scene, tuning)?,
            haar: Haar::new(side, side, None)?,
            texture: Texture::new(scene.chip(), smooth, tuning.contrast),
            coefficients: zeros.clone(),
            momentum: zeros,
            max_mse: (255f64.powi(2) / 10f64.powf(psnr / 10.0) - ROUNDING_MSE).max(ROUNDING_MSE),
            lifted: scene.canvas.lifted(&Plane::zeros(side, side)),
        })
    }

    /// The change of each pixel of the canvas.
    pub(super) fn lifted(&self) -> &[f32] {
        &self.lifted
    }

    /// The change in pixels of the chip.
    pub(super) fn plane(&self) -> Plane {
        let (side, _) = self.texture.size();
        let mut plane = Plane::zeros(side, side);
        plane.data_mut().copy_from_slice(&self.coefficients);
        self.haar.inverse(plane.data_mut());
        plane
    }

    /// Takes a step along a gradient with respect to the chip. Its length is a share of the largest change, of
    /// which `allowed` is the part (of squares) that may be used so far.
    pub(super) fn advance(
        &mut self,
        gradient: &Plane,
        canvas: &Canvas,
        tuning: &Tuning,
        share: f64,
        allowed: f64,
    ) {
        let (side, count) = self.texture.size();
        let mut direction = self.texture.apply(gradient);
        self.haar.forward(direction.data_mut());
        damp_coarse(direction.data_mut(), side, tuning.coarse);
        let size = norm(direction.data());
        if size == 0.0 {
            return;
        }
        for (m, d) in self.momentum.iter_mut().zip(direction.data()) {
            *m = tuning.momentum * *m + d / size;
        }
        let size = norm(&self.momentum);
        let limit = allowed * self.max_mse;
        let length = share * (limit * count as f64).sqrt();
        if size > 0.0 {
            let steps = self.coefficients.iter_mut().zip(&self.momentum);
            steps.for_each(|(c, m)| *c += length * m / size);
        }
        let mut plane = self.plane();
        self.limits.hold(&mut plane);
        self.set(plane, canvas);
        let over = canvas.mse(&self.lifted) / limit;
        if over > 1.0 {
            let factor = over.sqrt().recip();
            self.coefficients.iter_mut().for_each(|c| *c *= factor);
            self.lifted.iter_mut().for_each(|v| *v *= factor as f32);
        }
    }

    /// Takes back the part of the change that eyes see best, if it costs more than a share `to` of the loss that
    /// the score `wanted` allows: a step along the gradient of the loss. Corrects the largest change, too.
    pub(super) fn retreat(&mut self, cost: &Cost, wanted: f64, to: f64, scene: &Scene) {
        retreat(&mut [(self, &cost.gradient)], cost.loss, wanted, to, scene);
    }

    pub(super) fn into_limits(self) -> Limits {
        self.limits
    }

    /// Allows a share of the largest mean squared change.
    pub(super) fn limited(mut self, share: f64) -> Self {
        self.max_mse *= share;
        self
    }

    /// Sets the change, in pixels of the chip.
    fn set(&mut self, plane: Plane, canvas: &Canvas) {
        self.lifted = canvas.lifted(&plane);
        self.coefficients.copy_from_slice(plane.data());
        self.haar.forward(&mut self.coefficients);
    }
}

/// The largest change of each pixel of the chip. A score is a mean: without these limits, lines would be drawn on smooth skin.
pub(super) struct Limits(Vec<f64>);

impl Limits {
    fn new(scene: &Scene, tuning: &Tuning) -> Result<Self> {
        let chip = scene.chip();
        let contrasts = one_sided_deviations(chip, LIMIT_REACH);
        let on_face = on_face(chip.width(), scene.landmarks())?;
        let limits = chip.data().iter().zip(contrasts).zip(on_face);
        let limits = limits.map(|((luma, contrast), on_face)| {
            let level = tuning.level * (luma / LIGHT).clamp(DARKEST, 1.0);
            (if on_face { 1.0 } else { BESIDE }) * (level + tuning.masking * contrast)
        });
        Ok(Self(limits.collect()))
    }

    pub(super) fn hold(&self, change: &mut Plane) {
        change.data_mut().iter_mut().zip(&self.0).for_each(|(v, max)| *v = v.clamp(-max, *max));
    }
}

/// Takes back what eyes see best of changes that are seen together, until a share `to` of the loss is left that
/// the score `wanted` allows. Each change has the gradient of their loss by it.
pub(super) fn retreat(
    changes: &mut [(&mut Luma, &[f32])],
    loss: f64,
    wanted: f64,
    to: f64,
    scene: &Scene,
) {
    let ratio = (100.0 - wanted) / (100.0 - score_at(loss)).max(0.5);
    let excess = (loss - to * loss_at(wanted)).min(MAX_RETREAT * loss);
    let (mut directions, mut slope) = (Vec::new(), 0.0);
    for (change, gradient) in changes.iter_mut() {
        change.max_mse = (change.max_mse * ratio.clamp(0.4, 2.5).powf(1.5)).max(ROUNDING_MSE);
        let direction = change.texture.apply(&scene.screen.lowered(gradient));
        let moved = scene.screen.lifted(&direction);
        slope += moved.iter().zip(*gradient).map(|(m, g)| f64::from(m * g)).sum::<f64>();
        directions.push(direction);
    }
    if excess <= 0.0 || slope <= 0.0 {
        return;
    }
    for ((change, _), direction) in changes.iter_mut().zip(directions) {
        let mut plane = change.plane();
        let values = plane.data_mut().iter_mut().zip(direction.data());
        values.for_each(|(v, d)| *v -= excess / slope * d);
        change.limits.hold(&mut plane);
        change.set(plane, &scene.canvas);
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
