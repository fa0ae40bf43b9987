//! `expand(...)`: the fields that stand in its place.

use super::state::{Outcome, Twin, refuse};
use hexgraph::internals::plan;
use hexgraph::internals::plan::{Expand, Field, FieldKind, Page};
use hexgraph::types::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Twin<'_> {
    /// The fields of a selection at some nodes. `is_flat` in a `@recurse` block, where edges need
    /// no selection to show.
    pub fn expanded(
        &self,
        fields: &[Arc<Field>],
        nodes: &BTreeSet<u64>,
        is_flat: bool,
    ) -> Outcome<Vec<Arc<Field>>> {
        let mut all: Vec<Arc<Field>> = Vec::new();
        for field in fields {
            let FieldKind::Expand(expand) = &field.kind else {
                all.push(Arc::clone(field));
                continue;
            };
            for name in self.expanded_names(expand, nodes)? {
                all.extend(self.expanded_field(field, &name, is_flat).map(Arc::new));
            }
        }
        let is_written = |field: &Arc<Field>| fields.iter().any(|other| Arc::ptr_eq(field, other));
        for (place, field) in all.iter().enumerate() {
            let again = all.iter().skip(place + 1).find(|other| other.key == field.key);
            if again.is_some_and(|other| !is_written(field) || !is_written(other)) {
                return refuse("a field is there already");
            }
        }
        Ok(all)
    }

    fn expanded_names(&self, expand: &Expand, nodes: &BTreeSet<u64>) -> Outcome<BTreeSet<String>> {
        let types: Vec<String> = match expand {
            Expand::All => nodes.iter().flat_map(|node| self.graph.types_of(*node)).collect(),
            Expand::Types(types) => types.clone(),
            Expand::Var(var) => {
                let text = |value: Value| match value {
                    Value::String(text) | Value::Default(text) => Some(text),
                    _ => None,
                };
                return Ok(self.values_of(*var)?.of.into_values().filter_map(text).collect());
            }
        };
        let fields = types.iter().filter_map(|name| self.graph.schema.types.get(name));
        Ok(fields.flatten().cloned().collect())
    }

    fn expanded_field(&self, expand: &Field, name: &str, is_flat: bool) -> Option<Field> {
        let plain = name.trim_start_matches('~');
        let reverse = plain != name;
        let definition = self.definition(plain)?;
        let shows = if definition.is_edges() {
            (expand.has_body || is_flat) && (!reverse || definition.reverse)
        } else {
            !reverse && expand.filter.is_none()
        };
        if !shows {
            return None;
        }
        let langs = if definition.lang { vec!["*".to_owned()] } else { Vec::new() };
        Some(Field {
            kind: FieldKind::Predicate { name: plain.to_owned(), reverse, langs },
            key: name.to_owned(),
            facets: Some(plan::Facets { all: true, items: Vec::new(), order: Vec::new() }),
            page: if definition.is_edges() { expand.page } else { Page::default() },
            ..expand.clone()
        })
    }
}
