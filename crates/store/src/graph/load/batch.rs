//! The statements of one chunk of a file in columns, by predicate.
//!
//! Chunks are read on many threads independently. Nodes without a number yet (labels, and uids of
//! 2^31 and more) have numbers of the chunk. Values of a predicate unknown to the schema remain
//! text until [`super::gather`] has processed the chunks before.

use crate::graph::build::parts::{EdgePart, FacetsBuilder, ValuePart};
use crate::graph::change::check::{
    check_facets, check_indexed, check_lossless, check_name, check_shape, check_storable, stored,
    stored_value,
};
use crate::graph::change::refusal::{Refusal, about_value};
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::uids::NamedUids;
use crate::storage::ValuesBuilder;
use hexgraph_base::formats::{
    Chunk, ChunkLine, FilePosition, FileStatement, JsonText, LineFault, MutationKind, NQuad,
    Object, Predicate, Subject, literal_value, name_text, parse_file_line,
};
use hexgraph_base::schema::{Actor, PredicateDef, Schema};
use hexgraph_base::types::{Error, Position, Uid, Value, ValueRef, ValueType};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The numbers of the chunk begin here; below are uids that are their own node ids.
pub(super) const EXTERNAL: u32 = 1 << 31;

/// A node that a chunk numbers for itself.
pub(in crate::graph) enum External {
    /// A node that has a name: `_:label`, or an external id after `<`.
    Named(Box<str>),
    /// A node that is named by a uid of 2^31 or more.
    High(u64),
    /// A new node without a name.
    New,
}

/// A line, or a value of JSON, that can't be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::graph) struct BadLine {
    /// Where the fault is.
    pub at: FilePosition,
    /// The reason.
    pub reason: String,
}

/// The statements of a chunk.
pub(in crate::graph) struct Batch {
    /// The statements by predicate, in order of first appearance.
    pub predicates: Vec<PredicateBatch>,
    /// The nodes that the chunk numbers, from [`EXTERNAL`] on.
    pub external: Vec<External>,
    /// The uids below 2^31 that it names.
    pub named: NamedUids,
    /// The number of statements that are stored.
    pub triples: u64,
    /// The number of statements that name a graph, and the first of these names.
    pub graphs: (u64, String),
    /// The lines that can't be stored; only the first one unless lines are skipped.
    pub bad_lines: Vec<BadLine>,
}

/// The statements of a chunk with one predicate.
pub(in crate::graph) struct PredicateBatch {
    /// The predicate's name.
    pub name: Box<str>,
    /// The values by language, in order of first appearance.
    pub langs: Vec<(Box<str>, ValuePart)>,
    /// The edges.
    pub edges: EdgePart,
    /// Where the values and the edges are in the file, when the schema does not know the predicate.
    pub positions: Option<(Vec<FilePosition>, Vec<FilePosition>)>,
    /// True when some of the values stood in brackets, in JSON.
    pub is_listed: bool,
}

impl PredicateBatch {
    /// The bytes that it takes.
    pub(in crate::graph) fn byte_len(&self) -> usize {
        let values: usize = self.langs.iter().map(|(_, part)| part.byte_len()).sum();
        values + self.edges.byte_len()
    }
}

/// Reads a chunk. With `skip`, lines that cannot be stored are skipped. `has_ended` says that slow
/// work is no longer needed.
pub(super) fn read_chunk<'a>(
    chunk: &'a Chunk,
    schema: &'a Schema,
    skip: bool,
    has_ended: &'a (dyn Fn() -> bool + Sync),
) -> Batch {
    let mut reader = Reader {
        schema,
        has_ended,
        columns: Vec::new(),
        by_name: FxHashMap::default(),
        external: Vec::new(),
        blanks: FxHashMap::default(),
        names: FxHashMap::default(),
        graphs: (0, String::new()),
        highs: FxHashMap::default(),
        new_nodes: FxHashMap::default(),
        named: NamedUids::default(),
    };
    let (mut triples, mut bad_lines) = (0, Vec::new());
    for line in chunk.lines() {
        match reader.line(&line) {
            Ok(stored) => triples += stored,
            Err(bad) => {
                bad_lines.push(bad);
                if !skip {
                    break;
                }
            }
        }
    }
    let predicates = reader.columns.into_iter().map(Columns::finish).collect();
    let Reader { external, named, graphs, .. } = reader;
    Batch { predicates, external, named, triples, graphs, bad_lines }
}

