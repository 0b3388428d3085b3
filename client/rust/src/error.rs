//! Errors of calls.
use std::fmt;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};

use crate::api;
use crate::de::DecodeError;
use crate::ser::EncodeError;
use crate::{BatchWriteError, Exception, Item};

/// The result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A call that failed, or a request that was refused before it was sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The condition of a write was false. Nothing was changed.
    ConditionFailed(Box<ConditionFailed>),
    /// Nothing of a transaction was applied.
    TransactionCanceled(Box<TransactionCanceled>),
    /// A write may have been applied or not: its answer was lost or did not come in time, and a repetition is not safe or did not
    /// succeed. Read the item, or repeat the write if that does no harm. The error is that of the last attempt.
    OutcomeUnknown(Box<Error>),
    /// Any other failed call.
    Call(Box<CallError>),
    /// Writes of a [`BatchWriter`](crate::BatchWriter) that the daemon refuses for good. All others are done or waiting.
    BatchWrite(Box<BatchWriteError>),
    /// A request that the client refuses. Nothing was sent.
    Argument(ArgumentError),
    /// A value that has no form in the data model. Nothing was sent.
    Encode(EncodeError),
    /// An attribute that does not fit into its field. A write with this error was applied.
    Decode(DecodeError),
    /// A wait whose deadline has passed, with what is missing.
    Timeout(String),
    /// The client cannot be made: a file with certificates cannot be read.
    Setup(String),
}

/// A failed call.
#[derive(Clone, Debug)]
pub struct CallError {
    /// Such as "PutItem".
    pub operation: &'static str,
    /// Code of gRPC.
    pub code: Code,
    /// The error in the documented API. `None` if it did not come from the daemon: the network failed, or the deadline passed.
    pub exception: Option<Exception>,
    /// Text of the daemon, or of this crate.
    pub message: String,
    /// The client's knowledge beside the message, such as the table. May be empty.
    pub hint: String,
    /// Names the call in the daemon's log. May be empty.
    pub request_id: String,
    /// Advice of the daemon.
    pub retry_after: Option<Duration>,
    /// The whole error of the daemon.
    pub detail: Option<Box<api::ErrorDetail>>,
    pub(crate) never_sent: bool,
    /// A repetition would fail in the same way.
    pub(crate) is_lasting: bool,
}

/// A write whose condition was false.
#[derive(Clone, Debug)]
pub struct ConditionFailed {
    /// The call.
    pub call: CallError,
    /// The item that is there: with `return_item_on_failure`, and if there is one.
    pub item: Option<Item>,
    /// The item is too large for an error; read it.
    pub item_omitted: bool,
}

/// A transaction of which nothing was applied.
#[derive(Clone, Debug)]
pub struct TransactionCanceled {
    /// The call.
    pub call: CallError,
    /// One for each action, in their order.
    pub reasons: Vec<CancellationReason>,
}

/// The result of one action of a cancelled transaction.
#[derive(Clone, Debug)]
pub struct CancellationReason {
    /// "None" if this action did not fail, else such as "ConditionalCheckFailed".
    pub code: String,
    /// Text for people. May be empty.
    pub message: String,
    /// The item that is there: with `return_item_on_failure`, and if there is one.
    pub item: Option<Item>,
    /// The item is too large for an error; read it.
    pub item_omitted: bool,
}

/// A request that the client refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// Such as "$least", a parameter.
    pub argument: String,
    /// Why it is refused.
    pub reason: String,
}

impl Error {
    pub(crate) fn argument(argument: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Argument(ArgumentError { argument: argument.into(), reason: reason.into() })
    }

    /// The failed call, if this is one, also within `OutcomeUnknown` and `BatchWrite`.
    pub fn call(&self) -> Option<&CallError> {
        match self {
            Self::ConditionFailed(failed) => Some(&failed.call),
            Self::TransactionCanceled(cancelled) => Some(&cancelled.call),
            Self::Call(call) => Some(call),
            Self::OutcomeUnknown(last) => last.call(),
            Self::BatchWrite(failed) => failed.error.call(),
            _ => None,
        }
    }

