//! Reads GraphML: first the keys, which are the attributes of nodes and edges with their types,
//! then nodes and edges one by one.
//!
//! No entity is expanded but those of XML itself, so a text is never longer than the file. Elements
//! may be nested, in nodes that have graphs; the stack has a greatest depth. Elements of programs,
//! such as the shapes of yEd, are skipped and reported.

use super::counted::CountedText;
use crate::tables::read::text::TextFile;
use hexgraph_base::types::{Error, Result, shown};
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::Path;

/// The greatest depth of elements.
const DEPTH_MAX: usize = 1000;

/// The greatest number of keys: each is a column.
const KEYS_MAX: usize = 1 << 16;

/// The greatest length of the attributes of an element, in bytes.
const ELEMENT_LEN_MAX: usize = 64 << 20;

/// The greatest number of kinds of data that a report lists as not stored.
const LEFT_OUT_MAX: usize = 50;

/// The buffer of an event that was longer is given back.
const BUFFER_LEN_MAX: usize = 1 << 20;

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `boolean`
    Bool,
    /// `int` and `long`
    Int,
    /// `float` and `double`
    Float,
    /// `string`
    Text,
}

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// An attribute that a file declares.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// Its name.
    pub name: String,
    /// Whether nodes and edges have it.
    pub of: [bool; 2],
    /// The type of its values.
    pub kind: Kind,
    /// The value of elements that say none.
    default: Option<Cell>,
}

/// A node or an edge.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// The line where it begins.
    pub line: u64,
    /// True for an edge.
    pub is_edge: bool,
    /// The id, which an edge may lack.
    pub id: Option<String>,
    /// The endpoints of an edge.
    pub endpoints: [String; 2],
    /// The values of attributes, by position among the keys.
    pub cells: BTreeMap<usize, Cell>,
}

/// An element of the file that is open.
enum Open {
    /// One around nodes and edges.
    Around,
    /// A node or an edge.
    Item(Element),
}

/// What comes next in a file.
enum Tag {
    Start { name: String, attributes: Vec<(String, String)>, is_empty: bool },
    End,
    Text(String),
    Eof,
}

/// Reads a file of GraphML.
pub(super) struct GraphmlReader {
    name: String,
    xml: Reader<CountedText>,
    buffer: Vec<u8>,
    line: u64,
    open: Vec<Open>,
    /// The attributes.
    pub keys: Vec<Key>,
    /// The positions of keys by their ids.
    by_id: FxHashMap<String, usize>,
    /// The keys of nodes and of edges that have defaults.
    defaults: [Vec<usize>; 2],
    /// Whether edges have a direction where they do not say it.
    pub is_directed: bool,
    /// Values that are of no type of their attributes are left out.
    skip_errors: bool,
    /// What the graph has that is not stored, up to [`LEFT_OUT_MAX`] kinds of it.
    pub left_out: BTreeSet<String>,
    /// The attributes of XML of nodes and of edges that are among these.
    other_attributes: [BTreeSet<Vec<u8>>; 2],
    /// The number of values that were left out, and the first reason.
    pub wrong: (u64, Option<String>),
}

/// Reads a text as GraphML, to its end or to what is wrong in it.
///
/// # Panics
///
/// Panics for an error that names no line of it, and for an edge without a source or a target.
#[doc(hidden)]
pub fn check_graphml(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count() as u64;
    let check = || -> Result<()> {
        let text = Box::new(Cursor::new(text.to_vec()));
        let mut reader = GraphmlReader::of_text("a.graphml".to_owned(), text, *first & 1 == 1)?;
        while let Some(element) = reader.next()? {
            assert!(element.line <= lines, "{element:?}");
            let is_joined = element.endpoints.iter().all(|end| !end.is_empty());
            assert_eq!(is_joined, element.is_edge, "{element:?}");
            assert!(element.is_edge || element.id.is_some(), "{element:?}");
            assert!(element.cells.keys().all(|key| *key < reader.keys.len()), "{element:?}");
        }
        Ok(())
    };
    match check() {
        Ok(()) => {}
        Err(Error::Load { line, .. }) if (1..=lines).contains(&line) => {}
        Err(fault) => panic!("{fault}"),
    }
}

