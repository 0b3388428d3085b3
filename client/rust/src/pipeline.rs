//! Many concurrent operations over one stream.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::encoding::{decode_key, decode_varint, encode_key, encode_varint, skip_field, DecodeContext, WireType};
use prost::Message;
use tokio::sync::{mpsc, oneshot, watch, Semaphore};
use tonic::{Code, Status};

use crate::client::{add_agent, client_of, not_connected, too_late, Encoded, Raw, Transport};
use crate::connection::{Channels, Unreachable};
use crate::error::CallError;
use crate::{api, Client};

const PATH: &str = "/armature.api.v1.ItemService/Pipeline";
/// The field of a failed operation.
const ERROR_FIELD: u32 = 15;

/// Bounds of the outstanding operations of a [`Pipeline`].
#[derive(Clone, Copy, Debug)]
pub struct PipelineOptions {
    /// Operations: 256 by default.
    pub in_flight: usize,
    /// Size of their requests: 16 MB by default. A larger request is sent alone.
    pub in_flight_bytes: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        Self { in_flight: 256, in_flight_bytes: 16 << 20 }
    }
}

/// Carries many concurrent operations on items over one stream, for less than half the cost of calls.
///
/// ```no_run
/// # use armature_client::{Client, item, Item};
/// # async fn example(client: Client) -> Result<(), armature_client::Error> {
/// use futures_util::{stream, StreamExt, TryStreamExt};
///
/// let pipeline = client.pipeline();
/// let users = pipeline.client().table::<Item>("users");
/// stream::iter(0..10_000)
///     .map(|n| { let users = &users; async move { users.put(&item! { "id": n.to_string() }).await } })
///     .buffer_unordered(256)
///     .try_for_each(|_| async { Ok(()) })
///     .await?;
/// # Ok(()) }
/// ```
///
/// The operations of its client have the same errors and session as calls. The stream is opened by the first operation, and again
/// after it was lost. Operations without an answer then fail, writes with `OutcomeUnknown`: also those that a call would repeat,
/// because later ones may depend on them. Idempotent ones, and those that the daemon has refused for a passing reason, are
/// repeated like calls. Operations have no order: wait for a write before one that depends on it. A dropped operation gives its place
/// back; the daemon may have done it.
#[derive(Debug)]
pub struct Pipeline {
    client: Client,
}

impl Client {
    /// Returns a pipeline over the connections of the client.
    pub fn pipeline(&self) -> Pipeline {
        self.pipeline_with(PipelineOptions::default())
    }

    /// Returns a pipeline with other bounds. Zero counts as one.
    pub fn pipeline_with(&self, options: PipelineOptions) -> Pipeline {
        let settings = self.settings().clone();
        let bytes_max = options.in_flight_bytes.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        let lane = Lane {
            channels: self.core().transport.channels().clone(),
            authorization: settings.authorization.clone(),
            count: Semaphore::new(options.in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            bytes: Semaphore::new(bytes_max),
            bytes_max: bytes_max as u32,
            state: Arc::default(),
        };
        Pipeline { client: self.with_transport(settings, Transport::Pipeline(Arc::new(lane))) }
    }
}

impl Pipeline {
    /// Returns a client whose operations on items go over the stream. Its other operations are calls. The stream ends with the last
    /// clone of this client.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

/// The transport over the stream of a pipeline.
pub(crate) struct Lane {
    pub(crate) channels: Arc<Channels>,
    authorization: Option<tonic::metadata::MetadataValue<tonic::metadata::Ascii>>,
    count: Semaphore,
    bytes: Semaphore,
    bytes_max: u32,
    state: Arc<Mutex<LaneState>>,
}

#[derive(Default)]
struct LaneState {
    stream: Option<Arc<Stream>>,
    opening: Option<watch::Receiver<Option<Opened>>>,
}

type Opened = Result<Arc<Stream>, Arc<CallError>>;

/// The answer of an operation: the bytes of its response, or its error.
type Answer = Result<Bytes, api::RpcStatus>;

/// An open stream.
struct Stream {
    unsent: mpsc::Sender<Unsent>,
    outstanding: Arc<Outstanding>,
}

/// A request for the stream. `taken` is set when the stream has taken it.
struct Unsent {
    message: Bytes,
    taken: Arc<AtomicBool>,
}

#[derive(Default)]
struct Outstanding {
    state: Mutex<OutstandingState>,
}

#[derive(Default)]
struct OutstandingState {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    /// The reason of the end.
    failure: Option<Status>,
}

impl Lane {
    pub(crate) async fn attempt(&self, call: &Encoded, field: u32) -> Result<Bytes, Box<CallError>> {
        let operation = call.info.name;
        let size = (call.body.len() as u32).clamp(1, self.bytes_max);
        let room = async { (self.count.acquire().await, self.bytes.acquire_many(size).await) };
        let Ok(_room) = tokio::time::timeout_at(call.deadline, room).await else {
            return Err(too_late(operation, true));
        };
        let stream = match tokio::time::timeout_at(call.deadline, self.stream()).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(Box::new(CallError { operation, ..(*error).clone() })),
            Err(_) => return Err(too_late(operation, true)),
        };
        let taken = Arc::new(AtomicBool::new(false));
        let answer = tokio::time::timeout_at(call.deadline, stream.ask(call, field, &taken)).await;
        let never_sent = !taken.load(Ordering::Acquire);
        match answer {
            Err(_) => Err(too_late(operation, never_sent)),
            Ok(Err(lost)) => Err(Box::new(CallError::new(operation, &lost, never_sent))),
            Ok(Ok(Err(refused))) => Err(Box::new(CallError::of_rpc(operation, refused))),
            Ok(Ok(Ok(bytes))) => Ok(bytes),
        }
    }

