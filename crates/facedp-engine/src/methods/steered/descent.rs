//! Gradient descent: the optimisation of one face.

use facedp::{Epsilon, Plane};
use facedp_nets::{Landmarks, Picture, Recogniser, Workspace};
use rand_core::CryptoRng;

use super::ask::{Asking, Target};
use super::canvas::{by_luma, lit, lit_colours, tinted_colours};
use super::chroma::Chroma;
use super::luma::{Limits, Luma};
use super::pixel::{Pixel, pixels, plane};
use super::scene::Scene;
use super::warp::Warp;
use crate::error::Result;
use crate::patch::Patch;
use crate::photo::{Photo, Region};
use crate::prior::Prior;
use crate::quality::{cost, join};
use crate::receipt::Displacement;
use crate::recognise::after_jpeg;
use crate::steering::Steering;

/// Steps between two measurements of quality, and the first step that has one.
const MEASURE_EVERY: usize = 2;
const FIRST_MEASURE: usize = 4;
/// Steps between two checks of the margin.
const CHECK_EVERY: usize = 4;

/// The result of steering one face.
pub(super) struct SteeredFace {
    /// The change of luma, in pixels of the chip.
    pub(super) luma: Plane,
    /// What each pixel may change.
    pub(super) limits: Limits,
    /// The change of red, green and blue, luma included; none if luma alone changes.
    pub(super) colours: Option<[Plane; 3]>,
    /// The displacement of the chip's pixels, horizontal and vertical; none if they stay.
    pub(super) field: Option<[Plane; 2]>,
    pub(super) shape: Option<Displacement>,
    pub(super) steps: usize,
    /// Whether all distances exceed their thresholds by the margin.
    pub(super) reached: bool,
}

impl SteeredFace {
    /// A multiple of the change of luma, in which every pixel keeps to its limit.
    pub(super) fn luma(&self, amount: f64) -> Plane {
        let mut luma = times(&self.luma, amount);
        self.limits.hold(&mut luma);
        luma
    }

    /// A multiple of the change: of luma, or of red, green and blue. Luma keeps to its limit; chroma is only multiplied.
    pub(super) fn planes(&self, amount: f64) -> Vec<Plane> {
        let luma = self.luma(amount);
        let Some(colours) = &self.colours else { return vec![luma] };
        let held = |colour: &Plane| {
            let mut colour = times(colour, amount);
            let luma = luma.data().iter().zip(self.luma.data());
            let over = luma.map(|(held, found)| held - amount * found);
            colour.data_mut().iter_mut().zip(over).for_each(|(v, over)| *v += over);
            colour
        };
        colours.iter().map(held).collect()
    }
}

fn times(plane: &Plane, amount: f64) -> Plane {
    let mut plane = plane.clone();
    plane.data_mut().iter_mut().for_each(|v| *v *= amount);
    plane
}

/// A face of a photo, and its position.
pub(super) struct FaceSite<'a> {
    pub(super) photo: &'a Photo,
    /// The chip that may change.
    pub(super) patch: &'a Patch,
    /// Landmarks by which recognisers align the face.
    pub(super) landmarks: &'a Landmarks,
    /// The square in which quality is measured.
    pub(super) square: Region,
    /// The embedding to leave, for each recogniser.
    pub(super) originals: Vec<Vec<f32>>,
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
        random: &mut (dyn CryptoRng + Send),
        proceed: &dyn Fn() -> Result<()>,
        work: &mut Workspace,
    ) -> Result<SteeredFace> {
        let Self { recognisers, prior, steering } = self;
        let pair = work.uses_two_threads();
        let scene = Scene::new(site, recognisers, pair)?;
        let mut targets = targets(site, recognisers, prior, steering.epsilon, random);
        let mut optimiser = Optimiser::new(&scene, steering, site.photo.has_colour(), pair)?;
        let (mut reached, mut steps) = (false, 0);
        while steps < steering.tuning.steps && !reached {
            proceed()?;
            optimiser.step(steps, &mut targets, random, work)?;
            steps += 1;
            let passed = |target: &Target<'_>| target.ratio >= f64::from(steering.margin);
            if steps % CHECK_EVERY == 0 && targets.iter().all(passed) {
                reached = optimiser.reaches_margin(&targets, work)?;
            }
        }
        let luma = optimiser.luma.plane();
        Ok(SteeredFace {
            colours: optimiser.chroma.map(|chroma| chroma.colours(&luma)),
            luma,
            limits: optimiser.luma.into_limits(),
            shape: optimiser.warp.as_ref().map(Warp::extent),
            field: optimiser.warp.map(Warp::into_field),
            steps,
            reached,
        })
    }
}

fn targets<'a>(
    site: &FaceSite<'_>,
    recognisers: &[&'a Recogniser],
    prior: &Prior,
    epsilon: Epsilon,
    random: &mut dyn CryptoRng,
) -> Vec<Target<'a>> {
    let names: Vec<&str> = recognisers.iter().map(|r| r.name()).collect();
    let draws = prior.draw(&names, &site.originals, epsilon, random);
    let target = |((recogniser, original), drawn): ((&&'a Recogniser, &Vec<f32>), Vec<f32>)| {
        Target { recogniser, original: original.clone(), drawn, ratio: 0.0 }
    };
    recognisers.iter().zip(&site.originals).zip(draws).map(target).collect()
}

