//! What a run did, in numbers and in words.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use facedp::Claim;
use facedp::metrics::psnr;
use facedp::noise::Randomness;
use facedp_engine::batch::{Outcome, Run};
use facedp_engine::{Check, Engine, Error, FaceReport, Protected, Terms, Verdict};
use facedp_eval::statistics::{average, median};
use serde::Serialize;

use crate::plain;
use crate::words::{count, decibels, recogniser};

/// What is kept of each photo while a run goes on.
#[derive(Default)]
pub struct Tally {
    counts: Counts,
    faces: usize,
    unchanged: usize,
    unchecked: usize,
    disk_full: usize,
    squared_noise: Vec<f64>,
    expected: Vec<f64>,
    decibels: Vec<f64>,
    ssims: Vec<f64>,
    scores: Vec<f64>,
    stripped: BTreeMap<String, usize>,
    notes: BTreeMap<String, usize>,
    recognisers: Vec<Matches>,
    skipped: usize,
    doubts: usize,
    untreated: usize,
    matching: Vec<Matching>,
    no_match: usize,
}

/// A face that recognisers still match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Matching {
    file: String,
    face: usize,
    recognisers: Vec<String>,
}

/// What became of photos.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Counts {
    written: usize,
    copied: usize,
    existing: usize,
    /// Those of them in which a look again found no face.
    existing_faceless: usize,
    planned: usize,
    /// Those of them that have no face and would be written unchanged.
    planned_faceless: usize,
    no_face: usize,
    failed: usize,
    stopped: usize,
}

/// How many faces a recogniser still matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Matches {
    name: String,
    faces: usize,
    still_match: usize,
}

#[derive(Serialize)]
pub struct Summary {
    #[serde(flatten)]
    counts: Counts,
    faces: usize,
    method: Option<String>,
    /// The budget of each face; that of steering's draws is no budget of the picture.
    epsilon: Option<f64>,
    /// The least SSIMULACRA2 score of a face that was allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_quality: Option<f64>,
    /// SSIMULACRA2 scores of faces as written: the median and the least.
    #[serde(skip_serializing_if = "Option::is_none")]
    ssimulacra2_median: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssimulacra2_least: Option<f64>,
    /// PSNR of the mean squared noise over all faces, before lifting and rounding.
    psnr_mean_mse: Option<f64>,
    /// PSNR of the mean of what the plan expected.
    psnr_expected: Option<f64>,
    /// Median over faces as written; none if infinite: at least half are unchanged.
    psnr_median: Option<f64>,
    ssim_mean: Option<f64>,
    /// Share of photos of which no sample changed.
    unchanged: f64,
    /// Metadata that was left out, with the number of photos.
    stripped: BTreeMap<String, usize>,
    notes: BTreeMap<String, usize>,
    recognisers: Vec<Matches>,
    /// Faces that no recogniser could look at.
    unchecked: usize,
    /// Faces that were too small for the method.
    skipped: usize,
    /// Places that may be faces and were left as they are.
    doubts: usize,
    /// Faces of results that were not found in the originals.
    untreated: usize,
    /// Faces that no recogniser matches any more.
    no_match: usize,
    /// Faces that a recogniser still matches.
    matching: Vec<Matching>,
    seconds: f64,
    claim: Claim,
    randomness: Option<Randomness>,
    #[serde(skip)]
    measured: bool,
    #[serde(skip)]
    checked: bool,
    #[serde(skip)]
    dry: bool,
    /// Photos that failed because nothing more could be written.
    #[serde(skip)]
    disk_full: usize,
}

