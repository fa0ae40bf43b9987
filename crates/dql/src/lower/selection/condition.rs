//! Lowers filters.

use crate::lower::request::Lowering;
use crate::syntax::ast::Condition;
use hexgraph_base::plan::Filter;
use hexgraph_base::types::{Result, stack};

impl<'a> Lowering<'a> {
    /// Lowers a filter on nodes.
    pub(in crate::lower) fn filter(&mut self, condition: &'a Condition) -> Result<Filter> {
        stack::check()?;
        Ok(match condition {
            Condition::And(list) => Filter::And(self.filters(list)?),
            Condition::Or(list) => Filter::Or(self.filters(list)?),
            Condition::Not(inner) => Filter::Not(Box::new(self.filter(inner)?)),
            Condition::Call(call) => Filter::Function(Box::new(self.filter_call(call)?)),
        })
    }

    fn filters(&mut self, list: &'a [Condition]) -> Result<Vec<Filter>> {
        list.iter().map(|condition| self.filter(condition)).collect()
    }
}