impl GraphmlReader {
    /// Opens a file, and reads its keys.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it can't be read, [`Error::Load`] for what is no GraphML.
    pub(super) fn open(path: &Path, skip_errors: bool) -> Result<GraphmlReader> {
        let text = TextFile::find(path.to_owned(), None)?.open()?;
        GraphmlReader::of_text(path.display().to_string(), text, skip_errors)
    }

    /// Reads the keys of a text in UTF-8.
    fn of_text(
        name: String,
        text: Box<dyn Read + Send>,
        skip_errors: bool,
    ) -> Result<GraphmlReader> {
        let mut reader = GraphmlReader {
            name,
            xml: Reader::from_reader(CountedText::new(text)),
            buffer: Vec::new(),
            line: 1,
            open: Vec::new(),
            keys: Vec::new(),
            by_id: FxHashMap::default(),
            defaults: [Vec::new(), Vec::new()],
            is_directed: true,
            skip_errors,
            left_out: BTreeSet::new(),
            other_attributes: [BTreeSet::new(), BTreeSet::new()],
            wrong: (0, None),
        };
        reader.head()?;
        Ok(reader)
    }

    /// The next node or edge. A node that has a graph comes after the nodes of that.
    ///
    /// # Errors
    ///
    /// As [`GraphmlReader::open`].
    pub(super) fn next(&mut self) -> Result<Option<Element>> {
        loop {
            match self.tag()? {
                Tag::Eof if self.open.is_empty() => return Ok(None),
                Tag::Eof => return Err(self.fault("the file ends within an element")),
                Tag::Text(_) => {}
                Tag::End => {
                    if let Some(Open::Item(element)) = self.open.pop() {
                        return Ok(Some(self.with_defaults(element)));
                    }
                }
                Tag::Start { name, attributes, is_empty } => {
                    if let Some(element) = self.start(&name, &attributes, is_empty)? {
                        return Ok(Some(self.with_defaults(element)));
                    }
                }
            }
        }
    }

    /// Reads up to the first graph.
    fn head(&mut self) -> Result<()> {
        loop {
            match self.tag()? {
                Tag::Eof => return Err(self.fault("there is no <graph>: this is no GraphML")),
                Tag::Text(_) => {}
                Tag::End => {
                    self.open.pop();
                }
                Tag::Start { name, attributes, is_empty } => match name.as_str() {
                    "graphml" => self.push(Open::Around, is_empty)?,
                    "graph" => {
                        self.is_directed = value(&attributes, "edgedefault") != Some("undirected");
                        return self.push(Open::Around, is_empty);
                    }
                    "key" => self.add_key(&attributes, is_empty)?,
                    _ if self.open.is_empty() => {
                        return Err(
                            self.fault(format!("<{name}> begins no GraphML, <graphml> does"))
                        );
                    }
                    _ => self.skip_other(&name, is_empty)?,
                },
            }
        }
    }

    /// Begins an element within a graph. One without content is returned.
    fn start(
        &mut self,
        name: &str,
        attributes: &[(String, String)],
        is_empty: bool,
    ) -> Result<Option<Element>> {
        match name {
            "graphml" => self.push(Open::Around, is_empty)?,
            "graph" => {
                if self.open.iter().any(|open| matches!(open, Open::Item(_))) {
                    self.leave_out("which nodes have graphs within them".to_owned());
                }
                self.push(Open::Around, is_empty)?;
            }
            "node" | "edge" => {
                let element = self.element(name == "edge", attributes)?;
                if is_empty {
                    return Ok(Some(element));
                }
                self.push(Open::Item(element), false)?;
            }
            "data" => self.data(attributes, is_empty)?,
            "hyperedge" => {
                return Err(self.fault(
                    "an edge has two ends, and <hyperedge> has others (make a node of it)",
                ));
            }
            "key" => return Err(self.fault("a <key> stands before the first <graph>")),
            _ => self.skip_other(name, is_empty)?,
        }
        Ok(None)
    }