impl Tally {
    /// Takes one more photo into account.
    pub fn add(&mut self, file: Option<String>, outcome: &Result<Outcome, Error>) {
        let file = file.unwrap_or_default();
        match outcome {
            Ok(Outcome::Written(result)) => {
                self.counts.written += 1;
                self.add_result(&file, result);
            }
            Ok(Outcome::Copied(result)) => {
                self.counts.copied += 1;
                self.add_result(&file, result);
                self.unchanged -= usize::from(result.unchanged); // nothing was to change
            }
            Ok(Outcome::Planned(seen) | Outcome::PlannedCopy(seen)) => {
                self.counts.planned += 1;
                self.counts.planned_faceless +=
                    usize::from(matches!(outcome, Ok(Outcome::PlannedCopy(_))));
                self.faces += seen.faces.len();
                self.skipped += seen.skipped.len();
                self.doubts += seen.doubts.len();
                seen.stripped.iter().for_each(|name| *entry(&mut self.stripped, name) += 1);
            }
            Ok(Outcome::Existing(compared)) => {
                self.counts.existing += 1;
                let faces = compared.as_ref().map(|compared| &compared.faces);
                self.counts.existing_faceless += usize::from(faces.is_some_and(Vec::is_empty));
                for (number, verdicts) in (1..).zip(faces.into_iter().flatten()) {
                    self.add_verdicts(&file, number, verdicts);
                }
            }
            Ok(Outcome::Stopped) => self.counts.stopped += 1,
            Err(Error::NoFace) => self.counts.no_face += 1,
            Err(error) => {
                self.counts.failed += 1;
                self.disk_full += usize::from(error.is_disk_full());
            }
        }
    }

    fn add_result(&mut self, file: &str, result: &Protected) {
        self.faces += result.faces.len();
        self.skipped += result.skipped.len();
        self.doubts += result.doubts.len();
        self.untreated += result.untreated.len();
        self.unchanged += usize::from(result.unchanged);
        result.stripped.iter().for_each(|name| *entry(&mut self.stripped, name) += 1);
        result.notes.iter().for_each(|note| *entry(&mut self.notes, note) += 1);
        for (number, face) in (1..).zip(&result.faces) {
            self.add_face(file, number, face);
        }
    }

    fn add_face(&mut self, file: &str, number: usize, face: &FaceReport) {
        self.squared_noise.push(face.mse);
        self.expected.extend(face.expected_mse);
        if let Some(quality) = &face.quality {
            self.decibels.push(quality.psnr.unwrap_or(f64::INFINITY));
            self.ssims.extend(quality.ssim);
        }
        self.scores.extend(face.ssimulacra2);
        self.add_verdicts(file, number, &face.recognisers);
    }

    fn add_verdicts(&mut self, file: &str, face: usize, verdicts: &[Verdict]) {
        self.unchecked += usize::from(verdicts.is_empty());
        let matching = verdicts.iter().filter(|verdict| verdict.plain.matches);
        let recognisers: Vec<String> = matching.map(|verdict| verdict.name.clone()).collect();
        match recognisers.is_empty() {
            true => self.no_match += usize::from(!verdicts.is_empty()),
            false => self.matching.push(Matching { file: file.to_owned(), face, recognisers }),
        }
        for verdict in verdicts {
            let known = self.recognisers.iter().position(|r| r.name == verdict.name);
            let at = known.unwrap_or_else(|| {
                let name = verdict.name.clone();
                self.recognisers.push(Matches { name, faces: 0, still_match: 0 });
                self.recognisers.len() - 1
            });
            self.recognisers[at].faces += 1;
            self.recognisers[at].still_match += usize::from(verdict.plain.matches);
        }
    }

    /// The figures of the run.
    pub fn summary(mut self, engine: &Engine, run: Run, time: Duration) -> Summary {
        let terms = engine.terms();
        let (epsilon, min_quality) = match &terms {
            Some(Terms::Noise(terms)) => (Some(terms.method.epsilon.get()), None),
            Some(Terms::Certified(terms)) => (Some(terms.method.method.epsilon.get()), None),
            Some(Terms::Steered(terms)) => (None, Some(terms.method.steering.min_quality)),
            None => (None, None),
        };
        self.matching.sort_by(|a, b| (&a.file, a.face).cmp(&(&b.file, b.face)));
        let of_mean = |values: &[f64]| mean(values).and_then(|mse| psnr(mse, 255.0));
        Summary {
            counts: self.counts,
            faces: self.faces,
            method: terms.as_ref().map(Terms::method),
            epsilon,
            min_quality,
            ssimulacra2_least: self.scores.iter().copied().reduce(f64::min),
            ssimulacra2_median: median(self.scores),
            psnr_mean_mse: of_mean(&self.squared_noise),
            psnr_expected: of_mean(&self.expected),
            psnr_median: median(self.decibels).filter(|d| d.is_finite()),
            ssim_mean: mean(&self.ssims),
            unchanged: self.unchanged as f64 / self.counts.written.max(1) as f64,
            stripped: self.stripped,
            notes: self.notes,
            recognisers: self.recognisers,
            unchecked: self.unchecked,
            skipped: self.skipped,
            doubts: self.doubts,
            untreated: self.untreated,
            no_match: self.no_match,
            matching: self.matching,
            seconds: time.as_secs_f64(),
            claim: terms.as_ref().map_or(Claim::None, Terms::claim),
            randomness: terms.as_ref().map(Terms::randomness),
            measured: engine.request().measure,
            checked: engine.request().check != Check::Off,
            dry: run == Run::Dry,
            disk_full: self.disk_full,
        }
    }
}

