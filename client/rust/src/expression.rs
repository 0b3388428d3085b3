//! Expressions as text, and the placeholders of a request.
use std::collections::{BTreeMap, BTreeSet};

use crate::wire::AttributeValue;
use crate::{Error, Value};

/// A condition, a filter, an update or a projection of a request.
///
/// [`expr`] makes one from a text with parameters; a plain text is one, too. [`attr`](crate::attr), [`set`](crate::update::set)
/// and their relatives build one. Names and values become placeholders of the request, so that reserved words and special
/// characters do no harm.
#[derive(Clone, Debug)]
pub struct Expression(pub(crate) Node);

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Text(Text),
    /// A document path.
    Path(String),
    /// An attribute name, taken literally.
    Name(String),
    Value(Value),
    Literal(&'static str),
    /// The parts one behind the other.
    Sequence(Vec<Node>),
    /// The parts with a separator between them.
    Join(&'static str, Vec<Node>),
    /// In parentheses.
    Group(Box<Node>),
}

/// An expression as text, with its parameters: see [`expr`].
#[derive(Clone, Debug)]
pub struct Text {
    pub(crate) text: String,
    parameters: BTreeMap<String, Parameter>,
}

#[derive(Clone, Debug)]
enum Parameter {
    Value(Value),
    Name(String),
}

/// An expression as text, such as "attribute_not_exists(id) OR version < $version". The language is that of the documented API.
///
/// A `$name` stands for the value of [`Text::param`] or for the attribute of [`Text::name`]. A `#name` stands for the attribute
/// `name`, so that reserved words need nothing: "#state = $new".
///
/// ```
/// use armature_client::expr;
///
/// let condition = expr("#state = $new AND visits > $least").param("new", "open").param("least", 10);
/// ```
///
/// A parameter whose name begins with ':' or '#' is a placeholder of the documented API and is written as such in the text.
pub fn expr(text: impl Into<String>) -> Text {
    Text { text: text.into(), parameters: BTreeMap::new() }
}

impl Text {
    /// Sets the value of a parameter. [`to_value`](crate::to_value) makes values of types with serde.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), Parameter::Value(value.into()));
        self
    }

    /// Sets the attribute that a parameter stands for. Its name is taken literally: it may have dots, and be a reserved word.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>, attribute: impl Into<String>) -> Self {
        self.parameters.insert(name.into(), Parameter::Name(attribute.into()));
        self
    }
}

impl From<Text> for Expression {
    fn from(text: Text) -> Self {
        Self(Node::Text(text))
    }
}

impl From<&str> for Expression {
    fn from(text: &str) -> Self {
        expr(text).into()
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        expr(text).into()
    }
}

/// A projection: the attributes at these document paths.
pub fn fields<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Expression {
    Expression(Node::Join(", ", paths.into_iter().map(|path| Node::Path(path.into())).collect()))
}

