//! Types with serde to values.
use std::fmt;

use serde::ser::{self, Impossible, Serialize, Serializer};

use crate::number::NUMBER_TOKEN;
use crate::set::SET_TOKEN;
use crate::{Error, Item, Number, Value};

/// A value that has no form in the data model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The attribute, such as `address.lines[0]`.
    pub path: String,
    /// Why it has none.
    pub reason: String,
}

impl EncodeError {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: String::new(), reason: reason.into() }
    }

    fn at(mut self, name: &str) -> Self {
        self.path = crate::de::prefixed(name, &self.path);
        self
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.reason);
        }
        write!(f, "attribute {}: {}", self.path, self.reason)
    }
}

impl std::error::Error for EncodeError {}

impl ser::Error for EncodeError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::new(reason.to_string())
    }
}

/// Returns the value of a type with serde. Errors: [`Error::Encode`].
///
/// Structs and maps are M, sequences and tuples L, integers and floats N, `None` and `()` NULL. Enums have the form that serde
/// gives them: by default, a variant without data is its name as S, others are a map from their name. Bytes and sets need
/// [`Binary`](crate::Binary) or the modules [`binary`](crate::binary) and [`set`](crate::set).
pub fn to_value<T: Serialize + ?Sized>(data: &T) -> Result<Value, Error> {
    data.serialize(ValueSerializer).map_err(Error::Encode)
}

/// Returns the item of a struct or a map. Errors: [`Error::Encode`].
pub fn to_item<T: Serialize + ?Sized>(data: &T) -> Result<Item, Error> {
    match to_value(data)? {
        Value::M(item) => Ok(item),
        other => Err(Error::Encode(EncodeError::new(format!(
            "an item is a struct or a map, and {} is {}",
            std::any::type_name::<T>(),
            other.type_name()
        )))),
    }
}

type Result2<T> = Result<T, EncodeError>;

#[derive(Clone, Copy)]
struct ValueSerializer;

macro_rules! serialize_integers {
    ($($name:ident $integer:ty;)*) => {
        $(fn $name(self, integer: $integer) -> Result2<Value> {
            Ok(Value::N(integer.into()))
        })*
    };
}

impl Serializer for ValueSerializer {
    type Ok = Value;
    type Error = EncodeError;
    type SerializeSeq = ListSerializer;
    type SerializeTuple = ListSerializer;
    type SerializeTupleStruct = ListSerializer;
    type SerializeTupleVariant = ListSerializer;
    type SerializeMap = MapSerializer;
    type SerializeStruct = MapSerializer;
    type SerializeStructVariant = MapSerializer;

    serialize_integers! {
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
    }

    fn serialize_bool(self, flag: bool) -> Result2<Value> {
        Ok(Value::Bool(flag))
    }

    fn serialize_f32(self, float: f32) -> Result2<Value> {
        checked(Number::from_single(float))
    }

    fn serialize_f64(self, float: f64) -> Result2<Value> {
        checked(Number::from_float(float))
    }

    fn serialize_char(self, character: char) -> Result2<Value> {
        Ok(Value::S(character.to_string()))
    }

    fn serialize_str(self, text: &str) -> Result2<Value> {
        Ok(Value::S(text.to_owned()))
    }

    fn serialize_bytes(self, content: &[u8]) -> Result2<Value> {
        Ok(Value::B(content.to_vec()))
    }

