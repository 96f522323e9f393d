//! Which requests are answered, and what the answers allow a browser to do.
//!
//! A page of another site can send requests to this machine. If it changes what its name resolves to (DNS
//! rebinding), it can even read the answers. It cannot change `Host` and `Origin`, which name that site.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::client::Client;
use crate::error::Problem;
use crate::token::Token;

/// Names of this server.
#[derive(Debug, Clone)]
struct Hosts(Arc<[String]>);

impl Hosts {
    /// The names of the loopback interface, with that port.
    pub fn loopback(port: u16) -> Self {
        let names = ["127.0.0.1", "localhost"];
        let with_port = names.iter().map(|name| format!("{name}:{port}"));
        let bare = names.iter().filter(|_| port == 80).map(|name| (*name).to_owned());
        Self(with_port.chain(bare).collect())
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let named = request.uri().authority().map(|authority| authority.as_str());
        let host = text(headers, &header::HOST)?;
        if !host.is_some_and(|host| self.has(host)) || !named.is_none_or(|name| self.has(name)) {
            return Err(Problem::foreign(
                "this server does not have that name: open its own address",
            ));
        }
        // The page that asks must be this server's own.
        let own = |origin: &str| origin.strip_prefix("http://") == host;
        if !text(headers, &header::ORIGIN)?.is_none_or(own) {
            return Err(Problem::foreign("pages of other sites may not use this server"));
        }
        // Browsers send this where they send no origin. A link to the page itself is fine.
        let site = text(headers, &HeaderName::from_static("sec-fetch-site"))?;
        let api = request.uri().path().starts_with("/api/");
        match site {
            Some("cross-site" | "same-site") if api => {
                Err(Problem::foreign("pages of other sites may not use this server"))
            }
            _ => Ok(()),
        }
    }
}

/// A header that may occur once, as text.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(Problem::foreign(format!("the header {name} cannot be read"))),
    }
}

/// Sent with every answer. The page may load files of this server, and show pictures that it has.
const POLICY: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src \
         'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
    // No part of a photo stays in the browser's cache.
    ("cache-control", "no-store"),
];

/// Who is let in.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    hosts: Hosts,
    port: u16,
    token: Option<Token>,
}

impl Guard {
    pub fn new(port: u16, token: Option<Token>) -> Self {
        Self { hosts: Hosts::loopback(port), port, token }
    }

    /// Lets a request in and notes its client, perhaps with cookies for its answer.
    fn admit(&self, request: &mut Request) -> Result<[Option<HeaderValue>; 2], Problem> {
        self.hosts.check(request)?;
        let token =
            self.token.as_ref().map_or(Ok(None), |token| token.admit(request, self.port))?;
        let client = Client::of(request.headers(), self.port);
        let number = client.cookie(request, self.port)?;
        request.extensions_mut().insert(client);
        Ok([token, number])
    }
}

pub(crate) fn guarded(router: Router, guard: Guard) -> Router {
    router.layer(from_fn_with_state(guard, answer))
}

async fn answer(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let mut answer = match guard.admit(&mut request) {
        Ok(cookies) => {
            let mut answer = next.run(request).await;
            for cookie in cookies.into_iter().flatten() {
                answer.headers_mut().append(header::SET_COOKIE, cookie);
            }
            answer
        }
        Err(problem) => problem.into_response(),
    };
    for (name, value) in POLICY {
        let name = HeaderName::from_static(name);
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}