    /// Skips an element that has no data here.
    fn skip_other(&mut self, name: &str, is_empty: bool) -> Result<()> {
        self.leave_out(format!("<{}>", shown(name).trim_matches('`')));
        self.skip(is_empty)
    }

    /// Notes that something is not stored.
    fn leave_out(&mut self, what: String) {
        if self.left_out.len() < LEFT_OUT_MAX {
            self.left_out.insert(what);
        }
    }

    /// Notes that an attribute of XML is not stored. Names with a colon belong to XML itself or to
    /// other formats.
    fn leave_out_attribute(&mut self, of_edge: bool, name: &[u8]) {
        let noted = &mut self.other_attributes[usize::from(of_edge)];
        let is_new = !name.starts_with(b"xmlns") && !name.contains(&b':') && !noted.contains(name);
        if is_new && noted.len() < LEFT_OUT_MAX {
            noted.insert(name.to_owned());
            let of = if of_edge { "edge" } else { "node" };
            let name = String::from_utf8_lossy(name).into_owned();
            self.leave_out(format!("{} of <{of}>", shown(&name)));
        }
    }

    fn element(&self, is_edge: bool, attributes: &[(String, String)]) -> Result<Element> {
        let text = |name: &str| value(attributes, name).map(str::to_owned);
        let required = |name: &str| {
            let of = if is_edge { "edge" } else { "node" };
            let missing = || self.fault(format!("this <{of}> has no `{name}`"));
            text(name).filter(|text| !text.is_empty()).ok_or_else(missing)
        };
        let mut element =
            Element { line: self.line, is_edge, id: text("id"), ..Element::default() };
        match is_edge {
            true => element.endpoints = [required("source")?, required("target")?],
            false => element.id = Some(required("id")?),
        }
        Ok(element)
    }

    fn add_key(&mut self, attributes: &[(String, String)], is_empty: bool) -> Result<()> {
        let Some(id) = value(attributes, "id") else {
            return Err(self.fault("this <key> has no `id`"));
        };
        let position = self.keys.len();
        if self.by_id.insert(id.to_owned(), position).is_some() {
            return Err(self.fault(format!("two keys have the id {}", shown(id))));
        }
        if KEYS_MAX <= position {
            return Err(self.fault(format!("there are more than {KEYS_MAX} keys")));
        }
        let name = value(attributes, "attr.name").unwrap_or(id).to_owned();
        let of = match value(attributes, "for").unwrap_or("all") {
            "node" => [true, false],
            "edge" => [false, true],
            "all" => [true, true],
            _ => [false, false],
        };
        let kind = match value(attributes, "attr.type").unwrap_or("string").to_lowercase().as_str()
        {
            "boolean" => Kind::Bool,
            "int" | "integer" | "long" | "short" => Kind::Int,
            "float" | "double" => Kind::Float,
            _ => Kind::Text,
        };
        self.keys.push(Key { name, of, kind, default: None });
        let mut is_open = !is_empty;
        while is_open {
            match self.tag()? {
                Tag::Eof => return Err(self.fault("the file ends within a <key>")),
                Tag::Text(_) => {}
                Tag::End => is_open = false,
                Tag::Start { name, is_empty, .. } if name == "default" => {
                    if let Some(text) = self.text(is_empty)? {
                        self.keys[position].default = self.cell(position, text)?;
                    }
                }
                Tag::Start { is_empty, .. } => self.skip(is_empty)?,
            }
        }
        if self.keys[position].default.is_some() {
            let sides = self.defaults.iter_mut().zip(of).filter(|(_, of)| *of);
            sides.for_each(|(positions, _)| positions.push(position));
        }
        Ok(())
    }

