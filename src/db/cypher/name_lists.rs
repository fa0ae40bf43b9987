//! The names in one version of the graph, as `CALL db.labels()` and the like list them.

use super::names::short_name;
use super::snapshot_graph::SnapshotGraph;
use super::snapshot_lists::node_types;
use hexgraph_base::schema::is_reserved;
use hexgraph_base::types::Result;
use hexgraph_cypher::NameList;
use hexgraph_store::graph::Predicate;
use hexgraph_store::storage::text_of;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many nodes are read between two checks of the limits.
const NODES_PER_CHECK: usize = 1024;

impl SnapshotGraph<'_> {
    /// Names that a node or a relationship has which the request sees, in ascending order.
    pub(super) fn name_list(&self, list: NameList) -> Result<Vec<Arc<str>>> {
        let names = match list {
            NameList::Labels => self.label_names()?,
            NameList::RelationshipTypes => self.type_names()?,
            NameList::PropertyKeys => self.property_keys()?,
        };
        Ok(names.into_iter().collect())
    }

    /// The schema need not declare a label, so those of all nodes are read. O(nodes).
    fn label_names(&self) -> Result<BTreeSet<Arc<str>>> {
        let mut names = BTreeSet::<Arc<str>>::new();
        let Some(types) = node_types(self.version()) else { return Ok(names) };
        for (count, node) in types.subjects().iter_from(0).enumerate() {
            if count.is_multiple_of(NODES_PER_CHECK) {
                self.context().check()?;
            }
            let values = types.values(node);
            for name in values.iter().filter_map(text_of).filter(|name| !is_reserved(name)) {
                if !names.contains(name) {
                    names.insert(name.into());
                }
            }
        }
        Ok(names)
    }

    /// The names that `type(r)` gives.
    fn type_names(&self) -> Result<BTreeSet<Arc<str>>> {
        let mut names = BTreeSet::new();
        for (name, predicate) in self.edge_predicates() {
            self.context().check()?;
            if !predicate.subjects().is_empty() {
                names.insert(Arc::clone(name));
            }
        }
        Ok(names)
    }

    /// The keys that `keys(n)` gives for nodes with one label: a field has the short name that its
    /// type gives it.
    fn property_keys(&self) -> Result<BTreeSet<Arc<str>>> {
        let mut names = BTreeSet::new();
        for (name, predicate) in self.value_predicates() {
            self.context().check()?;
            let short = short_name(name);
            let owned = self.owned(short);
            let is_field = |(_, of): &(_, Vec<Arc<Predicate>>)| {
                of.iter().any(|it| it.def.name.as_str() == &**name)
            };
            let key = if owned.iter().any(is_field) { short } else { name };
            if predicate.untagged().iter().any(|it| !it.subjects().is_empty()) {
                names.insert(key.into());
            }
            let tagged = predicate.langs().iter().filter(|_| predicate.def.lang);
            for values in tagged.filter(|it| !it.lang.is_empty() && !it.subjects().is_empty()) {
                names.insert(format!("{key}@{}", values.lang).into());
            }
        }
        Ok(names)
    }
}
