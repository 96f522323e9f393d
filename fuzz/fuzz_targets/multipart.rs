//! Bodies of forms, as anybody can send them to the page's server.
#![no_main]

use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use facedp_engine::{Limits, Resources, Secret};
use facedp_web::{Bounds, Config, router};
use libfuzzer_sys::fuzz_target;
use tower::ServiceExt;

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let resources = Resources::new(Secret::Seed(1)).expect("resources");
    // Pictures are for the other target: here all are too large.
    let photo = Limits { file_bytes: 100_000, pixels: 1, bytes: 10 };
    let bounds = Bounds { photo, ..Bounds::default() };
    router(Config { resources, bounds, token: None }, 4680).expect("router")
});

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime")
});

fuzz_target!(|data: &[u8]| {
    let Some((kind, body)) = data.split_first() else { return };
    let path = ["detect", "check", "protect"][usize::from(*kind) % 3];
    let request = Request::post(format!("/api/v1/{path}"))
        .header("host", "localhost:4680")
        .header("content-type", "multipart/form-data; boundary=b")
        .body(Body::from(body.to_vec()))
        .expect("request");
    let answer = RUNTIME.block_on(ROUTER.clone().oneshot(request)).expect("answer");
    assert_ne!(answer.status().as_u16(), 500);
});
