//! What one the caller may see of a graph: a set of predicates. What is not in it does not exist for him.
//!
//! A version with a view ([`Version::seen_by`](crate::graph::Version::seen_by)) has those predicates alone, and a schema that
//! speaks of no others, so nothing above it asks for rights. It is only read: what is written begins with the entire version.

use arc_swap::ArcSwapOption;
use hexgraph_base::schema::{Schema, TypeDef};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A set of predicates that can be seen, by their names: those that are there and those that may come.
pub struct View {
    names: FxHashSet<Box<str>>,
    /// True when all can be seen but `names`, false when `names` alone can.
    all_but: bool,
    /// The schema that was asked for last, and what can be seen of it. Schemas change seldom.
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

    /// What can be seen of a schema: the definitions of the predicates, and all types with those of their fields. Costs O(schema)
    /// once for each schema.
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