/// The state of the optimisation of one face.
struct Optimiser<'a> {
    scene: &'a Scene,
    steering: &'a Steering,
    luma: Luma,
    /// For experiments.
    chroma: Option<Chroma>,
    warp: Option<Warp>,
}

impl<'a> Optimiser<'a> {
    fn new(scene: &'a Scene, steering: &'a Steering, coloured: bool, pair: bool) -> Result<Self> {
        let (min_quality, tuning) = (steering.min_quality, &steering.tuning);
        let chroma = || Chroma::new(scene, min_quality, tuning);
        let chroma = (coloured && tuning.chroma > 0.0).then(chroma).transpose()?;
        let warp = || Warp::new(scene.canvas.side(), scene.landmarks(), tuning);
        let (luma, warp) = join(
            pair,
            || Luma::new(scene, min_quality, tuning),
            || steering.shape.then(warp).transpose(),
        );
        Ok(Self { scene, steering, luma: luma?, chroma, warp: warp? })
    }

    /// Takes one step along the gradient of some recognisers.
    fn step(
        &mut self,
        step: usize,
        targets: &mut [Target<'_>],
        random: &mut (dyn CryptoRng + Send),
        work: &mut Workspace,
    ) -> Result<()> {
        let (scene, Steering { tuning, min_quality, .. }) = (self.scene, self.steering);
        let done = step as f64 / tuning.steps as f64;
        // Share of the largest squared change that is allowed at this step.
        let allowed = (tuning.start + (1.0 - tuning.start) * (1.5 * done).min(1.0)).powi(2);
        let measured = step >= FIRST_MEASURE && step.is_multiple_of(MEASURE_EVERY);
        let wanted = measured.then(|| 100.0 - (100.0 - min_quality) * allowed.sqrt());
        let (canvas, pair) = (&scene.canvas, work.uses_two_threads());
        let asking = Asking { scene, steering: self.steering, step };
        let Self { luma, chroma, warp, .. } = self;
        let field = warp.as_ref().map(Warp::field);
        // None of these three depends on another one.
        let ((), (displaced, questions)) = join(
            pair,
            || {
                if let Some(wanted) = wanted {
                    keep_quality(
                        luma,
                        chroma.as_mut(),
                        field,
                        scene,
                        (wanted, tuning.retreat),
                        pair,
                    );
                }
            },
            || {
                join(
                    pair,
                    || field.map(|field| canvas.displaced(field)),
                    || asking.draw(targets, random),
                )
            },
        );
        let base = displaced.as_ref().map_or(canvas.pixels(), |displaced| &displaced.pixels);
        let pixels = self.changed(base);

        let gradient = asking.gradient(&questions, &pixels, targets, work)?;
        let share = (1.0 - done) * tuning.stride;
        let (along, by_luma) = match &displaced {
            Some(displaced) => {
                let [x, y, luma] = canvas.lowered_all(&displaced.backward(&gradient));
                (Some([x, y]), luma)
            }
            None => (None, canvas.lowered(&gradient.iter().map(by_luma).collect::<Vec<_>>())),
        };
        let Self { luma, chroma, warp, .. } = self;
        join(
            pair,
            || {
                if let (Some(warp), Some(along)) = (warp, &along) {
                    warp.advance(along, tuning, share);
                }
            },
            || {
                luma.advance(&by_luma, canvas, tuning, share, allowed);
                if let Some(chroma) = chroma {
                    let gradient = [0, 1, 2].map(|c| plane(&gradient, c));
                    chroma.advance(&gradient, canvas, tuning, share, allowed);
                }
            },
        );
        Ok(())
    }

    /// The canvas with all changes but the displacement, which `base` has.
    fn changed(&self, base: &[Pixel]) -> Vec<Pixel> {
        let canvas = &self.scene.canvas;
        match &self.chroma {
            None => lit(base, self.luma.lifted()),
            Some(chroma) => {
                let changes = chroma.colours(&self.luma.plane());
                let changes = changes.map(|plane| canvas.lifted(&plane));
                let colours = [0, 1, 2].map(|c| plane(base, c));
                pixels(&tinted_colours(&colours, &changes))
            }
        }
    }

    /// Whether all distances exceed their thresholds by the margin, also after JPEG and at half size.
    fn reaches_margin(&self, targets: &[Target<'_>], work: &mut Workspace) -> Result<bool> {
        let canvas = &self.scene.canvas;
        let displaced = self.warp.as_ref().map(|warp| canvas.displaced(warp.field()));
        let base = displaced.as_ref().map_or(canvas.pixels(), |displaced| &displaced.pixels);
        let plain = canvas.picture(&self.changed(base))?;
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

/// Compares the luma that changed with the displaced original as people see it, and takes back what costs more than a
/// share `to` of the loss that is to be left at the score `wanted`.
fn keep_quality(
    luma: &mut Luma,
    chroma: Option<&mut Chroma>,
    field: Option<&[Plane; 2]>,
    scene: &Scene,
    (wanted, to): (f64, f64),
    pair: bool,
) {
    let screen = &scene.screen;
    let moved = field.map(|field| screen.moved(field));
    let base = moved.as_ref().unwrap_or(screen.colours());
    if let Some(chroma) = chroma {
        chroma.retreat(luma, base, wanted, to, scene);
        return;
    }
    let changed = lit_colours(base, &screen.lifted(&luma.plane()));
    let cost = cost(base, &changed, screen.size().0, pair);
    luma.retreat(&cost, wanted, to, scene);
}