fn entry<'a>(map: &'a mut BTreeMap<String, usize>, name: &str) -> &'a mut usize {
    map.entry(name.to_owned()).or_default()
}

impl Summary {
    /// Photos whose results are there.
    pub fn done(&self) -> usize {
        self.counts.written + self.counts.copied + self.counts.existing
    }

    /// Photos that were not begun, or for which there was no room.
    pub fn left(&self) -> usize {
        self.counts.stopped + self.disk_full
    }

    /// Whether the run ended because nothing more could be written.
    pub fn disk_full(&self) -> bool {
        self.disk_full > 0
    }

    /// Whether every photo had a face and was written, and no face was left as it is.
    pub fn all_well(&self, accept_doubts: bool) -> bool {
        let Counts { failed, no_face, copied, existing_faceless, planned_faceless, .. } =
            self.counts;
        let doubts = if accept_doubts { 0 } else { self.doubts };
        let without = failed + no_face + copied + existing_faceless + planned_faceless;
        without + self.skipped + self.untreated + doubts == 0 && self.left() == 0
    }

    /// Whether a recogniser still matches any face, or there is one that none could look at.
    pub fn still_match(&self) -> bool {
        self.unchecked + self.skipped + self.matching.len() > 0
    }

    /// The summary for people. The last line says what may be claimed, if noise was added.
    pub fn in_words(&self, folder: &Path) -> String {
        let Counts { written, copied, existing, planned, no_face, failed, stopped, .. } =
            self.counts;
        let all = written + copied + existing + planned + no_face + failed + stopped;
        let method = match (&self.method, self.epsilon, self.min_quality) {
            (Some(method), Some(epsilon), _) => format!("{method}, epsilon {epsilon} a face"),
            (Some(method), _, Some(floor)) => format!("{method}, quality at least {floor}"),
            _ => "no change".to_owned(),
        };
        let folder = folder.display();
        let mut lines = vec![if self.dry {
            format!(
                "would write {planned} of {} to {folder}: {} ({method})",
                count(all, "photo"),
                count(self.faces, "face")
            )
        } else {
            format!(
                "{} of {} written to {folder} in {:.2} s: {} ({method})",
                written + copied,
                count(all, "photo"),
                self.seconds,
                count(self.faces, "face")
            )
        }];
        let mut add = |name: &str, text: String| lines.push(format!("{name:<14} {text}"));
        if existing > 0 {
            let results = count(existing, "result");
            add("done before", format!("{results} there already, taken as they are"));
        }
        if no_face > 0 {
            let remedy = "not written: mark faces with --box, or pass --copy-faceless";
            add("no face", format!("{}, {remedy}", count(no_face, "photo")));
        }
        if copied > 0 {
            add("no face", format!("{}, written unchanged", count(copied, "photo")));
        }
        if self.counts.planned_faceless > 0 {
            let photos = count(self.counts.planned_faceless, "photo");
            add("no face", format!("{photos}, would be written unchanged"));
        }
        if self.skipped > 0 {
            let skipped = if self.dry { "would be skipped" } else { "skipped" };
            add("too small", format!("{}, {skipped}", count(self.skipped, "face")));
        }
        if self.doubts > 0 {
            let left = if self.dry { "would be left" } else { "left" };
            add("in doubt", format!("{}, {left} as they are", count(self.doubts, "place")));
        }
        let listed = |map: &BTreeMap<String, usize>| {
            let items = map.iter().map(|(name, photos)| format!("{name} ({photos})"));
            items.collect::<Vec<_>>().join(", ")
        };
        if !self.stripped.is_empty() {
            add(if self.dry { "would leave out" } else { "left out" }, listed(&self.stripped));
        }
        for (note, photos) in &self.notes {
            add("note", format!("{note} ({photos})"));
        }
        if self.faces > 0 && !self.dry {
            self.describe_faces(&mut add);
        }
        if self.randomness == Some(Randomness::Experiment) && self.faces > 0 && !self.dry {
            let warning = match self.epsilon {
                Some(_) => "seeded noise: whoever knows the seed can take it off again",
                None => "seeded: whoever knows the seed can repeat it",
            };
            add("experiment", warning.to_owned());
        }
        if self.checked && !self.dry && self.method.is_some() {
            let words = match self.epsilon {
                Some(_) => self.check_in_words(),
                None => self.steering_in_words(),
            };
            add("check", words);
        }
        if self.method.is_some() {
            add("claim", self.claim.in_words().to_owned());
        }
        plain::lines(lines)
    }

