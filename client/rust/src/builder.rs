//! Expressions that are built. Names of attributes need no `#`.
use crate::expression::{Expression, Node};
use crate::Value;

/// An attribute, a value or a function of them. Arguments of its methods are operands, or what `Value::from` takes.
///
/// ```
/// use armature_client::{attr, not};
///
/// let condition = attr("status").eq("open").and(not(attr("total").gt(100).or(attr("tags").contains("blocked"))));
/// ```
#[derive(Clone, Debug)]
pub struct Operand(Node);

/// The attribute at a document path, such as "address.lines[0]". Each name in it is taken literally.
pub fn attr(path: impl Into<String>) -> Operand {
    Operand(Node::Path(path.into()))
}

/// The attribute of this name, which may have dots.
pub fn attr_named(name: impl Into<String>) -> Operand {
    Operand(Node::Name(name.into()))
}

impl<V: Into<Value>> From<V> for Operand {
    fn from(value: V) -> Self {
        Self(Node::Value(value.into()))
    }
}

fn function(name: &'static str, arguments: Vec<Node>) -> Node {
    Node::Sequence(vec![Node::Literal(name), Node::Group(Box::new(Node::Join(", ", arguments)))])
}

impl Operand {
    fn compare(self, operator: &'static str, other: impl Into<Operand>) -> Condition {
        Condition { node: Node::Join(operator, vec![self.0, other.into().0]), is_atom: true }
    }

    /// True if both are equal.
    pub fn eq(self, other: impl Into<Operand>) -> Condition {
        self.compare(" = ", other)
    }

    /// True if they differ.
    pub fn ne(self, other: impl Into<Operand>) -> Condition {
        self.compare(" <> ", other)
    }

    /// True if the operand is less than the other.
    pub fn lt(self, other: impl Into<Operand>) -> Condition {
        self.compare(" < ", other)
    }

    /// True if the operand is at most the other.
    pub fn le(self, other: impl Into<Operand>) -> Condition {
        self.compare(" <= ", other)
    }

    /// True if the operand is greater than the other.
    pub fn gt(self, other: impl Into<Operand>) -> Condition {
        self.compare(" > ", other)
    }

    /// True if the operand is at least the other.
    pub fn ge(self, other: impl Into<Operand>) -> Condition {
        self.compare(" >= ", other)
    }

    /// True if the operand is at least `low` and at most `high`.
    pub fn between(self, low: impl Into<Operand>, high: impl Into<Operand>) -> Condition {
        let parts = vec![self.0, Node::Literal(" BETWEEN "), low.into().0, Node::Literal(" AND "), high.into().0];
        Condition { node: Node::Sequence(parts), is_atom: true }
    }

    /// True if the operand equals one of the values: 1 to 100.
    pub fn is_in<O: Into<Operand>>(self, values: impl IntoIterator<Item = O>) -> Condition {
        let list = Node::Join(", ", values.into_iter().map(|value| value.into().0).collect());
        Condition {
            node: Node::Sequence(vec![self.0, Node::Literal(" IN "), Node::Group(Box::new(list))]),
            is_atom: true,
        }
    }

    /// True if the text or the bytes begin with the prefix.
    pub fn begins_with(self, prefix: impl Into<Operand>) -> Condition {
        Condition { node: function("begins_with", vec![self.0, prefix.into().0]), is_atom: true }
    }

    /// True if the value is in the text, the set or the list.
    pub fn contains(self, value: impl Into<Operand>) -> Condition {
        Condition { node: function("contains", vec![self.0, value.into().0]), is_atom: true }
    }

    /// True if the item has the attribute.
    pub fn exists(self) -> Condition {
        Condition { node: function("attribute_exists", vec![self.0]), is_atom: true }
    }

    /// True if the item does not have the attribute.
    pub fn not_exists(self) -> Condition {
        Condition { node: function("attribute_not_exists", vec![self.0]), is_atom: true }
    }

    /// True if the attribute has the type: "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L" or "M".
    pub fn has_type(self, name: &str) -> Condition {
        Condition { node: function("attribute_type", vec![self.0, Node::Value(name.into())]), is_atom: true }
    }

    /// The size of the attribute: characters, bytes or elements.
    #[must_use]
    pub fn size(self) -> Operand {
        Operand(function("size", vec![self.0]))
    }

    /// The sum, for an update.
    #[must_use]
    pub fn plus(self, other: impl Into<Operand>) -> Operand {
        Operand(Node::Join(" + ", vec![self.0, other.into().0]))
    }

    /// The difference, for an update.
    #[must_use]
    pub fn minus(self, other: impl Into<Operand>) -> Operand {
        Operand(Node::Join(" - ", vec![self.0, other.into().0]))
    }

    /// The attribute, or the other if the item does not have it, for an update.
    #[must_use]
    pub fn or_else(self, other: impl Into<Operand>) -> Operand {
        Operand(function("if_not_exists", vec![self.0, other.into().0]))
    }

    /// The list with the elements of the other one at its end, for an update.
    #[must_use]
    pub fn append(self, list: impl Into<Operand>) -> Operand {
        Operand(function("list_append", vec![self.0, list.into().0]))
    }

    /// The list with the elements of the other one at its beginning, for an update.
    #[must_use]
    pub fn prepend(self, list: impl Into<Operand>) -> Operand {
        Operand(function("list_append", vec![list.into().0, self.0]))
    }
}

/// True or false for an item: a condition of a write, a filter, or a condition on a key.
#[derive(Clone, Debug)]
pub struct Condition {
    node: Node,
    /// It needs no parentheses within `and`, `or` and `not`.
    is_atom: bool,
}

