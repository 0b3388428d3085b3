//! Operations of scenarios: writes, batches, transactions, tables.
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use armature_client::{
    api, BatchWriteError, BatchWriter, Client, Error, GlobalIndex, Item, Key, KeyAttribute, LocalIndex, Projection,
    Result, Table, TableSchema, Value, Watch, Written,
};
use futures_util::future::join_all;
use serde_yaml_ng::Value as Yaml;

use crate::expressions::{expression, update};
use crate::failures::type_of;
use crate::values::{entries, has, is_true, item_of, list, list_of, member, native, number, numbered, text, texts};

/// The operations of one scenario.
pub struct Operations<'a> {
    pub tables: &'a Yaml,
    /// Of the last query_page.
    pub position: Option<Key>,
    pub watches: HashMap<String, Watch<Item>>,
}

/// The time for waits.
pub const WAIT_TIME: Duration = Duration::from_secs(20);

pub fn item_or_null(item: Option<Item>) -> Value {
    item.map_or(Value::Null, Value::M)
}

pub fn values_of(items: Vec<Item>) -> Value {
    Value::L(items.into_iter().map(Value::M).collect())
}

pub fn table_of(client: &Client, node: &Yaml) -> Table<Item> {
    client.table(text(node, "table"))
}

/// Sets an option of a request.
macro_rules! with {
    ($request:ident $($condition:expr => $change:expr;)*) => {
        $(if $condition {
            $request = $change;
        })*
    };
}
pub(crate) use with;

/// Sets the options of a write.
macro_rules! write_options {
    ($request:ident, $node:ident, $timeout:ident) => {
        if let Some(condition) = expression($node, "condition") {
            $request = $request.condition(condition);
        }
        if let Some(timeout) = $timeout {
            $request = $request.timeout(timeout);
        }
        with!($request
            is_true($node, "return_on_failure") => $request.return_item_on_failure();
            is_true($node, "idempotent") => $request.idempotent();
            member($node, "return") == "all_old" => $request.return_old();
        );
    };
}

impl<'a> Operations<'a> {
    pub fn new(tables: &'a Yaml) -> Self {
        Self { tables, position: None, watches: HashMap::new() }
    }

    /// Makes a call and returns its result.
    pub fn call<'b>(
        &'b mut self,
        client: &'b Client,
        kind: &'b str,
        node: &'b Yaml,
        timeout: Option<Duration>,
    ) -> Pin<Box<dyn Future<Output = Result<Value>> + 'b>> {
        Box::pin(async move {
            match kind {
                "put" => put(client, node, timeout).await,
                "get" => get(client, node, timeout).await,
                "update" => change(client, node, timeout).await,
                "delete" => delete(client, node, timeout).await,
                "put_many" => put_many(client, node, timeout).await,
                "write_many" => write_many(client, node, timeout).await,
                "batch_get" => batch_get(client, node, timeout).await,
                "batch_get_count" => batch_get(client, node, timeout).await.map(counts),
                "transact_write" => transact_write(client, node, timeout).await,
                "transact_get" => transact_get(client, node).await,
                "pipeline" => self.pipeline(client, node).await,
                "statement" => statement(client, node).await,
                "create_table" => {
                    let definition = member(self.tables, &text(node, "like"));
                    create_table(client, &text(node, "table"), definition).await.map(|()| Value::Null)
                }
                "delete_table" => client.delete_table(&text(node, "table")).await.map(|()| Value::Null),
                "list_tables" => client.list_tables().await.map(Value::from),
                "describe_table" => describe_table(client, node).await,
                "wait_for_indexes" => {
                    client.wait_for_indexes(&text(node, "table"), WAIT_TIME).await.map(|()| Value::Null)
                }
                _ => self.read(client, kind, node, timeout).await,
            }
        })
    }

    /// Makes all operations at once, over one stream.
    async fn pipeline(&self, client: &Client, node: &Yaml) -> Result<Value> {
        let pipeline = client.pipeline();
        let operations = node.as_sequence().expect("a list").iter().map(|one| async {
            let (kind, members) = entries(one).next().expect("an operation");
            match Operations::new(self.tables).call(pipeline.client(), kind, members, None).await {
                Ok(result) => Value::M(Item::from([("ok", result)])),
                Err(error) => Value::M(Item::from([("error", type_of(&error))])),
            }
        });
        Ok(Value::L(join_all(operations).await))
    }
}

