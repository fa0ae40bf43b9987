//! `expand(...)`: replaced by the fields of the nodes of the level.

use crate::exec::columns::read::Langs;
use crate::exec::control::context::Context;
use hexgraph_base::plan::{Expand, FacetKey, Facets, Field, FieldKind, Page};
use hexgraph_base::types::{Error, Result, Value, ValueType};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Context<'_> {
    /// The fields of a selection with every `expand` replaced.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when `expand` brings a field that the selection has already.
    pub(crate) fn expand_fields<'f>(
        &self,
        fields: &'f [Arc<Field>],
        nodes: &[u32],
    ) -> Result<Cow<'f, [Arc<Field>]>> {
        let is_expand = |field: &Arc<Field>| matches!(field.kind, FieldKind::Expand(_));
        if !fields.iter().any(is_expand) {
            return Ok(Cow::Borrowed(fields));
        }
        let mut brought = BTreeSet::new();
        let mut all = Vec::with_capacity(fields.len());
        for field in fields {
            let FieldKind::Expand(expand) = &field.kind else {
                all.push(Arc::clone(field));
                continue;
            };
            for name in self.expanded_names(expand, nodes)? {
                if let Some(new) = self.expanded_field(field, &name) {
                    let stands = |other: &Arc<Field>| {
                        asks_the_same(other, &new)
                            || other.key == new.key && !is_expand(other) && shows(&new)
                    };
                    if fields.iter().any(stands) || !brought.insert(new.key.clone()) {
                        return Err(duplicate_field(field, &new.key));
                    }
                    all.push(Arc::new(new));
                }
            }
        }
        Ok(Cow::Owned(all))
    }

    fn expanded_names(&self, expand: &Expand, nodes: &[u32]) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        let types = match expand {
            Expand::All => self.types_of(nodes),
            Expand::Types(types) => types.clone(),
            Expand::Var(var) => {
                for (_, value) in self.expect_values(*var)?.iter() {
                    if let Ok(Value::String(name)) = value.convert(ValueType::String) {
                        names.insert(name);
                    }
                }
                return Ok(names);
            }
        };
        for name in types {
            if let Some(definition) = self.version.schema.types.get(&name) {
                names.extend(definition.fields.iter().cloned());
            }
        }
        Ok(names)
    }

    fn types_of(&self, nodes: &[u32]) -> Vec<String> {
        let Some(predicate) = self.predicate("dgraph.type") else { return Vec::new() };
        let mut types: Vec<String> = Vec::new();
        for &node in nodes {
            let Some((_, list)) = predicate.values_in(Langs::One(None), node) else { continue };
            for value in list.iter() {
                let Some(name) = crate::storage::text_of(value) else { continue };
                if !types.iter().any(|existing| existing == name) {
                    types.push(name.to_owned());
                }
            }
        }
        types
    }

    /// The field for one predicate; `None` for one that is not meant.
    fn expanded_field(&self, expand: &Field, name: &str) -> Option<Field> {
        let (plain, reverse) = match name.strip_prefix('~') {
            Some(plain) => (plain, true),
            None => (name, false),
        };
        let predicate = self.predicate(plain)?;
        // Edges without a selection show nothing, but `@cascade` requires them.
        if predicate.is_edges() && predicate.direction(reverse).is_none() {
            return None;
        }
        // With a filter by type only edges are meant.
        if !predicate.is_edges() && (expand.filter.is_some() || reverse) {
            return None;
        }
        let langs = if predicate.def.lang { vec!["*".to_owned()] } else { Vec::new() };
        let is_edges = predicate.is_edges();
        Some(Field {
            kind: FieldKind::Predicate { name: plain.to_owned(), reverse, langs },
            at: expand.at,
            // Values are shown by `@normalize`, too, as if each had an alias.
            alias: (!is_edges).then(|| name.to_owned()),
            key: name.to_owned(),
            var: None,
            filter: expand.filter.clone(),
            order: expand.order.clone(),
            page: if is_edges { expand.page } else { Page::default() },
            facets: Some(Facets { all: true, items: Vec::new(), order: Vec::<FacetKey>::new() }),
            facet_filter: None,
            cascade: expand.cascade.clone(),
            normalize: false,
            group_by: None,
            fields: expand.fields.clone(),
            has_body: expand.has_body,
        })
    }
}

/// True when a field that is written next to `expand` requests one of its fields, under whatever
/// name.
fn asks_the_same(written: &Field, brought: &Field) -> bool {
    let (
        FieldKind::Predicate { name, reverse, langs },
        FieldKind::Predicate { name: other, reverse: way, langs: all },
    ) = (&written.kind, &brought.kind)
    else {
        return false;
    };
    name == other
        && reverse == way
        && (langs.is_empty() || langs == all)
        && written.filter.is_some() == brought.filter.is_some()
}

/// True for a brought field that has a key in the answer: edges without a selection have none.
fn shows(brought: &Field) -> bool {
    brought.has_body || brought.alias.is_some()
}

fn duplicate_field(expand: &Field, name: &str) -> Error {
    let message = format!("`expand` brings the field `{name}`, which the level selects as well");
    let hint = format!("remove `{name}`, or name the fields instead of `expand`");
    Error::query_at(expand.at, message).with_hint(hint)
}
