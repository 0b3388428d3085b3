//! The client: calls with deadline, retries, session and errors.
use std::any::Any;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use tokio::time::Instant;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::connection::{Channels, Unreachable};
use crate::error::CallError;
use crate::observer::{Call, CallResult, Observation};
use crate::operation::{Operation, OperationInfo};
use crate::options::{ClientBuilder, Settings};
use crate::pipeline::Lane;
use crate::retry::{is_read, may_repeat, random_bits, wait};
use crate::session::{table_name, Session};
use crate::table::Table;
use crate::{api, Error, Result};

/// Bound of a response. One of BatchGetItem has up to 16 MB of items.
pub(crate) const RESPONSE_BYTES_MAX: usize = 64 << 20;
/// Size of a request that the daemon reads.
pub(crate) const REQUEST_BYTES_MAX: usize = (16 << 20) + (64 << 10);

/// Makes the calls to a daemon. A program needs one; clones share its connections.
///
/// Dropping the future of a call ends the call. A write that is under way may be applied or not then. The client stays whole, and
/// so do its streams, writers and watches: see their documentation.
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    session: Option<Arc<Session>>,
}

/// What all clones share.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) transport: Transport,
}

/// A way to send requests.
#[derive(Clone)]
pub(crate) enum Transport {
    Channels(Arc<Channels>),
    Pipeline(Arc<Lane>),
}

/// Settings of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallOptions {
    /// Instead of the timeout of the client.
    pub timeout: Option<Duration>,
    /// The call may be done twice without harm, so that it is repeated after its answer was lost.
    pub idempotent: bool,
}

/// A request that is ready to be sent.
pub(crate) struct Encoded {
    pub(crate) info: OperationInfo,
    pub(crate) body: Bytes,
    pub(crate) metadata: MetadataMap,
    pub(crate) deadline: Instant,
    is_read: bool,
    is_harmless: bool,
}

impl Client {
    /// Returns a client of the daemon at an address: "host:port" or "unix:/path". Several addresses of one database, of which one
    /// daemon serves at a time, are separated by commas: calls go to the one that was reached last, and to the next one if that
    /// does not answer or cannot serve.
    ///
    /// It does not connect; the first call does, and a later one after the connection was lost. Calls need a runtime of tokio.
    pub fn new(address: impl Into<String>) -> Result<Self> {
        Self::builder(address).build()
    }

    /// Settings for a client: see [`Client::new`].
    pub fn builder(address: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(address)
    }

    pub(crate) fn from_core(core: Core) -> Self {
        Self { core: Arc::new(core), session: None }
    }

