//! Ranked differential privacy for facial features: the mechanism, as pure maths.
//!
//! This crate implements "RDP: Ranked Differential Privacy for Facial Feature Protection in
//! Multiscale Sparsified Subspace" (Ou, Liao, Gao, Huang, Qin). A face chip `P` has coefficients
//! `C = H P` in an orthonormal basis and features `F = U^T (P - mu)` on eigenfaces. Coefficients
//! are ranked, and the top `K` of them get Laplace noise, with `K` geometric. The scales of the
//! noise minimise the damage to the picture while the features' budget adds up to `eps0`.
//! [`certified`] is a second mechanism: it releases differentially private features.
//!
//! Conventions that are easy to get wrong:
//! - chips are square luma planes of grey levels 0..=255; their side is a power of two;
//! - all bases are orthonormal; Haar coefficients are packed as PyWavelets packs them;
//! - ranks start at 1 and `K >= 1`;
//! - epsilon is relative to the sum of sensitivities unless a method says otherwise;
//! - elsewhere in the field "RDP" means Rényi differential privacy; here it means *ranked* and
//!   occurs only in names of methods.
//!
//! [`Claim`] says what the budget means and what it does not.
//!
//! ```
//! use std::sync::Arc;
//! use facedp::{Epsilon, FeatureModel, Plan, Plane, Preset, TrainingSet, noise};
//!
//! // A toy model of two "people".
//! let mut faces = TrainingSet::new(8)?;
//! for n in 0..6 {
//!     let pixels = (0..64).map(|i| f64::from((i * (n + 3) * 7) % 251)).collect();
//!     faces.push(if n % 2 == 0 { "Ada" } else { "Grace" }, &Plane::new(8, 8, pixels)?)?;
//! }
//! let model = FeatureModel::from_bytes(&FeatureModel::fit(&faces, 3, "a toy")?)?;
//!
//! let method = Preset::RdpOptimal.method(Epsilon::new(0.2)?, 3);
//! let plan = Plan::new(Arc::new(model), method)?; // public: sees no photo
//! assert!((plan.report().budget_spent - 0.2).abs() < 1e-9);
//!
//! let mut random = noise::experiment(1, "a chip");
//! let release = plan.protect(&Plane::zeros(8, 8), &mut random)?; // private: sees one
//! assert_eq!(release.features()?.len(), 3);
//! # Ok::<(), facedp::Error>(())
//! ```

pub mod basis;
mod budget;
pub mod certified;
mod error;
pub mod faces;
mod features;
mod geometric;
mod linear;
mod method;
pub mod metrics;
mod names;
pub mod noise;
mod plan;
mod plane;
mod rank;
mod receipt;
pub mod resample;
mod scale;
mod weights;

pub use budget::Scales;
pub use error::{Error, Result};
pub use features::{FeatureModel, Provenance, TrainingSet};
pub use geometric::Geometric;
pub use method::{Epsilon, Method, Preset, Sensitivity};
pub use plan::{Plan, PlanReport, Release, Sampler};
pub use plane::Plane;
pub use rank::Ranking;
pub use receipt::{Claim, Drawn, Terms};
pub use scale::Solver;
