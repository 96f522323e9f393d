//! The paper's tables and figures on real data, attacks, and a report that sets the paper's numbers
//! beside ours.

pub mod attacks;
pub mod audit;
mod averaging;
pub mod dataset;
mod error;
pub mod journal;
mod law;
pub mod pairs;
pub mod progress;
mod quality;
mod recognition;
pub mod report;
pub mod results;
pub mod run;
pub mod sample;
pub mod statistics;
pub mod steering;
pub mod verification;

pub use error::{Error, Result};
