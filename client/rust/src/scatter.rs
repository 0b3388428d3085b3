//! Queries over a partition that is spread over shards.
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use base64::prelude::{Engine, BASE64_URL_SAFE};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use prost::Message;
use serde::de::DeserializeOwned;

use crate::expression::{Expression, Node};
use crate::pages::{PageRequest, Query, Results};
use crate::session::table_name;
use crate::table::{Common, Pending};
use crate::{api, from_item, Client, Error, Item, Key, Number, Result, Value};

const SHARDS_MAX: u32 = 1000;
/// Number of entries requested from a shard beyond twice its even share of a page, so that small pages seldom need a second call.
const SPARE_ENTRIES: u32 = 10;
/// Version of the form of a continuation: a list of the version, the query, and a value for each shard. The value is true for a finished
/// shard, null for one that has not begun, else a map with the key of its last item.
const CONTINUATION_VERSION: &str = "1";

/// How a partition is spread. A partition key with few values, such as a day or a status, takes all writes in few partitions; a
/// writer avoids that by a number from 1 to N in the key, "2024-10-01.7", or in a partition attribute of its own.
#[derive(Clone)]
#[must_use]
pub struct Shards {
    parameter: String,
    value: Arc<dyn Fn(u32) -> Value + Send + Sync>,
    first: u32,
    count: u32,
    page_items: u32,
    parallel: usize,
    continuation: Option<String>,
}

impl Shards {
    /// The shards 1 to `count`, at most 1000. `parameter` is the parameter of the key condition that stands for the partition value of a
    /// shard, which `value` returns for its number.
    pub fn new<V: Into<Value>>(
        parameter: impl Into<String>,
        count: u32,
        value: impl Fn(u32) -> V + Send + Sync + 'static,
    ) -> Self {
        Self {
            parameter: parameter.into(),
            value: Arc::new(move |shard| value(shard).into()),
            first: 1,
            count,
            page_items: 1000,
            parallel: 8,
            continuation: None,
        }
    }

    /// Shards whose partition values are the texts prefix.1, prefix.2, and so on.
    pub fn suffixed(parameter: impl Into<String>, prefix: impl Into<String>, count: u32) -> Self {
        let prefix = prefix.into();
        Self::new(parameter, count, move |shard| format!("{prefix}.{shard}"))
    }

    /// Shards whose partition values are the numbers 1, 2, and so on.
    pub fn numbered(parameter: impl Into<String>, count: u32) -> Self {
        Self::new(parameter, count, |shard| shard)
    }

    /// The number of the first shard: 1 by default.
    pub fn first(mut self, number: u32) -> Self {
        self.first = number;
        self
    }

    /// Number of items of a page: 1000 by default.
    pub fn page_items(mut self, items: u32) -> Self {
        self.page_items = items;
        self
    }

    /// Number of concurrent calls: 8 by default.
    pub fn parallel(mut self, calls: usize) -> Self {
        self.parallel = calls;
        self
    }

    /// Begins at the continuation of a page, also of another process.
    pub fn continuation(mut self, continuation: impl Into<String>) -> Self {
        self.continuation = Some(continuation.into());
        self
    }

    fn check(&self) -> Result<()> {
        if !(1..=SHARDS_MAX).contains(&self.count) || self.first.checked_add(self.count).is_none() {
            return Err(Error::argument("shards", "must be 1 to 1000"));
        }
        if self.page_items == 0 || self.parallel == 0 {
            return Err(Error::argument("shards", "page_items and parallel must be positive"));
        }
        Ok(())
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards").field("parameter", &self.parameter).field("count", &self.count).finish_non_exhaustive()
    }
}

/// A page of [`Query::sharded_pages`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShardedPage<T> {
    /// The items. Only the last page has fewer than [`Shards::page_items`].
    pub items: Vec<T>,
    /// Position of the next page, for [`Shards::continuation`]. `None` after the last page.
    pub continuation: Option<String>,
}

impl<T: DeserializeOwned + Send + 'static> Query<T> {
    /// Queries all shards of a spread partition at once: the items as a stream, in the order of the sort key.
    ///
    /// ```no_run
    /// # use armature_client::{expr, Item, Shards, Table};
    /// # fn example(events: Table<Item>) {
    /// let condition = expr("#day = $day AND amount >= $least").param("least", 100);
    /// let events = events.query(condition).sharded(Shards::suffixed("day", "2024-10-01", 10));
    /// # }
    /// ```
    ///
    /// The condition is a text; the parameter of the shard needs no value. Items with equal sort keys are in the order of their shards.
    /// The shards are not read at one moment. A projection must keep all key attributes.
    pub fn sharded(self, shards: Shards) -> Results<T> {
        let pages = self.sharded_pages(shards);
        Results::new(pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten())
    }

    /// The pages of [`Query::sharded`].
    pub fn sharded_pages(self, shards: Shards) -> Results<ShardedPage<T>> {
        enum State<T> {
            Begin(Box<(Query<T>, Shards)>),
            Walk(Box<Walk>),
            End,
        }
        let begin = State::Begin(Box::new((self, shards)));
        Results::new(stream::try_unfold(begin, |state| async move {
            let mut walk = match state {
                State::End => return Ok(None),
                State::Begin(begin) => Box::new(Walk::new(begin.0, &begin.1).await?),
                State::Walk(walk) => walk,
            };
            let items = walk.next().await?.into_iter().map(from_item).collect::<Result<_>>()?;
            let continuation = (!walk.is_done()).then(|| walk.continuation());
            let next = if continuation.is_some() { State::Walk(walk) } else { State::End };
            Ok(Some((ShardedPage { items, continuation }, next)))
        }))
    }
}

