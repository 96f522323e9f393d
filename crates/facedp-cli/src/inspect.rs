//! `facedp inspect`: the faces of a photo, and the metadata that would be left out.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use facedp_engine::annotate::annotated;
use facedp_engine::files::{self, Existing, Readers};
use facedp_engine::{DetectedFace, FaceDetector, Found, Photo, Workspace};
use serde_json::json;

use crate::args::{Inspect, Output};
use crate::failure::{Failure, say};
use crate::{photo, words};

pub fn run(args: &Inspect, output: &Output) -> Result<ExitCode, Failure> {
    let photo = photo::read(&args.photo)?;
    if let Some(path) = &args.annotate
        && (path.exists() && !args.force || same_file(path, &args.photo))
    {
        let problem = "exists already: choose another name, or pass --force if it is not the photo";
        return Err(anyhow!("{} {problem}", path.display()).into());
    }
    let detector = FaceDetector::new()?;
    let found = detector.search(&photo, args.min_score, &mut Workspace::default())?;
    if let Some(path) = &args.annotate {
        let picture = annotated(&photo, &found)?;
        let existing = if args.force { Existing::Replace } else { Existing::Keep };
        files::write_whole(path, &picture, Readers::Default, existing)?;
    }
    if output.json {
        say(json!({
            "file": args.photo.to_string_lossy(),
            "width": photo.width(),
            "height": photo.height(),
            "format": photo.format(),
            "metadata": photo.metadata(),
            "faces": found.faces,
            "doubts": found.doubts,
        }))?;
    } else if !output.quiet {
        say(describe(&photo, &found))?;
    }
    Ok(if found.faces.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn same_file(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

fn describe(photo: &Photo, found: &Found) -> String {
    let mut lines = vec![match found.faces.len() {
        0 => "no face found".to_owned(),
        n => words::count(n, "face"),
    }];
    let line = |number: usize, face: &DetectedFace| {
        let [x, y, width, height] = face.rect;
        let score = face.score.unwrap_or_default();
        format!("{number:>3}  at {x:.0},{y:.0}  {width:.0}x{height:.0} pixels  score {score:.2}")
    };
    lines.extend((1..).zip(&found.faces).map(|(number, face)| line(number, face)));
    if !found.doubts.is_empty() {
        lines.push(match found.doubts.len() {
            1 => "1 place may be a face; protect leaves it as it is".to_owned(),
            n => format!("{n} places may be faces; protect leaves them as they are"),
        });
        lines.extend(found.doubts.iter().map(|doubt| line(doubt.number, &doubt.face)));
    }
    if !photo.metadata().is_empty() {
        lines.push(format!("metadata that protect leaves out: {}", photo.metadata().join(", ")));
    }
    lines.join("\n")
}
