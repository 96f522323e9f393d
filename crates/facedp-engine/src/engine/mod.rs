//! The pipeline from the bytes of a photo to the bytes of its result and a receipt:
//!
//! ```text
//! photo --decode--> samples --find--> faces --treat--> samples --encode--> result + receipt
//!                                       |                                    |
//!                                       +----- before ----- compare ---------+
//! ```
//!
//! Nothing here depends on which method treats the faces.

mod face;

use std::sync::Arc;
use std::time::Instant;

use facedp::Claim;
use facedp::noise::Randomness;
use facedp_nets::Workspace;
use sha2::{Digest, Sha256};

use crate::check::{Checked, check};
use crate::control::{Control, NEVER};
use crate::detect::{Chosen, DetectedFace, Doubt, MIN_SCORE, Selection};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::key::Secret;
use crate::ledger::{Entry, Ledger, Total};
use crate::methods::{Face, Spent, Treatment, treatment};
use crate::outcome::{Compared, Inspection, Protected, SkippedFace};
use crate::patch::Patch;
use crate::photo::{Head, Photo, Pixels, Source, Untreated};
use crate::receipt::{Receipt, Terms};
use crate::recognise::Trial;
use crate::request::{Check, Request};
use crate::resources::Resources;
use crate::verdict::KnownFace;
use face::Written;

/// Treats photos as a request specifies. It can be shared between threads.
pub struct Engine {
    request: Request,
    resources: Resources,
    treatment: Arc<dyn Treatment>,
    ledger: Option<Ledger>,
}

/// The faces of a photo that are treated, and the others.
#[derive(Default)]
struct Selected {
    faces: Vec<Face>,
    left_out: Vec<DetectedFace>,
    doubts: Vec<Doubt>,
    /// Whether the others are known: any further face of the result was overlooked.
    known: bool,
}

impl Engine {
    /// Prepares everything that does not depend on a photo. Fails if the request cannot be met.
    pub fn new(request: Request, resources: Resources) -> Result<Self> {
        if let Some(format) = request.format.filter(|format| !Format::WRITTEN.contains(format)) {
            return Err(Error::NotWritten { format });
        }
        let treatment = treatment(&request, &resources)?;
        let ledger = resources.ledger.as_deref().map(Ledger::open).transpose()?;
        Ok(Self { request, resources, treatment, ledger })
    }

    /// The same engine with other randomness for `certified`, without a ledger. Nothing is planned anew.
    pub fn with_certified_secret(&self, secret: Secret) -> Self {
        let treatment = self.treatment.with_secret(&secret);
        let resources = Resources { certified_secret: secret, ..self.resources.clone() };
        let treatment = treatment.unwrap_or_else(|| self.treatment.clone());
        Self { request: self.request.clone(), resources, treatment, ledger: None }
    }

