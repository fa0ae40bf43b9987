//! Converts JSON objects to the same statements that N-Quads give.
//!
//! An object describes a node. Its key `uid` names the node; every other key is a predicate,
//! written `predicate@language` for values with a language, and `predicate|facet` gives a facet of
//! a predicate. An object inside another one is the target of an edge from the outer node.
//!
//! A string in the form of a time is a datetime if it is a facet. As a value, `"[1, 2]"` is a
//! vector and `"uid(v)"` a variable. To store such a string unchanged, write it as in JSON-LD:
//! `{"@value": "2020-01-02", "@type": "xs:string"}`.

use crate::formats::json_tree::{Json, JsonObject, Member, TreeFault, TreeReader};
use crate::formats::nquads::scanner::split_language;
use crate::formats::{Admitted, NQuad, Object, Predicate, Subject};
use crate::types::stack;
use crate::types::{
    DateTime, Error, JsonReader, Position, Result, Uid, Value, ValueType, parse_vector, shown,
    without_mark,
};
use std::borrow::Cow;
use typed_arena::Arena;

/// The maximal bytes for the numbers of a vector during parsing, per byte of their text.
const VECTOR_BYTES_PER_BYTE: usize = 8;

/// What a geometry takes at most while it is read, for each byte of its text: a point such as
/// `[0,0],` has 40 bytes, in lists that double.
const GEOMETRY_BYTES_PER_BYTE: usize = 20;

/// What a mutation does with its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutationKind {
    /// Adds them to the graph.
    Set,
    /// Removes them from the graph.
    Delete,
}

/// The JSON of a mutation: an object, or an array of objects. It is read in one pass, a tree of one
/// of these objects at a time.
pub struct JsonText<'a> {
    text: &'a str,
    times: &'a [usize],
    /// Owns the strings with escapes: statements borrow the others from the text.
    unescaped: Arena<String>,
}

impl<'a> JsonText<'a> {
    /// A text, which is not read yet. It may begin with a byte order mark.
    pub fn new(text: &'a str) -> JsonText<'a> {
        JsonText::timed(text, &[])
    }

    /// A text that was made from typed values. JSON has no form for times, so `times` gives the
    /// ascending offsets of the strings that were times.
    pub fn timed(text: &'a str, times: &'a [usize]) -> JsonText<'a> {
        // A text that was made has no mark, and offsets into it.
        let text = if times.is_empty() { without_mark(text) } else { text };
        JsonText { text, times, unescaped: Arena::new() }
    }

    /// Returns the statements of all objects, without bounds. As [`JsonText::read`].
    ///
    /// # Errors
    ///
    /// As [`JsonText::read`].
    pub fn statements(&self, change: MutationKind, new_nodes: &mut u32) -> Result<Vec<NQuad<'_>>> {
        let mut quads = Admitted::new(&());
        self.read(change, new_nodes, &mut quads)?;
        Ok(quads.into_quads())
    }

    /// Adds the statements of all objects to a list. `new_nodes` is the number of the next new
    /// node: objects without a uid use it and advance it.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`] with the position where it is no JSON, holds an integer of more than 64
    /// bits, nests too deep, is neither an object nor an array of objects, or has a member that
    /// can't be a statement. Those of what admits to the list.
    pub fn read<'t>(
        &'t self,
        change: MutationKind,
        new_nodes: &mut u32,
        quads: &mut Admitted<'t, '_>,
    ) -> Result<()> {
        let mut trees = TreeReader::new(self.times, &self.unescaped, quads.admission());
        let mut reader = JsonReader::strict(self.text);
        let lines = Lines { text: self.text, at: 0, line: 1, start: 0 };
        let mut writer = Writer { change, new_nodes, quads, lines, scratch: 0 };
        let read = read_roots(&mut reader, &mut trees, &mut writer);
        let offset = reader.offset();
        read.map_err(|stop| match stop {
            Stop::Tree(TreeFault::Refused(error)) | Stop::Fault(Fault::Refused(error)) => error,
            Stop::Tree(fault) => Error::syntax(Position::of(self.text, offset), fault),
            Stop::Fault(Fault::Wrong { at, message, hint }) => {
                Error::syntax(Position::of(self.text, at), message).with_hint(hint)
            }
            Stop::NoObject => Error::Syntax {
                message: "a mutation in JSON is an object or an array of objects".to_owned(),
                at: Position::of(self.text, 0),
                hint: "an object is a node: `{\"uid\": \"_:a\", \"name\": \"Ada\"}`".to_owned(),
            },
        })
    }
}