impl From<Condition> for Expression {
    fn from(condition: Condition) -> Self {
        Self(condition.node)
    }
}

impl From<crate::Text> for Condition {
    fn from(text: crate::Text) -> Self {
        Self { node: Node::Text(text), is_atom: false }
    }
}

impl Condition {
    fn group(self) -> Node {
        if self.is_atom {
            return self.node;
        }
        Node::Group(Box::new(self.node))
    }

    /// True if both are true. The other may be a text, too: see [`expr`](crate::expr).
    #[must_use]
    pub fn and(self, other: impl Into<Condition>) -> Condition {
        Condition { node: Node::Join(" AND ", vec![self.group(), other.into().group()]), is_atom: false }
    }

    /// True if one of both is true.
    #[must_use]
    pub fn or(self, other: impl Into<Condition>) -> Condition {
        Condition { node: Node::Join(" OR ", vec![self.group(), other.into().group()]), is_atom: false }
    }
}

/// True if the condition is false.
pub fn not(condition: impl Into<Condition>) -> Condition {
    Condition { node: Node::Sequence(vec![Node::Literal("NOT "), condition.into().group()]), is_atom: true }
}

/// Updates that are built.
pub mod update {
    use super::*;

    /// An update: what it sets, removes, adds and deletes.
    ///
    /// ```
    /// use armature_client::{attr, update};
    ///
    /// let changes = update::set("status", "sent").set("total", attr("total").plus(5)).remove("draft");
    /// ```
    #[derive(Clone, Debug, Default)]
    pub struct Changes {
        sets: Vec<Node>,
        removes: Vec<Node>,
        adds: Vec<Node>,
        deletes: Vec<Node>,
    }

    /// An update that sets the attribute at a path to an operand or a value.
    pub fn set(path: impl Into<String>, value: impl Into<Operand>) -> Changes {
        Changes::default().set(path, value)
    }

    /// An update that removes the attribute at a path.
    pub fn remove(path: impl Into<String>) -> Changes {
        Changes::default().remove(path)
    }

    /// An update that adds a number to a number, or the elements of a set to a set.
    pub fn add(path: impl Into<String>, value: impl Into<Operand>) -> Changes {
        Changes::default().add(path, value)
    }

    /// An update that removes the elements of a set from a set.
    pub fn delete(path: impl Into<String>, value: impl Into<Operand>) -> Changes {
        Changes::default().delete(path, value)
    }

    impl Changes {
        /// Also sets the attribute at a path to an operand or a value.
        #[must_use]
        pub fn set(mut self, path: impl Into<String>, value: impl Into<Operand>) -> Self {
            self.sets.push(Node::Join(" = ", vec![Node::Path(path.into()), value.into().0]));
            self
        }

        /// Also removes the attribute at a path.
        #[must_use]
        pub fn remove(mut self, path: impl Into<String>) -> Self {
            self.removes.push(Node::Path(path.into()));
            self
        }

        /// Also adds a number to a number, or the elements of a set to a set.
        #[must_use]
        pub fn add(mut self, path: impl Into<String>, value: impl Into<Operand>) -> Self {
            self.adds.push(Node::Join(" ", vec![Node::Path(path.into()), value.into().0]));
            self
        }

        /// Also removes the elements of a set from a set.
        #[must_use]
        pub fn delete(mut self, path: impl Into<String>, value: impl Into<Operand>) -> Self {
            self.deletes.push(Node::Join(" ", vec![Node::Path(path.into()), value.into().0]));
            self
        }
    }

    impl From<Changes> for Expression {
        fn from(changes: Changes) -> Self {
            let clauses = [
                ("SET ", changes.sets),
                ("REMOVE ", changes.removes),
                ("ADD ", changes.adds),
                ("DELETE ", changes.deletes),
            ];
            let parts = clauses.into_iter().filter(|(_, actions)| !actions.is_empty());
            let parts =
                parts.map(|(word, actions)| Node::Sequence(vec![Node::Literal(word), Node::Join(", ", actions)]));
            Self(Node::Join(" ", parts.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Binder;
    use crate::{expr, item};

    fn text_of(expression: impl Into<Expression>) -> String {
        let expression = Some(expression.into());
        let mut binder = Binder::new([&expression]);
        binder.compile(&expression).unwrap().unwrap()
    }

    #[test]
    fn conditions_have_parentheses_where_they_need_them() {
        let condition = attr("a").eq(1).and(attr("b").exists()).or(not(expr("c > $c").param("c", 2)));
        assert_eq!(text_of(condition), "(#n0 = :v AND attribute_exists(#n1)) OR NOT (c > :c)");
    }

    #[test]
    fn functions_and_operands() {
        assert_eq!(text_of(attr("a").is_in([1, 2])), "#n0 IN (:v, :v_1)");
        assert_eq!(text_of(attr("a").size().between(attr("b"), 3)), "size(#n0) BETWEEN #n1 AND :v");
        assert_eq!(text_of(attr_named("a.b").ne(item! { "x": 1 })), "#n0 <> :v");
    }

    #[test]
    fn updates_have_their_clauses_in_order() {
        let changes =
            update::remove("x").set("a", attr("a").or_else(0).plus(1)).add("n", 2).set("l", attr("l").append([1]));
        assert_eq!(
            text_of(changes),
            "SET #n0 = if_not_exists(#n0, :v) + :v_1, #n1 = list_append(#n1, :v_2) REMOVE #n2 ADD #n3 :v_3"
        );
    }
}
