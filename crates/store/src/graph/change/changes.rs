//! What a request changes, checked and free of texts: so it can be executed on the version
//! that it was checked against or, as long as the schema stays, on a later one.
//!
//! Nodes stand there by uid, since node ids of great uids depend on the version.

use super::apply::{Draft, EdgeChange, ValueChange};
use super::effect::Effect;
use super::keys::ConflictKey;
use crate::graph::build::compact::is_compaction_due;
use crate::graph::build::renumber::with_high_uids;
use crate::graph::build::without::Removed;
use crate::graph::version::delta::FacetList;
use crate::graph::version::graph_version::Version;
use crate::graph::version::uids::NamedUids;
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Result, Uid, Value};
use std::sync::Arc;

/// The deletes between two looks at whether somebody still waits for them.
const DELETES_A_CHECK: usize = 4096;

/// All changes of a request.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The predicates that they are about.
    pub(in crate::graph) predicates: Vec<Arc<PredicateDef>>,
    /// The languages of values, the empty one among them.
    pub(in crate::graph) langs: Vec<Box<str>>,
    /// The definitions of predicates that the schema does not know yet.
    pub(in crate::graph) definitions: Vec<PredicateDef>,
    /// The mutations, in order.
    pub(in crate::graph) parts: Vec<Part>,
    /// Uids of 2^31 and more that are set, with repeats.
    pub(in crate::graph) high: Vec<u64>,
    /// Uids below 2^31 that are set. Not in records: those find them again in what is set.
    pub(in crate::graph) named: NamedUids,
    /// The uid that the next new node gets, at the least.
    pub(in crate::graph) next_uid: u64,
    /// About the bytes of the changes until they are in a version.
    pub(in crate::graph) weight: usize,
}

/// The changes of one mutation.
#[derive(Debug, Clone, Default)]
pub(in crate::graph) struct Part {
    /// The deletes, which are executed before values and edges are set.
    pub(in crate::graph) deletes: Vec<Delete>,
    /// The values that are set.
    pub(in crate::graph) values: Vec<SetValue>,
    /// The edges that are set.
    pub(in crate::graph) edges: Vec<SetEdge>,
}

/// One delete.
#[derive(Debug, Clone)]
pub(in crate::graph) struct Delete {
    /// The position of the predicate.
    pub(in crate::graph) predicate: u32,
    /// The node.
    pub(in crate::graph) node: Uid,
    /// The things of that node and predicate that are deleted.
    pub(in crate::graph) what: Deleted,
}

/// The things of a node and predicate that a delete takes away.
#[derive(Debug, Clone)]
pub(in crate::graph) enum Deleted {
    /// Everything in all languages.
    All,
    /// Everything in the language of a position.
    Lang(u32),
    /// One value in the language of a position, converted to the type of the predicate.
    Value(u32, Value),
    /// The password of this text, or of this hash: only in logs of the first format. A mutation
    /// with a password resolves it to the deleted value when it is checked.
    FirstFormatPassword(u32, String),
    /// One edge.
    Edge(Uid),
}

impl Deleted {
    /// The language of the value.
    fn lang(&self) -> Option<u32> {
        match self {
            Deleted::Value(lang, _) => Some(*lang),
            _ => None,
        }
    }
}

/// A value that is set.
#[derive(Debug, Clone)]
pub(in crate::graph) struct SetValue {
    /// The position of the predicate.
    pub(in crate::graph) predicate: u32,
    /// The position of the language.
    pub(in crate::graph) lang: u32,
    /// The node.
    pub(in crate::graph) node: Uid,
    /// The value, converted to the type of the predicate.
    pub(in crate::graph) value: Value,
    /// Its facets.
    pub(in crate::graph) facets: FacetList,
}

/// An edge that is set.
#[derive(Debug, Clone)]
pub(in crate::graph) struct SetEdge {
    /// The position of the predicate.
    pub(in crate::graph) predicate: u32,
    /// The node where it starts.
    pub(in crate::graph) node: Uid,
    /// The target node.
    pub(in crate::graph) target: Uid,
    /// Its facets.
    pub(in crate::graph) facets: FacetList,
}

impl Changes {
    /// True when some value is set that no two nodes may have.
    pub fn sets_unique(&self) -> bool {
        let unique = |value: &SetValue| self.predicates[value.predicate as usize].unique;
        self.parts.iter().any(|part| part.values.iter().any(unique))
    }