    pub(crate) fn call_mut(&mut self) -> Option<&mut CallError> {
        match self {
            Self::ConditionFailed(failed) => Some(&mut failed.call),
            Self::TransactionCanceled(cancelled) => Some(&mut cancelled.call),
            Self::Call(call) => Some(call),
            Self::OutcomeUnknown(last) => last.call_mut(),
            _ => None,
        }
    }

    /// The error in the documented API, if the daemon has refused the call.
    pub fn exception(&self) -> Option<&Exception> {
        self.call()?.exception.as_ref()
    }

    /// The item that failed a condition, with `return_item_on_failure`.
    pub fn failed_item(&self) -> Option<&Item> {
        match self {
            Self::ConditionFailed(failed) => failed.item.as_ref(),
            _ => None,
        }
    }

    /// The deadline has passed. For a write that may have been applied, `OutcomeUnknown` is the error.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Timeout(_) => true,
            other => other.call().is_some_and(|call| call.code == Code::DeadlineExceeded),
        }
    }

    /// The daemon refuses calls for the moment, after the last retry.
    pub fn is_throttled(&self) -> bool {
        self.call().is_some_and(CallError::is_throttled)
    }

    /// The call has certainly changed nothing: each of its attempts was never sent, or was refused by the daemon.
    pub fn is_not_applied(&self) -> bool {
        match self {
            Self::OutcomeUnknown(_) | Self::BatchWrite(_) | Self::Decode(_) | Self::Timeout(_) => false,
            Self::Argument(_) | Self::Encode(_) | Self::Setup(_) => true,
            other => other.call().is_some_and(CallError::is_not_applied),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConditionFailed(failed) => failed.fmt(f),
            Self::TransactionCanceled(cancelled) => cancelled.fmt(f),
            Self::OutcomeUnknown(last) => write!(f, "{last}; the write may have been applied or not"),
            Self::Call(call) => call.fmt(f),
            Self::BatchWrite(failed) => failed.fmt(f),
            Self::Argument(refused) => refused.fmt(f),
            Self::Encode(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
            Self::Timeout(missing) => write!(f, "the deadline has passed: {missing}"),
            Self::Setup(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::OutcomeUnknown(last) => Some(last.as_ref()),
            Self::BatchWrite(failed) => Some(&failed.error),
            _ => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exception {
            Some(exception) => write!(f, "{}: {exception}: {}", self.operation, self.message)?,
            None => write!(f, "{}: {:?}: {}", self.operation, self.code, self.message)?,
        }
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        if !self.request_id.is_empty() {
            write!(f, " (request {})", self.request_id)?;
        }
        Ok(())
    }
}

impl std::error::Error for CallError {}

impl fmt::Display for ConditionFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}

impl std::error::Error for ConditionFailed {}

impl fmt::Display for TransactionCanceled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}

impl std::error::Error for TransactionCanceled {}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.argument, self.reason)
    }
}

impl std::error::Error for ArgumentError {}

/// google.rpc.RetryInfo, whose duration has seconds and nanoseconds.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<RetryDelay>,
}

