//! Asking recognisers for the gradients of one step.

use facedp_nets::{Recogniser, Workspace};
use rand_core::CryptoRng;

use super::pixel::{Pixel, by_colour};
use super::scene::Scene;
use super::view::{RandomView, View};
use crate::error::Result;
use crate::random::{normal, uniform};
use crate::steering::{Goal, Steering, Tuning};

/// Smallest chance that a recogniser is asked, relative to the one that lags behind most.
const MIN_CHANCE: f64 = 0.05;
/// Range of a distance from the original, over its threshold, within which the drawn person pulls harder the
/// farther the face is.
const PULL_RANGE: [f32; 2] = [0.3, 2.0];

/// A recogniser, with the embedding to leave and the embedding to approach.
pub(super) struct Target<'a> {
    pub(super) recogniser: &'a Recogniser,
    pub(super) original: Vec<f32>,
    pub(super) drawn: Vec<f32>,
    /// Distance from the original over the threshold, averaged over recent steps.
    pub(super) ratio: f64,
}

/// The questions of one step.
pub(super) struct Asking<'a> {
    pub(super) scene: &'a Scene,
    pub(super) steering: &'a Steering,
    pub(super) step: usize,
}

/// What is random about a question.
pub(super) struct Question {
    target: usize,
    view: RandomView,
    /// On the weights of the network.
    factors: Vec<f32>,
}

struct Answer {
    /// Distance from the original over the threshold.
    ratio: f64,
    gradient: Vec<Pixel>,
}

impl Asking<'_> {
    /// Draws the questions of the step, each for another recogniser as long as there is one.
    pub(super) fn draw(&self, targets: &[Target<'_>], random: &mut dyn CryptoRng) -> Vec<Question> {
        let Tuning { asked, balance, .. } = self.steering.tuning;
        let mut left: Vec<usize> = Vec::new();
        let mut next = || {
            if left.is_empty() {
                left = (0..targets.len()).collect();
            }
            let target = left.remove(choose(targets, &left, balance, uniform(random)));
            self.question(target, targets, random)
        };
        (0..asked).map(|_| next()).collect()
    }

    /// The sum of the gradients of the goal with respect to the pixels of the canvas, which have all changes so far. Each
    /// has a length of 1, so that all recognisers count alike. Two questions at a time are answered if there are two threads.
    pub(super) fn gradient(
        &self,
        questions: &[Question],
        pixels: &[Pixel],
        targets: &mut [Target<'_>],
        work: &mut Workspace,
    ) -> Result<Vec<Pixel>> {
        let mut sum = vec![[0.0; 4]; pixels.len()];
        let mut add = |question: &Question, answer: Answer, targets: &mut [Target<'_>]| {
            targets[question.target].note(answer.ratio);
            let sums = sum.as_flattened_mut().iter_mut().zip(answer.gradient.as_flattened());
            sums.for_each(|(sum, g)| *sum += g);
        };
        let mut questions = questions.iter();
        while let Some(first) = questions.next() {
            let second = if work.uses_two_threads() { questions.next() } else { None };
            let Some(second) = second else {
                let answer = self.answer(first, pixels, targets, work)?;
                add(first, answer, targets);
                continue;
            };
            let (one, other) = work.at_once(
                |work| self.answer(first, pixels, targets, work),
                |work| self.answer(second, pixels, targets, work),
            );
            add(first, one?, targets);
            add(second, other?, targets);
        }
        Ok(sum)
    }

    fn question(
        &self,
        target: usize,
        targets: &[Target<'_>],
        random: &mut dyn CryptoRng,
    ) -> Question {
        let (recogniser, tuning) = (targets[target].recogniser, &self.steering.tuning);
        let side = recogniser.side();
        let view = RandomView::new(self.scene, target, side, self.step, tuning.views, random);
        let factor = |_| 1.0 + tuning.jitter * normal(random);
        Question { target, view, factors: (0..recogniser.factors()).map(factor).collect() }
    }

    fn answer(
        &self,
        Question { target, view, factors }: &Question,
        pixels: &[Pixel],
        targets: &[Target<'_>],
        work: &mut Workspace,
    ) -> Result<Answer> {
        let (away, pull) = match self.steering.goal {
            Goal::Away => (1.0, 0.0),
            Goal::Both => (1.0, self.steering.tuning.pull),
            Goal::Draw => (0.0, 1.0),
        };
        let Target { recogniser, original, drawn, .. } = &targets[*target];
        let view = View::new(self.scene, view);
        let chip = view.chip(pixels)?;
        let mut factors = factors.iter();
        let factor = || factors.next().copied().unwrap_or(1.0);
        let far = |e: &[f32]| recogniser.distance(e, original) / recogniser.threshold();
        let (embedding, gradient) = recogniser.jittered_gradient(&chip, work, factor, |e| {
            // Leave the original first; then approach the drawn person.
            let pull = pull * far(e).clamp(PULL_RANGE[0], PULL_RANGE[1]).powi(2);
            let pairs = recogniser.pull(e, original).into_iter().zip(recogniser.pull(e, drawn));
            pairs.map(|(original, drawn)| pull * drawn - away * original).collect()
        })?;
        let mut gradient = view.backward(&gradient, pixels.len());
        let squares = by_colour(&gradient).map(|g| f64::from(g).powi(2));
        let size = squares.sum::<f64>().sqrt() as f32;
        if size > 0.0 {
            gradient.as_flattened_mut().iter_mut().for_each(|g| *g /= size);
        }
        Ok(Answer { ratio: f64::from(far(&embedding)), gradient })
    }
}

impl Target<'_> {
    /// Remembers the distance of an answer, over the threshold.
    fn note(&mut self, found: f64) {
        let ratio = &mut self.ratio;
        *ratio = if *ratio == 0.0 { found } else { *ratio + 0.3 * (found - *ratio) };
    }
}

/// The position in `left` of the recogniser to ask, by a number from 0 to 1. Those that lag behind the others have larger shares.
fn choose(targets: &[Target<'_>], left: &[usize], balance: f64, share: f32) -> usize {
    let ratios = || left.iter().map(|n| targets[*n].ratio);
    let least = ratios().fold(f64::INFINITY, f64::min);
    let chance = |ratio: f64| MIN_CHANCE + (balance * (least - ratio)).exp();
    let total: f64 = ratios().map(chance).sum();
    let mut rest = total * f64::from(share);
    let reached = ratios().position(|ratio| {
        rest -= chance(ratio);
        rest < 0.0
    });
    reached.unwrap_or(left.len() - 1)
}
