//! Connections to the daemon. A lost one is made again by the next call.
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tonic::body::Body;

use crate::Error;

/// Time for the connection to one of several addresses, and to a single one.
const CONNECT_TIME_OF_SEVERAL: Duration = Duration::from_secs(2);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Bounds of the bytes that the daemon may send ahead, for a call and for all.
const STREAM_WINDOW_BYTES: u32 = 2 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;
/// After this time without an answer of its network stack, a machine is given up. The daemon does not see that.
const DEAD_AFTER: Duration = Duration::from_secs(20);

/// An address of the daemon.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Tcp { host: String, port: u16 },
    Unix(String),
}

impl Address {
    /// Parses addresses with commas between them.
    pub(crate) fn parse_all(text: &str) -> Result<Vec<Self>, Error> {
        text.split(',').map(|part| Self::parse(part.trim())).collect()
    }

    fn parse(text: &str) -> Result<Self, Error> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.to_owned()));
        }
        let wrong = || Error::argument(format!("address {text:?}"), "is not HOST:PORT or unix:PATH");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if host.is_empty() || bare.is_none() && host.contains([':', '/']) {
            return Err(wrong());
        }
        let port = port.parse().map_err(|_| wrong())?;
        Ok(Self::Tcp { host: bare.unwrap_or(host).to_owned(), port })
    }

    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }
}

/// The way to the daemon, constant after the client was made.
pub(crate) struct Route {
    pub(crate) addresses: Vec<Address>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<(Arc<tokio_rustls::rustls::ClientConfig>, Option<String>)>,
}

/// The result of an attempt to connect, which all waiting calls share.
type Connected = Result<SendRequest<Body>, Arc<str>>;

/// A connection that is made when it is needed.
struct Connection {
    route: Arc<Route>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sender: Option<SendRequest<Body>>,
    connecting: Option<watch::Receiver<Option<Connected>>>,
}

/// Connections, which the calls use in turns.
pub(crate) struct Channels {
    connections: Vec<Connection>,
    turn: AtomicUsize,
}

impl Channels {
    pub(crate) fn new(route: Route, count: usize) -> Self {
        let route = Arc::new(route);
        let connections = (0..count).map(|_| Connection { route: route.clone(), state: Arc::default() }).collect();
        Self { connections, turn: AtomicUsize::new(0) }
    }

    /// Returns a service over a connection. Errors: the reason why there is none; nothing was sent.
    pub(crate) async fn service(&self) -> Result<Http, Arc<str>> {
        let turn = match self.connections.len() {
            1 => 0,
            count => self.turn.fetch_add(1, Ordering::Relaxed) % count,
        };
        let sender = self.connections[turn].sender().await?;
        Ok(Http { sender, sent: Arc::new(AtomicBool::new(false)) })
    }
}

impl Connection {
    /// Returns the open connection, or makes one. The making goes on when the caller has lost patience: others wait for it, too.
    async fn sender(&self) -> Connected {
        let mut result = {
            let mut state = self.state.lock().expect("no panic with the lock");
            if let Some(sender) = state.sender.as_ref().filter(|sender| !sender.is_closed()) {
                return Ok(sender.clone());
            }
            match &state.connecting {
                // Without a sender the runtime of the task has ended.
                Some(connecting) if connecting.has_changed().is_ok() => connecting.clone(),
                _ => {
                    let (report, result) = watch::channel(None);
                    state.connecting = Some(result.clone());
                    tokio::spawn(make(self.route.clone(), self.state.clone(), report));
                    result
                }
            }
        };
        let ended = || Arc::from("the connection was not made: its runtime has ended");
        let made = result.wait_for(Option::is_some).await.map_err(|_| ended())?;
        made.clone().unwrap_or_else(|| Err(ended()))
    }
}

async fn make(route: Arc<Route>, state: Arc<Mutex<State>>, report: watch::Sender<Option<Connected>>) {
    let connected = route.connect().await.map_err(|error| Arc::from(error.to_string()));
    {
        let mut state = state.lock().expect("no panic with the lock");
        state.connecting = None;
        state.sender = connected.as_ref().ok().cloned();
    }
    report.send_replace(Some(connected));
}

/// Bytes of TCP, TLS or a Unix socket.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

impl Route {
    /// Tries the addresses in their order.
    async fn connect(&self) -> io::Result<SendRequest<Body>> {
        let patience = if self.addresses.len() > 1 { CONNECT_TIME_OF_SEVERAL } else { CONNECT_TIME };
        let mut last = io::Error::other("there is no address");
        for address in &self.addresses {
            let connected = tokio::time::timeout(patience, self.connect_to(address)).await;
            match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(sender) => return Ok(sender),
                Err(error) => last = io::Error::new(error.kind(), format!("cannot connect to {address}: {error}")),
            }
        }
        Err(last)
    }

    async fn connect_to(&self, address: &Address) -> io::Result<SendRequest<Body>> {
        let wire = self.open(address).await?;
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .handshake(TokioIo::new(wire))
            .await
            .map_err(io::Error::other)?;
        // It ends with the connection, or with the last sender. Calls get its errors.
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn open(&self, address: &Address) -> io::Result<Box<dyn Wire>> {
        match address {
            #[cfg(unix)]
            Address::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                watch_peer(&stream)?;
                self.encrypt(host, stream).await
            }
        }
    }

    #[cfg(feature = "tls")]
    async fn encrypt(&self, host: &str, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        let Some((config, name)) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let name = name.as_deref().unwrap_or(host).to_owned();
        let name = tokio_rustls::rustls::pki_types::ServerName::try_from(name).map_err(io::Error::other)?;
        Ok(Box::new(tokio_rustls::TlsConnector::from(config.clone()).connect(name, stream).await?))
    }

    #[cfg(not(feature = "tls"))]
    async fn encrypt(&self, _host: &str, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        Ok(Box::new(stream))
    }
}

/// Lets the system notice that the other machine is gone. gRPC's own pings would be too many for the daemon.
fn watch_peer(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(DEAD_AFTER))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(DEAD_AFTER))?;
    Ok(())
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{path}"),
        }
    }
}

/// The service for one call over a connection.
pub(crate) struct Http {
    sender: SendRequest<Body>,
    sent: Arc<AtomicBool>,
}

impl Http {
    /// Whether the request may have reached the daemon, also after the call was dropped.
    pub(crate) fn sent(&self) -> Arc<AtomicBool> {
        self.sent.clone()
    }
}

impl tower_service::Service<http::Request<Body>> for Http {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn std::future::Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        self.sent.store(true, Ordering::Release);
        let sent = self.sent.clone();
        let answer = self.sender.try_send_request(request);
        Box::pin(async move {
            answer.await.map_err(|mut failed| {
                // The connection has given the request back: it had ended before.
                if failed.take_message().is_some() {
                    sent.store(false, Ordering::Release);
                }
                failed.into_error()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let all = Address::parse_all("db1:7700, [::1]:80,unix:/run/a.sock").unwrap();
        assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), ["db1:7700", "::1:80", "unix:/run/a.sock"]);
        for wrong in ["", "host", ":80", "host:", "host:70000", "http://host:80", "::1:80", "a:1,,b:2"] {
            assert!(Address::parse_all(wrong).is_err(), "{wrong}");
        }
    }
}
