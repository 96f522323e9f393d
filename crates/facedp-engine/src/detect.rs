//! Face detection, and the selection of faces.

use facedp_nets::{Detections, Detector, Face, Landmarks, Rect, Similarity, Workspace};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::patch::bounds;
use crate::photo::Photo;

/// Default of the smallest score of a face.
pub const MIN_SCORE: f32 = 0.7;

/// Photos whose longer side exceeds this many pixels are searched at half size: faces of less than about 24
/// pixels are not found in them.
const MAX_FULL_SIDE: usize = 3200;
/// Smallest score of a face inside a box that the user drew.
const MIN_SCORE_IN_BOX: f32 = 0.3;
/// Landmarks relative to the centre of a face's box, as shares of the box's size: mean positions over 300
/// pictures of LFW (even identities), made symmetric.
const BOX_LANDMARKS: Landmarks =
    [[-0.203, -0.148], [0.203, -0.148], [0.0, 0.081], [-0.172, 0.259], [0.172, 0.259]];

/// A face of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DetectedFace {
    /// Left, top, width and height in pixels. The box may extend beyond the photo.
    #[serde(rename = "box")]
    pub rect: [f32; 4],
    /// Eyes, nose and corners of the mouth.
    pub landmarks: Landmarks,
    /// The detector's score, 0 to 1; none for a box that the user drew.
    pub score: Option<f32>,
}

impl DetectedFace {
    pub fn rect(&self) -> Rect {
        let [x, y, width, height] = self.rect;
        Rect { x, y, width, height }
    }

    fn area(&self) -> f32 {
        self.rect[2] * self.rect[3]
    }
}

impl From<Face> for DetectedFace {
    fn from(face: Face) -> Self {
        let Rect { x, y, width, height } = face.rect;
        Self { rect: [x, y, width, height], landmarks: face.landmarks, score: Some(face.score) }
    }
}

/// What the detector found in a photo.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Highest score first.
    pub faces: Vec<DetectedFace>,
    /// Places that may be faces, numbered after the faces.
    pub doubts: Vec<Doubt>,
}

/// A place that looks like a face but scored too little to be treated as one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Doubt {
    /// Chooses it in [`Faces::Numbers`].
    pub number: usize,
    #[serde(flatten)]
    pub face: DetectedFace,
}

/// What was chosen in a photo, and what was not.
pub(crate) struct Chosen {
    pub(crate) faces: Vec<DetectedFace>,
    /// Faces that were found but not chosen.
    pub(crate) left_out: Vec<DetectedFace>,
    /// Doubts that were not chosen; none where single faces were.
    pub(crate) doubts: Vec<Doubt>,
}

/// Which of the detected faces: `"all"`, `"largest"` or a list of numbers in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "FacesForm", into = "FacesForm")]
pub enum Faces {
    #[default]
    All,
    Largest,
    /// Numbers as `facedp inspect` gives them; 1 has the highest score. Doubts come after the faces.
    Numbers(Vec<usize>),
}

/// How [`Faces`] is written in JSON.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum FacesForm {
    Word(String),
    Numbers(Vec<usize>),
}

impl TryFrom<FacesForm> for Faces {
    type Error = String;

    fn try_from(form: FacesForm) -> Result<Self, String> {
        match form {
            FacesForm::Numbers(numbers) => Ok(Faces::Numbers(numbers)),
            FacesForm::Word(word) if word == "all" => Ok(Faces::All),
            FacesForm::Word(word) if word == "largest" => Ok(Faces::Largest),
            FacesForm::Word(word) => {
                Err(format!("faces are all, largest or a list of numbers, not `{word}`"))
            }
        }
    }
}

impl From<Faces> for FacesForm {
    fn from(faces: Faces) -> Self {
        match faces {
            Faces::All => FacesForm::Word("all".to_owned()),
            Faces::Largest => FacesForm::Word("largest".to_owned()),
            Faces::Numbers(numbers) => FacesForm::Numbers(numbers),
        }
    }
}

