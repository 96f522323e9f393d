//! The pictures of an evaluation: a seeded sample of people's photos, their faces and chips.

use std::path::{Path, PathBuf};

use facedp::noise::experiment;
use facedp::{FeatureModel, Plane};
use facedp_engine::{
    Control, DetectedFace, Engine, FaceDetector, Limits, Patch, Photo, Protected, Workspace, files,
};
use rand_core::Rng;
use rayon::prelude::*;

use crate::dataset::Person;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::results::Skipped;

/// A face of the data set.
#[derive(Clone)]
pub struct Subject {
    /// The picture's path in the data folder. It also labels the noise of the chip.
    pub name: String,
    /// Number of the person.
    pub person: usize,
    pub path: PathBuf,
    /// The most central face.
    pub face: DetectedFace,
    /// The aligned chip, 8-bit luma.
    pub chip: Vec<u8>,
}

impl Subject {
    pub fn plane(&self, side: usize) -> Plane {
        let mut plane = Plane::zeros(side, side);
        plane.data_mut().iter_mut().zip(&self.chip).for_each(|(p, v)| *p = f64::from(*v));
        plane
    }

    /// The photo. It is decoded again each time, so that memory holds few photos.
    pub fn photo(&self) -> Result<Photo> {
        read(&self.path)
    }

    /// The photo with its face treated.
    pub fn protect(&self, engine: &Engine, work: &mut Workspace) -> Result<Protected> {
        let file = files::read(&self.path, Limits::default().file_bytes)?;
        Ok(engine.protect_faces(&file, &[self.face], Control::default(), work)?)
    }
}

/// Reads and decodes a picture.
pub(crate) fn read(path: &Path) -> Result<Photo> {
    let limits = Limits::default();
    Ok(Photo::decode(&files::read(path, limits.file_bytes)?, &limits)?)
}

/// A picture of a person.
pub type Choice<'a> = (usize, &'a PathBuf);

/// At most `max` pictures, chosen by the seed.
pub fn any_pictures(people: &[Person], max: Option<usize>, seed: u64) -> Vec<Choice<'_>> {
    let all = people.iter().enumerate();
    let mut chosen: Vec<Choice<'_>> =
        all.flat_map(|(n, person)| person.pictures.iter().map(move |path| (n, path))).collect();
    if let Some(max) = max {
        shuffle(&mut chosen, seed);
        chosen.truncate(max);
        chosen.sort();
    }
    chosen
}

/// About `count` pictures of people who have several: as many of each person, people chosen by the seed.
pub fn pairs_of_pictures(people: &[Person], count: usize, seed: u64) -> Vec<Choice<'_>> {
    let mut several = with_several(people, seed);
    let each = count.div_ceil(several.len().max(1)).max(2);
    several.truncate(count.div_ceil(each));
    let mut chosen = first_of_each(&several, each);
    chosen.sort();
    chosen
}

/// Two pictures of each person who has several, people in the order of the seed.
pub fn pairs_in_order(people: &[Person], seed: u64) -> Vec<Choice<'_>> {
    first_of_each(&with_several(people, seed), 2)
}

/// People with several pictures, in the order of the seed.
fn with_several(people: &[Person], seed: u64) -> Vec<(usize, &Person)> {
    let several = people.iter().enumerate().filter(|(_, person)| person.pictures.len() > 1);
    let mut several: Vec<(usize, &Person)> = several.collect();
    shuffle(&mut several, seed);
    several
}

fn first_of_each<'a>(people: &[(usize, &'a Person)], each: usize) -> Vec<Choice<'a>> {
    let pictures = |(n, person): &(usize, &'a Person)| {
        let n = *n;
        person.pictures.iter().take(each).map(move |path| (n, path))
    };
    people.iter().flat_map(pictures).collect()
}

/// Reads pictures and finds their faces. Pictures that cannot be used are returned with the reason.
pub fn read_all(
    data: &Path,
    pictures: &[Choice<'_>],
    model: &FeatureModel,
    detector: &FaceDetector,
    progress: &Progress<'_>,
) -> Result<(Vec<Subject>, Vec<Skipped>)> {
    progress.begin("reading", pictures.len());
    let one = |work: &mut Workspace, (person, path): &Choice<'_>| {
        progress.check()?;
        let name = path.strip_prefix(data).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let found = subject(name.clone(), *person, path, model.side(), detector, work);
        progress.step();
        Ok(found.map_err(|reason| Skipped { file: name, reason }))
    };
    let read: Result<Vec<_>> = pictures.par_iter().map_init(Workspace::default, one).collect();
    let (mut subjects, mut skipped) = (Vec::new(), Vec::new());
    for subject in read? {
        match subject {
            Ok(subject) => subjects.push(subject),
            Err(reason) => skipped.push(reason),
        }
    }
    if subjects.is_empty() {
        return Err(Error::NoFaces { data: data.to_owned() });
    }
    Ok((subjects, skipped))
}

fn subject(
    name: String,
    person: usize,
    path: &Path,
    side: usize,
    detector: &FaceDetector,
    work: &mut Workspace,
) -> Result<Subject, String> {
    let words = |e: Error| e.to_string();
    let photo = read(path).map_err(words)?;
    let face = detector.central_face(&photo, work).map_err(|e| e.to_string())?;
    let face = face.ok_or("no face found")?;
    let patch = Patch::face(&face.landmarks).map_err(|e| e.to_string())?;
    let chip = patch.chip(&photo, side).data().iter().map(|v| v.round() as u8).collect();
    Ok(Subject { name, person, path: path.to_owned(), face, chip })
}

/// Shuffles items by the seed (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = experiment(seed, "sample");
    for last in (1..items.len()).rev() {
        let other = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
        items.swap(last, other as usize);
    }
}
