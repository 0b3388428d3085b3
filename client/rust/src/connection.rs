//! Connections to the daemon. A lost one is made again by the next call.
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tonic::body::Body;

use crate::client::{client_of, error_of_network, Raw};
use crate::hints::Schemas;
use crate::Error;

/// Time for the connection to one of several addresses, and to a single one.
const CONNECT_TIME_OF_SEVERAL: Duration = Duration::from_secs(2);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Bounds of the bytes that the daemon may send ahead, for a call and for all.
const STREAM_WINDOW_BYTES: u32 = 2 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;
/// After this time without an answer of its network stack, a machine is given up. The daemon does not see that.
const DEAD_AFTER: Duration = Duration::from_secs(20);
/// With several addresses: pings while calls wait, and the time for their answers. Another daemon may have taken over from one that is
/// paused, whose network stack still answers.
const PING_INTERVAL: Duration = Duration::from_secs(5);
const PING_TIME: Duration = Duration::from_secs(5);

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

/// The way to the daemon.
pub(crate) struct Route {
    pub(crate) addresses: Vec<Address>,
    /// The number of the address that is tried first: the one that was reached last, or the one behind it if that was lost.
    pub(crate) first: AtomicUsize,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<(Arc<tokio_rustls::rustls::ClientConfig>, Option<String>)>,
}

/// The result of an attempt to connect, which all waiting calls share.
type Connected = Result<Sender, Arc<Unreachable>>;

/// Why there is no connection. docs/develop/clients/README.md lists the reasons.
#[derive(Debug)]
pub(crate) struct Unreachable {
    pub(crate) reason: String,
    /// A repetition would fail in the same way.
    pub(crate) is_lasting: bool,
}

impl Unreachable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_lasting: false }
    }

    fn of(address: &Address, error: &io::Error) -> Self {
        use io::ErrorKind::{ConnectionRefused, NotFound, TimedOut};
        #[cfg(feature = "tls")]
        if let Some(reason) = error.get_ref().and_then(|reason| reason.downcast_ref()) {
            let (reason, is_lasting) = crate::tls::reason_of(&address.to_string(), reason);
            return Self { reason, is_lasting };
        }
        Self::new(match error.kind() {
            ConnectionRefused => format!("{address} refuses the connection: no daemon listens there"),
            NotFound if address.is_unix() => format!("no daemon listens at {address}: there is no such socket"),
            TimedOut => format!("{address} does not answer a connection in time"),
            _ if error.to_string().contains("lookup") => format!("the name in {address} cannot be resolved"),
            _ => format!("{address} cannot be reached: {error}"),
        })
    }
}

#[derive(Clone)]
struct Sender {
    requests: SendRequest<Body>,
    /// The number of its address.
    address: usize,
}

/// A connection that is made when it is needed.
struct Connection {
    route: Arc<Route>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sender: Option<Sender>,
    connecting: Option<watch::Receiver<Option<Connected>>>,
}

/// Connections, which the calls use in turns.
pub(crate) struct Channels {
    route: Arc<Route>,
    connections: Vec<Connection>,
    turn: AtomicUsize,
    /// Learnt from the daemon that they lead to.
    pub(crate) schemas: Schemas,
}

impl Channels {
    pub(crate) fn new(route: Route, count: usize) -> Self {
        let route = Arc::new(route);
        let connections = (0..count).map(|_| Connection { route: route.clone(), state: Arc::default() }).collect();
        Self { route, connections, turn: AtomicUsize::new(0), schemas: Schemas::default() }
    }

    /// Returns a service over a connection. Errors: the reason why there is none; nothing was sent.
    pub(crate) async fn service(&self) -> Result<Http, Arc<Unreachable>> {
        let turn = match self.connections.len() {
            1 => 0,
            count => self.turn.fetch_add(1, Ordering::Relaxed) % count,
        };
        Ok(Http::new(self.connections[turn].sender().await?))
    }

