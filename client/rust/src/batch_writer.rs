//! Many puts and deletes.
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use prost::Message;
use serde::Serialize;
use tokio::time::Instant;

use crate::client::{CallOptions, REQUEST_BYTES_MAX};
use crate::{api, to_item, Client, Error, Exception, Item, Key, Result};

/// Number of writes of one BatchWriteItem.
const BATCH_WRITES_MAX: usize = 25;
/// Size of the tags and lengths around a write and the name of its table.
const FRAMING_BYTES_MAX: usize = 32;

/// A write of a [`BatchWriter`].
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The table.
    pub table: String,
    /// The put or delete.
    pub action: WriteAction,
}

/// What a [`Write`] does.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteAction {
    /// Puts an item.
    Put(Item),
    /// Deletes the item with a key.
    Delete(Key),
}

impl WriteAction {
    /// The item of a put, and the key of a delete.
    pub fn item(&self) -> &Item {
        match self {
            Self::Put(item) | Self::Delete(item) => item,
        }
    }
}

/// Writes that the daemon would refuse every time. They are not done, and not waiting.
#[derive(Debug)]
pub struct BatchWriteError {
    /// The writes, in no particular order.
    pub dropped: Vec<Write>,
    /// The error of the first one.
    pub error: Error,
}

impl fmt::Display for BatchWriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; dropped writes: {}", self.error, self.dropped.len())
    }
}

impl std::error::Error for BatchWriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Collects puts and deletes and sends them 25 at a time. Writes that the daemon leaves unprocessed go into the next batch, after a
/// pause.
///
/// ```no_run
/// # use armature_client::{Client, Item};
/// # async fn example(client: Client, users: Vec<Item>) -> Result<(), armature_client::Error> {
/// let mut writer = client.batch_writer();
/// for user in &users {
///     writer.put("users", user).await?;
/// }
/// writer.flush().await?;
/// # Ok(()) }
/// ```
///
/// Writes of different items have no order. Two waiting writes of the same item are done in the order in which they were added.
///
/// A write is done, or waiting, or dropped because the daemon would refuse it every time: an invalid item, a missing table, no
/// permission. A method goes on after dropped writes, and returns them in [`Error::BatchWrite`]; a write that was being added
/// then *is* added. After any other error of [`BatchWriter::put`] and [`BatchWriter::delete`] the write is not added, and
/// all writes that may not be done are still waiting: [`BatchWriter::flush`] tries again, and may do a write twice.
///
/// Dropping the future of a method loses no waiting write: the batch under way is sent again. A dropped writer forgets its
/// waiting writes, so flush it first. At most some 50 writes are in memory.
#[must_use = "a writer forgets what is not flushed"]
pub struct BatchWriter {
    client: Client,
    waiting: VecDeque<Write>,
    /// The batch under way: still here if the future of its call was dropped.
    sending: Option<api::BatchWriteItemRequest>,
    dropped: Option<Box<BatchWriteError>>,
    change_sequence: u64,
    fruitless: u32,
    timeout: Option<Duration>,
    /// Key attributes of each table; empty: not known.
    keys: BTreeMap<String, Vec<String>>,
}

/// The end of one call.
enum Sent {
    Done,
    /// Smaller parts of the batch may succeed. All writes are waiting.
    Refused,
}

impl Client {
    /// Returns a writer without writes.
    pub fn batch_writer(&self) -> BatchWriter {
        BatchWriter {
            client: self.clone(),
            waiting: VecDeque::new(),
            sending: None,
            dropped: None,
            change_sequence: 0,
            fruitless: 0,
            timeout: None,
            keys: BTreeMap::new(),
        }
    }
}

impl BatchWriter {
    /// The time that each `put`, `delete` and `flush` may take, instead of the timeout of the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Number of writes that are not done.
    pub fn waiting(&self) -> usize {
        let sending = self
            .sending
            .as_ref()
            .map_or(0, |request| request.request_items.values().map(|list| list.requests.len()).sum());
        self.waiting.len() + sending
    }

    /// The highest position of the writes that are done, for `at_least`.
    pub fn change_sequence(&self) -> u64 {
        self.change_sequence
    }

    /// Adds a put. It sends a batch if enough writes are waiting.
    pub async fn put<T: Serialize + ?Sized>(&mut self, table: &str, item: &T) -> Result<()> {
        self.add(Write { table: table.to_owned(), action: WriteAction::Put(to_item(item)?) }).await
    }

    /// Adds a delete. It sends a batch if enough writes are waiting.
    pub async fn delete(&mut self, table: &str, key: impl Into<Key>) -> Result<()> {
        let key = key.into();
        key.check()?;
        self.add(Write { table: table.to_owned(), action: WriteAction::Delete(key) }).await
    }

    /// Adds a write, such as one that was dropped before.
    pub async fn add(&mut self, write: Write) -> Result<()> {
        let deadline = self.client.deadline(self.timeout)?;
        self.take_back();
        self.check_key(&write, deadline).await?;
        if bytes_of(&write) > REQUEST_BYTES_MAX {
            return Err(Error::argument("item", "is larger than a request may be"));
        }
        while self.waiting.len() >= BATCH_WRITES_MAX {
            self.send(BATCH_WRITES_MAX, deadline).await?;
        }
        self.waiting.push_back(write);
        self.take_dropped()
    }

    /// Sends all waiting writes. Ok: no write is waiting, and none was dropped since the last error.
    pub async fn flush(&mut self) -> Result<()> {
        let deadline = self.client.deadline(self.timeout)?;
        self.take_back();
        while !self.waiting.is_empty() {
            self.send(BATCH_WRITES_MAX, deadline).await?;
        }
        self.take_dropped()
    }

