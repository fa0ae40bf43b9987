//! Turns JSON objects into the same statements that N-Quads give.
//!
//! An object describes a node. Its key `uid` names the node; every other key is a predicate, written `predicate@language`
//! for values with a language, and `predicate|facet` gives a facet of a predicate. An object inside another one is the
//! target of an edge from the outer node.
//!
//! A text that is a time is one as a facet; as a value, `[1, 2]` is a vector and `uid(v)` a variable. One that is to stay a
//! text is written as JSON-LD has it: `{"@value": "2020-01-02", "@type": "xs:string"}`.

use crate::formats::json_tree::{Json, JsonObject, Member, read_json};
use crate::formats::nquads::scanner::split_language;
use crate::formats::{NQuad, Object, Predicate, Subject};
use crate::types::stack;
use crate::types::{DateTime, Error, Position, Result, Uid, Value, ValueType, parse_vector, shown};
use std::borrow::Cow;

/// What a mutation does with its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Adds them to the graph.
    Set,
    /// Removes them from the graph.
    Delete,
}

/// The parsed JSON of a mutation: an object, or an array of objects.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTree<'a> {
    text: &'a str,
    objects: Vec<JsonObject<'a>>,
}

impl<'a> JsonTree<'a> {
    /// Parses a text in one pass. Strings without escapes are borrowed from it.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`] with the place where it is no JSON, holds an integer of more than 64
    /// bits, nests too deep, or is neither an object nor an array of objects.
    pub fn parse(text: &'a str) -> Result<JsonTree<'a>> {
        JsonTree::parse_timed(text, &[])
    }

    /// Parses a text that was made from typed values. JSON has no form for times, so `times` gives the ascending offsets
    /// of the strings that were times.
    ///
    /// # Errors
    ///
    /// As [`JsonTree::parse`].
    pub fn parse_timed(text: &'a str, times: &[usize]) -> Result<JsonTree<'a>> {
        let json = read_json(text, times)
            .map_err(|error| Error::syntax(Position::of(text, error.at), error.fault))?;
        let elements = match json {
            Json::Array(elements) => elements,
            other => vec![other],
        };
        let objects = elements.into_iter().map(|element| match element {
            Json::Object(object) => Some(object),
            _ => None,
        });
        match objects.collect() {
            Some(objects) => Ok(JsonTree { text, objects }),
            None => Err(Error::Syntax {
                message: "a mutation in JSON is an object or an array of objects".to_owned(),
                at: Position::of(text, 0),
                hint: "an object is a node: `{\"uid\": \"_:a\", \"name\": \"Ada\"}`".to_owned(),
            }),
        }
    }

    /// Returns the statements of all objects. `new_nodes` is the number of the next new node: objects without a uid take
    /// numbers from it and advance it.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`] with the place of the first member that can't be a statement.
    pub fn statements(&self, change: Change, new_nodes: &mut u32) -> Result<Vec<NQuad<'_>>> {
        let breaks = self.text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = breaks.map(|(at, _)| at + 1).collect();
        let mut writer = Writer { change, new_nodes, quads: Vec::new(), lines };
        for object in &self.objects {
            writer.root(object).map_err(|fault| {
                let at = Position::of(self.text, fault.at);
                Error::syntax(at, fault.message).with_hint(fault.hint)
            })?;
        }
        Ok(writer.quads)
    }
}

/// The reason why a member can't be a statement, and its place.
struct Fault {
    at: usize,
    message: String,
    hint: &'static str,
}

type Written<T> = std::result::Result<T, Fault>;

type Facets<'t> = Vec<(&'t str, Value)>;

fn fault(at: usize, message: impl Into<String>, hint: &'static str) -> Fault {
    Fault { at, message: message.into(), hint }
}

/// The edge that leads to a nested object.
struct Edge<'t> {
    subject: Subject<'t>,
    member: &'t Member<'t>,
    in_list: bool,
}

struct Writer<'t, 'n> {
    change: Change,
    new_nodes: &'n mut u32,
    quads: Vec<NQuad<'t>>,
    /// The offsets where the lines of the text begin, except for the first; ascending.
    lines: Vec<usize>,
}

