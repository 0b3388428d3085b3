//! Waits for tables, indexes and backups.
use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::client::CallOptions;
use crate::retry::wait;
use crate::{admin, api, Client, Error, Exception, Result};

const POLL_INITIAL: Duration = Duration::from_millis(5);
const POLL_MAX: Duration = Duration::from_millis(500);

/// Pauses between probes. The error has what is missing.
struct Poll {
    pause: Duration,
    deadline: Instant,
}

impl Poll {
    fn new(deadline: Instant) -> Self {
        Self { pause: POLL_INITIAL, deadline }
    }

    async fn again(&mut self, missing: impl FnOnce() -> String) -> Result<()> {
        if !wait(self.pause, self.deadline).await {
            return Err(Error::Timeout(missing()));
        }
        self.pause = (2 * self.pause).min(POLL_MAX);
        Ok(())
    }
}

fn is_missing(error: &Error) -> bool {
    error.exception() == Some(&Exception::ResourceNotFound)
}

impl Client {
    /// Waits until a table and all its global indexes are ACTIVE, at most `timeout`. A table that does not exist is waited for.
    pub async fn wait_for_table(&self, name: &str, timeout: Duration) -> Result<()> {
        self.wait_until_active(name, self.deadline(Some(timeout))?).await
    }

    pub(crate) async fn wait_until_active(&self, name: &str, deadline: Instant) -> Result<()> {
        let request = api::DescribeTableRequest { table_name: name.to_owned() };
        let mut poll = Poll::new(deadline);
        loop {
            let missing = match self.call_until(&request, CallOptions::default(), deadline).await {
                Ok(response) => inactive(name, &response.table.unwrap_or_default()),
                Err(error) if is_missing(&error) => Some(format!("the table {name} does not exist")),
                Err(error) => return Err(error),
            };
            match missing {
                None => return Ok(()),
                Some(missing) => poll.again(|| missing).await?,
            }
        }
    }

    /// Waits until a table does not exist, at most `timeout`.
    pub async fn wait_for_table_gone(&self, name: &str, timeout: Duration) -> Result<()> {
        self.wait_until_gone(name, self.deadline(Some(timeout))?).await
    }

    pub(crate) async fn wait_until_gone(&self, name: &str, deadline: Instant) -> Result<()> {
        let request = api::DescribeTableRequest { table_name: name.to_owned() };
        let mut poll = Poll::new(deadline);
        loop {
            match self.call_until(&request, CallOptions::default(), deadline).await {
                Ok(_) => poll.again(|| format!("the table {name} still exists")).await?,
                Err(error) if is_missing(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until all global indexes of a table are ACTIVE and have applied the changes so far, at most `timeout`.
    pub async fn wait_for_indexes(&self, name: &str, timeout: Duration) -> Result<()> {
        let deadline = self.deadline(Some(timeout))?;
        let request = admin::ListIndexStatusRequest { table_name: Some(name.to_owned()) };
        let mut wanted = HashMap::new();
        let mut poll = Poll::new(deadline);
        loop {
            let response = self.call_until(&request, CallOptions::default(), deadline).await?;
            let mut missing = None;
            for index in response.indexes.iter().filter(|index| index.kind() == admin::IndexKind::Global) {
                let sequence = *wanted.entry(index.index_name.clone()).or_insert(index.log_sequence);
                if index.state() != admin::IndexState::Active {
                    missing = Some(format!("the index {name}/{} is {:?}", index.index_name, index.state()));
                } else if index.applied_sequence < sequence {
                    let applied = index.applied_sequence;
                    missing = Some(format!("the index {name}/{} is at {applied} of {sequence}", index.index_name));
                }
            }
            match missing {
                None => return Ok(()),
                Some(missing) => poll.again(|| missing).await?,
            }
        }
    }

    /// Waits until the backup of a table is AVAILABLE, at most `timeout`.
    pub async fn wait_for_backup(&self, arn: &str, timeout: Duration) -> Result<()> {
        let deadline = self.deadline(Some(timeout))?;
        let request = api::DescribeBackupRequest { backup_arn: arn.to_owned() };
        let mut poll = Poll::new(deadline);
        loop {
            let response = self.call_until(&request, CallOptions::default(), deadline).await?;
            let details = response.backup_description.unwrap_or_default().backup_details.unwrap_or_default();
            if details.backup_status() == api::BackupStatus::Available {
                return Ok(());
            }
            poll.again(|| format!("the backup {arn} is {:?}", details.backup_status())).await?;
        }
    }
}

/// What is not ACTIVE.
fn inactive(name: &str, table: &api::TableDescription) -> Option<String> {
    if table.table_status() != api::TableStatus::Active {
        return Some(format!("the table {name} is {:?}", table.table_status()));
    }
    let mut indexes = table.global_secondary_indexes.iter();
    let index = indexes.find(|index| index.index_status() != api::IndexStatus::Active)?;
    Some(format!("the index {name}/{} is {:?}", index.index_name, index.index_status()))
}