    /// Reads the value of an attribute of the element that is open.
    fn data(&mut self, attributes: &[(String, String)], is_empty: bool) -> Result<()> {
        let Some(id) = value(attributes, "key") else {
            return Err(self.fault("this <data> has no `key`"));
        };
        let Some(&position) = self.by_id.get(id) else {
            return Err(
                self.fault(format!("<data> has the key {}, and no <key> has this id", shown(id)))
            );
        };
        let text = self.text(is_empty)?;
        let key = &self.keys[position];
        let side = match self.open.last() {
            Some(Open::Item(element)) => usize::from(element.is_edge),
            _ => {
                let name = shown(&key.name);
                self.leave_out(format!("{name} of the graph"));
                return Ok(());
            }
        };
        let Some(text) = text else {
            let name = shown(&key.name);
            self.leave_out(format!("elements that are values of {name}"));
            return Ok(());
        };
        if !key.of[side] {
            let of = if side == 0 { "nodes" } else { "edges" };
            return Err(self.fault(format!("the key {} is not `for` {of}", shown(id))));
        }
        let cell = self.cell(position, text)?;
        let (Some(Open::Item(element)), Some(cell)) = (self.open.last_mut(), cell) else {
            return Ok(());
        };
        if element.cells.insert(position, cell).is_some() {
            let name = shown(&self.keys[position].name);
            self.leave_out(format!("all values of {name} but the last of an element"));
        }
        Ok(())
    }

    /// The value that a text is; `None` for an empty one that is none, and for one that is left
    /// out.
    fn cell(&mut self, position: usize, text: String) -> Result<Option<Cell>> {
        let key = &self.keys[position];
        let plain = text.trim();
        if plain.is_empty() && key.kind != Kind::Text {
            return Ok(None);
        }
        let (cell, kind) = match key.kind {
            Kind::Text => return Ok(Some(Cell::Text(text))),
            Kind::Int => (plain.parse().ok().map(Cell::Int), "int"),
            Kind::Float => (plain.parse().ok().map(Cell::Float), "float"),
            Kind::Bool => match plain.to_ascii_lowercase().as_str() {
                "true" | "1" => (Some(Cell::Bool(true)), "boolean"),
                "false" | "0" => (Some(Cell::Bool(false)), "boolean"),
                _ => (None, "boolean"),
            },
        };
        if cell.is_some() {
            return Ok(cell);
        }
        let fault =
            self.fault(format!("{} is no {kind}, the type of {}", shown(plain), shown(&key.name)));
        if !self.skip_errors {
            return Err(fault);
        }
        self.wrong.0 += 1;
        self.wrong.1.get_or_insert_with(|| fault.to_string());
        Ok(None)
    }

    fn with_defaults(&self, mut element: Element) -> Element {
        for &position in &self.defaults[usize::from(element.is_edge)] {
            if let Some(default) = &self.keys[position].default {
                element.cells.entry(position).or_insert_with(|| default.clone());
            }
        }
        element
    }

    /// The text up to the end of the element that has begun; `None` where it has elements.
    fn text(&mut self, is_empty: bool) -> Result<Option<String>> {
        let (mut text, mut has_elements, mut is_open) = (String::new(), false, !is_empty);
        while is_open {
            match self.tag()? {
                Tag::Eof => return Err(self.fault("the file ends within an element")),
                Tag::End => is_open = false,
                Tag::Text(more) => text.push_str(&more),
                Tag::Start { is_empty, .. } => {
                    has_elements = true;
                    self.skip(is_empty)?;
                }
            }
            if ELEMENT_LEN_MAX < text.len() {
                return Err(self.fault("a value is longer than 64 MiB"));
            }
        }
        Ok((!has_elements).then_some(text))
    }