    /// The addresses, for people.
    pub(crate) fn addresses(&self) -> String {
        self.route.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The daemon at an address cannot serve. If there are others, later calls try those first: it may have been replaced.
    pub(crate) fn leave(&self, address: usize) {
        if self.route.addresses.len() == 1 {
            return;
        }
        self.route.leave(address);
        for connection in &self.connections {
            let mut state = connection.state.lock().expect("no panic with the lock");
            if state.sender.as_ref().is_some_and(|sender| sender.address == address) {
                state.sender = None;
            }
        }
    }
}

impl Connection {
    /// Returns the open connection, or makes one. The making goes on when the caller has lost patience: others wait for it, too.
    async fn sender(&self) -> Connected {
        let mut result = {
            let mut state = self.state.lock().expect("no panic with the lock");
            if let Some(sender) = state.sender.as_ref().filter(|sender| !sender.requests.is_closed()) {
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
        let ended = || Arc::new(Unreachable::new("the connection was not made: its runtime has ended"));
        let made = result.wait_for(Option::is_some).await.map_err(|_| ended())?;
        made.clone().unwrap_or_else(|| Err(ended()))
    }
}

async fn make(route: Arc<Route>, state: Arc<Mutex<State>>, report: watch::Sender<Option<Connected>>) {
    let connected = route.connect().await.map_err(Arc::new);
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
    /// Tries the addresses, each once.
    async fn connect(self: &Arc<Self>) -> Result<Sender, Unreachable> {
        let count = self.addresses.len();
        let patience = if count > 1 { CONNECT_TIME_OF_SEVERAL } else { CONNECT_TIME };
        let first = self.first.load(Ordering::Relaxed);
        let mut last = Unreachable::new("there is no address");
        for number in (first..count).chain(0..first) {
            let address = &self.addresses[number];
            let connected = tokio::time::timeout(patience, self.connect_to(number)).await;
            match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                Ok(sender) => {
                    self.first.store(number, Ordering::Relaxed);
                    return Ok(sender);
                }
                Err(error) => last = Unreachable::of(address, &error),
            }
        }
        Err(last)
    }

    /// Makes the next address the first one, unless that was done before.
    fn leave(&self, address: usize) {
        let next = (address + 1) % self.addresses.len();
        let _ = self.first.compare_exchange(address, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    async fn connect_to(self: &Arc<Self>, address: usize) -> io::Result<Sender> {
        let wire = self.open(&self.addresses[address]).await?;
        let has_others = self.addresses.len() > 1;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(STREAM_WINDOW_BYTES).initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        if has_others {
            builder.timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIME);
        }
        let (requests, connection) = builder.handshake(TokioIo::new(wire)).await.map_err(io::Error::other)?;
        let route = self.clone();
        // It ends with the connection, or with the last sender. Calls get its errors.
        tokio::spawn(async move {
            let _ = connection.await;
            route.leave(address);
        });
        let sender = Sender { requests, address };
        if has_others {
            check(&sender).await?;
        }
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

/// Makes sure that somebody answers: the system also takes connections for a daemon that is paused. Health checks need no credentials,
/// and any answer will do.
async fn check(sender: &Sender) -> io::Result<()> {
    let path = http::uri::PathAndQuery::from_static("/grpc.health.v1.Health/Check");
    let request = tonic::Request::new(bytes::Bytes::new());
    match client_of(Http::new(sender.clone())).unary(request, path, Raw).await {
        Err(status) => error_of_network(&status).map_or(Ok(()), |reason| Err(io::Error::other(reason))),
        Ok(_) => Ok(()),
    }
}

/// Lets the system notice that the other machine is gone.
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
    sender: Sender,
    sent: Arc<AtomicBool>,
}

impl Http {
    fn new(sender: Sender) -> Self {
        Self { sender, sent: Arc::new(AtomicBool::new(false)) }
    }

    /// The number of the address it goes to.
    pub(crate) fn address(&self) -> usize {
        self.sender.address
    }

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
        let answer = self.sender.requests.try_send_request(request);
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
