//! Forms with photos, read into memory within the room there is.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Multipart;
use axum::extract::multipart::Field;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout, timeout_at};

use crate::app::{App, Bounds};
use crate::error::Problem;
use crate::room::Share;

/// What a form holds besides photos is a few lines.
const MOST_TEXT: usize = 1 << 16;

/// A photo that was sent.
pub(crate) struct Upload {
    /// The file's name, as the browser gave it.
    pub name: String,
    pub file: Bytes,
}

/// A form.
pub(crate) struct Form {
    photos: Vec<(String, Upload)>,
    pub settings: Option<String>,
}

impl Form {
    /// Takes a photo out.
    pub fn photo(&mut self, field: &str) -> Result<Upload, Problem> {
        let at = self.photos.iter().position(|(name, _)| name == field);
        let missing =
            || Problem::bad_request(format!("the form has no field `{field}` with a photo"));
        at.map(|at| self.photos.swap_remove(at).1).ok_or_else(missing)
    }
}

/// Reads a form with photos in those fields.
pub(crate) async fn read(app: &App, mut form: Multipart, fields: &[&str]) -> Result<Form, Problem> {
    let bounds = &app.config.bounds;
    let end = Instant::now() + bounds.upload_time;
    let read = read_until(app, &mut form, fields, end).await;
    if read.is_err() {
        // Who sends does not listen: a browser hears the answer only after all was taken from it.
        while let Ok(Ok(Ok(Some(_)))) =
            timeout_at(end, timeout(bounds.silence, form.next_field())).await
        {}
    }
    read
}

/// Takes what is sent, and keeps nothing of it.
pub(crate) async fn drain(body: Body, bounds: &Bounds) {
    let end = Instant::now() + bounds.upload_time;
    let mut parts = body.into_data_stream();
    while let Ok(Ok(Some(Ok(_)))) = timeout_at(end, timeout(bounds.silence, parts.next())).await {}
}

async fn read_until(
    app: &App,
    form: &mut Multipart,
    fields: &[&str],
    end: Instant,
) -> Result<Form, Problem> {
    let bounds = &app.config.bounds;
    let mut read = Form { photos: Vec::new(), settings: None };
    loop {
        let next = timeout_at(end, timeout(bounds.silence, form.next_field())).await;
        let next = next.map_err(|_| Problem::slow())?.map_err(|_| Problem::slow())??;
        let Some(field) = next else { return Ok(read) };
        let name = field.name().unwrap_or_default().to_owned();
        let known = read.photos.iter().any(|(other, _)| *other == name);
        if known || (name == "settings" && read.settings.is_some()) {
            return Err(Problem::bad_request(format!("the field `{name}` is there twice")));
        }
        if name == "settings" {
            let text = body(app, field, end, MOST_TEXT as u64).await?.1;
            let text = String::from_utf8(text)
                .map_err(|_| Problem::bad_request("settings are not UTF-8"))?;
            read.settings = Some(text);
        } else if fields.contains(&name.as_str()) {
            let file_name = field.file_name().unwrap_or("photo").to_owned();
            let (share, bytes) = body(app, field, end, bounds.photo.file_bytes).await?;
            if bytes.is_empty() {
                return Err(Problem::bad_request(format!("the file of `{name}` is empty")));
            }
            let upload = Upload { name: file_name, file: share.with(bytes) };
            read.photos.push((name, upload));
        } else {
            let fields = fields.join("`, `");
            let message = format!("unknown field `{name}`: known are `{fields}` and `settings`");
            return Err(Problem::bad_request(message));
        }
    }
}

/// The bytes of a field, with the room that they take.
async fn body(
    app: &App,
    mut field: Field<'_>,
    end: Instant,
    most: u64,
) -> Result<(Share, Vec<u8>), Problem> {
    let silence: Duration = app.config.bounds.silence;
    let full = || Problem::busy("too many photos are being sent at once: try again in a moment");
    let mut share = app.uploads.share(0).ok_or_else(full)?;
    let mut bytes = Vec::new();
    loop {
        let next = timeout_at(end, timeout(silence, field.chunk())).await;
        let next = next.map_err(|_| Problem::slow())?.map_err(|_| Problem::slow())??;
        let Some(chunk) = next else { return Ok((share, bytes)) };
        let length = bytes.len() + chunk.len();
        if length as u64 > most {
            return Err(Problem::too_large(most));
        }
        if length > bytes.capacity() {
            // Room before memory.
            let capacity = (2 * bytes.capacity()).max(length).min(most as usize);
            share.grow(capacity).ok_or_else(full)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&chunk);
    }
}