    /// True when nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.parts
            .iter()
            .all(|part| part.deletes.is_empty() && part.values.is_empty() && part.edges.is_empty())
    }

    /// The number of their deletes.
    pub fn delete_count(&self) -> usize {
        self.parts.iter().map(|part| part.deletes.len()).sum()
    }

    /// About the bytes of the changes, with the version that they make in addition to the previous
    /// one.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// True when something is added, and not only deleted.
    pub fn adds(&self) -> bool {
        self.parts.iter().any(|part| !part.values.is_empty() || !part.edges.is_empty())
    }

    /// The names of the predicates that they are about.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.predicates.iter().map(|def| def.name.as_str())
    }

    /// True when the predicates are in `schema` as they were when the changes were checked, so
    /// that [`Changes::apply`] may carry them out on a version that has it.
    pub fn fit(&self, schema: &Schema) -> bool {
        let is_new = |name: &str| self.definitions.iter().any(|def| def.name == name);
        self.predicates.iter().all(|def| match schema.predicates.get(&def.name) {
            Some(existing) => *existing == **def,
            None => is_new(&def.name),
        })
    }

    /// The version with the changes. Costs O(changes · log), except for a large row of a list,
    /// which is copied once.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Query`] for a duplicate of a unique value;
    /// [`hexgraph_base::types::Error::Limit`] without space for another uid.
    pub fn apply(self, version: &Version) -> Result<Version> {
        self.apply_keyed(version, &mut Vec::new(), &|| Ok(())).map(|(next, _)| next)
    }

    /// As [`Changes::apply`]; adds the conflict keys of what is written, and returns what was done
    /// in effect. Calls `check` now and then, and at the end, so that a cancelled request changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`Changes::apply`]; those of `check`.
    pub fn apply_keyed(
        self,
        version: &Version,
        keys: &mut Vec<ConflictKey>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Version, Effect)> {
        let done = self.execute(version, keys, check, false)?;
        check()?;
        Ok(done)
    }

    /// As [`Changes::apply`] for replayed changes, perhaps in several steps: uniqueness is not
    /// checked.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] without space for another uid.
    pub fn apply_again(self, version: &Version) -> Result<Version> {
        self.execute(version, &mut Vec::new(), &|| Ok(()), true).map(|(next, _)| next)
    }

    fn execute(
        self,
        version: &Version,
        keys: &mut Vec<ConflictKey>,
        check: &dyn Fn() -> Result<()>,
        is_again: bool,
    ) -> Result<(Version, Effect)> {
        let Changes { predicates, langs, definitions, parts, high, named, next_uid, weight } = self;
        let mut next = version.clone();
        if !definitions.is_empty() {
            let schema = Arc::make_mut(&mut next.schema);
            for def in definitions {
                schema.predicates.entry(def.name.clone()).or_insert(def);
            }
        }
        next.uids.skip_to(next_uid);
        next.uids.reserve(&named);
        // Before any node id is resolved: a new uid of 2^31 or more changes the ids of those above
        // it.
        let mut next = with_high_uids(&next, high)?;
        let draft = if is_again { Draft::again(&next) } else { Draft::new(&next) };
        let mut work = Work { draft, predicates: &predicates, langs: &langs };
        for part in parts {
            work.execute(part, check)?;
        }
        work.draft.check_unique()?;
        let effect = work.draft.effect();
        let changed = work.draft.finish(keys);
        next.is_compaction_due =
            changed.iter().any(|(_, it)| is_compaction_due(it, &next.thresholds));
        next.replace(changed);
        next.replaced += weight as u64;
        Ok((next, effect))
    }
}

struct Work<'a> {
    draft: Draft<'a>,
    predicates: &'a [Arc<PredicateDef>],
    langs: &'a [Box<str>],
}

