//! The evaluation: the paper's tables and figures on real data, attacks, audits, and a report that sets
//! the results beside the paper's.

pub mod attacks;
pub mod audit;
mod averaging;
pub mod dataset;
mod error;
pub mod journal;
mod law;
pub mod pairs;
pub mod paper;
pub mod progress;
pub mod protection;
mod quality;
mod recognition;
pub mod report;
pub mod results;
mod sample;
pub mod statistics;
mod task;
pub mod verification;

pub use error::{Error, Result};
pub use task::Task;