    /// Skips the rest of an element that has begun.
    fn skip(&mut self, is_empty: bool) -> Result<()> {
        let mut depth = usize::from(!is_empty);
        while 0 < depth {
            match self.tag()? {
                Tag::Eof => return Err(self.fault("the file ends within an element")),
                Tag::End => depth -= 1,
                Tag::Text(_) => {}
                Tag::Start { is_empty, .. } => depth += usize::from(!is_empty),
            }
            if DEPTH_MAX < depth {
                return Err(self.too_deep());
            }
        }
        Ok(())
    }

    fn push(&mut self, open: Open, is_empty: bool) -> Result<()> {
        if DEPTH_MAX < self.open.len() {
            return Err(self.too_deep());
        }
        if !is_empty {
            self.open.push(open);
        }
        Ok(())
    }

    fn tag(&mut self) -> Result<Tag> {
        loop {
            self.buffer.clear();
            self.buffer.shrink_to(BUFFER_LEN_MAX);
            self.line = self.xml.get_mut().begin();
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.xml.read_event_into(&mut buffer);
            let tag = match event {
                Ok(event) => self.tag_of(&event),
                Err(fault) => Err(self.fault(fault)),
            };
            self.buffer = buffer;
            if let Some(tag) = tag? {
                return Ok(tag);
            }
        }
    }

    /// What an event is; `None` for one without a meaning here.
    fn tag_of(&mut self, event: &Event<'_>) -> Result<Option<Tag>> {
        match event {
            Event::Start(start) => return self.start_tag(start, false).map(Some),
            Event::Empty(start) => return self.start_tag(start, true).map(Some),
            _ => {}
        }
        let wrong = |fault: &dyn std::fmt::Display| self.fault(fault);
        Ok(Some(match event {
            Event::End(_) => Tag::End,
            Event::Text(text) => Tag::Text(
                text.xml_content(XmlVersion::Implicit1_0).map_err(|it| wrong(&it))?.into_owned(),
            ),
            Event::CData(text) => Tag::Text(text.decode().map_err(|it| wrong(&it))?.into_owned()),
            Event::GeneralRef(entity) => {
                if let Some(letter) = entity.resolve_char_ref().map_err(|it| wrong(&it))? {
                    return Ok(Some(Tag::Text(letter.to_string())));
                }
                let name = entity.decode().map_err(|it| wrong(&it))?;
                match resolve_predefined_entity(&name) {
                    Some(text) => Tag::Text(text.to_owned()),
                    None => {
                        let fault = format!(
                            "the entity `&{name};` is not expanded (write the text itself)"
                        );
                        return Err(self.fault(fault));
                    }
                }
            }
            Event::Eof => Tag::Eof,
            _ => return Ok(None),
        }))
    }

    fn start_tag(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Result<Tag> {
        let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
        let is_item = name == "node" || name == "edge";
        let mut attributes = Vec::new();
        // A test for attributes that come twice takes the square of their number.
        let mut all = start.attributes();
        all.with_checks(false);
        for attribute in all {
            let attribute = attribute.map_err(|fault| self.fault(fault))?;
            let Some(name) = NAMES.iter().find(|name| name.as_bytes() == attribute.key.as_ref())
            else {
                if is_item {
                    self.leave_out_attribute(name == "edge", attribute.key.as_ref());
                }
                continue;
            };
            let value =
                attribute.decoded_and_normalized_value(XmlVersion::Implicit1_0, self.xml.decoder());
            let value = value.map_err(|fault| self.fault(fault))?.into_owned();
            if !attributes.iter().any(|(other, _)| other == name) {
                attributes.push(((*name).to_owned(), value));
            }
        }
        Ok(Tag::Start { name, attributes, is_empty })
    }

    fn too_deep(&self) -> Error {
        self.fault(format!("elements stand more than {DEPTH_MAX} deep in others"))
    }

    /// The error for what stands where the reader is.
    fn fault(&self, fault: impl std::fmt::Display) -> Error {
        let (file, message) = (self.name.clone(), fault.to_string());
        Error::Load { file, line: self.line, column: 1, message }
    }
}

/// The attributes of elements that mean something.
const NAMES: [&str; 8] =
    ["id", "source", "target", "key", "for", "attr.name", "attr.type", "edgedefault"];

fn value<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a text to its end: the ids, endpoints and values of its elements.
    fn read(text: &str) -> Result<Vec<String>> {
        let text = Box::new(Cursor::new(text.to_owned().into_bytes()));
        let mut reader = GraphmlReader::of_text("a.graphml".to_owned(), text, false)?;
        let mut all = Vec::new();
        while let Some(Element { id, endpoints: [one, other], cells, .. }) = reader.next()? {
            let cells: Vec<&Cell> = cells.values().collect();
            all.push(format!("{} {one} {other} {cells:?}", id.unwrap_or_default()));
        }
        Ok(all)
    }

