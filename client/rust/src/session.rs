//! Reads of own writes on global indexes.
use std::any::Any;
use std::collections::HashMap;
use std::sync::Mutex;

use bytes::BytesMut;

use crate::api;
use crate::retry::is_select;

/// The highest change sequence of the writes to each table, for the reads of its indexes.
#[derive(Default)]
pub(crate) struct Session {
    state: Mutex<Sequences>,
}

#[derive(Default)]
struct Sequences {
    tables: HashMap<String, u64>,
    /// Of all tables: of statements, which do not tell their table, and of other sessions.
    floor: u64,
}

impl Sequences {
    fn of(&self, table: &str) -> u64 {
        self.floor.max(self.tables.get(table_name(table)).copied().unwrap_or(0))
    }

    fn highest(&self) -> u64 {
        self.tables.values().copied().fold(self.floor, u64::max)
    }

    fn raise(&mut self, table: &str, sequence: u64) {
        if sequence == 0 {
            return;
        }
        match self.tables.get_mut(table_name(table)) {
            Some(known) => *known = sequence.max(*known),
            None => {
                self.tables.insert(table_name(table).to_owned(), sequence);
            }
        }
    }
}

/// The name in a name or an ARN.
pub(crate) fn table_name(name_or_arn: &str) -> &str {
    let resource = name_or_arn.starts_with("arn:").then(|| name_or_arn.split_once(":table/")).flatten();
    resource.map_or(name_or_arn, |(_, rest)| rest.split('/').next().unwrap_or(rest))
}

/// Numbers of the field at_least_sequence.
const AT_LEAST_OF_PAGES: u32 = 12;
const AT_LEAST_OF_STATEMENTS: u32 = 9;

impl Session {
    pub(crate) fn after(positions: impl IntoIterator<Item = u64>) -> Self {
        let floor = positions.into_iter().max().unwrap_or(0);
        Self { state: Mutex::new(Sequences { floor, ..Sequences::default() }) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Sequences> {
        self.state.lock().expect("no panic with the lock")
    }

    pub(crate) fn highest(&self) -> u64 {
        self.lock().highest()
    }

    /// Sets the sequence that a read must see. The last one of equal fields counts.
    pub(crate) fn prepare(&self, request: &dyn Any, encoded: &mut BytesMut) {
        let (field, given, needed) = if let Some(query) = request.downcast_ref::<api::QueryRequest>() {
            if query.index_name.is_none() {
                return;
            }
            (AT_LEAST_OF_PAGES, query.at_least_sequence, self.lock().of(&query.table_name))
        } else if let Some(scan) = request.downcast_ref::<api::ScanRequest>() {
            if scan.index_name.is_none() {
                return;
            }
            (AT_LEAST_OF_PAGES, scan.at_least_sequence, self.lock().of(&scan.table_name))
        } else if let Some(statement) = request.downcast_ref::<api::ExecuteStatementRequest>() {
            if !is_select(&statement.statement) {
                return;
            }
            (AT_LEAST_OF_STATEMENTS, statement.at_least_sequence, self.highest())
        } else {
            return;
        };
        if needed > given {
            prost::encoding::uint64::encode(field, &needed, encoded);
        }
    }

    /// The position before a table is deleted, for [`Session::learn`].
    pub(crate) fn before(&self, request: &dyn Any) -> u64 {
        let deleted = request.downcast_ref::<api::DeleteTableRequest>();
        deleted.map_or(0, |request| self.lock().of(&request.table_name))
    }

    /// Remembers the sequence of a successful write.
    pub(crate) fn learn(&self, request: &dyn Any, response: &dyn Any, before: u64) {
        if let Some(request) = request.downcast_ref::<api::DeleteTableRequest>() {
            // Writes to a new table of that name have higher sequences.
            let mut state = self.lock();
            let name = table_name(&request.table_name);
            if state.tables.get(name).is_some_and(|sequence| *sequence <= before) {
                state.tables.remove(name);
            }
        } else if let Some(response) = response.downcast_ref::<api::ExecuteStatementResponse>() {
            let mut state = self.lock();
            state.floor = state.floor.max(response.change_sequence());
        } else if let Some(response) = response.downcast_ref::<api::BatchExecuteStatementResponse>() {
            let mut state = self.lock();
            state.floor = state.floor.max(response.change_sequence());
        } else if let Some(response) = response.downcast_ref::<api::ExecuteTransactionResponse>() {
            let mut state = self.lock();
            state.floor = state.floor.max(response.change_sequence());
        } else if let Some(response) = response.downcast_ref::<api::PutItemResponse>() {
            self.learn_table::<api::PutItemRequest>(request, |r| &r.table_name, response.change_sequence);
        } else if let Some(response) = response.downcast_ref::<api::UpdateItemResponse>() {
            self.learn_table::<api::UpdateItemRequest>(request, |r| &r.table_name, response.change_sequence);
        } else if let Some(response) = response.downcast_ref::<api::DeleteItemResponse>() {
            self.learn_table::<api::DeleteItemRequest>(request, |r| &r.table_name, response.change_sequence);
        } else if let Some(response) = response.downcast_ref::<api::BatchWriteItemResponse>() {
            if let Some(request) = request.downcast_ref::<api::BatchWriteItemRequest>() {
                let mut state = self.lock();
                request.request_items.keys().for_each(|table| state.raise(table, response.change_sequence));
            }
        } else if let Some(response) = response.downcast_ref::<api::TransactWriteItemsResponse>() {
            if let Some(request) = request.downcast_ref::<api::TransactWriteItemsRequest>() {
                let mut state = self.lock();
                let tables = request.transact_items.iter().filter_map(written_table);
                tables.for_each(|table| state.raise(table, response.change_sequence));
            }
        }
    }

    fn learn_table<R: Any>(&self, request: &dyn Any, table: impl Fn(&R) -> &str, sequence: u64) {
        if let Some(request) = request.downcast_ref::<R>() {
            self.lock().raise(table(request), sequence);
        }
    }
}

fn written_table(action: &api::TransactWriteItem) -> Option<&str> {
    use api::transact_write_item::Action;
    match action.action.as_ref()? {
        Action::Put(put) => Some(&put.table_name),
        Action::Update(update) => Some(&update.table_name),
        Action::Delete(delete) => Some(&delete.table_name),
        Action::ConditionCheck(_) => None,
    }
}
