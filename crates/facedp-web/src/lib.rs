//! facedp as a page on the user's own machine.
//!
//! ```text
//! server      listens on the loopback interface, bounds connections and times
//!   peer      refuses connections of other users of the machine, where the system names them
//! router
//!   guard     refuses requests of other sites and without the token; sends the policy that keeps the page at home
//!   client    tells browsers apart, so that none takes all event streams
//!   page      HTML, style and scripts, all inside the program
//!   api       detect, preview, protect, check, methods, plan: `openapi.json` describes them
//!     upload    photos into memory, within a budget
//!     request   settings of a form, within the limits of a server
//!     engines   the same `Engine` as everywhere, shared between jobs
//!     jobs      photos that are treated, watched, fetched and deleted
//! ```
//!
//! Dependencies run one way: `api` knows `App`, which is only data; nothing that `App` holds
//! knows it. No photo, result or receipt touches the disk, and nothing leaves the machine.

mod api;
mod app;
mod bounds;
mod client;
mod engines;
mod error;
mod guard;
mod jobs;
mod memory;
mod methods;
mod page;
mod peer;
mod places;
mod plan;
mod request;
mod router;
mod server;
mod streams;
mod token;
mod upload;
mod workers;

pub use app::Config;
pub use bounds::Bounds;
pub use error::Error;
pub use router::router;
pub use server::Server;
pub use token::Token;
