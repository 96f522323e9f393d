//! The whole interface: page and API behind the guard.

use std::sync::Arc;

use axum::Router;

use crate::app::{App, Config};
use crate::error::Result;
use crate::guard::{Hosts, guarded};
use crate::{api, page};

/// The interface of a server at that port of the loopback interface, without a socket. Loads the networks.
pub fn router(config: Config, port: u16) -> Result<Router> {
    Ok(routes(Arc::new(App::new(config)?), port))
}

pub(crate) fn routes(app: Arc<App>, port: u16) -> Router {
    guarded(api::routes(app).merge(page::routes()), Hosts::loopback(port))
}