struct Reader<'a> {
    schema: &'a Schema,
    has_ended: &'a (dyn Fn() -> bool + Sync),
    columns: Vec<Columns<'a>>,
    by_name: FxHashMap<Box<str>, usize>,
    external: Vec<External>,
    blanks: FxHashMap<Box<str>, u32>,
    /// The external ids.
    names: FxHashMap<Box<str>, u32>,
    graphs: (u64, String),
    highs: FxHashMap<u64, u32>,
    /// The new nodes of a line of JSON, with the numbers that they got.
    new_nodes: FxHashMap<u32, u32>,
    named: NamedUids,
}

/// The columns of one predicate, growing.
struct Columns<'a> {
    name: Box<str>,
    /// `None` when the schema does not know the predicate.
    def: Option<&'a PredicateDef>,
    /// Why no statement may have the predicate.
    refused: Option<Refusal>,
    langs: Vec<LangColumn>,
    edge_nodes: Vec<u32>,
    edge_targets: Vec<u32>,
    edge_facets: FacetsBuilder,
    value_positions: Vec<FilePosition>,
    edge_positions: Vec<FilePosition>,
    is_listed: bool,
}

struct LangColumn {
    lang: Box<str>,
    nodes: Vec<u32>,
    values: ValuesBuilder,
    facets: FacetsBuilder,
}

impl<'a> Reader<'a> {
    /// Stores a line, and returns the number of its statements: none when it is empty.
    fn line(&mut self, line: &ChunkLine<'_>) -> Result<u64, BadLine> {
        let start = line.start;
        let text = line.text.as_ref().map_err(|reason| bad_line(start, reason))?;
        if line.is_value || text.trim_start().starts_with(['{', '[']) {
            return self.json(text, start);
        }
        let fault = |LineFault { column, message }| {
            bad_line(start.within(Position { line: 1, column }), message)
        };
        let Some(FileStatement { quad, graph }) = parse_file_line(text).map_err(fault)? else {
            return Ok(0);
        };
        self.quad(&quad, start, start)?;
        if let Some(graph) = graph {
            self.graphs.0 += 1;
            if self.graphs.1.is_empty() {
                graph.clone_into(&mut self.graphs.1);
            }
        }
        Ok(1)
    }

    /// Stores a value of JSON: the nodes of a mutation.
    fn json(&mut self, text: &str, start: FilePosition) -> Result<u64, BadLine> {
        let fault = |error| match error {
            Error::Syntax { message, at, hint } if hint.is_empty() => {
                bad_line(start.within(at), message)
            }
            Error::Syntax { message, at, hint } => {
                bad_line(start.within(at), format!("{message} ({hint})"))
            }
            other => bad_line(start, other),
        };
        let json = JsonText::new(text);
        let quads = json.statements(MutationKind::Set, &mut 0).map_err(fault)?;
        self.new_nodes.clear();
        for quad in &quads {
            self.quad(quad, start, start.within(quad.at))?;
        }
        Ok(quads.len() as u64)
    }

    /// Stores a statement of a text that begins at `start`. The message about a refused value names
    /// its predicate and node; the other faults are at `subject`.
    fn quad(
        &mut self,
        quad: &NQuad<'_>,
        start: FilePosition,
        subject: FilePosition,
    ) -> Result<(), BadLine> {
        let at = start.within(quad.at);
        self.add(quad, at).map_err(|reason| match quad.predicate {
            Predicate::Name(name) if reason.is_about_value() => {
                let value_type = self.schema.predicates.get(name).map(|def| def.value_type);
                let about = about_value(name, value_type, quad.subject);
                bad_line(at, format!("{reason} ({about})"))
            }
            _ => bad_line(subject, reason),
        })
    }

