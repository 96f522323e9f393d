//! The one way from a photo's bytes to protected bytes and a receipt:
//!
//! ```text
//! photo --decode--> samples --find--> faces --chip--> plan --noise--> lift --encode--> photo + receipt
//! ```

use facedp::{Drawn, Plan, Plane, Quality, Release, Terms};
use facedp_nets::Workspace;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::eyes::{Eyes, Spot, Trial, Witness};
use crate::gate::Gate;
use crate::key::Secret;
use crate::lift::{self, Lift};
use crate::options::{Look, Options, Treatment};
use crate::outcome::{Compared, FaceReport, Protected, Seen};
use crate::patch::Patch;
use crate::photo::{Head, Photo, Region};
use crate::receipt::{FaceRecord, Receipt};

/// Treats photos, one after the other or in several threads.
pub struct Engine {
    treatment: Treatment,
    options: Options,
    /// None where nobody has to look.
    eyes: Option<Eyes>,
    /// Keeps threads from working on more large photos at once than memory holds.
    gate: Gate,
}

/// A face on its way, with what is needed of the original once that is gone.
struct Subject {
    spot: Option<Spot>,
    patch: Patch,
    region: Region,
    /// The region before anything was added.
    before: Option<Photo>,
    witness: Option<Witness>,
    release: Release,
}

impl Engine {
    /// Makes an engine, with as many networks as the options need.
    pub fn new(treatment: Treatment, options: Options) -> Result<Self> {
        let eyes = match (&treatment, &options) {
            (Treatment::None, _) => None,
            (_, Options { check: true, .. }) => Some(Eyes::open()?),
            (_, Options { look: Look::Faces { .. }, .. }) => Some(Eyes::detector_only()?),
            _ => None,
        };
        Ok(Self { treatment, options, eyes, gate: Gate::default() })
    }

