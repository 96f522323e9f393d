//! Forms with photos, read into memory within a budget.

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

use crate::bounds::Bounds;
use crate::error::Problem;
use crate::memory::{MemoryBudget, Reservation, ReservedBytes};

/// Bytes of a field that is no photo.
const MAX_TEXT: u64 = 1 << 16;
/// Bytes that the parser of forms may buffer while it looks for the next field. No budget counts them.
const MAX_BUFFERED: usize = 1 << 20;
/// Characters of a file's name that are kept.
const MAX_NAME: usize = 255;

/// An uploaded photo.
pub(crate) struct Upload {
    /// The file's name, as the browser gave it.
    pub name: String,
    pub file: ReservedBytes,
}

/// The fields of a form.
pub(crate) struct Form {
    photos: Vec<(String, Upload)>,
    pub settings: Option<String>,
}

impl Form {
    /// Takes a photo out of the form.
    pub fn photo(&mut self, field: &str) -> Result<Upload, Problem> {
        let at = self.photos.iter().position(|(name, _)| name == field);
        let missing =
            || Problem::bad_request(format!("the form has no field `{field}` with a photo"));
        at.map(|at| self.photos.swap_remove(at).1).ok_or_else(missing)
    }
}

/// Reads a form with these fields; all but `settings` hold photos.
pub(crate) async fn read(
    bounds: &Bounds,
    memory: &MemoryBudget,
    request: Request,
    fields: &[&str],
) -> Result<Form, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(|kind| parse_boundary(kind).ok());
    let end = Instant::now() + bounds.upload_time;
    let body = Arc::new(Mutex::new(request.into_body().into_data_stream()));
    let read = match boundary {
        None => Err(Problem::not_multipart()),
        Some(boundary) => {
            let buffered = Arc::new(AtomicUsize::new(0));
            let form = Multipart::new(counted(Arc::clone(&body), Arc::clone(&buffered)), boundary);
            Reader { bounds, memory, buffered, end }.read(form, fields).await
        }
    };
    if read.is_err() {
        drain(&mut *body.lock().await, bounds).await;
    }
    read
}

/// Reads the rest of a body and drops it. A browser reads the answer only after it has sent everything.
pub(crate) async fn drain(body: &mut BodyDataStream, bounds: &Bounds) {
    let end = Instant::now() + bounds.upload_time;
    while let Ok(Ok(Some(Ok(_)))) = timeout_at(end, timeout(bounds.silence, body.next())).await {}
}

/// A body that fails once too much of it is buffered.
fn counted(
    body: Arc<Mutex<BodyDataStream>>,
    buffered: Arc<AtomicUsize>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send {
    unfold((body, buffered), |(body, buffered)| async {
        let next = body.lock().await.next().await?;
        let counted = next.map_err(io::Error::other).and_then(|bytes| {
            let before = buffered.fetch_add(bytes.len(), Ordering::Relaxed);
            match before + bytes.len() > MAX_BUFFERED {
                true => Err(io::Error::other("too many bytes between its fields")),
                false => Ok(bytes),
            }
        });
        Some((counted, (body, buffered)))
    })
}

struct Reader<'a> {
    bounds: &'a Bounds,
    memory: &'a MemoryBudget,
    buffered: Arc<AtomicUsize>,
    end: Instant,
}

impl Reader<'_> {
    async fn read(&self, mut form: Multipart<'static>, fields: &[&str]) -> Result<Form, Problem> {
        let mut read = Form { photos: Vec::new(), settings: None };
        while let Some(field) = self.in_time(form.next_field()).await? {
            let name = field.name().unwrap_or_default().to_owned();
            let known = read.photos.iter().any(|(other, _)| *other == name);
            if known || (name == "settings" && read.settings.is_some()) {
                return Err(Problem::bad_request(format!("the form has two fields `{name}`")));
            }
            if !fields.contains(&name.as_str()) {
                let fields = fields.join("`, `");
                let name: String = name.chars().take(MAX_NAME).collect();
                let message = format!("unknown field `{name}`: there are `{fields}`");
                return Err(Problem::bad_request(message));
            }
            if name == "settings" {
                let text = String::from_utf8(self.body(field, MAX_TEXT).await?.1)
                    .map_err(|_| Problem::bad_request("the settings are not UTF-8"))?;
                read.settings = Some(text);
                continue;
            }
            let file_name = field.file_name().unwrap_or("photo").chars().take(MAX_NAME).collect();
            let max = self.bounds.photo.file_bytes;
            let (reservation, bytes) = self.body(field, max).await?;
            if bytes.is_empty() {
                return Err(Problem::bad_request(format!("the file of `{name}` is empty")));
            }
            read.photos.push((name, Upload { name: file_name, file: reservation.hold(bytes) }));
        }
        Ok(read)
    }

    /// The bytes of a field, with a reservation for them.
    async fn body(
        &self,
        mut field: Field<'static>,
        max: u64,
    ) -> Result<(Reservation, Vec<u8>), Problem> {
        let full =
            || Problem::busy("too many photos are being sent at once: try again in a moment");
        let mut reservation = self.memory.reserve(0).ok_or_else(full)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = self.in_time(field.chunk()).await? {
            self.buffered.fetch_sub(chunk.len(), Ordering::Relaxed);
            let length = bytes.len() + chunk.len();
            if length as u64 > max {
                return Err(Problem::too_large(max));
            }
            if length > bytes.capacity() {
                // Reserved before it is allocated.
                let capacity = (2 * bytes.capacity()).max(length).min(max as usize);
                reservation.grow(capacity).ok_or_else(full)?;
                bytes.reserve_exact(capacity - bytes.len());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((reservation, bytes))
    }

    /// Fails if nothing comes in time.
    async fn in_time<T>(
        &self,
        next: impl Future<Output = multer::Result<T>>,
    ) -> Result<T, Problem> {
        let next = timeout_at(self.end, timeout(self.bounds.silence, next)).await;
        match next {
            Ok(Ok(Ok(read))) => Ok(read),
            Ok(Ok(Err(why))) => {
                let why = match why {
                    multer::Error::StreamReadFailed(inner) => inner.to_string(),
                    why => why.to_string(),
                };
                Err(Problem::bad_request(format!("incomplete form: {why}")))
            }
            _ => Err(Problem::slow()),
        }
    }
}
