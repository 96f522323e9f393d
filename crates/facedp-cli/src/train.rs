//! `facedp train`: a feature model from a folder of identities.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use facedp::faces::{FaceModel, FaceSamples};
use facedp::{FeatureModel, Plane, TrainingSet};
use facedp_engine::files::{self, Existing, Readers};
use facedp_engine::{FaceDetector, Patch, Prior, Recognisers, Workspace, face_sample};
use facedp_eval::dataset::{self, Person};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::args::{Output, Train};
use crate::failure::{Failure, complain, say};
use crate::{photo, progress};

/// Pictures of each person that a model of colour faces is fitted to.
const FACES_EACH: usize = 2;
/// Pictures between two steps of taking chips in: as many chips wait in memory, not pictures.
const BATCH: usize = 256;

#[derive(Serialize)]
struct Summary<'a> {
    model: &'a str,
    content_sha256: &'a str,
    bytes: usize,
    features: usize,
    size: usize,
    pictures: usize,
    identities: usize,
    failed: usize,
}

pub fn run(args: &Train, output: &Output) -> Result<ExitCode, Failure> {
    let mut set = TrainingSet::new(args.size).map_err(Failure::usage)?;
    let path = args.output.display();
    if args.output.is_dir() || args.output.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Failure::usage(anyhow!("{path} is a folder: name a file for the model")));
    }
    if args.output.exists() && !args.force {
        return Err(anyhow!("{path} exists already: choose another name or pass --force").into());
    }
    let people = dataset::people(&args.dir, args.identities.half())?;
    if args.prior {
        return prior(args, &people, output);
    }
    if args.faces {
        return faces(args, &people, output);
    }
    let pictures: Vec<(&str, &PathBuf)> = people
        .iter()
        .flat_map(|person| person.pictures.iter().map(|path| (person.name.as_str(), path)))
        .collect();
    files::require_writable(&args.output)?; // before an hour of work, not after it
    let detector = if args.aligned { None } else { Some(FaceDetector::new()?) };
    let bar = progress::bar(pictures.len(), "reading", output);
    let mut failed = 0;
    for batch in pictures.chunks(BATCH) {
        let chips = batch.par_iter().map_init(Workspace::default, |work, (_, path)| {
            let chip = read_chip(path, args, detector.as_ref(), work);
            bar.inc(1);
            chip
        });
        let chips: Vec<anyhow::Result<Plane>> = chips.collect();
        for ((identity, _), chip) in batch.iter().zip(chips) {
            match chip {
                Ok(chip) => set.push(identity, &chip).context("training set")?,
                Err(error) => {
                    failed += 1;
                    bar.suspend(|| complain(format_args!("skipped: {error:#}")));
                }
            }
        }
    }
    bar.finish_and_clear();

    let bar = progress::bar(1, "fitting", output);
    let file = FeatureModel::fit(&set, args.features as usize, &args.source)
        .with_context(|| format!("{}", args.dir.display()))?;
    let model = FeatureModel::from_bytes(&file).context("the model just fitted")?;
    bar.finish_and_clear();
    files::write_whole(&args.output, &file, Readers::Default, Existing::Replace)?;

    let summary = Summary {
        model: &args.output.to_string_lossy(),
        content_sha256: model.hash(),
        bytes: file.len(),
        features: model.features(),
        size: model.side(),
        pictures: set.len(),
        identities: set.identities(),
        failed,
    };
    if output.json {
        say(serde_json::to_string(&summary).context("JSON")?)?;
    } else if !output.quiet {
        say(format_args!(
            "{}: {} features of {}x{} chips, from {} pictures of {} people ({} bytes, content sha256 {})",
            args.output.display(),
            summary.features,
            summary.size,
            summary.size,
            summary.pictures,
            summary.identities,
            summary.bytes,
            summary.content_sha256,
        ))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Statistics of embeddings, from the first picture of each person.
fn prior(args: &Train, people: &[Person], output: &Output) -> Result<ExitCode, Failure> {
    files::require_writable(&args.output)?;
    let (detector, recognisers) = (FaceDetector::new()?, Recognisers::embedded()?);
    let names: Vec<&str> = recognisers.as_slice().iter().map(|r| r.name()).collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    let order: Option<Vec<usize>> = Prior::recognisers().map(place).collect();
    let order = order.context("a prior needs all five recognisers in the program")?;
    let bar = progress::bar(people.len(), "looking", output);
    let look = |work: &mut Workspace, person: &Person| {
        let path = &person.pictures[0];
        let mut embed = || -> anyhow::Result<Vec<Vec<f32>>> {
            let photo = photo::read(path)?;
            let face = detector.central_face(&photo, work)?.context("no face found")?;
            let reference = recognisers.reference(&photo, &face, work)?;
            Ok(order.iter().map(|place| reference.embeddings()[*place].clone()).collect())
        };
        let embeddings = embed().with_context(|| format!("{}", path.display()));
        bar.inc(1);
        embeddings
    };
    let looked: Vec<anyhow::Result<Vec<Vec<f32>>>> =
        people.par_iter().map_init(Workspace::default, look).collect();
    bar.finish_and_clear();
    let (mut seen, mut failed) = (Vec::new(), 0);
    for embeddings in looked {
        match embeddings {
            Ok(embeddings) => seen.push(embeddings),
            Err(error) => {
                failed += 1;
                complain(format_args!("skipped: {error:#}"));
            }
        }
    }
    let file = Prior::fit(&seen, &args.source)?;
    files::write_whole(&args.output, &file, Readers::Default, Existing::Replace)?;
    if output.json {
        let about = json!({ "prior": args.output, "bytes": file.len(), "people": seen.len(), "failed": failed });
        say(about)?;
    } else if !output.quiet {
        let (path, people) = (args.output.display(), seen.len());
        say(format_args!("{path}: statistics of embeddings of {people} people"))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Colour faces and their surroundings, from the first pictures of each person.
fn faces(args: &Train, people: &[Person], output: &Output) -> Result<ExitCode, Failure> {
    files::require_writable(&args.output)?;
    let detector = FaceDetector::new()?;
    let first =
        |person: &'_ Person| person.pictures.iter().take(FACES_EACH).cloned().collect::<Vec<_>>();
    let pictures: Vec<PathBuf> = people.iter().flat_map(first).collect();
    let bar = progress::bar(pictures.len(), "reading", output);
    let look = |work: &mut Workspace, path: &PathBuf| {
        let mut sample = || -> anyhow::Result<(Vec<f32>, Vec<f32>)> {
            let photo = photo::read(path)?;
            let face = detector.central_face(&photo, work)?.context("no face found")?;
            Ok(face_sample(photo, &face.landmarks)?)
        };
        let sample = sample().with_context(|| format!("{}", path.display()));
        bar.inc(1);
        sample
    };
    let looked: Vec<anyhow::Result<_>> =
        pictures.par_iter().map_init(Workspace::default, look).collect();
    bar.finish_and_clear();
    let (mut samples, mut failed) = (FaceSamples::default(), 0);
    for sample in looked {
        match sample {
            Ok((face, context)) => samples.push(face, context),
            Err(error) => {
                failed += 1;
                complain(format_args!("skipped: {error:#}"));
            }
        }
    }
    let file = FaceModel::fit(&samples, args.features as usize, people.len(), &args.source)
        .with_context(|| format!("{}", args.dir.display()))?;
    let model = FaceModel::from_bytes(&file).context("the model just fitted")?;
    files::write_whole(&args.output, &file, Readers::Default, Existing::Replace)?;
    if output.json {
        let (pictures, features) = (samples.len(), model.features());
        say(
            json!({ "faces": args.output, "bytes": file.len(), "pictures": pictures, "features": features,
                    "sha256": model.hash(), "failed": failed }),
        )?;
    } else if !output.quiet {
        say(format_args!(
            "{}: {} features of faces in colour, from {} pictures of {} people ({} bytes, sha256 {})",
            args.output.display(),
            model.features(),
            samples.len(),
            people.len(),
            file.len(),
            model.hash(),
        ))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The chip of a picture: its most central face, aligned, or its centre square.
fn read_chip(
    path: &Path,
    args: &Train,
    detector: Option<&FaceDetector>,
    work: &mut Workspace,
) -> anyhow::Result<Plane> {
    let photo = photo::read(path)?;
    let mut place = || match detector {
        Some(detector) => {
            let face = detector.central_face(&photo, work)?;
            let face = face.context("no face found; pass --aligned if it is a face crop")?;
            anyhow::Ok(Patch::face(&face.landmarks)?)
        }
        None => Ok(Patch::Square(photo.centre(args.crop)?)),
    };
    Ok(place().with_context(|| format!("{}", path.display()))?.chip(&photo, args.size))
}
