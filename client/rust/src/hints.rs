//! Hints: facts about a refused request that the daemon's text leaves out. docs/develop/clients/README.md lists them.
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use prost::Message;

use crate::wire::AttributeValue;
use crate::{api, CallError, Item, Number, Value};

const SCHEMAS_MAX: usize = 1000;
const ITEM_BYTES_MAX: usize = 409_600;
const DIGITS_MAX: usize = 38;

/// The key attributes of tables and their indexes, as the client has seen them described last, by "table" or "table/index".
#[derive(Default)]
pub(crate) struct Schemas {
    texts: Mutex<HashMap<String, String>>,
}

impl Schemas {
    /// Notes the description in a response, if it has one.
    pub(crate) fn learn(&self, response: &dyn Any) {
        let table = None
            .or_else(|| response.downcast_ref().and_then(|r: &api::DescribeTableResponse| r.table.as_ref()))
            .or_else(|| response.downcast_ref().and_then(|r: &api::CreateTableResponse| r.table_description.as_ref()))
            .or_else(|| response.downcast_ref().and_then(|r: &api::UpdateTableResponse| r.table_description.as_ref()));
        let Some(table) = table else { return };
        let types: HashMap<&str, &str> = table
            .attribute_definitions
            .iter()
            .map(|one| {
                (one.attribute_name.as_str(), one.attribute_type().as_str_name().rsplit('_').next().unwrap_or(""))
            })
            .collect();
        let text = |schema: &[api::KeySchemaElement]| {
            let parts =
                schema.iter().map(|key| (key.attribute_name.as_str(), types.get(&*key.attribute_name).copied()));
            list(parts.map(|(name, kind)| (name, kind.unwrap_or("?"))))
        };
        let name = &table.table_name;
        let mut texts = self.texts.lock().expect("no panic with the lock");
        if texts.len() >= SCHEMAS_MAX {
            return;
        }
        texts.insert(name.clone(), text(&table.key_schema));
        for index in &table.global_secondary_indexes {
            texts.insert(format!("{name}/{}", index.index_name), text(&index.key_schema));
        }
        for index in &table.local_secondary_indexes {
            texts.insert(format!("{name}/{}", index.index_name), text(&index.key_schema));
        }
    }

    /// The hint about the key of a table or an index, if it is known.
    fn key_of(&self, name: &str) -> Option<String> {
        let texts = self.texts.lock().expect("no panic with the lock");
        texts.get(name).map(|key| format!("the key of {name} is {key}"))
    }

    /// The hint for an error that the daemon has answered. Empty for others.
    pub(crate) fn hint_of(&self, error: &CallError, request: &dyn Any, table: Option<&str>) -> String {
        let message = &error.message;
        if error.exception.is_none() {
            return if message.contains("over TLS") { "connect with TLS".into() } else { String::new() };
        }
        let tables = table.map_or_else(|| tables_of(request), |table| BTreeSet::from([table]));
        let mut parts = Vec::new();
        match tables.len() {
            0 => {}
            1 => parts.extend(tables.iter().filter(|table| !message.ends_with(**table)).map(|t| format!("table {t}"))),
            _ => parts.push(format!("tables {}", tables.iter().copied().collect::<Vec<_>>().join(", "))),
        }
        let index = index_of(request);
        parts.extend(index.map(|index| format!("index {index}")));
        if let Some((_, rest)) = message.split_once("reserved keyword: ") {
            let word: String = rest.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
            parts.push(format!("in an expression, #{word} stands for the attribute {word}"));
        } else if message.contains("does not match the schema") {
            parts.extend(key_hint(request));
            parts.extend(tables.iter().filter_map(|table| self.key_of(table)));
        } else if message.contains("key schema element") || message.contains("key condition not supported") {
            parts.extend(request.downcast_ref().and_then(condition_hint));
            let name = |table: &&str| index.map_or_else(|| table.to_string(), |index| format!("{table}/{index}"));
            parts.extend(tables.iter().filter_map(|table| self.key_of(&name(table))));
        } else if message.contains("Item size") {
            parts.push(size_hint(request));
        } else if message.contains("significant digits") {
            parts.extend(digits_hint(request));
        }
        parts.join("; ")
    }
}

fn list<'a>(names: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    names.map(|(name, kind)| format!("{name} ({kind})")).collect::<Vec<_>>().join(", ")
}

