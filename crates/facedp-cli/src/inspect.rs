//! `facedp inspect`: the faces of a photo, and the metadata that would be left out.

use std::process::ExitCode;

use anyhow::Context;
use facedp_nets::{Detector, Face, Workspace};
use serde_json::{Value, json};

use crate::args::{Inspect, Output};
use crate::failure::{Failure, say};
use crate::files::{self, Readers};
use crate::photo::Photo;

pub fn run(args: &Inspect, output: &Output) -> Result<ExitCode, Failure> {
    let photo = Photo::read(&args.photo)?;
    let detector = Detector::new().context("the detector")?;
    let picture = photo.colour_picture()?;
    let faces = detector.detect(&picture, args.min_score, &mut Workspace::default());
    if let Some(path) = &args.annotate {
        let annotated = photo.annotated(&faces)?;
        files::write_whole(path, &annotated, Readers::Usual)?;
    }
    if output.json {
        say(json!({
            "file": args.photo.to_string_lossy(),
            "width": picture.width(),
            "height": picture.height(),
            "metadata": photo.metadata(),
            "faces": faces.iter().map(face_json).collect::<Vec<_>>(),
        }))?;
    } else if !output.quiet {
        say(describe(&photo, &faces))?;
    }
    Ok(if faces.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A face as JSON: box as x, y, width, height.
pub fn face_json(face: &Face) -> Value {
    let rect = face.rect;
    json!({
        "box": [rect.x, rect.y, rect.width, rect.height],
        "landmarks": face.landmarks,
        "score": face.score,
    })
}

fn describe(photo: &Photo, faces: &[Face]) -> String {
    let mut lines = vec![match faces.len() {
        0 => "no face found".to_owned(),
        1 => "1 face".to_owned(),
        n => format!("{n} faces"),
    }];
    for (number, face) in (1..).zip(faces) {
        let rect = face.rect;
        lines.push(format!(
            "{number:>3}  at {:.0},{:.0}  {:.0}x{:.0} pixels  score {:.2}",
            rect.x, rect.y, rect.width, rect.height, face.score
        ));
    }
    if !photo.metadata().is_empty() {
        lines.push(format!("metadata that protect leaves out: {}", photo.metadata().join(", ")));
    }
    lines.join("\n")
}
