//! Changes of a table.
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use futures_util::stream;
use prost::Message;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tonic::{Code, Streaming};

use crate::client::{add_agent, client_of, error_of, not_connected, too_late, Raw};
use crate::error::CallError;
use crate::expression::{Binder, Expression};
use crate::pages::Results;
use crate::{api, from_item, Client, Error, Exception, Key, Result, Table};

const PATH: &str = "/armature.api.v1.StreamService/Watch";
const HEARTBEAT_DEFAULT: Duration = Duration::from_secs(5);
const HEARTBEATS_MISSED: u32 = 3;
/// A deadline that does not come.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The item is new.
    Insert,
    /// The item was changed.
    Modify,
    /// The item was deleted.
    Remove,
}

/// A change of an item.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change<T> {
    /// Its kind.
    pub event: Event,
    /// The key of the item.
    pub key: Key,
    /// The item after the change, as far as the stream of the table and the watch have it.
    pub new: Option<T>,
    /// The item before the change, as far as the stream of the table and the watch have it.
    pub old: Option<T>,
    /// The position of the change, for [`WatchBuilder::after`].
    pub sequence: String,
    /// Milliseconds since 1970, rounded to a second.
    pub time_ms: i64,
    /// The time to live has deleted the item.
    pub is_expiry: bool,
}

/// Settings of a watch: [`Table::watch`].
#[must_use = "a watch begins by start"]
pub struct WatchBuilder<T> {
    table: Table<T>,
    start: api::WatchStart,
    after: Option<String>,
    partition: Option<Key>,
    filter: Option<Expression>,
    images: api::StreamViewType,
    heartbeat: Option<Duration>,
    reconnect_for: Option<Duration>,
}

/// The changes of a table as they are made, in one order.
///
/// When the connection is lost or the daemon restarts, the watch continues behind the last change: none is lost, and none delivered
/// twice. Dropping the future of a method loses no change either.
pub struct Watch<T> {
    client: Client,
    table: Table<T>,
    request: api::WatchRequest,
    patience: Duration,
    reconnect_for: Option<Duration>,
    stream: Option<Streaming<bytes::Bytes>>,
    /// Changes of the last response that were not delivered yet.
    pending: VecDeque<api::ChangeRecord>,
    /// The position of the last response, which counts when the program has handled all its changes.
    response_position: Option<String>,
    position: Option<String>,
    /// Failed connections since the last response, and the time of the loss.
    attempts: u32,
    lost: Instant,
    has_stood: bool,
    has_failed: bool,
}

impl<T> Table<T> {
    /// Watches the changes of the table, which needs a stream: [`TableSchema::stream`](crate::TableSchema::stream).
    ///
    /// ```no_run
    /// # async fn example(orders: armature_client::Table<armature_client::Item>) -> Result<(), armature_client::Error> {
    /// let mut changes = orders.watch().from_oldest().start()?;
    /// while let Some(change) = changes.try_next().await? {
    ///     println!("{:?} {:?}", change.event, change.key);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn watch(&self) -> WatchBuilder<T> {
        WatchBuilder {
            table: self.clone(),
            start: api::WatchStart::Unspecified,
            after: None,
            partition: None,
            filter: None,
            images: api::StreamViewType::Unspecified,
            heartbeat: None,
            reconnect_for: None,
        }
    }
}

impl<T> WatchBuilder<T> {
    /// Begins with the oldest change that is still kept. Without it a watch begins now.
    pub fn from_oldest(mut self) -> Self {
        self.start = api::WatchStart::Oldest;
        self
    }

    /// Begins behind a change of the same table, or a [`Watch::position`].
    pub fn after(mut self, sequence: impl Into<String>) -> Self {
        self.after = Some(sequence.into());
        self
    }

    /// Delivers the changes of items with this partition key only.
    pub fn partition(mut self, key: impl Into<Key>) -> Self {
        self.partition = Some(key.into());
        self
    }

    /// Delivers changes that satisfy a condition only. It is applied to the new item, or to the old one if that was deleted.
    pub fn filter(mut self, condition: impl Into<Expression>) -> Self {
        self.filter = Some(condition.into());
        self
    }

    /// Selects the items in the changes, as far as the stream has them.
    pub fn images(mut self, images: api::StreamViewType) -> Self {
        self.images = images;
        self
    }

