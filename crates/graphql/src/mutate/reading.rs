//! Reads one mutation: from its arguments to what has to be looked up, and from what was read to
//! its outcome.

use crate::generate::{Root, RootKind};
use crate::model::{Kind, Model, TypeDef};
use crate::mutate::inputs::{Entries, entries, given};
use crate::mutate::names::{Names, ObjectPosition};
use crate::mutate::writer::{OutcomeWriter, back_of};
use crate::mutate::{Back, LookupResult, MATCHED, MutationFault, Outcome, Unlink};
use crate::request::{Arguments, Value};
use hexgraph_base::formats::{NQuad, Object, Predicate, Subject};
use hexgraph_base::plan::Query;
use hexgraph_base::types::Position;

/// A mutation whose arguments are read. It waits for the results of its query.
///
/// The caller executes [`Reading::query`], checks the rights on the nodes of [`Reading::upserts`]
/// and [`Reading::named`], hides from [`LookupResult`] what they forbid, and then takes
/// [`Reading::outcome`]. Nothing is written before the last step has succeeded.
#[derive(Debug)]
pub struct Reading<'a> {
    model: &'a Model,
    def: &'a TypeDef,
    names: Names<'a>,
    step: Step<'a>,
}

/// What the mutation does.
#[derive(Debug)]
enum Step<'a> {
    Add { objects: Vec<&'a Entries>, is_upsert: bool },
    Update { set: &'a Entries, remove: &'a Entries },
    Delete,
}

impl<'a> Reading<'a> {
    /// Reads the arguments of `addT`, `updateT` or `deleteT`. Costs O(size of the input).
    ///
    /// # Errors
    ///
    /// All faults that can be reported without looking at the data.
    pub fn new(
        model: &'a Model,
        root: &Root,
        arguments: &'a Arguments,
    ) -> Result<Reading<'a>, Vec<MutationFault>> {
        let unknown = || vec![MutationFault::new(format!("type {} is not stored", root.type_name))];
        let def = model.get(&root.type_name).ok_or_else(unknown)?;
        let mut names = Names::new(model);
        let step = match root.kind {
            RootKind::Add => add_step(def, arguments, &mut names),
            RootKind::Update => update_step(def, arguments, &mut names),
            // No other root is a mutation of a type.
            _ => Step::Delete,
        };
        if !names.faults.is_empty() {
            return Err(names.faults);
        }
        Ok(Reading { model, def, names, step })
    }

    /// Returns the type that the mutation is about.
    pub fn def(&self) -> &'a TypeDef {
        self.def
    }

    /// Returns true if the mutation does nothing, whatever the data are.
    pub fn is_empty(&self) -> bool {
        match &self.step {
            Step::Add { objects, .. } => objects.is_empty(),
            Step::Update { set, remove } => set.is_empty() && remove.is_empty(),
            Step::Delete => false,
        }
    }

    /// Returns the query for the nodes that the inputs name. Its variables go to [`LookupResult`]
    /// by their names. The block that finds the nodes of an update or a delete is not in it: the
    /// filter of the mutation is lowered by itself.
    pub fn query(&self) -> Query {
        self.names.lookups.query()
    }

    /// Returns the existing nodes that an upsert would change, ascending, each with its type.
    pub fn upserts(&self, result: &LookupResult) -> Vec<(u64, &'a TypeDef)> {
        let Step::Add { objects, is_upsert: true } = &self.step else { return Vec::new() };
        let entities = objects.iter().filter_map(|object| self.names.entity(self.def, object));
        let mut nodes: Vec<u64> = Vec::new();
        for key in entities.flat_map(|number| &self.names.entities[number].keys) {
            nodes.extend(result.nodes(key.lookup, &key.text));
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(|uid| (uid, self.def)).collect()
    }

    /// Returns the existing nodes that the inputs name, each with the type that it is named by.
    /// They come in the order of the look-ups, and one that several inputs name comes several
    /// times.
    pub fn named(&self, result: &LookupResult) -> Vec<(u64, &'a TypeDef)> {
        self.names.lookups.nodes(result)
    }

    /// Computes the changes that the mutation makes. `now` is the value of `$now`, the UTC time to
    /// the second, such as `2000-01-01T00:00:00Z`. Costs O(size of the input).
    ///
    /// # Errors
    ///
    /// All faults of the inputs, by what was read.
    pub fn outcome(
        self,
        result: LookupResult,
        now: &'a str,
    ) -> Result<Outcome<'a>, Vec<MutationFault>> {
        let def = self.def;
        let mut writer = OutcomeWriter::new(self.model, self.names, result, now);
        match self.step {
            Step::Add { objects, is_upsert } => {
                for object in objects {
                    writer.add_root(def, object, is_upsert);
                }
            }
            Step::Update { set, remove } => {
                // `MATCHED` is the variable with the nodes that match the filter of the mutation.
                // `set` goes first: the keys that it gives may refuse the update.
                writer.set(def, set, remove);
                writer.remove(def, remove);
                writer.out.roots.push(Subject::Var(MATCHED));
            }
            Step::Delete => {
                writer.out.removes_node = true;
                writer.out.deletes.push(everything());
                writer.out.unlinks = links_into(self.model, def);
                writer.out.roots.push(Subject::Var(MATCHED));
            }
        }
        // With a rule for queries not every caller may see the nodes, so faults must not reveal
        // them.
        writer.finish(def.auth.query.is_some())
    }
}

