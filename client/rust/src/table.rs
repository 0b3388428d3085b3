//! Operations on the items of one table.
use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::client::CallOptions;
use crate::expression::{fields, Binder, Expression};
use crate::{api, from_item, to_item, Client, Item, Key, Result};

/// Reads and writes items of one table as `T`: a type with serde, or [`Item`].
///
/// Its methods return requests, which are sent by `.await` and have options as methods before.
///
/// ```no_run
/// # use armature_client::{expr, item, Client, Table};
/// # #[derive(serde::Serialize, serde::Deserialize)] struct User { id: String, visits: u32 }
/// # async fn example(client: Client) -> Result<(), armature_client::Error> {
/// let users: Table<User> = client.table("users");
/// users.put(&User { id: "ann".into(), visits: 0 }).condition("attribute_not_exists(id)").await?;
/// let written = users
///     .update(item! { "id": "ann" }, expr("SET visits = visits + $n").param("n", 1))
///     .return_new()
///     .await?;
/// # Ok(()) }
/// ```
pub struct Table<T> {
    client: Client,
    name: Arc<str>,
    items: PhantomData<fn() -> T>,
}

/// The future of a request.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The result of a write.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Written<T> {
    /// The returned item, or its returned attributes. `None`: none was asked for, or there is none.
    pub item: Option<T>,
    /// The position of the write, for `at_least`. A [session](Client::session) does that by itself.
    pub change_sequence: u64,
}

/// Receives the capacity that each call of an operation has consumed.
type Report = Arc<dyn Fn(&api::ConsumedCapacity) + Send + Sync>;

/// Options that are common to many requests.
#[derive(Clone, Default)]
pub(crate) struct Common {
    pub(crate) call: CallOptions,
    capacity: Option<Report>,
}

impl Common {
    /// Asks for the most detailed report if there is a receiver of reports.
    pub(crate) fn capacity_level(&self) -> i32 {
        match self.capacity {
            Some(_) => api::ReturnConsumedCapacity::Indexes.into(),
            None => api::ReturnConsumedCapacity::Unspecified.into(),
        }
    }

    pub(crate) fn report<'a>(&self, capacity: impl IntoIterator<Item = &'a api::ConsumedCapacity>) {
        if let Some(report) = &self.capacity {
            capacity.into_iter().for_each(|one| report(one));
        }
    }

    pub(crate) fn set_report(&mut self, report: impl Fn(&api::ConsumedCapacity) + Send + Sync + 'static) {
        self.capacity = Some(Arc::new(report));
    }
}

/// Methods of all requests with `common: Common`.
macro_rules! common_options {
    () => {
        /// The time that each call with all its attempts may take, instead of the timeout of the client.
        pub fn timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.common.call.timeout = Some(timeout);
            self
        }

        /// Calls a function with the capacity that each call has consumed.
        pub fn report_capacity(
            mut self,
            report: impl Fn(&$crate::api::ConsumedCapacity) + Send + Sync + 'static,
        ) -> Self {
            self.common.set_report(report);
            self
        }
    };
}
pub(crate) use common_options;

/// Methods of all writes.
macro_rules! write_options {
    () => {
        common_options!();

        /// Makes the write conditional: if the condition is false it fails with `ConditionFailed` and changes nothing.
        pub fn condition(mut self, condition: impl Into<Expression>) -> Self {
            self.condition = Some(condition.into());
            self
        }

        /// Puts the item that fails the condition into the error.
        pub fn return_item_on_failure(mut self) -> Self {
            self.return_on_failure = api::ReturnValuesOnConditionCheckFailure::AllOld;
            self
        }

        /// Returns the item from before the write.
        pub fn return_old(mut self) -> Self {
            self.returns = api::ReturnValues::AllOld;
            self
        }

        /// The write may be done twice without harm, so that it is repeated after its answer was lost. Example: an update that only
        /// sets attributes to constants.
        pub fn idempotent(mut self) -> Self {
            self.common.call.idempotent = true;
            self
        }
    };
}

