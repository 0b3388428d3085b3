//! Values of YAML.
use std::collections::BTreeSet;

use armature_client::{Item, Number, Value};
use base64::prelude::{Engine, BASE64_STANDARD};
use serde_yaml_ng::{Mapping, Value as Yaml};

/// A wrong scenario, or one that this runner does not know.
pub type Failure = String;

/// A member of a mapping. `Null` if it is absent.
pub fn member<'a>(node: &'a Yaml, name: &str) -> &'a Yaml {
    const ABSENT: &Yaml = &Yaml::Null;
    node.get(name).unwrap_or(ABSENT)
}

pub fn has(node: &Yaml, name: &str) -> bool {
    node.get(name).is_some()
}

pub fn is_true(node: &Yaml, name: &str) -> bool {
    member(node, name) == &Yaml::Bool(true)
}

pub fn text(node: &Yaml, name: &str) -> String {
    member(node, name).as_str().unwrap_or_else(|| panic!("no text {name} in {node:?}")).to_owned()
}

pub fn number(node: &Yaml, name: &str) -> Option<u64> {
    member(node, name).as_u64()
}

pub fn list<'a>(node: &'a Yaml, name: &str) -> &'a [Yaml] {
    member(node, name).as_sequence().map_or(&[], Vec::as_slice)
}

pub fn texts(node: &Yaml) -> Vec<String> {
    let list = node.as_sequence().map_or(&[][..], Vec::as_slice);
    list.iter().map(text_of).collect()
}

fn text_of(node: &Yaml) -> String {
    match node {
        Yaml::String(text) => text.clone(),
        Yaml::Number(number) => number.to_string(),
        other => panic!("{other:?} is no text"),
    }
}

pub fn entries(node: &Yaml) -> impl Iterator<Item = (&str, &Yaml)> {
    let entries = node.as_mapping().map(Mapping::iter).into_iter().flatten();
    entries.map(|(name, value)| (name.as_str().expect("names are texts"), value))
}

/// The native value of a value in a scenario.
pub fn native(node: &Yaml) -> Value {
    match node {
        Yaml::Null => Value::Null,
        Yaml::Bool(flag) => (*flag).into(),
        Yaml::Number(number) => Value::N(number.to_string().parse().expect("a number of YAML")),
        Yaml::String(text) => text.into(),
        Yaml::Sequence(list) => Value::L(list.iter().map(native).collect()),
        Yaml::Mapping(mapping) => special(mapping)
            .unwrap_or_else(|| Value::M(entries(node).map(|(name, value)| (name, native(value))).collect())),
        Yaml::Tagged(_) => panic!("tags are not used"),
    }
}

/// The value of a map with one key that begins with a dollar sign.
fn special(mapping: &Mapping) -> Option<Value> {
    let (name, value) = mapping.iter().next().filter(|_| mapping.len() == 1)?;
    let elements = || value.as_sequence().expect("a list").iter();
    Some(match name.as_str()? {
        "$n" if value.is_string() => Value::N(number_of(value)),
        "$b" => Value::B(bytes_of(value)),
        "$s" => repeated(value),
        "$ss" => Value::Ss(elements().map(text_of).collect()),
        "$ns" => Value::Ns(elements().map(number_of).collect::<BTreeSet<_>>()),
        "$bs" => Value::Bs(elements().map(bytes_of).collect()),
        _ => return None,
    })
}

fn repeated(value: &Yaml) -> Value {
    let parts = value.as_sequence().expect("a list");
    text_of(&parts[0]).repeat(parts[1].as_u64().expect("a count") as usize).into()
}

fn number_of(node: &Yaml) -> Number {
    text_of(node).parse().expect("a number")
}

fn bytes_of(node: &Yaml) -> Vec<u8> {
    BASE64_STANDARD.decode(node.as_str().expect("base64")).expect("base64")
}

pub fn item_of(node: &Yaml) -> Item {
    match native(node) {
        Value::M(item) => item,
        other => panic!("{other:?} is no item"),
    }
}

/// The item of this number of an operation with a count.
pub fn numbered(node: &Yaml, at: u64) -> Yaml {
    match node {
        Yaml::String(text) => text.replace("{i}", &at.to_string()).into(),
        Yaml::Sequence(list) => list.iter().map(|element| numbered(element, at)).collect::<Vec<_>>().into(),
        Yaml::Mapping(mapping) => {
            if let Some(factor) = mapping.get("$i").filter(|_| mapping.len() == 1) {
                return (factor.as_u64().expect("a factor") * at).into();
            }
            let numbered = mapping.iter().map(|(name, value)| (name.clone(), numbered(value, at)));
            Yaml::Mapping(numbered.collect())
        }
        other => other.clone(),
    }
}

/// The list in a member, or as many copies of a template as `count` says.
pub fn list_of(node: &Yaml, name: &str, template: &str) -> Vec<Yaml> {
    match number(node, "count") {
        Some(count) => (0..count).map(|at| numbered(member(node, template), at)).collect(),
        None => list(node, name).to_vec(),
    }
}

/// Compares results. Numbers are equal by value, sets have no order.
pub fn same(a: &Value, b: &Value, unordered: bool) -> bool {
    match (a, b) {
        (Value::L(a), Value::L(b)) if unordered => {
            let mut rest: Vec<&Value> = b.iter().collect();
            a.len() == b.len()
                && a.iter().all(|one| {
                    let found = rest.iter().position(|other| same(one, other, true));
                    found.map(|at| rest.swap_remove(at)).is_some()
                })
        }
        (Value::L(a), Value::L(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, false)),
        (Value::M(a), Value::M(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other, unordered)))
        }
        _ => a == b,
    }
}
