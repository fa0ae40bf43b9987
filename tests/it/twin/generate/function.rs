//! Functions and filters.

use super::generator::{Generator, Kind, quoted};
use crate::twin::piece::{Chunk, list, text};
use crate::twin::schema::Definition;
use crate::twin::words;
use crate::twin::words::one_of;
use hexgraph::types::ValueType;

const COMPARISONS: &[&str] = &["eq", "le", "lt", "ge", "gt"];

impl Generator<'_> {
    /// A condition of `@filter(...)`, without the brackets.
    pub fn filter(&mut self, depth: usize) -> Chunk {
        if depth == 0 || self.chance(55) {
            return self.function(false);
        }
        match self.rng.u32(..3) {
            0 => {
                self.uses("not");
                Chunk::Row(vec![text("not ("), self.filter(depth - 1), text(")")])
            }
            which => {
                let count = self.rng.usize(2..4);
                let parts = (0..count).map(|_| self.filter(depth - 1)).collect();
                self.uses("and, or");
                list("(", parts, if which == 1 { " and " } else { " or " }, ")")
            }
        }
    }

    /// `@filter(...)`.
    pub fn filter_directive(&mut self) -> Chunk {
        self.uses("filter");
        Chunk::Row(vec![text(" @filter("), self.filter(2), text(")")])
    }

    /// A function; at the root it needs an index.
    pub fn function(&mut self, root: bool) -> Chunk {
        if self.chance(2) {
            return self.wrong_function(root);
        }
        for _ in 0..20 {
            let result = match self.rng.u32(..22) {
                0..=3 => self.compare(root),
                4 => self.between(root),
                5..=6 => self.compare_count(root),
                7..=8 => self.terms(),
                9 => self.regexp(root),
                10 => self.match_text(),
                11..=13 => self.has(),
                14 => self.is_type(),
                15..=16 => self.uid_list(root),
                17 => self.uid_in(root),
                18 => self.compare_variable(),
                19 => self.by_variable(root),
                20 => self.compare_length(root),
                _ => None,
            };
            if let Some(result) = result {
                return text(result);
            }
        }
        text("has(name)")
    }

    fn comparable(&mut self, root: bool, op: &str) -> Option<&Definition> {
        let eq = op == "eq";
        // Where an order begins by the filter is found by chance too seldom.
        if !root
            && self.chance(25)
            && let Some(name) = self.ordered_by.clone()
        {
            self.uses("a filter by what was ordered");
            return self.predicate(|it| it.name == name);
        }
        self.predicate(|it| {
            !it.is_edges() && (!root || if eq { it.finds_values() } else { it.is_sortable() })
        })
    }

    fn compare(&mut self, root: bool) -> Option<String> {
        let op = *one_of(&mut self.rng, COMPARISONS);
        let definition = self.comparable(root, op)?.clone();
        self.uses(if op == "eq" { "eq" } else { "inequality" });
        let lang = self.lang(&definition);
        let count = if op == "eq" && self.chance(30) { self.rng.usize(2..4) } else { 1 };
        let values: Vec<String> = (0..count).map(|_| self.value(&definition)).collect();
        if op == "eq" && self.chance(10) {
            let name = self.list_variable(&definition, values);
            return Some(format!("eq({}{lang}, {name})", definition.name));
        }
        let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        let list = values.join(", ");
        let list = if 1 < count && self.chance(50) { format!("[{list}]") } else { list };
        Some(format!("{op}({}{lang}, {list})", definition.name))
    }

    /// The name of a new `$` variable that holds a list.
    fn list_variable(&mut self, definition: &Definition, values: Vec<String>) -> String {
        self.uses("a list as the value of a variable");
        // No name is the start of another.
        let name = format!("${}_", self.fresh("l"));
        let kind = match definition.value_type {
            ValueType::Int => "int",
            ValueType::Float => "float",
            ValueType::Bool => "bool",
            _ => "string",
        };
        self.lists.insert(name.clone(), (kind, values));
        name
    }

    fn between(&mut self, root: bool) -> Option<String> {
        let definition = self.comparable(root, "between")?.clone();
        self.uses("between");
        let lang = self.lang(&definition);
        let low = quoted(&self.value(&definition));
        let high = quoted(&self.value(&definition));
        Some(format!("between({}{lang}, {low}, {high})", definition.name))
    }

    fn compare_count(&mut self, root: bool) -> Option<String> {
        let definition =
            self.predicate(|it| if root { it.count } else { it.name != "dgraph.type" })?;
        let back = if definition.reverse && self.chance(40) { "~" } else { "" };
        self.uses("count compared");
        let name = &definition.name;
        let op = *one_of(&mut self.rng, COMPARISONS);
        let least = match (root, op) {
            (false, _) => 0,
            (true, "lt") => 2,
            (true, "gt") => 0,
            (true, _) => 1,
        };
        let number = self.rng.i32(least..6);
        if self.chance(15) {
            return Some(format!(
                "between(count({back}{name}), {}, {})",
                number.max(1),
                number + 2
            ));
        }
        Some(format!("{op}(count({back}{name}), {number})"))
    }

    fn terms(&mut self) -> Option<String> {
        let (function, index) = *one_of(
            &mut self.rng,
            &[
                ("anyofterms", "term"),
                ("allofterms", "term"),
                ("anyoftext", "fulltext"),
                ("alloftext", "fulltext"),
                ("ngram", "ngram"),
            ],
        );
        let definition = self.predicate(|it| it.has_index(index))?.clone();
        self.uses(function);
        let lang = self.lang(&definition);
        let words = match self.chance(50) {
            true => self.value(&definition),
            false => words::phrase(&mut self.rng),
        };
        Some(format!("{function}({}{lang}, {})", definition.name, quoted(&words)))
    }

    fn regexp(&mut self, root: bool) -> Option<String> {
        let definition = self.predicate(|it| match root {
            true => it.has_index("trigram"),
            false => matches!(it.value_type, ValueType::String | ValueType::Default),
        })?;
        self.uses("regexp");
        let definition = definition.clone();
        let lang = self.lang(&definition);
        Some(format!("regexp({}{lang}, {})", definition.name, words::pattern(&mut self.rng)))
    }

    fn match_text(&mut self) -> Option<String> {
        let definition = self.predicate(|it| it.has_index("trigram"))?.clone();
        self.uses("match");
        let lang = self.lang(&definition);
        let mut words = self.value(&definition);
        if self.chance(60) {
            words.pop();
        }
        let distance = self.rng.u32(..6);
        Some(format!("match({}{lang}, {}, {distance})", definition.name, quoted(&words)))
    }

    fn has(&mut self) -> Option<String> {
        let definition = self.predicate(|_| true)?.clone();
        self.uses("has");
        let back = if definition.reverse && self.chance(40) { "~" } else { "" };
        let lang = match definition.lang && self.chance(30) {
            true => "@.".to_owned(),
            false => self.lang(&definition),
        };
        Some(format!("has({back}{}{lang})", definition.name))
    }

    fn is_type(&mut self) -> Option<String> {
        self.uses("type");
        Some(format!(
            "type({})",
            one_of(&mut self.rng, &["Person", "Thing", "Back", "Ghost", "None"])
        ))
    }

    fn uid_list(&mut self, root: bool) -> Option<String> {
        self.uses("uid");
        if self.chance(60) {
            let above = (!root && !self.above.is_empty() && self.chance(40))
                .then(|| one_of(&mut self.rng, &self.above).clone());
            let name = match above {
                Some(name) => {
                    self.read(&name);
                    Some(name)
                }
                None => self.variable(|kind| kind != Kind::Constant, false),
            };
            if let Some(name) = name {
                let more = self.variable(|kind| kind == Kind::Nodes, false);
                let more = more.filter(|_| self.rng.u32(..4) == 0).filter(|more| *more != name);
                return Some(match more {
                    Some(more) => format!("uid({name}, {more})"),
                    None if self.chance(5) => format!("uid({name}, {})", self.uid()),
                    None => format!("uid({name})"),
                });
            }
        }
        let mut uids: Vec<String> = (0..self.rng.usize(1..6)).map(|_| self.uid()).collect();
        match self.rng.u32(..20) {
            0 => {}
            1 => uids.extend(uids.clone()),
            _ => {
                uids.sort();
                uids.dedup();
            }
        }
        Some(format!("uid({})", uids.join(", ")))
    }

    fn uid_in(&mut self, root: bool) -> Option<String> {
        if root {
            return None;
        }
        let definition = self.predicate(Definition::is_edges)?.clone();
        self.uses("uid_in");
        let back = if definition.reverse && self.chance(40) { "~" } else { "" };
        let expected = match self.variable(|kind| kind == Kind::Nodes, false) {
            Some(name) if self.chance(50) => format!("uid({name})"),
            _ if self.chance(50) => self.uid(),
            _ => format!("[{}, {}]", self.uid(), self.uid()),
        };
        Some(format!("uid_in({back}{}, {expected})", definition.name))
    }

    fn compare_variable(&mut self) -> Option<String> {
        let name = self.variable(|kind| matches!(kind, Kind::Number), false)?;
        self.uses("val compared");
        let op = *one_of(&mut self.rng, COMPARISONS);
        Some(format!("{op}(val({name}), {})", self.rng.i32(-3..12)))
    }

    fn by_variable(&mut self, root: bool) -> Option<String> {
        let name = self.variable(|kind| kind == Kind::Text, false)?;
        let definition = self
            .predicate(|it| it.value_type == ValueType::String && (!root || it.finds_values()))?;
        let call = format!("eq({}, val({name}))", definition.name);
        self.uses("eq by val");
        Some(call)
    }

    fn compare_length(&mut self, root: bool) -> Option<String> {
        if root {
            return None;
        }
        let name = self.variable(|kind| kind == Kind::Nodes, false)?;
        self.uses("len");
        let op = *one_of(&mut self.rng, COMPARISONS);
        Some(format!("{op}(len({name}), {})", self.rng.u32(..6)))
    }

    /// What must be refused, or find nothing.
    fn wrong_function(&mut self, root: bool) -> Chunk {
        self.uses("wrong");
        let edge = self.predicate(Definition::is_edges).map_or("friend", |it| &it.name).to_owned();
        let bare = self.predicate(|it| it.indexes.is_empty() && !it.is_edges());
        let bare = bare.map_or("plain", |it| &it.name).to_owned();
        text(match self.rng.u32(..14) {
            0 => "eq(age, \"ten\")".to_owned(),
            1 => format!("eq({edge}, 1)"),
            2 => format!("le({bare}, 3)"),
            3 => format!("anyofterms({bare}, \"fox\")"),
            4 => "eq(age@en, 3)".to_owned(),
            5 => "has(~nobody)".to_owned(),
            6 => "eq(nobody, 3)".to_owned(),
            7 => format!("has(~{edge})"),
            8 => "regexp(name, /a/)".to_owned(),
            9 => "match(plain, \"fox\", 2)".to_owned(),
            10 => format!("eq(count({edge}), 0)"),
            11 => "uid_in(age, 0x1)".to_owned(),
            12 => "eq(count(nobody), 0)".to_owned(),
            _ if root => format!("uid_in({edge}, 0x1)"),
            _ => "gt(alive, false)".to_owned(),
        })
    }
}