impl<'t> Writer<'t, '_> {
    fn root(&mut self, object: &'t JsonObject<'t>) -> Written<()> {
        let subject = self.object(object, None)?;
        // To delete an object with nothing but a uid deletes everything of the node.
        if self.change == Change::Delete && object.members.len() == 1 {
            let at = object.at;
            let (predicate, object) = (Predicate::Star, Object::Star);
            let facets = Vec::new();
            let at = self.place(at);
            let in_list = None;
            self.quads.push(NQuad { subject, predicate, lang: "", object, facets, in_list, at });
        }
        Ok(())
    }

    fn place(&self, at: usize) -> Position {
        let line = self.lines.partition_point(|&start| start <= at);
        let start = if line == 0 { 0 } else { self.lines[line - 1] };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position { line: number(line + 1), column: number(at - start) }
    }

    /// Adds the statements of an object, after that of the edge that leads to it. Returns the node of the object.
    fn object(
        &mut self,
        object: &'t JsonObject<'t>,
        edge: Option<Edge<'t>>,
    ) -> Written<Subject<'t>> {
        stack::require();
        let subject = self.subject(object)?;
        let facets = FacetMembers::of(object);
        if let Some(Edge { subject: from, member, in_list }) = edge {
            let own = facets.of_value(&member.key)?;
            self.push(from, member, Object::from(subject), own, in_list);
        }
        for member in &object.members {
            let is_reserved = matches!(&*member.key, "uid" | "namespace");
            if !is_reserved && split_facet(&member.key).is_none() {
                self.member(subject, member, &facets)?;
            }
        }
        Ok(subject)
    }

    fn member(
        &mut self,
        subject: Subject<'t>,
        member: &'t Member<'t>,
        facets: &FacetMembers<'t>,
    ) -> Written<()> {
        match &member.value {
            Json::Null if self.change == Change::Delete => {
                self.push(subject, member, Object::Star, Vec::new(), false);
            }
            Json::Null => {}
            Json::Array(items) => self.list(subject, member, items, facets)?,
            Json::Object(object) if typed_text(&member.value).is_none() => {
                self.nested(subject, member, object, false)?;
            }
            value => {
                let own = facets.of_value(&member.key)?;
                let object = self.scalar(member, value)?;
                self.push(subject, member, object, own, false);
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        subject: Subject<'t>,
        member: &'t Member<'t>,
        items: &'t [Json<'t>],
        facets: &FacetMembers<'t>,
    ) -> Written<()> {
        let is_node =
            |item: &Json<'_>| matches!(item, Json::Object(_)) && typed_text(item).is_none();
        let has_values = !items.iter().all(is_node);
        let mut own = match has_values {
            true => facets.of_list(&member.key, items.len())?,
            false => Vec::new(),
        };
        for (place, item) in items.iter().enumerate() {
            match item {
                Json::Object(object) if is_node(item) => {
                    self.nested(subject, member, object, true)?;
                }
                Json::Text(_) | Json::Time(_) | Json::Int(_) | Json::Float(_) | Json::Object(_) => {
                    let object = self.scalar(member, item)?;
                    let facets = own.get_mut(place).map(std::mem::take).unwrap_or_default();
                    self.push(subject, member, object, facets, true);
                }
                Json::Null | Json::Bool(_) | Json::Array(_) => {
                    return Err(fault(
                        member.at,
                        format!(
                            "the list of `{}` holds something else than values or objects",
                            member.key
                        ),
                        "a list holds texts, numbers or objects",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Adds the statements of an object inside another one. It is a geometry if it looks like one, else a node with an
    /// edge to it. An empty object means nothing.
    fn nested(
        &mut self,
        subject: Subject<'t>,
        member: &'t Member<'t>,
        object: &'t JsonObject<'t>,
        in_list: bool,
    ) -> Written<()> {
        if object.members.is_empty() {
            return Ok(());
        }
        if let Some(geometry) = geometry(object) {
            self.push(subject, member, Object::Value(geometry), Vec::new(), in_list);
            return Ok(());
        }
        self.object(object, Some(Edge { subject, member, in_list })).map(drop)
    }

    /// Converts a string, a number, a truth value or a [`typed_text`] to the object of a statement.
    fn scalar(&self, member: &Member<'_>, value: &'t Json<'t>) -> Written<Object<'t>> {
        let deletes = self.change == Change::Delete;
        Ok(match value {
            // Programs write an absent text as an empty one: deleting it deletes all values.
            Json::Text(text) if deletes && text.is_empty() => Object::Star,
            Json::Float(number) if deletes && *number == 0.0 => Object::Star,
            Json::Bool(false) if deletes => Object::Star,
            Json::Text(text) => match variable(text, member.at)? {
                Some(variable) => variable,
                None => text_object(text),
            },
            Json::Time(text) => {
                Object::Literal { text: Cow::Borrowed(&**text), value_type: ValueType::DateTime }
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

    fn push(
        &mut self,
        subject: Subject<'t>,
        member: &'t Member<'t>,
        object: Object<'t>,
        facets: Facets<'t>,
        in_list: bool,
    ) {
        let (name, lang) = split_language(&member.key);
        let (predicate, in_list) = (Predicate::Name(name), Some(in_list));
        let at = self.place(member.at);
        self.quads.push(NQuad { subject, predicate, lang, object, facets, in_list, at });
    }

    /// Returns the node that an object describes: the one that `uid` names, else a new one.
    fn subject(&mut self, object: &'t JsonObject<'t>) -> Written<Subject<'t>> {
        let named = object.get("uid").map(|member| named_node(member)).transpose()?.flatten();
        if let Some(subject) = named {
            return Ok(subject);
        }
        if self.change == Change::Delete {
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

/// Returns the node that a member `uid` names, or `None` when its value stands for no node.
fn named_node<'t>(member: &'t Member<'t>) -> Written<Option<Subject<'t>>> {
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
        Json::Text(text) | Json::Time(text) => &**text,
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

/// Converts a string to a vector if it is written as one, else to a text.
fn text_object<'t>(text: &'t str) -> Object<'t> {
    if text.trim_start().starts_with('[')
        && let Ok(numbers) = parse_vector(text)
        && !numbers.is_empty()
    {
        return Object::Value(Value::Vector(numbers));
    }
    Object::Literal { text: Cow::Borrowed(text), value_type: ValueType::String }
}

/// Reads an object as a GeoJSON geometry (RFC 7946) if it has exactly the members `type` and `coordinates`.
fn geometry(object: &JsonObject<'_>) -> Option<Value> {
    let is_geometry = object.members.len() == 2
        && object.get("type").is_some()
        && object.get("coordinates").is_some();
    if is_geometry { Value::parse(object.text, ValueType::Geo).ok() } else { None }
}

/// The members of an object that give facets, sorted by predicate and key.
struct FacetMembers<'t> {
    members: Vec<(&'t str, &'t str, &'t Member<'t>)>,
}

impl<'t> FacetMembers<'t> {
    fn of(object: &'t JsonObject<'t>) -> FacetMembers<'t> {
        let members = object.members.iter();
        let mut members: Vec<_> = members
            .filter_map(|member| {
                let (predicate, key) = split_facet(&member.key)?;
                Some((predicate, key, member))
            })
            .collect();
        members.sort_by_key(|(predicate, key, _)| (*predicate, *key));
        FacetMembers { members }
    }

    fn of_predicate(&self, wanted: &str) -> &[(&'t str, &'t str, &'t Member<'t>)] {
        let start = self.members.partition_point(|(predicate, ..)| *predicate < wanted);
        let rest = &self.members[start..];
        &rest[..rest.partition_point(|(predicate, ..)| *predicate == wanted)]
    }

    /// Returns the facets of a single value, or of the edge that leads to the object.
    fn of_value(&self, predicate: &str) -> Written<Facets<'t>> {
        let mut facets = Vec::new();
        for (_, key, member) in self.of_predicate(predicate) {
            check_key(key, member)?;
            if member.value != Json::Null {
                let place = || format!("facet `{}`", member.key);
                facets.push((*key, facet_value(&member.value, member, place)?));
            }
        }
        Ok(facets)
    }

    /// Returns the facets of each value of a list of `count` values. A facet of a list is an object such as
    /// `{"0": …, "2": …}`, whose keys are positions from 0.
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
                let place = || format!("facet `{}` at position {}", member.key, entry.key);
                let Ok(position) = entry.key.parse::<i64>() else {
                    let message =
                        format!("{} in facet `{}` is no position", shown(&entry.key), member.key);
                    return Err(fault(entry.at, message, "a position counts from 0"));
                };
                let Ok(position) = usize::try_from(position) else { continue };
                if position < count && entry.value != Json::Null {
                    let value = facet_value(&entry.value, entry, place)?;
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
    place: impl Fn() -> String,
) -> Written<Value> {
    Ok(match value {
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Int(number) => Value::Int(*number),
        Json::Float(number) => Value::Float(*number),
        Json::Text(text) | Json::Time(text) => match DateTime::parse(text) {
            Ok(time) => Value::DateTime(time),
            Err(_) => Value::String(text.clone().into_owned()),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => match typed_text(value) {
            Some(text) => Value::String(text.to_owned()),
            None => {
                let message = format!("{} is no string, number or bool", place());
                return Err(fault(member.at, message, ""));
            }
        },
    })
}

/// Returns the text of an object that says that it is one; `None` for any other value.
fn typed_text<'t>(value: &'t Json<'_>) -> Option<&'t str> {
    let Json::Object(object) = value else { return None };
    let text_at = |key: &str| match &object.get(key)?.value {
        Json::Text(text) => Some(&**text),
        _ => None,
    };
    let is_text = object.members.len() == 2 && text_at("@type") == Some("xs:string");
    if is_text { text_at("@value") } else { None }
}

#[cfg(test)]
mod tests;
