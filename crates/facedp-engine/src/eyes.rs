//! The detector and the recognisers, as photos need them.

use facedp_nets::{Detector, Face, Landmarks, Picture, Recogniser, Rect, Similarity, Workspace};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::patch::bounds;
use crate::photo::{Limits, Photo, Region, encode_jpeg};

#[cfg(not(any(feature = "dlib", feature = "sface")))]
compile_error!("a recogniser is needed: --features dlib or --features sface");

/// The least score of a face, unless the user says otherwise.
pub const MIN_SCORE: f32 = 0.7;

/// Photos with a longer side than this are looked at from half their size on: faces of less than
/// about 24 pixels are not looked for in them.
const LARGE: usize = 3200;
/// The least score of a face that the user has drawn a box round.
const MIN_SCORE_IN_BOX: f32 = 0.3;
/// Where landmarks lie in a face's box, from its centre, as shares of the box's size: their mean place
/// over 300 pictures of LFW (even identities), made symmetric.
const BOX_LANDMARKS: Landmarks =
    [[-0.203, -0.148], [0.203, -0.148], [0.0, 0.081], [-0.172, 0.259], [0.172, 0.259]];

/// A face of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// Left, top, width and height in pixels; it may reach beyond the photo.
    #[serde(rename = "box")]
    pub rect: [f32; 4],
    /// Eyes, nose and corners of the mouth.
    pub landmarks: Landmarks,
    /// How sure the detector is, 0 to 1; none for a box that the user drew.
    pub score: Option<f32>,
}

impl Spot {
    /// Its box.
    pub fn rect(&self) -> Rect {
        let [x, y, width, height] = self.rect;
        Rect { x, y, width, height }
    }

    fn area(&self) -> f32 {
        self.rect[2] * self.rect[3]
    }
}

impl From<Face> for Spot {
    fn from(face: Face) -> Self {
        let Rect { x, y, width, height } = face.rect;
        Self { rect: [x, y, width, height], landmarks: face.landmarks, score: Some(face.score) }
    }
}

/// Which of the faces found are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Faces {
    /// All of them.
    #[default]
    All,
    /// The largest one.
    Largest,
    /// Those with these numbers, 1 being the surest.
    Numbers(Vec<usize>),
}

impl Faces {
    /// Those of the faces found that are meant.
    fn choose(&self, found: Vec<Spot>) -> Result<Vec<Spot>> {
        match self {
            Faces::All => Ok(found),
            Faces::Largest => {
                let largest = found.into_iter().max_by(|a, b| a.area().total_cmp(&b.area()));
                Ok(largest.into_iter().collect())
            }
            Faces::Numbers(numbers) => {
                let chosen = |number: &usize| {
                    let spot = number.checked_sub(1).and_then(|n| found.get(n));
                    spot.copied().ok_or(Error::FaceNumber { number: *number, found: found.len() })
                };
                numbers.iter().map(chosen).collect()
            }
        }
    }
}

/// One detector and all recognisers. Each thread brings its own [`Workspace`].
pub struct Eyes {
    detector: Detector,
    recognisers: Vec<Recogniser>,
}

/// A face as the recognisers saw it in the original.
pub struct Witness {
    region: Region,
    /// From the region to each recogniser's chip.
    placements: Vec<Similarity>,
    embeddings: Vec<Vec<f32>>,
}

impl Witness {
    /// The embeddings of the original, one per recogniser.
    pub fn embeddings(&self) -> &[Vec<f32>] {
        &self.embeddings
    }
}

/// How far a face is from its original.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// By the recogniser's own measure.
    pub distance: f32,
    /// Whether that is a match.
    #[serde(rename = "match")]
    pub matches: bool,
}

/// What one recogniser says of a face and its changed twin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The recogniser.
    pub name: String,
    /// The largest distance that counts as a match.
    pub threshold: f32,
    /// As it was written.
    #[serde(flatten)]
    pub plain: Distance,
    /// After JPEG of quality 75.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jpeg_75: Option<Distance>,
    /// After it was reduced to half its size and seen at the old one again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_size: Option<Distance>,
}

/// How much a face is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// As it was written.
    Plain,
    /// Also after what platforms do to photos.
    Degraded,
}

