//! Listening on the loopback interface, within bounds.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;

use crate::app::{App, Config};
use crate::error::{Error, Result};
use crate::peer::Owner;
use crate::places::Places;
use crate::router::{refusal, routes};
use crate::token::Token;

const DEFAULT_PORT: u16 = 4680;
/// Bytes of a connection that are read ahead.
const BUFFER: usize = 1 << 16;
/// How long running jobs may take to stop.
const SHUTDOWN: Duration = Duration::from_millis(700);

/// A server that has its port and its networks.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<Token>,
    app: Arc<App>,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Takes a port: the one given, or else 4680, or any free one if that is taken.
    pub fn bind(port: Option<u16>, config: Config) -> Result<Self> {
        let listen = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => listen(port).map_err(|reason| Error::Listen { port, reason })?,
            None => match listen(DEFAULT_PORT) {
                Err(taken) if taken.kind() == ErrorKind::AddrInUse => listen(0),
                listener => listener,
            }
            .map_err(|reason| Error::Listen { port: DEFAULT_PORT, reason })?,
        };
        let address = listener.local_addr().map_err(Error::Start)?;
        let token = config.token.clone();
        let app = Arc::new(App::new(config)?);
        Ok(Self { listener, address, token, app, stop: watch::channel(false).0 })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("?token={}", token.as_str()));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }

    /// The address of the API.
    pub fn api(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// A function that ends [`Server::run`], from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static + use<> {
        let stop = self.stop.clone();
        move || {
            stop.send_replace(true);
        }
    }

    /// Serves until stopped.
    pub fn run(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(Error::Start)?;
        let app = Arc::clone(&self.app);
        let served = runtime.block_on(self.serve());
        app.jobs.stop_all();
        runtime.shutdown_timeout(SHUTDOWN);
        served
    }

    async fn serve(self) -> Result<()> {
        self.listener.set_nonblocking(true).map_err(Error::Start)?;
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(Error::Start)?;
        let bounds = self.app.bounds;
        let (server, token) = (self.address, self.token);
        // Without a token, everybody is let in.
        let owner = token.as_ref().map(|_| Owner::own());
        let service = routes(Arc::clone(&self.app), server.port(), token.clone());
        let [service, refusal] =
            [service, refusal(server.port(), token)].map(TowerToHyperService::new);
        let places = Arc::new(Places::new(bounds.connections));
        let mut stop = self.stop.subscribe();
        let accept = async {
            loop {
                let Some(place) = places.take().await else { return };
                let Ok((stream, client)) = listener.accept().await else {
                    // Most likely out of file descriptors: wait until some are closed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (service, refusal) = (service.clone(), refusal.clone());
                let places = Arc::clone(&places);
                tokio::spawn(async move {
                    let foreign = owner.is_some_and(|owner| owner.is_foreign(server, client));
                    let place = if foreign { places.move_apart(place) } else { Some(place) };
                    let Some(_place) = place else { return };
                    let service = if foreign { refusal } else { service };
                    let mut http = http1::Builder::new();
                    http.timer(TokioTimer::new()).header_read_timeout(bounds.silence);
                    http.max_buf_size(BUFFER);
                    // A client that does not read must not hold a result for ever.
                    let mut stream = TimeoutStream::new(stream);
                    stream.set_write_timeout(Some(bounds.silence));
                    let stream = TokioIo::new(Box::pin(stream));
                    // Clients may disconnect at any time.
                    let _ = http.serve_connection(stream, service).await;
                });
            }
        };
        let ended = stop.wait_for(|stop| *stop);
        futures_util::pin_mut!(accept, ended);
        futures_util::future::select(accept, ended).await;
        Ok(())
    }
}
