//! Selections and the fields of values.

use super::generator::{Generator, Kind};
use crate::twin::piece::{Chunk, list, maybe, text};
use crate::twin::schema::Definition;
use crate::twin::words::one_of;
use crate::twin::{data, words};
use hexgraph::types::ValueType;
use std::collections::BTreeSet;

/// Where a selection stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    /// How many levels may be below.
    pub depth: usize,
    /// Only aliased fields show.
    pub normalize: bool,
    /// The one level of `@recurse`.
    pub flat: bool,
    /// `count(uid)` may be asked.
    pub counts: bool,
}

/// A selection in the making.
#[derive(Default)]
pub struct Selection {
    pub items: Vec<Chunk>,
    pub keys: BTreeSet<String>,
    /// Variables of values that are defined here.
    pub values: Vec<(String, Kind)>,
    /// Variables of values one level below.
    pub below: Vec<(String, Kind)>,
}

impl Generator<'_> {
    /// `{ ... }`, and the variables of values that are defined in it.
    pub fn selection(&mut self, position: Position) -> (Chunk, Vec<(String, Kind)>) {
        let mut selection = Selection::default();
        if position.depth != 0 && !position.normalize && self.chance(6) {
            self.expand(position, &mut selection);
            return (list(" { ", selection.items, " ", " }"), Vec::new());
        }
        for _ in 0..self.rng.usize(1..6) {
            self.item(position, &mut selection);
        }
        if selection.items.is_empty() {
            selection.items.push(text("uid"));
        }
        if !position.flat {
            self.computed_fields(&mut selection);
        }
        (list(" { ", selection.items, " ", " }"), selection.values)
    }

    fn item(&mut self, position: Position, selection: &mut Selection) {
        match self.rng.u32(..20) {
            0..=2 => self.uid_field(position, selection),
            3..=9 => self.scalar(position, selection),
            10..=11 => self.count_field(position, selection),
            12 if position.counts && !position.normalize && !position.flat => {
                self.count_uid(selection)
            }
            13 => self.val_field(selection),
            14 if self.chance(12) => self.wrong_field(selection),
            _ if position.depth != 0 || position.flat => self.edge(position, selection),
            _ => self.scalar(position, selection),
        }
    }

    /// An alias, mostly where only aliased fields show.
    pub fn alias(&mut self, position: Position) -> Option<String> {
        let often = if position.normalize { 80 } else { 15 };
        self.chance(often).then(|| {
            self.uses("alias");
            // Few names, so that levels under @normalize share some.
            match position.normalize && self.chance(30) {
                true => (*one_of(&mut self.rng, &["a", "b"])).to_owned(),
                false => self.fresh("a"),
            }
        })
    }

    /// Takes a key; false when it is taken.
    pub fn take_key(&mut self, selection: &mut Selection, key: &str) -> bool {
        selection.keys.insert(key.to_owned())
    }

    fn uid_field(&mut self, position: Position, selection: &mut Selection) {
        let alias = self.alias(position);
        if !self.take_key(selection, alias.as_deref().unwrap_or("uid")) {
            return;
        }
        let var = if self.chance(8) { Some(self.define(Kind::Nodes)) } else { None };
        selection.items.push(text(prefix(&var, &alias) + "uid"));
    }

    fn scalar(&mut self, position: Position, selection: &mut Selection) {
        let Some(definition) = self.predicate(|it| !it.is_edges()) else { return };
        let definition = definition.clone();
        let alias = self.alias(position);
        let langs = self.langs(&definition);
        let star = langs == "@*";
        let key = format!("{}{langs}", definition.name);
        let key = alias.clone().unwrap_or(if star { definition.name.clone() } else { key });
        if !self.take_key(selection, &key) {
            return;
        }
        let var = match definition.list || star || !self.chance(22) {
            true => None,
            false => {
                self.uses("value variable");
                let kind = kind_of(definition.value_type);
                let name = self.define(kind);
                selection.values.push((name.clone(), kind));
                Some(name)
            }
        };
        let head = format!("{}{}{langs}", prefix(&var, &alias), definition.name);
        let mut parts = vec![text(head)];
        // Facets of lists are not shown under @normalize yet.
        let shows_facets = !position.normalize || !definition.list;
        if star && self.chance(30) {
            parts.push(maybe(self.facets_of_languages()));
        } else if shows_facets && self.chance(15) {
            let (facets, values) = self.facets(false);
            parts.push(maybe(facets));
            selection.values.extend(values);
        }
        if self.chance(if star { 15 } else { 6 }) {
            parts.push(maybe(self.facet_filter()));
        }
        if langs.is_empty() && self.chance(4) {
            self.uses("page of values");
            parts.push(maybe(list(" (", self.paging(false), ", ", ")")));
        }
        selection.items.push(Chunk::Row(parts));
    }

    fn langs(&mut self, definition: &Definition) -> String {
        if !definition.lang || !self.chance(50) {
            return String::new();
        }
        self.uses("languages of a field");
        let langs = ["@en", "@de", "@en:fr", "@fr:de:.", "@.", "@*", "@it"];
        (*one_of(&mut self.rng, &langs)).to_owned()
    }

    fn count_field(&mut self, position: Position, selection: &mut Selection) {
        let Some(definition) = self.predicate(|it| it.name != "dgraph.type") else { return };
        let definition = definition.clone();
        let back = if definition.reverse && self.chance(40) { "~" } else { "" };
        let alias = self.alias(position);
        // Counts in several languages have one key.
        let lang = if definition.lang && alias.is_none() && self.chance(40) { "@en" } else { "" };
        let name = format!("count({back}{}{lang})", definition.name);
        if !self.take_key(selection, alias.as_deref().unwrap_or(&name)) {
            return;
        }
        self.uses("count");
        let var = (!position.flat && self.chance(20)).then(|| self.define(Kind::Number));
        selection.values.extend(var.iter().map(|name| (name.clone(), Kind::Number)));
        let mut parts = vec![text(prefix(&var, &alias) + &name)];
        if definition.is_edges() && self.chance(25) {
            let filter =
                if self.chance(70) { self.filter_directive() } else { self.facet_filter() };
            let mut more = vec![filter];
            if self.chance(30) {
                more.push(list(" (", self.paging(false), ", ", ")"));
            }
            parts.push(maybe(Chunk::Row(more)));
        }
        selection.items.push(Chunk::Row(parts));
    }

    fn count_uid(&mut self, selection: &mut Selection) {
        if self.take_key(selection, "count") {
            self.uses("count(uid)");
            let var = (self.chance(20)).then(|| self.define(Kind::Constant));
            selection.items.push(text(prefix(&var, &None) + "count(uid)"));
        }
    }

    fn val_field(&mut self, selection: &mut Selection) {
        let Some(name) = self.variable(|kind| kind != Kind::Constant, true) else { return };
        if self.take_key(selection, &format!("val({name})")) {
            self.uses("val");
            selection.items.push(text(format!("val({name})")));
        }
    }

    /// What is refused or shows nothing.
    fn wrong_field(&mut self, selection: &mut Selection) {
        let edge = self.predicate(Definition::is_edges).map_or("friend", |it| &it.name).to_owned();
        let wrong = match self.rng.u32(..7) {
            0 => "nobody".to_owned(),
            1 => format!("~{edge} {{ uid }}"),
            2 => "age@en".to_owned(),
            3 => "alive { uid }".to_owned(),
            4 => edge,
            5 => "count(nobody)".to_owned(),
            _ => "~nobody { uid }".to_owned(),
        };
        if self.take_key(selection, wrong.split(' ').next().unwrap()) {
            self.uses("wrong");
            selection.items.push(text(wrong));
        }
    }

    fn expand(&mut self, position: Position, selection: &mut Selection) {
        self.uses("expand");
        let what = *one_of(&mut self.rng, &["_all_", "_all_", "Person", "Thing, Back", "None"]);
        let mut parts = vec![text(format!("expand({what})"))];
        if self.chance(15) {
            let kind = *one_of(&mut self.rng, &["Person", "Thing"]);
            parts.push(maybe(text(format!(" @filter(type({kind}))"))));
        }
        if self.chance(75) && !position.flat {
            let below = Position { depth: position.depth - 1, counts: false, ..position };
            let variables = self.variables.len();
            let (body, _) = self.selection(below);
            // Each of the fields would define a variable again.
            match self.variables.len() == variables {
                true => parts.push(maybe(body)),
                false => self.variables.truncate(variables),
            }
        }
        selection.items.push(text("uid"));
        selection.items.push(Chunk::Row(parts));
    }

    /// `@facets...` that shows, orders or binds, and the variables that it defines.
    pub fn facets(&mut self, edges: bool) -> (Chunk, Vec<(String, Kind)>) {
        self.uses("facets");
        if self.chance(35) {
            return (text(" @facets"), Vec::new());
        }
        let mut existing = Vec::new();
        let mut items = Vec::new();
        let mut values = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let (name, value_type) = data::facet(&mut self.rng);
            if existing.contains(&name) {
                continue;
            }
            existing.push(name);
            let kind = kind_of(value_type);
            items.push(text(match self.rng.u32(..10) {
                0..=1 => {
                    self.uses("facet alias");
                    format!("{}: {name}", self.fresh("f"))
                }
                2..=3 if edges => {
                    self.uses("order by facet");
                    format!("{}: {name}", one_of(&mut self.rng, &["orderasc", "orderdesc"]))
                }
                4..=5 if kind == Kind::Number || self.chance(20) => {
                    self.uses("facet variable");
                    let var = self.define(kind);
                    values.push((var.clone(), kind));
                    format!("{var} as {name}")
                }
                _ => name.to_owned(),
            }));
        }
        (list(" @facets(", items, ", ", ")"), values)
    }

    /// The facets of values in all languages, where an alias stands for those of all.
    fn facets_of_languages(&mut self) -> Chunk {
        self.uses("facets of all languages");
        let (name, _) = data::facet(&mut self.rng);
        text(match self.rng.u32(..3) {
            0 => " @facets".to_owned(),
            1 => format!(" @facets({name})"),
            _ => format!(" @facets({}: {name})", self.fresh("f")),
        })
    }

    /// `@facets(filter)`.
    pub fn facet_filter(&mut self) -> Chunk {
        self.uses("facet filter");
        let mut parts = Vec::new();
        for _ in 0..if self.chance(30) { 2 } else { 1 } {
            let (name, value_type) = data::facet(&mut self.rng);
            let value = super::generator::quoted(&words::literal(&mut self.rng, value_type));
            let op = *one_of(&mut self.rng, &["eq", "le", "lt", "ge", "gt"]);
            let call = match value_type == ValueType::String && self.chance(50) {
                true => format!(
                    "{}({name}, {value})",
                    one_of(&mut self.rng, &["anyofterms", "allofterms"])
                ),
                false => format!("{op}({name}, {value})"),
            };
            parts.push(text(if self.chance(25) { format!("not {call}") } else { call }));
        }
        let separator = if self.chance(50) { " and " } else { " or " };
        list(" @facets(", parts, separator, ")")
    }
}

/// `x as ` and `alias: ` before a field.
pub fn prefix(var: &Option<String>, alias: &Option<String>) -> String {
    let var = var.as_ref().map_or(String::new(), |var| format!("{var} as "));
    let alias = alias.as_ref().map_or(String::new(), |alias| format!("{alias}: "));
    alias + &var
}

/// What a variable of values of a type holds.
pub fn kind_of(value_type: ValueType) -> Kind {
    match value_type {
        ValueType::Int | ValueType::Float => Kind::Number,
        ValueType::DateTime => Kind::Time,
        ValueType::Bool => Kind::Bool,
        _ => Kind::Text,
    }
}
