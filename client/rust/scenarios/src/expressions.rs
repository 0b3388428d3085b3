//! Expressions of scenarios: texts, and trees for the builder.
use armature_client::update::Changes;
use armature_client::{attr, expr, fields, not, Condition, Expression, Operand, Text};
use serde_yaml_ng::Value as Yaml;

use crate::values::{entries, member, native, texts};

/// The condition, filter or projection in a member of an operation.
pub fn expression(node: &Yaml, name: &str) -> Option<Expression> {
    match member(node, name) {
        Yaml::Null => None,
        Yaml::String(text) => Some(with_params(text, node).into()),
        Yaml::Sequence(list) if head(list) == "fields" => Some(fields(list[1..].iter().map(text_in))),
        Yaml::Sequence(list) => Some(tree(list).into()),
        other => panic!("the expression {other:?}"),
    }
}

/// The update in an operation.
pub fn update(node: &Yaml) -> Expression {
    match member(node, "update") {
        Yaml::Sequence(list) => changes(Changes::default(), list).into(),
        _ => expression(node, "update").expect("an update"),
    }
}

fn with_params(text: &str, node: &Yaml) -> Text {
    let mut made = expr(text);
    for part in ["params", "values"] {
        for (name, value) in entries(member(node, part)) {
            made = made.param(name, native(value));
        }
    }
    for (name, attribute) in entries(member(node, "names")) {
        made = made.name(name, text_in(attribute));
    }
    made
}

/// A key condition of a sharded query, which is a text.
pub fn text_condition(node: &Yaml) -> Text {
    with_params(member(node, "key_condition").as_str().expect("a text"), node)
}

fn head(list: &[Yaml]) -> &str {
    list[0].as_str().expect("an operator")
}

fn text_in(node: &Yaml) -> &str {
    node.as_str().unwrap_or_else(|| panic!("{node:?} is no text"))
}

fn sub(node: &Yaml) -> Condition {
    tree(node.as_sequence().expect("a tree"))
}

fn operand(node: &Yaml) -> Operand {
    match member(node, "$path") {
        Yaml::String(path) => attr(path),
        _ => native(node).into(),
    }
}

fn tree(list: &[Yaml]) -> Condition {
    let rest = &list[1..];
    match head(list) {
        "text" => {
            let params = Yaml::Mapping([("params".into(), rest[1].clone())].into_iter().collect());
            with_params(text_in(&rest[0]), &params).into()
        }
        "not" => not(sub(&rest[0])),
        "and" => rest[1..].iter().fold(sub(&rest[0]), |all, part| all.and(sub(part))),
        "or" => rest[1..].iter().fold(sub(&rest[0]), |all, part| all.or(sub(part))),
        name => comparison(name, rest),
    }
}

fn comparison(name: &str, rest: &[Yaml]) -> Condition {
    let path = attr(text_in(&rest[0]));
    let (name, path) = match name.strip_prefix("size_") {
        Some(name) => (name, path.size()),
        None => (name, path),
    };
    let at = |number: usize| operand(&rest[number]);
    match name {
        "eq" => path.eq(at(1)),
        "ne" => path.ne(at(1)),
        "lt" => path.lt(at(1)),
        "le" => path.le(at(1)),
        "gt" => path.gt(at(1)),
        "ge" => path.ge(at(1)),
        "between" => path.between(at(1), at(2)),
        "in" => path.is_in(rest[1..].iter().map(operand)),
        "begins_with" => path.begins_with(at(1)),
        "contains" => path.contains(at(1)),
        "type" => path.has_type(&texts(&Yaml::Sequence(rest[1..].to_vec()))[0]),
        "exists" => path.exists(),
        "not_exists" => path.not_exists(),
        other => panic!("the operator {other}"),
    }
}

fn changes(all: Changes, list: &[Yaml]) -> Changes {
    let rest = &list[1..];
    if head(list) == "all" {
        return rest.iter().fold(all, |all, part| changes(all, part.as_sequence().expect("an action")));
    }
    let path = text_in(&rest[0]);
    if head(list) == "remove" {
        return all.remove(path);
    }
    let value = operand(&rest[1]);
    match head(list) {
        "set" => all.set(path, value),
        "set_if_missing" => all.set(path, attr(path).or_else(value)),
        "increment" => all.set(path, attr(path).plus(value)),
        "append" => all.set(path, attr(path).append(value)),
        "add" => all.add(path, value),
        "delete" => all.delete(path, value),
        other => panic!("the action {other}"),
    }
}
