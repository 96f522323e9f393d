//! Verdicts on a result that start afresh: its faces are found again, in all orientations.
//!
//! The original is aligned by the landmarks found in it, the result by those found in the result, as anybody
//! else would do. Where both looks show the face in different frames, one of them is wrong: then both photos
//! are also aligned by either frame, and the nearest comparison counts.

use facedp_nets::Workspace;

use crate::detect::DetectedFace;
use crate::error::Result;
use crate::photo::{Photo, Region};
use crate::recognise::{Distance, Recognisers, Reference, Trial, Verdict};

/// Mean distance of landmarks, as a share of the distance of the eyes, up to which two looks show a face in
/// the same frame. The detector's jitter and steering together stay below.
const SAME_FRAME: f32 = 0.1;
/// Side of the surroundings of a face, as a multiple of the longer side of its box. Recognisers see less.
const SURROUNDINGS: f32 = 3.0;

/// The part of a photo that recognisers may see of a face, on JPEG's block grid.
fn surroundings(face: &DetectedFace, photo: &Photo) -> Region {
    let [left, top, width, height] = face.rect;
    let side = SURROUNDINGS * width.max(height);
    let span = |start: f32, length: f32, size: usize| {
        let low = (start + (length - side) / 2.0).clamp(0.0, (size - 1) as f32) as usize;
        let high = (start + (length + side) / 2.0).clamp(0.0, size as f32) as usize;
        (low, high.max(low + 1) - low)
    };
    let ((x, width), (y, height)) =
        (span(left, width, photo.width()), span(top, height, photo.height()));
    Region { x, y, width, height }.on_grid(16, photo.whole())
}

/// The face of a result that lies where a face of the original was.
pub(crate) fn found_again<'f>(
    face: &DetectedFace,
    found: &'f [DetectedFace],
) -> Option<&'f DetectedFace> {
    found.iter().find(|other| other.rect().overlaps(&face.rect()))
}

/// A face of the original, for later verdicts.
pub(crate) struct KnownFace {
    face: DetectedFace,
    region: Region,
    surroundings: Photo,
}

impl KnownFace {
    pub(crate) fn new(original: &Photo, face: &DetectedFace) -> Self {
        let region = surroundings(face, original);
        Self { face: *face, region, surroundings: original.crop(region) }
    }

    /// Verdicts on the face in a result, whose faces were found afresh. A face that is not found again is
    /// looked for where it was.
    pub(crate) fn judge(
        &self,
        recognisers: &Recognisers,
        reference: &Reference,
        (result, found): (&Photo, &[DetectedFace]),
        trial: Trial,
        work: &mut Workspace,
    ) -> Result<Vec<Verdict>> {
        let there = reference.alignment();
        let Some(seen) = found_again(&self.face, found) else {
            return recognisers.judge(reference, result, there, trial, work);
        };
        let afresh = recognisers.alignment(result, &seen.landmarks)?;
        let verdicts = recognisers.judge(reference, result, &afresh, trial, work)?;
        if self.has_frame_of(seen) {
            return Ok(verdicts);
        }
        let (x, y) = (self.region.x as f32, self.region.y as f32);
        let landmarks = seen.landmarks.map(|p| [p[0] - x, p[1] - y]);
        let moved = DetectedFace { landmarks, ..*seen };
        let other = recognisers.reference(&self.surroundings, &moved, work)?;
        let by_original = recognisers.judge(reference, result, there, trial, work)?;
        let by_result = recognisers.judge(&other, result, &afresh, trial, work)?;
        let all = verdicts.into_iter().zip(by_original).zip(by_result);
        Ok(all.map(|((a, b), c)| nearer(nearer(a, b), c)).collect())
    }

    fn has_frame_of(&self, seen: &DetectedFace) -> bool {
        let (own, other) = (&self.face.landmarks, &seen.landmarks);
        let apart = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let off = own.iter().zip(other).map(|(a, b)| apart(*a, *b)).sum::<f32>() / 5.0;
        off <= SAME_FRAME * apart(own[0], own[1])
    }
}

/// The smaller distances of two verdicts of one recogniser.
fn nearer(a: Verdict, b: Verdict) -> Verdict {
    let less = |a: Distance, b: Distance| if b.distance < a.distance { b } else { a };
    let both = |a: Option<Distance>, b: Option<Distance>| a.zip(b).map(|(a, b)| less(a, b));
    Verdict {
        plain: less(a.plain, b.plain),
        jpeg_75: both(a.jpeg_75, b.jpeg_75),
        half_size: both(a.half_size, b.half_size),
        ..a
    }
}