    /// How it treats photos.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        match &self.treatment {
            Treatment::None => None,
            Treatment::Noise { plan, .. } => Some(plan),
        }
    }

    /// What may be said of its results, if anything.
    pub fn terms(&self) -> Option<Terms> {
        match &self.treatment {
            Treatment::None => None,
            Treatment::Noise { plan, secret } => {
                Some(plan.terms().with_randomness(secret.randomness()))
            }
        }
    }

    /// A word for everything that decides what its results look like, which gives nothing away: two
    /// engines of the same name make the same of a photo.
    pub fn name(&self) -> String {
        let treatment = match &self.treatment {
            Treatment::None => "none".to_owned(),
            Treatment::Noise { plan, secret } => format!("{} {}", plan.name(), secret.name()),
        };
        let Options { look, encoding, copy_faceless, .. } = &self.options;
        let version = env!("CARGO_PKG_VERSION");
        let all = format!("{version} {treatment} {look:?} {encoding:?} {copy_faceless}");
        blake3::hash(all.as_bytes()).to_string()
    }

    /// Looks without doing anything.
    pub fn look(&self, file: &[u8], work: &mut Workspace) -> Result<Seen> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(head.bytes());
        let photo = head.decode()?;
        let faces = self.subjects(&photo, work)?.into_iter().map(|(spot, _)| spot).collect();
        let (width, height, format) = (photo.width(), photo.height(), photo.format());
        Ok(Seen { width, height, format, stripped: photo.stripped(&self.options.encoding), faces })
    }

    /// Looks at a photo and a result of it that is there already.
    pub fn compare(&self, file: &[u8], result: &[u8], work: &mut Workspace) -> Result<Compared> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(2 * head.bytes());
        let (photo, changed) = (head.decode()?, Photo::decode(result, &self.options.limits)?);
        let Some(eyes) = &self.eyes else { return Ok(Compared { faces: Vec::new() }) };
        if (photo.width(), photo.height()) != (changed.width(), changed.height()) {
            return Err(Error::Refused("its result has another size: remove it".to_owned()));
        }
        let found = self.subjects(&photo, work)?;
        let mut judge = |spot: Option<Spot>| match eyes.face_to_check(spot, &photo, work)? {
            Some(spot) => {
                let witness = eyes.witness(&photo, &spot, work)?;
                eyes.judge(&witness, &changed, Trial::Plain, work)
            }
            None => Ok(Vec::new()),
        };
        let faces = found.into_iter().map(|(spot, _)| judge(spot)).collect::<Result<_>>()?;
        Ok(Compared { faces })
    }

    /// Treats one photo.
    pub fn protect(&self, file: &[u8], work: &mut Workspace) -> Result<Protected> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(head.bytes());
        let mut photo = head.decode()?;
        let mut subjects = Vec::new();
        if let Treatment::Noise { plan, secret } = &self.treatment {
            let found = self.subjects(&photo, work)?;
            let context = Context::new(plan, &photo, secret);
            for (spot, patch) in found {
                subjects.push(self.subject(&photo, plan, &context, spot, patch, work)?);
            }
        }
        let lifts = subjects.iter().map(|s| Lift::new(&s.release.noise, &s.patch, &photo));
        let lifts: Vec<Lift> = lifts.collect();
        let changed = lift::apply(&lifts, &mut photo);
        let encoded = photo.encode(&self.options.encoding)?;
        drop(photo);

        let again = !subjects.is_empty() && (self.options.measure || self.options.check);
        let written =
            again.then(|| Photo::decode(&encoded.file, &self.options.limits)).transpose()?;
        let terms = subjects.first().map(|subject| subject.release.terms());
        let mut faces = Vec::new();
        let mut records = Vec::new();
        for subject in subjects {
            let (report, record) = self.report(subject, written.as_ref(), work)?;
            faces.push(report);
            records.extend(record);
        }
        let receipt = terms.filter(|_| self.options.receipt).map(|terms| {
            let file = Sha256::digest(&encoded.file);
            let sha256 = file.iter().map(|byte| format!("{byte:02x}")).collect();
            Receipt::new(terms, sha256, encoded.stripped.clone(), encoded.notes.clone(), records)
        });
        Ok(Protected {
            file: encoded.file,
            format: encoded.format,
            faces,
            unchanged: !changed,
            stripped: encoded.stripped,
            notes: encoded.notes,
            receipt,
        })
    }

    /// The faces to be treated, and where their chips lie.
    fn subjects(&self, photo: &Photo, work: &mut Workspace) -> Result<Vec<(Option<Spot>, Patch)>> {
        match (&self.options.look, &self.eyes) {
            (Look::Aligned { crop }, _) => Ok(vec![(None, Patch::Square(photo.centre(*crop)?))]),
            (_, None) => Ok(Vec::new()),
            (Look::Faces { which, boxes, min_score }, Some(eyes)) => {
                let spots = eyes.choose(photo, which, boxes, *min_score, work)?;
                if spots.is_empty() && !self.options.copy_faceless {
                    return Err(Error::NoFace);
                }
                let place = |spot: Spot| Ok((Some(spot), Patch::face(&spot.landmarks)?));
                spots.into_iter().map(place).collect()
            }
        }
    }

    /// Reads a face's chip, draws its noise, and keeps what later comparisons need.
    fn subject(
        &self,
        photo: &Photo,
        plan: &Plan,
        context: &Context<'_>,
        spot: Option<Spot>,
        patch: Patch,
        work: &mut Workspace,
    ) -> Result<Subject> {
        let region = patch.region(photo);
        let side = plan.model().side();
        // Noise that does not depend on the chip needs no chip, but noisy features do.
        let chip = match plan.reads_chip() || self.options.receipt {
            true => patch.chip(photo, side),
            false => Plane::zeros(side, side),
        };
        let release = plan.protect(&chip, &mut context.source(region)?)?;
        let witness = match &self.eyes {
            Some(eyes) if self.options.check => {
                let face = eyes.face_to_check(spot, photo, work)?;
                face.map(|face| eyes.witness(photo, &face, work)).transpose()?
            }
            _ => None,
        };
        let before = self.options.measure.then(|| photo.crop(region));
        Ok(Subject { spot, patch, region, before, witness, release })
    }

    /// Compares a face as written with its original.
    fn report(
        &self,
        subject: Subject,
        written: Option<&Photo>,
        work: &mut Workspace,
    ) -> Result<(FaceReport, Option<FaceRecord>)> {
        let Subject { spot, region, before, witness, release, .. } = subject;
        let quality = match (&before, written) {
            (Some(before), Some(written)) => {
                let before = before.luma(before.whole());
                Some(Quality::compare(&before, &written.luma(region))?)
            }
            _ => None,
        };
        let recognisers = match (&self.eyes, &witness, written) {
            (Some(eyes), Some(witness), Some(written)) => {
                eyes.judge(witness, written, Trial::Plain, work)?
            }
            _ => Vec::new(),
        };
        let pixels = release.noise.data().len() as f64;
        let report = FaceReport {
            spot,
            mse: release.real_variance() / pixels,
            expected_mse: release.expected_variance / pixels,
            quality,
            recognisers: recognisers.clone(),
        };
        let record = || -> Result<FaceRecord> {
            Ok(FaceRecord { spot, drawn: Drawn::of(&release)?, quality, recognisers })
        };
        let record = self.options.receipt.then(record).transpose()?;
        Ok((report, record))
    }
}

/// What decides the noise of a photo's faces.
struct Context<'a> {
    secret: &'a Secret,
    bytes: Vec<u8>,
}

impl<'a> Context<'a> {
    fn new(plan: &Plan, photo: &Photo, secret: &'a Secret) -> Self {
        let plan = blake3::hash(plan.name().as_bytes());
        Self { secret, bytes: [*plan.as_bytes(), photo.digest()].concat() }
    }

    /// The generator of the face whose chip covers that region. Rounded coarsely: the last bits of a
    /// detector's numbers differ between processors, and should not make new noise.
    fn source(&self, region: Region) -> Result<facedp::noise::Source<rand_chacha::ChaCha20Rng>> {
        let Region { x, y, width, height } = region;
        let unit = (width.max(height) / 8).max(1).next_power_of_two();
        let centre = [x + width / 2, y + height / 2, width + height].map(|n| (n + unit / 2) / unit);
        let numbers = [unit, centre[0], centre[1], centre[2]].map(|n| (n as u64).to_le_bytes());
        self.secret.source(&[self.bytes.as_slice(), numbers.as_flattened()].concat())
    }
}