/// The tables that a request on several names.
fn tables_of(request: &dyn Any) -> BTreeSet<&str> {
    use api::transact_write_item::Action;
    if let Some(request) = request.downcast_ref::<api::BatchGetItemRequest>() {
        return request.request_items.keys().map(String::as_str).collect();
    } else if let Some(request) = request.downcast_ref::<api::BatchWriteItemRequest>() {
        return request.request_items.keys().map(String::as_str).collect();
    } else if let Some(request) = request.downcast_ref::<api::TransactGetItemsRequest>() {
        return request.transact_items.iter().flat_map(|item| &item.get).map(|get| get.table_name.as_str()).collect();
    } else if let Some(request) = request.downcast_ref::<api::TransactWriteItemsRequest>() {
        let actions = request.transact_items.iter().flat_map(|item| &item.action);
        let names = actions.map(|action| match action {
            Action::Put(put) => put.table_name.as_str(),
            Action::Update(update) => &update.table_name,
            Action::Delete(delete) => &delete.table_name,
            Action::ConditionCheck(check) => &check.table_name,
        });
        return names.collect();
    }
    BTreeSet::new()
}

fn index_of(request: &dyn Any) -> Option<&str> {
    let query = request.downcast_ref().and_then(|request: &api::QueryRequest| request.index_name.as_deref());
    query.or_else(|| request.downcast_ref().and_then(|request: &api::ScanRequest| request.index_name.as_deref()))
}

fn key_hint(request: &dyn Any) -> Option<String> {
    let key = None
        .or_else(|| request.downcast_ref().and_then(|request: &api::GetItemRequest| request.key.as_ref()))
        .or_else(|| request.downcast_ref().and_then(|request: &api::UpdateItemRequest| request.key.as_ref()))
        .or_else(|| request.downcast_ref().and_then(|request: &api::DeleteItemRequest| request.key.as_ref()))?;
    Some(format!("the given key is {}", list(key.iter().map(|(name, value)| (name.as_str(), value.type_name())))))
}

/// The attributes that a key condition names.
fn condition_hint(query: &api::QueryRequest) -> Option<String> {
    let text = query.key_condition_expression.as_deref()?;
    let is_part = |c: char| c.is_alphanumeric() || "_#:".contains(c);
    let mut names: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        rest = after;
        let is_other = word.starts_with([':', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            || ["and", "between"].contains(&word.to_lowercase().as_str())
            || after.trim_start().starts_with('(');
        let name = query.expression_attribute_names.get(word).map_or(word, String::as_str);
        if !is_other && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| format!("the key condition names {}", names.join(", ")))
}

fn size_hint(request: &dyn Any) -> String {
    let limit = format!("an item has at most {ITEM_BYTES_MAX} bytes, with the names of its attributes");
    let item = request.downcast_ref().and_then(|request: &api::PutItemRequest| request.item.as_ref());
    let sizes = item.into_iter().flat_map(|item| item.iter()).map(|(name, value)| {
        let value = AttributeValue { value: Some(value.clone()) };
        (value.encoded_len(), name)
    });
    match sizes.max() {
        Some((bytes, name)) => format!("{limit}; the largest attribute is {name} with {bytes} bytes"),
        None => limit,
    }
}

/// The place of a number with too many digits.
fn digits_hint(request: &dyn Any) -> Option<String> {
    let item = request.downcast_ref().and_then(|request: &api::PutItemRequest| request.item.as_ref());
    let values: Option<&BTreeMap<String, AttributeValue>> = None
        .or_else(|| request.downcast_ref().map(|r: &api::PutItemRequest| &r.expression_attribute_values))
        .or_else(|| request.downcast_ref().map(|r: &api::UpdateItemRequest| &r.expression_attribute_values))
        .or_else(|| request.downcast_ref().map(|r: &api::DeleteItemRequest| &r.expression_attribute_values));
    let attribute = item.and_then(place_in).map(|place| format!("the number is in the attribute {place}"));
    attribute.or_else(|| {
        values?.iter().find_map(|(name, value)| {
            let place = place_in_value(value.value.as_ref()?)?;
            Some(format!("the number is in the value {name}{place}"))
        })
    })
}

fn place_in(item: &Item) -> Option<String> {
    item.iter().find_map(|(name, value)| place_in_value(value).map(|place| format!("{name}{place}")))
}

/// The path behind the name of an attribute.
fn place_in_value(value: &Value) -> Option<String> {
    match value {
        Value::N(number) => has_many_digits(number).then(String::new),
        Value::Ns(numbers) => numbers.iter().any(has_many_digits).then(String::new),
        Value::M(map) => place_in(map).map(|place| format!(".{place}")),
        Value::L(list) => list.iter().enumerate().find_map(|(at, element)| {
            let place = place_in_value(element)?;
            Some(format!("[{at}]{place}"))
        }),
        _ => None,
    }
}

fn has_many_digits(number: &Number) -> bool {
    let mantissa = number.as_str().split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len() > DIGITS_MAX
}