    fn add(&mut self, quad: &NQuad<'_>, at: FilePosition) -> Result<(), Refusal> {
        let Predicate::Name(name) = quad.predicate else { return Err(Refusal::StarInSet) };
        let position = self.columns_of(name);
        if let Some(refused) = &self.columns[position].refused {
            return Err(refused.clone());
        }
        let def = self.columns[position].def;
        let target = match &quad.object {
            Object::Uid(uid) => Some(Subject::Uid(*uid)),
            Object::Blank(label) => Some(Subject::Blank(label)),
            Object::Name(name) => Some(Subject::Name(name)),
            Object::New(number) => Some(Subject::New(*number)),
            Object::Star => return Err(Refusal::StarInSet),
            Object::Var(name) | Object::Val(name) => return Err(variable(name)),
            Object::Literal { .. } | Object::Value(_) => None,
        };
        match def {
            Some(def) => check_shape(def, quad.lang, target.is_some())?,
            None if !quad.lang.is_empty() => {
                return Err(Refusal::NoLanguages { predicate: name.to_owned() });
            }
            None => {}
        }
        check_facets(&quad.facets)?;
        if let Some(target) = target {
            let (node, target) = (self.node(quad.subject)?, self.node(target)?);
            self.columns[position].push_edge(node, target, quad, at);
            return Ok(());
        }
        let is_password = |def: &PredicateDef| def.value_type == ValueType::Password;
        // Hashing takes long on purpose, and the chunk may have thousands of passwords.
        if def.is_some_and(is_password) && (self.has_ended)() {
            return Err(Refusal::LoadEnded);
        }
        let value = match (&quad.object, def) {
            (Object::Literal { text, value_type }, _) => read_literal(text, *value_type, def)?,
            (object, Some(def)) => Literal::Value(stored(object, def)?),
            (Object::Value(value), None) => {
                check_storable(value.as_ref())?;
                Literal::Value(value.clone())
            }
            _ => return Ok(()),
        };
        check_lossless(&quad.object, value.as_ref())?;
        let node = self.node(quad.subject)?;
        self.columns[position].push_value(node, value.as_ref(), quad, at);
        Ok(())
    }

    fn columns_of(&mut self, name: &str) -> usize {
        if let Some(&position) = self.by_name.get(name) {
            return position;
        }
        let def = self.schema.predicates.get(name);
        let refused = check_name(name, self.schema, Actor::Client).err();
        self.by_name.insert(name.into(), self.columns.len());
        self.columns.push(Columns::new(name, def, refused));
        self.columns.len() - 1
    }

    fn node(&mut self, subject: Subject<'_>) -> Result<u32, Refusal> {
        let next = EXTERNAL + self.external.len() as u32;
        let external = match subject {
            Subject::Uid(uid) if !NodeIds::is_high(Uid(uid)) => {
                self.named.add(uid as u32);
                return Ok(uid as u32);
            }
            Subject::Uid(uid) => match self.highs.entry(uid) {
                Entry::Occupied(existing) => return Ok(*existing.get()),
                Entry::Vacant(position) => {
                    position.insert(next);
                    External::High(uid)
                }
            },
            Subject::Blank(label) => match self.blanks.get(label) {
                Some(existing) => return Ok(*existing),
                None => {
                    self.blanks.insert(label.into(), next);
                    External::Named(format!("_:{label}").into())
                }
            },
            Subject::Name(name) => {
                let name =
                    name_text(name).map_err(|fault| Refusal::NodeName { reason: fault.message })?;
                match self.names.get(&*name) {
                    Some(existing) => return Ok(*existing),
                    None => {
                        let key = format!("<{name}").into();
                        self.names.insert(name.into(), next);
                        External::Named(key)
                    }
                }
            }
            Subject::New(number) => match self.new_nodes.entry(number) {
                Entry::Occupied(existing) => return Ok(*existing.get()),
                Entry::Vacant(position) => {
                    position.insert(next);
                    External::New
                }
            },
            Subject::Var(name) => return Err(variable(name)),
            Subject::Star => return Err(Refusal::StarInSet),
        };
        self.external.push(external);
        Ok(next)
    }
}