/// Placeholders and parameters in a text.
enum Token<'a> {
    Plain(&'a str),
    /// With its '#' or ':'.
    Placeholder(&'a str),
    /// Without its '$'.
    Parameter(&'a str),
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < bytes.len() {
        let begin = at;
        at += 1;
        if !matches!(bytes[begin], b'$' | b'#' | b':') {
            continue;
        }
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        let isolated = at == begin + 1;
        let token = match bytes[begin] {
            b'$' => Token::Parameter(&text[begin + 1..at]),
            _ if isolated => continue,
            _ => Token::Placeholder(&text[begin..at]),
        };
        if plain < begin {
            found.push(Token::Plain(&text[plain..begin]));
        }
        found.push(token);
        plain = at;
    }
    if plain < text.len() {
        found.push(Token::Plain(&text[plain..]));
    }
    found
}

/// The placeholders of all expressions of one request.
#[derive(Debug, Default)]
pub(crate) struct Binder {
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) values: BTreeMap<String, AttributeValue>,
    /// Placeholders of the program.
    reserved: BTreeSet<String>,
    given: BTreeSet<String>,
    used: BTreeSet<String>,
    name_count: usize,
}

impl Binder {
    /// A binder for these expressions: generated placeholders stay apart from those of the program in any of them.
    pub(crate) fn new<'a>(expressions: impl IntoIterator<Item = &'a Option<Expression>>) -> Self {
        let mut binder = Self::default();
        for expression in expressions.into_iter().flatten() {
            binder.reserve(&expression.0);
        }
        binder
    }

    fn reserve(&mut self, node: &Node) {
        match node {
            Node::Text(text) => {
                for token in tokens(&text.text) {
                    if let Token::Placeholder(placeholder) = token {
                        self.reserved.insert(placeholder.to_owned());
                    }
                }
            }
            Node::Sequence(parts) | Node::Join(_, parts) => parts.iter().for_each(|part| self.reserve(part)),
            Node::Group(inner) => self.reserve(inner),
            _ => {}
        }
    }

    /// The text of an expression that may be absent.
    pub(crate) fn compile(&mut self, expression: &Option<Expression>) -> Result<Option<String>, Error> {
        let Some(expression) = expression else {
            return Ok(None);
        };
        let mut text = String::new();
        self.write(&expression.0, &mut text)?;
        Ok(Some(text))
    }

    /// Refuses a parameter that is in no expression of the request: it is probably misspelt.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        match self.given.difference(&self.used).next() {
            Some(name) => Err(Error::argument(format!("parameter {name}"), "no expression of the request uses it")),
            None => Ok(()),
        }
    }

    fn write(&mut self, node: &Node, out: &mut String) -> Result<(), Error> {
        match node {
            Node::Text(text) => self.write_text(text, out),
            Node::Path(path) => self.write_path(path, out),
            Node::Name(name) => {
                out.push_str(&self.name(name));
                Ok(())
            }
            Node::Value(value) => {
                value.check("of an expression")?;
                out.push_str(&self.value("v", value));
                Ok(())
            }
            Node::Literal(text) => {
                out.push_str(text);
                Ok(())
            }
            Node::Sequence(parts) => parts.iter().try_for_each(|part| self.write(part, out)),
            Node::Join(separator, parts) => {
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { separator } else { "" });
                    self.write(part, out)?;
                }
                Ok(())
            }
            Node::Group(inner) => {
                out.push('(');
                self.write(inner, out)?;
                out.push(')');
                Ok(())
            }
        }
    }

    fn write_text(&mut self, text: &Text, out: &mut String) -> Result<(), Error> {
        self.given.extend(text.parameters.keys().cloned());
        for token in tokens(&text.text) {
            match token {
                Token::Plain(plain) => out.push_str(plain),
                Token::Placeholder(placeholder) => {
                    self.used.insert(placeholder.to_owned());
                    self.define(placeholder, text)?;
                    out.push_str(placeholder);
                }
                Token::Parameter(name) => {
                    self.used.insert(name.to_owned());
                    let placeholder = match text.parameters.get(name) {
                        None => return Err(missing(format!("${name}"), text)),
                        Some(Parameter::Name(attribute)) => self.name(attribute),
                        Some(Parameter::Value(value)) => {
                            value.check(&format!("${name}"))?;
                            self.value(name, value)
                        }
                    };
                    out.push_str(&placeholder);
                }
            }
        }
        Ok(())
    }

    /// Sets a placeholder that the program has written.
    fn define(&mut self, placeholder: &str, text: &Text) -> Result<(), Error> {
        let parameter = text.parameters.get(placeholder);
        if let Some(own) = placeholder.strip_prefix('#') {
            let attribute = match parameter {
                None => own,
                Some(Parameter::Name(attribute)) | Some(Parameter::Value(Value::S(attribute))) => attribute,
                Some(_) => return Err(Error::argument(placeholder, "stands for an attribute, whose name is a text")),
            };
            let known = self.names.entry(placeholder.to_owned()).or_insert_with(|| attribute.to_owned());
            if known != attribute {
                return Err(Error::argument(placeholder, format!("means {known:?} and {attribute:?} in one request")));
            }
            return Ok(());
        }
        let Some(Parameter::Value(value)) = parameter else {
            return Err(missing(placeholder.to_owned(), text));
        };
        value.check(placeholder)?;
        let known = self.values.entry(placeholder.to_owned()).or_insert_with(|| value.clone().into());
        if known.value.as_ref() != Some(value) {
            return Err(Error::argument(placeholder, "has two values in one request"));
        }
        Ok(())
    }

    /// The placeholder of an attribute name.
    fn name(&mut self, attribute: &str) -> String {
        let known = self.names.iter().find(|(name, known)| *known == attribute && !self.reserved.contains(*name));
        if let Some((placeholder, _)) = known {
            return placeholder.clone();
        }
        loop {
            let placeholder = format!("#n{}", self.name_count);
            self.name_count += 1;
            if !self.reserved.contains(&placeholder) {
                self.names.insert(placeholder.clone(), attribute.to_owned());
                return placeholder;
            }
        }
    }

    /// The placeholder of a value. The hint makes it readable in messages of the daemon.
    fn value(&mut self, hint: &str, value: &Value) -> String {
        for number in 0.. {
            let placeholder = if number == 0 { format!(":{hint}") } else { format!(":{hint}_{number}") };
            if self.reserved.contains(&placeholder) {
                continue;
            }
            match self.values.get(&placeholder) {
                Some(known) if known.value.as_ref() != Some(value) => continue,
                Some(_) => {}
                None => {
                    self.values.insert(placeholder.clone(), value.clone().into());
                }
            }
            return placeholder;
        }
        unreachable!("numbers do not end")
    }

    fn write_path(&mut self, path: &str, out: &mut String) -> Result<(), Error> {
        for (at, part) in path.split('.').enumerate() {
            let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
            if name.is_empty() || !are_indexes(indexes) {
                let reason = "is not the path of an attribute; use attr_named for a name with a dot";
                return Err(Error::argument(format!("path {path:?}"), reason));
            }
            out.push_str(if at > 0 { "." } else { "" });
            out.push_str(&self.name(name));
            out.push_str(indexes);
        }
        Ok(())
    }
}