/// Why reading stops early.
enum Stop {
    Tree(TreeFault),
    Fault(Fault),
    NoObject,
}

impl<T: Into<TreeFault>> From<T> for Stop {
    fn from(fault: T) -> Stop {
        Stop::Tree(fault.into())
    }
}

/// Reads one object, or those of an array.
fn read_roots<'t>(
    reader: &mut JsonReader<'t>,
    trees: &mut TreeReader<'t, '_>,
    writer: &mut Writer<'t, '_, '_, '_>,
) -> std::result::Result<(), Stop> {
    let mut root = |reader: &mut JsonReader<'t>, depth| match trees.value(reader, depth)? {
        Json::Object(object) => writer.root(&object).map_err(Stop::Fault),
        _ => Err(Stop::NoObject),
    };
    match reader.peek()? {
        b'[' => reader.array(|element| root(element, 1))?,
        _ => root(reader, 0)?,
    }
    Ok(reader.end()?)
}

/// The reason why a member becomes no statement.
enum Fault {
    Wrong {
        at: usize,
        message: String,
        hint: &'static str,
    },
    /// It is not admitted, or there is no memory for it.
    Refused(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Refused(error)
    }
}

type Written<T> = std::result::Result<T, Fault>;

type Facets<'t> = Vec<(&'t str, Value)>;

fn fault(at: usize, message: impl Into<String>, hint: &'static str) -> Fault {
    Fault::Wrong { at, message: message.into(), hint }
}

/// A member whose statements are written.
#[derive(Clone, Copy)]
struct Edge<'t> {
    subject: Subject<'t>,
    key: &'t str,
    /// The offset of the value of the member, for faults.
    offset: usize,
    at: Position,
}

/// The position of the offset that was requested last. Offsets ascend, so the text is read once.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    /// The offset where the line begins.
    start: usize,
}

impl Lines<'_> {
    fn position(&mut self, at: usize) -> Position {
        for (index, byte) in self.text.as_bytes()[self.at..at].iter().enumerate() {
            if *byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.start = self.at + index + 1;
            }
        }
        self.at = at;
        Position { line: self.line, column: u32::try_from(at - self.start).unwrap_or(u32::MAX) }
    }
}

struct Writer<'t, 'r, 'q, 'n> {
    change: MutationKind,
    new_nodes: &'n mut u32,
    quads: &'q mut Admitted<'t, 'r>,
    lines: Lines<'t>,
    /// The bytes that are reserved for values while they are read, one at a time.
    scratch: usize,
}

