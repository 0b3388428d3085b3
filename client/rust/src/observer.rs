//! Hooks for traces and metrics.
use tonic::metadata::MetadataMap;

use crate::Error;

/// Is told of each call of a client: [`ClientBuilder::observer`](crate::ClientBuilder::observer). The features `tracing` and
/// `opentelemetry` have one each.
pub trait Observer: Send + Sync + 'static {
    /// A call with all its attempts begins. The result is dropped without `end` if the program drops the call.
    fn begin(&self, call: &Call<'_>) -> Box<dyn Observation>;
}

/// A call that has begun.
pub trait Observation: Send {
    /// Adds metadata to each attempt, such as the context of a trace.
    fn propagate(&self, _metadata: &mut MetadataMap) {}

    /// The call has ended.
    fn end(self: Box<Self>, result: &CallResult<'_>);
}

/// A call that begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// Such as "PutItem".
    pub operation: &'static str,
    /// The table of an operation on one table.
    pub table: Option<&'a str>,
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallResult<'a> {
    /// Number of attempts.
    pub attempts: u32,
    /// `None`: success.
    pub error: Option<&'a Error>,
}

/// The exception of an error, or the code of gRPC: the attribute `error.type`.
#[cfg(any(feature = "tracing", feature = "opentelemetry"))]
pub(crate) fn error_type(error: &Error) -> String {
    match (error.exception(), error.call()) {
        (Some(exception), _) => exception.name().to_owned(),
        (None, Some(call)) => format!("{:?}", call.code),
        (None, None) => "client".to_owned(),
    }
}
