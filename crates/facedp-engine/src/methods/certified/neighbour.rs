//! Neighbours of a photo: the same photo with somebody else inside the outline of a face.

use facedp_nets::Landmarks;

use super::frame::Frame;
use crate::error::Result;
use crate::format::Format;
use crate::photo::{Encoding, Metadata, Photo};

/// The photo with the face of another photo inside the outline of its own, as a PNG file. Both are
/// neighbours (proofs/face.md), for a caller who passes the same landmarks for both.
pub fn neighbour(
    mut photo: Photo,
    landmarks: &Landmarks,
    other: &Photo,
    theirs: &Landmarks,
) -> Result<Vec<u8>> {
    let (frame, source) = (Frame::new(landmarks)?, Frame::new(theirs)?);
    let region = frame.region(&photo);
    for y in region.y..region.y + region.height {
        for x in region.x..region.x + region.width {
            if frame.radius(x, y) < 1.0 {
                let at = source.to_photo(frame.to_frame([x as f32, y as f32]));
                let last = [other.width() - 1, other.height() - 1];
                let [i, j] = [0, 1].map(|n| (at[n].round().max(0.0) as usize).min(last[n]));
                photo.set_colour(x, y, other.colour(i, j));
            }
        }
    }
    let (format, metadata) = (Some(Format::Png), Metadata::Strip);
    Ok(photo.encode(&Encoding { format, jpeg_quality: None, metadata })?.file)
}
