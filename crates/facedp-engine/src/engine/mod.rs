//! The one way from a photo's bytes to a result's bytes and a receipt:
//!
//! ```text
//! photo --decode--> samples --find--> faces --chip--> plan --noise--> lift --encode--> photo + receipt
//!                                          |--------> steer -change--/
//!                                          \--split--> plan --compose--> encode ...
//! ```

mod certifying;
mod context;
mod hands;
mod noise;
mod steering;
mod subject;

use std::sync::Arc;
use std::time::Instant;

use facedp::Claim;
use facedp_nets::Workspace;
use sha2::{Digest, Sha256};

use crate::check::Checked;
use crate::error::{Error, Result};
use crate::eyes::{Eyes, Spot, Trial};
use crate::gate::Gate;
use crate::ledger::{Entry, Ledger, Total};
use crate::options::{Look, Options, Treatment};
use crate::outcome::{Compared, Protected, Seen};
use crate::patch::Patch;
use crate::photo::{Format, Head, Metadata, Photo};
use crate::receipt::{Receipt, Terms};
use crate::steer::Prior;
use hands::NEVER;
use subject::{Done, Subject};

pub use hands::Hands;

/// Treats photos, one after the other or in several threads.
pub struct Engine {
    treatment: Treatment,
    options: Options,
    /// None where nobody has to look.
    eyes: Option<Arc<Eyes>>,
    /// None where nobody is steered.
    prior: Option<Arc<Prior>>,
    /// None where releases are not written down.
    ledger: Option<Ledger>,
    /// Keeps threads from working on more large photos at once than memory holds.
    gate: Arc<Gate>,
}

/// Said of `certified` where what a JPEG source was made of can be read off the result (proofs/public.md).
const LATTICE: &str = "the source was a JPEG file, and its result is written without loss: from \
                       how JPEG rounds, the features can be computed";

impl Engine {
    /// Makes an engine, with as many networks as the options need.
    pub fn new(treatment: Treatment, options: Options) -> Result<Self> {
        let eyes = match (&treatment, &options) {
            (Treatment::None, _) => None,
            (Treatment::Steer { .. }, _) | (_, Options { check: true, .. }) => Some(Eyes::open()?),
            (_, Options { look: Look::Faces { .. }, .. }) => Some(Eyes::detector_only()?),
            _ => None,
        };
        let prior = match &treatment {
            Treatment::Steer { .. } => Some(Prior::embedded()?),
            _ => None,
        };
        let (eyes, prior) = (eyes.map(Arc::new), prior.map(Arc::new));
        Self::with_parts(treatment, options, eyes, prior, Arc::default())
    }

    /// An engine that treats photos otherwise with the networks of this one, in the memory that both
    /// may take together. This one must steer, so that it has all of them.
    pub fn another(&self, treatment: Treatment, options: Options) -> Result<Self> {
        let (eyes, prior) = (self.eyes.clone(), self.prior.clone());
        if eyes.is_none() || prior.is_none() {
            return Err(Error::Refused("an engine without networks cannot share them".to_owned()));
        }
        Self::with_parts(treatment, options, eyes, prior, Arc::clone(&self.gate))
    }

    /// The same behind another gate.
    pub fn behind(self, gate: &Arc<Gate>) -> Self {
        Self { gate: Arc::clone(gate), ..self }
    }

    fn with_parts(
        treatment: Treatment,
        options: Options,
        eyes: Option<Arc<Eyes>>,
        prior: Option<Arc<Prior>>,
        gate: Arc<Gate>,
    ) -> Result<Self> {
        match &treatment {
            Treatment::Certify { .. } if options.encoding.metadata == Metadata::Keep => {
                return Err(Error::CertifiedMetadata);
            }
            Treatment::Steer { steering, .. } => steering.validate()?,
            _ => {}
        }
        let ledger = options.ledger.as_deref().map(Ledger::open).transpose()?;
        Ok(Self { treatment, options, eyes, prior, ledger, gate })
    }

    /// How it treats photos.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether it changes faces at all.
    pub fn changes_faces(&self) -> bool {
        !matches!(self.treatment, Treatment::None)
    }

    /// What may be said of its results, if anything.
    pub fn terms(&self) -> Option<Terms> {
        match &self.treatment {
            Treatment::None => None,
            Treatment::Noise { plan, secret } => {
                Some(Terms::Noise(plan.terms().with_randomness(secret.randomness())))
            }
            Treatment::Certify { plan, secret } => {
                Some(Terms::Certified(Box::new(plan.terms(secret.randomness()))))
            }
            Treatment::Steer { steering, secret } => {
                Some(Terms::steered(steering, secret.randomness()))
            }
        }
    }

    /// A word for everything that decides what its results look like, which gives nothing away: two
    /// engines of the same name make the same of a photo.
    pub fn name(&self) -> String {
        let treatment = match &self.treatment {
            Treatment::None => "none".to_owned(),
            Treatment::Noise { plan, secret } => format!("{} {}", plan.name(), secret.name()),
            Treatment::Certify { plan, secret } => format!("{} {}", plan.name(), secret.name()),
            Treatment::Steer { steering, secret } => {
                format!("{} {}", steering.name(), secret.name())
            }
        };
        let Options { look, encoding, copy_faceless, .. } = &self.options;
        let version = env!("CARGO_PKG_VERSION");
        let all = format!("{version} {treatment} {look:?} {encoding:?} {copy_faceless}");
        blake3::hash(all.as_bytes()).to_string()
    }

