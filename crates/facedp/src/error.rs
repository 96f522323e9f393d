//! Everything that can go wrong in the mechanism, with the value at fault and the remedy.

use thiserror::Error;

/// An error of the mechanism. Each names the value that was wrong and what to do about it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    // -- parameters of a method ------------------------------------------------------------
    /// The privacy budget is not a positive finite number.
    #[error("the privacy budget epsilon must be a finite number above 0, not {0}")]
    Epsilon(f64),
    /// The parameter of the geometric law is outside (0, 1).
    #[error("the geometric parameter p must lie strictly between 0 and 1, not {0}")]
    GeometricP(f64),
    /// The significance of `na` is outside [0, 1].
    #[error("the significance of na must lie in 0..=1 (0 is the paper's literal formula), not {0}")]
    Significance(f64),
    /// The step length of `lmgd` is outside the paper's range.
    #[error("the step length eta of lmgd must lie in the paper's range 0.01..=0.1, not {0}")]
    Eta(f64),
    /// A stopping tolerance is not positive and finite.
    #[error("the tolerance of {solver} must be a finite number above 0, not {value}")]
    Tolerance {
        /// Which solver.
        solver: &'static str,
        /// The value given.
        value: f64,
    },
    /// A method wants more features than the model has, or none.
    #[error("the model has {available} features: choose 1..={available}, not {wanted}")]
    Features {
        /// How many were asked for.
        wanted: usize,
        /// How many there are.
        available: usize,
    },
    /// A ranking and a solver that do not go together.
    #[error("ranking `{ranking}` does not go with `{solver}` scales: {remedy}")]
    Combination {
        /// The ranking.
        ranking: crate::rank::Ranking,
        /// The solver.
        solver: &'static str,
        /// What to use instead.
        remedy: &'static str,
    },
    /// A name that is not one of the known ones.
    #[error("unknown {kind} `{name}`: choose one of {known}")]
    Name {
        /// What kind of name.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The known ones.
        known: String,
    },
    /// The noise leaves a feature bare, so that no finite budget covers it.
    #[error(
        "feature {feature} gets no noise under this method, so no finite budget covers it: \
         use fewer features, a smaller p or another ranking"
    )]
    Uncovered {
        /// The 1-based feature.
        feature: usize,
    },
    /// A proposal or a law that does not fit the coefficients it is for.
    #[error("{expected} ranks need as many energies and survivals, not {found}")]
    Ranks {
        /// Ranks of the problem.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// Scales beyond what floating point or the noise grid can hold.
    #[error("the noise scales leave the range of numbers: use an epsilon between 1e-30 and 1e30")]
    ScaleRange,
    /// A budget that `certified` cannot spend exactly.
    #[error("certified spends budgets of {low} to {high}, not {given}")]
    CertifiedEpsilon {
        /// The budget given.
        given: f64,
        /// The least.
        low: f64,
        /// The most.
        high: f64,
    },
    /// A public box that no grid fits.
    #[error(
        "the model's box of feature {feature}, {low} to {high}, is empty or too far out: train it anew"
    )]
    Box {
        /// Which feature, counted from 1.
        feature: usize,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },

    // -- shapes ----------------------------------------------------------------------------
    /// More or fewer features than a plan is for.
    #[error("the plan is for {expected} features, not {found}")]
    Cells {
        /// How many it is for.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The data of a plane does not fit its size.
    #[error("a plane of {width}x{height} needs {expected} values, not {found}")]
    PlaneData {
        /// Width asked for.
        width: usize,
        /// Height asked for.
        height: usize,
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A plane of the wrong size for a model or a comparison.
    #[error("expected a plane of {expected_width}x{expected_height}, not {width}x{height}")]
    PlaneSize {
        /// Width expected.
        expected_width: usize,
        /// Height expected.
        expected_height: usize,
        /// Width found.
        width: usize,
        /// Height found.
        height: usize,
    },
    /// A pixel is NaN or infinite.
    #[error("pixel {index} of the plane is not a finite number")]
    NotFinite {
        /// Row-major position.
        index: usize,
    },
    /// The Haar transform needs square planes whose side is a power of two.
    #[error("the Haar basis needs a square with a power of two as its side, not {width}x{height}")]
    HaarShape {
        /// Width given.
        width: usize,
        /// Height given.
        height: usize,
    },
    /// More Haar levels than the plane can be halved.
    #[error("a side of {side} allows 1..={most} Haar levels, not {levels}")]
    HaarLevels {
        /// Side of the plane.
        side: usize,
        /// The most levels possible.
        most: u32,
        /// Levels asked for.
        levels: u32,
    },
    /// A picture too small for a structural similarity window.
    #[error("SSIM needs a picture of at least {least}x{least} pixels, not {width}x{height}")]
    TooSmallForSsim {
        /// Side of the window.
        least: usize,
        /// Width found.
        width: usize,
        /// Height found.
        height: usize,
    },

    // -- training --------------------------------------------------------------------------
    /// The side of the training chips is unusable.
    #[error("the side of the face chips must be a power of two from 8 to 1024, not {0}")]
    ChipSide(usize),
    /// Too few pictures for the features asked for.
    #[error(
        "{features} features need at least {least} pictures, and there are {pictures}: \
         add pictures or ask for fewer features"
    )]
    TooFewPictures {
        /// Features asked for.
        features: usize,
        /// Pictures needed.
        least: usize,
        /// Pictures given.
        pictures: usize,
    },
    /// Sensitivities compare different people, so one is not enough.
    #[error("sensitivities compare different people: at least 2 identities are needed, not {0}")]
    TooFewIdentities(usize),
    /// The pictures span fewer dimensions than features were asked for.
    #[error(
        "the pictures vary in only {rank} directions, so {features} features cannot be had: \
         ask for at most {rank} or add different pictures"
    )]
    Rank {
        /// Features asked for.
        features: usize,
        /// Independent directions found.
        rank: usize,
    },
    /// A numerical failure of the eigensolver.
    #[error("the eigenvalue solver did not converge on these pictures")]
    Eigen,

    // -- model files -----------------------------------------------------------------------
    /// Not a model file at all, or cut short.
    #[error("not a facedp model ({0}): make one with `facedp train`")]
    ForeignModel(String),
    /// A model of another version of the format.
    #[error(
        "the model has format version {found}, and this program reads version {supported}: \
         train it again with `facedp train`"
    )]
    ModelVersion {
        /// The version in the file.
        found: u64,
        /// The version this program reads.
        supported: u64,
    },
    /// The content does not match its checksum.
    #[error(
        "the model is damaged (checksum {found} instead of {expected}): copy or train it again"
    )]
    DamagedModel {
        /// Checksum stated in the file.
        expected: String,
        /// Checksum of what was read.
        found: String,
    },
    /// A tensor is missing, misshapen or holds nonsense.
    #[error("the model's `{tensor}` {problem}: train it again with `facedp train`")]
    ModelTensor {
        /// Which tensor.
        tensor: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
