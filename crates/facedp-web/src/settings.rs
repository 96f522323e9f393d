//! From the settings of a form to an engine.

use facedp::certified::Mechanism;
use facedp::{CertifiedMethod, CertifiedPlan, Epsilon, Plan, Preset};
use facedp_engine::{
    Encoding, Engine, Faces, Goal, Look, MIN_SCORE, Metadata, Options, Steering, Strength,
    Treatment,
};
use serde::{Deserialize, Deserializer};

use crate::app::App;
use crate::error::Problem;

/// What can be chosen for a photo. What is left out is what `facedp protect` does without options.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    #[serde(deserialize_with = "given")]
    method: Option<String>,
    #[serde(deserialize_with = "given")]
    strength: Option<Strength>,
    #[serde(deserialize_with = "given")]
    goal: Option<Goal>,
    #[serde(deserialize_with = "given")]
    epsilon: Option<Epsilon>,
    #[serde(deserialize_with = "given")]
    features: Option<usize>,
    #[serde(deserialize_with = "given")]
    mechanism: Option<Mechanism>,
    /// Numbers of the faces that are changed, as they were found; all if none are given.
    #[serde(deserialize_with = "given")]
    faces: Option<Vec<usize>>,
    /// Boxes round faces that were missed.
    boxes: Vec<[f32; 4]>,
    keep_metadata: bool,
}

/// What is given is a value: null is a mistake, not a way to leave it out.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// The budget where none is given.
pub(crate) const USUAL_EPSILON: f64 = 0.2;
/// Budgets that can be given.
pub(crate) const EPSILONS: [f64; 2] = CertifiedMethod::EPSILONS;
/// The method where none is given.
pub(crate) const USUAL_METHOD: &str = "steered";
/// More boxes than anybody draws, more faces than are found, and pixels beyond any photo.
const MOST_BOXES: usize = 100;
const MOST_FACES: usize = 1000;
const FARTHEST: f32 = 1e6;

impl Settings {
    pub fn parse(text: Option<&str>) -> Result<Self, Problem> {
        let Some(text) = text else { return Ok(Self::default()) };
        // Serde would take a list for a struct.
        if !text.trim_start().starts_with('{') {
            return Err(Problem::bad_request("settings: a JSON object is expected"));
        }
        serde_json::from_str(text).map_err(|e| Problem::bad_request(format!("settings: {e}")))
    }

    /// The engine that does what is asked for.
    pub fn engine(self, app: &App) -> Result<Engine, Problem> {
        if self.boxes.len() > MOST_BOXES {
            let count = self.boxes.len();
            return Err(Problem::bad_request(format!(
                "{count} boxes: at most {MOST_BOXES} are taken"
            )));
        }
        let mut places = self.boxes.iter().flatten();
        if let Some(wrong) = places.find(|place| !(0.0..=FARTHEST).contains(*place)) {
            let message = format!("a box at {wrong}: boxes lie in the photo, in pixels of it");
            return Err(Problem::bad_request(message));
        }
        let mut numbers = self.faces.iter().flatten();
        if let Some(wrong) = numbers.find(|number| !(1..=MOST_FACES).contains(*number)) {
            let message = format!("face {wrong}: faces are counted from 1 to {MOST_FACES} at most");
            return Err(Problem::bad_request(message));
        }
        if self.faces.as_ref().is_some_and(Vec::is_empty) && self.boxes.is_empty() {
            return Err(Problem::bad_request("no face is chosen, and no box drawn"));
        }
        let treatment = self.treatment(app)?;
        let certified = matches!(treatment, Treatment::Certify { .. });
        let numbers = self.faces.map(|mut numbers| {
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        });
        let which = numbers.map_or(Faces::All, Faces::Numbers);
        let look = Look::Faces { which, boxes: self.boxes, min_score: MIN_SCORE };
        let metadata = if self.keep_metadata { Metadata::Keep } else { Metadata::Strip };
        let options = Options {
            look,
            encoding: Encoding { metadata, ..Encoding::default() },
            degrade: true,
            receipt: true,
            ledger: app.config.ledger.clone().filter(|_| certified),
            limits: app.config.bounds.photo,
            ..Options::default()
        };
        let engine = app.engine.another(treatment, options);
        let engine = engine.map_err(|error| Problem::from(error).of_settings())?;
        Ok(engine.behind(&app.gate))
    }

    fn treatment(&self, app: &App) -> Result<Treatment, Problem> {
        let method = self.method.as_deref().unwrap_or(USUAL_METHOD);
        let (steered, certified) = (method == "steered", method == "certified");
        for (given, name, fits) in [
            (self.strength.is_some(), "strength", steered),
            (self.goal.is_some(), "goal", steered),
            (self.epsilon.is_some(), "epsilon", !steered),
            (self.features.is_some(), "features", !steered),
            (self.mechanism.is_some(), "mechanism", certified),
        ] {
            if given && !fits {
                return Err(Problem::bad_request(format!("`{name}` is not a setting of {method}")));
            }
        }
        let refused = |e: facedp::Error| Problem::bad_request(e.to_string());
        let epsilon = match self.epsilon {
            Some(epsilon) => epsilon,
            None => Epsilon::new(USUAL_EPSILON).map_err(refused)?,
        };
        let [low, high] = EPSILONS;
        if !(low..=high).contains(&epsilon.get()) {
            let message = format!("epsilon {}: {low} to {high} can be asked for", epsilon.get());
            return Err(Problem::bad_request(message));
        }
        let (model, secret) = (app.config.model.clone(), app.config.secret.clone());
        let features = self.features.unwrap_or(model.features());
        Ok(match method {
            "steered" => {
                let (strength, goal) =
                    (self.strength.unwrap_or_default(), self.goal.unwrap_or_default());
                let steering = Box::new(Steering::new(strength, goal)?);
                Treatment::Steer { steering, secret }
            }
            "certified" => {
                let mechanism = self.mechanism.unwrap_or_default();
                let usual = CertifiedMethod::new(epsilon, features);
                let method = CertifiedMethod { mechanism, ..usual };
                let plan = Box::new(CertifiedPlan::new(model, method).map_err(refused)?);
                Treatment::Certify { plan, secret: app.config.certified.clone() }
            }
            name => {
                let preset: Preset = name.parse().map_err(|_| {
                    let known = Preset::NAMES.iter().map(|(name, _)| *name);
                    let known: Vec<&str> =
                        ["steered", "certified"].into_iter().chain(known).collect();
                    Problem::bad_request(format!("unknown method `{name}`: {}", known.join(", ")))
                })?;
                let plan = Plan::new(model, preset.method(epsilon, features)).map_err(refused)?;
                Treatment::Noise { plan: Box::new(plan), secret }
            }
        })
    }
}
