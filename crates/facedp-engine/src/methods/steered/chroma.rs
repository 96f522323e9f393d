//! The change of colour of a face, for experiments: two planes like that of luma, within the same floor.

use facedp::Plane;

use super::canvas::{Canvas, Colours, tinted_colours};
use super::luma::{Luma, retreat};
use super::scene::Scene;
use crate::error::Result;
use crate::quality::cost_along;
use crate::steering::Tuning;

/// Change of red, green and blue per unit of Cb and Cr (ITU-R BT.601). Luma stays.
const RGB: [[f32; 3]; 2] = [[0.0, -0.344_136, 1.772], [1.402, -0.714_136, 0.0]];
/// Factor on the smoothing of luma: files often store chroma at half the size, and eyes resolve no more.
const SMOOTHER: f64 = 3.0;

pub(super) struct Chroma {
    /// Cb and Cr.
    planes: [Luma; 2],
}

impl Chroma {
    pub(super) fn new(scene: &Scene, min_quality: f64, tuning: &Tuning) -> Result<Self> {
        let smoother = Tuning { smooth: SMOOTHER * tuning.smooth, ..*tuning };
        let plane = || Luma::new(scene, min_quality, &smoother);
        let planes = [plane()?, plane()?].map(|plane| plane.limited(tuning.chroma));
        Ok(Self { planes })
    }

    /// Takes a step along a gradient with respect to the colours of the canvas.
    pub(super) fn advance(
        &mut self,
        gradient: &Colours,
        canvas: &Canvas,
        tuning: &Tuning,
        share: f64,
        allowed: f64,
    ) {
        for (plane, [red, green, blue]) in self.planes.iter_mut().zip(RGB) {
            let [r, g, b] = gradient;
            let pixels = r.iter().zip(g).zip(b);
            let along: Vec<f32> =
                pixels.map(|((r, g), b)| red * r + green * g + blue * b).collect();
            plane.advance(&canvas.lowered(&along), canvas, tuning, share, allowed);
        }
    }

    /// Takes back the parts of luma and chroma that eyes see best together.
    pub(super) fn retreat(
        &mut self,
        luma: &mut Luma,
        base: &Colours,
        wanted: f64,
        to: f64,
        scene: &Scene,
    ) {
        let screen = &scene.screen;
        let lifted = self.colours(&luma.plane()).map(|plane| screen.lifted(&plane));
        let changed = tinted_colours(base, &lifted);
        let [by_luma, by_cb, by_cr] = [[1.0; 3], RGB[0], RGB[1]]
            .map(|shares| cost_along(shares, base, &changed, screen.size().0, false));
        let [cb, cr] = &mut self.planes;
        let mut changes =
            [(luma, &*by_luma.gradient), (cb, &*by_cb.gradient), (cr, &*by_cr.gradient)];
        retreat(&mut changes, by_luma.loss, wanted, to, scene);
    }

    /// The change of red, green and blue in pixels of the chip, with a change of luma.
    pub(super) fn colours(&self, luma: &Plane) -> [Plane; 3] {
        let planes = self.planes.each_ref().map(Luma::plane);
        std::array::from_fn(|c| {
            let mut sum = luma.clone();
            for (plane, rgb) in planes.iter().zip(RGB) {
                let values = sum.data_mut().iter_mut().zip(plane.data());
                values.for_each(|(to, v)| *to += f64::from(rgb[c]) * v);
            }
            sum
        })
    }
}
