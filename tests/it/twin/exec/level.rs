//! Fields: what a selection finds at the nodes of its level.

use super::facets;
use super::order::cut;
use super::state::{Data, Edges, Level, Outcome, Shown, Twin, TwinOutcome, Var, refuse};
use crate::twin::graph::Facets;
use crate::twin::schema::Definition;
use hexgraph::internals::plan::{Cascade, Field, FieldKind, Page};
use hexgraph::types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Twin<'_> {
    /// Evaluates a selection at some nodes, under the innermost `@cascade` above.
    pub fn level(
        &mut self,
        nodes: BTreeSet<u64>,
        fields: &[Arc<Field>],
        cascade: Option<&Cascade>,
    ) -> Outcome<Level> {
        let mut result = Vec::new();
        for field in self.expanded(fields, &nodes)? {
            let data = self.field(&field, &nodes, cascade)?;
            result.push(TwinOutcome { field, data });
        }
        Ok(Level { nodes, fields: result, dead: BTreeSet::new() })
    }

    fn field(
        &mut self,
        field: &Arc<Field>,
        nodes: &BTreeSet<u64>,
        cascade: Option<&Cascade>,
    ) -> Outcome<Data> {
        match &field.kind {
            FieldKind::Predicate { name, reverse, langs } => {
                let Some(definition) = self.definition(name) else { return Ok(Data::Nothing) };
                if *reverse && !definition.reverse {
                    return refuse("no reverse edges");
                }
                if definition.is_edges() {
                    return self.edges(field, nodes, name, *reverse, cascade);
                }
                check_langs(definition, langs)?;
                self.values(field, nodes, definition, langs)
            }
            FieldKind::Uid => {
                if let Some(var) = field.var {
                    self.vars.insert(var, Var::Nodes(nodes.clone(), None));
                }
                Ok(Data::Uid)
            }
            FieldKind::Count { name, reverse, langs } => {
                self.counts(field, nodes, name, *reverse, langs)
            }
            FieldKind::CountUid => Ok(Data::CountUid),
            _ => Ok(Data::Nothing),
        }
    }

    fn edges(
        &mut self,
        field: &Arc<Field>,
        nodes: &BTreeSet<u64>,
        name: &str,
        reverse: bool,
        inherited: Option<&Cascade>,
    ) -> Outcome<Data> {
        let binds = field.facets.iter().flat_map(|facets| &facets.items).any(|it| it.var.is_some());
        let shows = field.has_body || field.var.is_some() || binds || field.group_by.is_some();
        if !shows && inherited.is_none() {
            return Ok(Data::Nothing);
        }
        let cascade = field.cascade.as_ref().or(inherited);
        let page = if cascade.is_some() { Page::default() } else { field.page };
        let lists = self.lists(field, nodes, name, reverse, page)?;
        let targets: BTreeSet<u64> = lists.values().flatten().copied().collect();
        if let Some(var) = field.var {
            self.vars.insert(var, Var::Nodes(targets.clone(), None));
        }
        let fields = if field.group_by.is_some() { &[][..] } else { &field.fields };
        let name = name.to_owned();
        let below = Level::default();
        let mut edges = Edges { name, reverse, lists, below, groups: None };
        // What can't be summed is refused, also where a `@cascade` is going to drop it.
        for item in field.facets.iter().flat_map(|facets| &facets.items) {
            if item.var.is_some() {
                self.facet_values(&edges, &item.facet)?;
            }
        }
        edges.below = self.level(targets, fields, cascade)?;
        Ok(Data::Edges(Box::new(edges)))
    }

    /// The targets of each node: filtered, after `after`, ordered, paged.
    pub fn lists(
        &self,
        field: &Field,
        nodes: &BTreeSet<u64>,
        name: &str,
        reverse: bool,
        page: Page,
    ) -> Outcome<BTreeMap<u64, Vec<u64>>> {
        self.check_order(&field.order, page)?;
        let facet_order = field.facets.as_ref().map_or(&[][..], |facets| &facets.order);
        let all = nodes.iter().map(|node| self.graph.targets(*node, name, reverse));
        let union: BTreeSet<u64> = all.flat_map(|targets| targets.into_keys()).collect();
        let passed = self.filter_if(field.filter.as_ref(), union)?;
        let mut lists = BTreeMap::new();
        for node in nodes {
            let targets = self.graph.targets(*node, name, reverse);
            let mut list = Vec::new();
            for (target, facets) in &targets {
                let by_facets = match &field.facet_filter {
                    Some(filter) => facets::passes(filter, facets)?,
                    None => true,
                };
                if by_facets && passed.contains(target) && field.page.after < *target {
                    list.push(*target);
                }
            }
            list.sort_by(|one, other| facets::compare(facet_order, &targets[one], &targets[other]));
            let list = match field.order.is_empty() {
                true => cut(&list, page),
                false => self.sort(&field.order, list, page, false)?,
            };
            lists.insert(*node, list);
        }
        Ok(lists)
    }

    fn values(
        &self,
        field: &Field,
        nodes: &BTreeSet<u64>,
        definition: &Definition,
        langs: &[String],
    ) -> Outcome<Data> {
        let mut result = BTreeMap::new();
        for node in nodes {
            let mut shown = Vec::new();
            let in_langs = match langs.is_empty() && field.facets.is_some() {
                // Facets are those of one value.
                true => vec![(None, self.first_untagged(*node, &definition.name))],
                false => self.in_langs(*node, &definition.name, langs),
            };
            for (lang, values) in in_langs {
                let values = passing(field, definition, values)?;
                if !values.is_empty() {
                    shown.push((lang, values));
                }
            }
            if !shown.is_empty() {
                result.insert(*node, shown);
            }
        }
        Ok(Data::Values(result))
    }

    /// The values of a node in the first language that has any; with `*` in all.
    pub fn in_langs(&self, node: u64, name: &str, langs: &[String]) -> Vec<Shown> {
        let of = |lang: &str| self.graph.values(node, name, lang);
        match langs {
            [] => vec![(None, self.untagged(node, name))],
            [star] if star == "*" => {
                let langs = self.graph.langs(node, name).into_iter();
                let suffix = |lang: &String| (!lang.is_empty()).then(|| lang.clone());
                langs.map(|lang| (suffix(&lang), of(&lang))).collect()
            }
            langs => {
                let result = langs.iter().map(|lang| match lang.as_str() {
                    "." => self.first_values(node, name),
                    lang => of(lang),
                });
                result
                    .filter(|values| !values.is_empty())
                    .take(1)
                    .map(|result| (None, result))
                    .collect()
            }
        }
    }

    fn counts(
        &self,
        field: &Field,
        nodes: &BTreeSet<u64>,
        name: &str,
        reverse: bool,
        langs: &[String],
    ) -> Outcome<Data> {
        let Some(definition) = self.definition(name) else { return Ok(Data::Nothing) };
        check_langs(definition, langs)?;
        if reverse && !definition.reverse {
            return refuse("no reverse edges");
        }
        if definition.is_edges() {
            if field.filter.is_none() && field.facet_filter.is_none() {
                let count = |node: &u64| self.graph.targets(*node, name, reverse).len() as i64;
                return Ok(Data::Counts(nodes.iter().map(|node| (*node, count(node))).collect()));
            }
            let lists = self.lists(field, nodes, name, reverse, field.page)?;
            let counts = lists.iter().map(|(node, list)| (*node, list.len() as i64));
            return Ok(Data::Counts(counts.collect()));
        }
        let mut counts = BTreeMap::new();
        for node in nodes {
            let mut count = 0;
            let values = match (langs.first(), field.facet_filter.is_some()) {
                (Some(lang), _) => self.graph.values(*node, name, lang),
                (None, true) => self.first_untagged(*node, name),
                (None, false) => self.untagged(*node, name),
            };
            for (_, facets) in values {
                let passes = match &field.facet_filter {
                    Some(filter) => facets::passes(filter, &facets)?,
                    None => true,
                };
                count += i64::from(passes);
            }
            counts.insert(*node, count);
        }
        Ok(Data::Counts(counts))
    }
}

/// The values that pass a facet filter, where such a filter is heeded: on lists, with languages,
/// and beside a projection.
fn passing(
    field: &Field,
    definition: &Definition,
    values: Vec<(Value, Facets)>,
) -> Outcome<Vec<(Value, Facets)>> {
    let Some(filter) = &field.facet_filter else { return Ok(values) };
    if !definition.list && !definition.lang && field.facets.is_none() {
        return Ok(values);
    }
    let mut retained = Vec::new();
    for (value, facets) in values {
        if facets::passes(filter, &facets)? {
            retained.push((value, facets));
        }
    }
    Ok(retained)
}

fn check_langs(definition: &Definition, langs: &[String]) -> Outcome<()> {
    match langs.is_empty() || definition.lang {
        true => Ok(()),
        false => refuse("a language where there is none"),
    }
}

/// A number, whatever its type.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
