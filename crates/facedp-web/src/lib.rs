//! facedp as a page on the user's own machine.
//!
//! ```text
//! Server    listens on the loopback interface, bounds connections and times
//!   guard   refuses what does not come from the page itself; sends the policy that keeps it at home
//!   page    HTML, style and scripts, all inside the program
//!   api     detect, protect, check, methods, plan: `openapi.json` describes them
//!     upload   photos into memory, within the room there is
//!     jobs     photos that are treated, watched, fetched and forgotten
//!     settings from JSON to an engine: the same `Engine` as everywhere
//! ```
//!
//! No photo, result or receipt touches the disk, and nothing leaves the machine.

mod api;
mod app;
mod error;
mod guard;
mod jobs;
mod methods;
mod page;
mod plan;
mod room;
mod server;
mod settings;
mod upload;

pub use app::{App, Bounds, Config};
pub use error::{Error, Result};
pub use guard::Hosts;
pub use server::{Server, Stopper, USUAL_PORT};

/// The whole interface, without a socket.
pub fn router(app: std::sync::Arc<App>, hosts: Hosts) -> axum::Router {
    guard::guarded(api::routes(app).merge(page::routes()), hosts)
}
