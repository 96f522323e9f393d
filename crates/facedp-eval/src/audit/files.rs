//! Neighbours for `certified` as whole photos: files go in, files come out, and their bytes are observed.
//!
//! Two photos are equal outside the outline of a face and as different as possible inside. Every run goes
//! through the engine with a fresh key: decoding, erasing, drawing, composing, encoding.

use facedp::certified::CertifiedPlan;
use facedp_engine::{
    Check, Control, DetectedFace, Engine, Format, Key, Limits, MethodName, Photo, Region, Request,
    Resources, Secret, Workspace,
};
use image::{ImageFormat, Rgb, RgbImage};
use rand_core::CryptoRng;

use super::pair::Pair;
use crate::error::Result;

/// Side of the photos in pixels. Small ones take less time and hide no less.
const SIDE: u32 = 64;
/// Side of the squares whose means are observed.
const BLOCK: usize = 8;
/// Runs per neighbour: each takes milliseconds.
pub(super) const MAX_RUNS: usize = 10_000;

/// A photo goes in, the bytes of its result come out: by the number of the photo and randomness.
pub type FileRelease = Box<dyn Fn(usize, &mut dyn CryptoRng) -> Vec<u8> + Sync + Send>;

/// Pairs of photos, written with and without loss.
pub(super) fn pairs(plan: &CertifiedPlan) -> Result<Vec<Pair<'static>>> {
    let plain = [0, 255].map(|level| photo(&|_, _| Rgb([level; 3])));
    let lit = [true, false].map(|left| {
        photo(&|x, _| if (x < SIDE / 2) == left { Rgb([250, 220, 190]) } else { Rgb([20, 10, 5]) })
    });
    Ok(vec![
        file_pair(plan, "files: black and white, PNG", plain, Format::Png)?,
        file_pair(plan, "files: light from left and right, JPEG", lit, Format::Jpeg)?,
    ])
}

/// A pair of photos that are equal outside the outline of one face.
pub fn file_pair(
    plan: &CertifiedPlan,
    name: &str,
    photos: [Vec<u8>; 2],
    format: Format,
) -> Result<Pair<'static>> {
    let inputs = photos.each_ref().map(|photo| observed(photo));
    let release = file_release(plan, photos, format)?;
    Ok(Pair {
        name: name.to_owned(),
        claimed: plan.spent(),
        inputs,
        release: Box::new(move |side, random| observed(&release(side, random))),
        statistics: vec![("the mean of all bytes", Box::new(|observed| observed[1]))],
    })
}

/// The whole program from file to file, with a fresh key for each run.
pub fn file_release(
    plan: &CertifiedPlan,
    photos: [Vec<u8>; 2],
    format: Format,
) -> Result<FileRelease> {
    let method = plan.method();
    let request = Request {
        epsilon: Some(method.epsilon),
        features: Some(method.features),
        mechanism: Some(method.mechanism),
        format: Some(format),
        jpeg_quality: (format == Format::Jpeg).then_some(90),
        check: Check::Off,
        measure: false,
        ..Request::new(MethodName::Certified)
    };
    let engine = Engine::new(request, Resources::new(Secret::Seed(0))?)?;
    Ok(Box::new(move |side: usize, random: &mut dyn CryptoRng| {
        let mut key = [0; 32];
        random.fill_bytes(&mut key);
        let engine = engine.with_certified_secret(Secret::Key(Key::from_bytes(key)));
        let work = &mut Workspace::default();
        let file = engine.protect_faces(&photos[side], &[face()], Control::default(), work);
        // This cannot fail: the photos are whole, and have room for the face.
        file.map(|protected| protected.file).unwrap_or_default()
    }))
}

/// The face in all photos.
fn face() -> DetectedFace {
    DetectedFace {
        rect: [16.0, 12.0, 32.0, 42.0],
        landmarks: [[25.0, 28.0], [39.0, 28.0], [32.0, 36.0], [26.0, 43.0], [38.0, 43.0]],
        score: Some(1.0),
    }
}

/// A photo as a PNG file: the same surroundings always, and something inside the outline.
pub fn photo(content: &dyn Fn(u32, u32) -> Rgb<u8>) -> Vec<u8> {
    let [eyes, mouth] = [28.0f32, 43.0];
    let height = (mouth - eyes) / 0.315;
    let picture = RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let far = [
            (x as f32 - 32.0) / (0.42 * height),
            (y as f32 - eyes - (0.525 - 0.40) * height) / (0.475 * height),
        ];
        // A little smaller than the outline, which depends on how landmarks are rounded.
        match far[0].hypot(far[1]) < 0.9 {
            true => content(x, y),
            false => Rgb([120 + x as u8, 90 + y as u8, 100]),
        }
    });
    let mut file = std::io::Cursor::new(Vec::new());
    match picture.write_to(&mut file, ImageFormat::Png) {
        Ok(()) => file.into_inner(),
        Err(_) => Vec::new(),
    }
}

/// What an attacker sees of a file: its length, the mean of its bytes, and means of squares of its samples.
pub fn observed(file: &[u8]) -> Vec<f64> {
    let length = file.len() as f64;
    let mut seen = vec![length, file.iter().map(|byte| f64::from(*byte)).sum::<f64>() / length];
    let blocks = SIDE as usize / BLOCK;
    match Photo::decode(file, &Limits::default()) {
        Ok(photo) => {
            for at in 0..blocks * blocks {
                let (x, y) = (at % blocks * BLOCK, at / blocks * BLOCK);
                let region = Region { x, y, width: BLOCK, height: BLOCK };
                let luma = photo.luma(region);
                seen.push(luma.data().iter().sum::<f64>() / luma.data().len() as f64);
            }
        }
        Err(_) => seen.extend(std::iter::repeat_n(0.0, blocks * blocks)),
    }
    seen
}