    /// The time without changes after which the daemon says that it is there: 1 to 60 seconds, 5 by default. After three missing
    /// heartbeats the watch connects again.
    pub fn heartbeat(mut self, interval: Duration) -> Self {
        self.heartbeat = Some(interval);
        self
    }

    /// The time for which the watch tries to reach a daemon that it has lost. Without it, for ever.
    pub fn reconnect_for(mut self, duration: Duration) -> Self {
        self.reconnect_for = Some(duration);
        self
    }

    /// Makes the watch. It connects when the first change is asked for, and begins then: see [`Watch::ready`].
    pub fn start(self) -> Result<Watch<T>> {
        let client = self.table.client().clone();
        let mut binder = Binder::new([&self.filter]);
        let filter_expression = binder.compile(&self.filter)?;
        binder.finish()?;
        self.partition.as_ref().map_or(Ok(()), Key::check)?;
        let request = api::WatchRequest {
            table_name: self.table.name().to_owned(),
            partition_key: self.partition,
            start: if self.after.is_some() { api::WatchStart::Unspecified } else { self.start }.into(),
            after_sequence_number: self.after.clone(),
            stream_view_type: self.images.into(),
            heartbeat_ms: self.heartbeat.map(|time| i32::try_from(time.as_millis()).unwrap_or(i32::MAX)),
            filter_expression,
            expression_attribute_names: binder.names,
            expression_attribute_values: binder.values,
        };
        let heartbeat = self.heartbeat.unwrap_or(HEARTBEAT_DEFAULT);
        Ok(Watch {
            patience: heartbeat * HEARTBEATS_MISSED + client.settings().timeout,
            client,
            table: self.table,
            request,
            reconnect_for: self.reconnect_for,
            stream: None,
            pending: VecDeque::new(),
            response_position: None,
            position: self.after,
            attempts: 0,
            lost: Instant::now(),
            has_stood: false,
            has_failed: false,
        })
    }
}

impl<T> Watch<T> {
    /// All changes up to here were delivered, and the program has asked for another one behind them: it may store the position and
    /// continue with [`WatchBuilder::after`]. It also advances without any change that the watch delivers. `None`: the
    /// watch does not stand yet.
    pub fn position(&self) -> Option<&str> {
        self.position.as_deref()
    }

    /// The watched table.
    pub fn table(&self) -> &Table<T> {
        &self.table
    }

    /// Waits until the watch stands: later changes will be delivered. Errors: those of [`Watch::try_next`].
    pub async fn ready(&mut self) -> Result<()> {
        while !self.has_stood {
            if self.has_failed {
                return Err(Error::Timeout("the watch has ended before it stood".into()));
            }
            self.advance().await?;
        }
        Ok(())
    }

