//! The whole interface: page and API behind the guard.

use std::sync::Arc;

use axum::Router;

use crate::app::{App, Config};
use crate::error::{Problem, Result};
use crate::guard::{Guard, guarded};
use crate::token::Token;
use crate::{api, page};

/// The interface of a server at that port of the loopback interface, without a socket. Loads the networks.
pub fn router(config: Config, port: u16) -> Result<Router> {
    let token = config.token.clone();
    Ok(routes(Arc::new(App::new(config)?), port, token))
}

pub(crate) fn routes(app: Arc<App>, port: u16, token: Option<Token>) -> Router {
    guarded(api::routes(app).merge(page::routes()), Guard::new(port, token))
}

/// What other users of the machine are told.
pub(crate) fn refusal(port: u16, token: Option<Token>) -> Router {
    let refuse =
        || async { Problem::foreign("this server belongs to another user of this machine") };
    guarded(Router::new().fallback(refuse), Guard::new(port, token))
}
