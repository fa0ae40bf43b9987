//! The variables that blocks define and read. Each must be defined exactly once and read at least
//! once.

use crate::syntax::source::Source;
use hexgraph_base::plan::{VarId, Variable};
use hexgraph_base::types::{Error, Position, Result, nearest};
use rustc_hash::FxHashMap;

/// With more variables than this, names are looked up in a hash table; up to it they are compared
/// one after the other.
const SCANNED_MAX: usize = 8;

/// Represents the position of a variable that a mutation uses: it is not in the text of the query.
pub(super) const IN_MUTATION: u32 = u32::MAX;

/// What reads a variable. A name that nothing defines was probably meant as something else, which
/// depends on where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// A `math` expression, where predicates are written by those who come from SQL.
    Math,
    /// `uid(...)`, where external ids are written.
    Uid,
    /// Anything else.
    Other,
}

/// The variables of a request so far.
#[derive(Default)]
pub(super) struct Names<'a> {
    entries: Vec<Entry<'a>>,
    index: FxHashMap<&'a str, VarId>,
}

struct Entry<'a> {
    name: &'a str,
    definitions: u32,
    uses: u32,
    /// The offset of the last definition, or of the first use when there is no definition.
    at: u32,
    /// The first reader.
    reader: Reader,
}

impl<'a> Names<'a> {
    /// Records a definition of a variable at `at`, and returns its identifier.
    pub(super) fn define(&mut self, name: &'a str, at: u32) -> VarId {
        let id = self.id(name, at, Reader::Other);
        // An identifier is the position of its entry, and entries are never removed.
        let entry = &mut self.entries[id.0 as usize];
        entry.definitions += 1;
        entry.at = at;
        id
    }

    /// Records a use of a variable by `reader` at `at`, and returns its identifier.
    pub(super) fn read(&mut self, name: &'a str, at: u32, reader: Reader) -> VarId {
        let id = self.id(name, at, reader);
        self.entries[id.0 as usize].uses += 1;
        id
    }

    fn id(&mut self, name: &'a str, at: u32, reader: Reader) -> VarId {
        let existing = if self.entries.len() <= SCANNED_MAX {
            let result = self.entries.iter().position(|entry| entry.name == name);
            result.map(|index| VarId(index as u32))
        } else {
            self.index.get(name).copied()
        };
        existing.unwrap_or_else(|| self.add(name, at, reader))
    }

    fn add(&mut self, name: &'a str, at: u32, reader: Reader) -> VarId {
        let id = VarId(self.entries.len() as u32);
        self.entries.push(Entry { name, definitions: 0, uses: 0, at, reader });
        // The first name too many: from here on the table is used, so all of them go into it.
        if self.entries.len() == SCANNED_MAX + 1 {
            let names = self.entries.iter().enumerate();
            self.index = names.map(|(id, entry)| (entry.name, VarId(id as u32))).collect();
        } else if self.entries.len() > SCANNED_MAX {
            self.index.insert(name, id);
        }
        id
    }

    /// Checks that every variable is defined once and used.
    pub(super) fn check(&self, source: &Source) -> Result<()> {
        // A missing definition is reported first: a misspelt name causes an unused variable as
        // well.
        let missing = self.entries.iter().filter(|entry| entry.definitions == 0);
        let others = self.entries.iter().filter(|entry| entry.definitions > 0);
        for entry in missing.chain(others) {
            let name = entry.name;
            let (message, hint) = match (entry.definitions, entry.uses) {
                (1, 1..) => continue,
                (0, _) => {
                    let others = || self.entries.iter().filter(|other| other.definitions > 0);
                    let mut unused = others().filter(|other| other.uses == 0);
                    let is_reversed = |other: &Entry<'_>| {
                        defined_of(source.text(), other.at, other.name) == Some(name)
                    };
                    let hint = match nearest(name, others().map(|other| other.name)) {
                        Some(other) => format!("did you mean `{other}`?"),
                        None if let Some(other) = unused.find(|other| is_reversed(other)) => {
                            let other = other.name;
                            format!("the variable stands before `as`: `{name} as {other}`")
                        }
                        None if name.starts_with(|first: char| first.is_ascii_digit()) => {
                            format!("a node is written `<{name}>`")
                        }
                        None => define_it(name, entry.reader),
                    };
                    let position = if entry.at == IN_MUTATION { " in a mutation" } else { "" };
                    (format!("variable `{name}` is used{position} but not defined"), hint)
                }
                (1, 0) => {
                    let hint = match defined_of(source.text(), entry.at, name) {
                        // As in SQL, where the new name comes last.
                        Some(other) => format!(
                            "use it or remove `{name} as`; where `{name}` is the predicate, write `{other}: {name}` for another key, \
                             `{other} as {name}` for a variable"
                        ),
                        None => "use it or remove the definition".to_owned(),
                    };
                    (format!("variable `{name}` is defined but not used"), hint)
                }
                _ => {
                    let hint = "give each its own name".to_owned();
                    (format!("variable `{name}` is defined more than once"), hint)
                }
            };
            let start = Position { line: 1, column: 0 };
            let at = if entry.at == IN_MUTATION { start } else { source.position(entry.at) };
            return Err(Error::syntax(at, message).with_hint(hint));
        }
        Ok(())
    }

    /// Returns the variables for the plan; their positions are their identifiers.
    pub(super) fn into_variables(self) -> Vec<Variable> {
        self.entries.iter().map(|entry| Variable { name: entry.name.to_owned() }).collect()
    }
}

/// The name after `as`, where a variable is defined at an offset, unless it is a function.
fn defined_of<'s>(text: &'s str, at: u32, name: &str) -> Option<&'s str> {
    let rest = text.get(at as usize..)?.strip_prefix(name)?.trim_ascii_start();
    let (keyword, rest) = rest.split_at_checked(2)?;
    let rest = rest.strip_prefix(|blank: char| blank.is_ascii_whitespace())?.trim_ascii_start();
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
    let (other, behind) = rest.split_at(end);
    let is_name = keyword.eq_ignore_ascii_case("as")
        && !other.is_empty()
        && other != "uid"
        && !behind.trim_ascii_start().starts_with('(');
    is_name.then_some(other)
}

/// The hint for a variable that nothing defines.
fn define_it(name: &str, reader: Reader) -> String {
    match reader {
        Reader::Math => format!(
            "`math` takes variables: where `{name}` is a predicate, name its values before, as in `v as {name}`, and write `math(v ...)`"
        ),
        Reader::Uid => format!(
            "define it: `{name} as ...`; a uid is written `0x1`, and a node that has another id is selected by the predicate of its ids: `eq(xid, \"{name}\")`"
        ),
        Reader::Other => format!("define it: `{name} as ...`"),
    }
}
