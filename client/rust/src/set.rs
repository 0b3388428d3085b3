//! Sets: `#[serde(with = "armature_client::set")]` stores a collection as SS, NS or BS.
//!
//! The elements are texts, numbers, or bytes ([`Binary`](crate::Binary)). The data model has no empty set, so leave an empty
//! one out:
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct User {
//!     id: String,
//!     #[serde(with = "armature_client::set", default, skip_serializing_if = "BTreeSet::is_empty")]
//!     roles: BTreeSet<String>,
//! }
//!
//! let ann = User { id: "ann".into(), roles: ["admin".into()].into() };
//! let item = armature_client::to_item(&ann)?;
//! assert_eq!(item["roles"].type_name(), "SS");
//! # Ok::<(), armature_client::Error>(())
//! ```
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name by which the serializer of this crate knows a set.
pub(crate) const SET_TOKEN: &str = "$armature::Set";

/// Serializes a collection as a set.
pub fn serialize<T: Serialize, S: Serializer>(collection: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_struct(SET_TOKEN, collection)
}

/// Deserializes a collection from a set, or from a list.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}
