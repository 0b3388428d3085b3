//! Transactions.
use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use serde::Serialize;

use crate::client::{new_token, CallOptions};
use crate::expression::{fields, Binder, Expression};
use crate::table::Pending;
use crate::{api, to_item, Client, Error, Item, Key, Result};

/// A list of up to 100 writes and checks of different items, of any tables, that are applied together or not at all.
///
/// ```no_run
/// # use armature_client::{expr, item, Client};
/// # async fn example(client: Client) -> Result<(), armature_client::Error> {
/// let mut tx = client.transaction();
/// tx.update("accounts", item! { "id": "ann" }, expr("SET balance = balance - $sum").param("sum", 5))
///     .condition(expr("balance >= $sum").param("sum", 5));
/// tx.update("accounts", item! { "id": "bob" }, expr("SET balance = balance + $sum").param("sum", 5));
/// tx.commit().await?;
/// # Ok(()) }
/// ```
///
/// It has a token from the beginning: a commit that is repeated within ten minutes, by the client or by the program after
/// [`Error::OutcomeUnknown`], is not applied twice. So dropping the future of a commit is harmless: commit again.
#[must_use = "a transaction is applied by commit"]
pub struct Transaction {
    client: Client,
    token: String,
    actions: Vec<Action>,
    timeout: Option<Duration>,
}

/// An action of a [`Transaction`].
#[derive(Debug)]
pub struct Action {
    table: String,
    kind: Kind,
    /// The item of a put, and the key of others.
    item: Result<Item>,
    update: Option<Expression>,
    condition: Option<Expression>,
    return_on_failure: api::ReturnValuesOnConditionCheckFailure,
}

#[derive(Debug)]
enum Kind {
    Put,
    Update,
    Delete,
    Check,
}

impl Client {
    /// Returns a transaction without actions.
    pub fn transaction(&self) -> Transaction {
        Transaction { client: self.clone(), token: new_token(), actions: Vec::new(), timeout: None }
    }

    /// Reads up to 100 items as of one moment. The result has the order of the reads; a missing item is `None`.
    ///
    /// ```no_run
    /// # use armature_client::{item, Client};
    /// # async fn example(client: Client) -> Result<(), armature_client::Error> {
    /// let items = client.transact_get().get("users", item! { "id": "ann" }).get("teams", item! { "id": 7 }).await?;
    /// # Ok(()) }
    /// ```
    pub fn transact_get(&self) -> TransactGet {
        TransactGet { client: self.clone(), reads: Vec::new(), timeout: None }
    }
}

impl Action {
    /// Makes the action conditional.
    pub fn condition(&mut self, condition: impl Into<Expression>) -> &mut Self {
        self.condition = Some(condition.into());
        self
    }

    /// Puts the item that fails the condition into the error.
    pub fn return_item_on_failure(&mut self) -> &mut Self {
        self.return_on_failure = api::ReturnValuesOnConditionCheckFailure::AllOld;
        self
    }

    fn request(&self) -> Result<api::TransactWriteItem> {
        use api::transact_write_item::Action as Message;
        let item = match &self.item {
            Ok(item) => item.clone(),
            Err(error) => return Err(Error::argument("item", error.to_string())),
        };
        item.check()?;
        let mut binder = Binder::new([&self.update, &self.condition]);
        let update_expression = binder.compile(&self.update)?.unwrap_or_default();
        let condition_expression = binder.compile(&self.condition)?;
        binder.finish()?;
        let (table_name, names, values) = (self.table.clone(), binder.names, binder.values);
        let on_failure = self.return_on_failure.into();
        let action = match self.kind {
            Kind::Put => Message::Put(api::Put {
                table_name,
                item: Some(item),
                condition_expression,
                return_values_on_condition_check_failure: on_failure,
                expression_attribute_names: names,
                expression_attribute_values: values,
            }),
            Kind::Update => Message::Update(api::Update {
                table_name,
                key: Some(item),
                condition_expression,
                return_values_on_condition_check_failure: on_failure,
                update_expression,
                expression_attribute_names: names,
                expression_attribute_values: values,
            }),
            Kind::Delete => Message::Delete(api::Delete {
                table_name,
                key: Some(item),
                condition_expression,
                return_values_on_condition_check_failure: on_failure,
                expression_attribute_names: names,
                expression_attribute_values: values,
            }),
            Kind::Check => Message::ConditionCheck(api::ConditionCheck {
                table_name,
                key: Some(item),
                condition_expression: condition_expression.unwrap_or_default(),
                return_values_on_condition_check_failure: on_failure,
                expression_attribute_names: names,
                expression_attribute_values: values,
            }),
        };
        Ok(api::TransactWriteItem { action: Some(action) })
    }
}

