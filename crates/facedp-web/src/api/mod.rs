//! The interface under `/api/v1`, as `openapi.json` describes it.

mod protect;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use facedp_engine::{Checked, Seen};
use serde::Serialize;

use crate::app::{App, Bounds};
use crate::error::Problem;
use crate::methods::{Offer, offer};
use crate::plan::Curves;
use crate::upload;

static DOCUMENT: &str = include_str!("../../openapi.json");
/// What a form takes besides its photos.
const WRAPPING: u64 = 1 << 17;

type Shared = State<Arc<App>>;

pub(crate) fn routes(app: Arc<App>) -> Router {
    let bounds = app.config.bounds;
    let photo = bounds.photo.file_bytes;
    let api = Router::new()
        .route("/openapi.json", get(document))
        .route("/methods", get(methods))
        .route("/plan", get(plan))
        .route("/detect", limited(post(detect), photo + WRAPPING, bounds))
        .route("/check", limited(post(check), 2 * photo + WRAPPING, bounds))
        .route("/protect", limited(post(protect::begin), photo + WRAPPING, bounds))
        .route("/protect/{id}", get(protect::status).delete(protect::forget))
        .route("/protect/{id}/events", get(protect::events))
        .route("/protect/{id}/photo", get(protect::photo))
        .route("/protect/{id}/receipt", get(protect::receipt))
        .with_state(app);
    Router::new()
        .nest("/api/v1", api)
        .fallback(|| async { Problem::unknown("there is nothing at this address") })
        .method_not_allowed_fallback(|| async { Problem::method() })
}

/// Refuses longer requests that say so. Of others, every field has its own limit, and what is between them.
fn limited(route: MethodRouter<Arc<App>>, most: u64, bounds: Bounds) -> MethodRouter<Arc<App>> {
    let check = move |request: Request, next: Next| async move {
        let headers = request.headers();
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let asks_first = headers.contains_key(header::EXPECT);
        match length {
            Some(length) if length > most => {
                if !asks_first {
                    upload::drain(&mut request.into_body().into_data_stream(), &bounds).await;
                }
                Problem::too_large(most).into_response()
            }
            _ => next.run(request).await,
        }
    };
    route.layer(from_fn(check))
}

async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Body::from(DOCUMENT)).into_response()
}

async fn methods(State(app): Shared) -> Json<Offer> {
    Json(offer(&app))
}

async fn plan(State(app): Shared) -> Result<Json<Curves>, Problem> {
    let compute = || app.work(&app.planning, |app, _| Curves::compute(app));
    Ok(Json(app.curves.get_or_try_init(compute).await?.clone()))
}

/// What was found of a photo, or what is wrong with it: a bad photo is no bad request.
#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Looked<T> {
    Done { result: T },
    Failed { error: Problem },
}

impl<T> Looked<T> {
    fn answer(found: Result<T, Problem>) -> Result<Json<Self>, Problem> {
        match found {
            Ok(result) => Ok(Json(Looked::Done { result })),
            Err(error) if error.is_of_a_photo() => Ok(Json(Looked::Failed { error })),
            Err(error) => Err(error),
        }
    }
}

async fn detect(State(app): Shared, request: Request) -> Result<Json<Looked<Seen>>, Problem> {
    let photo = upload::read(&app, request, &["photo"]).await?.photo("photo")?;
    let look = app.work(&app.looking, move |app, work| app.engine.look(photo.file.as_ref(), work));
    Looked::answer(look.await)
}

async fn check(State(app): Shared, request: Request) -> Result<Json<Looked<Checked>>, Problem> {
    let mut form = upload::read(&app, request, &["original", "released"]).await?;
    let (original, released) = (form.photo("original")?, form.photo("released")?);
    let check = app.work(&app.looking, move |app, work| {
        app.engine.check(original.file.as_ref(), released.file.as_ref(), work)
    });
    Looked::answer(check.await)
}