impl Work<'_> {
    fn execute(&mut self, part: Part, check: &dyn Fn() -> Result<()>) -> Result<()> {
        self.delete_all(part.deletes, check)?;
        let draft = &self.draft;
        let id = |uid| draft.node(uid).expect("all nodes that are set have ids");
        let edges = part.edges.into_iter().map(|edge| EdgeChange {
            name: &self.predicates[edge.predicate as usize].name,
            node: id(edge.node),
            target: id(edge.target),
            facets: edge.facets,
        });
        let edges = edges.collect();
        let values = part.values.into_iter().map(|value| ValueChange {
            name: &self.predicates[value.predicate as usize].name,
            lang: &self.langs[value.lang as usize],
            node: id(value.node),
            value: value.value,
            facets: value.facets,
        });
        let values: Vec<ValueChange<'_>> = values.collect();
        self.draft.check_vectors(&values)?;
        check()?;
        self.draft.set_edges(edges);
        check()?;
        self.draft.set_values(values);
        Ok(())
    }

    /// Executes the deletes of one predicate together: in bulk if they are many, else node by node.
    fn delete_all(&mut self, deletes: Vec<Delete>, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut by_predicate: Vec<Vec<Delete>> = Vec::new();
        by_predicate.resize_with(self.predicates.len(), Vec::new);
        for delete in deletes {
            by_predicate[delete.predicate as usize].push(delete);
        }
        let mut bulk = Vec::new();
        for mut deletes in by_predicate.into_iter().filter(|deletes| !deletes.is_empty()) {
            let name = &self.predicates[deletes[0].predicate as usize].name;
            if self.draft.is_bulk_delete(name, deletes.len()) {
                check()?;
                self.add_keys(&deletes);
                let removed = self.split_removed(&mut deletes);
                bulk.push((name.as_str(), removed));
            }
            self.delete_each(deletes, check)?;
        }
        check()?;
        self.draft.remove(bulk);
        Ok(())
    }

    /// Moves out of the deletes of one predicate those of entire nodes, and those of single edges.
    fn split_removed(&self, deletes: &mut Vec<Delete>) -> Removed {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        let mut last = None;
        deletes.retain(|Delete { node, what, .. }| {
            // Mostly several deletes of one node come one after the other.
            let id = match last {
                Some((uid, id)) if uid == *node => id,
                _ => self.draft.node(*node),
            };
            last = Some((*node, id));
            match (what, id) {
                (Deleted::All, Some(id)) => nodes.push(id),
                (Deleted::Edge(target), Some(id)) => {
                    edges.extend(self.draft.node(*target).map(|target| (id, target)));
                }
                // An unknown node has nothing to delete.
                (Deleted::All | Deleted::Edge(_), None) => {}
                _ => return true,
            }
            false
        });
        Removed::new(nodes, edges)
    }

    /// Executes the deletes of one node together: its values are copied once, however many go. All
    /// deletes are of one predicate.
    fn delete_each(
        &mut self,
        mut deletes: Vec<Delete>,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let key = |delete: &Delete| (delete.node, delete.what.lang());
        // Stable, and usually in this order already. The order of several deletes makes no
        // difference.
        deletes.sort_by_key(key);
        let mut unchecked = 0;
        for run in deletes.chunk_by_mut(|one, next| key(one) == key(next)) {
            unchecked += run.len();
            if DELETES_A_CHECK < unchecked {
                unchecked = 0;
                check()?;
            }
            self.add_keys(run);
            // An unknown node has nothing to delete.
            let Some(node) = self.draft.node(run[0].node) else { continue };
            let name = &self.predicates[run[0].predicate as usize].name;
            let whats = run.iter_mut().map(|it| std::mem::replace(&mut it.what, Deleted::All));
            self.delete(name, node, whats);
        }
        Ok(())
    }

    /// Adds the conflict keys of deletes of one predicate, be there something to delete or not.
    fn add_keys(&mut self, run: &[Delete]) {
        let Some(mut keys) = self.draft.keys_of(&self.predicates[run[0].predicate as usize]) else {
            return;
        };
        for Delete { node, what, .. } in run {
            match what {
                Deleted::Value(_, value) => keys.value_written(*node, value.as_ref()),
                Deleted::Edge(target) => keys.edge(*node, *target),
                Deleted::All | Deleted::Lang(_) | Deleted::FirstFormatPassword(..) => {
                    keys.all(*node);
                }
            }
        }
    }

    /// Deletes things of one node and predicate. The values among them are of one language.
    fn delete(&mut self, name: &str, node: u32, whats: impl Iterator<Item = Deleted>) {
        let (draft, langs) = (&mut self.draft, self.langs);
        let (mut expected, mut of) = (Vec::new(), 0);
        for what in whats {
            match what {
                Deleted::All => draft.clear(name, node),
                Deleted::Lang(lang) => draft.clear_lang(name, &langs[lang as usize], node),
                Deleted::Value(lang, value) => {
                    of = lang;
                    expected.push(value);
                }
                Deleted::FirstFormatPassword(lang, text) => {
                    let lang = &langs[lang as usize];
                    draft.remove_values(name, lang, node, |value| match value {
                        Value::Password(hash) => {
                            *hash == text || Value::verify_password(hash, &text) == Ok(true)
                        }
                        _ => false,
                    });
                }
                Deleted::Edge(target) => {
                    if let Some(target) = draft.node(target) {
                        draft.remove_edge(name, node, target);
                    }
                }
            }
        }
        if !expected.is_empty() {
            draft.remove_expected(name, &langs[of as usize], node, expected);
        }
    }
}
