//! PartiQL statements.
use std::collections::VecDeque;

use futures_util::stream;
use serde::de::DeserializeOwned;

use crate::pages::Results;
use crate::{api, from_item, Client, Item, Result, Value};

/// Parameters of a statement, for its question marks from left to right: `["ann"]`, `[Value::from("ann"), 1.into()]`, or
/// [`NO_PARAMETERS`].
pub const NO_PARAMETERS: [Value; 0] = [];

impl Client {
    /// The items of a PartiQL SELECT as a stream of `T`.
    ///
    /// ```no_run
    /// # async fn example(client: armature_client::Client) -> Result<(), armature_client::Error> {
    /// use armature_client::Item;
    ///
    /// let mut orders = client.select::<Item>("SELECT * FROM orders WHERE customer = ?", ["ann"]);
    /// while let Some(order) = orders.try_next().await? {
    ///     println!("{order:?}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn select<T: DeserializeOwned + Send + 'static>(
        &self,
        statement: impl Into<String>,
        parameters: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Results<T> {
        let parameters: Vec<Value> = parameters.into_iter().map(Into::into).collect();
        if let Err(error) = parameters.iter().try_for_each(|value| value.check("parameter")) {
            return Results::failed(error);
        }
        let request = api::ExecuteStatementRequest {
            statement: statement.into(),
            parameters: parameters.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        let state = (self.clone(), Some(request), VecDeque::<Item>::new());
        Results::new(stream::try_unfold(state, |(client, mut request, mut items)| async move {
            loop {
                if let Some(item) = items.pop_front() {
                    return Ok(Some((from_item(item)?, (client, request, items))));
                }
                let Some(mut next) = request else {
                    return Ok(None);
                };
                let response = client.call(&next).await?;
                items = response.items.into();
                request = response.next_token.map(|token| {
                    next.next_token = Some(token);
                    next
                });
            }
        }))
    }

    /// Executes a PartiQL statement, and returns all its items: those of a SELECT, or of a RETURNING clause.
    pub async fn execute(
        &self,
        statement: impl Into<String>,
        parameters: impl IntoIterator<Item = impl Into<Value>>,
    ) -> Result<Vec<Item>> {
        self.select(statement, parameters).try_collect().await
    }
}