    fn take_dropped(&mut self) -> Result<()> {
        self.dropped.take().map_or(Ok(()), |dropped| Err(Error::BatchWrite(dropped)))
    }

    /// Puts the batch under way in front of the waiting writes.
    fn take_back(&mut self) {
        if let Some(request) = self.sending.take() {
            self.put_in_front(request.request_items);
        }
    }

    fn put_in_front(&mut self, writes: BTreeMap<String, api::WriteRequestList>) -> usize {
        let writes: Vec<Write> = writes_in(writes).collect();
        let count = writes.len();
        writes.into_iter().rev().for_each(|write| self.waiting.push_front(write));
        count
    }

    /// Refuses a write without its key, so that it does not fail a batch. The key attributes are asked for once.
    async fn check_key(&mut self, write: &Write, deadline: Instant) -> Result<()> {
        if !self.keys.contains_key(&write.table) {
            let request = api::DescribeTableRequest { table_name: write.table.clone() };
            let names = match self.client.call_until(&request, CallOptions::default(), deadline).await {
                Ok(response) => {
                    let schema = response.table.unwrap_or_default().key_schema;
                    schema.into_iter().map(|element| element.attribute_name).collect()
                }
                Err(error) if error.exception() == Some(&Exception::AccessDenied) => Vec::new(),
                Err(error) => return Err(error),
            };
            self.keys.insert(write.table.clone(), names);
        }
        match self.keys[&write.table].iter().find(|name| !write.action.item().contains_key(*name)) {
            Some(name) => {
                Err(Error::argument("item", format!("lacks the key attribute {name} of the table {}", write.table)))
            }
            None => Ok(()),
        }
    }

    /// Sends the first `count` waiting writes, in parts if the daemon refuses some of them. Errors: those after which writes are
    /// waiting.
    async fn send(&mut self, count: usize, deadline: Instant) -> Result<()> {
        let mut parts = vec![count];
        while let Some(count) = parts.pop() {
            let count = self.fitting(count.min(self.waiting.len()));
            if count == 0 {
                continue;
            }
            if let Sent::Refused = self.send_once(count, deadline).await? {
                // The daemon does not say which write it refuses. Two writes of one item come apart, too. Unprocessed writes of the
                // first half are sent before the second half.
                parts.push(count - count / 2);
                parts.push(count / 2);
            }
        }
        Ok(())
    }

    /// Number of writes, among the first `count`, whose request the daemon reads. At least 1.
    fn fitting(&self, count: usize) -> usize {
        let mut bytes = 0;
        let too_much = self.waiting.iter().take(count).position(|write| {
            bytes += bytes_of(write);
            bytes > REQUEST_BYTES_MAX
        });
        too_much.map_or(count, |first| first.max(1))
    }

    async fn send_once(&mut self, count: usize, deadline: Instant) -> Result<Sent> {
        let mut request = api::BatchWriteItemRequest::default();
        for write in self.waiting.drain(..count) {
            let list = request.request_items.entry(write.table).or_default();
            list.requests.push(request_of(write.action));
        }
        let request = self.sending.insert(request);
        let result = self.client.call_until(request, CallOptions::default(), deadline).await;
        match result {
            Ok(response) => {
                self.sending = None;
                self.change_sequence = self.change_sequence.max(response.change_sequence);
                let left = self.put_in_front(response.unprocessed_items);
                self.fruitless = self.client.pause_after(left, count, self.fruitless, deadline).await?;
                Ok(Sent::Done)
            }
            Err(error) if count > 1 && is_refused_for_good(&error) => {
                self.take_back();
                Ok(Sent::Refused)
            }
            Err(error) if is_refused_for_good(&error) => {
                let writes = writes_in(self.sending.take().unwrap_or_default().request_items);
                match &mut self.dropped {
                    Some(dropped) => dropped.dropped.extend(writes),
                    None => self.dropped = Some(Box::new(BatchWriteError { dropped: writes.collect(), error })),
                }
                Ok(Sent::Done)
            }
            Err(error) => {
                self.take_back();
                Err(error)
            }
        }
    }
}

fn request_of(action: WriteAction) -> api::WriteRequest {
    use api::write_request::Request;
    let request = match action {
        WriteAction::Put(item) => Request::PutRequest(api::PutRequest { item: Some(item) }),
        WriteAction::Delete(key) => Request::DeleteRequest(api::DeleteRequest { key: Some(key) }),
    };
    api::WriteRequest { request: Some(request) }
}

fn writes_in(writes: BTreeMap<String, api::WriteRequestList>) -> impl Iterator<Item = Write> {
    use api::write_request::Request;
    writes.into_iter().flat_map(|(table, list)| {
        list.requests.into_iter().filter_map(move |request| {
            let action = match request.request? {
                Request::PutRequest(put) => WriteAction::Put(put.item.unwrap_or_default()),
                Request::DeleteRequest(delete) => WriteAction::Delete(delete.key.unwrap_or_default()),
            };
            Some(Write { table: table.clone(), action })
        })
    })
}

fn bytes_of(write: &Write) -> usize {
    write.table.len() + write.action.item().encoded_len() + FRAMING_BYTES_MAX
}

/// The daemon would refuse the batch every time.
fn is_refused_for_good(error: &Error) -> bool {
    matches!(
        error.exception(),
        Some(
            Exception::Validation
                | Exception::ResourceNotFound
                | Exception::AccessDenied
                | Exception::Serialization
                | Exception::ItemCollectionSizeLimitExceeded
        )
    )
}

impl fmt::Debug for BatchWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchWriter").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}
