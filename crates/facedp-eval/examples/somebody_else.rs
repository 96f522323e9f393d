//! How often results of `certified` match their own person, and how often they would had somebody else been
//! in the photo: the two rates that the claim relates.
//!
//!     cargo run --release -p facedp-eval --example somebody_else -- LFW PEOPLE EPSILON...
//!
//! For each person of the test half with two pictures, the first picture is treated as it is, and once more
//! with the face of the next person inside the outline. Recognisers compare either result with the original
//! and with the person's second picture. Prints JSON.

use std::path::{Path, PathBuf};

use facedp::Epsilon;
use facedp_engine::{
    Check, Control, DetectedFace, Engine, FaceDetector, Format, Limits, MethodName, Photo,
    Recognisers, Request, Resources, Secret, Workspace, files, neighbour,
};
use facedp_eval::dataset::{self, Half};
use rayon::prelude::*;
use serde_json::json;

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A picture with its most central face, and what recognisers make of it.
struct Seen {
    file: Vec<u8>,
    face: DetectedFace,
    embeddings: Vec<Vec<f32>>,
}

struct Eyes {
    detector: FaceDetector,
    recognisers: Recognisers,
}

impl Eyes {
    /// None if there is no face.
    fn look(&self, file: Vec<u8>, work: &mut Workspace) -> Fallible<Option<Seen>> {
        let photo = Photo::decode(&file, &Limits::default())?;
        let Some(face) = self.detector.central_face(&photo, work)? else { return Ok(None) };
        let embeddings = self.recognisers.reference(&photo, &face, work)?.embeddings().to_vec();
        Ok(Some(Seen { file, face, embeddings }))
    }

    fn matches(&self, a: &Option<Seen>, b: &Seen) -> Vec<bool> {
        let each = self.recognisers.as_slice().iter().enumerate();
        each.map(|(n, recogniser)| {
            let distance = |a: &Seen| recogniser.distance(&a.embeddings[n], &b.embeddings[n]);
            a.as_ref().is_some_and(|a| recogniser.matches(distance(a)))
        })
        .collect()
    }
}

/// Matches of one person, by recogniser: the own result with the original and the second picture, then the
/// same for the result with somebody else inside.
type Row = [Vec<bool>; 4];

fn person(
    eyes: &Eyes,
    engine: &Engine,
    own: &[Seen; 2],
    other: &Seen,
    work: &mut Workspace,
) -> Fallible<(Row, f64)> {
    let decode = |file: &[u8]| Photo::decode(file, &Limits::default());
    let face = own[0].face;
    let swapped = neighbour(
        decode(&own[0].file)?,
        &face.landmarks,
        &decode(&other.file)?,
        &other.face.landmarks,
    )?;
    let protect = |file: &[u8], work: &mut Workspace| {
        engine.protect_faces(file, &[face], Control::default(), work)
    };
    let result = protect(&own[0].file, work)?;
    let score = result.faces.first().and_then(|face| face.ssimulacra2).unwrap_or(f64::NAN);
    let result = eyes.look(result.file, work)?;
    let elsewhere = protect(&swapped, work)?.file;
    let elsewhere = eyes.look(elsewhere, work)?;
    let row =
        [(&result, &own[0]), (&result, &own[1]), (&elsewhere, &own[0]), (&elsewhere, &own[1])]
            .map(|(result, picture)| eyes.matches(result, picture));
    Ok((row, score))
}

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, people, epsilons @ ..] = arguments.as_slice() else {
        return Err("LFW PEOPLE EPSILON...".into());
    };
    let count: usize = people.parse()?;
    let eyes = Eyes { detector: FaceDetector::new()?, recognisers: Recognisers::embedded()? };
    let people = dataset::people(Path::new(data), Half::Odd)?;
    let several = people.iter().filter(|person| person.pictures.len() > 1).take(count);
    let several: Vec<&[PathBuf]> = several.map(|person| &person.pictures[..2]).collect();
    let look = |work: &mut Workspace, pictures: &&[PathBuf]| -> Fallible<Option<[Seen; 2]>> {
        let mut both = Vec::new();
        for path in *pictures {
            both.extend(eyes.look(files::read(path, Limits::default().file_bytes)?, work)?);
        }
        Ok(<[Seen; 2]>::try_from(both).ok())
    };
    let seen: Fallible<Vec<_>> = several.par_iter().map_init(Workspace::default, look).collect();
    let seen: Vec<[Seen; 2]> = seen?.into_iter().flatten().collect();
    for epsilon in epsilons {
        let request = Request {
            epsilon: Some(Epsilon::new(epsilon.parse()?)?),
            format: Some(Format::Png),
            check: Check::Off,
            ..Request::new(MethodName::Certified)
        };
        let engine = Engine::new(request, Resources::new(Secret::Seed(1))?)?;
        let one = |work: &mut Workspace, n: usize| {
            let other = &seen[(n + 1) % seen.len()][0];
            person(&eyes, &engine, &seen[n], other, work)
        };
        let rows: Fallible<Vec<(Row, f64)>> =
            (0..seen.len()).into_par_iter().map_init(Workspace::default, one).collect();
        let rows = rows?;
        let mut scores: Vec<f64> = rows.iter().map(|(_, score)| *score).collect();
        scores.sort_by(f64::total_cmp);
        for (n, recogniser) in eyes.recognisers.as_slice().iter().enumerate() {
            let share = |part: usize| {
                rows.iter().filter(|(row, _)| row[part][n]).count() as f64 / rows.len() as f64
            };
            println!(
                "{}",
                json!({
                    "epsilon": epsilon, "recogniser": recogniser.name(), "people": rows.len(),
                    "original": share(0), "other_photo": share(1),
                    "else_original": share(2), "else_other_photo": share(3),
                    "ssimulacra2": scores[scores.len() / 2],
                })
            );
        }
    }
    Ok(())
}