    /// Reads the next response into `pending`, over a new stream if need be. The program has handled all changes.
    async fn advance(&mut self) -> Result<()> {
        let failed = match self.receive().await {
            Ok(response) => {
                self.attempts = 0;
                self.has_stood = true;
                self.pending = response.records.into();
                self.response_position = Some(response.position);
                self.settle();
                return Ok(());
            }
            Err(failed) => failed,
        };
        if self.attempts == 0 {
            self.lost = Instant::now();
        }
        self.stream = None;
        self.attempts += 1;
        let pause = self.client.settings().retry.pause(self.attempts, failed.retry_after);
        let too_long = self.reconnect_for.is_some_and(|time| self.lost.elapsed() + pause > time);
        if too_long || !self.may_reconnect(&failed) {
            self.has_failed = true;
            let mut failed = failed;
            let schemas = &self.client.core().transport.channels().schemas;
            failed.hint = schemas.hint_of(&failed, &self.request, Some(&self.request.table_name));
            return Err(failed.typed());
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// Takes over the position of the last response if none of its changes is left.
    fn settle(&mut self) {
        if self.pending.is_empty() {
            if let Some(position) = self.response_position.take() {
                self.position = Some(position);
            }
        }
    }

    async fn receive(&mut self) -> Result<api::WatchResponse, Box<CallError>> {
        if self.stream.is_none() {
            self.stream = Some(self.connect().await?);
        }
        let stream = self.stream.as_mut().expect("was set");
        // The program may have taken its time: heartbeats that have arrived meanwhile come first.
        let message = tokio::time::timeout(self.patience, stream.message()).await;
        let lost = |reason: &str| Box::new(CallError::bare("Watch", Code::Unavailable, reason, true));
        match message {
            Err(_) => Err(lost("the daemon sends no heartbeats")),
            Ok(Ok(None)) => Err(lost("the daemon has ended the watch")),
            Ok(Ok(Some(message))) => api::WatchResponse::decode(message)
                .map_err(|error| Box::new(CallError::bare("Watch", Code::DataLoss, error.to_string(), true))),
            Ok(Err(status)) => Err(Box::new(error_of("Watch", &status, true, Instant::now() + FAR))),
        }
    }

    async fn connect(&self) -> Result<Streaming<bytes::Bytes>, Box<CallError>> {
        let opening = async {
            let channels = self.client.core().transport.channels();
            let service = channels.service().await.map_err(|reason| not_connected("Watch", &reason))?;
            let mut request = self.request.clone();
            if let Some(position) = &self.position {
                request.start = api::WatchStart::Unspecified.into();
                request.after_sequence_number = Some(position.clone());
            }
            let mut request = tonic::Request::new(request.encode_to_vec().into());
            if let Some(authorization) = &self.client.settings().authorization {
                request.metadata_mut().insert("authorization", authorization.clone());
            }
            add_agent(request.metadata_mut());
            let path = http::uri::PathAndQuery::from_static(PATH);
            match client_of(service).server_streaming(request, path, Raw).await {
                Ok(response) => Ok(response.into_inner()),
                Err(status) => Err(Box::new(error_of("Watch", &status, true, Instant::now() + FAR))),
            }
        };
        // The first response comes at once.
        let opened = tokio::time::timeout(self.client.settings().timeout, opening).await;
        opened.unwrap_or_else(|_| Err(too_late("Watch", true)))
    }

    /// Another stream may succeed.
    fn may_reconnect(&self, failed: &CallError) -> bool {
        match failed.exception {
            // The daemon may not know yet that the connection was lost, whose place is taken so long.
            Some(Exception::LimitExceeded) => self.has_stood,
            Some(_) => failed.is_transient(),
            None if failed.is_lasting => false,
            // The network has ended the call.
            None => matches!(
                failed.code,
                Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded | Code::Internal | Code::Unknown
            ),
        }
    }
}

impl<T: DeserializeOwned> Watch<T> {
    /// The next change. `None` after an error, which ends the watch: the exceptions TrimmedDataAccess if changes are no longer kept,
    /// and ResourceNotFound when the table or its stream is gone.
    pub async fn try_next(&mut self) -> Result<Option<Change<T>>> {
        // The program has handled what was delivered before.
        self.settle();
        while !self.has_failed {
            if let Some(record) = self.pending.pop_front() {
                let sequence = record.dynamodb.as_ref().map(|data| data.sequence_number.clone());
                match change_of(record) {
                    Ok(change) => {
                        self.position = sequence;
                        return Ok(Some(change));
                    }
                    Err(error) => {
                        self.has_failed = true;
                        return Err(error);
                    }
                }
            }
            self.advance().await?;
        }
        Ok(None)
    }
}

impl<T: DeserializeOwned + Send + 'static> Watch<T> {
    /// The changes as a stream. Their `sequence` is the position.
    pub fn into_stream(self) -> Results<Change<T>> {
        Results::new(stream::try_unfold(self, |mut watch| async move {
            Ok::<_, Error>(watch.try_next().await?.map(|change| (change, watch)))
        }))
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("table", &self.request.table_name)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

fn change_of<T: DeserializeOwned>(record: api::ChangeRecord) -> Result<Change<T>> {
    let event = match record.event_name() {
        api::EventName::Insert => Event::Insert,
        api::EventName::Remove => Event::Remove,
        api::EventName::Modify | api::EventName::Unspecified => Event::Modify,
    };
    let data = record.dynamodb.unwrap_or_default();
    Ok(Change {
        event,
        key: data.keys.unwrap_or_default(),
        new: data.new_image.map(from_item).transpose()?,
        old: data.old_image.map(from_item).transpose()?,
        sequence: data.sequence_number,
        time_ms: data.approximate_creation_date_time_ms,
        is_expiry: record.user_identity.is_some(),
    })
}