/// Names of the key attributes that the items of a query have.
struct KeyNames {
    /// Of the table or index, in their order.
    sort: Vec<String>,
    others: Vec<String>,
}

impl KeyNames {
    fn all(&self) -> impl Iterator<Item = &String> {
        self.sort.iter().chain(&self.others)
    }

    /// The key attributes of the items of an index, or of the table.
    fn of(table: &api::TableDescription, index: Option<&str>) -> Result<Self> {
        let schema = match index {
            None => &table.key_schema,
            Some(name) => {
                let global = table.global_secondary_indexes.iter().find(|index| index.index_name == name);
                let local = table.local_secondary_indexes.iter().find(|index| index.index_name == name);
                global
                    .map(|index| &index.key_schema)
                    .or(local.map(|index| &index.key_schema))
                    .ok_or_else(|| Error::argument("index", format!("the table has no index {name}")))?
            }
        };
        let mut names = Self { sort: Vec::new(), others: Vec::new() };
        for element in schema {
            let list = if element.key_type() == api::KeyType::Range { &mut names.sort } else { &mut names.others };
            list.push(element.attribute_name.clone());
        }
        for element in &table.key_schema {
            if !names.all().any(|name| *name == element.attribute_name) {
                names.others.push(element.attribute_name.clone());
            }
        }
        Ok(names)
    }

    fn key_of(&self, item: &Item) -> Key {
        self.all().filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect()
    }
}

/// A query over all shards.
struct Walk {
    client: Client,
    common: Common,
    shards: Vec<Cursor>,
    keys: KeyNames,
    identity: Vec<u8>,
    is_forward: bool,
    page_items: usize,
    parallel: usize,
}

/// Reads the items of one shard ahead.
struct Cursor {
    number: u32,
    /// Of the next call.
    request: api::QueryRequest,
    /// Key of the last item of a page.
    delivered: Option<Key>,
    /// No more items can be fetched.
    is_exhausted: bool,
    items: VecDeque<Item>,
    /// Number of items of the last call.
    fetched: usize,
}

impl Walk {
    async fn new<T>(mut query: Query<T>, shards: &Shards) -> Result<Self> {
        shards.check()?;
        if query.options.start_after.is_some() {
            return Err(Error::argument("start_after", "a sharded query has a continuation instead"));
        }
        let Some(Expression(Node::Text(text))) = query.condition.take() else {
            return Err(Error::argument("condition", "of a sharded query is a text: see expr"));
        };
        let parameter = shards.parameter.trim_start_matches('$');
        let mut cursors = Vec::new();
        for number in shards.first..shards.first + shards.count {
            let value = (shards.value)(number);
            query.condition = Some(text.clone().param(parameter, value).into());
            let mut request = query.request()?;
            if request.limit.is_none() {
                let share = (shards.page_items - 1) / shards.count + 1;
                request.limit = Some(shards.page_items.min(2 * share + SPARE_ENTRIES).min(i32::MAX as u32) as i32);
            }
            cursors.push(Cursor {
                number,
                request,
                delivered: None,
                is_exhausted: false,
                items: VecDeque::new(),
                fetched: 0,
            });
        }
        let identity = identity_of(&cursors[0].request, shards);
        if let Some(continuation) = &shards.continuation {
            resume(&mut cursors, continuation, &identity)?;
        }
        let client = query.table.client().clone();
        let request = api::DescribeTableRequest { table_name: query.table.name().to_owned() };
        let table = client.call_with(&request, query.common.call).await?.table.unwrap_or_default();
        Ok(Self {
            keys: KeyNames::of(&table, query.options.index.as_deref())?,
            client,
            common: query.common,
            shards: cursors,
            identity,
            is_forward: !query.descending,
            page_items: shards.page_items as usize,
            parallel: shards.parallel,
        })
    }

    /// The items of the next page. The stream keeps this future when the program drops its own, so no item is lost.
    async fn next(&mut self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        while items.len() < self.page_items {
            if self.shards.iter().any(Cursor::needs_items) {
                self.fetch().await?;
                continue;
            }
            let Some(at) = self.first_shard() else { break };
            let shard = &mut self.shards[at];
            let Some(item) = shard.items.pop_front() else { break };
            shard.delivered = Some(self.keys.key_of(&item));
            items.push(item);
        }
        Ok(items)
    }