fn item_in(written: Written<Item>) -> Value {
    item_or_null(written.item)
}

async fn put(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let table = table_of(client, node);
    let mut request = table.put(&item_of(member(node, "item")));
    write_options!(request, node, timeout);
    request.await.map(item_in)
}

async fn change(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let table = table_of(client, node);
    let mut request = table.update(item_of(member(node, "key")), update(node));
    write_options!(request, node, timeout);
    with!(request
        member(node, "return") == "all_new" => request.return_new();
        member(node, "return") == "updated_old" => request.return_updated_old();
        member(node, "return") == "updated_new" => request.return_updated_new();
    );
    request.await.map(item_in)
}

async fn delete(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let table = table_of(client, node);
    let mut request = table.delete(item_of(member(node, "key")));
    write_options!(request, node, timeout);
    request.await.map(item_in)
}

async fn get(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let table = table_of(client, node);
    let mut request = table.get(item_of(member(node, "key")));
    if let Some(projection) = expression(node, "projection") {
        request = request.projection(projection);
    }
    if let Some(timeout) = timeout {
        request = request.timeout(timeout);
    }
    with!(request is_true(node, "consistent") => request.consistent(););
    request.await.map(item_or_null)
}

fn writer_of(client: &Client, timeout: Option<Duration>) -> BatchWriter {
    let writer = client.batch_writer();
    match timeout {
        Some(timeout) => writer.timeout(timeout),
        None => writer,
    }
}

async fn put_many(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let mut writer = writer_of(client, timeout);
    for at in 0..number(node, "count").expect("a count") {
        writer.put(&text(node, "table"), &item_of(&numbered(member(node, "item"), at))).await?;
    }
    writer.flush().await.map(|()| Value::Null)
}

async fn write_many(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let mut writer = writer_of(client, timeout);
    let mut failed: Option<Box<BatchWriteError>> = None;
    let mut note = |result: Result<()>| match (result, &mut failed) {
        (Err(Error::BatchWrite(more)), Some(failed)) => {
            failed.dropped.extend(more.dropped);
            Ok(())
        }
        (Err(Error::BatchWrite(first)), failed) => {
            *failed = Some(first);
            Ok(())
        }
        (result, _) => result,
    };
    for write in node.as_sequence().expect("a list") {
        let put = member(write, "put");
        let result = if put.is_null() {
            let delete = member(write, "delete");
            writer.delete(&text(delete, "table"), item_of(member(delete, "key"))).await
        } else {
            writer.put(&text(put, "table"), &item_of(member(put, "item"))).await
        };
        note(result)?;
    }
    note(writer.flush().await)?;
    failed.map_or(Ok(Value::Null), |failed| Err(Error::BatchWrite(failed)))
}

async fn batch_get(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let mut found = Item::new();
    for (table, part) in entries(node) {
        let keys = list_of(part, "keys", "key");
        let table: Table<Item> = client.table(table);
        let mut request = table.batch_get(keys.iter().map(item_of));
        if let Some(projection) = expression(part, "projection") {
            request = request.projection(projection);
        }
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        with!(request is_true(part, "consistent") => request.consistent(););
        found.insert(table.name().to_owned(), values_of(request.await?));
    }
    Ok(Value::M(found))
}

fn counts(found: Value) -> Value {
    let Value::M(tables) = found else { panic!("{found:?}") };
    let counts = tables.into_iter().map(|(table, items)| match items {
        Value::L(items) => (table, Value::from(items.len())),
        other => panic!("{other:?}"),
    });
    Value::M(counts.collect())
}

