//! Jobs: begun with a form, watched, fetched and deleted.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::stream::{Stream, unfold};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::work;
use crate::app::{App, SharedApp};
use crate::client::Client;
use crate::error::Problem;
use crate::jobs::{Job, JobResult, Status};
use crate::{request, upload};

type Id = Result<Path<String>, PathRejection>;

/// A job and its status.
#[derive(Serialize)]
pub(super) struct JobReport {
    id: String,
    /// The file's name.
    name: String,
    /// Where this report is.
    status_url: String,
    /// Where the result is once the state is `done`.
    photo_url: String,
    #[serde(flatten)]
    status: Status,
}

impl JobReport {
    fn of(job: &Job) -> Self {
        let status_url = address(job);
        let photo_url = format!("{status_url}/photo");
        let (id, name) = (job.id.clone(), job.name.clone());
        Self { id, name, status_url, photo_url, status: job.status() }
    }
}

pub(super) async fn begin(State(app): SharedApp, request: Request) -> Result<Response, Problem> {
    let wait = waits(request.uri().query());
    let fields = ["photo", "settings"];
    let mut form = upload::read(&app.bounds, &app.uploads, request, &fields).await?;
    let photo = form.photo("photo")?;
    let request = request::parse(form.settings.as_deref())?;
    let wait = wait?;
    // Before the plan, which takes longer.
    app.jobs.require_room()?;
    let shared = Arc::clone(&app);
    let engine = app.planning.run(move |_| shared.engines.get(request)).await?;
    let job = app.jobs.add(photo.name)?;
    let report = Json(JobReport::of(&job));
    let location = [(header::LOCATION, address(&job))];
    work::start(Arc::clone(&app), Arc::clone(&job), photo.file, engine);
    if wait {
        return Ok((location, when_done(app, job).await?).into_response());
    }
    Ok((StatusCode::ACCEPTED, location, report).into_response())
}

fn address(job: &Job) -> String {
    format!("/api/v1/protect/{}", job.id)
}

/// Whether the sender of a photo waits for the result.
fn waits(query: Option<&str>) -> Result<bool, Problem> {
    let parts = query.unwrap_or_default().split('&');
    let mut given = parts.filter_map(|part| part.strip_prefix("wait="));
    match (given.next(), given.next()) {
        (None | Some("false"), None) => Ok(false),
        (Some("true"), None) => Ok(true),
        _ => Err(Problem::bad_request("`wait` is either true or false, and given once")),
    }
}

/// A photo whose sender waits for it. A sender who leaves stops the work.
struct Awaited {
    app: Arc<App>,
    job: Arc<Job>,
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if !self.job.status().is_final() {
            self.app.jobs.remove(&self.job.id);
        }
    }
}

/// The result, as soon as there is one.
async fn when_done(app: Arc<App>, job: Arc<Job>) -> Result<Response, Problem> {
    let mut changes = job.watch();
    let awaited = Awaited { app, job };
    // It fails only if nobody can change the status any more.
    let _ = changes.wait_for(Status::is_final).await;
    match awaited.job.status() {
        Status::Failed { error } => Err(error),
        Status::Stopped => Err(Problem::stopped()),
        _ => {
            let result = finished(&awaited.job)?;
            awaited.job.mark_fetched();
            Ok(file(&result))
        }
    }
}

/// The result as a file.
fn file(result: &JobResult) -> Response {
    let media_type = result.report.format.media_type();
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
    ]);
    (headers, Body::from(result.file.body())).into_response()
}

pub(super) async fn status(State(app): SharedApp, id: Id) -> Result<Json<JobReport>, Problem> {
    Ok(Json(JobReport::of(&*job(&app, id)?)))
}

pub(super) async fn delete(State(app): SharedApp, id: Id) -> Result<StatusCode, Problem> {
    app.jobs.remove(&job(&app, id)?.id);
    Ok(StatusCode::NO_CONTENT)
}

/// Every change of the status, up to the final one, for a while.
pub(super) async fn events(
    State(app): SharedApp,
    Extension(client): Extension<Client>,
    id: Id,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let job = job(&app, id)?;
    let of_photo = Arc::clone(&job.streams).try_acquire_owned().ok();
    let Some(places) = of_photo.zip(app.streams.place(client)) else {
        let message = "too many event streams are open: ask for the status instead";
        return Err(Problem::busy(message));
    };
    let mut changes = job.watch();
    changes.mark_changed();
    let end = Instant::now() + app.bounds.stream_time;
    let stream = unfold(Some((job, changes, places)), move |state| async move {
        let (job, mut changes, places) = state?;
        timeout_at(end, changes.changed()).await.ok()?.ok()?;
        let report = JobReport::of(&job);
        let is_final = report.status.is_final();
        let event = Event::default().event("status").json_data(report).unwrap_or_default();
        Some((Ok(event), (!is_final).then_some((job, changes, places))))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

pub(super) async fn photo(State(app): SharedApp, id: Id) -> Result<Response, Problem> {
    Ok(file(&*finished(&*job(&app, id)?)?))
}

pub(super) async fn receipt(State(app): SharedApp, id: Id) -> Result<Response, Problem> {
    let result = finished(&*job(&app, id)?)?;
    match &result.receipt {
        Some(receipt) => Ok(Json(receipt).into_response()),
        None => Err(Problem::not_found("no face was changed, so there is no receipt")),
    }
}

fn job(app: &App, id: Id) -> Result<Arc<Job>, Problem> {
    let Path(id) = id.map_err(|_| Problem::not_found("no such photo"))?;
    app.jobs.find(&id)
}

fn finished(job: &Job) -> Result<Arc<JobResult>, Problem> {
    match job.status() {
        Status::Done { result } => Ok(result),
        _ => Err(Problem::not_done()),
    }
}