    /// The shard with the next item.
    fn first_shard(&self) -> Option<usize> {
        let filled = self.shards.iter().enumerate().filter_map(|(at, shard)| Some((at, shard.items.front()?)));
        let order = |a: &(usize, &Item), b: &(usize, &Item)| {
            let by_key = self.keys.sort.iter().map(|name| compare(a.1.get(name), b.1.get(name)));
            by_key.fold(Ordering::Equal, Ordering::then).then(a.0.cmp(&b.0))
        };
        let found = if self.is_forward { filled.min_by(order) } else { filled.max_by(order) };
        found.map(|(at, _)| at)
    }

    /// Fetches a page of each shard that runs low, until the first of them has failed.
    async fn fetch(&mut self) -> Result<()> {
        let (client, keys, common) = (&self.client, &self.keys, &self.common);
        let low = self.shards.iter_mut().filter(|shard| shard.runs_low());
        let calls: Vec<Pending<'_, ()>> = low.map(|shard| Box::pin(shard.fetch(client, keys, common)) as _).collect();
        stream::iter(calls).buffer_unordered(self.parallel).try_collect::<()>().await
    }

    fn is_done(&self) -> bool {
        self.shards.iter().all(|shard| shard.items.is_empty() && shard.is_exhausted)
    }

    fn continuation(&self) -> String {
        let mut values =
            vec![Value::N(Number::from_wire(CONTINUATION_VERSION.into())), Value::B(self.identity.clone())];
        values.extend(self.shards.iter().map(Cursor::position));
        BASE64_URL_SAFE.encode(Value::L(values).encode_to_vec())
    }
}

impl Cursor {
    fn needs_items(&self) -> bool {
        self.items.is_empty() && !self.is_exhausted
    }

    /// More items can be fetched, and half of the items of the last call are taken.
    fn runs_low(&self) -> bool {
        !self.is_exhausted && self.items.len() <= self.fetched / 2
    }

    async fn fetch(&mut self, client: &Client, keys: &KeyNames, common: &Common) -> Result<()> {
        let page = api::QueryRequest::page(client.call_with(&self.request, common.call).await?);
        common.report(&page.capacity);
        for item in &page.items {
            if let Some(name) = keys.all().find(|name| !item.contains_key(*name)) {
                let reason =
                    format!("an item of shard {} lacks the key attribute {name}; keep all key attributes", self.number);
                return Err(Error::argument("projection", reason));
            }
        }
        self.fetched = page.items.len();
        self.items.extend(page.items);
        self.is_exhausted = page.last_key.is_none();
        self.request.start_after(page.last_key);
        Ok(())
    }

    /// The position behind the items of the pages.
    fn position(&self) -> Value {
        let start = if !self.items.is_empty() {
            &self.delivered
        } else if self.is_exhausted {
            return Value::Bool(true);
        } else {
            // The start of the next call is behind the items that a filter has dropped, too.
            &self.request.exclusive_start_key
        };
        start.as_ref().map_or(Value::Null, |key| Value::M(key.clone()))
    }
}

/// Orders two values of one key attribute: numbers by value, texts and bytes by their bytes.
fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    match (a, b) {
        (Some(Value::N(a)), Some(Value::N(b))) => a.cmp(b),
        (Some(Value::S(a)), Some(Value::S(b))) => a.cmp(b),
        (Some(Value::B(a)), Some(Value::B(b))) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

/// The parts of a query that must be equal for one query to continue another.
fn identity_of(request: &api::QueryRequest, shards: &Shards) -> Vec<u8> {
    let head = format!(
        "{}\n{}\n{}\n{}\n{}\n",
        table_name(&request.table_name),
        request.index_name.as_deref().unwrap_or_default(),
        i32::from(request.scan_index_forward.is_none()),
        shards.first,
        shards.count
    );
    let mut identity = head.into_bytes();
    (shards.value)(shards.first).encode(&mut identity).expect("a Vec grows");
    identity
}

fn resume(cursors: &mut [Cursor], continuation: &str, identity: &[u8]) -> Result<()> {
    let malformed = || Error::argument("continuation", "is not the continuation of a sharded query");
    let encoded = BASE64_URL_SAFE.decode(continuation).map_err(|_| malformed())?;
    let Ok(Value::L(values)) = Value::decode(encoded.as_slice()) else {
        return Err(malformed());
    };
    let [Value::N(version), Value::B(query), positions @ ..] = values.as_slice() else {
        return Err(malformed());
    };
    if version.as_str() != CONTINUATION_VERSION {
        return Err(malformed());
    }
    if query != identity || positions.len() != cursors.len() {
        return Err(Error::argument("continuation", "is the continuation of another query"));
    }
    for (cursor, position) in cursors.iter_mut().zip(positions) {
        match position {
            Value::Bool(true) => cursor.is_exhausted = true,
            Value::Null => {}
            Value::M(key) if !key.is_empty() => {
                cursor.delivered = Some(key.clone());
                cursor.request.exclusive_start_key = Some(key.clone());
            }
            _ => return Err(malformed()),
        }
    }
    Ok(())
}
