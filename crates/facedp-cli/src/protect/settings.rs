//! From the command line to an engine.

use anyhow::anyhow;
use facedp::{CertifiedPlan, Epsilon, Plan};
use facedp_engine::{
    Encoding, Engine, Error, Goal, Key, Limits, Look, Metadata, Options, Secret, Steering,
    Strength, Treatment,
};

use facedp_engine::ledger::Ledger;

use crate::args::{GoalName, MethodName, Protect, SteerArgs, StrengthName, Switch};
use crate::failure::Failure;
use crate::{key, model};

pub fn engine(args: &Protect) -> Result<Engine, Failure> {
    if args.method != MethodName::Steered
        && let Some(option) = args.steer.given().first()
    {
        let method = args.method;
        return Err(Failure::usage(anyhow!("{option} is for --method steered, not {method}")));
    }
    let treatment = match args.method {
        MethodName::None => {
            for (given, option) in [
                (args.write.receipt, "--receipt"),
                (args.run.require_no_match, "--require-no-match"),
                (args.seed.is_some(), "--seed"),
                (args.key.is_some(), "--key"),
            ] {
                if given {
                    let problem = anyhow!("{option} needs a method: --method none adds no noise");
                    return Err(Failure::usage(problem));
                }
            }
            Treatment::None
        }
        MethodName::Steered => {
            if let Some(option) = args.parameters.of_noise().first() {
                let problem = anyhow!(
                    "{option} is for methods of noise: name one, such as --method rdp-optimal"
                );
                return Err(Failure::usage(problem));
            }
            let steering = Box::new(args.steer.steering(args.parameters.epsilon)?);
            Treatment::Steer { steering, secret: secret(args)? }
        }
        MethodName::Certified => {
            let model = model::load(args.parameters.model.as_deref())?;
            let method = args.parameters.certified(model.features())?;
            let plan = Box::new(CertifiedPlan::new(model, method).map_err(Failure::usage)?);
            // Fresh noise needs no key to be kept; a key is for who wants to repeat it.
            let secret = match (args.seed, &args.key) {
                (None, None) => Secret::Fresh,
                _ => secret(args)?,
            };
            Treatment::Certify { plan, secret }
        }
        MethodName::Preset(preset) => {
            let model = model::load(args.parameters.model.as_deref())?;
            let method = args.parameters.resolve(preset, model.features())?;
            let plan = Box::new(Plan::new(model, method).map_err(Failure::usage)?);
            Treatment::Noise { plan, secret: secret(args)? }
        }
    };
    let mut options = options(args);
    options.ledger = match (&args.ledger, args.method) {
        _ if args.run.dry_run => None,
        (Some(_), MethodName::Steered | MethodName::None) => {
            let problem = anyhow!("--ledger adds up budgets, and {} has none", args.method);
            return Err(Failure::usage(problem));
        }
        (Some(path), _) => Some(path.clone()),
        (None, MethodName::Certified) if !args.no_ledger && args.seed.is_none() => {
            Some(Ledger::usual_path()?)
        }
        _ => None,
    };
    Engine::new(treatment, options).map_err(|error| match error {
        Error::CertifiedMetadata => Failure::usage(error),
        error => error.into(),
    })
}

impl SteerArgs {
    /// The options that were given.
    fn given(&self) -> Vec<&'static str> {
        [
            (self.strength.is_some(), "--strength"),
            (self.goal.is_some(), "--goal"),
            (self.min_psnr.is_some(), "--min-psnr"),
            (self.colour.is_some(), "--colour"),
            (!self.steer_by.is_empty(), "--steer-by"),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
        .collect()
    }

    /// The steering that they describe.
    pub fn steering(&self, epsilon: Epsilon) -> Result<Steering, Failure> {
        let strength = match self.strength {
            Some(StrengthName::Low) => Strength::Low,
            Some(StrengthName::Medium) | None => Strength::Medium,
            Some(StrengthName::High) => Strength::High,
        };
        let goal = self.goal.map_or(Goal::default(), GoalName::goal);
        let usual = Steering::new(strength, goal)?;
        let steering = Steering {
            min_psnr: self.min_psnr.unwrap_or(usual.min_psnr),
            epsilon,
            recognisers: self.steer_by.clone(),
            colour: self.colour != Some(Switch::Off),
            ..usual
        };
        steering.validate().map_err(Failure::usage)?;
        Ok(steering)
    }
}

fn options(args: &Protect) -> Options {
    let look = match args.look.aligned {
        true => Look::Aligned { crop: args.look.crop },
        false => Look::Faces {
            which: args.look.faces.clone(),
            boxes: args.look.boxes.clone(),
            min_score: args.look.min_score,
        },
    };
    let metadata = if args.write.keep_metadata { Metadata::Keep } else { Metadata::Strip };
    let (format, jpeg_quality) = (args.write.format.format(), args.write.jpeg_quality);
    Options {
        look,
        encoding: Encoding { format, jpeg_quality, metadata },
        copy_faceless: args.write.copy_faceless,
        check: !args.run.no_check,
        degrade: false,
        measure: !args.run.no_metrics,
        receipt: args.write.receipt,
        ledger: None,
        limits: Limits::default(),
    }
}

/// Where noise comes from: a seed, a key file, or the user's own key, which is made on first use.
fn secret(args: &Protect) -> Result<Secret, Failure> {
    Ok(match (args.seed, &args.key) {
        (Some(seed), _) => Secret::Seed(seed),
        (None, Some(path)) => Secret::Key(Key::read(path)?),
        // Nothing is drawn, so that no key has to be kept for it.
        (None, None) if args.run.dry_run => Secret::Key(Key::generate()?),
        (None, None) => key::usual()?,
    })
}
