//! The token: what tells the user of this page from other users of the machine.
//!
//! Whoever is logged in on the machine can connect to the port. Only the user sees the address that the program
//! prints, and the token in it. The page's first answer sets a cookie with it, which the browser sends from then on;
//! programs send it as a bearer token.

use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};

use crate::client::{cookie, cookies, random_number};
use crate::error::{Error, Problem, Result};

/// 128 secret bits as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A new one from the system's entropy.
    pub fn generate() -> Result<Self> {
        let number = random_number().map_err(|e| Error::Start(std::io::Error::other(e)))?;
        Ok(Self(number))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where a guess is wrong.
    fn is(&self, guess: &str) -> bool {
        let differ = |(a, b): (u8, u8)| a ^ b;
        let pairs = self.0.bytes().zip(guess.bytes());
        guess.len() == self.0.len() && pairs.map(differ).fold(0, |all, one| all | one) == 0
    }

    /// Whether a request has the token. A link to the page may have it in its address: the answer then sets the
    /// cookie.
    pub(crate) fn admit(
        &self,
        request: &Request,
        port: u16,
    ) -> Result<Option<HeaderValue>, Problem> {
        let headers = request.headers();
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let bearer = texts(header::AUTHORIZATION).filter_map(|text| text.strip_prefix("Bearer "));
        let name = cookie_name(port);
        let known = cookies(headers).filter(|(key, _)| *key == name).map(|(_, value)| value);
        if bearer.chain(known).any(|guess| self.is(guess)) {
            return Ok(None);
        }
        let query = request.uri().query().unwrap_or_default();
        let given = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let is_page = request.method() == Method::GET && request.uri().path() == "/";
        match given.filter(|guess| is_page && self.is(guess)) {
            Some(_) => cookie(&name, &self.0).map(Some),
            None => Err(Problem::no_token()),
        }
    }
}

/// Cookies are shared by all ports of a host: the name tells two servers apart.
fn cookie_name(port: u16) -> String {
    format!("facedp-{port}")
}