impl Eyes {
    /// The detector and all recognisers that are built in.
    pub fn open() -> Result<Self> {
        let recognisers = [
            #[cfg(feature = "dlib")]
            Recogniser::dlib(),
            #[cfg(feature = "sface")]
            Recogniser::sface(),
        ];
        let recognisers = recognisers.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { detector: Detector::new()?, recognisers })
    }

    /// The same with only those recognisers whose names are given.
    pub fn keep(mut self, names: &[String]) -> Self {
        self.recognisers.retain(|recogniser| names.iter().any(|name| name == recogniser.name()));
        self
    }

    /// The same with one more recogniser.
    pub fn with(mut self, recogniser: Recogniser) -> Self {
        self.recognisers.push(recogniser);
        self
    }

    /// The detector alone.
    pub fn detector_only() -> Result<Self> {
        Ok(Self { detector: Detector::new()?, recognisers: Vec::new() })
    }

    /// The recognisers.
    pub fn recognisers(&self) -> &[Recogniser] {
        &self.recognisers
    }

    /// The recognisers of these names; all of them if none is named.
    pub fn named(&self, names: &[String]) -> Vec<&Recogniser> {
        let meant = |r: &&Recogniser| names.is_empty() || names.iter().any(|name| name == r.name());
        self.recognisers.iter().filter(meant).collect()
    }

    /// All faces of a photo, surest first.
    pub fn find(&self, photo: &Photo, min_score: f32, work: &mut Workspace) -> Result<Vec<Spot>> {
        let large = photo.width().max(photo.height()) > LARGE;
        let picture = if large { photo.half_picture()? } else { photo.picture(photo.whole())? };
        let mut faces = self.detector.detect(&picture, min_score, work);
        if large {
            faces.iter_mut().for_each(|face| face.scale(2.0));
        }
        // What the detector says of a picture without faces can lie anywhere.
        let inside = |face: &Face| {
            let Rect { x, y, width, height } = face.rect;
            x + width > 0.0
                && y + height > 0.0
                && x < photo.width() as f32
                && y < photo.height() as f32
        };
        Ok(faces.into_iter().filter(inside).map(Spot::from).collect())
    }

    /// The faces that are meant: those chosen of all found, and one for each box.
    pub fn choose(
        &self,
        photo: &Photo,
        which: &Faces,
        boxes: &[[f32; 4]],
        min_score: f32,
        work: &mut Workspace,
    ) -> Result<Vec<Spot>> {
        let found = self.find(photo, min_score, work)?;
        let mut spots = which.choose(found.clone())?;
        for given in boxes {
            let drawn = self.in_box(photo, *given, work)?;
            // A face that is known is the same face, with the same noise, however it was named.
            let known = found.iter().find(|known| known.rect().overlaps(&drawn.rect()));
            let spot = *known.unwrap_or(&drawn);
            if !spots.iter().any(|other| other.rect().overlaps(&spot.rect())) {
                spots.push(spot);
            }
        }
        Ok(spots)
    }

    /// The face in a box: with the landmarks that the detector finds on a closer look, or else those
    /// of an upright face that fills the box.
    fn in_box(&self, photo: &Photo, given: [f32; 4], work: &mut Workspace) -> Result<Spot> {
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
        let drawn = Spot { rect: given, landmarks, score: None };
        // Twice the box, so that the detector sees the whole head.
        let placement = Similarity::upright(1.0, [width / 2.0 - x, height / 2.0 - y]);
        let side = 2.0 * width.max(height);
        let region = bounds(&placement, side as usize, photo, 1);
        let seen = self.detector.detect(&photo.picture(region)?, MIN_SCORE_IN_BOX, work);
        let found = seen.into_iter().find_map(|mut face| {
            face.shift(region.x as f32, region.y as f32);
            face.rect.overlaps(&drawn.rect()).then_some(face.landmarks)
        });
        Ok(Spot { landmarks: found.unwrap_or(landmarks), ..drawn })
    }

    /// The face whose centre lies nearest to the photo's.
    pub fn central_face(&self, photo: &Photo, work: &mut Workspace) -> Result<Option<Spot>> {
        let (x, y) = (photo.width() as f32 / 2.0, photo.height() as f32 / 2.0);
        let off_centre = |spot: &Spot| {
            let [left, top, width, height] = spot.rect;
            (left + width / 2.0 - x).hypot(top + height / 2.0 - y)
        };
        let spots = self.find(photo, MIN_SCORE, work)?;
        Ok(spots.into_iter().min_by(|a, b| off_centre(a).total_cmp(&off_centre(b))))
    }

    /// The face that recognisers look at: of a face crop, the most central one.
    pub(crate) fn face_to_check(
        &self,
        spot: Option<Spot>,
        photo: &Photo,
        work: &mut Workspace,
    ) -> Result<Option<Spot>> {
        match spot {
            Some(spot) => Ok(Some(spot)),
            None => self.central_face(photo, work),
        }
    }

    /// Looks at a face of the original.
    pub fn witness(&self, photo: &Photo, spot: &Spot, work: &mut Workspace) -> Result<Witness> {
        let placements = self.recognisers.iter().map(|r| r.placement(&spot.landmarks));
        let placements = placements.collect::<Result<Vec<_>, _>>()?;
        // Corners on JPEG's grid of blocks, so that trials see blocks as the whole photo has them.
        let each = placements.iter().zip(&self.recognisers);
        let regions = each.map(|(placement, r)| bounds(placement, r.side(), photo, 16));
        let region = regions.reduce(Region::union).unwrap_or(photo.whole());
        let corner = [region.x as f32, region.y as f32];
        let placements: Vec<_> = placements.iter().map(|p| p.for_crop(corner)).collect();
        let picture = photo.picture(region)?;
        let each = placements.iter().zip(&self.recognisers);
        let embeddings = each.map(|(p, r)| r.embed(&picture.chip(p, r.side()), work));
        let embeddings = embeddings.collect::<Result<_, _>>()?;
        Ok(Witness { region, placements, embeddings })
    }

    /// The part of a photo that recognisers look at, in colour.
    pub fn view(&self, witness: &Witness, photo: &Photo) -> Result<Picture> {
        photo.picture(witness.region)
    }

    /// The embeddings of a face in such a part, one per recogniser, aligned as the original was.
    pub fn embed_view(
        &self,
        witness: &Witness,
        view: &Picture,
        work: &mut Workspace,
    ) -> Result<Vec<Vec<f32>>> {
        let each = self.recognisers.iter().zip(&witness.placements);
        let embed = |(r, placement): (&Recogniser, &Similarity)| {
            Ok(r.embed(&view.chip(placement, r.side()), work)?)
        };
        each.map(embed).collect()
    }

    /// Whether recognisers still match a face in the changed photo. One alignment serves for both:
    /// jitter of landmarks must not count as protection.
    pub fn judge(
        &self,
        witness: &Witness,
        changed: &Photo,
        trial: Trial,
        work: &mut Workspace,
    ) -> Result<Vec<Verdict>> {
        let picture = changed.picture(witness.region)?;
        let degraded = match trial {
            Trial::Plain => None,
            Trial::Degraded => Some((after_jpeg(&picture, 75)?, picture.halved())),
        };
        let each = self.recognisers.iter().zip(&witness.placements).zip(&witness.embeddings);
        let verdict = |((recogniser, placement), own): ((&Recogniser, &Similarity), &Vec<f32>)| {
            let mut look = |picture: &Picture, placement: &Similarity| -> Result<Distance> {
                let chip = picture.chip(placement, recogniser.side());
                let distance = recogniser.distance(own, &recogniser.embed(&chip, work)?);
                Ok(Distance { distance, matches: recogniser.matches(distance) })
            };
            let plain = look(&picture, placement)?;
            let (jpeg_75, half_size) = match &degraded {
                None => (None, None),
                Some((compressed, halved)) => (
                    Some(look(compressed, placement)?),
                    Some(look(halved, &placement.for_half_size())?),
                ),
            };
            let (name, threshold) = (recogniser.name().to_owned(), recogniser.threshold());
            Ok(Verdict { name, threshold, plain, jpeg_75, half_size })
        };
        each.map(verdict).collect()
    }

    /// The embeddings of a face, one per recogniser.
    pub fn embed(&self, photo: &Photo, spot: &Spot, work: &mut Workspace) -> Result<Vec<Vec<f32>>> {
        Ok(self.witness(photo, spot, work)?.embeddings)
    }
}

/// A picture as it comes out of JPEG at that quality, 4:2:0.
pub fn after_jpeg(picture: &Picture, quality: u8) -> Result<Picture> {
    let file = encode_jpeg(picture.rgb(), picture.width(), picture.height(), quality)?;
    let decoded = Photo::decode(&file, &Limits::default())?;
    decoded.picture(decoded.whole())
}
