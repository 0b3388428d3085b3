//! gRPC's interop cases on tonic.
//!
//!     interop ADDRESS CASE...

use std::pin::pin;
use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{iter, Stream, StreamExt};
use tonic::client::Grpc;
use tonic::metadata::{Binary, MetadataMap, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, IntoRequest, IntoStreamingRequest, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

const REQUEST_SIZES: [usize; 4] = [27182, 8, 1828, 45904];
const RESPONSE_SIZES: [i32; 4] = [31415, 9, 2653, 58979];

// ---- The fields of grpc/testing/messages.proto that the cases need

#[derive(Clone, PartialEq, prost::Message)]
struct Empty {}

#[derive(Clone, PartialEq, prost::Message)]
struct Payload {
    #[prost(bytes = "vec", tag = "2")]
    body: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct EchoStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SimpleRequest {
    #[prost(int32, tag = "2")]
    response_size: i32,
    #[prost(message, optional, tag = "3")]
    payload: Option<Payload>,
    #[prost(message, optional, tag = "7")]
    response_status: Option<EchoStatus>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SimpleResponse {
    #[prost(message, optional, tag = "1")]
    payload: Option<Payload>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InputRequest {
    #[prost(message, optional, tag = "1")]
    payload: Option<Payload>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InputResponse {
    #[prost(int32, tag = "1")]
    aggregated_payload_size: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResponseParameters {
    #[prost(int32, tag = "1")]
    size: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OutputRequest {
    #[prost(message, repeated, tag = "2")]
    response_parameters: Vec<ResponseParameters>,
    #[prost(message, optional, tag = "3")]
    payload: Option<Payload>,
    #[prost(message, optional, tag = "7")]
    response_status: Option<EchoStatus>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OutputResponse {
    #[prost(message, optional, tag = "1")]
    payload: Option<Payload>,
}

fn payload(size: usize) -> Option<Payload> {
    Some(Payload { body: vec![0; size] })
}

fn output_request(size: usize, response_sizes: &[i32]) -> OutputRequest {
    OutputRequest {
        response_parameters: response_sizes.iter().map(|&size| ResponseParameters { size }).collect(),
        payload: payload(size),
        response_status: None,
    }
}

fn size_of(response: OutputResponse) -> i32 {
    response.payload.unwrap_or_default().body.len() as i32
}

// ---- The client, as generated code has it

struct Client(Grpc<Channel>);

impl Client {
    async fn ready(&mut self) {
        self.0.ready().await.expect("a connection");
    }

    async fn empty(&mut self, path: &'static str) -> Result<Response<Empty>, Status> {
        self.ready().await;
        self.0.unary(Request::new(Empty {}), PathAndQuery::from_static(path), ProstCodec::default()).await
    }

    async fn empty_call(&mut self) -> Result<Response<Empty>, Status> {
        self.empty("/grpc.testing.TestService/EmptyCall").await
    }

    async fn unary(&mut self, request: impl IntoRequest<SimpleRequest>) -> Result<Response<SimpleResponse>, Status> {
        self.ready().await;
        let path = PathAndQuery::from_static("/grpc.testing.TestService/UnaryCall");
        self.0.unary(request.into_request(), path, ProstCodec::default()).await
    }

    async fn input(
        &mut self,
        requests: impl Stream<Item = InputRequest> + Send + 'static,
    ) -> Result<Response<InputResponse>, Status> {
        self.ready().await;
        let path = PathAndQuery::from_static("/grpc.testing.TestService/StreamingInputCall");
        self.0.client_streaming(requests.into_streaming_request(), path, ProstCodec::default()).await
    }

    async fn output(&mut self, request: OutputRequest) -> Result<Response<Streaming<OutputResponse>>, Status> {
        self.ready().await;
        let path = PathAndQuery::from_static("/grpc.testing.TestService/StreamingOutputCall");
        self.0.server_streaming(Request::new(request), path, ProstCodec::default()).await
    }

    async fn duplex(
        &mut self,
        requests: impl IntoStreamingRequest<
            Message = OutputRequest,
            Stream = impl Stream<Item = OutputRequest> + Send + 'static,
        >,
    ) -> Result<Response<Streaming<OutputResponse>>, Status> {
        self.ready().await;
        let path = PathAndQuery::from_static("/grpc.testing.TestService/FullDuplexCall");
        self.0.streaming(requests.into_streaming_request(), path, ProstCodec::default()).await
    }
}

// A stream of requests that are sent one by one.
fn channel() -> (mpsc::UnboundedSender<OutputRequest>, UnboundedReceiverStream<OutputRequest>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, UnboundedReceiverStream::new(receiver))
}

// The sizes of all answers, and the metadata after them.
async fn rest(mut answers: Streaming<OutputResponse>) -> Result<(Vec<i32>, MetadataMap), Status> {
    let mut sizes = Vec::new();
    while let Some(answer) = answers.message().await? {
        sizes.push(size_of(answer));
    }
    Ok((sizes, answers.trailers().await?.unwrap_or_default()))
}

// ---- The cases

async fn ping_pong(client: &mut Client) -> Result<(), Status> {
    let (sender, requests) = channel();
    sender.send(output_request(REQUEST_SIZES[0], &RESPONSE_SIZES[..1])).unwrap();
    let mut answers = client.duplex(requests).await?.into_inner();
    assert_eq!(answers.message().await?.map(size_of), Some(RESPONSE_SIZES[0]));
    for i in 1..4 {
        sender.send(output_request(REQUEST_SIZES[i], &RESPONSE_SIZES[i..=i])).unwrap();
        assert_eq!(answers.message().await?.map(size_of), Some(RESPONSE_SIZES[i]));
    }
    drop(sender);
    assert!(rest(answers).await?.0.is_empty());
    Ok(())
}

// tonic cancels a call whose future is dropped, and tells nobody. The connection must serve the next one.
async fn cancel_after_begin(client: &mut Client) -> Result<(), Status> {
    let (begun, has_begun) = oneshot::channel();
    // Asked for the first request once the head of the call is with the connection.
    let requests = iter([begun]).filter_map(|begun| begun.send(()).err().map(|()| InputRequest::default()));
    {
        let call = pin!(client.input(requests.chain(tokio_stream::pending())));
        tokio::select! {
            result = call => panic!("ended with {result:?}"),
            _ = has_begun => {}
        }
    }
    client.empty_call().await.map(drop)
}

// The second answer does not fit into the windows, so the stream is open when it is dropped.
async fn cancel_after_first_response(client: &mut Client) -> Result<(), Status> {
    let mut answers = client.duplex(iter([output_request(27182, &[31415, 12 << 20])])).await?.into_inner();
    assert_eq!(answers.message().await?.map(size_of), Some(31415));
    drop(answers);
    client.empty_call().await.map(drop)
}

async fn timeout_on_sleeping_server(client: &mut Client) -> Result<(), Status> {
    let (sender, requests) = channel();
    sender.send(output_request(27182, &[])).unwrap();
    let mut request = Request::new(requests);
    request.set_timeout(Duration::from_millis(1));
    let result = async { rest(client.duplex(request).await?.into_inner()).await }.await;
    let status = result.expect_err("a deadline");
    // The server's answer, or tonic's own clock, which says so.
    let is_own = status.code() == Code::Cancelled && status.message() == "Timeout expired";
    assert!(status.code() == Code::DeadlineExceeded || is_own, "{status:?}");
    Ok(())
}

async fn custom_metadata(client: &mut Client) -> Result<(), Status> {
    const INITIAL: &str = "x-grpc-test-echo-initial";
    const TRAILING: &str = "x-grpc-test-echo-trailing-bin";
    let value = MetadataValue::<Binary>::from_bytes(b"\xab\xab\xab");
    let fill = |metadata: &mut MetadataMap| {
        metadata.insert(INITIAL, "test_initial_metadata_value".parse().unwrap());
        metadata.insert_bin(TRAILING, value.clone());
    };
    let check = |head: &MetadataMap, trailers: &MetadataMap| {
        assert_eq!(head.get(INITIAL).unwrap(), "test_initial_metadata_value");
        assert_eq!(trailers.get_bin(TRAILING), Some(&value));
    };
    let mut request =
        Request::new(SimpleRequest { response_size: 314159, payload: payload(271828), response_status: None });
    fill(request.metadata_mut());
    // Of a call with one answer, tonic merges head and trailers.
    let response = client.unary(request).await?;
    check(response.metadata(), response.metadata());

    let mut requests = Request::new(iter([output_request(271828, &[314159])]));
    fill(requests.metadata_mut());
    let response = client.duplex(requests).await?;
    let head = response.metadata().clone();
    let (sizes, trailers) = rest(response.into_inner()).await?;
    assert_eq!(sizes, [314159]);
    check(&head, &trailers);
    Ok(())
}

async fn check_unary_status(client: &mut Client, message: &str) {
    let response_status = Some(EchoStatus { code: 2, message: message.into() });
    let status = client.unary(SimpleRequest { response_status, ..Default::default() }).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unknown, message));
}

async fn status_code_and_message(client: &mut Client) -> Result<(), Status> {
    let message = "test status message";
    check_unary_status(client, message).await;
    let response_status = Some(EchoStatus { code: 2, message: message.into() });
    let requests = iter([OutputRequest { response_status, ..Default::default() }]);
    let status = async { rest(client.duplex(requests).await?.into_inner()).await }.await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Unknown, message));
    Ok(())
}

async fn run(client: &mut Client, case: &str) -> Result<(), Status> {
    match case {
        "empty_unary" => client.empty_call().await.map(drop)?,
        "large_unary" => {
            let request = SimpleRequest { response_size: 314159, payload: payload(271828), response_status: None };
            assert_eq!(client.unary(request).await?.into_inner().payload, payload(314159));
        }
        "client_streaming" => {
            let requests = iter(REQUEST_SIZES).map(|size| InputRequest { payload: payload(size) });
            assert_eq!(client.input(requests).await?.into_inner().aggregated_payload_size, 74922);
        }
        "server_streaming" => {
            let answers = client.output(output_request(0, &RESPONSE_SIZES)).await?.into_inner();
            assert_eq!(rest(answers).await?.0, RESPONSE_SIZES);
        }
        "ping_pong" => ping_pong(client).await?,
        "empty_stream" => assert!(rest(client.duplex(iter([])).await?.into_inner()).await?.0.is_empty()),
        "cancel_after_begin" => cancel_after_begin(client).await?,
        "cancel_after_first_response" => cancel_after_first_response(client).await?,
        "timeout_on_sleeping_server" => timeout_on_sleeping_server(client).await?,
        "custom_metadata" => custom_metadata(client).await?,
        "status_code_and_message" => status_code_and_message(client).await?,
        "special_status_message" => {
            check_unary_status(client, "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n").await
        }
        "unimplemented_method" | "unimplemented_service" => {
            let path = match case {
                "unimplemented_method" => "/grpc.testing.TestService/UnimplementedCall",
                _ => "/grpc.testing.UnimplementedService/UnimplementedCall",
            };
            assert_eq!(client.empty(path).await.unwrap_err().code(), Code::Unimplemented);
        }
        _ => panic!("there is no case {case}"),
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let channel = Endpoint::new(format!("http://{}", arguments[0])).expect("an address").connect_lazy();
    let mut client = Client(Grpc::new(channel));
    for case in &arguments[1..] {
        run(&mut client, case).await.unwrap_or_else(|status| panic!("{case}: {status:?}"));
        println!("{case}: passed");
    }
}
