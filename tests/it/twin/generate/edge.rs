//! Fields of edges.

use super::generator::{Generator, Kind};
use super::selection::{Position, Selection, prefix};
use crate::twin::piece::{Chunk, list, maybe, text};
use crate::twin::schema::Definition;
use hexgraph::types::ValueType;

impl Generator<'_> {
    /// Adds an edge with what is below.
    pub fn edge(&mut self, position: Position, selection: &mut Selection) {
        let Some(definition) = self.predicate(Definition::is_edges) else { return };
        let definition = definition.clone();
        let back = if definition.reverse && self.chance(40) { "~" } else { "" };
        let alias = if self.chance(12) { Some(self.fresh("e")) } else { None };
        let name = format!("{back}{}", definition.name);
        if !self.take_key(selection, alias.as_deref().unwrap_or(&name)) {
            return;
        }
        self.uses(if back.is_empty() { "edge" } else { "reverse edge" });
        let var = (self.chance(15)).then(|| self.define(Kind::Nodes));
        let mut parts = vec![text(prefix(&var, &alias) + &name)];
        let mut bound = Vec::new();
        let mut by_facets = false;
        if self.chance(30) {
            let (facets, values) = self.facets(true);
            by_facets = facets.to_string().contains("order");
            bound = if position.flat { Vec::new() } else { values };
            parts.push(maybe(facets));
        }
        if self.chance(12) {
            parts.push(maybe(self.facet_filter()));
        }
        parts.push(maybe(list(" (", self.paging(!by_facets), ", ", ")")));
        // A level's own variable may be used below.
        self.above.extend(var.clone());
        if self.chance(28) {
            parts.push(maybe(self.filter_directive()));
        }
        if position.flat {
            selection.items.push(Chunk::Row(parts));
        } else {
            let single = !definition.list && back.is_empty();
            self.body(position, single, parts, &mut bound, selection);
        }
        if var.is_some() {
            self.above.pop();
        }
        selection.below.extend(bound);
    }

    fn body(
        &mut self,
        position: Position,
        single: bool,
        mut parts: Vec<Chunk>,
        bound: &mut Vec<(String, Kind)>,
        selection: &mut Selection,
    ) {
        let binds = parts.iter().any(|part| part.to_string().contains(" as "));
        if !position.normalize && !binds && self.chance(7) {
            self.uses("groupby of an edge");
            let edge = self.predicate(Definition::is_edges).map(|it| it.name.clone());
            match edge {
                Some(name) if self.chance(20) => {
                    parts.push(text(format!(" @groupby({name})")));
                    parts.push(self.group_body(true));
                }
                _ => {
                    parts.push(self.group_by());
                    parts.push(self.group_body(false));
                }
            }
            selection.items.push(Chunk::Row(parts));
            return;
        }
        let mut below = Position { depth: position.depth - 1, counts: !single, ..position };
        if self.chance(7) {
            parts.push(maybe(self.cascade()));
        }
        if self.chance(4) && !position.normalize {
            self.uses("normalize of an edge");
            parts.push(maybe(text(" @normalize")));
            below.normalize = true;
            below.counts = false;
        }
        let (body, values) = self.selection(below);
        bound.extend(values);
        parts.push(body);
        selection.items.push(Chunk::Row(parts));
    }

    /// `@cascade`, with fields or without.
    pub fn cascade(&mut self) -> Chunk {
        if self.chance(60) {
            self.uses("cascade");
            return text(" @cascade");
        }
        self.uses("cascade of fields");
        let count = self.rng.usize(1..4);
        let mut names = Vec::new();
        for _ in 0..count {
            let Some(definition) = self.predicate(|_| true) else { break };
            let back = definition.reverse;
            let name = definition.name.clone();
            names.push(text(if back && self.chance(30) { format!("~{name}") } else { name }));
        }
        list(" @cascade(", names, ", ", ")")
    }

    /// `@groupby(...)`.
    pub fn group_by(&mut self) -> Chunk {
        let mut keys = Vec::new();
        let mut existing = Vec::new();
        for _ in 0..if self.chance(30) { 2 } else { 1 } {
            let fits = |it: &Definition| it.is_edges() || it.is_ordered();
            let Some(definition) = self.predicate(fits) else { break };
            let definition = definition.clone();
            if existing.contains(&definition.name) {
                continue;
            }
            existing.push(definition.name.clone());
            let lang = self.lang(&definition);
            let back = if definition.reverse && self.chance(30) { "~" } else { "" };
            let alias = if self.chance(20) { self.fresh("k") + ": " } else { String::new() };
            keys.push(text(format!("{alias}{back}{}{lang}", definition.name)));
        }
        list(" @groupby(", keys, ", ", ")")
    }

    /// The body of a group; with variables where the groups are by nodes.
    pub fn group_body(&mut self, binds: bool) -> Chunk {
        let mut items = vec![text("count(uid)")];
        if binds {
            let name = self.define(Kind::Number);
            items = vec![text(format!("{name} as count(uid)"))];
        }
        let mut existing = Vec::new();
        for _ in 0..self.rng.usize(..3) {
            let counts = self.chance(20);
            let is_allowed = |it: &Definition| match counts {
                true => it.value_type != ValueType::Password,
                false => it.is_ordered(),
            };
            let Some(definition) = self.predicate(is_allowed) else { break };
            let definition = definition.clone();
            let numeric = super::selection::kind_of(definition.value_type) == Kind::Number;
            let of = definition.name.clone() + &self.lang(&definition);
            let item = match counts {
                true => format!("count(distinct {of})"),
                false => self.aggregate_of(numeric, &of),
            };
            if !existing.contains(&item) {
                existing.push(item.clone());
                let alias = if self.chance(20) { self.fresh("g") + ": " } else { String::new() };
                items.push(text(alias + &item));
            }
        }
        list(" { ", items, " ", " }")
    }
}
