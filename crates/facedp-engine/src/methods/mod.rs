//! The methods: treatments of the faces of a photo, behind one trait.
//!
//! Adding a method takes a file here, a variant of [`MethodName`], and a line in each of the two functions
//! below that match on it. Nothing else in the engine depends on the method.

mod certified;
mod context;
mod noise;
mod none;
mod steered;

use std::sync::Arc;

use facedp::certified::CertifiedPlan;
use facedp::noise::Randomness;
use facedp::{FeatureModel, Plan};
use facedp_nets::Workspace;

use crate::control::Control;
use crate::detect::DetectedFace;
use crate::error::{Error, Result};
use crate::key::Secret;
use crate::patch::Patch;
use crate::photo::{Photo, Region, Untreated};
use crate::quality::{Original, square};
use crate::receipt::{Details, Terms};
use crate::recognise::{Reference, Trial};
use crate::request::{MethodName, Request};
use crate::resources::Resources;
use crate::steering::Steering;

pub use certified::{embedded_faces, face_sample, keyed_randomness, neighbour};

pub(crate) trait Treatment: Send + Sync {
    /// Everything that determines the result of a photo, on one line. It reveals no secret.
    fn fingerprint(&self) -> String;

    /// The terms of all results; none if faces are not treated.
    fn terms(&self) -> Option<Terms>;

    fn needs(&self) -> Needs;

    /// How results are shown to recognisers by default.
    fn trial(&self) -> Trial {
        Trial::Plain
    }

    /// The same method with other randomness; none if it cannot be had cheaply.
    fn with_secret(&self, _secret: &Secret) -> Option<Arc<dyn Treatment>> {
        None
    }

    /// Treats the faces of a photo. Returns one change per face, in the same order.
    fn treat(
        &self,
        original: Untreated,
        faces: &[Face],
        control: Control<'_>,
        work: &mut Workspace,
    ) -> Result<Treated>;
}

/// What a method needs from the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Needs {
    /// Whether it treats faces at all.
    pub(crate) faces: bool,
    /// Whether it needs landmarks in a face crop too.
    pub(crate) landmarks: bool,
    /// Whether it needs the embeddings of the original faces.
    pub(crate) reference: bool,
    /// Smallest width of a face in pixels; narrower faces are skipped.
    pub(crate) min_width: f32,
}

/// A face to treat.
pub(crate) struct Face {
    /// The detected face; none for a face crop.
    pub(crate) selected: Option<DetectedFace>,
    /// The face that recognisers see: in a face crop, the most central face.
    pub(crate) seen: Option<DetectedFace>,
    pub(crate) patch: Patch,
    /// Pixels that can change.
    pub(crate) region: Region,
    /// The face as recognisers see it in the original. The engine fills it in if the method needs it or
    /// results are checked, and there is a face to see.
    pub(crate) reference: Option<Reference>,
}

impl Face {
    pub(crate) fn detected(face: DetectedFace, photo: &Photo) -> Result<Self> {
        let patch = Patch::face(&face.landmarks)?;
        let region = patch.region(photo);
        Ok(Self { selected: Some(face), seen: Some(face), patch, region, reference: None })
    }

    /// The square in which its quality is measured.
    pub(crate) fn square(&self, photo: &Photo) -> Region {
        self.seen.map_or(self.region, |seen| square(&seen, photo))
    }
}

/// A treated photo.
pub(crate) struct Treated {
    pub(crate) photo: Photo,
    /// One per face.
    pub(crate) faces: Vec<Change>,
    /// Whether any sample changed.
    pub(crate) changed: bool,
    /// None if the method has no budget.
    pub(crate) spent: Option<Spent>,
}

/// The change of a face.
pub(crate) struct Change {
    /// Mean squared change of the chip, before lifting and rounding.
    pub(crate) mse: f64,
    /// Expected value of `mse` under the plan.
    pub(crate) expected_mse: Option<f64>,
    /// What the perceptual quality of the face is measured against; none for the original photo.
    pub(crate) original: Option<Original>,
    /// For the receipt.
    pub(crate) details: Option<Details>,
}

/// The cost of releasing a photo.
pub(crate) struct Spent {
    /// Budget of each face.
    pub(crate) epsilon: f64,
    /// Identifies repeatable noise: the same noise again costs nothing. None for fresh noise.
    pub(crate) noise: Option<String>,
    /// Identifies how features were split off; none if they were not.
    pub(crate) split: Option<String>,
}

/// Facts about a method for front ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The settings of a [`Request`] that belong to it.
    pub settings: &'static [&'static str],
    /// Default source of randomness; none if the method draws nothing.
    pub randomness: Option<Randomness>,
    /// Whether the claim holds only for draws that are published whatever they look like.
    pub published_unseen: bool,
    /// Present participle for progress displays.
    pub activity: &'static str,
}

impl MethodName {
    pub fn info(self) -> MethodInfo {
        match self {
            MethodName::None => none::INFO,
            MethodName::Steered => steered::INFO,
            MethodName::Certified => certified::INFO,
            MethodName::Noise(_) => noise::INFO,
        }
    }
}

/// The method that a request asks for.
pub(crate) fn treatment(request: &Request, resources: &Resources) -> Result<Arc<dyn Treatment>> {
    request.require_settings(request.method.info().settings)?;
    Ok(match request.method {
        MethodName::None => Arc::new(none::Untouched::new(request)?),
        MethodName::Steered => Arc::new(steered::Steered::new(request, resources)?),
        MethodName::Certified => Arc::new(certified::Certified::new(request, resources)?),
        MethodName::Noise(preset) => Arc::new(noise::Noise::new(preset, request, resources)?),
    })
}

/// The plan of a method: everything it decides before it sees a photo.
pub enum AnyPlan {
    Noise(Box<Plan>),
    Certified(Box<CertifiedPlan>),
}

impl Request {
    /// The plan of a method that has one.
    pub fn plan(&self, model: Arc<FeatureModel>) -> Result<AnyPlan> {
        self.require_settings(self.method.info().settings)?;
        match self.method {
            MethodName::Noise(preset) => {
                let method = noise::method(preset, self, model.features())?;
                Ok(AnyPlan::Noise(Box::new(Plan::new(model, method)?)))
            }
            MethodName::Certified => {
                let model = embedded_faces()?;
                let method = certified::method(self, model.features())?;
                Ok(AnyPlan::Certified(Box::new(CertifiedPlan::new(model, method)?)))
            }
            method => Err(Error::NoPlan { method: method.to_string() }),
        }
    }

    /// The settings of `steered` with their defaults filled in.
    pub fn steering(&self) -> Result<Steering> {
        self.require_settings(steered::INFO.settings)?;
        Steering::of(self)
    }
}