fn bad_line(at: FilePosition, reason: impl std::fmt::Display) -> BadLine {
    BadLine { at, reason: reason.to_string() }
}

fn variable(name: &str) -> Refusal {
    Refusal::Variable { name: name.to_owned() }
}

/// A literal, borrowed where it is stored as the text that it is.
enum Literal<'a> {
    Text(ValueRef<'a>),
    Value(Value),
}

impl Literal<'_> {
    fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Literal::Text(text) => *text,
            Literal::Value(value) => value.as_ref(),
        }
    }
}

fn read_literal<'a>(
    text: &'a str,
    literal_type: ValueType,
    def: Option<&PredicateDef>,
) -> Result<Literal<'a>, Refusal> {
    let is_text = literal_type.is_text();
    let Some(def) = def else {
        return match literal_type {
            ValueType::Default => Ok(Literal::Text(ValueRef::Default(text))),
            _ => {
                let value = literal_value(text, literal_type)?;
                check_storable(value.as_ref())?;
                Ok(Literal::Value(value))
            }
        };
    };
    let value = match def.value_type {
        ValueType::String if is_text => ValueRef::String(text),
        ValueType::Default if literal_type == ValueType::Default => ValueRef::Default(text),
        _ => return stored_value(text, literal_type, def).map(Literal::Value),
    };
    check_indexed(value, def)?;
    Ok(Literal::Text(value))
}

impl<'a> Columns<'a> {
    fn new(name: &str, def: Option<&'a PredicateDef>, refused: Option<Refusal>) -> Columns<'a> {
        Columns {
            name: name.into(),
            def,
            refused,
            langs: Vec::new(),
            edge_nodes: Vec::new(),
            edge_targets: Vec::new(),
            edge_facets: FacetsBuilder::default(),
            value_positions: Vec::new(),
            edge_positions: Vec::new(),
            is_listed: false,
        }
    }

    fn push_edge(&mut self, node: u32, target: u32, quad: &NQuad<'_>, at: FilePosition) {
        for (key, value) in &quad.facets {
            self.edge_facets.push(self.edge_nodes.len() as u32, key, value.as_ref());
        }
        self.edge_nodes.push(node);
        self.edge_targets.push(target);
        if self.def.is_none() {
            self.edge_positions.push(at);
        }
    }

    fn push_value(&mut self, node: u32, value: ValueRef<'_>, quad: &NQuad<'_>, at: FilePosition) {
        self.is_listed |= quad.in_list == Some(true);
        if self.def.is_none() {
            self.value_positions.push(at);
        }
        let same = |column: &LangColumn| &*column.lang == quad.lang;
        let position = self.langs.iter().position(same).unwrap_or_else(|| {
            let value_type = self.def.map_or(value.value_type(), |def| def.value_type);
            self.langs.push(LangColumn {
                lang: quad.lang.into(),
                nodes: Vec::new(),
                values: ValuesBuilder::new(value_type),
                facets: FacetsBuilder::default(),
            });
            self.langs.len() - 1
        });
        let column = &mut self.langs[position];
        for (key, value) in &quad.facets {
            column.facets.push(column.nodes.len() as u32, key, value.as_ref());
        }
        column.nodes.push(node);
        column.values.push(value);
    }

    fn finish(self) -> PredicateBatch {
        let langs = self.langs.into_iter().map(|column| {
            let LangColumn { lang, mut nodes, values, facets } = column;
            // Parts live until the load ends, so unused capacity is freed.
            nodes.shrink_to_fit();
            (lang, ValuePart { nodes, values: values.finish(), facets: facets.finish() })
        });
        let (mut nodes, mut targets) = (self.edge_nodes, self.edge_targets);
        nodes.shrink_to_fit();
        targets.shrink_to_fit();
        PredicateBatch {
            name: self.name,
            langs: langs.collect(),
            edges: EdgePart { nodes, targets, facets: self.edge_facets.finish() },
            positions: self.def.is_none().then_some((self.value_positions, self.edge_positions)),
            is_listed: self.is_listed,
        }
    }
}
