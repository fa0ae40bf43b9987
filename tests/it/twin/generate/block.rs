//! Blocks and whole queries.

use super::generator::{Generator, Kind};
use super::selection::Position;
use crate::twin::piece::{Chunk, list, maybe, text};
use crate::twin::schema::Definition;
use crate::twin::words::one_of;
use hexgraph::types::ValueType;

impl Generator<'_> {
    /// A whole query: some blocks, and others that use the variables that are left.
    pub fn query(&mut self) -> Chunk {
        let mut blocks = Vec::new();
        let count = *one_of(&mut self.rng, &[1, 1, 1, 2, 2, 3]);
        let mut has_path = false;
        for number in 0..count {
            self.block = number;
            self.above.clear();
            blocks.push(match self.rng.u32(..114) {
                104..=106 => self.columns_block(),
                107..=109 => self.flow_block(),
                110..=113 => self.nodes_block(),
                // Variables that are empty.
                100..=103 => self.nobody_block(),
                0..=8 => self.recurse_block(),
                9..=15 if !has_path => {
                    has_path = true;
                    self.shortest_block()
                }
                16..=22 => self.group_block(),
                23..=27 => self.empty_block().unwrap_or_else(|| self.plain_block()),
                _ => self.plain_block(),
            });
        }
        for variable in self.variables.clone() {
            if !self.variables.iter().any(|it| it.name == variable.name && it.used) {
                self.block += 1;
                blocks.push(self.use_block(&variable.name, variable.kind));
            }
        }
        if self.chance(15) {
            self.rng.shuffle(&mut blocks);
        }
        list("{ ", blocks, " ", " }")
    }

    /// `q1(func: ...)`, or `v2 as var(func: ...)`.
    fn head(&mut self, extra: Vec<Chunk>) -> Chunk {
        let hidden = self.chance(20);
        let name = if hidden { "var".to_owned() } else { self.fresh("q") };
        let var = match self.chance(if hidden { 60 } else { 12 }) {
            true => format!("{} as ", self.define(Kind::Nodes)),
            false => String::new(),
        };
        let function = self.function(true);
        let arguments = list(", ", extra, ", ", "");
        let head = vec![text(format!("{var}{name}(func: ")), function, arguments, text(")")];
        Chunk::Row(head)
    }

    fn plain_block(&mut self) -> Chunk {
        let paging = self.paging(true);
        let head = self.head(paging);
        let mut parts = vec![head];
        if self.chance(40) {
            parts.push(maybe(self.filter_directive()));
        }
        if self.chance(14) {
            parts.push(maybe(self.cascade()));
        }
        let mut position = Position { depth: 3, counts: true, ..Position::default() };
        if self.chance(10) {
            self.uses("normalize");
            parts.push(maybe(text(" @normalize")));
            position.normalize = true;
        }
        if self.chance(7) {
            self.uses("ignorereflex");
            parts.push(maybe(text(" @ignorereflex")));
        }
        parts.push(self.selection(position).0);
        Chunk::Row(parts)
    }

    /// A block without nodes, and values of nobody.
    fn nobody_block(&mut self) -> Chunk {
        self.uses("no nodes");
        let name = self.define(Kind::Number);
        let value = *one_of(&mut self.rng, &["math(1 + 1)", "age", "math(1 == 1)"]);
        text(format!("var(func: has(nobody)) {{ {name} as {value} }}"))
    }

    /// A constant that flows down a few edges, one below the other.
    fn flow_block(&mut self) -> Chunk {
        self.uses("constant that flows down");
        let edges = self.edges();
        if edges.is_empty() {
            return self.nobody_block();
        }
        let function = self.function(true);
        let constant = *one_of(&mut self.rng, &["1", "1", "3", "0", "2.5", "5000000000000000000"]);
        let (one, sum) = (self.define(Kind::Number), self.define(Kind::Number));
        self.read(&one);
        let chain = edges.iter().map(|edge| format!("{edge} {{ ")).collect::<String>();
        let end = "} ".repeat(edges.len());
        let body = format!(") {{ {one} as math({constant}) {chain}{sum} as math({one}) {end}}}");
        Chunk::Row(vec![text("var(func: "), function, text(body)])
    }

    /// A few edges, forward and back.
    fn edges(&mut self) -> Vec<String> {
        let mut edges = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let back = self.chance(30);
            edges.extend(
                self.predicate(|it| it.is_edges() && (it.reverse || !back))
                    .map(|it| format!("{}{}", if back { "~" } else { "" }, it.name)),
            );
        }
        edges
    }

    /// A block that does nothing but name the nodes that a few edges lead to, one below the other.
    fn nodes_block(&mut self) -> Chunk {
        self.uses("nodes behind edges");
        let edges = self.edges();
        if edges.is_empty() {
            return self.nobody_block();
        }
        let function = self.function(true);
        let mut parts = vec![text("var(func: "), function, text(")")];
        for edge in &edges {
            let name = self.define(Kind::Nodes);
            parts.push(text(format!(" {{ {name} as {edge}")));
            if self.chance(40) {
                parts.push(maybe(self.filter_directive()));
            }
        }
        parts.push(text(" }".repeat(edges.len())));
        Chunk::Row(parts)
    }

    /// A block that does nothing but name values of its nodes, numbers of edges, and what is
    /// computed from them.
    fn columns_block(&mut self) -> Chunk {
        self.uses("columns");
        let function = self.function(true);
        let mut parts = vec![text("var(func: "), function, text(")")];
        if self.chance(20) {
            parts.push(maybe(self.filter_directive()));
        }
        let mut items = Vec::new();
        let is_number = |it: &Definition| {
            matches!(it.value_type, ValueType::Int | ValueType::Float) && !it.list
        };
        for _ in 0..self.rng.usize(1..4) {
            let field = match self.chance(65) {
                true => self.predicate(is_number).map(|it| it.name.clone()),
                false => self.predicate(Definition::is_edges).map(|it| {
                    let back = if it.reverse { "~" } else { "" };
                    format!("count({back}{})", it.name)
                }),
            };
            if let Some(field) = field {
                items.push(text(format!("{} as {field}", self.define(Kind::Number))));
            }
        }
        for _ in 0..self.rng.usize(..3) {
            if let Some(expr) = self.math(true) {
                items.push(text(format!("{} as math({expr})", self.define(Kind::Number))));
            }
        }
        if items.is_empty() {
            return self.plain_block();
        }
        parts.push(list(" { ", items, " ", " }"));
        Chunk::Row(parts)
    }

    fn recurse_block(&mut self) -> Chunk {
        self.uses("recurse");
        let paging = self.paging(true);
        let head = self.head(paging);
        let mut parts = vec![head];
        if self.chance(30) {
            parts.push(maybe(self.filter_directive()));
        }
        let depth = self.rng.u32(..6);
        parts.push(text(match self.rng.u32(..8) {
            0 => format!(" @recurse(depth: {depth}, loop: true)"),
            1..=3 => " @recurse".to_owned(),
            _ => format!(" @recurse(depth: {depth})"),
        }));
        let mut position = Position { depth: 1, flat: true, ..Position::default() };
        if self.chance(12) {
            parts.push(maybe(self.cascade()));
        }
        if self.chance(12) {
            self.uses("normalize");
            parts.push(maybe(text(" @normalize")));
            position.normalize = true;
        }
        parts.push(self.selection(position).0);
        Chunk::Row(parts)
    }

    fn shortest_block(&mut self) -> Chunk {
        self.uses("shortest");
        let var = self.define(Kind::Nodes);
        let from = self.uid();
        let to = if self.chance(8) { from.clone() } else { self.uid() };
        let mut arguments = vec![text(format!("from: {from}")), text(format!("to: {to}"))];
        if self.chance(50) {
            arguments.push(text(format!("numpaths: {}", self.rng.u32(1..5))));
        }
        if self.chance(25) {
            arguments.push(text(format!("depth: {}", self.rng.u32(..5))));
        }
        if self.chance(20) {
            arguments.push(text(format!("minweight: {}", self.rng.u32(..4))));
            arguments.push(text(format!("maxweight: {}", self.rng.u32(4..30))));
        }
        let mut fields = Vec::new();
        let mut existing = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let Some(definition) = self.predicate(Definition::is_edges) else { break };
            let back = if definition.reverse { "~" } else { "" };
            let name = definition.name.clone();
            let name = if self.chance(35) { format!("{back}{name}") } else { name };
            if existing.contains(&name) {
                continue;
            }
            existing.push(name.clone());
            let mut parts = vec![text(name)];
            if self.chance(70) {
                let facet = *one_of(&mut self.rng, &["w", "w", "w", "w", "n", "a: w"]);
                parts.push(maybe(text(format!(" @facets({facet})"))));
            }
            if self.chance(20) {
                parts.push(maybe(self.filter_directive()));
            }
            fields.push(Chunk::Row(parts));
        }
        Chunk::Row(vec![
            text(format!("{var} as shortest")),
            list("(", arguments, ", ", ")"),
            list(" { ", fields, " ", " }"),
        ])
    }

    fn group_block(&mut self) -> Chunk {
        self.uses("groupby");
        let head = self.head(Vec::new());
        let mut parts = vec![head];
        if self.chance(30) {
            parts.push(maybe(self.filter_directive()));
        }
        let binds = self.chance(25);
        let edge = self.predicate(Definition::is_edges).map(|definition| definition.name.clone());
        match edge {
            Some(name) if binds => {
                parts.push(text(format!(" @groupby({name})")));
                parts.push(self.group_body(true));
            }
            _ => {
                parts.push(self.group_by());
                parts.push(self.group_body(false));
            }
        }
        Chunk::Row(parts)
    }

    fn empty_block(&mut self) -> Option<Chunk> {
        let mut items = Vec::new();
        let mut sums = Vec::new();
        for _ in 0..self.rng.usize(1..4) {
            let name = self.variable(|kind| kind == Kind::Number, false)?;
            let call = self.aggregate_of(true, &format!("val({name})"));
            items.push(text(match self.chance(40) {
                true => {
                    let var = self.define(Kind::Constant);
                    sums.push(var.clone());
                    format!("{var} as {call}")
                }
                false => format!("{}: {call}", self.fresh("g")),
            }));
        }
        if let Some(sum) = sums.first()
            && self.chance(50)
        {
            self.read(sum);
            items.push(text(format!("{}: math({sum} * 2 + 1)", self.fresh("m"))));
        }
        self.uses("empty block");
        Some(Chunk::Row(vec![text(self.fresh("q")), text("()"), list(" { ", items, " ", " }")]))
    }

    /// A block that uses a variable.
    fn use_block(&mut self, name: &str, kind: Kind) -> Chunk {
        self.read(name);
        let block = self.fresh("u");
        text(match kind {
            Kind::Nodes => format!("{block}(func: uid({name})) {{ uid name }}"),
            Kind::Constant => {
                format!("{block}(func: has(name)) {{ uid m: math({name} + 1) }}")
            }
            _ if self.chance(40) => {
                let order = *one_of(&mut self.rng, &["orderasc", "orderdesc"]);
                let first = self.rng.u32(1..5);
                format!(
                    "{block}(func: uid({name}), {order}: val({name}), first: {first}) {{ uid val({name}) }}"
                )
            }
            _ => format!("{block}(func: uid({name})) {{ uid val({name}) }}"),
        })
    }
}
