//! What a caller may see of a graph: a set of predicates. For the caller nothing else exists.
//!
//! A version with a view ([`Version::seen_by`](crate::graph::Version::seen_by)) has only those
//! predicates, and a schema without the others, so upper layers check no rights. It is read-only:
//! writes start from the entire version.

use arc_swap::ArcSwapOption;
use hexgraph_base::schema::{Schema, TypeDef};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A set of visible predicates by name: existing ones and future ones.
pub struct View {
    names: FxHashSet<Box<str>>,
    /// True when all can be seen but `names`, false when `names` alone can.
    all_but: bool,
    /// The schema of the last call, and its visible part. Schemas seldom change.
    last: ArcSwapOption<(Arc<Schema>, Arc<Schema>)>,
}

impl View {
    /// Shows these predicates and no others.
    pub fn only<S: Into<Box<str>>>(names: impl IntoIterator<Item = S>) -> View {
        let names = names.into_iter().map(Into::into).collect();
        View { names, all_but: false, last: ArcSwapOption::empty() }
    }

    /// Shows all predicates but these.
    pub fn all_but<S: Into<Box<str>>>(names: impl IntoIterator<Item = S>) -> View {
        View { all_but: true, ..View::only(names) }
    }

    /// Whether a predicate can be seen, be it there or not.
    pub fn shows(&self, name: &str) -> bool {
        self.names.contains(name) != self.all_but
    }

    /// What can be seen of a schema: the definitions of the predicates, and all types with those of
    /// their fields. Costs O(schema) once for each schema.
    pub(in crate::graph) fn schema(&self, full: &Arc<Schema>) -> Arc<Schema> {
        if let Some(last) = &*self.last.load()
            && Arc::ptr_eq(&last.0, full)
        {
            return Arc::clone(&last.1);
        }
        let predicates = full.predicates.iter().filter(|(name, _)| self.shows(name));
        let is_shown = |field: &&String| self.shows(field.trim_start_matches('~'));
        let types = full.types.iter().map(|(name, existing)| {
            let fields = existing.fields.iter().filter(is_shown).cloned().collect();
            (name.clone(), TypeDef::new(name.clone(), fields))
        });
        let seen = Arc::new(Schema {
            predicates: predicates.map(|(name, def)| (name.clone(), def.clone())).collect(),
            types: types.collect(),
        });
        self.last.store(Some(Arc::new((Arc::clone(full), Arc::clone(&seen)))));
        seen
    }
}