    /// Returns the stream, or a new one after the last one has ended. The opening goes on when the caller has lost patience.
    async fn stream(&self) -> Opened {
        let mut result = {
            let mut state = self.state.lock().expect("no panic with the lock");
            if let Some(stream) = state.stream.as_ref().filter(|stream| !stream.has_ended()) {
                return Ok(stream.clone());
            }
            match &state.opening {
                Some(opening) if opening.has_changed().is_ok() => opening.clone(),
                _ => {
                    let (report, result) = watch::channel(None);
                    state.opening = Some(result.clone());
                    tokio::spawn(open(self.channels.clone(), self.authorization.clone(), self.state.clone(), report));
                    result
                }
            }
        };
        let ended = || Arc::new(*not_connected("Pipeline", &Unreachable::new("the runtime of the stream has ended")));
        let made = result.wait_for(Option::is_some).await.map_err(|_| ended())?;
        made.clone().unwrap_or_else(|| Err(ended()))
    }
}

/// Opens a stream. The daemon answers nothing before the first operation, so this does not wait for it.
async fn open(
    channels: Arc<Channels>,
    authorization: Option<tonic::metadata::MetadataValue<tonic::metadata::Ascii>>,
    state: Arc<Mutex<LaneState>>,
    report: watch::Sender<Option<Opened>>,
) {
    let opened = match channels.service().await {
        Err(reason) => Err(Arc::new(*not_connected("Pipeline", &reason))),
        Ok(service) => {
            // The queue is short: operations wait for room before, and requests in it keep their memory.
            let (unsent, requests) = mpsc::channel::<Unsent>(16);
            let outstanding = Arc::<Outstanding>::default();
            tokio::spawn(run(service, authorization, requests, outstanding.clone()));
            Ok(Arc::new(Stream { unsent, outstanding }))
        }
    };
    {
        let mut state = state.lock().expect("no panic with the lock");
        state.opening = None;
        state.stream = opened.as_ref().ok().cloned();
    }
    report.send_replace(Some(opened));
}

/// Carries the requests and answers of a stream until it ends.
async fn run(
    service: crate::connection::Http,
    authorization: Option<tonic::metadata::MetadataValue<tonic::metadata::Ascii>>,
    requests: mpsc::Receiver<Unsent>,
    outstanding: Arc<Outstanding>,
) {
    // Fails the outstanding operations also if this task is dropped with its runtime.
    let mut end = EndGuard { outstanding: outstanding.clone(), reason: Status::unavailable("the runtime has ended") };
    let messages = futures_util::stream::unfold(requests, |mut requests| async {
        let unsent = requests.recv().await?;
        unsent.taken.store(true, Ordering::Release);
        Some((unsent.message, requests))
    });
    let mut request = tonic::Request::new(messages);
    if let Some(authorization) = authorization {
        request.metadata_mut().insert("authorization", authorization);
    }
    add_agent(request.metadata_mut());
    let path = http::uri::PathAndQuery::from_static(PATH);
    end.reason = match client_of(service).streaming(request, path, Raw).await {
        Err(status) => status,
        Ok(answers) => {
            let mut answers = answers.into_inner();
            loop {
                match answers.message().await {
                    Ok(Some(answer)) => {
                        if let Err(wrong) = outstanding.deliver(answer) {
                            break wrong;
                        }
                    }
                    Ok(None) => break Status::unavailable("the daemon has ended the stream"),
                    Err(status) => break status,
                }
            }
        }
    };
}

struct EndGuard {
    outstanding: Arc<Outstanding>,
    reason: Status,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        let is_lost = std::error::Error::source(&self.reason).is_some()
            || matches!(self.reason.code(), Code::Unknown | Code::Internal | Code::Cancelled | Code::Ok);
        if is_lost {
            // The connection broke, or the daemon has ended the stream: another one will do.
            self.reason = Status::unavailable(format!("the stream to the daemon has ended: {}", self.reason.message()));
        }
        self.outstanding.fail(&self.reason);
    }
}

