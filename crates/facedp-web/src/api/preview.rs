//! A photo as a browser can show it: the same picture in a format that all of them read, without metadata.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::{Answer, work};
use crate::app::SharedApp;
use crate::error::Problem;
use crate::upload;

/// Decodes and encodes a photo; nothing is kept.
pub(super) async fn preview(State(app): SharedApp, request: Request) -> Result<Response, Problem> {
    let form = upload::read(&app.bounds, &app.uploads, request, &["photo"]).await;
    let photo = form?.photo("photo")?.file;
    let shared = Arc::clone(&app);
    let recoded = app.inspecting.run(move |work| shared.recoder.protect(photo.as_ref(), work));
    match recoded.await {
        Ok(shown) => {
            let kind = shown.format.media_type();
            let file = work::reserve(&app, shown.file.capacity())?.hold(shown.file);
            Ok(([(header::CONTENT_TYPE, kind)], Body::from(file.body())).into_response())
        }
        Err(error) if error.is_of_photo() => {
            Ok(Json(Answer::<()>::Failed { error }).into_response())
        }
        Err(error) => Err(error),
    }
}
