//! The options of `facedp protect`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use facedp_engine::{Check, Faces, Goal, MIN_SCORE, MethodName, Request, Strength};

use super::parsers::{
    ResultFormat, faces, formats, method_names, names, rectangle, share, switches,
};
use super::{MethodArgs, Output};

/// Change the faces in photos so that recognisers no longer match them, and write the photos to
/// another folder.
///
/// Faces are found and aligned. The change is made at a size of 128 pixels and lifted back to each face
/// at full resolution; the rest of the photo stays as it is. Results have the names, formats and
/// compression of their originals, which are never overwritten. Metadata (EXIF, GPS position, XMP,
/// thumbnails) is left out. The colour profile is written anew, and the orientation is applied.
///
/// The method `steered` changes a face, as little as possible, until the five recognisers inside the
/// program no longer match it; others may still match. The paper's methods
/// (`rdp-optimal` and so on) add noise instead, which does not stop modern recognisers. `certified`
/// throws everything inside a face's outline away and puts a face there that is made from what is public
/// and from differentially private numbers, with a proven guarantee; the guarantee does not cover what is
/// outside the outline.
///
/// A photo in which no face is found is not written: the detector could have missed one. The last line
/// says what may be claimed of the results.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  facedp protect photos/ -o out/
  facedp protect photos/ -o out/ --resume                   go on after an interruption
  facedp protect photos/ -o out/ --strength high            change more: fewer recognisers match
  facedp protect 'photos/**/*.jpg' -o out/ --dry-run        what would be done?
  facedp protect group.jpg -o out/ --faces 1,3              faces as `facedp inspect` numbers them
  facedp protect photos/ -o out/ --method rdp-optimal       the paper's noise instead

Randomness follows from your key (`facedp key path`), the photo, the method and the face. Treating a
photo again gives the same result, so an attacker has nothing to average. Keep the key secret: whoever
has it can take the noise off again.")]
pub struct Protect {
    /// Photos (JPEG, PNG, WebP, HEIC), folders of them, or patterns such as 'photos/**/*.jpg'
    #[arg(required = true, value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Folder for the results; made if missing
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub faces: FaceArgs,
    #[command(flatten)]
    pub write: WriteArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// What is done to faces; `none` only decodes and encodes
    #[arg(long, default_value_t = MethodName::Steered, value_parser = method_names(),
          help_heading = "Method")]
    pub method: MethodName,
    #[command(flatten)]
    pub steer: SteerArgs,
    #[command(flatten)]
    pub parameters: MethodArgs,
    /// File in which releases are recorded, to add up what each photo's spend [default: your own]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub ledger: Option<PathBuf>,
    /// Do not record releases
    #[arg(long, conflicts_with = "ledger", help_heading = "Method")]
    pub no_ledger: bool,
    /// File with the secret key [default: your own, made on first use; certified draws fresh entropy]
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub key: Option<PathBuf>,
    /// Make results repeatable for experiments; whoever knows the seed can take the noise off again
    #[arg(long, value_name = "N", conflicts_with = "key", help_heading = "Method")]
    pub seed: Option<u64>,
}

/// Settings of `steered`.
#[derive(ClapArgs)]
#[command(next_help_heading = "Steering")]
pub struct SteerArgs {
    /// How much faces may change: a quality of at least 85, 75 or 70 [default: medium]
    #[arg(long, value_parser = names::<Strength>(Strength::NAMES))]
    pub strength: Option<Strength>,
    /// Where faces go: away from themselves, towards a person drawn for each, or both [default: both]
    #[arg(long, value_parser = names::<Goal>(Goal::NAMES))]
    pub goal: Option<Goal>,
    /// Smallest SSIMULACRA2 score of a face, 30 to 95 (90: nobody sees a change) [default: the strength's]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub min_quality: Option<f64>,
    /// Move the face's pixels a little too, or change only their brightness [default: on]
    #[arg(long, value_parser = switches())]
    pub shape: Option<bool>,
    /// Recognisers to steer by [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["dlib", "facexzoo", "intel", "mobilefacenet", "sface"])]
    pub steer_by: Vec<String>,
}