    fn serialize_none(self) -> Result2<Value> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, data: &T) -> Result2<Value> {
        data.serialize(self)
    }

    fn serialize_unit(self) -> Result2<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result2<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result2<Value> {
        Ok(Value::S(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, data: &T) -> Result2<Value> {
        let value = data.serialize(self)?;
        match (name, value) {
            (NUMBER_TOKEN, Value::S(text)) => checked(Number::from_wire(text)),
            (SET_TOKEN, Value::L(list)) => set_of(list),
            (SET_TOKEN, other) if other != Value::Null => {
                Err(EncodeError::new(format!("a set is made of a sequence, not of {}", other.type_name())))
            }
            (_, value) => Ok(value),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        data: &T,
    ) -> Result2<Value> {
        let value = data.serialize(self).map_err(|error| error.at(variant))?;
        Ok(Value::M(Item::from([(variant, value)])))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result2<ListSerializer> {
        // The length is a hint: a hostile one must not reserve memory.
        Ok(ListSerializer { list: Vec::with_capacity(length.unwrap_or(0).min(1024)), variant: None })
    }

    fn serialize_tuple(self, length: usize) -> Result2<ListSerializer> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result2<ListSerializer> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result2<ListSerializer> {
        Ok(ListSerializer { variant: Some(variant), ..self.serialize_seq(Some(length))? })
    }

    fn serialize_map(self, _length: Option<usize>) -> Result2<MapSerializer> {
        Ok(MapSerializer { map: Item::new(), name: String::new(), variant: None })
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result2<MapSerializer> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result2<MapSerializer> {
        Ok(MapSerializer { map: Item::new(), name: String::new(), variant: Some(variant) })
    }
}

fn checked(number: Number) -> Result2<Value> {
    number.check().map_err(|error| EncodeError::new(error.to_string()))?;
    Ok(Value::N(number))
}

/// The set with the elements of a list.
fn set_of(list: Vec<Value>) -> Result2<Value> {
    let kind = match list.first() {
        None => return Err(EncodeError::new("a set must not be empty; leave it out by skip_serializing_if")),
        Some(first) => first.type_name(),
    };
    let wrong = |other: &Value| {
        EncodeError::new(format!("a set has texts, numbers or bytes of one type, not {kind} and {}", other.type_name()))
    };
    match kind {
        "S" => list
            .into_iter()
            .map(|value| if let Value::S(text) = value { Ok(text) } else { Err(wrong(&value)) })
            .collect::<Result2<_>>()
            .map(Value::Ss),
        "N" => list
            .into_iter()
            .map(|value| if let Value::N(number) = value { Ok(number) } else { Err(wrong(&value)) })
            .collect::<Result2<_>>()
            .map(Value::Ns),
        "B" => list
            .into_iter()
            .map(|value| if let Value::B(content) = value { Ok(content) } else { Err(wrong(&value)) })
            .collect::<Result2<_>>()
            .map(Value::Bs),
        _ => Err(EncodeError::new(format!("a set has texts, numbers or bytes, not {kind}"))),
    }
}

struct ListSerializer {
    list: Vec<Value>,
    variant: Option<&'static str>,
}

impl ListSerializer {
    fn push<T: Serialize + ?Sized>(&mut self, data: &T) -> Result2<()> {
        let value = data.serialize(ValueSerializer).map_err(|error| error.at(&format!("[{}]", self.list.len())))?;
        self.list.push(value);
        Ok(())
    }

    fn finish(self) -> Value {
        named(self.variant, Value::L(self.list))
    }
}

/// The form of an enum's variant.
fn named(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        Some(name) => Value::M(Item::from([(name, value)])),
        None => value,
    }
}

macro_rules! serialize_lists {
    ($($kind:ident $method:ident;)*) => {
        $(impl ser::$kind for ListSerializer {
            type Ok = Value;
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, data: &T) -> Result2<()> {
                self.push(data)
            }

            fn end(self) -> Result2<Value> {
                Ok(self.finish())
            }
        })*
    };
}

serialize_lists! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

struct MapSerializer {
    map: Item,
    name: String,
    variant: Option<&'static str>,
}

impl MapSerializer {
    fn insert<T: Serialize + ?Sized>(&mut self, name: String, data: &T) -> Result2<()> {
        let value = data.serialize(ValueSerializer).map_err(|error| error.at(&name))?;
        self.map.insert(name, value);
        Ok(())
    }

    fn finish(self) -> Value {
        named(self.variant, Value::M(self.map))
    }
}

impl ser::SerializeMap for MapSerializer {
    type Ok = Value;
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result2<()> {
        self.name = name.serialize(NameSerializer)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, data: &T) -> Result2<()> {
        let name = std::mem::take(&mut self.name);
        self.insert(name, data)
    }

    fn end(self) -> Result2<Value> {
        Ok(self.finish())
    }
}

macro_rules! serialize_structs {
    ($($kind:ident)*) => {
        $(impl ser::$kind for MapSerializer {
            type Ok = Value;
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, data: &T) -> Result2<()> {
                self.insert(name.to_owned(), data)
            }

            fn end(self) -> Result2<Value> {
                Ok(self.finish())
            }
        })*
    };
}

serialize_structs!(SerializeStruct SerializeStructVariant);

/// Keys of maps: texts, and what has an unambiguous text.
struct NameSerializer;

macro_rules! serialize_names {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, name: $type) -> Result2<String> {
            Ok(name.to_string())
        })*
    };
}

fn no_name<T>() -> Result2<T> {
    Err(EncodeError::new("the keys of a map are texts, integers, characters or flags"))
}

impl Serializer for NameSerializer {
    type Ok = String;
    type Error = EncodeError;
    type SerializeSeq = Impossible<String, EncodeError>;
    type SerializeTuple = Impossible<String, EncodeError>;
    type SerializeTupleStruct = Impossible<String, EncodeError>;
    type SerializeTupleVariant = Impossible<String, EncodeError>;
    type SerializeMap = Impossible<String, EncodeError>;
    type SerializeStruct = Impossible<String, EncodeError>;
    type SerializeStructVariant = Impossible<String, EncodeError>;

    serialize_names! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
        serialize_char char;
        serialize_str &str;
    }

    fn serialize_f32(self, _: f32) -> Result2<String> {
        no_name()
    }

    fn serialize_f64(self, _: f64) -> Result2<String> {
        no_name()
    }

    fn serialize_bytes(self, _: &[u8]) -> Result2<String> {
        no_name()
    }

    fn serialize_none(self) -> Result2<String> {
        no_name()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, data: &T) -> Result2<String> {
        data.serialize(self)
    }

    fn serialize_unit(self) -> Result2<String> {
        no_name()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result2<String> {
        no_name()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result2<String> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, data: &T) -> Result2<String> {
        data.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result2<String> {
        no_name()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result2<Self::SerializeSeq> {
        no_name()
    }

    fn serialize_tuple(self, _: usize) -> Result2<Self::SerializeTuple> {
        no_name()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result2<Self::SerializeTupleStruct> {
        no_name()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result2<Self::SerializeTupleVariant> {
        no_name()
    }

    fn serialize_map(self, _: Option<usize>) -> Result2<Self::SerializeMap> {
        no_name()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result2<Self::SerializeStruct> {
        no_name()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result2<Self::SerializeStructVariant> {
        no_name()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::S(text) => serializer.serialize_str(text),
            Value::N(number) => number.serialize(serializer),
            Value::B(content) => serializer.serialize_bytes(content),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Null => serializer.serialize_unit(),
            Value::Ss(set) => crate::set::serialize(set, serializer),
            Value::Ns(set) => crate::set::serialize(set, serializer),
            Value::Bs(set) => {
                let elements: Vec<BytesOf> = set.iter().map(|content| BytesOf(content)).collect();
                crate::set::serialize(&elements, serializer)
            }
            Value::L(list) => list.serialize(serializer),
            Value::M(map) => map.serialize(serializer),
        }
    }
}

struct BytesOf<'a>(&'a [u8]);

impl Serialize for BytesOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