    /// Looks without doing anything.
    pub fn look(&self, file: &[u8], work: &mut Workspace) -> Result<Seen> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(head.bytes(), &NEVER)?;
        let photo = head.decode()?;
        let faces = self.subjects(&photo, work)?.into_iter().map(|(spot, _)| spot).collect();
        let (width, height, format) = (photo.width(), photo.height(), photo.format());
        Ok(Seen { width, height, format, stripped: photo.stripped(&self.options.encoding), faces })
    }

    /// Looks at a photo and a result of it that is there already.
    pub fn compare(&self, file: &[u8], result: &[u8], work: &mut Workspace) -> Result<Compared> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(2 * head.bytes(), &NEVER)?;
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

    /// Compares a photo, treated by whom ever, with its original.
    pub fn check(&self, file: &[u8], released: &[u8], work: &mut Workspace) -> Result<Checked> {
        let limits = &self.options.limits;
        let (head, other) = (Head::read(file, limits)?, Head::read(released, limits)?);
        let _place = self.gate.enter(head.bytes() + other.bytes(), &NEVER)?;
        let Some(eyes) = &self.eyes else { return Err(Error::NoFace) };
        eyes.check(&head.decode()?, &other.decode()?, work)
    }

    /// Treats one photo.
    pub fn protect(&self, file: &[u8], work: &mut Workspace) -> Result<Protected> {
        self.protect_with(file, Hands::default(), work)
    }

    /// Treats one photo with several threads, and tells of each face.
    ///
    /// The original stays at hand for comparisons, and nothing of it may go into the file but what
    /// `certify::compose` gives: proofs/post-processing.md relies on it.
    pub fn protect_with(
        &self,
        file: &[u8],
        hands: Hands<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        let head = Head::read(file, &self.options.limits)?;
        let _place = self.gate.enter(head.bytes(), hands.stop)?;
        let start = Instant::now();
        let mut photo = head.decode()?;
        let digest = self.ledger.as_ref().map(|_| photo.digest());
        let (mut subjects, mut left, mut changed) = (Vec::new(), Vec::new(), false);
        let (source_format, mut released) = (photo.format(), None);
        match &self.treatment {
            Treatment::None => {}
            Treatment::Noise { plan, secret } => {
                (subjects, changed) = self.add_noise(&mut photo, plan, secret, hands, work)?;
            }
            Treatment::Certify { plan, secret } => {
                let done = self.certify(photo, plan, secret, hands, work)?;
                (photo, subjects, changed) = (done.photo, done.subjects, done.changed);
                released = Some((done.identity, done.way));
            }
            Treatment::Steer { steering, secret } => {
                (subjects, left, changed) =
                    self.steer(&mut photo, steering, secret, hands, work)?;
            }
        }
        hands.go_on()?;
        let mut encoded = photo.encode(&self.options.encoding)?;
        drop(photo);
        if released.is_some() && source_format == Format::Jpeg && encoded.format == Format::Png {
            encoded.notes.push(LATTICE.to_owned());
        }
        let again = !subjects.is_empty() && (self.options.measure || self.options.check);
        let written =
            again.then(|| Photo::decode(&encoded.file, &self.options.limits)).transpose()?;
        let terms = self.terms().filter(|_| !subjects.is_empty() && self.options.receipt);
        let count = subjects.len();
        let mut faces = Vec::new();
        let mut records = Vec::new();
        for subject in subjects {
            hands.go_on()?;
            let (report, record) = self.report(subject, written.as_ref(), work)?;
            faces.push(report);
            records.extend(record);
        }
        let receipt = terms.map(|terms| {
            let file = Sha256::digest(&encoded.file);
            let sha256 = file.iter().map(|byte| format!("{byte:02x}")).collect();
            Receipt::new(terms, sha256, encoded.stripped.clone(), encoded.notes.clone(), records)
        });
        // Last of all: what is stopped or fails costs nothing, and nobody has seen the file yet.
        let total = digest.map(|photo| self.record(&photo, released, count)).transpose()?;
        Ok(Protected {
            file: encoded.file,
            format: encoded.format,
            faces,
            left,
            unchanged: !changed,
            stripped: encoded.stripped,
            notes: encoded.notes,
            total: total.flatten(),
            seconds: start.elapsed().as_secs_f64(),
            receipt,
        })
    }

    /// Writes a release down in the ledger, if there is one and something is claimed (proofs/repeated.md).
    /// Identity and way are those of features that were replaced.
    fn record(
        &self,
        photo: &[u8; 32],
        released: Option<(String, String)>,
        faces: usize,
    ) -> Result<Option<Total>> {
        let (claim, epsilon, noise, way) = match (self.terms(), &self.treatment, released) {
            (Some(terms), Treatment::Noise { plan, secret }, _) => {
                let look = format!("{} {:?}", plan.name(), self.options.look);
                (terms.claim(), plan.method().epsilon, secret.again(&look), None)
            }
            (Some(terms), Treatment::Certify { plan, secret }, Some((identity, way))) => {
                (terms.claim(), plan.method().epsilon, secret.again(&identity), Some(way))
            }
            _ => return Ok(None),
        };
        match (&self.ledger, claim) {
            (None, _) | (_, Claim::None) => Ok(None),
            _ if faces == 0 => Ok(None),
            (Some(ledger), claim) => {
                let entry = Entry::new(photo, epsilon.get(), claim, faces, noise, way);
                ledger.record(entry).map(Some)
            }
        }
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
}