    pub(crate) fn with_transport(&self, settings: Settings, transport: Transport) -> Self {
        Self { core: Arc::new(Core { settings, transport }), session: self.session.clone() }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// Returns a table whose items are `T`: a type with serde, or [`Item`](crate::Item). It makes no call.
    pub fn table<T>(&self, name: impl Into<String>) -> Table<T> {
        Table::new(self.clone(), name.into())
    }

    /// Returns a client that shares the connections and reads its own writes on global indexes, which follow their table with a
    /// short delay: a query or scan of an index waits until the index has the writes that were made through the session.
    /// Reads of tables are not concerned: use `consistent`.
    ///
    /// Other writes, and writes whose outcome is unknown, are not waited for. After the daemon was replaced by an older copy of its
    /// data, reads of indexes fail with ValidationException; begin a new session then.
    #[must_use]
    pub fn session(&self) -> Self {
        self.session_after([])
    }

    /// A session that also sees the writes up to these positions: the `change_sequence` of a write, or the [`Client::position`] of
    /// another session, also of another process.
    #[must_use]
    pub fn session_after(&self, positions: impl IntoIterator<Item = u64>) -> Self {
        Self { core: self.core.clone(), session: Some(Arc::new(Session::after(positions))) }
    }

    /// The position of the last write of a session. `None`: the client has no session, or it has written nothing.
    pub fn position(&self) -> Option<u64> {
        self.session.as_ref().map(|session| session.highest()).filter(|position| *position > 0)
    }

    /// Sends any request of the API, with the retries, the session and the errors of this client.
    ///
    /// ```no_run
    /// # async fn example(client: armature_client::Client) -> Result<(), armature_client::Error> {
    /// use armature_client::api;
    ///
    /// let limits = client.call(&api::DescribeLimitsRequest {}).await?;
    /// # Ok(()) }
    /// ```
    pub async fn call<R: Operation>(&self, request: &R) -> Result<R::Response> {
        self.call_with(request, CallOptions::default()).await
    }

    /// Sends any request of the API, with settings for this call.
    pub async fn call_with<R: Operation>(&self, request: &R, options: CallOptions) -> Result<R::Response> {
        self.call_until(request, options, self.deadline(options.timeout)?).await
    }

    /// The deadline of a call that begins now.
    pub(crate) fn deadline(&self, timeout: Option<Duration>) -> Result<Instant> {
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::argument("timeout", "must be positive"));
        }
        // Far enough for all practical purposes, and near enough for the clock.
        const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 3600);
        Ok(Instant::now() + timeout.unwrap_or(self.settings().timeout).min(TIMEOUT_MAX))
    }

    pub(crate) async fn call_until<R: Operation>(
        &self,
        request: &R,
        options: CallOptions,
        deadline: Instant,
    ) -> Result<R::Response> {
        let session = self.session.as_deref();
        let before = session.map_or(0, |session| session.before(request));
        let mut body = BytesMut::with_capacity(request.encoded_len() + 64);
        request.encode(&mut body).expect("the buffer grows");
        if let Some(session) = session {
            session.prepare(request, &mut body);
        }
        add_token(request, &mut body);
        let is_read = is_read(R::INFO.level, request);
        let is_pipeline = matches!(self.core.transport, Transport::Pipeline(_)) && R::INFO.pipeline_field.is_some();
        let encoded = Encoded {
            info: R::INFO,
            body: body.freeze(),
            metadata: MetadataMap::new(),
            deadline,
            is_read,
            // Later operations of a pipeline may depend on one whose answer was lost.
            is_harmless: options.idempotent || !is_pipeline && may_repeat(R::INFO.level, request),
        };
        let schemas = &self.core.transport.channels().schemas;
        let answer = self.observed(encoded, request.table().map(table_name)).await.map_err(|mut error| {
            if let Some(call) = error.call_mut() {
                call.hint = schemas.hint_of(call, request, request.table());
            }
            error
        })?;
        let response = R::Response::decode(answer).map_err(|error| {
            let message = format!("the answer cannot be decoded: {error}");
            let failed = CallError::bare(R::INFO.name, Code::Internal, message, false).typed();
            if is_read {
                failed
            } else {
                Error::OutcomeUnknown(Box::new(failed))
            }
        })?;
        if let Some(session) = session {
            session.learn(request, &response, before);
        }
        schemas.learn(&response);
        Ok(response)
    }

    async fn observed(&self, mut call: Encoded, table: Option<&str>) -> Result<Bytes> {
        if let Some(authorization) = &self.settings().authorization {
            call.metadata.insert("authorization", authorization.clone());
        }
        let mut attempts = 0;
        if self.settings().observers.is_empty() {
            return self.core.repeat(&call, &mut attempts).await;
        }
        let begun = Call { operation: call.info.name, table };
        let observers = self.settings().observers.iter();
        let observations: Vec<Box<dyn Observation>> = observers.map(|observer| observer.begin(&begun)).collect();
        observations.iter().for_each(|observation| observation.propagate(&mut call.metadata));
        let result = self.core.repeat(&call, &mut attempts).await;
        let end = CallResult { attempts, error: result.as_ref().err() };
        observations.into_iter().rev().for_each(|observation| observation.end(&end));
        result
    }
}

impl Core {
    /// Makes attempts until one succeeds or no other may be made.
    async fn repeat(&self, call: &Encoded, attempts: &mut u32) -> Result<Bytes> {
        let retry = &self.settings.retry;
        let mut maybe_applied = false;
        loop {
            *attempts += 1;
            let failed = match self.transport.attempt(call).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => *failed,
            };
            let is_known = call.is_read || !maybe_applied && failed.is_not_applied();
            let goes_on = *attempts < retry.max_attempts
                && failed.is_transient()
                && (failed.is_not_applied() || call.is_harmless)
                && {
                    maybe_applied |= !failed.is_not_applied();
                    wait(retry.pause(*attempts, failed.retry_after), call.deadline).await
                };
            if !goes_on {
                let error = failed.typed();
                return Err(if is_known { error } else { Error::OutcomeUnknown(Box::new(error)) });
            }
        }
    }
}

/// Gives a transaction a token, so that all attempts are one transaction.
fn add_token(request: &dyn Any, encoded: &mut BytesMut) {
    const TOKEN: u32 = 2;
    let lacks = |token: &Option<String>| token.as_deref().unwrap_or_default().is_empty();
    let needs = match request.downcast_ref::<api::TransactWriteItemsRequest>() {
        Some(request) => lacks(&request.client_request_token),
        None => request
            .downcast_ref::<api::ExecuteTransactionRequest>()
            .is_some_and(|request| lacks(&request.client_request_token)),
    };
    if needs {
        prost::encoding::string::encode(TOKEN, &new_token(), encoded);
    }
}