/// Reads the arguments of `addT`.
fn add_step<'a>(def: &'a TypeDef, arguments: &'a Arguments, names: &mut Names<'a>) -> Step<'a> {
    let input = arguments.given("input");
    // A single object represents a list of one.
    let one = input.map_or(&[][..], std::slice::from_ref);
    let objects = input.and_then(Value::as_list).unwrap_or(one);
    let objects: Vec<&Entries> = objects.iter().map(entries).collect();
    for object in &objects {
        names.add(def, ObjectPosition::Root, object);
    }
    let is_upsert = arguments.given("upsert") == Some(&Value::Boolean(true));
    Step::Add { objects, is_upsert }
}

/// Reads the arguments of `updateT`.
fn update_step<'a>(def: &'a TypeDef, arguments: &'a Arguments, names: &mut Names<'a>) -> Step<'a> {
    let input = arguments.given("input").map_or(&[][..], entries);
    let part = |key| given(input, key).map_or(&[][..], entries);
    let (set, remove) = (part("set"), part("remove"));
    names.add(def, ObjectPosition::Root, set);
    names.add_removed(def, remove);
    Step::Update { set, remove }
}

/// Makes the statement that removes all values and edges of the matched nodes.
fn everything<'a>() -> NQuad<'a> {
    NQuad {
        subject: Subject::Var(MATCHED),
        predicate: Predicate::Star,
        lang: "",
        object: Object::Star,
        facets: Vec::new(),
        in_list: None,
        at: Position::default(),
    }
}

/// Returns the links whose opposite edges have to be removed with the matched nodes: those of the
/// type, and of all types that implement it.
fn links_into<'a>(model: &'a Model, def: &'a TypeDef) -> Vec<Unlink<'a>> {
    let implementors = def.implementors.iter().filter_map(|name| model.get(name));
    let of_interface = (def.kind == Kind::Interface).then_some(implementors);
    let defs = std::iter::once(def).chain(of_interface.into_iter().flatten());
    let mut unlinks: Vec<Unlink<'a>> = Vec::new();
    for field in defs.flat_map(|def| &def.fields) {
        let Some(predicate) = &field.predicate else { continue };
        // A field that reads edges backwards is itself the inverse.
        let back = if predicate.reverse {
            let owner = model.get(field.ty.name()).map_or("", |def| &def.name);
            Some(Back { type_name: owner, predicate: &predicate.name, is_single: false })
        } else {
            back_of(model, field)
        };
        if back.is_none() {
            continue;
        }
        let source = Subject::Var(MATCHED);
        let unlink = Unlink {
            source,
            predicate: &predicate.name,
            is_reverse: predicate.reverse,
            target: None,
            back,
        };
        // Types that implement one interface have its links in common.
        if !unlinks.contains(&unlink) {
            unlinks.push(unlink);
        }
    }
    unlinks
}

#[cfg(test)]
impl Reading<'_> {
    /// What the blocks of the query request.
    pub(crate) fn lookups(&self) -> Vec<crate::mutate::lookups::LookupRequest> {
        self.names.lookups.requested()
    }
}
