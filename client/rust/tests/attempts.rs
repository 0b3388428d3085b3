//! Calls over a fake daemon that answers as the test says.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use armature_client::{api, expr, item, Client, Code, Error, Item, Retry};
use bytes::Bytes;
use prost::Message;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

/// What the daemon does with a call.
#[derive(Clone, Debug)]
enum Answer {
    /// A response.
    Ok(Vec<u8>),
    /// A status with its details.
    Status(Code, api::RpcStatus),
    /// The stream is reset.
    Reset,
    /// The connection is closed.
    Close,
    /// Nothing.
    Silence,
}

/// The calls that were received.
type Calls = Arc<Mutex<Vec<String>>>;

/// Starts a daemon that answers calls by a list, and the rest by empty responses.
async fn fake(answers: Vec<Answer>) -> (String, Calls) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let calls = Calls::default();
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    let received = calls.clone();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(socket, answers.clone(), received.clone()));
        }
    });
    (address, calls)
}

async fn serve(socket: tokio::net::TcpStream, answers: Arc<Mutex<VecDeque<Answer>>>, calls: Calls) {
    let mut connection = h2::server::handshake(socket).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        calls.lock().unwrap().push(request.uri().path().rsplit('/').next().unwrap().to_owned());
        let answer = answers.lock().unwrap().pop_front().unwrap_or(Answer::Ok(Vec::new()));
        let response = http::Response::builder().header("content-type", "application/grpc");
        match answer {
            Answer::Ok(message) => {
                let mut stream = respond.send_response(response.body(()).unwrap(), false).unwrap();
                let mut frame = vec![0];
                frame.extend((message.len() as u32).to_be_bytes());
                frame.extend(message);
                stream.send_data(Bytes::from(frame), false).unwrap();
                let trailers = http::HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]);
                stream.send_trailers(trailers).unwrap();
            }
            Answer::Status(code, status) => {
                use base64::prelude::{Engine, BASE64_STANDARD_NO_PAD};
                let details = BASE64_STANDARD_NO_PAD.encode(status.encode_to_vec());
                let response = response.header("grpc-status", (code as i32).to_string());
                let response = response.header("grpc-status-details-bin", details).body(()).unwrap();
                respond.send_response(response, true).unwrap();
            }
            Answer::Reset => respond.send_reset(h2::Reason::INTERNAL_ERROR),
            Answer::Close => return,
            Answer::Silence => std::mem::forget(respond),
        }
    }
}

fn status(code: Code, exception: &str, retry_after_ms: i64) -> Answer {
    let detail = api::ErrorDetail { exception: exception.into(), retry_after_ms, ..Default::default() };
    let any =
        api::Any { type_url: "type.googleapis.com/armature.api.v1.ErrorDetail".into(), value: detail.encode_to_vec() };
    Answer::Status(code, api::RpcStatus { code: code as i32, message: "no".into(), details: vec![any] })
}

fn is_unknown<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::OutcomeUnknown(_)))
}

#[tokio::test]
async fn harmless_calls_are_repeated_and_others_are_not() {
    for lost in [Answer::Reset, Answer::Close] {
        let (address, calls) =
            fake(vec![lost.clone(), Answer::Ok(vec![]), lost.clone(), lost.clone(), Answer::Ok(vec![])]).await;
        let users = Client::new(address).unwrap().table::<Item>("users");
        users.put(&item! { "id": "ann" }).await.unwrap();
        let update = users.update(item! { "id": "ann" }, expr("SET n = n + $n").param("n", 1)).await;
        assert!(is_unknown(&update), "{lost:?}: {update:?}");
        let idempotent = users.update(item! { "id": "ann" }, expr("SET n = $n").param("n", 1)).idempotent().await;
        assert!(idempotent.is_ok(), "{lost:?}: {idempotent:?}");
        assert_eq!(
            *calls.lock().unwrap(),
            ["PutItem", "PutItem", "UpdateItem", "UpdateItem", "UpdateItem"],
            "{lost:?}"
        );
    }
}

