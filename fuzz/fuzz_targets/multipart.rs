//! Bodies of forms, as anybody can send them to the page's server, in pieces of any size.
#![no_main]

mod fixed;

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use facedp_engine::{Limits, Resources, Secret};
use facedp_web::{Bounds, Config, router};
use futures_util::stream;
use libfuzzer_sys::fuzz_target;
use tower::ServiceExt;

static ROUTER: LazyLock<Router> = LazyLock::new(|| {
    let resources = Resources::new(Secret::Seed(1)).expect("resources");
    // Pictures are for the other target: here all are too large.
    let photo = Limits { file_bytes: 10_000, pixels: 1, bytes: 10 };
    let result_time = Duration::from_millis(1);
    let bounds = Bounds { photo, result_time, ..Bounds::default() };
    router(Config { resources, bounds, token: None }, 4680).expect("router")
});

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime")
});

fuzz_target!(|data: &[u8]| {
    fixed::executes(data);
    let Some((&[kind, piece], body)) = data.split_first_chunk() else { return };
    let path = ["detect", "check", "protect"][usize::from(kind) % 3];
    let pieces: Vec<_> = body.chunks(usize::from(piece) + 1).map(<[u8]>::to_vec).collect();
    let body = match piece {
        0 => Body::from(body.to_vec()),
        _ => Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, io::Error>))),
    };
    let request = Request::post(format!("/api/v1/{path}"))
        .header("host", "localhost:4680")
        .header("content-type", "multipart/form-data; boundary=b")
        .body(body)
        .expect("request");
    let answer = RUNTIME.block_on(ROUTER.clone().oneshot(request)).expect("answer");
    assert_ne!(answer.status().as_u16(), 500);
});
