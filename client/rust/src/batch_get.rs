//! Reads of many items by their keys.
use std::future::IntoFuture;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::expression::{fields, Binder, Expression};
use crate::retry::{takes_nothing, wait};
use crate::table::{common_options, Common, Pending};
use crate::{api, from_item, Client, Key, Result, Table};

/// Number of keys of one BatchGetItem.
const BATCH_KEYS_MAX: usize = 100;

/// A request of [`Table::batch_get`].
#[must_use = "a request is sent by .await"]
pub struct BatchGet<'a, T> {
    table: &'a Table<T>,
    keys: Vec<Key>,
    consistent: bool,
    projection: Option<Expression>,
    common: Common,
}

impl<T> Table<T> {
    /// Reads the items with these keys, in no particular order; missing items are left out. Any number of keys is allowed: they are
    /// read in calls of 100, and keys that the daemon leaves out are asked for again. The timeout is for all calls together.
    pub fn batch_get<K: Into<Key>>(&self, keys: impl IntoIterator<Item = K>) -> BatchGet<'_, T> {
        let keys = keys.into_iter().map(Into::into).collect();
        BatchGet { table: self, keys, consistent: false, projection: None, common: Common::default() }
    }
}

impl<T> BatchGet<'_, T> {
    common_options!();

    /// Sees every write that was acknowledged before.
    pub fn consistent(mut self) -> Self {
        self.consistent = true;
        self
    }

    /// Reads the attributes at these document paths only.
    pub fn project<P: Into<String>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.projection(fields(paths))
    }

    /// Reads the attributes of a projection as text.
    pub fn projection(mut self, projection: impl Into<Expression>) -> Self {
        self.projection = Some(projection.into());
        self
    }
}

impl<'a, T: DeserializeOwned + Send + 'a> IntoFuture for BatchGet<'a, T> {
    type Output = Result<Vec<T>>;
    type IntoFuture = Pending<'a, Vec<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.read())
    }
}

impl<T: DeserializeOwned + Send> BatchGet<'_, T> {
    async fn read(self) -> Result<Vec<T>> {
        let client = self.table.client();
        let deadline = client.deadline(self.common.call.timeout)?;
        let mut binder = Binder::new([&self.projection]);
        let projection_expression = binder.compile(&self.projection)?;
        binder.finish()?;
        self.keys.iter().try_for_each(Key::check)?;
        let mut waiting = self.keys;
        let mut found = Vec::new();
        let mut fruitless = 0;
        while !waiting.is_empty() {
            let rest = waiting.split_off(waiting.len().min(BATCH_KEYS_MAX));
            let asked = waiting.len();
            let keys = api::KeysAndAttributes {
                keys: waiting,
                consistent_read: self.consistent.then_some(true),
                projection_expression: projection_expression.clone(),
                expression_attribute_names: binder.names.clone(),
                ..Default::default()
            };
            let request = api::BatchGetItemRequest {
                request_items: [(self.table.name().to_owned(), keys)].into(),
                return_consumed_capacity: self.common.capacity_level(),
            };
            let response = client.call_until(&request, self.common.call, deadline).await?;
            self.common.report(&response.consumed_capacity);
            for item in response.responses.into_values().flat_map(|list| list.items) {
                found.push(from_item(item)?);
            }
            waiting = response.unprocessed_keys.into_values().flat_map(|left| left.keys).collect();
            let left = waiting.len();
            waiting.extend(rest);
            fruitless = client.pause_after(left, asked, fruitless, deadline).await?;
        }
        Ok(found)
    }
}

impl Client {
    /// Waits after a batch of which some parts are left. Returns the number of successive batches of which all parts were left;
    /// errors after too many, and if the deadline is too near.
    pub(crate) async fn pause_after(&self, left: usize, all: usize, fruitless: u32, deadline: Instant) -> Result<u32> {
        if left == 0 {
            return Ok(0);
        }
        let fruitless = if left < all { 0 } else { fruitless };
        let retry = &self.settings().retry;
        if left == all && fruitless + 1 >= retry.max_attempts {
            return Err(takes_nothing());
        }
        let pause: Duration = retry.pause(fruitless + 1, None);
        if !wait(pause, deadline).await {
            return Err(takes_nothing());
        }
        Ok(if left < all { 0 } else { fruitless + 1 })
    }
}
