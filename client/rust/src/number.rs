//! Numbers without loss; `#[serde(with = "armature_client::number")]` stores a decimal type, such as `rust_decimal::Decimal`
//! or any other type with `Display` and `FromStr`, as a number.
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A decimal number as text, such as "-12.5" or "1e3": up to 38 significant digits, which no native type holds.
///
/// Numbers are equal, and have an order and a hash, by their value: `1.0`, `1` and `1e0` are equal.
///
/// ```
/// use armature_client::Number;
///
/// let price: Number = "19.90".parse()?;
/// assert_eq!(price, "19.9".parse()?);
/// assert!(price > Number::from(19));
/// assert_eq!(Number::from(u128::MAX).to_string(), "340282366920938463463374607431768211455");
/// assert!(Number::try_from(f64::NAN).is_err());
/// # Ok::<(), armature_client::NumberError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Number(String);

/// A text or a float that is not a decimal number, or a number that does not fit into a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberError(String);

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NumberError {}

/// The name by which the serializer of this crate knows a number.
pub(crate) const NUMBER_TOKEN: &str = "$armature::Number";

/// Digits of an exponent that a text may have.
const EXPONENT_DIGITS_MAX: usize = 4;

impl Number {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number as an integer or a float type, such as `n.parse::<i64>()?`. Floats are rounded; an integer must fit.
    pub fn parse<T: FromStr>(&self) -> Result<T, NumberError> {
        self.0.parse().map_err(|_| NumberError(format!("{} does not fit into {}", self.0, std::any::type_name::<T>())))
    }

    /// A number of the daemon, which has checked it.
    pub(crate) fn from_wire(text: String) -> Self {
        Self(text)
    }

    /// NaN and infinities become numbers that [`Number::check`] refuses.
    pub(crate) fn from_float(float: f64) -> Self {
        let plain = float == 0.0 || (1e-5..1e21).contains(&float.abs());
        Self(if plain { float.to_string() } else { format!("{float:e}") })
    }

    /// The shortest text of the float, as [`Number::from_float`].
    pub(crate) fn from_single(float: f32) -> Self {
        Self(format!("{float:e}"))
    }

    pub(crate) fn check(&self) -> Result<(), NumberError> {
        if is_decimal(&self.0) {
            return Ok(());
        }
        Err(NumberError(format!("{:?} is not a decimal number", self.0)))
    }

    fn parts(&self) -> Parts<'_> {
        let (text, sign) = match self.0.strip_prefix('-') {
            Some(rest) => (rest, -1),
            None => (self.0.strip_prefix('+').unwrap_or(&self.0), 1),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let (mut whole, mut fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let mut power = exponent.parse().unwrap_or(0i64) + whole.len() as i64;
        if whole.is_empty() {
            let digits = fraction.trim_start_matches('0');
            power -= (fraction.len() - digits.len()) as i64;
            fraction = digits;
        }
        if fraction.is_empty() {
            whole = whole.trim_end_matches('0');
        }
        if whole.is_empty() && fraction.is_empty() {
            return Parts { sign: 0, power: 0, whole, fraction };
        }
        Parts { sign, power, whole, fraction }
    }
}

/// A number taken apart: 0.DIGITS * 10^power, without zeros at both ends of the digits.
struct Parts<'a> {
    /// -1, 0 or 1.
    sign: i8,
    power: i64,
    whole: &'a str,
    fraction: &'a str,
}

impl Parts<'_> {
    fn digits(&self) -> impl Iterator<Item = u8> + '_ {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    fn compare(&self, other: &Self) -> Ordering {
        let magnitude = || self.power.cmp(&other.power).then_with(|| self.digits().cmp(other.digits()));
        match self.sign.cmp(&other.sign) {
            Ordering::Equal if self.sign < 0 => magnitude().reverse(),
            Ordering::Equal => magnitude(),
            order => order,
        }
    }
}

fn is_decimal(text: &str) -> bool {
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    !(whole.is_empty() && fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
        && (1..=EXPONENT_DIGITS_MAX).contains(&exponent.len())
        && all_digits(exponent)
}

impl FromStr for Number {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        let number = Self(text.to_owned());
        number.check().map(|()| number)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from_integers {
    ($($integer:ty)*) => {
        $(impl From<$integer> for Number {
            fn from(integer: $integer) -> Self {
                Self(integer.to_string())
            }
        }

        impl TryFrom<&Number> for $integer {
            type Error = NumberError;

            fn try_from(number: &Number) -> Result<Self, NumberError> {
                number.parse()
            }
        })*
    };
}

from_integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl TryFrom<f64> for Number {
    type Error = NumberError;

    fn try_from(float: f64) -> Result<Self, NumberError> {
        let number = Self::from_float(float);
        number.check().map(|()| number)
    }
}

#[cfg(feature = "rust_decimal")]
impl From<rust_decimal::Decimal> for Number {
    fn from(decimal: rust_decimal::Decimal) -> Self {
        Self(decimal.to_string())
    }
}

#[cfg(feature = "bigdecimal")]
impl From<bigdecimal::BigDecimal> for Number {
    fn from(decimal: bigdecimal::BigDecimal) -> Self {
        Self(decimal.to_scientific_notation())
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = self.parts();
        (parts.sign, parts.power).hash(state);
        parts.digits().for_each(|digit| state.write_u8(digit));
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().compare(&other.parts())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NUMBER_TOKEN, &self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NUMBER_TOKEN, NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_i128<E: de::Error>(self, integer: i128) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_u128<E: de::Error>(self, integer: u128) -> Result<Number, E> {
        Ok(integer.into())
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<Number, E> {
        Number::try_from(float).map_err(E::custom)
    }

    /// The form of a number that no type of serde holds.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        match map.next_entry::<String, String>()? {
            Some((name, text)) if name == NUMBER_TOKEN => self.visit_str(&text),
            _ => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
        }
    }
}

/// Serializes a decimal type as a number.
pub fn serialize<T: fmt::Display, S: Serializer>(decimal: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let number: Number = decimal.to_string().parse().map_err(serde::ser::Error::custom)?;
    number.serialize(serializer)
}

/// Deserializes a decimal type from a number.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr,
    T::Err: fmt::Display,
    D: Deserializer<'de>,
{
    Number::deserialize(deserializer)?.0.parse().map_err(de::Error::custom)
}
