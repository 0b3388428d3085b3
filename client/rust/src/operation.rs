//! The operations of the protocol by the types of their requests.
use prost::Message;

use crate::retry::Level;
use crate::{admin, api};

/// A request of an operation: [`Client::call`](crate::Client::call) sends it. All requests of [`api`] and [`admin`] are such.
pub trait Operation: Message + Default + Send + Sync + 'static + sealed::Sealed {
    /// The answer.
    type Response: Message + Default + Send + Sync + 'static;
    #[doc(hidden)]
    const INFO: OperationInfo;

    /// The table of an operation on one table.
    fn table(&self) -> Option<&str> {
        None
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T: prost::Message> Sealed for T {}
}

#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct OperationInfo {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    pub(crate) level: Level,
    /// The field of the request and of the response in messages of a pipeline, if it may be one.
    pub(crate) pipeline_field: Option<u32>,
}

include!("generated/operations.rs");
