//! Compares the processor time of the client with that of the generated stub, in one run:
//!
//!     ARMATURED=path/to/armatured cargo run --release -p armature-client-bench [SCALE]
//!
//! "stub" sends a request that is made once and ignores the answer; "by hand" also makes the request from a struct and reads the answer into
//! one, as the client does. Rounds of all three alternate, so that a change of the machine's speed concerns all of them. Times are user and
//! system time of this process, which has no part of the daemon.
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use armature_client::testing::Daemon;
use armature_client::{expr, item, Client, KeyAttribute, Table, TableSchema};
use serde::{Deserialize, Serialize};
use stub::attribute_value::Value;
use tonic::transport::{Channel, Endpoint};

mod stub {
    #![allow(clippy::all, dead_code)]
    tonic::include_proto!("armature.api.v1");
}

const ROUNDS: usize = 9;
const PAGE: i64 = 100;
const TASKS: usize = 64;

/// An item of the benchmark: about 200 bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    id: String,
    at: i64,
    name: String,
    text: String,
    active: bool,
    score: f64,
    count: i64,
    #[serde(with = "serde_bytes")]
    data: Vec<u8>,
}

fn record_of(at: i64) -> Record {
    Record {
        id: "partition".into(),
        at,
        name: "name of the record".into(),
        text: "a text of some fifty characters, as texts are".into(),
        active: true,
        score: 12.5,
        count: at * 3,
        data: vec![0; 32],
    }
}

fn value(value: Value) -> stub::AttributeValue {
    stub::AttributeValue { value: Some(value) }
}

/// What a program writes by hand.
fn item_of(record: &Record) -> stub::Item {
    let attributes = [
        ("id", Value::S(record.id.clone())),
        ("at", Value::N(record.at.to_string())),
        ("name", Value::S(record.name.clone())),
        ("text", Value::S(record.text.clone())),
        ("active", Value::Bool(record.active)),
        ("score", Value::N(record.score.to_string())),
        ("count", Value::N(record.count.to_string())),
        ("data", Value::B(record.data.clone())),
    ];
    stub::Item { attributes: attributes.into_iter().map(|(name, content)| (name.to_owned(), value(content))).collect() }
}

fn text_in(item: &mut stub::Item, name: &str) -> String {
    match item.attributes.remove(name).and_then(|attribute| attribute.value) {
        Some(Value::S(text) | Value::N(text)) => text,
        other => panic!("{name} is {other:?}"),
    }
}

fn record_in(mut item: stub::Item) -> Record {
    let number = |item: &mut stub::Item, name| text_in(item, name).parse().expect("a number");
    Record {
        at: number(&mut item, "at"),
        count: number(&mut item, "count"),
        score: text_in(&mut item, "score").parse().expect("a number"),
        id: text_in(&mut item, "id"),
        name: text_in(&mut item, "name"),
        text: text_in(&mut item, "text"),
        active: matches!(item.attributes["active"].value, Some(Value::Bool(true))),
        data: match item.attributes.remove("data").and_then(|attribute| attribute.value) {
            Some(Value::B(data)) => data,
            other => panic!("data is {other:?}"),
        },
    }
}

fn key_of(at: i64) -> stub::Item {
    let attributes = [("id", Value::S("partition".into())), ("at", Value::N(at.to_string()))];
    stub::Item { attributes: attributes.into_iter().map(|(name, content)| (name.to_owned(), value(content))).collect() }
}

fn processor_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage writes the whole structure, which has no invariants.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let time = |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

type Stub = stub::item_service_client::ItemServiceClient<Channel>;
type Call<'a> = Box<dyn Fn(i64) -> Pin<Box<dyn Future<Output = ()> + 'a>> + 'a>;

