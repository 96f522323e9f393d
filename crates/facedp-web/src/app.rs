//! What all requests share.

use std::sync::Arc;

use axum::extract::State;
use facedp_engine::{Engine, Gate, MethodName, Request, Resources};
use tokio::sync::OnceCell;

use crate::bounds::Bounds;
use crate::engines::Engines;
use crate::error::Result;
use crate::jobs::Jobs;
use crate::memory::MemoryBudget;
use crate::plan::Curves;
use crate::streams::Streams;
use crate::token::Token;
use crate::workers::{Workers, Workspaces};

/// Bytes of decoded photos that may be inspected at once.
const INSPECTED: u64 = 80_000_000;

/// What a server is made from.
pub struct Config {
    /// Its gate bounds the photos that are treated; [`Bounds::photo`] replaces its limits. Its ledger is
    /// for methods whose releases are always added up.
    pub resources: Resources,
    pub bounds: Bounds,
    /// Asked for with every request; none to let every user of the machine in.
    pub token: Option<Token>,
}

/// What all requests share.
pub(crate) struct App {
    pub bounds: Bounds,
    pub resources: Resources,
    /// For photos that are not treated.
    pub inspector: Engine,
    /// For photos that browsers cannot show.
    pub recoder: Engine,
    pub engines: Engines,
    pub jobs: Jobs,
    pub uploads: MemoryBudget,
    pub results: MemoryBudget,
    /// Cores of the machine.
    pub threads: usize,
    /// Nobody who drops a photo waits for those that are being treated: each kind of work has its own
    /// threads.
    pub treating: Workers,
    pub inspecting: Workers,
    pub planning: Workers,
    pub curves: OnceCell<Curves>,
    /// Places for event streams.
    pub streams: Arc<Streams>,
}

pub(crate) type SharedApp = State<Arc<App>>;

impl App {
    /// Loads the networks.
    pub fn new(config: Config) -> Result<Self> {
        let Config { resources, bounds, .. } = config;
        let resources = Resources { limits: bounds.photo, ..resources };
        let gate = Arc::new(Gate::new(INSPECTED));
        // A photo without a face is no error here: the user can draw boxes.
        let inspect = Request { copy_faceless: true, ..Request::default() };
        let apart = Resources { gate, ledger: None, ..resources.clone() };
        let recoder = Engine::new(Request::new(MethodName::None), apart.clone())?;
        let inspector = Engine::new(inspect, apart)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workspaces = Workspaces::default();
        let workers = || Workers::new(threads, &workspaces);
        Ok(Self {
            bounds,
            inspector,
            recoder,
            engines: Engines::new(resources.clone()),
            jobs: Jobs::new(bounds.jobs, bounds.streams_of_photo),
            uploads: MemoryBudget::new(bounds.uploads),
            results: MemoryBudget::new(bounds.results),
            threads,
            treating: workers(),
            inspecting: workers(),
            planning: workers(),
            curves: OnceCell::new(),
            streams: Streams::new(&bounds),
            resources,
        })
    }
}
