//! Values to types with serde.
use std::collections::btree_map;
use std::fmt;

use serde::de::value::{MapDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{forward_to_deserialize_any, Deserialize};

use crate::number::NUMBER_TOKEN;
use crate::{Binary, Error, Item, Number, Value};

/// An attribute that does not fit into its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The attribute, such as `address.lines[0]`. Empty for the item as a whole.
    pub path: String,
    /// Why it does not fit.
    pub reason: String,
}

impl DecodeError {
    fn at(mut self, name: &str) -> Self {
        self.path = prefixed(name, &self.path);
        self
    }
}

/// The path of a part of an attribute.
pub(crate) fn prefixed(name: &str, path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        return format!("{name}{path}");
    }
    format!("{name}.{path}")
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.reason);
        }
        write!(f, "attribute {}: {}", self.path, self.reason)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self { path: String::new(), reason: reason.to_string() }
    }
}

type Result2<T> = Result<T, DecodeError>;

/// Returns a type with serde from a value. Errors: [`Error::Decode`].
///
/// An integer must fit into its field. Floats are rounded; use [`Number`] where no digit may be lost.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(ValueDeserializer(value)).map_err(Error::Decode)
}

/// Returns a struct or a map from an item. Errors: [`Error::Decode`].
pub fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    from_value(Value::M(item))
}

/// The name by which the deserializer of this crate knows a [`Value`], which keeps its type.
const VALUE_TOKEN: &str = "$armature::Value";

struct ValueDeserializer(Value);

impl ValueDeserializer {
    /// The text of a number, for a field that is a number.
    fn number<T: std::str::FromStr>(self) -> Result2<T> {
        let type_name = std::any::type_name::<T>();
        match self.0 {
            Value::N(number) => number.parse().map_err(de::Error::custom),
            other => Err(de::Error::custom(format!("the type {} does not fit into {type_name}", other.type_name()))),
        }
    }
}

