//! The nodes that a block starts from.

use super::functions::{Condition, is_text};
use super::order::cut;
use super::state::{Outcome, Twin, Var, refuse};
use hexgraph::internals::plan::{
    Block, Call, Comparison, Function, Operand, Page, PredicateRef, TextTest,
};
use hexgraph::internals::text;
use hexgraph::types::{Value, ValueType};
use std::collections::BTreeSet;

impl Twin<'_> {
    /// The nodes of a block in the order of the answer; not paged yet where `@cascade` comes
    /// first.
    pub fn roots(&self, block: &Block) -> Outcome<Vec<u64>> {
        let Some(function) = &block.root else { return Ok(Vec::new()) };
        let page = if block.cascade.is_some() { Page::default() } else { block.page };
        self.check_order(&block.order, page)?;
        let set = self.root(function)?;
        let passed = self.filter_if(block.filter.as_ref(), set.clone())?;
        let mut nodes: Vec<u64> = match self.listed(function) {
            Some(list) if block.order.is_empty() => list,
            _ => set.into_iter().collect(),
        };
        nodes.retain(|node| passed.contains(node) && block.page.after < *node);
        let is_literal = matches!(&function.call, Call::Uid { vars, .. } if vars.is_empty());
        let is_paged = block.page.first != 0 || 0 < block.page.offset;
        if is_literal && (block.filter.is_some() || block.cascade.is_some() && is_paged) {
            nodes.dedup();
        }
        match block.order.is_empty() {
            true => Ok(cut(&nodes, page)),
            false => self.sort(&block.order, nodes, page, true),
        }
    }

    /// The uids of `uid(...)` as a list: literals as often as they are written, a path in its
    /// order.
    fn listed(&self, function: &Function) -> Option<Vec<u64>> {
        let Call::Uid { uids, vars } = &function.call else { return None };
        match vars.as_slice() {
            [] => {
                let mut uids = uids.clone();
                uids.sort_unstable();
                Some(uids)
            }
            [var] => match self.vars.get(var) {
                Some(Var::Nodes(_, path)) => path.clone(),
                _ => None,
            },
            _ => None,
        }
    }

    fn root(&self, function: &Function) -> Outcome<BTreeSet<u64>> {
        match &function.call {
            Call::Uid { uids, vars } => return Ok(self.uid_nodes(uids, vars)),
            Call::UidIn { .. } => return refuse("uid_in at the root"),
            Call::Compare { left: Operand::Val(var), .. } => {
                let map = self.values_of(*var)?;
                // An argument of a wrong type finds nothing here.
                let Ok(test) = self.test(function) else { return Ok(BTreeSet::new()) };
                return Ok(map.of.keys().copied().filter(|node| test(*node)).collect());
            }
            Call::Compare { left: Operand::Len(_), .. } => return refuse("len at the root"),
            Call::Compare { op, left: Operand::Count(name), arguments } => {
                let condition = self.condition(*op, arguments, ValueType::Int)?;
                return self.root_count(name, Some(*op), &condition);
            }
            Call::Between { left: Operand::Count(name), low, high } => {
                let condition = self.between(low, high, ValueType::Int)?;
                return self.root_count(name, None, &condition);
            }
            Call::Compare { op, left: Operand::Predicate(name), .. } => {
                self.check_index(name, *op == Comparison::Eq)?;
            }
            Call::Between { left: Operand::Predicate(name), .. } => {
                self.check_index(name, false)?
            }
            Call::Text { predicate, test: TextTest::Regexp { pattern, flags } } => {
                self.check_regexp(predicate, pattern, flags)?;
            }
            _ => {}
        }
        let test = self.test(function)?;
        Ok(self.graph.nodes().into_iter().filter(|node| test(*node)).collect())
    }

    fn check_index(&self, name: &PredicateRef, is_equality: bool) -> Outcome<()> {
        if !self.existing(name)? {
            return Ok(());
        }
        let definition = &self.graph.schema.predicates[&name.name];
        match if is_equality { definition.finds_values() } else { definition.is_sortable() } {
            true => Ok(()),
            false => refuse("no index for a comparison"),
        }
    }

    /// Nodes without any are not tracked: what could find them is refused.
    fn root_count(
        &self,
        name: &PredicateRef,
        op: Option<Comparison>,
        condition: &Condition,
    ) -> Outcome<BTreeSet<u64>> {
        let least = match op {
            Some(Comparison::Lt) => 2,
            Some(Comparison::Gt) => 0,
            _ => 1,
        };
        let is_less = |value: &Value| matches!(value, Value::Int(number) if *number < least);
        if condition.arguments.iter().any(is_less) {
            return refuse("counts of zero at the root");
        }
        if !self.existing(name)? {
            return Ok(BTreeSet::new());
        }
        if !self.graph.schema.predicates[&name.name].count {
            return refuse("no @count");
        }
        let passes = |node: &u64| {
            let count = self.postings(*node, name);
            count != 0 && condition.holds(&Value::Int(count))
        };
        Ok(self.graph.nodes().into_iter().filter(passes).collect())
    }

    fn check_regexp(&self, name: &PredicateRef, pattern: &str, flags: &str) -> Outcome<()> {
        if !self.existing(name)? {
            return Ok(());
        }
        let definition = &self.graph.schema.predicates[&name.name];
        if !is_text(definition.value_type) || !definition.has_index("trigram") {
            return refuse("no trigram index");
        }
        match text::trigram_query(pattern, flags) {
            Ok(text::TrigramQuery::Any) | Err(_) => refuse("too wide a pattern"),
            Ok(_) => Ok(()),
        }
    }
}
