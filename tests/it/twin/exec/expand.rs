//! `expand(...)`: the fields that stand in its place.

use super::state::{Outcome, Twin, refuse};
use hexgraph::internals::plan;
use hexgraph::internals::plan::{Expand, Field, FieldKind, Page};
use hexgraph::types::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Twin<'_> {
    /// The fields of a selection at some nodes.
    pub fn expanded(
        &self,
        fields: &[Arc<Field>],
        nodes: &BTreeSet<u64>,
    ) -> Outcome<Vec<Arc<Field>>> {
        let mut all: Vec<Arc<Field>> = Vec::new();
        for field in fields {
            let FieldKind::Expand(expand) = &field.kind else {
                all.push(Arc::clone(field));
                continue;
            };
            for name in self.expanded_names(expand, nodes)? {
                all.extend(self.expanded_field(field, &name).map(Arc::new));
            }
        }
        let is_written = |field: &Arc<Field>| fields.iter().any(|other| Arc::ptr_eq(field, other));
        for (position, field) in all.iter().enumerate() {
            for other in &all[position + 1..] {
                let brought = [field, other].map(|field| !is_written(field));
                // Edges without a selection show nothing, unless two `expand` bring them.
                let shows = |field: &Field| field.has_body || field.alias.is_some();
                let both_show = brought[0] && brought[1]
                    || (!brought[0] || shows(field)) && (!brought[1] || shows(other));
                if (brought[0] || brought[1]) && is_again(field, other, both_show) {
                    return refuse("a field is there already");
                }
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

    fn expanded_field(&self, expand: &Field, name: &str) -> Option<Field> {
        let plain = name.trim_start_matches('~');
        let reverse = plain != name;
        let definition = self.definition(plain)?;
        let shows = if definition.is_edges() {
            !reverse || definition.reverse
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
            alias: (!definition.is_edges()).then(|| name.to_owned()),
            facets: Some(plan::Facets { all: true, items: Vec::new(), order: Vec::new() }),
            page: if definition.is_edges() { expand.page } else { Page::default() },
            ..expand.clone()
        })
    }
}

/// True for fields that are shown under one key, and for those that ask for the same under two.
fn is_again(one: &Field, other: &Field, both_show: bool) -> bool {
    let (
        FieldKind::Predicate { name, reverse, langs },
        FieldKind::Predicate { name: same, reverse: way, langs: all },
    ) = (&one.kind, &other.kind)
    else {
        return one.key == other.key && both_show;
    };
    let languages = langs == all || langs.is_empty() || all.is_empty();
    let asks_the_same = name == same && reverse == way && languages;
    one.key == other.key && both_show
        || asks_the_same && one.filter.is_some() == other.filter.is_some()
}