    /// How much faces were changed.
    fn describe_faces(&self, add: &mut impl FnMut(&str, String)) {
        if self.epsilon.is_some() {
            let change = decibels(self.psnr_mean_mse, "no change drawn");
            add("psnr_mean_mse", format!("{change} (the change as drawn)"));
        }
        if let (Some(median), Some(least)) = (self.ssimulacra2_median, self.ssimulacra2_least) {
            add(
                "quality",
                format!("{median:.1}, at least {least:.1} (SSIMULACRA2 of faces as written)"),
            );
        }
        if self.measured && self.epsilon.is_some() {
            let half = "infinite: at least half are unchanged";
            add("median PSNR", format!("{} (faces as written)", decibels(self.psnr_median, half)));
            let small = "faces too small".to_owned();
            add("mean SSIM", self.ssim_mean.map_or(small, |ssim| format!("{ssim:.5}")));
        }
        if self.epsilon.is_none() {
            return;
        }
        let written = self.counts.written;
        let equal = (self.unchanged * written as f64).round();
        let photos = count(written, "photo");
        add("unchanged", format!("{equal} of {photos} (equal to the original after rounding)"));
    }

    /// Who was led astray, and what can be done about the others.
    fn steering_in_words(&self) -> String {
        const SHOWN: usize = 5;
        if self.recognisers.is_empty() {
            return "no face that recognisers could look at".to_owned();
        }
        let listed = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<&str> = names.map(|name| recogniser(name)).collect();
            match names.split_last() {
                Some((last, [])) => (*last).to_owned(),
                Some((last, others)) => format!("{} and {last}", others.join(", ")),
                None => String::new(),
            }
        };
        let all = listed(&mut self.recognisers.iter().map(|r| &r.name));
        let faces = self.no_match + self.matching.len();
        let verb = if self.no_match == 1 { "matches" } else { "match" };
        let mut text = format!(
            "{} of {} no longer {verb} by {all}; other recognisers may still match",
            self.no_match,
            count(faces, "face")
        );
        for Matching { file, face, recognisers } in self.matching.iter().take(SHOWN) {
            let names = listed(&mut recognisers.iter());
            text += &format!("; face {face} of {file} still matches {names}");
        }
        if self.matching.len() > SHOWN {
            text += &format!("; and {} more", self.matching.len() - SHOWN);
        }
        if !self.matching.is_empty() {
            text += ": try --strength high, or a lower --min-quality";
        }
        if self.unchecked > 0 {
            text += &format!(" ({} could not be checked)", count(self.unchecked, "face"));
        }
        text
    }

    /// Whether recognisers still match, in plain words.
    fn check_in_words(&self) -> String {
        if self.recognisers.is_empty() {
            return "no face that recognisers could look at".to_owned();
        }
        let phrase = |(number, r): (usize, &Matches)| {
            let Matches { name, faces, still_match } = r;
            let name = recogniser(name);
            if number > 0 {
                return format!("{name}: {still_match} of {faces}");
            }
            let one = *faces == 1 || *still_match == 1;
            let what = if one { "still matches its" } else { "still match their" };
            format!("{name}: {still_match} of {} {what} original", count(*faces, "face"))
        };
        let phrases: Vec<String> = self.recognisers.iter().enumerate().map(phrase).collect();
        let all = self.recognisers.iter().any(|r| r.still_match == r.faces);
        let verdict = match self.recognisers.iter().map(|r| r.still_match).sum::<usize>() {
            0 => "these recognisers no longer match them; others may",
            _ if all => "this method does not stop recognisers",
            _ => "some faces can still be recognised",
        };
        let unseen = match self.unchecked {
            0 => String::new(),
            n => format!(" ({} could not be checked)", count(n, "face")),
        };
        format!("{}: {verdict}{unseen}", phrases.join(", "))
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| average(values))
}