#[tokio::test]
async fn an_unknown_outcome_stays_unknown_after_a_refusal() {
    let answers = vec![Answer::Reset, status(Code::InvalidArgument, "ValidationException", 0)];
    let (address, calls) = fake(answers).await;
    let put = Client::new(address).unwrap().table::<Item>("users").put(&item! { "id": "ann" }).await;
    // The first attempt may have been applied, whatever the second one says.
    assert!(is_unknown(&put), "{put:?}");
    assert!(!put.unwrap_err().is_not_applied());
    assert_eq!(calls.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn advice_is_followed_and_passing_errors_are_repeated() {
    let advice = 300;
    let answers = vec![status(Code::ResourceExhausted, "ThrottlingException", advice), Answer::Ok(vec![])];
    let (address, calls) = fake(answers).await;
    let users = Client::new(address).unwrap().table::<Item>("users");
    let begin = Instant::now();
    // The daemon has refused it, so even an update may be repeated.
    users.update(item! { "id": "ann" }, expr("SET n = n + $n").param("n", 1)).await.unwrap();
    assert!(begin.elapsed() > Duration::from_millis(advice as u64), "{:?}", begin.elapsed());
    assert_eq!(calls.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn advice_beyond_the_deadline_is_an_error_at_once() {
    let (address, calls) = fake(vec![status(Code::ResourceExhausted, "ThrottlingException", 60_000)]).await;
    let begin = Instant::now();
    let got = Client::new(address).unwrap().table::<Item>("users").get(item! { "id": "ann" }).await;
    assert!(got.as_ref().is_err_and(Error::is_throttled), "{got:?}");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(calls.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn attempts_are_bounded() {
    let (address, calls) = fake(vec![Answer::Reset; 50]).await;
    let retry = Retry { max_attempts: 4, initial: Duration::from_millis(1), ..Retry::default() };
    let users = Client::builder(address).retry(retry).build().unwrap().table::<Item>("users");
    let got = users.get(item! { "id": "ann" }).await;
    assert_eq!(got.unwrap_err().call().unwrap().code, Code::Unavailable);
    assert_eq!(calls.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn deadlines_are_kept() {
    // A machine that accepts connections and says nothing, and one that reads and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, _) = fake(vec![Answer::Silence; 10]).await;
    for address in [silent.local_addr().unwrap().to_string(), address] {
        let client = Client::builder(address).timeout(Duration::from_millis(200)).build().unwrap();
        let users = client.table::<Item>("users");
        let begin = Instant::now();
        let got = users.get(item! { "id": "ann" }).await;
        assert!(got.as_ref().is_err_and(Error::is_timeout), "{got:?}");
        let update = users.update(item! { "id": "ann" }, expr("SET n = $n").param("n", 1)).await;
        assert!(is_unknown(&update), "{update:?}");
        let pipelined = client.pipeline().client().table::<Item>("users").put(&item! { "id": "ann" }).await;
        assert!(is_unknown(&pipelined) || pipelined.as_ref().is_err_and(Error::is_timeout), "{pipelined:?}");
        let written = async {
            let mut writer = client.batch_writer();
            writer.put("users", &item! { "id": "ann" }).await?;
            writer.flush().await
        };
        assert!(written.await.is_err());
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    }
}

#[tokio::test]
async fn calls_go_to_the_next_address_if_one_is_silent_or_cannot_serve() {
    // The system takes its connections.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let unavailable = || status(Code::Unavailable, "ServiceUnavailable", 0);
    let (first, calls_of_first) = fake(vec![Answer::Ok(Vec::new()), Answer::Ok(Vec::new()), unavailable()]).await;
    let (second, calls_of_second) = fake(vec![]).await;
    let addresses = format!("{},{first},{second}", silent.local_addr().unwrap());
    for connections in [1, 2] {
        let client = Client::builder(&addresses).connections(connections).build().unwrap();
        let users = client.table::<Item>("users");
        for _ in 0..4 {
            users.get(item! { "id": "ann" }).timeout(Duration::from_secs(9)).await.unwrap();
        }
    }
    assert_eq!(calls_of_first.lock().unwrap()[..3], ["Check", "GetItem", "GetItem"]);
    assert_eq!(calls_of_second.lock().unwrap()[..3], ["Check", "GetItem", "GetItem"]);
}

#[tokio::test]
async fn strangers_are_no_daemons() {
    for greeting in
        [&b""[..], b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\xff\xff\xff\x04garbage", &[0x16, 3, 1, 0, 5, 1]]
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.write_all(greeting).await;
            }
        });
        let client = Client::builder(address).retry(Retry { max_attempts: 3, ..Retry::default() }).build().unwrap();
        let got = client.table::<Item>("users").get(item! { "id": "ann" }).await;
        assert_eq!(got.unwrap_err().call().unwrap().code, Code::Unavailable, "{greeting:?}");
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn a_daemon_without_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let builder = Client::builder(listener.local_addr().unwrap().to_string()).retry(Retry::none());
    let client = match builder.tls(armature_client::Tls::new()).build() {
        Err(Error::Setup(reason)) => return eprintln!("skipped: {reason}"),
        client => client.unwrap(),
    };
    tokio::spawn(async move {
        // Settings of HTTP/2.
        listener.accept().await.unwrap().0.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
    });
    let failed = client.table::<Item>("users").get(item! { "id": "ann" }).await.unwrap_err();
    assert!(failed.to_string().ends_with("does not speak TLS"), "{failed}");
}

#[tokio::test]
async fn errors_of_connections_have_the_address_and_the_reason() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    for (address, reason) in [
        (unused.as_str(), format!("{unused} refuses the connection: no daemon listens there")),
        ("unix:/nowhere", "no daemon listens at unix:/nowhere: there is no such socket".into()),
        ("nothing.invalid:7700", "the name in nothing.invalid:7700 cannot be resolved".into()),
    ] {
        let client = Client::builder(address).retry(Retry::none()).build().unwrap();
        let failed = client.table::<Item>("users").get(item! { "id": "ann" }).await.unwrap_err();
        assert_eq!(failed.call().unwrap().message, reason);
        assert!(failed.is_not_applied());
    }
}

#[tokio::test]
async fn the_text_of_the_daemon_stays_as_it_is() {
    let (address, _) = fake(vec![status(Code::NotFound, "ResourceNotFoundException", 0)]).await;
    let client = Client::new(&address).unwrap();
    let failed = client.table::<Item>("users").get(item! { "id": "ann" }).await.unwrap_err();
    let call = failed.call().unwrap();
    assert_eq!(call.hint, "table users");
    assert!(failed.to_string().contains(&format!("{} (table users)", call.message)), "{failed}");
}

#[tokio::test]
async fn objects_print_their_name_and_address() {
    let client = Client::new("db1:1,unix:/a").unwrap();
    assert_eq!(client.table::<Item>("users").to_string(), "Table(users, Client(db1:1, unix:/a))");
    let table = format!("{:?}", client.table::<Item>("users"));
    assert!(table.contains("users") && table.contains("db1:1, unix:/a"), "{table}");
}

#[tokio::test]
async fn variants_of_errors_are_errors() {
    fn text_of(error: &impl std::error::Error) -> String {
        error.to_string()
    }
    let answers = vec![
        status(Code::FailedPrecondition, "ConditionalCheckFailedException", 0),
        status(Code::Aborted, "TransactionCanceledException", 0),
    ];
    let (address, _) = fake(answers).await;
    let client = Client::new(address).unwrap();
    let users = client.table::<Item>("users");
    match users.put(&item! { "id": "ann" }).condition("attribute_not_exists(id)").await.unwrap_err() {
        Error::ConditionFailed(failed) => assert!(text_of(&*failed).starts_with("PutItem: Conditional")),
        other => panic!("{other}"),
    }
    let mut transaction = client.transaction();
    transaction.put("users", &item! { "id": "ann" });
    match transaction.commit().await.unwrap_err() {
        Error::TransactionCanceled(cancelled) => assert!(text_of(&*cancelled).starts_with("TransactWriteItems: ")),
        other => panic!("{other}"),
    }
    match users.delete(item! { "id": "ann" }).condition(expr("a = $b")).await.unwrap_err() {
        Error::Argument(refused) => assert!(text_of(&refused).starts_with("$b: ")),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn answers_that_are_none_are_errors() {
    let (address, _) = fake(vec![Answer::Ok(vec![0xff; 7]), Answer::Ok(vec![0xff; 7])]).await;
    let users = Client::new(address).unwrap().table::<Item>("users");
    let got = users.get(item! { "id": "ann" }).await;
    assert_eq!(got.unwrap_err().call().unwrap().code, Code::Internal);
    // The daemon has done it.
    assert!(is_unknown(&users.put(&item! { "id": "ann" }).await));
}

#[tokio::test]
async fn sessions_learn_from_every_write() {
    let sequence = |number: u64| -> Vec<u8> {
        api::PutItemResponse { change_sequence: number, ..Default::default() }.encode_to_vec()
    };
    let statement = api::ExecuteStatementResponse { change_sequence: Some(60), ..Default::default() }.encode_to_vec();
    let answers = [sequence(10), sequence(20), sequence(30), sequence(40), sequence(50), statement, sequence(5)];
    let (address, _) = fake(answers.into_iter().map(Answer::Ok).collect()).await;
    let session = Client::new(address).unwrap().session();
    let users = session.table::<Item>("users");
    users.put(&item! { "id": "ann" }).await.unwrap();
    assert_eq!(session.position(), Some(10));
    users.update(item! { "id": "ann" }, "SET a = b").await.unwrap();
    assert_eq!(session.position(), Some(20));
    users.delete(item! { "id": "ann" }).await.unwrap();
    assert_eq!(session.position(), Some(30));
    let writes = api::WriteRequestList::default();
    let batch =
        api::BatchWriteItemRequest { request_items: [("users".to_owned(), writes)].into(), ..Default::default() };
    session.call(&batch).await.unwrap();
    assert_eq!(session.position(), Some(40));
    let mut transaction = session.transaction();
    transaction.put("users", &item! { "id": "ann" });
    assert_eq!(transaction.commit().await.unwrap(), 50);
    assert_eq!(session.position(), Some(50));
    session.execute("DELETE FROM users WHERE id = ?", ["ann"]).await.unwrap();
    assert_eq!(session.position(), Some(60));
    users.put(&item! { "id": "ann" }).await.unwrap();
    assert_eq!(session.position(), Some(60), "a position never goes back");
}
