//! Client of the [Armature](https://github.com/armaturedb/armature) database: DynamoDB's data model, over gRPC.
//!
//! ```no_run
//! use armature_client::{expr, item, Client, KeyAttribute, Table, TableSchema};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct User {
//!     id: String,
//!     visits: u32,
//! }
//!
//! # async fn example() -> Result<(), armature_client::Error> {
//! let client = Client::new("localhost:7700")?;
//! client.create_table(TableSchema::new("users", KeyAttribute::string("id"))).await?;
//! let users: Table<User> = client.table("users");
//! users.put(&User { id: "ann".into(), visits: 0 }).await?;
//! let ann = users.get(item! { "id": "ann" }).await?;
//! users.update(item! { "id": "ann" }, expr("SET visits = visits + $n").param("n", 1)).await?;
//! # Ok(()) }
//! ```
//!
//! Two layers can be mixed. [`Table`] works with types that have serde, or with [`Item`]. [`Client::call`] sends any request of the
//! protocol, whose messages are in [`api`], with the same retries, sessions and errors.
//!
//! A call without a timeout of its own gets that of the client: 10 seconds, or [`ClientBuilder::timeout`]. It covers all attempts.
//!
//! The [guide](https://github.com/armaturedb/armature/blob/main/docs/develop/clients/rust.md) shows everything.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batch_get;
mod batch_writer;
pub mod binary;
mod builder;
mod client;
mod connection;
mod de;
mod error;
mod exception;
mod expression;
mod hints;
pub mod number;
mod observer;
mod operation;
mod options;
mod pages;
mod pipeline;
mod retry;
mod scatter;
mod schema;
mod ser;
mod session;
pub mod set;
mod statement;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tls")]
mod tls;
mod traces;
mod transaction;
mod value;
mod wait;
mod watch;
mod wire;

/// Messages of the protocol, made from its protos. [`Client::call`] sends the requests.
///
/// Names follow the documented DynamoDB API in snake_case.
pub mod api {
    #![allow(missing_docs, clippy::all, rustdoc::all)]
    pub use crate::wire::{Any, AttributeValue};
    include!("generated/armature.api.v1.rs");
}

/// Messages of the administration of a daemon of the same release. [`Client::call`] sends the requests.
pub mod admin {
    #![allow(missing_docs, clippy::all, rustdoc::all)]
    include!("generated/armature.admin.v1.rs");
}

pub use batch_get::BatchGet;
pub use batch_writer::{BatchWriteError, BatchWriter, Write, WriteAction};
pub use binary::Binary;
pub use builder::{attr, attr_named, not, update, Condition, Operand};
pub use client::{new_token, CallOptions, Client};
pub use de::{from_item, from_value, DecodeError};
pub use error::{ArgumentError, CallError, CancellationReason, ConditionFailed, Error, Result, TransactionCanceled};
pub use exception::Exception;
pub use expression::{expr, fields, Expression, Text};
pub use number::{Number, NumberError};
pub use observer::{Call, CallResult, Observation, Observer};
pub use operation::Operation;
pub use options::ClientBuilder;
pub use pages::{Page, Query, Results, Scan};
pub use pipeline::{Pipeline, PipelineOptions};
pub use retry::Retry;
pub use scatter::{ShardedPage, Shards};
pub use schema::{GlobalIndex, KeyAttribute, LocalIndex, Projection, TableSchema};
pub use ser::{to_item, to_value, EncodeError};
pub use statement::NO_PARAMETERS;
pub use table::{Delete, Get, Pending, Put, Table, Update, Written};
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use tonic::Code;
#[cfg(feature = "opentelemetry")]
pub use traces::OpenTelemetry;
#[cfg(feature = "tracing")]
pub use traces::Tracing;
pub use transaction::{Action, TransactGet, Transaction};
pub use value::{Item, Key, Value};
pub use watch::{Change, Event, Watch, WatchBuilder};

/// The program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
