//! Asking recognisers for the gradients of one step.

use facedp_nets::{Recogniser, Workspace};
use rand_core::CryptoRng;

use super::pixel::{Pixel, by_colour};
use super::replay::Replay;
use super::scene::Scene;
use super::view::{RandomView, View};
use crate::error::Result;
use crate::random::{normal, uniform};
use crate::steering::{Goal, Steering};

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

/// Questions that are answered at the same time.
pub(super) struct Questions {
    first: Question,
    /// With the number that it was chosen by, before the first one was answered.
    second: Option<(f32, Question)>,
}

/// What is random about a question.
struct Question {
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
    /// Draws what can be answered at the same time: two questions if there are two threads. Which recogniser the second one
    /// goes to depends on the answer to the first, though seldom: it is guessed.
    pub(super) fn draw(
        &self,
        two: bool,
        targets: &[Target<'_>],
        random: &mut Replay<'_>,
    ) -> Questions {
        let balance = self.steering.tuning.balance;
        let n = choose(targets, balance, uniform(random));
        let first = self.question(n, targets, random);
        let second = (two && self.steering.tuning.asked > 1).then(|| {
            let share = uniform(random);
            let guess = choose(targets, balance, share);
            random.mark();
            (share, self.question(guess, targets, random))
        });
        Questions { first, second }
    }

    /// The sum of the gradients of the goal with respect to the pixels of the canvas, which have all changes so far, by
    /// recognisers drawn at random. Each has a length of 1, so that all recognisers count alike. The first questions are
    /// drawn already.
    pub(super) fn gradient(
        &self,
        drawn: Questions,
        pixels: &[Pixel],
        targets: &mut [Target<'_>],
        random: &mut Replay<'_>,
        work: &mut Workspace,
    ) -> Result<Vec<Pixel>> {
        let (mut sum, mut drawn): (Option<Vec<Pixel>>, _) = (None, Some(drawn));
        let mut left = self.steering.tuning.asked;
        while left > 0 {
            let two = left > 1 && work.uses_two_threads();
            let questions = drawn.take().unwrap_or_else(|| self.draw(two, targets, random));
            let gradients = match questions {
                Questions { first, second: Some(second) } => {
                    Vec::from(self.ask_two(first, second, pixels, targets, random, work)?)
                }
                Questions { first, second: None } => {
                    let answer = self.answer(&first, pixels, targets, work)?;
                    vec![targets[first.target].note(answer)]
                }
            };
            left -= gradients.len();
            for gradient in gradients {
                match &mut sum {
                    None => sum = Some(gradient),
                    Some(sum) => {
                        let sums = sum.as_flattened_mut().iter_mut().zip(gradient.as_flattened());
                        sums.for_each(|(sum, g)| *sum += g);
                    }
                }
            }
        }
        Ok(sum.unwrap_or_else(|| vec![[0.0; 4]; pixels.len()]))
    }

    /// Two questions at the same time, each on a thread of its own. The second one is asked again where the guess was wrong.
    /// So the gradients are those of one thread.
    fn ask_two(
        &self,
        first: Question,
        (share, second): (f32, Question),
        pixels: &[Pixel],
        targets: &mut [Target<'_>],
        random: &mut Replay<'_>,
        work: &mut Workspace,
    ) -> Result<[Vec<Pixel>; 2]> {
        let (one, other) = work.at_once(
            |work| self.answer(&first, pixels, targets, work),
            |work| self.answer(&second, pixels, targets, work),
        );
        let one = targets[first.target].note(one?);
        let m = choose(targets, self.steering.tuning.balance, share);
        let other = if m == second.target {
            other?
        } else {
            random.take_back();
            let question = self.question(m, targets, random);
            self.answer(&question, pixels, targets, work)?
        };
        random.keep();
        Ok([one, targets[m].note(other)])
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
    /// Remembers the distance of an answer.
    fn note(&mut self, Answer { ratio: found, gradient }: Answer) -> Vec<Pixel> {
        let ratio = &mut self.ratio;
        *ratio = if *ratio == 0.0 { found } else { *ratio + 0.3 * (found - *ratio) };
        gradient
    }
}

/// The recogniser to ask, by a number from 0 to 1. Those that lag behind the others have larger shares.
fn choose(targets: &[Target<'_>], balance: f64, share: f32) -> usize {
    let least = targets.iter().map(|target| target.ratio).fold(f64::INFINITY, f64::min);
    let chance = |target: &Target<'_>| MIN_CHANCE + (balance * (least - target.ratio)).exp();
    let total: f64 = targets.iter().map(chance).sum();
    let mut left = total * f64::from(share);
    for (n, target) in targets.iter().enumerate() {
        left -= chance(target);
        if left < 0.0 {
            return n;
        }
    }
    targets.len() - 1
}
