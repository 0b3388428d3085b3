//! Rules of repeated calls.
use std::any::Any;
use std::time::Duration;

use tokio::time::Instant;

use crate::{api, Error};

/// How failed calls are repeated. A call is repeated if its error may pass with time, if it has certainly changed nothing or does
/// no harm when it is done twice, and if the pause ends before its deadline.
///
/// Done twice without harm: reads, puts and deletes without condition and returned item, batches of writes, transactions, and
/// calls that are called idempotent.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Includes the first one: 10 by default. 1: no repetition.
    pub max_attempts: u32,
    /// The pause after attempt n is random between one half of `initial * 2^(n-1)`, at most `max`, and all of it, behind the
    /// pause that the daemon advises. 25 ms and 2 s by default.
    pub initial: Duration,
    /// Bound of the pause.
    pub max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_attempts: 20, initial: Duration::from_millis(25), max: Duration::from_secs(2) }
    }
}

impl Retry {
    /// Calls are not repeated.
    pub fn none() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }

    /// The time between the attempt of this number, from 1 on, and the next one.
    pub(crate) fn pause(&self, attempt: u32, advice: Option<Duration>) -> Duration {
        let full = self.initial.saturating_mul(1 << (attempt - 1).min(20)).min(self.max);
        // All clients get the same advice, and should not come back together.
        advice.unwrap_or_default() + full / 2 + (full / 2).mul_f64(random())
    }
}

/// Waits, unless the deadline is before the end of the pause. False: nothing was waited for.
pub(crate) async fn wait(pause: Duration, deadline: Instant) -> bool {
    let end = Instant::now() + pause;
    if end > deadline {
        return false;
    }
    tokio::time::sleep_until(end).await;
    true
}

/// Random bits. The hasher of the standard library has random keys, and so needs no crate for random numbers.
pub(crate) fn random_bits() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static STATE: std::hash::RandomState = std::hash::RandomState::new();
    }
    let mut hasher = STATE.with(|state| state.build_hasher());
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

/// A random number from 0 to below 1.
fn random() -> f64 {
    (random_bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// What the protos say of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Changes nothing.
    Read,
    /// Doing it twice does no harm, whatever its request says.
    Repeatable,
    Write,
}

/// The call changes nothing.
pub(crate) fn is_read(level: Level, request: &dyn Any) -> bool {
    if let Some(request) = request.downcast_ref::<api::ExecuteStatementRequest>() {
        return is_select(&request.statement);
    }
    if let Some(request) = request.downcast_ref::<api::BatchExecuteStatementRequest>() {
        return request.statements.iter().all(|one| is_select(&one.statement));
    }
    level == Level::Read
}

/// Doing the call twice leaves the same data and gives an equivalent answer. Transactions get a token before.
pub(crate) fn may_repeat(level: Level, request: &dyn Any) -> bool {
    if level == Level::Repeatable {
        return true;
    }
    if let Some(put) = request.downcast_ref::<api::PutItemRequest>() {
        return is_plain(&put.condition_expression, put.expected.is_empty(), put.return_values());
    }
    if let Some(delete) = request.downcast_ref::<api::DeleteItemRequest>() {
        return is_plain(&delete.condition_expression, delete.expected.is_empty(), delete.return_values());
    }
    request.is::<api::TransactWriteItemsRequest>()
        || request.is::<api::ExecuteTransactionRequest>()
        || is_read(level, request)
}

/// Without condition and returned item. A second attempt would return the item of the first one.
fn is_plain(condition: &Option<String>, unexpecting: bool, returns: api::ReturnValues) -> bool {
    condition.as_deref().unwrap_or_default().is_empty()
        && unexpecting
        && matches!(returns, api::ReturnValues::Unspecified | api::ReturnValues::None)
}

pub(crate) fn is_select(statement: &str) -> bool {
    let word = statement.trim_start().as_bytes();
    word.len() > 6 && word[..6].eq_ignore_ascii_case(b"select")
}

/// The error of batches that the daemon left untouched too often, or without time for another one.
pub(crate) fn takes_nothing() -> Error {
    Error::Timeout("the daemon takes no part of the batch now".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_have_jitter_and_follow_advice() {
        let retry = Retry::default();
        for attempt in 1..40 {
            let full = retry.initial.saturating_mul(1 << (attempt - 1).min(20)).min(retry.max);
            for _ in 0..20 {
                let pause = retry.pause(attempt, None);
                assert!(pause >= full / 2 && pause <= full, "{pause:?} after attempt {attempt}");
            }
        }
        let advice = Duration::from_secs(3);
        let pauses: Vec<Duration> = (0..20).map(|_| retry.pause(3, Some(advice))).collect();
        assert!(pauses.iter().all(|pause| *pause > advice));
        assert!(pauses.iter().any(|pause| *pause != pauses[0]), "there is no jitter");
    }

    #[test]
    fn writes_that_do_harm_are_known() {
        let put = api::PutItemRequest::default();
        assert!(may_repeat(Level::Write, &put));
        let conditional = api::PutItemRequest { condition_expression: Some("a = b".into()), ..put.clone() };
        assert!(!may_repeat(Level::Write, &conditional));
        let returning = api::PutItemRequest { return_values: api::ReturnValues::AllOld.into(), ..put };
        assert!(!may_repeat(Level::Write, &returning));
        assert!(!may_repeat(Level::Write, &api::UpdateItemRequest::default()));
        let statement = |text: &str| api::ExecuteStatementRequest { statement: text.into(), ..Default::default() };
        assert!(may_repeat(Level::Write, &statement(" Select * from a")));
        assert!(!may_repeat(Level::Write, &statement("selecta")) || is_select("selecta"));
        assert!(!may_repeat(Level::Write, &statement("INSERT INTO a VALUE {}")));
    }
}