impl Faces {
    fn choose(&self, found: &Found) -> Result<Vec<DetectedFace>> {
        let faces = found.faces.iter();
        match self {
            Faces::All => Ok(found.faces.clone()),
            Faces::Largest => {
                let largest = faces.max_by(|a, b| a.area().total_cmp(&b.area()));
                Ok(largest.copied().into_iter().collect())
            }
            Faces::Numbers(numbers) => {
                let all: Vec<&DetectedFace> = faces.chain(found.doubtful()).collect();
                let chosen = |number: &usize| {
                    let face = number.checked_sub(1).and_then(|n| all.get(n).copied());
                    face.copied().ok_or(Error::FaceNumber { number: *number, found: all.len() })
                };
                numbers.iter().map(chosen).collect()
            }
        }
    }
}

impl Found {
    fn doubtful(&self) -> impl Iterator<Item = &DetectedFace> {
        self.doubts.iter().map(|doubt| &doubt.face)
    }
}

/// What is treated in a photo.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Selection {
    /// Detected faces, and boxes that the user drew.
    Detected { faces: Faces, boxes: Vec<[f32; 4]>, min_score: f32 },
    /// The centre square of a face crop.
    Crop { side: Option<u32> },
}

impl Selection {
    /// The selection as text. Ledgers hold hashes of it: it must not change.
    pub(crate) fn fingerprint(&self) -> String {
        match self {
            Selection::Detected { faces, boxes, min_score } => {
                let faces = match faces {
                    Faces::All => "All".to_owned(),
                    Faces::Largest => "Largest".to_owned(),
                    Faces::Numbers(numbers) => format!("Numbers({numbers:?})"),
                };
                format!("Faces {{ which: {faces}, boxes: {boxes:?}, min_score: {min_score:?} }}")
            }
            Selection::Crop { side: None } => "Aligned { crop: None }".to_owned(),
            Selection::Crop { side: Some(side) } => format!("Aligned {{ crop: Some({side}) }}"),
        }
    }
}

/// The face detector for photos. Each thread uses its own [`Workspace`].
pub struct FaceDetector {
    network: Detector,
}

impl FaceDetector {
    pub fn new() -> Result<Self> {
        Ok(Self { network: Detector::new()? })
    }

    /// All faces of a photo, highest score first.
    pub fn find(
        &self,
        photo: &Photo,
        min_score: f32,
        work: &mut Workspace,
    ) -> Result<Vec<DetectedFace>> {
        Ok(self.search(photo, min_score, work)?.faces)
    }

    /// All faces of a photo, and places that may be faces.
    pub fn search(&self, photo: &Photo, min_score: f32, work: &mut Workspace) -> Result<Found> {
        let large = photo.width().max(photo.height()) > MAX_FULL_SIDE;
        let picture = if large { photo.half_picture()? } else { photo.picture(photo.whole())? };
        let Detections { mut faces, mut doubts } = self.network.search(&picture, min_score, work);
        if large {
            faces.iter_mut().chain(&mut doubts).for_each(|face| face.scale(2.0));
        }
        // False detections can lie outside the photo.
        let inside = |face: &Face| {
            let Rect { x, y, width, height } = face.rect;
            x + width > 0.0
                && y + height > 0.0
                && x < photo.width() as f32
                && y < photo.height() as f32
        };
        let in_photo = |faces: Vec<Face>| faces.into_iter().filter(inside).map(DetectedFace::from);
        let faces: Vec<DetectedFace> = in_photo(faces).collect();
        let doubts = (faces.len() + 1..).zip(in_photo(doubts));
        // Cut off at the edges of the photo, so that the box can be given back.
        let cut = |face: DetectedFace| {
            let [x, y, width, height] = face.rect;
            let end = |start: f32, length: f32, size: usize| (start + length).min(size as f32);
            let (left, top) = (x.max(0.0), y.max(0.0));
            let [right, bottom] = [end(x, width, photo.width()), end(y, height, photo.height())];
            DetectedFace { rect: [left, top, right - left, bottom - top], ..face }
        };
        let doubts = doubts.map(|(number, face)| Doubt { number, face: cut(face) }).collect();
        Ok(Found { faces, doubts })
    }