async fn transact_write(client: &Client, node: &Yaml, timeout: Option<Duration>) -> Result<Value> {
    let mut transaction = client.transaction();
    if has(node, "token") {
        transaction.set_token(text(node, "token"));
    }
    if let Some(timeout) = timeout {
        transaction.set_timeout(timeout);
    }
    if has(node, "put") {
        for put in list_of(node, "actions", "put") {
            transaction.put(&text(&put, "table"), &item_of(member(&put, "item")));
        }
    }
    for (kind, part) in list(node, "actions").iter().flat_map(entries) {
        let table = text(part, "table");
        let key = || item_of(member(part, "key"));
        let condition = expression(part, "condition");
        let action = match kind {
            "put" => transaction.put(&table, &item_of(member(part, "item"))),
            "update" => transaction.update(&table, key(), update(part)),
            "delete" => transaction.delete(&table, key()),
            "check" => transaction.check(&table, key(), condition.clone().expect("a condition")),
            other => panic!("the action {other}"),
        };
        if let Some(condition) = condition {
            action.condition(condition);
        }
        if is_true(part, "return_on_failure") {
            action.return_item_on_failure();
        }
    }
    transaction.commit().await.map(|_| Value::Null)
}

async fn transact_get(client: &Client, node: &Yaml) -> Result<Value> {
    let mut request = client.transact_get();
    for read in list(node, "keys") {
        request = request.get(&text(read, "table"), item_of(member(read, "key")));
        if let Some(projection) = expression(node, "projection") {
            request = request.projection(projection);
        }
    }
    Ok(Value::L(request.await?.into_iter().map(item_or_null).collect()))
}

async fn statement(client: &Client, node: &Yaml) -> Result<Value> {
    let parameters = list(node, "parameters").iter().map(native);
    client.execute(text(node, "text"), parameters).await.map(values_of)
}

async fn describe_table(client: &Client, node: &Yaml) -> Result<Value> {
    let table = client.describe_table(&text(node, "table")).await?;
    let globals = table.global_secondary_indexes.iter().map(|index| index.index_name.clone());
    let locals = table.local_secondary_indexes.iter().map(|index| index.index_name.clone());
    let mut indexes: Vec<String> = globals.chain(locals).collect();
    indexes.sort();
    let status = table.table_status().as_str_name().trim_start_matches("TABLE_STATUS_").to_owned();
    Ok(Value::M(Item::from([("status", Value::from(status)), ("indexes", indexes.into())])))
}

fn key_attributes(node: &Yaml) -> Vec<KeyAttribute> {
    let pairs = node.as_sequence().map_or(&[][..], Vec::as_slice).iter().map(texts);
    pairs
        .map(|pair| match pair[1].as_str() {
            "S" => KeyAttribute::string(&pair[0]),
            "N" => KeyAttribute::number(&pair[0]),
            "B" => KeyAttribute::binary(&pair[0]),
            other => panic!("the type {other}"),
        })
        .collect()
}

fn projection(node: &Yaml) -> Projection {
    match node {
        Yaml::Sequence(_) => Projection::Include(texts(node)),
        Yaml::String(keys) if keys == "keys" => Projection::KeysOnly,
        _ => Projection::All,
    }
}

pub async fn create_table(client: &Client, name: &str, definition: &Yaml) -> Result<()> {
    let mut schema = TableSchema::new(name, key_attributes(member(definition, "partition")).remove(0));
    for attribute in key_attributes(member(definition, "sort")) {
        schema = schema.sort(attribute);
    }
    if has(definition, "stream") {
        let name = format!("STREAM_VIEW_TYPE_{}", text(definition, "stream"));
        schema = schema.stream(api::StreamViewType::from_str_name(&name).expect("images"));
    }
    if let [read, write] = list(definition, "capacity") {
        schema = schema.provisioned(read.as_i64().expect("units"), write.as_i64().expect("units"));
    }
    for (name, index) in entries(member(definition, "indexes")) {
        let mut partition = key_attributes(member(index, "partition")).into_iter();
        let mut made = GlobalIndex::new(name, partition.next().expect("a partition key"));
        made = partition.fold(made, GlobalIndex::partition);
        made = key_attributes(member(index, "sort")).into_iter().fold(made, GlobalIndex::sort);
        schema = schema.global_index(made.projection(projection(member(index, "projection"))));
    }
    for (name, index) in entries(member(definition, "local_indexes")) {
        let sort = key_attributes(member(index, "sort")).remove(0);
        schema = schema.local_index(LocalIndex::new(name, sort).projection(projection(member(index, "projection"))));
    }
    client.create_table(schema).await
}
