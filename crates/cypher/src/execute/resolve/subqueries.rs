//! Subqueries and patterns that are expressions. They see all variables of the enclosing scope, and
//! their own variables end with them.

use super::resolver::Resolver;
use crate::ast::{Expr, ExprKind, PathPattern, PatternComprehension, SubqueryBody, SubqueryKind};
use crate::execute::plan::{BranchPlan, Operation, QueryPlan, Stage};
use crate::span::Span;
use hexgraph_base::types::Result;
use std::slice;

impl<'a> Resolver<'a> {
    /// Resolves `EXISTS { ... }` and the like.
    pub(super) fn subquery_expression(
        &mut self,
        kind: SubqueryKind,
        body: &'a SubqueryBody,
    ) -> Result<Operation> {
        let plan = match body {
            SubqueryBody::Query(query) => self.query(query, true)?.0,
            SubqueryBody::Patterns(paths, filter) => self.rows_of(paths, filter.as_ref())?,
        };
        Ok(Operation::Subquery { kind, plan: Box::new(plan), own: self.new_slot() })
    }

    /// A plan with a row for each match.
    fn rows_of(&mut self, paths: &'a [PathPattern], filter: Option<&'a Expr>) -> Result<QueryPlan> {
        self.nested(|resolver| {
            let plan = resolver.patterns(paths, filter)?;
            let stages = vec![Stage::Match { plan, optional: false }];
            let branches = vec![BranchPlan { stages, columns: Vec::new() }];
            Ok(QueryPlan { branches, distinct: 0, columns: Vec::new() })
        })
    }

    /// A pattern as a condition.
    pub(super) fn pattern_predicate(&mut self, path: &'a PathPattern) -> Result<Operation> {
        let plan = Box::new(self.rows_of(slice::from_ref(path), None)?);
        Ok(Operation::Subquery { kind: SubqueryKind::Exists, plan, own: self.new_slot() })
    }

    /// The number of matches of a pattern: `size` of a pattern.
    pub(super) fn pattern_count(&mut self, path: &'a PathPattern) -> Result<Operation> {
        let plan = Box::new(self.rows_of(slice::from_ref(path), None)?);
        Ok(Operation::Subquery { kind: SubqueryKind::Count, plan, own: self.new_slot() })
    }

    /// A list with a value for each match.
    pub(super) fn pattern_comprehension(
        &mut self,
        it: &'a PatternComprehension,
    ) -> Result<Operation> {
        self.nested(|resolver| {
            let plan = resolver.patterns(slice::from_ref(&it.path), it.filter.as_ref())?;
            let result = Box::new(resolver.expression(&it.result)?);
            Ok(Operation::Matches { plan: Box::new(plan), result })
        })
    }

    /// The pattern, if the argument of a function is one.
    pub(super) fn pattern_argument(arguments: &'a [Expr]) -> Option<(&'a PathPattern, Span)> {
        match arguments {
            [Expr { kind: ExprKind::Pattern(path), span }] => Some((path, *span)),
            _ => None,
        }
    }
}