impl Transaction {
    fn add(&mut self, table: &str, kind: Kind, item: Result<Item>) -> &mut Action {
        self.actions.push(Action {
            table: table.to_owned(),
            kind,
            item,
            update: None,
            condition: None,
            return_on_failure: api::ReturnValuesOnConditionCheckFailure::Unspecified,
        });
        self.actions.last_mut().expect("was pushed")
    }

    /// Adds a put of a type with serde. Errors of its encoding are those of [`Transaction::commit`].
    pub fn put<T: Serialize + ?Sized>(&mut self, table: &str, item: &T) -> &mut Action {
        self.add(table, Kind::Put, to_item(item))
    }

    /// Adds an update.
    pub fn update(&mut self, table: &str, key: impl Into<Key>, update: impl Into<Expression>) -> &mut Action {
        let action = self.add(table, Kind::Update, Ok(key.into()));
        action.update = Some(update.into());
        action
    }

    /// Adds a delete.
    pub fn delete(&mut self, table: &str, key: impl Into<Key>) -> &mut Action {
        self.add(table, Kind::Delete, Ok(key.into()))
    }

    /// Adds a condition on an item that the transaction does not write.
    pub fn check(&mut self, table: &str, key: impl Into<Key>, condition: impl Into<Expression>) -> &mut Action {
        let action = self.add(table, Kind::Check, Ok(key.into()));
        action.condition(condition)
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Replaces the token, so that another process can repeat the transaction: 1 to 36 characters.
    pub fn set_token(&mut self, token: impl Into<String>) -> &mut Self {
        self.token = token.into();
        self
    }

    /// The time that a commit may take, instead of the timeout of the client.
    pub fn set_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.timeout = Some(timeout);
        self
    }

    /// Applies the transaction, and returns the position of its writes, for `at_least`. Errors: [`Error::TransactionCanceled`] says
    /// why nothing was applied.
    pub async fn commit(&self) -> Result<u64> {
        let request = api::TransactWriteItemsRequest {
            transact_items: self.actions.iter().map(Action::request).collect::<Result<_>>()?,
            client_request_token: Some(self.token.clone()),
            ..Default::default()
        };
        let options = CallOptions { timeout: self.timeout, ..CallOptions::default() };
        Ok(self.client.call_with(&request, options).await?.change_sequence)
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("token", &self.token)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}

/// A request of [`Client::transact_get`].
#[must_use = "a request is sent by .await"]
pub struct TransactGet {
    client: Client,
    reads: Vec<(String, Key, Option<Expression>)>,
    timeout: Option<Duration>,
}

impl TransactGet {
    /// Adds a read.
    pub fn get(mut self, table: &str, key: impl Into<Key>) -> Self {
        self.reads.push((table.to_owned(), key.into(), None));
        self
    }

    /// Makes the last read one of the attributes at these document paths only.
    pub fn project<P: Into<String>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.projection(fields(paths))
    }

    /// Makes the last read one of the attributes of a projection.
    pub fn projection(mut self, projection: impl Into<Expression>) -> Self {
        if let Some(last) = self.reads.last_mut() {
            last.2 = Some(projection.into());
        }
        self
    }

    /// The time that the call may take, instead of the timeout of the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn request(&self) -> Result<api::TransactGetItemsRequest> {
        let mut request = api::TransactGetItemsRequest::default();
        for (table, key, projection) in &self.reads {
            key.check()?;
            let mut binder = Binder::new([projection]);
            let projection_expression = binder.compile(projection)?;
            binder.finish()?;
            let get = api::Get {
                table_name: table.clone(),
                key: Some(key.clone()),
                projection_expression,
                expression_attribute_names: binder.names,
            };
            request.transact_items.push(api::TransactGetItem { get: Some(get) });
        }
        Ok(request)
    }
}

impl IntoFuture for TransactGet {
    type Output = Result<Vec<Option<Item>>>;
    type IntoFuture = Pending<'static, Vec<Option<Item>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let options = CallOptions { timeout: self.timeout, ..CallOptions::default() };
            let response = self.client.call_with(&self.request()?, options).await?;
            Ok(response.responses.into_iter().map(|one| one.item).collect())
        })
    }
}
