//! Operations of scenarios: queries, scans, watches.
use std::time::Duration;

use armature_client::{Change, Client, Error, Event, Item, Result, Shards, Value, Watch};
use serde_yaml_ng::Value as Yaml;

use crate::expressions::{expression, text_condition};
use crate::operations::{table_of, values_of, with, Operations, WAIT_TIME};
use crate::values::{has, is_true, item_of, member, number, text};

/// Sets the options of a query or scan.
macro_rules! page_options {
    ($request:ident, $node:ident, $timeout:ident) => {
        if let Some(filter) = expression($node, "filter") {
            $request = $request.filter(filter);
        }
        if let Some(projection) = expression($node, "projection") {
            $request = $request.projection(projection);
        }
        if let Some(size) = number($node, "page_size") {
            $request = $request.page_size(size as u32);
        }
        if let Some(timeout) = $timeout {
            $request = $request.timeout(timeout);
        }
        with!($request
            has($node, "index") => $request.index(text($node, "index"));
            is_true($node, "consistent") => $request.consistent();
        );
    };
}

impl Operations<'_> {
    pub async fn read(&mut self, client: &Client, kind: &str, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
        match kind {
            "query" | "query_page" | "query_pages" | "count" => self.query(client, kind, node, timeout).await,
            "scan" => scan(client, node, timeout).await,
            "scan_count" => {
                let mut request = table_of(client, node).scan();
                page_options!(request, node, timeout);
                request.count().await.map(Value::from)
            }
            "sharded_query" => sharded_query(client, node).await,
            "watch_start" => self.watch_start(client, node).await,
            "watch" => self.watch(client, node).await,
            "watch_resume" => self.watch_resume(client, node).await,
            other => panic!("unknown operation {other}"),
        }
    }

    async fn query(&mut self, client: &Client, kind: &str, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
        let mut request = table_of(client, node).query(expression(node, "key_condition").expect("a condition"));
        page_options!(request, node, timeout);
        with!(request is_true(node, "descending") => request.descending(););
        match kind {
            "count" => request.count().await.map(Value::from),
            "query_pages" => {
                let pages = request.pages().try_collect().await?;
                Ok(pages.into_iter().map(|page| page.items.len()).collect::<Vec<_>>().into())
            }
            "query_page" => {
                if is_true(node, "after") {
                    request = request.start_after(self.position.take().expect("a position"));
                }
                let page = request.pages().try_next().await?.expect("a page");
                self.position = page.last_key;
                let more = Value::from(self.position.is_some());
                Ok(Value::M(Item::from([("items", values_of(page.items)), ("more", more)])))
            }
            _ => {
                let mut items = Vec::new();
                let mut stream = request.items();
                while number(node, "take") != Some(items.len() as u64) {
                    let Some(item) = stream.try_next().await? else { break };
                    items.push(item);
                }
                Ok(values_of(items))
            }
        }
    }

    async fn watch_start(&mut self, client: &Client, node: &Yaml) -> Result<Value> {
        let mut builder = table_of(client, node).watch().heartbeat(Duration::from_secs(1));
        if let Some(filter) = expression(node, "filter") {
            builder = builder.filter(filter);
        }
        with!(builder
            member(node, "from") == "oldest" => builder.from_oldest();
            has(node, "partition") => builder.partition(item_of(member(node, "partition")));
            has(node, "after") => builder.after(text(node, "after"));
        );
        let name = member(node, "name").as_str().unwrap_or_default();
        self.stand(name, builder.start()?).await
    }

    async fn stand(&mut self, name: &str, mut watch: Watch<Item>) -> Result<Value> {
        timely(watch.ready()).await?;
        self.watches.insert(name.to_owned(), watch);
        Ok(Value::Null)
    }

    async fn watch(&mut self, client: &Client, node: &Yaml) -> Result<Value> {
        let name = member(node, "name").as_str().unwrap_or_default();
        if !self.watches.contains_key(name) {
            self.watch_start(client, node).await?;
        }
        let watch = self.watches.get_mut(name).expect("was inserted");
        let mut changes = Vec::new();
        for _ in 0..number(node, "count").expect("a count") {
            let change = timely(watch.try_next()).await?.expect("a watch ends with an error");
            assert_eq!(watch.position(), Some(change.sequence.as_str()));
            changes.push(result_of(change));
        }
        if name.is_empty() {
            self.watches.clear();
        }
        Ok(Value::L(changes))
    }

    async fn watch_resume(&mut self, _client: &Client, node: &Yaml) -> Result<Value> {
        let name = text(node, "name");
        let ended = self.watches.remove(&name).expect("a watch");
        let position = ended.position().expect("a position").to_owned();
        let builder = ended.table().watch().heartbeat(Duration::from_secs(1));
        drop(ended);
        self.stand(&name, builder.after(position).start()?).await
    }
}

async fn timely<T>(next: impl std::future::Future<Output = Result<T>>) -> Result<T> {
    let patience = tokio::time::timeout(WAIT_TIME, next).await;
    patience.unwrap_or_else(|_| Err(Error::Timeout("no change comes".into())))
}

fn result_of(change: Change<Item>) -> Value {
    let event = match change.event {
        Event::Insert => "INSERT",
        Event::Modify => "MODIFY",
        Event::Remove => "REMOVE",
        _ => "unknown",
    };
    let mut result = Item::from([("event", Value::from(event)), ("key", Value::M(change.key))]);
    for (name, image) in [("new", change.new), ("old", change.old)] {
        if let Some(image) = image {
            result.insert(name.to_owned(), Value::M(image));
        }
    }
    Value::M(result)
}

async fn scan(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let mut request = table_of(client, node).scan();
    page_options!(request, node, timeout);
    let items = match number(node, "segments") {
        Some(segments) => request.parallel(segments as u32),
        None => request.items(),
    };
    items.try_collect().await.map(values_of)
}

async fn sharded_query(client: &Client, node: &Yaml) -> Result<Value> {
    let (parameter, count) = (text(node, "shard_param"), number(node, "shards").expect("a number") as u32);
    let mut shards = match member(node, "prefix").as_str() {
        Some(prefix) => Shards::suffixed(parameter, prefix, count),
        None => Shards::numbered(parameter, count),
    };
    if let Some(size) = number(node, "page_size") {
        shards = shards.page_items(size as u32);
    }
    let table = table_of(client, node);
    let query = || {
        let mut request = table.query(text_condition(node));
        if let Some(projection) = expression(node, "projection") {
            request = request.projection(projection);
        }
        with!(request
            has(node, "index") => request.index(text(node, "index"));
            is_true(node, "descending") => request.descending();
        );
        request
    };
    if !is_true(node, "resume") {
        return query().sharded(shards).try_collect().await.map(values_of);
    }
    let mut all = Vec::new();
    loop {
        // A new query continues.
        let page = query().sharded_pages(shards.clone()).try_next().await?.expect("a page");
        all.extend(page.items);
        match page.continuation {
            Some(continuation) => shards = shards.continuation(continuation),
            None => return Ok(values_of(all)),
        }
    }
}
