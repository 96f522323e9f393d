//! Forms with photos, read into memory within the room there is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::BodyDataStream;
use axum::extract::Request;
use axum::http::header;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use multer::{Field, Multipart, parse_boundary};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use crate::app::{App, Bounds};
use crate::error::Problem;
use crate::room::{Held, Share};

/// What a form holds besides photos is a few lines.
const MOST_TEXT: u64 = 1 << 16;
/// Bytes that may be on their way between the connection and a field: what a reader of forms keeps while
/// it looks for the next one. Nothing else counts those.
const LOOSE: usize = 1 << 20;
/// Characters of a file's name that are kept.
const NAME: usize = 255;

/// A photo that was sent.
pub(crate) struct Upload {
    /// The file's name, as the browser gave it.
    pub name: String,
    pub file: Held,
}

/// What a form held.
pub(crate) struct Sent {
    photos: Vec<(String, Upload)>,
    pub settings: Option<String>,
}

impl Sent {
    /// Takes a photo out.
    pub fn photo(&mut self, field: &str) -> Result<Upload, Problem> {
        let at = self.photos.iter().position(|(name, _)| name == field);
        let missing =
            || Problem::bad_request(format!("the form has no field `{field}` with a photo"));
        at.map(|at| self.photos.swap_remove(at).1).ok_or_else(missing)
    }
}

/// Reads a form with those fields; all but `settings` hold photos.
pub(crate) async fn read(app: &App, request: Request, fields: &[&str]) -> Result<Sent, Problem> {
    let bounds = &app.config.bounds;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(|kind| parse_boundary(kind).ok());
    let end = Instant::now() + bounds.upload_time;
    let body = Arc::new(Mutex::new(request.into_body().into_data_stream()));
    let read = match boundary {
        None => Err(Problem::not_multipart()),
        Some(boundary) => {
            let loose = Arc::new(AtomicUsize::new(0));
            let form = Multipart::new(counted(Arc::clone(&body), Arc::clone(&loose)), boundary);
            Reading { app, loose, end }.read(form, fields).await
        }
    };
    if read.is_err() {
        drain(&mut *body.lock().await, bounds).await;
    }
    read
}

/// Takes what is sent, and keeps nothing of it: who sends does not listen, and a browser hears the answer
/// only after all was taken from it.
pub(crate) async fn drain(body: &mut BodyDataStream, bounds: &Bounds) {
    let end = Instant::now() + bounds.upload_time;
    while let Ok(Ok(Some(Ok(_)))) = timeout_at(end, timeout(bounds.silence, body.next())).await {}
}

/// A body that fails once too much of it is loose.
fn counted(
    body: Arc<Mutex<BodyDataStream>>,
    loose: Arc<AtomicUsize>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send {
    unfold((body, loose), |(body, loose)| async {
        let next = body.lock().await.next().await?;
        let counted = next.map_err(io::Error::other).and_then(|bytes| {
            let before = loose.fetch_add(bytes.len(), Ordering::Relaxed);
            match before + bytes.len() > LOOSE {
                true => Err(io::Error::other("too much between its fields")),
                false => Ok(bytes),
            }
        });
        Some((counted, (body, loose)))
    })
}

/// A form that is being read.
struct Reading<'a> {
    app: &'a App,
    loose: Arc<AtomicUsize>,
    end: Instant,
}

impl Reading<'_> {
    async fn read(&self, mut form: Multipart<'static>, fields: &[&str]) -> Result<Sent, Problem> {
        let mut read = Sent { photos: Vec::new(), settings: None };
        while let Some(field) = self.in_time(form.next_field()).await? {
            let name = field.name().unwrap_or_default().to_owned();
            let known = read.photos.iter().any(|(other, _)| *other == name);
            if known || (name == "settings" && read.settings.is_some()) {
                return Err(Problem::bad_request(format!("the field `{name}` is there twice")));
            }
            if !fields.contains(&name.as_str()) {
                let fields = fields.join("`, `");
                let name: String = name.chars().take(NAME).collect();
                let message = format!("unknown field `{name}`: known are `{fields}`");
                return Err(Problem::bad_request(message));
            }
            if name == "settings" {
                let text = String::from_utf8(self.body(field, MOST_TEXT).await?.1)
                    .map_err(|_| Problem::bad_request("settings are not UTF-8"))?;
                read.settings = Some(text);
                continue;
            }
            let file_name = field.file_name().unwrap_or("photo").chars().take(NAME).collect();
            let most = self.app.config.bounds.photo.file_bytes;
            let (share, bytes) = self.body(field, most).await?;
            if bytes.is_empty() {
                return Err(Problem::bad_request(format!("the file of `{name}` is empty")));
            }
            read.photos.push((name, Upload { name: file_name, file: share.with(bytes) }));
        }
        Ok(read)
    }

    /// The bytes of a field, with the room that they take.
    async fn body(
        &self,
        mut field: Field<'static>,
        most: u64,
    ) -> Result<(Share, Vec<u8>), Problem> {
        let full =
            || Problem::busy("too many photos are being sent at once: try again in a moment");
        let mut share = self.app.uploads.share(0).ok_or_else(full)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = self.in_time(field.chunk()).await? {
            self.loose.fetch_sub(chunk.len(), Ordering::Relaxed);
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
        Ok((share, bytes))
    }

    /// What is read, if it comes in time.
    async fn in_time<T>(
        &self,
        next: impl Future<Output = multer::Result<T>>,
    ) -> Result<T, Problem> {
        let next = timeout_at(self.end, timeout(self.app.config.bounds.silence, next)).await;
        match next {
            Ok(Ok(Ok(read))) => Ok(read),
            Ok(Ok(Err(why))) => {
                let why = match why {
                    multer::Error::StreamReadFailed(inner) => inner.to_string(),
                    why => why.to_string(),
                };
                Err(Problem::bad_request(format!("not a whole form: {why}")))
            }
            _ => Err(Problem::slow()),
        }
    }
}