impl<T> Table<T> {
    pub(crate) fn new(client: Client, name: String) -> Self {
        Self { client, name: name.into(), items: PhantomData }
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The client that makes the calls.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The same table with items of another type, for example for projections.
    pub fn typed<U>(&self) -> Table<U> {
        Table { client: self.client.clone(), name: self.name.clone(), items: PhantomData }
    }

    /// Reads the item with a key. `None`: there is none.
    pub fn get(&self, key: impl Into<Key>) -> Get<'_, T> {
        Get { table: self, key: key.into(), consistent: false, projection: None, common: Common::default() }
    }

    /// Creates an item, or replaces it as a whole.
    pub fn put(&self, item: &T) -> Put<'_, T>
    where
        T: Serialize,
    {
        Put {
            table: self,
            item: to_item(item),
            condition: None,
            returns: api::ReturnValues::Unspecified,
            return_on_failure: api::ReturnValuesOnConditionCheckFailure::Unspecified,
            common: Common::default(),
        }
    }

    /// Changes attributes of an item, or creates the item. The update is a text of the documented API, such as
    /// "SET visits = visits + $n" ([`expr`](crate::expr)), or built by [`update`](crate::update).
    pub fn update(&self, key: impl Into<Key>, update: impl Into<Expression>) -> Update<'_, T> {
        Update {
            table: self,
            key: key.into(),
            update: Some(update.into()),
            condition: None,
            returns: api::ReturnValues::Unspecified,
            return_on_failure: api::ReturnValuesOnConditionCheckFailure::Unspecified,
            common: Common::default(),
        }
    }

    /// Deletes an item. A missing item is not an error, unless the condition requires it.
    pub fn delete(&self, key: impl Into<Key>) -> Delete<'_, T> {
        Delete {
            table: self,
            key: key.into(),
            condition: None,
            returns: api::ReturnValues::Unspecified,
            return_on_failure: api::ReturnValuesOnConditionCheckFailure::Unspecified,
            common: Common::default(),
        }
    }
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        self.typed()
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("name", &self.name).field("client", &self.client).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({}, {})", self.name, self.client)
    }
}

fn written<T: DeserializeOwned>(item: Option<Item>, change_sequence: u64) -> Result<Written<T>> {
    Ok(Written { item: item.map(from_item).transpose()?, change_sequence })
}

/// A request of [`Table::get`].
#[must_use = "a request is sent by .await"]
pub struct Get<'a, T> {
    table: &'a Table<T>,
    key: Key,
    consistent: bool,
    projection: Option<Expression>,
    common: Common,
}

impl<T> Get<'_, T> {
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

    fn request(&self) -> Result<api::GetItemRequest> {
        self.key.check()?;
        let mut binder = Binder::new([&self.projection]);
        let projection_expression = binder.compile(&self.projection)?;
        binder.finish()?;
        Ok(api::GetItemRequest {
            table_name: self.table.name.to_string(),
            key: Some(self.key.clone()),
            consistent_read: self.consistent.then_some(true),
            projection_expression,
            return_consumed_capacity: self.common.capacity_level(),
            expression_attribute_names: binder.names,
            ..Default::default()
        })
    }
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for Get<'a, T> {
    type Output = Result<Option<T>>;
    type IntoFuture = Pending<'a, Option<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let response = self.table.client.call_with(&self.request()?, self.common.call).await?;
            self.common.report(&response.consumed_capacity);
            response.item.map(from_item).transpose()
        })
    }
}

/// A request of [`Table::put`].
#[must_use = "a request is sent by .await"]
pub struct Put<'a, T> {
    table: &'a Table<T>,
    item: Result<Item>,
    condition: Option<Expression>,
    returns: api::ReturnValues,
    return_on_failure: api::ReturnValuesOnConditionCheckFailure,
    common: Common,
}

