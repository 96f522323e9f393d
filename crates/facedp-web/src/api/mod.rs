//! The API under `/api/v1`, as `openapi.json` describes it.

mod preview;
mod protect;
mod work;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use facedp_engine::{Checked, Inspection};
use serde::Serialize;

use crate::app::{App, SharedApp};
use crate::bounds::Bounds;
use crate::error::Problem;
use crate::methods::{Offer, offer};
use crate::plan::Curves;
use crate::upload;

static DOCUMENT: &str = include_str!("../../openapi.json");
/// Bytes of a form besides its photos.
const FORM_OVERHEAD: u64 = 1 << 17;

pub(crate) fn routes(app: Arc<App>) -> Router {
    let bounds = app.bounds;
    let photo = bounds.photo.file_bytes;
    let api = Router::new()
        .route("/openapi.json", get(document))
        .route("/methods", get(methods))
        .route("/plan", get(plan))
        .route("/detect", limited(post(detect), photo + FORM_OVERHEAD, bounds))
        .route("/preview", limited(post(preview::preview), photo + FORM_OVERHEAD, bounds))
        .route("/check", limited(post(check), 2 * photo + FORM_OVERHEAD, bounds))
        .route("/protect", limited(post(protect::begin), photo + FORM_OVERHEAD, bounds))
        .route("/protect/{id}", get(protect::status).delete(protect::delete))
        .route("/protect/{id}/events", get(protect::events))
        .route("/protect/{id}/photo", get(protect::photo))
        .route("/protect/{id}/receipt", get(protect::receipt))
        .with_state(app);
    Router::new()
        .nest("/api/v1", api)
        .fallback(|| async { Problem::not_found("there is nothing at this address") })
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() })
}

/// Refuses requests whose declared length is larger. Without one, each field has its own limit, and so
/// have the bytes between fields.
fn limited(route: MethodRouter<Arc<App>>, max: u64, bounds: Bounds) -> MethodRouter<Arc<App>> {
    let check = move |request: Request, next: Next| async move {
        let headers = request.headers();
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let asks_first = headers.contains_key(header::EXPECT);
        match length {
            Some(length) if length > max => {
                if !asks_first {
                    upload::drain(&mut request.into_body().into_data_stream(), &bounds).await;
                }
                Problem::too_large(max).into_response()
            }
            _ => next.run(request).await,
        }
    };
    route.layer(from_fn(check))
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Body::from(DOCUMENT)).into_response()
}

async fn methods(State(app): SharedApp) -> Result<Json<Offer>, Problem> {
    Ok(Json(offer(app.resources.model.get()?.features(), &app.bounds)))
}

async fn plan(State(app): SharedApp) -> Result<Json<Curves>, Problem> {
    let model = app.resources.model.get()?;
    let compute = || app.planning.run(move |_| Curves::compute(&model));
    Ok(Json(app.curves.get_or_try_init(compute).await?.clone()))
}

/// What was found in a photo, or what is wrong with it. A bad photo does not make a bad request.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Answer<T> {
    Done { result: T },
    Failed { error: Problem },
}

impl<T> Answer<T> {
    fn of(found: Result<T, Problem>) -> Result<Json<Self>, Problem> {
        match found {
            Ok(result) => Ok(Json(Answer::Done { result })),
            Err(error) if error.is_of_photo() => Ok(Json(Answer::Failed { error })),
            Err(error) => Err(error),
        }
    }
}

async fn detect(
    State(app): SharedApp,
    request: Request,
) -> Result<Json<Answer<Inspection>>, Problem> {
    let form = upload::read(&app.bounds, &app.uploads, request, &["photo"]).await;
    let photo = form?.photo("photo")?.file;
    let shared = Arc::clone(&app);
    let inspect = app.inspecting.run(move |work| shared.inspector.inspect(photo.as_ref(), work));
    Answer::of(inspect.await)
}

async fn check(State(app): SharedApp, request: Request) -> Result<Json<Answer<Checked>>, Problem> {
    let fields = ["original", "released"];
    let mut form = upload::read(&app.bounds, &app.uploads, request, &fields).await?;
    let [original, released] = [form.photo("original")?.file, form.photo("released")?.file];
    let shared = Arc::clone(&app);
    let check = app
        .inspecting
        .run(move |work| shared.inspector.check(original.as_ref(), released.as_ref(), work));
    Answer::of(check.await)
}