impl<'t> Writer<'t, '_, '_, '_> {
    fn root(&mut self, object: &JsonObject<'t>) -> Written<()> {
        let at = self.lines.position(object.at);
        let subject = self.object(object, None)?;
        // To delete an object with nothing but a uid deletes everything of the node.
        if self.change == MutationKind::Delete && object.members.len() == 1 {
            let (predicate, object) = (Predicate::Star, Object::Star);
            let facets = Vec::new();
            let in_list = None;
            self.quads.push(NQuad { subject, predicate, lang: "", object, facets, in_list, at })?;
        }
        Ok(())
    }

    /// Adds the statements of an object, after that of the edge that points to it. Returns the node
    /// of the object.
    fn object(
        &mut self,
        object: &JsonObject<'t>,
        edge: Option<(Edge<'t>, bool)>,
    ) -> Written<Subject<'t>> {
        stack::require();
        let subject = self.subject(object)?;
        let facets = FacetMembers::of(object);
        if let Some((edge, in_list)) = edge {
            let own = facets.of_value(edge.key)?;
            self.push(edge, Object::from(subject), own, in_list)?;
        }
        for member in &object.members {
            let is_reserved = matches!(member.key, "uid" | "namespace");
            if !is_reserved && split_facet(member.key).is_none() {
                let at = self.lines.position(member.at);
                let edge = Edge { subject, key: member.key, offset: member.at, at };
                self.member(edge, &member.value, &facets)?;
            }
        }
        Ok(subject)
    }

    fn member(
        &mut self,
        edge: Edge<'t>,
        value: &Json<'t>,
        facets: &FacetMembers<'t, '_>,
    ) -> Written<()> {
        match value {
            Json::Null if self.change == MutationKind::Delete => {
                self.push(edge, Object::Star, Vec::new(), false)
            }
            Json::Null => Ok(()),
            Json::Array(items) => self.list(edge, items, facets),
            Json::Object(object) if typed_text(value).is_none() => self.nested(edge, object, false),
            value => {
                let own = facets.of_value(edge.key)?;
                let object = self.scalar(edge, value)?;
                self.push(edge, object, own, false)
            }
        }
    }

    fn list(
        &mut self,
        edge: Edge<'t>,
        items: &[Json<'t>],
        facets: &FacetMembers<'t, '_>,
    ) -> Written<()> {
        let is_node =
            |item: &Json<'_>| matches!(item, Json::Object(_)) && typed_text(item).is_none();
        let has_values = !items.iter().all(is_node);
        let mut own = match has_values {
            true => facets.of_list(edge.key, items.len())?,
            false => Vec::new(),
        };
        for (position, item) in items.iter().enumerate() {
            match item {
                Json::Object(object) if is_node(item) => {
                    self.nested(edge, object, true)?;
                }
                Json::Text(_) | Json::Time(_) | Json::Int(_) | Json::Float(_) | Json::Object(_) => {
                    let object = self.scalar(edge, item)?;
                    let facets = own.get_mut(position).map(std::mem::take).unwrap_or_default();
                    self.push(edge, object, facets, true)?;
                }
                Json::Null | Json::Bool(_) | Json::Array(_) => {
                    return Err(fault(
                        edge.offset,
                        format!(
                            "the list of `{}` holds something else than values or objects",
                            edge.key
                        ),
                        "a list holds texts, numbers or objects",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Adds the statements of an object inside another one. It is a geometry if it looks like one,
    /// else a node with an edge to it. An empty object means nothing.
    fn nested(&mut self, edge: Edge<'t>, object: &JsonObject<'t>, in_list: bool) -> Written<()> {
        if object.members.is_empty() {
            return Ok(());
        }
        if looks_like_geometry(object) {
            self.reserve_scratch(GEOMETRY_BYTES_PER_BYTE * object.text.len())?;
            if let Ok(geometry) = Value::parse(object.text, ValueType::Geo) {
                return self.push(edge, Object::Value(geometry), Vec::new(), in_list);
            }
        }
        self.object(object, Some((edge, in_list))).map(drop)
    }

    /// Converts a string, a number, a truth value or a [`typed_text`] to the object of a statement.
    fn scalar(&mut self, edge: Edge<'_>, value: &Json<'t>) -> Written<Object<'t>> {
        let deletes = self.change == MutationKind::Delete;
        Ok(match value {
            // Programs write an absent text as an empty one: deleting it deletes all values.
            Json::Text(text) if deletes && text.is_empty() => Object::Star,
            Json::Float(number) if deletes && *number == 0.0 => Object::Star,
            Json::Bool(false) if deletes => Object::Star,
            Json::Text(text) => match variable(text, edge.offset)? {
                Some(variable) => variable,
                None => self.text_object(text)?,
            },
            Json::Time(text) => {
                Object::Literal { text: Cow::Borrowed(text), value_type: ValueType::DateTime }
            }
            Json::Int(number) => Object::Value(Value::Int(*number)),
            Json::Float(number) => Object::Value(Value::Float(*number)),
            Json::Bool(truth) => Object::Value(Value::Bool(*truth)),
            Json::Object(_) => {
                let text = Cow::Borrowed(typed_text(value).unwrap_or_default());
                Object::Literal { text, value_type: ValueType::String }
            }
            Json::Null | Json::Array(_) => Object::Star,
        })
    }

    /// Converts a string to a vector if it is written as one, else to a text.
    fn text_object(&mut self, text: &'t str) -> Written<Object<'t>> {
        if text.trim_start().starts_with('[') {
            self.reserve_scratch(VECTOR_BYTES_PER_BYTE * text.len())?;
            if let Ok(numbers) = parse_vector(text)
                && !numbers.is_empty()
            {
                return Ok(Object::Value(Value::Vector(numbers)));
            }
        }
        Ok(Object::Literal { text: Cow::Borrowed(text), value_type: ValueType::String })
    }

    /// Reserves memory that is free again when a value has been read.
    fn reserve_scratch(&mut self, bytes: usize) -> Result<()> {
        if self.scratch < bytes {
            self.quads.admission().reserve(bytes - self.scratch)?;
            self.scratch = bytes;
        }
        Ok(())
    }

    fn push(
        &mut self,
        edge: Edge<'t>,
        object: Object<'t>,
        facets: Facets<'t>,
        in_list: bool,
    ) -> Written<()> {
        let (name, lang) = split_language(edge.key);
        let (predicate, in_list) = (Predicate::Name(name), Some(in_list));
        let Edge { subject, at, .. } = edge;
        self.quads.push(NQuad { subject, predicate, lang, object, facets, in_list, at })?;
        Ok(())
    }

    /// Returns the node that an object describes: the one that `uid` names, else a new one.
    fn subject(&mut self, object: &JsonObject<'t>) -> Written<Subject<'t>> {
        let named = object.get("uid").map(|member| named_node(member)).transpose()?.flatten();
        if let Some(subject) = named {
            return Ok(subject);
        }
        if self.change == MutationKind::Delete {
            return Err(fault(
                object.at,
                "an object to be deleted has no \"uid\"",
                "add \"uid\", which is not 0",
            ));
        }
        *self.new_nodes += 1;
        Ok(Subject::New(*self.new_nodes))
    }
}

/// Returns the node that a member `uid` names, or `None` when its value represents no node.
fn named_node<'t>(member: &Member<'t>) -> Written<Option<Subject<'t>>> {
    const HINT: &str = "a uid is a number, \"_:name\" or \"uid(variable)\"";
    let unreadable = |text: &str| {
        let message = format!("{} is no uid", shown(text));
        Err(fault(member.at, message, HINT))
    };
    let text = match &member.value {
        Json::Null => return Ok(None),
        Json::Int(number) => match u64::try_from(*number) {
            Ok(0) => return Ok(None),
            Ok(number) => return Ok(Some(Subject::Uid(number))),
            Err(_) => return unreadable(&number.to_string()),
        },
        Json::Text(text) | Json::Time(text) => *text,
        _ => return Err(fault(member.at, "the value of \"uid\" names no node", HINT)),
    };
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(label) = text.strip_prefix("_:") {
        return match label.is_empty() {
            true => Err(fault(member.at, "a blank node has no name", HINT)),
            false => Ok(Some(Subject::Blank(label))),
        };
    }
    if let Some(Object::Var(name)) = variable(text, member.at)? {
        return Ok(Some(Subject::Var(name)));
    }
    match Uid::parse(text) {
        Some(Uid(0)) => Ok(None),
        Some(Uid(number)) => Ok(Some(Subject::Uid(number))),
        None => unreadable(text),
    }
}

/// Returns the variable of a text `uid(v)` or `val(v)`, which may have blanks between its parts.
fn variable(text: &str, at: usize) -> Written<Option<Object<'_>>> {
    let call = text.trim();
    let (is_uid, rest) = match (call.strip_prefix("uid"), call.strip_prefix("val")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Ok(None),
    };
    let Some(rest) = rest.trim_start().strip_prefix('(') else { return Ok(None) };
    let name = rest.strip_suffix(')').map(str::trim).unwrap_or_default();
    if name.is_empty() {
        let message = format!("the brackets of {} are not closed", shown(call));
        return Err(fault(
            at,
            message,
            "a text that starts like this is a variable: `uid(v)` or `val(v)`",
        ));
    }
    Ok(Some(if is_uid { Object::Var(name) } else { Object::Val(name) }))
}

/// Whether an object has exactly the members `type` and `coordinates` of a GeoJSON geometry (RFC
/// 7946).
fn looks_like_geometry(object: &JsonObject<'_>) -> bool {
    object.members.len() == 2 && object.get("type").is_some() && object.get("coordinates").is_some()
}

/// The members of an object that give facets, sorted by predicate and key.
struct FacetMembers<'t, 'o> {
    members: Vec<(&'t str, &'t str, &'o Member<'t>)>,
}

impl<'t, 'o> FacetMembers<'t, 'o> {
    fn of(object: &'o JsonObject<'t>) -> FacetMembers<'t, 'o> {
        let members = object.members.iter();
        let mut members: Vec<_> = members
            .filter_map(|member| {
                let (predicate, key) = split_facet(member.key)?;
                Some((predicate, key, member))
            })
            .collect();
        members.sort_by_key(|(predicate, key, _)| (*predicate, *key));
        FacetMembers { members }
    }

    fn of_predicate(&self, expected: &str) -> &[(&'t str, &'t str, &'o Member<'t>)] {
        let start = self.members.partition_point(|(predicate, ..)| *predicate < expected);
        let rest = &self.members[start..];
        &rest[..rest.partition_point(|(predicate, ..)| *predicate == expected)]
    }

    /// Returns the facets of a single value, or of the edge that points to the object.
    fn of_value(&self, predicate: &str) -> Written<Facets<'t>> {
        let mut facets = Vec::new();
        for (_, key, member) in self.of_predicate(predicate) {
            check_key(key, member)?;
            if member.value != Json::Null {
                let position = || format!("facet `{}`", member.key);
                facets.push((*key, facet_value(&member.value, member, position)?));
            }
        }
        Ok(facets)
    }

    /// Returns the facets of each value of a list of `count` values. A facet of a list is an object
    /// such as `{"0": …, "2": …}`, whose keys are positions from 0.
    fn of_list(&self, predicate: &str, count: usize) -> Written<Vec<Facets<'t>>> {
        let members = self.of_predicate(predicate);
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let mut facets = vec![Vec::new(); count];
        for (_, key, member) in members {
            check_key(key, member)?;
            let by_position = match &member.value {
                Json::Null => continue,
                Json::Object(by_position) => by_position,
                _ => {
                    let message = format!("facet `{}` of a list is no object", member.key);
                    let hint = "write one value for each position: `{\"0\": ..., \"2\": ...}`";
                    return Err(fault(member.at, message, hint));
                }
            };
            for entry in &by_position.members {
                let slot = || format!("facet `{}` at position {}", member.key, entry.key);
                let Ok(position) = entry.key.parse::<i64>() else {
                    let message =
                        format!("{} in facet `{}` is no position", shown(entry.key), member.key);
                    return Err(fault(entry.at, message, "a position counts from 0"));
                };
                let Ok(position) = usize::try_from(position) else { continue };
                if position < count && entry.value != Json::Null {
                    let value = facet_value(&entry.value, entry, slot)?;
                    facets[position].push((*key, value));
                }
            }
        }
        // The keys `1` and `01` are the same position, so one facet may have been given twice.
        for own in &mut facets {
            own.dedup_by_key(|(key, _)| *key);
        }
        Ok(facets)
    }
}

/// Splits `predicate|key`; `None` for a key without `|`.
fn split_facet(key: &str) -> Option<(&str, &str)> {
    key.split_once('|').filter(|(predicate, _)| !predicate.is_empty())
}

fn check_key(key: &str, member: &Member<'_>) -> Written<()> {
    if key.is_empty() || key.contains(['~', '@']) || key.contains(char::is_whitespace) {
        let message = format!("`{key}` in `{}` is no name of a facet", member.key);
        return Err(fault(member.at, message, "a name is not empty and has no `~`, `@` or blank"));
    }
    Ok(())
}

fn facet_value(
    value: &Json<'_>,
    member: &Member<'_>,
    position: impl Fn() -> String,
) -> Written<Value> {
    Ok(match value {
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Int(number) => Value::Int(*number),
        Json::Float(number) => Value::Float(*number),
        Json::Text(text) | Json::Time(text) => match DateTime::parse(text) {
            Ok(time) => Value::DateTime(time),
            Err(_) => Value::String((*text).to_owned()),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => match typed_text(value) {
            Some(text) => Value::String(text.to_owned()),
            None => {
                let message = format!("{} is no string, number or bool", position());
                return Err(fault(member.at, message, ""));
            }
        },
    })
}

/// Returns the text of an object that says that it is one; `None` for any other value.
fn typed_text<'t>(value: &Json<'t>) -> Option<&'t str> {
    let Json::Object(object) = value else { return None };
    let text_at = |key: &str| match object.get(key)?.value {
        Json::Text(text) => Some(text),
        _ => None,
    };
    let is_text = object.members.len() == 2 && text_at("@type") == Some("xs:string");
    if is_text { text_at("@value") } else { None }
}

#[cfg(test)]
mod tests;