/// Where faces are.
#[derive(ClapArgs)]
#[command(next_help_heading = "Faces")]
pub struct FaceArgs {
    /// Which faces: all, largest, or numbers as in 1,3; numbers of places that may be faces count too
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = faces)]
    pub faces: Faces,
    /// A face that the detector missed, in pixels of the upright photo; can be repeated
    #[arg(long = "box", value_name = "X,Y,W,H", allow_hyphen_values = true, value_parser = rectangle)]
    pub boxes: Vec<[f32; 4]>,
    /// Smallest score of a face, 0 to 1
    #[arg(long, value_name = "S", default_value_t = MIN_SCORE,
          allow_negative_numbers = true, value_parser = share)]
    pub min_score: f32,
    /// The pictures are face crops: take their centre square instead of looking for faces
    #[arg(long, conflicts_with_all = ["faces", "boxes", "min_score", "copy_faceless"])]
    pub aligned: bool,
    /// Use the centre N x N pixels of each crop, not its largest centre square; faces must lie there as in
    /// the model's chips (150 for LFW's 250x250 pictures)
    #[arg(long, value_name = "N", requires = "aligned", value_parser = clap::value_parser!(u32).range(1..))]
    pub crop: Option<u32>,
}

/// How results are written.
#[derive(ClapArgs)]
#[command(next_help_heading = "Results")]
pub struct WriteArgs {
    /// Format of results; HEIC is kept as JPEG
    #[arg(long, default_value = "keep", value_parser = formats())]
    pub format: ResultFormat,
    /// Quality of JPEG results, 1 to 100 [default: each source's own]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub jpeg_quality: Option<u8>,
    /// Keep the common fields of EXIF (also the GPS position) and XMP, as far as they are plain text or short
    /// numbers; thumbnails and maker notes still go
    #[arg(long)]
    pub keep_metadata: bool,
    /// Write photos without a face too, unchanged (the exit code is still 1)
    #[arg(long)]
    pub copy_faceless: bool,
    /// Also write a receipt for each photo, into the folder DIR.receipts beside DIR
    #[arg(long)]
    pub receipt: bool,
}

/// How a run goes.
#[derive(ClapArgs)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Continue an interrupted run: skip photos whose results it has written already
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace results that exist already
    #[arg(long)]
    pub force: bool,
    /// Find faces and say what would be done, but write nothing; ends with the exit code of the run
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask the recognisers whether faces still match
    #[arg(long)]
    pub no_check: bool,
    /// Do not measure the quality of the results
    #[arg(long)]
    pub no_metrics: bool,
    /// Exit with code 3 if a recogniser still matches a face, or could not be asked about one; results
    /// are written all the same
    #[arg(long, conflicts_with_all = ["no_check", "dry_run"])]
    pub require_no_match: bool,
    /// End with exit code 0 although places that may be faces were left as they are
    #[arg(long)]
    pub accept_doubts: bool,
    /// Number of photos worked on at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

impl Protect {
    /// What is asked for, as the engine takes it.
    pub fn request(&self, output: &Output) -> Request {
        let (steer, faces, write, run) = (&self.steer, &self.faces, &self.write, &self.run);
        // Where nothing is printed and no receipt is written, nobody reads measurements.
        let read = !output.quiet || output.json || write.receipt;
        self.parameters.fill(Request {
            method: self.method,
            strength: steer.strength,
            goal: steer.goal,
            min_quality: steer.min_quality,
            shape: steer.shape,
            steer_by: steer.steer_by.clone(),
            faces: faces.faces.clone(),
            boxes: faces.boxes.clone(),
            min_score: Some(faces.min_score),
            aligned: faces.aligned,
            crop: faces.crop,
            format: write.format.0,
            jpeg_quality: write.jpeg_quality,
            keep_metadata: write.keep_metadata,
            copy_faceless: write.copy_faceless,
            receipt: write.receipt,
            check: if run.no_check { Check::Off } else { Check::Default },
            measure: !run.no_metrics && read,
            ..Request::default()
        })
    }
}
