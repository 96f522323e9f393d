//! The detector and the recognisers together, for commands that ask "who is that?".

use anyhow::{Context, Result};
use facedp::Plane;
use facedp_nets::{Detector, Face, Landmarks, Picture, Recogniser, Similarity, Workspace};

use crate::photo::luma;

#[cfg(not(any(feature = "dlib", feature = "sface")))]
compile_error!("the program needs a recogniser: --features dlib or --features sface");

/// The least score of a face, unless the user says otherwise.
pub const MIN_SCORE: f32 = 0.7;

/// Where landmarks lie in a face chip of 128 pixels for eigenfaces: their mean place in the centre 150
/// pixels of 300 pictures of LFW (deep-funneled, even identities).
const CHIP_LANDMARKS: Landmarks =
    [[45.9, 53.0], [83.1, 52.7], [64.6, 74.1], [49.4, 90.6], [81.0, 90.3]];

/// One detector and all recognisers. Each thread brings its own [`Workspace`].
pub struct Eyes {
    pub detector: Detector,
    pub recognisers: Vec<Recogniser>,
}

impl Eyes {
    /// Loads the embedded networks.
    pub fn open() -> Result<Self> {
        let detector = Detector::new().context("the embedded detector")?;
        let recognisers = [
            #[cfg(feature = "dlib")]
            Recogniser::dlib(),
            #[cfg(feature = "sface")]
            Recogniser::sface(),
        ];
        let recognisers = recognisers.into_iter().collect::<Result<_, _>>();
        Ok(Self { detector, recognisers: recognisers.context("the embedded recognisers")? })
    }
}

/// The face whose centre lies nearest to the picture's.
pub fn central_face(detector: &Detector, picture: &Picture, work: &mut Workspace) -> Option<Face> {
    let (x, y) = (picture.width() as f32 / 2.0, picture.height() as f32 / 2.0);
    let off_centre = |face: &Face| {
        let rect = face.rect;
        (rect.x + rect.width / 2.0 - x).hypot(rect.y + rect.height / 2.0 - y)
    };
    let faces = detector.detect(picture, MIN_SCORE, work);
    faces.into_iter().min_by(|a, b| off_centre(a).total_cmp(&off_centre(b)))
}

/// The aligned luma chip of a face, for eigenfaces.
pub fn aligned_chip(picture: &Picture, landmarks: &Landmarks, side: usize) -> Result<Plane> {
    let scale = side as f32 / 128.0;
    // Scaled about the corner of the chip, which lies half a pixel before its first centre.
    let template = CHIP_LANDMARKS.map(|p| p.map(|v| (v + 0.5) * scale - 0.5));
    let placement = Similarity::fit(landmarks, &template)?;
    let chip = picture.chip(&placement, side);
    let pixel = |at: usize| [0, 1, 2].map(|c| f64::from(chip.values()[c * side * side + at]));
    Ok(Plane::new(side, side, (0..side * side).map(|at| luma(pixel(at))).collect())?)
}
