//! The page: a few files inside the program.

use axum::Router;
use axum::body::Body;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($(($address:literal, $kind:expr, $file:literal)),+ $(,)?) => {
        const FILES: &[(&str, &str, &str)] =
            &[$(($address, $kind, include_str!(concat!("../page/", $file)))),+];
    };
}

files![
    ("/", HTML, "index.html"),
    ("/style.css", STYLE, "style.css"),
    ("/icon.svg", PICTURE, "icon.svg"),
    ("/app.js", SCRIPT, "app.js"),
    ("/api.js", SCRIPT, "api.js"),
    ("/card.js", SCRIPT, "card.js"),
    ("/chart.js", SCRIPT, "chart.js"),
    ("/dom.js", SCRIPT, "dom.js"),
    ("/faces.js", SCRIPT, "faces.js"),
    ("/method.js", SCRIPT, "method.js"),
    ("/viewer.js", SCRIPT, "viewer.js"),
    ("/words.js", SCRIPT, "words.js"),
    ("/zip.js", SCRIPT, "zip.js"),
];

pub(crate) fn routes() -> Router {
    FILES.iter().fold(Router::new(), |router, (address, kind, text)| {
        let answer =
            || async { ([(header::CONTENT_TYPE, *kind)], Body::from(*text)).into_response() };
        router.route(address, get(answer))
    })
}

#[cfg(test)]
mod tests {
    use super::FILES;

    /// So that it opens at once.
    #[test]
    fn the_page_is_small() {
        let bytes: usize = FILES.iter().map(|(.., text)| text.len()).sum();
        assert!(bytes <= 200_000, "{bytes}");
    }
}
