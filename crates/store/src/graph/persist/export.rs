//! A version as N-Quads, which together with its schema load back to the same graph.

use crate::graph::version::edges::Direction;
use crate::graph::version::graph_version::Version;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::values::LangValues;
use crate::storage::text_of;
use hexgraph_base::formats::{
    NQuad, Predicate as NQuadPredicate, parse_line, write_facets, write_literal,
};
use hexgraph_base::schema::{NODE_TYPE, is_reserved};
use hexgraph_base::types::{Error, Result, Uid, ValueRef};
use std::io::Write;

/// The number of bytes that are written at a time.
const BUFFER_LEN: usize = 1 << 16;

/// Writes the statements of a version, predicate by predicate, and returns their number. Calls
/// `check` from time to time; its error ends the export.
///
/// # Errors
///
/// [`Error::Io`] when it can't be written; [`Error::Query`] for a predicate whose name can't be
/// written in N-Quads; what `check` returns.
pub fn export(
    version: &Version,
    out: &mut dyn Write,
    check: &dyn Fn() -> Result<()>,
) -> Result<u64> {
    export_labelled(version, "", out, check)
}

/// As [`export`], with `label` after the object of each statement: the graph name of an N-Quad in
/// angle brackets, or nothing.
///
/// # Errors
///
/// As [`export`].
pub fn export_labelled(
    version: &Version,
    label: &str,
    out: &mut dyn Write,
    check: &dyn Fn() -> Result<()>,
) -> Result<u64> {
    let mut exporter = Exporter { version, label, out, check, text: Vec::new(), count: 0 };
    let mut predicates: Vec<_> = version.predicates().collect();
    predicates.sort_by(|one, other| one.0.cmp(other.0));
    for (name, predicate) in predicates {
        if is_exported(name) {
            exporter.predicate(name, predicate)?;
        }
    }
    exporter.flush()?;
    Ok(exporter.count)
}

/// True for predicates whose data are exported: all but those of the engine itself, which
/// statements may not set.
pub fn is_exported(name: &str) -> bool {
    !is_reserved(name) || name == NODE_TYPE
}

/// True for a node of an internal type, such as the one with the GraphQL schema. Its values are not
/// exported, since the importing engine creates such nodes itself.
pub(super) fn is_made_anew(name: &str, value: ValueRef<'_>) -> bool {
    name == NODE_TYPE && text_of(value).is_some_and(is_reserved)
}

struct Exporter<'a> {
    version: &'a Version,
    label: &'a str,
    out: &'a mut dyn Write,
    check: &'a dyn Fn() -> Result<()>,
    text: Vec<u8>,
    count: u64,
}

impl Exporter<'_> {
    fn predicate(&mut self, name: &str, predicate: &Predicate) -> Result<()> {
        match &predicate.data {
            PredicateData::Edges(edges) if !edges.forward.subjects().is_empty() => {
                check_name(name)?;
                self.edges(name, &edges.forward)
            }
            PredicateData::Edges(_) => Ok(()),
            PredicateData::Values(langs) => {
                for values in langs.iter().filter(|values| !values.subjects().is_empty()) {
                    check_name(name)?;
                    self.values(name, predicate, values)?;
                }
                Ok(())
            }
        }
    }

    fn edges(&mut self, name: &str, edges: &Direction) -> Result<()> {
        let has_facets = !edges.is_clean() || !edges.base.facets.is_empty();
        for node in edges.subjects().iter() {
            for &target in edges.targets(node).iter() {
                self.start(node, name);
                self.uid(target);
                self.label();
                if has_facets {
                    write_facets(&edges.facets(node, target), &mut self.text);
                }
                self.end()?;
            }
        }
        Ok(())
    }

    fn values(&mut self, name: &str, predicate: &Predicate, values: &LangValues) -> Result<()> {
        let has_facets = !values.is_clean() || !values.base.column.facets.is_empty();
        for node in values.subjects().iter() {
            let list = values.values(node);
            for position in 0..list.len() {
                if is_made_anew(name, list.get(position)) {
                    continue;
                }
                self.start(node, name);
                let existing = predicate.def.value_type;
                write_literal(list.get(position), &values.lang, existing, &mut self.text);
                self.label();
                if has_facets {
                    write_facets(&list.facets(position), &mut self.text);
                }
                self.end()?;
            }
        }
        Ok(())
    }

    fn start(&mut self, node: u32, name: &str) {
        self.uid(node);
        self.text.extend_from_slice(b" <");
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"> ");
    }

    fn uid(&mut self, node: u32) {
        let Uid(uid) = self.version.nodes.uid(node);
        write!(self.text, "<{uid:#x}>").expect("memory takes all that is written");
    }

    fn label(&mut self) {
        if !self.label.is_empty() {
            self.text.push(b' ');
            self.text.extend_from_slice(self.label.as_bytes());
        }
    }

    fn end(&mut self) -> Result<()> {
        self.text.extend_from_slice(b" .\n");
        self.count += 1;
        if self.text.len() < BUFFER_LEN { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        (self.check)()?;
        let written = self.out.write_all(&self.text);
        self.text.clear();
        written.map_err(|error| Error::io("writing the export", error))
    }
}

/// JSON knows names that N-Quads can't write.
fn check_name(name: &str) -> Result<()> {
    // The parser itself decides, so that everything written can be read.
    let line = format!("<0x1> <{name}> <0x2> .");
    let is_same =
        |quad: NQuad<'_>| quad.predicate == NQuadPredicate::Name(name) && quad.lang.is_empty();
    if parse_line(&line).ok().flatten().is_some_and(is_same) {
        return Ok(());
    }
    Err(Error::query(format!("the name of predicate {name:?} can't be written in N-Quads")))
}