impl<T> Put<'_, T> {
    write_options!();
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for Put<'a, T> {
    type Output = Result<Written<T>>;
    type IntoFuture = Pending<'a, Written<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let item = self.item?;
            let mut binder = Binder::new([&self.condition]);
            let condition_expression = binder.compile(&self.condition)?;
            binder.finish()?;
            let request = api::PutItemRequest {
                table_name: self.table.name.to_string(),
                item: Some(item),
                condition_expression,
                return_values: self.returns.into(),
                return_values_on_condition_check_failure: self.return_on_failure.into(),
                return_consumed_capacity: self.common.capacity_level(),
                expression_attribute_names: binder.names,
                expression_attribute_values: binder.values,
                ..Default::default()
            };
            let response = self.table.client.call_with(&request, self.common.call).await?;
            self.common.report(&response.consumed_capacity);
            written(response.attributes, response.change_sequence)
        })
    }
}

/// A request of [`Table::update`].
#[must_use = "a request is sent by .await"]
pub struct Update<'a, T> {
    table: &'a Table<T>,
    key: Key,
    update: Option<Expression>,
    condition: Option<Expression>,
    returns: api::ReturnValues,
    return_on_failure: api::ReturnValuesOnConditionCheckFailure,
    common: Common,
}

impl<T> Update<'_, T> {
    write_options!();

    /// Returns the item from after the update.
    pub fn return_new(mut self) -> Self {
        self.returns = api::ReturnValues::AllNew;
        self
    }

    /// Returns the updated attributes, with their values from before the update. `T` must do without the others:
    /// [`Table::typed`].
    pub fn return_updated_old(mut self) -> Self {
        self.returns = api::ReturnValues::UpdatedOld;
        self
    }

    /// Returns the updated attributes, with their values from after the update. `T` must do without the others: [`Table::typed`].
    pub fn return_updated_new(mut self) -> Self {
        self.returns = api::ReturnValues::UpdatedNew;
        self
    }
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for Update<'a, T> {
    type Output = Result<Written<T>>;
    type IntoFuture = Pending<'a, Written<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.key.check()?;
            let mut binder = Binder::new([&self.update, &self.condition]);
            let update_expression = binder.compile(&self.update)?;
            let condition_expression = binder.compile(&self.condition)?;
            binder.finish()?;
            let request = api::UpdateItemRequest {
                table_name: self.table.name.to_string(),
                key: Some(self.key),
                update_expression,
                condition_expression,
                return_values: self.returns.into(),
                return_values_on_condition_check_failure: self.return_on_failure.into(),
                return_consumed_capacity: self.common.capacity_level(),
                expression_attribute_names: binder.names,
                expression_attribute_values: binder.values,
                ..Default::default()
            };
            let response = self.table.client.call_with(&request, self.common.call).await?;
            self.common.report(&response.consumed_capacity);
            written(response.attributes, response.change_sequence)
        })
    }
}

/// A request of [`Table::delete`].
#[must_use = "a request is sent by .await"]
pub struct Delete<'a, T> {
    table: &'a Table<T>,
    key: Key,
    condition: Option<Expression>,
    returns: api::ReturnValues,
    return_on_failure: api::ReturnValuesOnConditionCheckFailure,
    common: Common,
}

impl<T> Delete<'_, T> {
    write_options!();
}

impl<'a, T: DeserializeOwned + 'a> IntoFuture for Delete<'a, T> {
    type Output = Result<Written<T>>;
    type IntoFuture = Pending<'a, Written<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.key.check()?;
            let mut binder = Binder::new([&self.condition]);
            let condition_expression = binder.compile(&self.condition)?;
            binder.finish()?;
            let request = api::DeleteItemRequest {
                table_name: self.table.name.to_string(),
                key: Some(self.key),
                condition_expression,
                return_values: self.returns.into(),
                return_values_on_condition_check_failure: self.return_on_failure.into(),
                return_consumed_capacity: self.common.capacity_level(),
                expression_attribute_names: binder.names,
                expression_attribute_values: binder.values,
                ..Default::default()
            };
            let response = self.table.client.call_with(&request, self.common.call).await?;
            self.common.report(&response.consumed_capacity);
            written(response.attributes, response.change_sequence)
        })
    }
}