#[derive(Clone, PartialEq, Message)]
struct RetryDelay {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// Codes of actions of a cancelled transaction that may succeed in another attempt.
const PASSING_REASONS: [&str; 4] = ["None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];

impl CallError {
    /// The error of a failed attempt.
    pub(crate) fn new(operation: &'static str, status: &Status, never_sent: bool) -> Self {
        let details = api::RpcStatus::decode(status.details()).map(|rpc| rpc.details).unwrap_or_default();
        let mut error = Self::bare(operation, status.code(), status.message().to_owned(), never_sent);
        error.take_details(details);
        error
    }

    /// The error of an operation of a pipeline.
    pub(crate) fn of_rpc(operation: &'static str, rpc: api::RpcStatus) -> Self {
        let mut error = Self::bare(operation, Code::from(rpc.code), rpc.message, false);
        error.take_details(rpc.details);
        error
    }

    pub(crate) fn bare(operation: &'static str, code: Code, message: impl Into<String>, never_sent: bool) -> Self {
        Self {
            operation,
            code,
            exception: None,
            message: message.into(),
            hint: String::new(),
            request_id: String::new(),
            retry_after: None,
            detail: None,
            never_sent,
            is_lasting: false,
        }
    }

    fn take_details(&mut self, details: Vec<crate::wire::Any>) {
        for any in details {
            match any.type_url.rsplit('/').next() {
                Some("armature.api.v1.ErrorDetail") => {
                    let Ok(detail) = api::ErrorDetail::decode(any.value.as_slice()) else { continue };
                    self.exception = Some(Exception::from(detail.exception.as_str()));
                    self.request_id.clone_from(&detail.request_id);
                    self.advise(Duration::from_millis(detail.retry_after_ms.max(0) as u64));
                    self.detail = Some(Box::new(detail));
                }
                Some("google.rpc.RetryInfo") => {
                    let delay = RetryInfo::decode(any.value.as_slice()).ok().and_then(|info| info.retry_delay);
                    let delay = delay.unwrap_or_default();
                    self.advise(Duration::new(delay.seconds.max(0) as u64, delay.nanos.clamp(0, 999_999_999) as u32));
                }
                _ => {}
            }
        }
    }

    fn advise(&mut self, pause: Duration) {
        if !pause.is_zero() {
            self.retry_after = self.retry_after.max(Some(pause));
        }
    }

    /// The call has certainly changed nothing.
    pub fn is_not_applied(&self) -> bool {
        if self.never_sent || self.code == Code::Unimplemented {
            return true;
        }
        match &self.exception {
            // The last two can occur in the middle of a write.
            None | Some(Exception::InternalServerError | Exception::ServiceUnavailable) => false,
            // It concerns one write of a batch; the others are done.
            Some(Exception::ItemCollectionSizeLimitExceeded) => self.operation != "BatchWriteItem",
            Some(_) => true,
        }
    }

    fn is_throttled(&self) -> bool {
        self.code == Code::ResourceExhausted
            && matches!(
                self.exception,
                Some(
                    Exception::ProvisionedThroughputExceeded | Exception::Throttling | Exception::RequestLimitExceeded
                )
            )
    }

    /// Another attempt may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self.code {
            Code::Unavailable => !self.is_lasting,
            Code::ResourceExhausted => self.is_throttled(),
            Code::Aborted => match self.exception {
                Some(Exception::TransactionConflict | Exception::TransactionInProgress) => true,
                _ => {
                    let reasons = self.detail.as_ref().map_or(&[][..], |detail| &detail.cancellation_reasons);
                    !reasons.is_empty() && reasons.iter().all(|reason| PASSING_REASONS.contains(&reason.code.as_str()))
                }
            },
            _ => false,
        }
    }

    /// The most precise variant for this error.
    pub(crate) fn typed(mut self) -> Error {
        match self.exception {
            Some(Exception::ConditionalCheckFailed) => {
                let detail = self.detail.as_mut();
                let (item, item_omitted) =
                    detail.map_or((None, false), |detail| (detail.item.clone(), detail.item_omitted));
                Error::ConditionFailed(Box::new(ConditionFailed { call: self, item, item_omitted }))
            }
            Some(Exception::TransactionCanceled) => {
                let reasons = self.detail.as_ref().map_or(&[][..], |detail| &detail.cancellation_reasons);
                let reasons = reasons.iter().map(|reason| CancellationReason {
                    code: reason.code.clone(),
                    message: reason.message.clone().unwrap_or_default(),
                    item: reason.item.clone(),
                    item_omitted: reason.item_omitted,
                });
                let reasons = reasons.collect();
                Error::TransactionCanceled(Box::new(TransactionCanceled { call: self, reasons }))
            }
            _ => Error::Call(Box::new(self)),
        }
    }
}
