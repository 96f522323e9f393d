//! How much of the machine the server may take.

use std::time::Duration;

use facedp_engine::Limits;

/// How much of the machine the server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Of one photo.
    pub photo: Limits,
    /// Bytes of all photos that are being uploaded or worked on.
    pub uploads: usize,
    /// Bytes of all results that were not deleted yet.
    pub results: usize,
    /// Jobs that wait, run or keep a result.
    pub jobs: usize,
    /// Time for one job, from the moment that it runs.
    pub job_time: Duration,
    /// Time for one upload.
    pub upload_time: Duration,
    /// Time without a byte, during an upload or before a request's head is complete.
    pub silence: Duration,
    /// How long results are kept.
    pub result_time: Duration,
    /// Open connections; further ones wait.
    pub connections: usize,
    /// Open event streams, in all, of one client and of one photo; further ones are refused. Connections are
    /// left for everything else.
    pub streams: usize,
    pub streams_of_client: usize,
    pub streams_of_photo: usize,
    /// How long an event stream lasts; browsers open the next one.
    pub stream_time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            photo: Limits { file_bytes: 64_000_000, pixels: 64_000_000, bytes: 256_000_000 },
            uploads: 256_000_000,
            results: 256_000_000,
            jobs: 64,
            job_time: Duration::from_secs(600),
            upload_time: Duration::from_secs(120),
            silence: Duration::from_secs(10),
            result_time: Duration::from_secs(600),
            connections: 256,
            streams: 64,
            // A browser has six connections for all its pages.
            streams_of_client: 16,
            streams_of_photo: 2,
            stream_time: Duration::from_secs(60),
        }
    }
}
