//! Futures that are dropped, kills and restarts, against the daemon at $ARMATURED.
use std::time::{Duration, Instant};

use armature_client::testing::{Daemon, BINARY_VARIABLE};
use armature_client::{
    api, expr, item, Client, Error, Item, KeyAttribute, PipelineOptions, Retry, Shards, Table, TableSchema, Value,
};
use futures_util::future::join_all;

/// A daemon, and a client of it. Tests pass without a daemon on this machine.
fn start() -> Option<(Daemon, Client)> {
    if std::env::var_os(BINARY_VARIABLE).is_none() {
        eprintln!("skipped: {BINARY_VARIABLE} is not set");
        return None;
    }
    let daemon = Daemon::start().unwrap();
    let client = daemon.client();
    Some((daemon, client))
}

async fn users_of(client: &Client) -> Table<Item> {
    let schema = TableSchema::new("users", KeyAttribute::string("id")).stream(api::StreamViewType::NewAndOldImages);
    client.create_table(schema).await.unwrap();
    client.table("users")
}

#[tokio::test]
async fn a_writer_loses_nothing_when_its_futures_are_dropped() {
    let Some((daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    let mut writer = client.batch_writer();
    writer.put("users", &item! { "id": "first" }).await.unwrap();
    for at in 0..24 {
        writer.put("users", &item! { "id": at.to_string() }).await.unwrap();
    }
    daemon.signal("STOP").unwrap();
    // The 26th sends the first 25, which are not answered.
    let dropped = tokio::time::timeout(Duration::from_millis(100), writer.put("users", &item! { "id": "last" })).await;
    assert!(dropped.is_err());
    assert_eq!(writer.waiting(), 25);
    let dropped = tokio::time::timeout(Duration::from_millis(100), writer.flush()).await;
    assert!(dropped.is_err());
    assert_eq!(writer.waiting(), 25);
    daemon.signal("CONT").unwrap();
    writer.put("users", &item! { "id": "last" }).await.unwrap();
    writer.flush().await.unwrap();
    assert_eq!(writer.waiting(), 0);
    assert_eq!(users.scan().count().await.unwrap(), 26);
}

#[tokio::test]
async fn a_writer_is_bounded_and_goes_on_after_an_outage() {
    let Some((mut daemon, _)) = start() else { return };
    let retry = Retry { max_attempts: 2, ..Retry::default() };
    let client = Client::builder(daemon.address()).retry(retry).build().unwrap();
    let users = users_of(&client).await;
    let mut writer = client.batch_writer();
    writer.put("users", &item! { "id": "first" }).await.unwrap();
    daemon.kill().unwrap();
    let mut added = 1;
    for at in 0..200 {
        added += usize::from(writer.put("users", &item! { "id": at.to_string() }).await.is_ok());
    }
    assert_eq!((added, writer.waiting()), (25, 25));
    daemon.restart().unwrap();
    writer.flush().await.unwrap();
    assert_eq!(users.scan().count().await.unwrap(), 25);
}

#[tokio::test]
async fn a_writer_drops_only_what_is_refused() {
    let Some((_daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    client.create_table(TableSchema::new("others", KeyAttribute::string("id"))).await.unwrap();
    let mut writer = client.batch_writer();
    writer.put("others", &item! { "id": "gone" }).await.unwrap();
    for at in 0..20 {
        writer.put("users", &item! { "id": at.to_string() }).await.unwrap();
    }
    client.delete_table("others").await.unwrap();
    let Err(Error::BatchWrite(failed)) = writer.flush().await else { panic!("a write to a missing table") };
    assert_eq!(failed.dropped.len(), 1);
    assert_eq!(failed.dropped[0].table, "others");
    assert_eq!(users.scan().count().await.unwrap(), 20);
    writer.flush().await.unwrap();
}

#[tokio::test]
async fn a_watch_position_is_that_of_the_handled_changes() {
    let Some((mut daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    let mut watch = users.watch().heartbeat(Duration::from_secs(1)).start().unwrap();
    watch.ready().await.unwrap();
    let begin = watch.position().unwrap().to_owned();
    for at in 0..10 {
        users.put(&item! { "id": at.to_string() }).await.unwrap();
    }
    let mut seen: Vec<String> = Vec::new();
    while seen.len() < 10 {
        // Futures that are dropped at any point lose nothing.
        let Ok(change) = tokio::time::timeout(Duration::from_micros(50), watch.try_next()).await else { continue };
        let sequence = change.unwrap().unwrap().sequence;
        // Later changes are in memory, and not handled.
        assert_eq!(watch.position(), Some(sequence.as_str()));
        seen.push(sequence);
        if seen.len() == 5 {
            daemon.restart().unwrap();
        }
    }
    let mut again = users.watch().after(begin).start().unwrap();
    for sequence in &seen {
        assert_eq!(again.try_next().await.unwrap().unwrap().sequence, *sequence);
    }
}

#[tokio::test]
async fn a_pipeline_is_bounded_and_outlives_its_stream() {
    let Some((mut daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    let pipeline = client.pipeline_with(PipelineOptions { in_flight: 2, in_flight_bytes: 1000 });
    let table = pipeline.client().table::<Item>("users");
    let big = "x".repeat(5000);
    let put = |at: i32, text: &str| {
        let (table, item) = (table.clone(), item! { "id": at.to_string(), "text": text });
        async move { table.put(&item).await }
    };
    let puts = (0..200).map(|at| put(at, if at % 50 == 0 { &big } else { "small" }));
    join_all(puts).await.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(users.scan().count().await.unwrap(), 200);
    daemon.signal("STOP").unwrap();
    // Dropped operations give their places back.
    for at in 0..10 {
        assert!(tokio::time::timeout(Duration::from_millis(5), put(at, "dropped")).await.is_err());
    }
    let outstanding = tokio::spawn(put(1, "lost"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    daemon.kill().unwrap();
    let lost = outstanding.await.unwrap();
    assert!(matches!(lost, Err(Error::OutcomeUnknown(_))), "{lost:?}");
    daemon.restart().unwrap();
    put(2, "after").await.unwrap();
}

#[tokio::test]
async fn many_tasks_outlive_restarts() {
    let Some((mut daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    let tasks: Vec<_> = (0..10)
        .map(|task| {
            let users = users.clone();
            tokio::spawn(async move {
                for at in 0..100 {
                    users.put(&item! { "id": format!("{task}.{at}") }).await.unwrap();
                }
            })
        })
        .collect();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(30)).await;
        daemon.restart().unwrap();
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(users.scan().count().await.unwrap(), 1000);
}

#[tokio::test]
async fn calls_leave_a_paused_daemon_for_another_address() {
    let Some((first, _)) = start() else { return };
    let (second, _) = start().expect("there is one");
    users_of(&first.client()).await;
    let users = users_of(&second.client()).await;
    users.put(&item! { "id": "ann" }).await.unwrap();
    let client = Client::new(format!("{},{}", first.address(), second.address())).unwrap();
    let users = client.table::<Item>("users");
    assert_eq!(users.get(item! { "id": "ann" }).await.unwrap(), None);
    first.signal("STOP").unwrap();
    // It takes a moment to stop.
    let begin = Instant::now();
    while users.get(item! { "id": "ann" }).timeout(Duration::from_secs(30)).await.unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no answer is that of the second daemon");
    }
}

/// The runtime of the test is blocked by the drop: its connections do not hear that the daemon would like to end.
#[tokio::test]
async fn a_dropped_daemon_ends_at_once() {
    let Some((daemon, client)) = start() else { return };
    users_of(&client).await;
    let begin = Instant::now();
    drop(daemon);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_client_outlives_its_runtime() {
    let Some((_daemon, client)) = start() else { return };
    for round in 0..4 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            if round == 0 {
                users_of(&client).await;
            }
            let users = client.table::<Item>("users");
            users.put(&item! { "id": "ann" }).await.unwrap();
            users.get(item! { "id": "ann" }).await.unwrap().unwrap();
        });
    }
}

#[tokio::test]
async fn nulls_and_deep_values_are_stored() {
    let Some((_daemon, client)) = start() else { return };
    let users = users_of(&client).await;
    let mut deep = Value::from("deep");
    for level in 1..32 {
        deep = if level % 2 == 0 { vec![deep].into() } else { Value::M(Item::from([("m", deep)])) };
    }
    let ann = item! { "id": "ann", "nothing": Value::Null, "deep": deep };
    users.put(&ann).await.unwrap();
    assert_eq!(users.get(item! { "id": "ann" }).await.unwrap(), Some(ann.clone()));
    assert_eq!(users.batch_get([item! { "id": "ann" }]).await.unwrap(), std::slice::from_ref(&ann));
    let found = users.scan().filter(expr("nothing = $null").param("null", Value::Null)).all().await.unwrap();
    assert_eq!(found, [ann]);
}

#[tokio::test]
async fn a_continuation_belongs_to_its_query() {
    let Some((_daemon, client)) = start() else { return };
    let schema = TableSchema::new("events", KeyAttribute::string("day")).sort(KeyAttribute::number("at"));
    client.create_table(schema).await.unwrap();
    let events = client.table::<Item>("events");
    for at in 0..40 {
        events.put(&item! { "day": format!("mon.{}", at % 4 + 1), "at": at }).await.unwrap();
    }
    let shards = || Shards::suffixed("day", "mon", 4).page_items(7);
    let query = || events.query("#day = $day");
    let page = query().sharded_pages(shards()).try_next().await.unwrap().unwrap();
    assert_eq!(page.items.len(), 7);
    let continuation = page.continuation.unwrap();
    let rest = query().sharded(shards().continuation(&continuation)).try_collect().await.unwrap();
    let numbers: Vec<i64> = rest.iter().map(|item| item["at"].as_number().unwrap().parse().unwrap()).collect();
    assert_eq!(numbers, (7..40).collect::<Vec<_>>());
    for wrong in [
        query().descending().sharded(shards().continuation(&continuation)),
        query().sharded(Shards::suffixed("day", "tue", 4).continuation(&continuation)),
        query().sharded(Shards::suffixed("day", "mon", 5).continuation(&continuation)),
        query().sharded(shards().continuation("nonsense")),
        query().sharded(shards().continuation("")),
    ] {
        assert!(matches!(wrong.try_collect().await, Err(Error::Argument(_))));
    }
}