    /// The faces chosen among all detected ones, and one for each box.
    pub(crate) fn choose(
        &self,
        photo: &Photo,
        faces: &Faces,
        boxes: &[[f32; 4]],
        min_score: f32,
        work: &mut Workspace,
    ) -> Result<Chosen> {
        let found = self.search(photo, min_score, work)?;
        let mut chosen = faces.choose(&found)?;
        for given in boxes {
            let drawn = self.in_box(photo, *given, work)?;
            // A drawn box around a detected face selects that face, with the same noise.
            let known = found.faces.iter().find(|known| known.rect().overlaps(&drawn.rect()));
            let face = *known.unwrap_or(&drawn);
            if !chosen.iter().any(|other| other.rect().overlaps(&face.rect())) {
                chosen.push(face);
            }
        }
        let is_chosen =
            |face: &DetectedFace| chosen.iter().any(|other| other.rect().overlaps(&face.rect()));
        let left_out = found.faces.iter().filter(|face| !is_chosen(face)).copied().collect();
        // Whoever names single faces has seen the others.
        let all = matches!(faces, Faces::All);
        let doubts = found.doubts.iter().filter(|doubt| all && !is_chosen(&doubt.face));
        Ok(Chosen { left_out, doubts: doubts.copied().collect(), faces: chosen })
    }

    /// The face in a box. Its landmarks are those that the detector finds around the box, or else those of
    /// an upright face that fills the box.
    fn in_box(&self, photo: &Photo, given: [f32; 4], work: &mut Workspace) -> Result<DetectedFace> {
        let [x, y, width, height] = given;
        let (right, bottom) = (photo.width() as f32, photo.height() as f32);
        let usable = width >= 1.0 && height >= 1.0 && x + width <= right && y + height <= bottom;
        if !(usable && x >= 0.0 && y >= 0.0) {
            let given = given.map(|v| v.to_string()).join(",");
            let (width, height) = (photo.width(), photo.height());
            return Err(Error::Box { given, width, height });
        }
        let size = (width * height).sqrt();
        let centre = [x + width / 2.0, y + height / 2.0];
        let landmarks = BOX_LANDMARKS.map(|[u, v]| [centre[0] + u * size, centre[1] + v * size]);
        let drawn = DetectedFace { rect: given, landmarks, score: None };
        // Twice the box, so that the detector sees the whole head.
        let placement = Similarity::upright(1.0, [width / 2.0 - x, height / 2.0 - y]);
        let side = 2.0 * width.max(height);
        let region = bounds(&placement, side as usize, photo, 1);
        let seen = self.network.detect(&photo.picture(region)?, MIN_SCORE_IN_BOX, work);
        let found = seen.into_iter().find_map(|mut face| {
            face.shift(region.x as f32, region.y as f32);
            face.rect.overlaps(&drawn.rect()).then_some(face.landmarks)
        });
        Ok(DetectedFace { landmarks: found.unwrap_or(landmarks), ..drawn })
    }

    /// The face whose centre is nearest to the centre of the photo.
    pub fn central_face(
        &self,
        photo: &Photo,
        work: &mut Workspace,
    ) -> Result<Option<DetectedFace>> {
        let (x, y) = (photo.width() as f32 / 2.0, photo.height() as f32 / 2.0);
        let off_centre = |face: &DetectedFace| {
            let [left, top, width, height] = face.rect;
            (left + width / 2.0 - x).hypot(top + height / 2.0 - y)
        };
        let faces = self.find(photo, MIN_SCORE, work)?;
        Ok(faces.into_iter().min_by(|a, b| off_centre(a).total_cmp(&off_centre(b))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ledgers hold hashes of these texts.
    #[test]
    fn selections_keep_their_fingerprints() {
        let detected = |faces: Faces, boxes: Vec<[f32; 4]>| Selection::Detected {
            faces,
            boxes,
            min_score: MIN_SCORE,
        };
        for (selection, text) in [
            (detected(Faces::All, Vec::new()), "Faces { which: All, boxes: [], min_score: 0.7 }"),
            (
                detected(Faces::Largest, vec![[1.0, 2.5, 30.0, 40.0]]),
                "Faces { which: Largest, boxes: [[1.0, 2.5, 30.0, 40.0]], min_score: 0.7 }",
            ),
            (
                detected(Faces::Numbers(vec![1, 3]), Vec::new()),
                "Faces { which: Numbers([1, 3]), boxes: [], min_score: 0.7 }",
            ),
            (Selection::Crop { side: None }, "Aligned { crop: None }"),
            (Selection::Crop { side: Some(150) }, "Aligned { crop: Some(150) }"),
        ] {
            assert_eq!(selection.fingerprint(), text);
        }
    }
}
