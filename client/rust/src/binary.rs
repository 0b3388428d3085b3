//! Bytes: `#[serde(with = "armature_client::binary")]` stores a `Vec<u8>` as B. Without it, serde makes a list of numbers.
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes, which are stored as B. A `Vec<u8>` would be a list of numbers; so would an array and a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binary(pub Vec<u8>);

impl Deref for Binary {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Binary {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl From<Vec<u8>> for Binary {
    fn from(content: Vec<u8>) -> Self {
        Self(content)
    }
}

impl From<&[u8]> for Binary {
    fn from(content: &[u8]) -> Self {
        Self(content.to_vec())
    }
}

impl From<Binary> for Vec<u8> {
    fn from(binary: Binary) -> Self {
        binary.0
    }
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(BytesVisitor).map(Self)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: de::Error>(self, content: &[u8]) -> Result<Vec<u8>, E> {
        Ok(content.to_vec())
    }

    fn visit_byte_buf<E: de::Error>(self, content: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(content)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut content = Vec::new();
        while let Some(byte) = list.next_element()? {
            content.push(byte);
        }
        Ok(content)
    }
}

/// Serializes bytes as B.
pub fn serialize<T: AsRef<[u8]>, S: Serializer>(content: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(content.as_ref())
}

/// Deserializes bytes.
pub fn deserialize<'de, T: From<Vec<u8>>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_byte_buf(BytesVisitor).map(T::from)
}
