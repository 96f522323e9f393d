//! The pictures of an evaluation: a seeded sample of people's photos, their faces and chips.

use std::path::{Path, PathBuf};

use facedp::noise::experiment;
use facedp::{FeatureModel, Plane};
use facedp_engine::{Eyes, Limits, Patch, Photo, Spot, Workspace, files};
use rand_core::Rng;
use rayon::prelude::*;

use crate::dataset::Person;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::results::Skipped;

/// A face of the data set.
#[derive(Clone)]
pub struct Subject {
    /// The picture's path in the data folder, which also labels its noise.
    pub name: String,
    /// Number of the person.
    pub person: usize,
    /// The picture.
    pub path: PathBuf,
    /// Its most central face.
    pub spot: Spot,
    /// The aligned chip, 8-bit luma.
    pub chip: Vec<u8>,
}

impl Subject {
    /// The chip as a plane.
    pub fn plane(&self, side: usize) -> Plane {
        let mut plane = Plane::zeros(side, side);
        plane.data_mut().iter_mut().zip(&self.chip).for_each(|(p, v)| *p = f64::from(*v));
        plane
    }

    /// The photo, decoded anew: memory holds only those in work.
    pub fn photo(&self) -> Result<Photo> {
        read(&self.path)
    }
}

fn read(path: &Path) -> Result<Photo> {
    let limits = Limits::default();
    Ok(Photo::decode(&files::read(path, limits.file_bytes)?, &limits)?)
}

/// A picture of a person.
pub type Choice<'a> = (usize, &'a PathBuf);

/// At most so many pictures, chosen by the seed.
pub fn any_pictures(people: &[Person], most: Option<usize>, seed: u64) -> Vec<Choice<'_>> {
    let all = people.iter().enumerate();
    let mut chosen: Vec<Choice<'_>> =
        all.flat_map(|(n, person)| person.pictures.iter().map(move |path| (n, path))).collect();
    if let Some(most) = most {
        shuffle(&mut chosen, seed);
        chosen.truncate(most);
        chosen.sort();
    }
    chosen
}

/// About so many pictures of people who have several, the same number of each: people chosen by the
/// seed.
pub fn pairs_of_pictures(people: &[Person], most: usize, seed: u64) -> Vec<Choice<'_>> {
    let several = people.iter().enumerate().filter(|(_, person)| person.pictures.len() > 1);
    let mut several: Vec<(usize, &Person)> = several.collect();
    shuffle(&mut several, seed);
    let each = most.div_ceil(several.len().max(1)).max(2);
    several.truncate(most.div_ceil(each));
    let mut chosen = Vec::new();
    for (n, person) in several {
        chosen.extend(person.pictures.iter().take(each).map(|path| (n, path)));
    }
    chosen.sort();
    chosen
}

/// Two pictures of everybody who has two, people in an order that the seed decides.
pub fn pairs_in_order(people: &[Person], seed: u64) -> Vec<Choice<'_>> {
    let several = people.iter().enumerate().filter(|(_, person)| person.pictures.len() > 1);
    let mut several: Vec<(usize, &Person)> = several.collect();
    shuffle(&mut several, seed);
    let mut chosen = Vec::new();
    for (n, person) in several {
        chosen.extend(person.pictures.iter().take(2).map(|path| (n, path)));
    }
    chosen
}

/// Reads pictures; those that cannot be used are named.
pub fn read_all(
    data: &Path,
    pictures: &[Choice<'_>],
    model: &FeatureModel,
    eyes: &Eyes,
    progress: &Progress<'_>,
) -> Result<(Vec<Subject>, Vec<Skipped>)> {
    progress.begin("reading", pictures.len());
    let one = |work: &mut Workspace, (person, path): &Choice<'_>| {
        progress.check()?;
        let name = path.strip_prefix(data).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let found = subject(name.clone(), *person, path, model.side(), eyes, work);
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
    eyes: &Eyes,
    work: &mut Workspace,
) -> Result<Subject, String> {
    let words = |e: Error| e.to_string();
    let photo = read(path).map_err(words)?;
    let spot = eyes.central_face(&photo, work).map_err(|e| e.to_string())?;
    let spot = spot.ok_or("no face found")?;
    let patch = Patch::face(&spot.landmarks).map_err(|e| e.to_string())?;
    let chip = patch.chip(&photo, side).data().iter().map(|v| v.round() as u8).collect();
    Ok(Subject { name, person, path: path.to_owned(), spot, chip })
}

/// Brings things into an order that the seed decides (Fisher and Yates).
pub fn shuffle<T>(things: &mut [T], seed: u64) {
    let mut random = experiment(seed, "sample");
    for last in (1..things.len()).rev() {
        let other = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
        things.swap(last, other as usize);
    }
}