impl Outstanding {
    fn lock(&self) -> std::sync::MutexGuard<'_, OutstandingState> {
        self.state.lock().expect("no panic with the lock")
    }

    fn fail(&self, reason: &Status) {
        let mut state = self.lock();
        state.failure.get_or_insert_with(|| reason.clone());
        state.waiting.clear();
    }

    fn deliver(&self, answer: Bytes) -> Result<(), Status> {
        let wrong = |error: prost::DecodeError| Status::unavailable(format!("an answer cannot be decoded: {error}"));
        let (id, field, content) = split(answer).map_err(wrong)?;
        let waiting = self.lock().waiting.remove(&id);
        let answer =
            if field == ERROR_FIELD { Err(api::RpcStatus::decode(content).map_err(wrong)?) } else { Ok(content) };
        if let Some(waiting) = waiting {
            // The operation may have been dropped.
            let _ = waiting.send(answer);
        }
        Ok(())
    }
}

/// Takes PipelineResponse apart: id, field of the result, its bytes.
fn split(mut answer: Bytes) -> Result<(u64, u32, Bytes), prost::DecodeError> {
    let (mut id, mut field, mut content) = (0, 0, Bytes::new());
    while answer.has_remaining() {
        let (tag, wire_type) = decode_key(&mut answer)?;
        match (tag, wire_type) {
            (1, WireType::Varint) => id = decode_varint(&mut answer)?,
            (_, WireType::LengthDelimited) => {
                let length = decode_varint(&mut answer)? as usize;
                if length > answer.len() {
                    return Err(api::RpcStatus::decode(&[0xff][..]).expect_err("a message that ends too early"));
                }
                (field, content) = (tag, answer.split_to(length));
            }
            _ => skip_field(wire_type, tag, &mut answer, DecodeContext::default())?,
        }
    }
    Ok((id, field, content))
}

impl Stream {
    fn has_ended(&self) -> bool {
        self.unsent.is_closed() || self.outstanding.lock().failure.is_some()
    }

    /// Sends a request and waits for its answer. Errors: the stream has ended.
    async fn ask(&self, call: &Encoded, field: u32, taken: &Arc<AtomicBool>) -> Result<Answer, Status> {
        let (give, mut answer) = oneshot::channel();
        let id = {
            let mut state = self.outstanding.lock();
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            state.last_id += 1;
            let id = state.last_id;
            state.waiting.insert(id, give);
            id
        };
        let _place = Place { outstanding: &self.outstanding, id };
        let mut message = BytesMut::with_capacity(call.body.len() + 32);
        prost::encoding::uint64::encode(1, &id, &mut message);
        encode_key(field, WireType::LengthDelimited, &mut message);
        encode_varint(call.body.len() as u64, &mut message);
        message.put_slice(&call.body);
        let unsent = Unsent { message: message.freeze(), taken: taken.clone() };
        if self.unsent.send(unsent).await.is_ok() {
            if let Ok(answer) = (&mut answer).await {
                return Ok(answer);
            }
        }
        let failure = self.outstanding.lock().failure.clone();
        Err(failure.unwrap_or_else(|| Status::unavailable("the stream to the daemon has ended")))
    }
}

/// The place of an operation among the outstanding ones, given back when the operation ends or is dropped.
struct Place<'a> {
    outstanding: &'a Outstanding,
    id: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.outstanding.lock().waiting.remove(&self.id);
    }
}