/// A call that a loop repeats.
fn call<'a, F: Future<Output = ()> + 'a>(make: impl Fn(i64) -> F + 'a) -> Call<'a> {
    Box::new(move |at| Box::pin(make(at)))
}

/// Prints the medians of all rounds.
async fn measure(name: &str, calls: i64, forms: [Call<'_>; 3]) {
    let mut times = [vec![], vec![], vec![]];
    for round in 0..=ROUNDS {
        for (form, times) in forms.iter().zip(&mut times) {
            let begin = processor_time();
            for at in 0..calls {
                form(at % PAGE).await;
            }
            if round > 0 {
                times.push((processor_time() - begin).as_secs_f64() * 1e6 / calls as f64);
            }
        }
    }
    let [stub, by_hand, client] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    println!("| {name} | {stub:.1} | {by_hand:.1} | {client:.1} | {:.2} | {:.2} |", client / stub, client / by_hand);
}

async fn gets(stub: &Stub, records: &Table<Record>, calls: i64) {
    let request = stub::GetItemRequest { table_name: "records".into(), key: Some(key_of(7)), ..Default::default() };
    let forms = [
        call(|_| async { drop(stub.clone().get_item(request.clone()).await.unwrap()) }),
        call(|at| async move {
            let request =
                stub::GetItemRequest { table_name: "records".into(), key: Some(key_of(at)), ..Default::default() };
            let found = stub.clone().get_item(request).await.unwrap().into_inner();
            drop(record_in(found.item.unwrap()));
        }),
        call(|at| async move { drop(records.get(item! { "id": "partition", "at": at }).await.unwrap().unwrap()) }),
    ];
    measure("get", calls, forms).await;
}

async fn puts(stub: &Stub, records: &Table<Record>, calls: i64) {
    let item = Some(item_of(&record_of(7)));
    let request = stub::PutItemRequest { table_name: "records".into(), item, ..Default::default() };
    let forms = [
        call(|_| async { drop(stub.clone().put_item(request.clone()).await.unwrap()) }),
        call(|at| async move {
            let item = Some(item_of(&record_of(at)));
            let request = stub::PutItemRequest { table_name: "records".into(), item, ..Default::default() };
            drop(stub.clone().put_item(request).await.unwrap());
        }),
        call(|at| async move { drop(records.put(&record_of(at)).await.unwrap()) }),
    ];
    measure("put", calls, forms).await;
}

async fn pages(stub: &Stub, records: &Table<Record>, calls: i64) {
    let request = stub::QueryRequest {
        table_name: "records".into(),
        key_condition_expression: Some("id = :id".into()),
        limit: Some(PAGE as i32),
        expression_attribute_values: HashMap::from([(":id".into(), value(Value::S("partition".into())))]),
        ..Default::default()
    };
    let forms = [
        call(|_| async { drop(stub.clone().query(request.clone()).await.unwrap()) }),
        call(|_| async {
            let page = stub.clone().query(request.clone()).await.unwrap().into_inner();
            let all: Vec<Record> = page.items.into_iter().map(record_in).collect();
            assert_eq!(all.len(), PAGE as usize);
        }),
        call(|_| async {
            let query = records.query(expr("id = $id").param("id", "partition")).page_size(PAGE as u32);
            assert_eq!(query.pages().try_next().await.unwrap().unwrap().items.len(), PAGE as usize);
        }),
    ];
    measure("page of 100", calls, forms).await;
}

/// Prints the cost of puts by many tasks.
async fn concurrent(name: &str, records: Table<Record>, puts: i64) {
    let mut line = String::new();
    for _warm in 0..2 {
        let (begin, clock) = (processor_time(), Instant::now());
        let tasks = (0..TASKS as i64).map(|task| {
            let records = records.clone();
            tokio::spawn(async move {
                for at in 0..puts {
                    records.put(&record_of(1000 + task * puts + at)).await.unwrap();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let count = (TASKS as i64 * puts) as f64;
        let used = (processor_time() - begin).as_secs_f64() * 1e6 / count;
        line = format!("| {name} | {used:.1} | {:.0} |", count / clock.elapsed().as_secs_f64());
    }
    println!("{line}");
}

/// Prints the cost of puts by batch writers.
async fn batches(client: &Client, writers: i64, puts: i64) {
    let mut line = String::new();
    for _warm in 0..2 {
        let (begin, clock) = (processor_time(), Instant::now());
        let tasks = (0..writers).map(|task| {
            let mut writer = client.batch_writer();
            tokio::spawn(async move {
                for at in 0..puts / writers {
                    writer.put("records", &record_of(1_000_000 + task * puts + at)).await.unwrap();
                }
                writer.flush().await.unwrap();
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let used = (processor_time() - begin).as_secs_f64() * 1e6 / puts as f64;
        let rate = puts as f64 / clock.elapsed().as_secs_f64();
        line = format!("| {writers} batch writers | {used:.1} | {rate:.0} |");
    }
    println!("{line}");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let scale: f64 = std::env::args().nth(1).map_or(1.0, |scale| scale.parse().expect("a factor"));
    let times = |calls: i64| ((calls as f64 * scale) as i64).max(1);
    let daemon = Daemon::start().expect("a daemon");
    let client = daemon.client();
    let schema = TableSchema::new("records", KeyAttribute::string("id")).sort(KeyAttribute::number("at"));
    client.create_table(schema).await.unwrap();
    let records: Table<Record> = client.table("records");
    for at in 0..PAGE {
        records.put(&record_of(at)).await.unwrap();
    }
    let channel = Endpoint::from_shared(format!("http://{}", daemon.address())).unwrap().connect().await.unwrap();
    let stub = Stub::new(channel);
    println!("| Operation | stub, us | by hand, us | client, us | client / stub | client / by hand |");
    println!("| --- | --- | --- | --- | --- | --- |");
    gets(&stub, &records, times(2000)).await;
    puts(&stub, &records, times(2000)).await;
    pages(&stub, &records, times(300)).await;
    println!("\n| Puts | time of the client, us each | puts a second |\n| --- | --- | --- |");
    concurrent("64 tasks, calls", records, times(500)).await;
    let pipeline = client.pipeline();
    concurrent("64 tasks, a pipeline", pipeline.client().table("records"), times(500)).await;
    batches(&client, 1, times(50_000)).await;
    batches(&client, 4, times(50_000)).await;
}