    pub fn request(&self) -> &Request {
        &self.request
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Whether the method treats faces at all.
    pub fn changes_faces(&self) -> bool {
        self.treatment.needs().faces
    }

    /// The terms of all results; none if faces are not treated.
    pub fn terms(&self) -> Option<Terms> {
        self.treatment.terms()
    }

    /// A hash of everything that determines results: two engines with the same fingerprint treat a photo in
    /// the same way. It reveals no secret. Run records hold it: the text that is hashed must not change.
    pub fn fingerprint(&self) -> String {
        let encoding = self.request.encoding().fingerprint();
        let all = format!(
            "engine 1: version {}, method {}, selection {}, {encoding}, copy faceless {}",
            env!("CARGO_PKG_VERSION"),
            self.treatment.fingerprint(),
            self.request.selection().fingerprint(),
            self.request.copy_faceless,
        );
        blake3::hash(all.as_bytes()).to_string()
    }

    /// Finds the faces of a photo and lists its metadata, whether or not the method could treat them.
    pub fn inspect(&self, file: &[u8], work: &mut Workspace) -> Result<Inspection> {
        self.look(file, work, |_, faces| Ok((faces, Vec::new())))
    }

    /// Finds out what would be done to a photo, without doing it. Fails where [`Self::protect`] would refuse it.
    pub fn rehearse(&self, file: &[u8], work: &mut Workspace) -> Result<Inspection> {
        self.look(file, work, |photo, faces| {
            let (faces, skipped) = self.without_small(faces)?;
            photo.require_encodable(&self.request.encoding())?;
            Ok((faces, skipped))
        })
    }

    fn look(
        &self,
        file: &[u8],
        work: &mut Workspace,
        judge: impl FnOnce(&Photo, Vec<Face>) -> Result<(Vec<Face>, Vec<SkippedFace>)>,
    ) -> Result<Inspection> {
        let head = Head::read(file, &self.resources.limits)?;
        let _admission = self.resources.gate.enter(head.bytes(), &NEVER)?;
        let photo = head.decode()?;
        let Selected { faces, doubts, .. } = self.faces(&photo, work)?;
        let (faces, skipped) = judge(&photo, faces)?;
        let faces = faces.into_iter().map(|face| face.selected).collect();
        let (width, height, format) = (photo.width(), photo.height(), photo.format());
        let stripped = photo.stripped(&self.request.encoding());
        Ok(Inspection { width, height, format, stripped, faces, skipped, doubts })
    }

    /// Asks recognisers about an existing result.
    pub fn compare(&self, file: &[u8], result: &[u8], work: &mut Workspace) -> Result<Compared> {
        let limits = &self.resources.limits;
        let head = Head::read(file, limits)?;
        let _admission = self.resources.gate.enter(2 * head.bytes(), &NEVER)?;
        let (photo, changed) = (head.decode()?, Photo::decode(result, limits)?);
        let [found, expected] = [&changed, &photo].map(|photo| [photo.width(), photo.height()]);
        if found != expected {
            return Err(Error::ResultSize { found, expected });
        }
        let mut verdicts = Vec::new();
        let faces = self.faces(&photo, work)?.faces;
        let found = match self.checks() && !faces.is_empty() {
            true => self.resources.networks.detector()?.find(&changed, self.min_score(), work)?,
            false => Vec::new(),
        };
        for face in faces {
            verdicts.push(match &face.seen {
                Some(seen) if self.checks() => {
                    let recognisers = self.resources.networks.recognisers()?;
                    let reference = recognisers.reference(&photo, seen, work)?;
                    let known = KnownFace::new(&photo, seen);
                    known.judge(&recognisers, &reference, (&changed, &found), Trial::Plain, work)?
                }
                _ => Vec::new(),
            });
        }
        Ok(Compared { faces: verdicts })
    }

    /// Compares any photo with its original, however it was treated.
    pub fn check(&self, file: &[u8], released: &[u8], work: &mut Workspace) -> Result<Checked> {
        let limits = &self.resources.limits;
        let (head, other) = (Head::read(file, limits)?, Head::read(released, limits)?);
        let _admission = self.resources.gate.enter(head.bytes() + other.bytes(), &NEVER)?;
        self.check_photos(&head.decode()?, &other.decode()?, work)
    }

    /// [`Self::check`] of decoded photos.
    pub fn check_photos(
        &self,
        original: &Photo,
        released: &Photo,
        work: &mut Workspace,
    ) -> Result<Checked> {
        check(original, released, &self.resources.networks, work)
    }

    pub fn protect(&self, file: &[u8], work: &mut Workspace) -> Result<Protected> {
        self.protect_with(file, Control::default(), work)
    }

    /// [`Self::protect`] with several threads, progress reports and a stop flag.
    pub fn protect_with(
        &self,
        file: &[u8],
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        let head = Head::read(file, &self.resources.limits)?;
        self.run(Source::File(head), |photo, work| self.faces(photo, work), control, work)
    }

    /// [`Self::protect_with`] for samples in memory. `Protected::file` holds the samples of the result; its
    /// format is that of files that hold them exactly. Requests that choose a format are refused.
    pub fn protect_pixels(
        &self,
        pixels: Pixels,
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        let Request { format, jpeg_quality, .. } = self.request;
        for (given, setting) in
            [(format.is_some(), "format"), (jpeg_quality.is_some(), "jpeg_quality")]
        {
            if given {
                return Err(Error::Setting { setting, of: "pixels in memory".to_owned() });
            }
        }
        let photo = pixels.into_photo(&self.resources.limits)?;
        self.run(Source::Pixels(photo), |photo, work| self.faces(photo, work), control, work)
    }

    /// Treats the given faces of a photo instead of those that the request selects.
    pub fn protect_faces(
        &self,
        file: &[u8],
        faces: &[DetectedFace],
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        let find = |photo: &Photo, _: &mut Workspace| {
            let faces = faces.iter().map(|face| Face::detected(*face, photo));
            Ok(Selected {
                faces: faces.collect::<Result<_>>()?,
                known: false,
                ..Selected::default()
            })
        };
        let head = Head::read(file, &self.resources.limits)?;
        self.run(Source::File(head), find, control, work)
    }

    /// The whole pipeline. The original is kept for comparisons only: the file may depend on nothing but what
    /// the method returns (proofs/face.md).
    fn run(
        &self,
        source: Source<'_>,
        find: impl FnOnce(&Photo, &mut Workspace) -> Result<Selected>,
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        // Outside of a pool, each layer of a network would have to wake up a thread.
        work.use_two_threads(control.threads > 1 && rayon::current_thread_index().is_some());
        let result = self.run_here(source, find, control, work);
        work.use_two_threads(false);
        result
    }

    fn run_here(
        &self,
        source: Source<'_>,
        find: impl FnOnce(&Photo, &mut Workspace) -> Result<Selected>,
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Protected> {
        let _admission = self.resources.gate.enter(source.bytes(), control.stop)?;
        let start = Instant::now();
        let as_file = matches!(source, Source::File(_));
        let loading = self.asks_recognisers() && self.resources.networks.expect_recognisers();
        let photo = source.decode()?;
        // What loads networks needs the second core more than the detector does.
        let pair = work.uses_two_threads();
        work.use_two_threads(pair && !loading);
        let Selected { faces, left_out, doubts, known } = find(&photo, work)?;
        work.use_two_threads(pair);
        let (mut faces, skipped) = self.without_small(faces)?;
        let mut before = Vec::new();
        for face in &mut faces {
            control.proceed()?;
            face.reference = self.reference(&photo, face, work)?;
            before.push(self.before(&photo, face, work)?);
        }
        let original = Untreated::new(photo);
        let digest = self.ledger.as_ref().map(|_| original.digest());
        let treated = self.treatment.treat(original, &faces, control, work)?;
        control.proceed()?;
        let compares = !faces.is_empty() && (self.request.measure || self.checks());
        let (encoded, photo) = match as_file {
            true => {
                let encoded = treated.photo.encode(&self.request.encoding())?;
                drop(treated.photo);
                let decode = || Photo::decode(&encoded.file, &self.resources.limits);
                let photo = compares.then(decode).transpose()?;
                (encoded, photo)
            }
            false => treated.photo.into_encoded(compares),
        };
        let written = photo.map(|photo| self.written(photo, work)).transpose()?;
        let (mut reports, mut records) = (Vec::new(), Vec::new());
        for ((face, before), change) in faces.iter().zip(before).zip(treated.faces) {
            control.proceed()?;
            let (report, record) = self.report(face, before, change, written.as_ref(), work)?;
            reports.push(report);
            records.extend(record);
        }
        let mut untreated = written.map_or(Vec::new(), |written| written.faces);
        untreated.retain(|found| {
            let same = |face: &DetectedFace| face.rect().overlaps(&found.rect());
            let treated = faces.iter().filter_map(|face| face.seen.as_ref());
            let skipped = skipped.iter().map(|skipped| &skipped.face);
            let doubts = doubts.iter().map(|doubt| &doubt.face);
            known && !treated.chain(skipped).chain(doubts).chain(&left_out).any(same)
        });
        let terms = self.terms().filter(|_| !faces.is_empty() && self.request.receipt);
        let asked = match (&terms, self.checks()) {
            (Some(_), true) => self.resources.networks.recognisers()?.names(),
            _ => Vec::new(),
        };
        let receipt = terms.map(|terms| {
            let file = Sha256::digest(&encoded.file);
            let sha256 = file.iter().map(|byte| format!("{byte:02x}")).collect();
            let (stripped, notes) = (encoded.stripped.clone(), encoded.notes.clone());
            Receipt::new(terms, sha256, stripped, notes, asked, records)
        });
        // The last step: a run that fails or is stopped spends nothing, since nobody has seen the file.
        let total = self.record(digest, treated.spent, faces.len())?;
        Ok(Protected {
            file: encoded.file,
            format: encoded.format,
            faces: reports,
            skipped,
            doubts,
            untreated,
            unchanged: !treated.changed,
            stripped: encoded.stripped,
            notes: encoded.notes,
            total,
            seconds: start.elapsed().as_secs_f64(),
            receipt,
        })
    }

    /// Whether recognisers are asked about faces at all.
    fn asks_recognisers(&self) -> bool {
        let needs = self.treatment.needs();
        needs.faces && (self.checks() || needs.reference)
    }

    /// Whether recognisers are asked about results.
    fn checks(&self) -> bool {
        self.request.check != Check::Off
    }

    /// The result as anybody can read it, with its faces found afresh.
    fn written(&self, photo: Photo, work: &mut Workspace) -> Result<Written> {
        let faces = match self.checks() {
            true => self.resources.networks.detector()?.find(&photo, self.min_score(), work)?,
            false => Vec::new(),
        };
        Ok(Written { photo, faces })
    }

    fn min_score(&self) -> f32 {
        self.request.min_score.unwrap_or(MIN_SCORE)
    }

    /// The faces that the request selects.
    fn faces(&self, photo: &Photo, work: &mut Workspace) -> Result<Selected> {
        let needs = self.treatment.needs();
        if !needs.faces {
            return Ok(Selected::default());
        }
        match self.request.selection() {
            Selection::Crop { side } => {
                let patch = Patch::Square(photo.centre(side)?);
                let seen = match needs.landmarks || self.checks() {
                    true => self.resources.networks.detector()?.central_face(photo, work)?,
                    false => None,
                };
                if needs.landmarks && seen.is_none() {
                    return Err(Error::NoFace);
                }
                let region = patch.region(photo);
                let faces = vec![Face { selected: None, seen, patch, region, reference: None }];
                Ok(Selected { faces, ..Selected::default() })
            }
            Selection::Detected { faces, boxes, min_score } => {
                let detector = self.resources.networks.detector()?;
                let Chosen { faces, left_out, doubts } =
                    detector.choose(photo, &faces, &boxes, min_score, work)?;
                if faces.is_empty() && !self.request.copy_faceless {
                    return Err(Error::NoFace);
                }
                let faces = faces.into_iter().map(|face| Face::detected(face, photo));
                Ok(Selected { faces: faces.collect::<Result<_>>()?, left_out, doubts, known: true })
            }
        }
    }

    /// Separates faces that are too small for the method. Fails if all are.
    fn without_small(&self, faces: Vec<Face>) -> Result<(Vec<Face>, Vec<SkippedFace>)> {
        let min = self.treatment.needs().min_width;
        let width = |face: &Face| face.seen.map_or(f32::INFINITY, |seen| seen.rect[2]);
        let (small, large): (Vec<Face>, Vec<Face>) =
            faces.into_iter().partition(|face| width(face) < min);
        if large.is_empty() && !small.is_empty() {
            return Err(Error::TooSmall { found: small.len(), min });
        }
        let skipped = small.iter().filter_map(|face| {
            let reason = format!(
                "{:.0} pixels wide, too small to be steered: {min} are needed",
                width(face)
            );
            Some(SkippedFace { face: face.seen?, reason })
        });
        Ok((large, skipped.collect()))
    }

    /// Identifies the result of a photo that the method gives no identity, if it is always the same.
    fn repeatable(&self) -> Option<String> {
        let fresh = self.terms().is_some_and(|terms| terms.randomness() == Randomness::System);
        (!fresh).then(|| self.fingerprint()[..16].to_owned())
    }

    /// Records a release in the ledger, if there is one. Releases without a claim count too: they can show
    /// what others hide (proofs/repeated.md).
    fn record(
        &self,
        photo: Option<[u8; 32]>,
        spent: Option<Spent>,
        faces: usize,
    ) -> Result<Option<Total>> {
        let (Some(ledger), Some(photo)) = (&self.ledger, photo) else { return Ok(None) };
        let entry = Entry::new(&photo, &self.request.method.to_string(), faces);
        let claim = self.terms().map_or(Claim::None, |terms| terms.claim());
        let entry = match spent {
            Some(Spent { epsilon, noise, split }) if faces > 0 => {
                Entry { epsilon: Some(epsilon), claim, noise, split, ..entry }
            }
            _ => Entry { noise: self.repeatable(), ..entry },
        };
        ledger.record(entry).map(Some)
    }
}