/// Nothing, or indexes such as "[0][12]".
fn are_indexes(text: &str) -> bool {
    text.is_empty()
        || text.strip_suffix(']').and_then(|text| text.strip_prefix('[')).is_some_and(|inner| {
            inner.split("][").all(|index| !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()))
        })
}

fn missing(argument: String, text: &Text) -> Error {
    Error::argument(argument, format!("the expression {:?} has no such parameter", text.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(expression: impl Into<Expression>) -> Result<(String, Binder), Error> {
        let expression = Some(expression.into());
        let mut binder = Binder::new([&expression]);
        let text = binder.compile(&expression)?.unwrap();
        binder.finish()?;
        Ok((text, binder))
    }

    #[test]
    fn parameters_become_placeholders() {
        let (text, binder) =
            compiled(expr("SET #n = $n, b = $n, c = $x").param("n", 1).name("x", "full.name")).unwrap();
        assert_eq!(text, "SET #n = :n, b = :n, c = #n0");
        assert_eq!(binder.names["#n"], "n");
        assert_eq!(binder.names["#n0"], "full.name");
        assert_eq!(binder.values[":n"].value, Some(1.into()));
    }

    #[test]
    fn placeholders_of_the_program_are_left_alone() {
        let (text, binder) = compiled(expr("a = $v AND b = :v AND #n0 = $v").param("v", 1).param(":v", 2)).unwrap();
        assert_eq!(text, "a = :v_1 AND b = :v AND #n0 = :v_1");
        assert_eq!(binder.values[":v"].value, Some(2.into()));
        assert_eq!(binder.names["#n0"], "n0");
    }

    #[test]
    fn wrong_parameters_are_refused() {
        for wrong in [
            expr("a = $b"),
            expr("a = $"),
            expr("a = :b"),
            expr("a = b").param("c", 1),
            expr("a = $b").param("b", f64::NAN),
            expr("#a = b").param("#a", 1),
        ] {
            let refused = compiled(wrong.clone());
            assert!(matches!(refused, Err(Error::Argument(_))), "{wrong:?} gives {refused:?}");
        }
    }

    #[test]
    fn paths_have_names_and_indexes() {
        let (text, _) = compiled(fields(["a.b[0][1].a"])).unwrap();
        assert_eq!(text, "#n0.#n1[0][1].#n0");
        for wrong in ["", "a.", ".a", "a[", "a[]", "a[x]", "a[0]b", "[0]"] {
            assert!(compiled(fields([wrong])).is_err(), "{wrong}");
        }
    }
}
