//! Orders and pages.

use super::generator::{Generator, Kind};
use crate::twin::piece::{Chunk, text};
use crate::twin::schema::Definition;

impl Generator<'_> {
    /// Arguments of a block or an edge: `orderasc: ..`, `first: ..` and so on.
    pub fn paging(&mut self, mut orders: bool) -> Vec<Chunk> {
        let mut arguments = Vec::new();
        let mut by_predicate = false;
        orders &= self.chance(35);
        if orders {
            let keys = self.order();
            by_predicate = keys.iter().any(|key| !key.contains("val("));
            arguments.extend(keys.into_iter().map(text));
        }
        if self.chance(40) {
            let backwards = self.chance(if by_predicate { 4 } else { 20 });
            let first = if backwards { -self.rng.i32(1..4) } else { self.rng.i32(0..6) };
            self.uses(if first < 0 { "negative first" } else { "first" });
            arguments.push(text(format!("first: {first}")));
        }
        if self.chance(20) {
            self.uses("offset");
            arguments.push(text(format!("offset: {}", self.rng.i32(-1..5))));
        }
        if self.chance(20) {
            self.uses("after");
            let uid = self.uid();
            arguments.push(text(format!("after: {uid}")));
        }
        arguments
    }

    fn order(&mut self) -> Vec<String> {
        let direction = |generator: &mut Self| match generator.chance(50) {
            true => "orderasc",
            false => "orderdesc",
        };
        if self.chance(25)
            && let Some(name) =
                self.variable(|kind| matches!(kind, Kind::Number | Kind::Text | Kind::Time), false)
        {
            self.uses("order by val");
            return vec![format!("{}: val({name})", direction(self))];
        }
        if self.chance(2) {
            self.uses("wrong");
            let wrong = self.predicate(|it| it.list || !it.is_ordered());
            let wrong = wrong.map_or("nobody", |it| &it.name);
            return vec![format!("orderasc: {wrong}")];
        }
        let mut keys: Vec<String> = Vec::new();
        let mut existing: Vec<String> = Vec::new();
        let count = if self.chance(30) { self.rng.usize(2..4) } else { 1 };
        self.uses(if count == 1 { "order" } else { "order by several" });
        for _ in 0..count {
            let Some(definition) = self.predicate(Definition::is_ordered) else { break };
            if existing.contains(&definition.name) {
                continue;
            }
            existing.push(definition.name.clone());
            let definition = definition.clone();
            let lang = self.lang(&definition).replace('.', "en");
            keys.push(format!("{}: {}{lang}", direction(self), definition.name));
        }
        self.ordered_by = existing.first().cloned();
        keys
    }
}
