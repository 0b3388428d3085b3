//! The wire form of values: protobuf messages that are decoded into native values in one step.
use std::collections::{BTreeMap, BTreeSet};

use prost::bytes::{Buf, BufMut};
use prost::encoding::{
    bool, bytes, decode_key, encode_key, encode_varint, encoded_len_varint, key_len, merge_loop, message, skip_field,
    string, DecodeContext, WireType,
};
use prost::{DecodeError, Message};

use crate::{Item, Number, Value};

/// A value that may be absent: the message of this name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeValue {
    /// `None`: no member is set, which the daemon refuses.
    pub value: Option<Value>,
}

impl From<Value> for AttributeValue {
    fn from(value: Value) -> Self {
        Self { value: Some(value) }
    }
}

/// google.protobuf.Any.
#[derive(Clone, PartialEq, Message)]
pub struct Any {
    /// Name of the message in `value`, behind a slash.
    #[prost(string, tag = "1")]
    pub type_url: String,
    /// The message.
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ListValue {
    #[prost(message, repeated, tag = "1")]
    values: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Texts {
    #[prost(string, repeated, tag = "1")]
    values: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Binaries {
    #[prost(bytes = "vec", repeated, tag = "1")]
    values: Vec<Vec<u8>>,
}

/// Length of a field with its tag.
fn field_len(tag: u32, length: usize) -> usize {
    key_len(tag) + encoded_len_varint(length as u64) + length
}

fn put_text(tag: u32, text: &str, buf: &mut impl BufMut) {
    encode_key(tag, WireType::LengthDelimited, buf);
    encode_varint(text.len() as u64, buf);
    buf.put_slice(text.as_bytes());
}

fn put_head(tag: u32, length: usize, buf: &mut impl BufMut) {
    encode_key(tag, WireType::LengthDelimited, buf);
    encode_varint(length as u64, buf);
}

fn entry_len(name: &str, value: &Value) -> usize {
    field_len(1, name.len()) + field_len(2, value.encoded_len())
}

fn texts_len<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| field_len(1, text.len())).sum()
}

fn put_texts<'a>(tag: u32, texts: impl Iterator<Item = &'a str> + Clone, buf: &mut impl BufMut) {
    put_head(tag, texts_len(texts.clone()), buf);
    texts.for_each(|text| put_text(1, text, buf));
}

/// The shape of Item and of MapValue.
impl Message for Item {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        for (name, value) in self.iter() {
            put_head(1, entry_len(name, value), buf);
            put_text(1, name, buf);
            message::encode(2, value, buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag != 1 {
            return skip_field(wire_type, tag, buf, context);
        }
        merge_entry(wire_type, self, buf, context)
    }

    fn encoded_len(&self) -> usize {
        self.iter().map(|(name, value)| field_len(1, entry_len(name, value))).sum()
    }

    fn clear(&mut self) {
        BTreeMap::clear(self);
    }
}

fn merge_entry(
    wire_type: WireType,
    item: &mut Item,
    buf: &mut impl Buf,
    context: DecodeContext,
) -> Result<(), DecodeError> {
    prost::encoding::check_wire_type(WireType::LengthDelimited, wire_type)?;
    let mut entry = (String::new(), Value::Null);
    // Values and maps count in the limit of recursion. Entries do not, so that it suffices for the 32 levels of the API.
    merge_loop(&mut entry, buf, context, |(name, value), buf, context| {
        let (tag, wire_type) = decode_key(buf)?;
        match tag {
            1 => string::merge(wire_type, name, buf, context),
            2 => message::merge(wire_type, value, buf, context),
            _ => skip_field(wire_type, tag, buf, context),
        }
    })?;
    item.insert(entry.0, entry.1);
    Ok(())
}

impl Message for Value {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        match self {
            Value::S(text) => put_text(1, text, buf),
            Value::N(number) => put_text(2, number.as_str(), buf),
            Value::B(content) => bytes::encode(3, content, buf),
            Value::Bool(flag) => bool::encode(4, flag, buf),
            Value::Null => bool::encode(5, &true, buf),
            Value::Ss(set) => put_texts(6, set.iter().map(String::as_str), buf),
            Value::Ns(set) => put_texts(7, set.iter().map(Number::as_str), buf),
            Value::Bs(set) => {
                put_head(8, set.iter().map(|content| field_len(1, content.len())).sum(), buf);
                set.iter().for_each(|content| bytes::encode(1, content, buf));
            }
            Value::L(list) => {
                put_head(9, message::encoded_len_repeated(1, list), buf);
                message::encode_repeated(1, list, buf);
            }
            Value::M(map) => message::encode(10, map, buf),
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        *self = match tag {
            1 => Value::S(text_of(wire_type, buf, context)?),
            2 => Value::N(Number::from_wire(text_of(wire_type, buf, context)?)),
            3 => {
                let mut content = Vec::new();
                bytes::merge(wire_type, &mut content, buf, context)?;
                Value::B(content)
            }
            4 => {
                let mut flag = false;
                bool::merge(wire_type, &mut flag, buf, context)?;
                Value::Bool(flag)
            }
            5 => {
                bool::merge(wire_type, &mut false, buf, context)?;
                Value::Null
            }
            6 => Value::Ss(message_of::<Texts>(wire_type, buf, context)?.values.into_iter().collect()),
            7 => {
                let texts = message_of::<Texts>(wire_type, buf, context)?;
                Value::Ns(texts.values.into_iter().map(Number::from_wire).collect())
            }
            8 => Value::Bs(BTreeSet::from_iter(message_of::<Binaries>(wire_type, buf, context)?.values)),
            9 => Value::L(message_of::<ListValue>(wire_type, buf, context)?.values),
            10 => Value::M(message_of(wire_type, buf, context)?),
            _ => return skip_field(wire_type, tag, buf, context),
        };
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        match self {
            Value::S(text) => field_len(1, text.len()),
            Value::N(number) => field_len(2, number.as_str().len()),
            Value::B(content) => field_len(3, content.len()),
            Value::Bool(_) | Value::Null => 2,
            Value::Ss(set) => field_len(6, texts_len(set.iter().map(String::as_str))),
            Value::Ns(set) => field_len(7, texts_len(set.iter().map(Number::as_str))),
            Value::Bs(set) => field_len(8, set.iter().map(|content| field_len(1, content.len())).sum()),
            Value::L(list) => field_len(9, message::encoded_len_repeated(1, list)),
            Value::M(map) => message::encoded_len(10, map),
        }
    }

    fn clear(&mut self) {
        *self = Value::Null;
    }
}

fn text_of(wire_type: WireType, buf: &mut impl Buf, context: DecodeContext) -> Result<String, DecodeError> {
    let mut text = String::new();
    string::merge(wire_type, &mut text, buf, context)?;
    Ok(text)
}

fn message_of<M: Message + Default>(
    wire_type: WireType,
    buf: &mut impl Buf,
    context: DecodeContext,
) -> Result<M, DecodeError> {
    let mut decoded = M::default();
    message::merge(wire_type, &mut decoded, buf, context)?;
    Ok(decoded)
}

impl Message for AttributeValue {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        if let Some(value) = &self.value {
            value.encode_raw(buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        self.value.get_or_insert(Value::Null).merge_field(tag, wire_type, buf, context)
    }

    fn encoded_len(&self) -> usize {
        self.value.as_ref().map_or(0, Message::encoded_len)
    }

    fn clear(&mut self) {
        self.value = None;
    }
}
