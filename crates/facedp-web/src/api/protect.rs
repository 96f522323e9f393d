//! Treating a photo: begun with a form, watched, fetched, and forgotten.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use serde::Serialize;

use super::Shared;
use crate::error::Problem;
use crate::jobs::{self, Finished, Job, Status};
use crate::settings::Settings;
use crate::upload;

type Id = Result<Path<String>, PathRejection>;

/// A photo and how far it is.
#[derive(Serialize)]
pub(super) struct Told {
    id: String,
    name: String,
    #[serde(flatten)]
    status: Status,
}

impl Told {
    fn of(job: &Job) -> Self {
        Self { id: job.id.clone(), name: job.name.clone(), status: job.status() }
    }
}

pub(super) async fn begin(State(app): Shared, request: Request) -> Result<Response, Problem> {
    let mut sent = upload::read(&app, request, &["photo", "settings"]).await?;
    let photo = sent.photo("photo")?;
    let settings = Settings::parse(sent.settings.as_deref())?;
    let job = app.jobs.add(photo.name)?;
    // Plans take a moment to make and megabytes to keep: this one only says whether it can be made.
    let tried = settings.clone();
    let possible = app.work(&app.planning, move |app, _| tried.engine(app).map(drop)).await;
    if let Err(problem) = possible {
        app.jobs.remove(&job.id);
        return Err(problem);
    }
    let told = Json(Told::of(&job));
    let place = format!("/api/v1/protect/{}", job.id);
    jobs::start(&app, job, photo.file, settings);
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, place)], told).into_response())
}

pub(super) async fn status(State(app): Shared, id: Id) -> Result<Json<Told>, Problem> {
    Ok(Json(Told::of(&*job(&app, id)?)))
}

pub(super) async fn forget(State(app): Shared, id: Id) -> Result<StatusCode, Problem> {
    app.jobs.remove(&job(&app, id)?.id);
    Ok(StatusCode::NO_CONTENT)
}

/// Every change, until it is over.
pub(super) async fn events(
    State(app): Shared,
    id: Id,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let job = job(&app, id)?;
    let mut changes = job.watch();
    changes.mark_changed();
    let stream = unfold(Some((job, changes)), |state| async {
        let (job, mut changes) = state?;
        changes.changed().await.ok()?;
        let told = Told::of(&job);
        let over = told.status.is_over();
        let event = Event::default().event("status").json_data(told).unwrap_or_default();
        Some((Ok(event), (!over).then_some((job, changes))))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

pub(super) async fn photo(State(app): Shared, id: Id) -> Result<Response, Problem> {
    let job = job(&app, id)?;
    let result = finished(&job)?;
    let kind = result.report.format.media_type();
    let kind = HeaderValue::from_static(kind);
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    ]);
    Ok((headers, Body::from(result.file.bytes())).into_response())
}

pub(super) async fn receipt(State(app): Shared, id: Id) -> Result<Response, Problem> {
    let result = finished(&*job(&app, id)?)?;
    match &result.receipt {
        Some(receipt) => Ok(Json(receipt).into_response()),
        None => Err(Problem::unknown("nothing was changed, so there is no receipt")),
    }
}

fn job(app: &crate::App, id: Id) -> Result<Arc<Job>, Problem> {
    let Path(id) = id.map_err(|_| Problem::unknown("no such photo"))?;
    app.jobs.find(&id)
}

fn finished(job: &Job) -> Result<Arc<Finished>, Problem> {
    match job.status() {
        Status::Done { result } => Ok(result),
        _ => Err(Problem::not_done()),
    }
}