/// A unique token for a transaction.
pub fn new_token() -> String {
    format!("{:016x}{:016x}", random_bits(), random_bits())
}

impl Transport {
    /// Makes one attempt of a call.
    async fn attempt(&self, call: &Encoded) -> Result<Bytes, Box<CallError>> {
        if call.body.len() > REQUEST_BYTES_MAX {
            let message = format!("the request has {} bytes, more than {REQUEST_BYTES_MAX}", call.body.len());
            return Err(Box::new(CallError::bare(call.info.name, Code::ResourceExhausted, message, true)));
        }
        match self {
            Self::Channels(channels) => channels.attempt(call).await,
            Self::Pipeline(lane) => match call.info.pipeline_field {
                Some(field) => lane.attempt(call, field).await,
                None => lane.channels.attempt(call).await,
            },
        }
    }

    pub(crate) fn channels(&self) -> &Arc<Channels> {
        match self {
            Self::Channels(channels) => channels,
            Self::Pipeline(lane) => &lane.channels,
        }
    }
}

/// A call whose deadline has passed.
pub(crate) fn too_late(operation: &'static str, never_sent: bool) -> Box<CallError> {
    Box::new(CallError::bare(operation, Code::DeadlineExceeded, "the deadline has passed", never_sent))
}

/// A call without connection.
pub(crate) fn not_connected(operation: &'static str, why: &Unreachable) -> Box<CallError> {
    let mut error = CallError::bare(operation, Code::Unavailable, &*why.reason, true);
    error.is_lasting = why.is_lasting;
    Box::new(error)
}

impl Channels {
    async fn attempt(&self, call: &Encoded) -> Result<Bytes, Box<CallError>> {
        let operation = call.info.name;
        let service = match tokio::time::timeout_at(call.deadline, self.service()).await {
            Ok(service) => service.map_err(|reason| not_connected(operation, &reason))?,
            Err(_) => return Err(too_late(operation, true)),
        };
        let sent = service.sent();
        let address = service.address();
        let mut grpc = client_of(service);
        let mut request = tonic::Request::new(call.body.clone());
        *request.metadata_mut() = call.metadata.clone();
        add_agent(request.metadata_mut());
        request.set_timeout(call.deadline.saturating_duration_since(Instant::now()));
        let path = http::uri::PathAndQuery::from_static(call.info.path);
        match tokio::time::timeout_at(call.deadline, grpc.unary(request, path, Raw)).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => {
                if status.code() == Code::Unavailable {
                    self.leave(address);
                }
                Err(Box::new(error_of(operation, &status, !sent.load(Ordering::Acquire), call.deadline)))
            }
            Err(_) => Err(too_late(operation, !sent.load(Ordering::Acquire))),
        }
    }
}

pub(crate) fn client_of(service: crate::connection::Http) -> tonic::client::Grpc<crate::connection::Http> {
    // The authority is of no interest to the daemon.
    let origin = http::Uri::from_static("http://armature");
    tonic::client::Grpc::with_origin(service, origin).max_decoding_message_size(RESPONSE_BYTES_MAX)
}

pub(crate) fn add_agent(metadata: &mut MetadataMap) {
    const AGENT: &str = concat!("armature-rust/", env!("CARGO_PKG_VERSION"));
    metadata.insert("user-agent", MetadataValue::from_static(AGENT));
}

/// The error of a status. One that the network has made, not the daemon, is UNAVAILABLE.
pub(crate) fn error_of(operation: &'static str, status: &Status, never_sent: bool, deadline: Instant) -> CallError {
    let mut error = CallError::new(operation, status, never_sent);
    if let (Some(reason), None) = (error_of_network(status), &error.exception) {
        if Instant::now() >= deadline {
            return *too_late(operation, never_sent);
        }
        error.code = Code::Unavailable;
        error.message = format!("the connection is lost: {reason}");
    }
    error
}

/// The reason of a status that the network has made, not the daemon.
pub(crate) fn error_of_network(status: &Status) -> Option<String> {
    std::error::Error::source(status).map(deepest).map(|text| {
        if text.contains("frame with invalid size") {
            "the other side speaks HTTP/1, and not gRPC".into()
        } else if text.contains("CertificateRequired") {
            "the daemon wants a certificate of the client that it trusts".into()
        } else {
            text
        }
    })
}

fn deepest(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Messages as their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        use bytes::Buf;
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("address", &self.core.transport.channels().addresses())
            .field("has_session", &self.session.is_some())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.core.transport.channels().addresses())
    }
}
