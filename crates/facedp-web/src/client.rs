//! Clients: which requests come from the same browser.
//!
//! The page's first answer gives each browser a number in a cookie. Requests without one, those of programs, count as
//! one client. The numbers share out what there is; they keep nobody out, since whoever is let in can ask for another.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use rand_core::TryRng;

use crate::error::Problem;

/// Who asks; without a number, a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Client(Option<u128>);

impl Client {
    pub fn of(headers: &HeaderMap, port: u16) -> Self {
        let name = cookie_name(port);
        let number = cookies(headers).find(|(key, _)| *key == name);
        Self(number.and_then(|(_, number)| u128::from_str_radix(number, 16).ok()))
    }

    /// A cookie with a number for the browser that opens the page and has none.
    pub fn cookie(self, request: &Request, port: u16) -> Result<Option<HeaderValue>, Problem> {
        let is_page = request.method() == Method::GET && request.uri().path() == "/";
        if self.0.is_some() || !is_page {
            return Ok(None);
        }
        let number = random_number().map_err(Problem::defect)?;
        cookie(&cookie_name(port), &number).map(Some)
    }
}

fn cookie_name(port: u16) -> String {
    format!("facedp-{port}-client")
}

/// The cookies of a request: names and values.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

/// A cookie for this server's own pages and no script.
pub(crate) fn cookie(name: &str, value: &str) -> Result<HeaderValue, Problem> {
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict");
    HeaderValue::from_str(&text).map_err(|_| Problem::defect("a cookie cannot be written"))
}

/// 128 bits of the system's entropy as hexadecimal digits.
pub(crate) fn random_number() -> Result<String, String> {
    let mut bytes = [0; 16];
    let entropy = getrandom::SysRng.try_fill_bytes(&mut bytes);
    entropy.map_err(|e| format!("no entropy: {e}"))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}
