//! Errors of the mechanism. Messages state what is wrong, with which value, and what is allowed.
//! What to do about it is up to the program or page that shows the message.

use thiserror::Error;

use crate::rank::Ranking;

/// An error of the mechanism.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    // -- parameters of a method ------------------------------------------------------------
    #[error("the privacy budget epsilon must be a finite number above 0, not {0}")]
    Epsilon(f64),
    #[error("the geometric parameter p must lie strictly between 0 and 1, not {0}")]
    GeometricP(f64),
    #[error("the significance of na must lie in 0..=1 (0 is the paper's literal formula), not {0}")]
    Significance(f64),
    #[error("the step length eta of lmgd must lie in the paper's range 0.01..=0.1, not {0}")]
    Eta(f64),
    #[error("the tolerance of {solver} must be a finite number above 0, not {value}")]
    Tolerance { solver: &'static str, value: f64 },
    #[error("the model has {available} features: a method takes 1..={available}, not {wanted}")]
    Features { wanted: usize, available: usize },
    #[error("ranking `{ranking}` does not go with `{solver}` scales: {reason}")]
    Combination { ranking: Ranking, solver: &'static str, reason: &'static str },
    #[error("unknown {kind} `{name}`: not one of {known}")]
    Name { kind: &'static str, name: String, known: String },
    /// `feature` counts from 1.
    #[error("feature {feature} gets no noise under this method, so no finite budget covers it")]
    Uncovered { feature: usize },
    #[error("{expected} ranks need as many energies and survivals, not {found}")]
    Ranks { expected: usize, found: usize },
    #[error("at epsilon {epsilon:e} the noise scales leave the range 1e-60..=1e60")]
    ScaleRange { epsilon: f64 },
    /// A budget that `certified` cannot spend exactly.
    #[error("certified spends budgets of {low} to {high}, not {given}")]
    CertifiedEpsilon { given: f64, low: f64, high: f64 },
    /// A public box that no grid fits; `feature` counts from 1.
    #[error(
        "the model's box of feature {feature}, {low} to {high}, is narrower than 1 grey level or \
         reaches beyond 1e9"
    )]
    Box { feature: usize, low: f64, high: f64 },

    // -- shapes ----------------------------------------------------------------------------
    #[error("the plan is for {expected} features, not {found}")]
    Cells { expected: usize, found: usize },
    #[error("a plane of {width}x{height} needs {expected} values, not {found}")]
    PlaneData { width: usize, height: usize, expected: usize, found: usize },
    #[error("expected a plane of {expected_width}x{expected_height}, not {width}x{height}")]
    PlaneSize { expected_width: usize, expected_height: usize, width: usize, height: usize },
    /// `index` is row-major.
    #[error("pixel {index} of the plane is not a finite number")]
    NotFinite { index: usize },
    #[error("the Haar basis needs a square with a power of two as its side, not {width}x{height}")]
    HaarShape { width: usize, height: usize },
    #[error("a side of {side} allows 1..={max} Haar levels, not {levels}")]
    HaarLevels { side: usize, max: u32, levels: u32 },
    #[error("SSIM needs a picture of at least {min}x{min} pixels, not {width}x{height}")]
    TooSmallForSsim { min: usize, width: usize, height: usize },

    // -- drawing ---------------------------------------------------------------------------
    /// It happens with a probability below 2^-300 (proofs/mechanisms.md).
    #[error("the noise does not fit a word")]
    NoiseOverflow,

    // -- training --------------------------------------------------------------------------
    #[error("the side of the face chips must be a power of two from 8 to 1024, not {0}")]
    ChipSide(usize),
    #[error("{features} features need at least {min} pictures, and there are {pictures}")]
    TooFewPictures { features: usize, min: usize, pictures: usize },
    #[error("sensitivities compare different people: at least 2 identities are needed, not {0}")]
    TooFewIdentities(usize),
    #[error("the pictures vary in only {rank} directions, too few for {features} features")]
    Rank { features: usize, rank: usize },
    #[error("the eigenvalue solver did not converge on these pictures")]
    Eigen,

    // -- model files -----------------------------------------------------------------------
    /// Some other kind of file, or a truncated one.
    #[error("not a facedp model: {0}")]
    ForeignModel(String),
    #[error("the model has format version {found}; supported is version {supported}")]
    ModelVersion { found: u64, supported: u64 },
    #[error("the model is damaged: its checksum is {found} instead of {expected}")]
    DamagedModel { expected: String, found: String },
    #[error("the model's `{tensor}` {problem}")]
    ModelTensor { tensor: String, problem: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