macro_rules! deserialize_numbers {
    ($($method:ident $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
            visitor.$visit(self.number()?)
        })*
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        match self.0 {
            Value::S(text) => visitor.visit_string(text),
            Value::N(number) => visit_number(&number, visitor),
            Value::B(content) => visitor.visit_byte_buf(content),
            Value::Bool(flag) => visitor.visit_bool(flag),
            Value::Null => visitor.visit_unit(),
            Value::Ss(set) => visit_list(set.into_iter().map(Value::S), visitor),
            Value::Ns(set) => visit_list(set.into_iter().map(Value::N), visitor),
            Value::Bs(set) => visit_list(set.into_iter().map(Value::B), visitor),
            Value::L(list) => visit_list(list.into_iter(), visitor),
            Value::M(map) => visitor.visit_map(Entries { rest: map.into_iter(), current: None }),
        }
    }

    deserialize_numbers! {
        deserialize_i8 visit_i8;
        deserialize_i16 visit_i16;
        deserialize_i32 visit_i32;
        deserialize_i64 visit_i64;
        deserialize_i128 visit_i128;
        deserialize_u8 visit_u8;
        deserialize_u16 visit_u16;
        deserialize_u32 visit_u32;
        deserialize_u64 visit_u64;
        deserialize_u128 visit_u128;
        deserialize_f32 visit_f32;
        deserialize_f64 visit_f64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            value => visitor.visit_some(Self(value)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result2<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result2<V::Value> {
        match (name, self.0) {
            (NUMBER_TOKEN, Value::N(number)) => visitor.visit_newtype_struct(NumberText(number)),
            (NUMBER_TOKEN, other) => {
                Err(de::Error::custom(format!("the type {} does not fit into a Number", other.type_name())))
            }
            (VALUE_TOKEN, value) => visitor.visit_enum(TypedValue(value)),
            (_, value) => visitor.visit_newtype_struct(Self(value)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        match self.0 {
            Value::B(content) => visit_list(content.into_iter().map(Value::from), visitor),
            value => Self(value).deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result2<V::Value> {
        match self.0 {
            Value::S(variant) => visitor.visit_enum(variant.into_deserializer()),
            Value::M(map) => {
                let mut entries = map.into_iter();
                match (entries.next(), entries.next()) {
                    (Some((variant, value)), None) => visitor.visit_enum(Variant { variant, value }),
                    _ => Err(de::Error::custom("a variant of an enum is a map with one entry")),
                }
            }
            other => Err(de::Error::custom(format!("a variant of an enum is S or M, not {}", other.type_name()))),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit tuple tuple_struct map struct identifier
    }
}

/// A number for a field that does not say its type, as within `#[serde(flatten)]`: the first type that loses nothing.
fn visit_number<'de, V: Visitor<'de>>(number: &Number, visitor: V) -> Result2<V::Value> {
    if let Ok(integer) = number.parse() {
        return visitor.visit_u64(integer);
    }
    if let Ok(integer) = number.parse() {
        return visitor.visit_i64(integer);
    }
    match number.parse::<f64>() {
        Ok(float) if Number::from_float(float) == *number => visitor.visit_f64(float),
        // No type of serde holds it. Number and Value know this map; all others refuse it.
        _ => visitor.visit_map(MapDeserializer::new([(NUMBER_TOKEN, number.as_str())].into_iter())),
    }
}

fn visit_list<'de, V: Visitor<'de>>(list: impl Iterator<Item = Value>, visitor: V) -> Result2<V::Value> {
    let mut elements = Elements { list, count: 0 };
    let made = visitor.visit_seq(&mut elements)?;
    match elements.list.count() {
        0 => Ok(made),
        left => Err(de::Error::custom(format!("the list has {left} elements too many"))),
    }
}

struct Elements<I> {
    list: I,
    count: usize,
}

impl<'de, I: Iterator<Item = Value>> SeqAccess<'de> for &mut Elements<I> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result2<Option<T::Value>> {
        let Some(value) = self.list.next() else {
            return Ok(None);
        };
        let at = self.count;
        self.count += 1;
        seed.deserialize(ValueDeserializer(value)).map(Some).map_err(|error| error.at(&format!("[{at}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        self.list.size_hint().1
    }
}

struct Entries {
    rest: btree_map::IntoIter<String, Value>,
    current: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Entries {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result2<Option<K::Value>> {
        self.current = self.rest.next();
        match &self.current {
            Some((name, _)) => seed.deserialize(NameDeserializer(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result2<V::Value> {
        let (name, value) = self.current.take().expect("serde asks for a key first");
        seed.deserialize(ValueDeserializer(value)).map_err(|error| error.at(&name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// The name of an attribute, for fields and for the keys of maps, which may be numbers.
struct NameDeserializer<'a>(&'a str);

macro_rules! deserialize_names {
    ($($method:ident $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
            match self.0.parse() {
                Ok(key) => visitor.$visit(key),
                Err(_) => visitor.visit_str(self.0),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for NameDeserializer<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        visitor.visit_str(self.0)
    }

    deserialize_names! {
        deserialize_bool visit_bool;
        deserialize_i8 visit_i8;
        deserialize_i16 visit_i16;
        deserialize_i32 visit_i32;
        deserialize_i64 visit_i64;
        deserialize_i128 visit_i128;
        deserialize_u8 visit_u8;
        deserialize_u16 visit_u16;
        deserialize_u32 visit_u32;
        deserialize_u64 visit_u64;
        deserialize_u128 visit_u128;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result2<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result2<V::Value> {
        visitor.visit_enum(StrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant of an enum with its data.
struct Variant {
    variant: String,
    value: Value,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = DecodeError;
    type Variant = Payload;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result2<(V::Value, Payload)> {
        let name: StringDeserializer<DecodeError> = self.variant.clone().into_deserializer();
        Ok((seed.deserialize(name)?, Payload { variant: self.variant, value: self.value }))
    }
}

struct Payload {
    variant: String,
    value: Value,
}

impl<'de> VariantAccess<'de> for Payload {
    type Error = DecodeError;

    fn unit_variant(self) -> Result2<()> {
        match self.value {
            Value::Null => Ok(()),
            _ => Err(de::Error::custom("the variant has no data")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result2<T::Value> {
        seed.deserialize(ValueDeserializer(self.value)).map_err(|error| error.at(&self.variant))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result2<V::Value> {
        ValueDeserializer(self.value).deserialize_seq(visitor).map_err(|error| error.at(&self.variant))
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result2<V::Value> {
        ValueDeserializer(self.value).deserialize_any(visitor).map_err(|error| error.at(&self.variant))
    }
}

/// A number as its text.
struct NumberText(Number);

impl<'de> Deserializer<'de> for NumberText {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result2<V::Value> {
        visitor.visit_str(self.0.as_str())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A value with its type, as an enum of [`Value`].
struct TypedValue(Value);

impl<'de> EnumAccess<'de> for TypedValue {
    type Error = DecodeError;
    type Variant = ValueDeserializer;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result2<(V::Value, ValueDeserializer)> {
        let name: StrDeserializer<DecodeError> = self.0.type_name().into_deserializer();
        Ok((seed.deserialize(name)?, ValueDeserializer(self.0)))
    }
}

impl<'de> VariantAccess<'de> for ValueDeserializer {
    type Error = DecodeError;

    fn unit_variant(self) -> Result2<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result2<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result2<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result2<V::Value> {
        self.deserialize_any(visitor)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE_TOKEN, ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::M(item) => Ok(item),
            other => Err(de::Error::custom(format!("an item is M, not {}", other.type_name()))),
        }
    }
}

struct ValueVisitor;

macro_rules! visit_simple {
    ($($method:ident $type:ty;)*) => {
        $(fn $method<E: de::Error>(self, data: $type) -> Result<Value, E> {
            Ok(Value::from(data))
        })*
    };
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    /// Only the deserializer of this crate gives an enum.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (name, payload) = data.variant::<String>()?;
        Ok(match name.as_str() {
            "S" => Value::S(payload.newtype_variant()?),
            "N" => Value::N(payload.newtype_variant()?),
            "B" => Value::B(payload.newtype_variant::<Binary>()?.into()),
            "BOOL" => Value::Bool(payload.newtype_variant()?),
            "NULL" => payload.unit_variant().map(|()| Value::Null)?,
            "SS" => Value::Ss(payload.newtype_variant()?),
            "NS" => Value::Ns(payload.newtype_variant()?),
            "BS" => Value::from(payload.newtype_variant::<std::collections::BTreeSet<Binary>>()?),
            "L" => Value::L(payload.newtype_variant()?),
            _ => Value::M(payload.newtype_variant::<std::collections::BTreeMap<String, Value>>()?.into()),
        })
    }

    visit_simple! {
        visit_bool bool;
        visit_i64 i64;
        visit_u64 u64;
        visit_i128 i128;
        visit_u128 u128;
        visit_str &str;
        visit_string String;
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<Value, E> {
        Number::try_from(float).map(Value::N).map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, content: &[u8]) -> Result<Value, E> {
        Ok(Value::B(content.to_vec()))
    }

    fn visit_byte_buf<E: de::Error>(self, content: Vec<u8>) -> Result<Value, E> {
        Ok(Value::B(content))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::L(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut item = Item::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == NUMBER_TOKEN {
                return map.next_value::<String>()?.parse().map(Value::N).map_err(de::Error::custom);
            }
            item.insert(name, map.next_value()?);
        }
        Ok(Value::M(item))
    }
}
