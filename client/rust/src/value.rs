//! Native items.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::{Binary, Error, Number};

/// A value of one of the ten types of the data model.
///
/// Texts, numbers, flags, lists, items and sets convert into values by `Value::from`. Types with serde convert by
/// [`to_value`](crate::to_value) and [`from_value`](crate::from_value).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// A text.
    S(String),
    /// A number.
    N(Number),
    /// Bytes.
    B(Vec<u8>),
    /// True or false.
    Bool(bool),
    /// Nothing, explicitly.
    #[default]
    Null,
    /// A set of texts, not empty.
    Ss(BTreeSet<String>),
    /// A set of numbers, not empty.
    Ns(BTreeSet<Number>),
    /// A set of bytes, not empty.
    Bs(BTreeSet<Vec<u8>>),
    /// A list.
    L(Vec<Value>),
    /// A map.
    M(Item),
}

/// An item without a schema, or a part of one: values by their names. It is a `BTreeMap`, and a [`Key`] is one, too.
///
/// ```
/// use armature_client::{item, Number, Value};
///
/// let mut ann = item! { "id": "ann", "visits": 1, "tags": ["new"], "address": item! { "city": "Bonn" } };
/// ann.insert("active".into(), true.into());
/// assert_eq!(ann["visits"], Value::N(Number::from(1)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item(BTreeMap<String, Value>);

/// The key attributes of an item.
pub type Key = Item;

/// Makes an [`Item`]: `item! { "id": "ann", "visits": 1 }`. Values are those that `Value::from` takes.
#[macro_export]
macro_rules! item {
    () => {
        $crate::Item::new()
    };
    ($($name:tt : $value:expr),+ $(,)?) => {
        $crate::Item::from([$((::std::string::String::from($name), $crate::Value::from($value))),+])
    };
}

impl Item {
    /// An item without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses what the daemon would not understand: empty sets and numbers that are none.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.iter().try_for_each(|(name, value)| value.check(name))
    }
}

impl Value {
    pub(crate) fn check(&self, path: &str) -> Result<(), Error> {
        let is_empty = match self {
            Value::Ss(set) => set.is_empty(),
            Value::Ns(set) => {
                set.iter().try_for_each(|number| check_number(number, path))?;
                set.is_empty()
            }
            Value::Bs(set) => set.is_empty(),
            Value::N(number) => return check_number(number, path),
            Value::L(list) => {
                return list.iter().enumerate().try_for_each(|(at, value)| value.check(&format!("{path}[{at}]")));
            }
            Value::M(map) => {
                return map.iter().try_for_each(|(name, value)| value.check(&format!("{path}.{name}")));
            }
            _ => false,
        };
        if is_empty {
            return Err(Error::argument(path, "is an empty set, which the data model does not have"));
        }
        Ok(())
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::S(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Value::N(number) => Some(number),
            _ => None,
        }
    }

    /// Name of the type: "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L" or "M".
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::S(_) => "S",
            Value::N(_) => "N",
            Value::B(_) => "B",
            Value::Bool(_) => "BOOL",
            Value::Null => "NULL",
            Value::Ss(_) => "SS",
            Value::Ns(_) => "NS",
            Value::Bs(_) => "BS",
            Value::L(_) => "L",
            Value::M(_) => "M",
        }
    }
}

fn check_number(number: &Number, path: &str) -> Result<(), Error> {
    number.check().map_err(|error| Error::argument(path, error.to_string()))
}

impl Deref for Item {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Item {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl From<BTreeMap<String, Value>> for Item {
    fn from(attributes: BTreeMap<String, Value>) -> Self {
        Self(attributes)
    }
}

impl<N: Into<String>, V: Into<Value>, const COUNT: usize> From<[(N, V); COUNT]> for Item {
    fn from(attributes: [(N, V); COUNT]) -> Self {
        attributes.into_iter().collect()
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Item {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(attributes: I) -> Self {
        Self(attributes.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl IntoIterator for Item {
    type Item = (String, Value);
    type IntoIter = std::collections::btree_map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::S(text) => write!(f, "{text:?}"),
            Value::N(number) => number.fmt(f),
            other => write!(f, "{other:?}"),
        }
    }
}

macro_rules! from_types {
    ($($type:ty, $value:ident => $made:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        })*
    };
}

from_types! {
    &str, text => Value::S(text.to_owned());
    String, text => Value::S(text);
    &String, text => Value::S(text.clone());
    bool, flag => Value::Bool(flag);
    Number, number => Value::N(number);
    i8, integer => Value::N(integer.into());
    i16, integer => Value::N(integer.into());
    i32, integer => Value::N(integer.into());
    i64, integer => Value::N(integer.into());
    i128, integer => Value::N(integer.into());
    isize, integer => Value::N(integer.into());
    u8, integer => Value::N(integer.into());
    u16, integer => Value::N(integer.into());
    u32, integer => Value::N(integer.into());
    u64, integer => Value::N(integer.into());
    u128, integer => Value::N(integer.into());
    usize, integer => Value::N(integer.into());
    f32, float => Value::N(Number::from_single(float));
    f64, float => Value::N(Number::from_float(float));
    Binary, content => Value::B(content.into());
    Item, map => Value::M(map);
    BTreeSet<String>, set => Value::Ss(set);
    BTreeSet<Number>, set => Value::Ns(set);
    BTreeSet<Binary>, set => Value::Bs(set.into_iter().map(Vec::from).collect());
}

#[cfg(feature = "rust_decimal")]
impl From<rust_decimal::Decimal> for Value {
    fn from(decimal: rust_decimal::Decimal) -> Self {
        Value::N(decimal.into())
    }
}

#[cfg(feature = "bigdecimal")]
impl From<bigdecimal::BigDecimal> for Value {
    fn from(decimal: bigdecimal::BigDecimal) -> Self {
        Value::N(decimal.into())
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(list: Vec<V>) -> Self {
        Value::L(list.into_iter().map(Into::into).collect())
    }
}

impl<V: Into<Value>, const COUNT: usize> From<[V; COUNT]> for Value {
    fn from(list: [V; COUNT]) -> Self {
        Value::L(list.into_iter().map(Into::into).collect())
    }
}
