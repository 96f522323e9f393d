//! Ranked differential privacy for facial features: the mechanism, as pure maths.
//!
//! It follows "RDP: Ranked Differential Privacy for Facial Feature Protection in Multiscale
//! Sparsified Subspace" (Ou, Liao, Gao, Huang, Qin). A face chip `P` has coefficients `C = H P`
//! in an orthonormal basis and features `F = U^T (P - mu)` on eigenfaces. Coefficients are
//! ranked, a geometric number `K` of the top ones get Laplace noise, and the scales of that
//! noise are chosen so that the picture suffers least while the features' budget adds up to
//! `eps0`.
//!
//! Conventions that are easy to get wrong:
//! - chips are luma planes, grey levels 0..=255, square, with a power of two as their side;
//! - all bases are orthonormal; Haar coefficients are packed as PyWavelets packs them;
//! - ranks start at 1 and `K >= 1`;
//! - epsilon is relative to the sum of sensitivities unless a method says otherwise;
//! - a bare "RDP" means Rényi differential privacy to most people in the field: here it is
//!   always *ranked* and only part of a method's name.
//!
//! What the budget means, and what it does not, is in [`receipt::Claim`].
//!
//! ```
//! use std::sync::Arc;
//! use facedp::{Epsilon, FeatureModel, Plan, Plane, Preset, TrainingSet, noise};
//!
//! // A toy model of two "people"; `facedp train` makes real ones.
//! let mut faces = TrainingSet::new(8)?;
//! for n in 0..6 {
//!     let pixels = (0..64).map(|i| f64::from((i * (n + 3) * 7) % 251)).collect();
//!     faces.push(if n % 2 == 0 { "Ada" } else { "Grace" }, &Plane::new(8, 8, pixels)?)?;
//! }
//! let model = FeatureModel::from_bytes(&FeatureModel::fit(&faces, 3, "a toy")?)?;
//!
//! let method = Preset::RdpOptimal.method(Epsilon::new(0.2)?, 3);
//! let plan = Plan::new(Arc::new(model), method)?; // public: no photo
//! assert!((plan.report().budget_spent - 0.2).abs() < 1e-9);
//!
//! let mut random = noise::experiment(1, "a chip");
//! let release = plan.protect(&Plane::zeros(8, 8), &mut random)?; // private
//! assert_eq!(release.features()?.len(), 3);
//! # Ok::<(), facedp::Error>(())
//! ```

pub mod basis;
pub mod budget;
pub mod certified;
pub mod error;
pub mod features;
pub mod geometric;
mod linear;
pub mod method;
pub mod metrics;
pub mod noise;
pub mod plan;
pub mod plane;
pub mod rank;
pub mod receipt;
pub mod resample;
pub mod scale;
pub mod weights;

pub use basis::Basis;
pub use certified::{CertifiedMethod, CertifiedPlan, Mechanism};
pub use error::{Error, Result};
pub use features::{FeatureModel, TrainingSet};
pub use geometric::Geometric;
pub use method::{Epsilon, Method, Preset, Sensitivity};
pub use metrics::Quality;
pub use noise::Randomness;
pub use plan::{Plan, PlanReport, Release, Sampler};
pub use plane::Plane;
pub use rank::Ranking;
pub use receipt::{Claim, Drawn, Terms};
pub use scale::Solver;