    #[test]
    fn values_have_the_types_of_their_keys() {
        let text = "<g:graphml xmlns:g='x'><g:key id='a' for='node' attr.type='long'/>\n\
                    <g:key id='b' attr.name='B' attr.type='boolean'><g:default>1</g:default></g:key>\
                    <g:graph><g:node id='&lt;1&#62;'><g:data key='a'> -5 </g:data><g:data key='b'/></g:node>\n\
                    <g:edge source='x' target='y'><g:data key='b'>false</g:data></g:edge></g:graph></g:graphml>";
        let all = read(text).unwrap();
        assert_eq!(all, ["<1>   [Int(-5), Bool(true)]", " x y [Bool(false)]"]);
        let text = text.replace("false", "perhaps");
        let fault = read(&text).unwrap_err().to_string();
        assert_eq!(fault, "a.graphml:3:1: `perhaps` is no boolean, the type of `B`");
    }

    #[test]
    fn keys_are_bounded() {
        let keys: String = (0..=KEYS_MAX).map(|id| format!("<key id='{id}'/>")).collect();
        let fault = read(&format!("<graphml>{keys}<graph/></graphml>")).unwrap_err();
        assert!(fault.to_string().contains("more than 65536 keys"), "{fault}");
        let fault = read("<graphml><key id='a'/><key id='a'/><graph/></graphml>").unwrap_err();
        assert!(fault.to_string().contains("two keys have the id `a`"), "{fault}");
    }

    proptest! {
        /// Fragments of files in any order are read or refused with a line.
        #[test]
        fn any_fragments_are_read_or_refused(
            chunks in prop::collection::vec(
                prop::sample::select(vec![
                    "<graphml>", "</graphml>", "<graph>", "<graph edgedefault='undirected'>", "</graph>",
                    "<key id='k' attr.type='int'>", "<key id='l' for='edge'/>", "</key>", "<default>", "</default>", "7",
                    "<node id='a'>", "<node id='b'/>", "</node>", "<edge source='a' target='b'>", "<edge/>", "</edge>",
                    "<data key='k'>", "<data key='l'/>", "</data>", "<x y='&amp;'>", "</x>", "&lt;", "&#x41;", "&#0;",
                    "&no;", "<![CDATA[ ]]>", "<!-- -->", "<!DOCTYPE g [<!ENTITY e 'e'>]>", "<?xml version='1.0'?>", "<",
                    ">", "&", "\"", "é", "\n", "\u{0}", "]]>", "<!--", "=",
                ]),
                0..24,
            ),
            full in any::<bool>(),
        ) {
            let text = chunks.concat();
            let text = if full { format!("<graphml><key id='k'/><graph>{text}</graph></graphml>") } else { text };
            for first in [0, 1] {
                check_graphml(&[&[first], text.as_bytes()].concat());
            }
        }
    }
}
