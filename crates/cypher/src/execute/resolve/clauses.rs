//! Clauses become stages.

use super::resolver::{Resolver, Shape};
use crate::ast::{Clause, ClauseKind, Expr, Imports, Query, SingleQuery};
use crate::execute::plan::{BranchPlan, MatchPlan, QueryPlan, SlotIndex, Stage};
use hexgraph_base::types::Result;
use std::mem;

impl<'a> Resolver<'a> {
    /// Resolves the query of a text.
    pub(in crate::execute) fn statement(&mut self, query: &'a Query) -> Result<(QueryPlan, Shape)> {
        let (mut plan, columns) = self.query(query, true)?;
        for branch in &mut plan.branches {
            self.join_rows(branch)?;
        }
        Ok((plan, Shape { width: self.width(), columns }))
    }

    /// Resolves a query. Its branches see the names that are visible now; these are the same
    /// afterwards. Without `sees_all` only a `WITH` at the beginning of a branch sees them.
    pub(super) fn query(
        &mut self,
        query: &'a Query,
        sees_all: bool,
    ) -> Result<(QueryPlan, Vec<Box<str>>)> {
        let mut branches = Vec::with_capacity(query.branches.len());
        let mut columns: Vec<Box<str>> = Vec::new();
        for (index, branch) in query.branches.iter().enumerate() {
            let (stages, outputs) = self.nested(|resolver| {
                let imports = matches!(
                    branch.clauses.first(),
                    Some(Clause { kind: ClauseKind::With(..), .. })
                );
                if !sees_all && !imports {
                    resolver.names.clear();
                }
                resolver.branch(branch)
            })?;
            if index == 0 {
                columns = outputs.iter().map(|(name, _)| name.clone()).collect();
            }
            let slot_of = |column: &str| outputs.iter().find(|(name, _)| **name == *column);
            let slots: Option<Vec<SlotIndex>> =
                columns.iter().map(|it| slot_of(it).map(|(_, slot)| *slot)).collect();
            match slots {
                Some(slots) if slots.len() == outputs.len() => {
                    branches.push(BranchPlan { stages, columns: slots });
                }
                _ => {
                    let span = branch.clauses.first().map(|it| it.span).unwrap_or_default();
                    let message = "the queries of a UNION have different columns";
                    return Err(self.failure(span, message, "name them alike"));
                }
            }
        }
        let distinct = query.unions.iter().rposition(|it| !it.all).map_or(0, |index| index + 2);
        let slots = match &branches[..] {
            [branch] => branch.columns.clone(),
            _ => columns.iter().map(|_| self.new_slot()).collect(),
        };
        Ok((QueryPlan { branches, distinct, columns: slots }, columns))
    }

    /// Resolves one query; returns its columns.
    fn branch(
        &mut self,
        branch: &'a SingleQuery,
    ) -> Result<(Vec<Stage>, Vec<(Box<str>, SlotIndex)>)> {
        let mut stages = Vec::new();
        let mut columns = Vec::new();
        for clause in &branch.clauses {
            columns = self.clause(clause, &mut stages)?;
        }
        self.add_ranges(&mut stages)?;
        Ok((stages, columns))
    }

    /// Adds the stages of a clause; returns the columns of a `RETURN`, or of a call of a procedure.
    fn clause(
        &mut self,
        clause: &'a Clause,
        stages: &mut Vec<Stage>,
    ) -> Result<Vec<(Box<str>, SlotIndex)>> {
        self.graph.check()?;
        match &clause.kind {
            ClauseKind::Match(it) => {
                let plan = self.patterns(&it.paths, it.filter.as_ref())?;
                stages.push(Stage::Match { plan, optional: it.optional });
            }
            ClauseKind::Unwind(list, name) => {
                let list = self.expression(list)?;
                let slot = self.bind(&name.text);
                stages.push(Stage::Unwind { list, slot });
            }
            ClauseKind::With(projection, filter) => {
                self.projection(projection, filter.as_ref(), stages)?;
            }
            ClauseKind::Let(projection) => {
                self.projection(projection, None, stages)?;
            }
            ClauseKind::Return(projection) => return self.projection(projection, None, stages),
            ClauseKind::Procedure(call) => return self.procedure(call, stages),
            ClauseKind::Subquery(imports, query) => self.subquery(imports, query, stages)?,
        }
        Ok(Vec::new())
    }

    fn subquery(
        &mut self,
        imports: &'a Imports,
        query: &'a Query,
        stages: &mut Vec<Stage>,
    ) -> Result<()> {
        let outer = self.names.clone();
        if let Imports::Names(names) = imports {
            self.names.clear();
            for name in names {
                let Some((_, slot)) = outer.iter().find(|(other, _)| *other == name.text) else {
                    let message = format!("variable `{}` is not defined", name.text);
                    return Err(self.failure(name.span, message, ""));
                };
                self.bind_to(&name.text, *slot);
            }
        }
        let (plan, columns) = self.query(query, !matches!(imports, Imports::Leading))?;
        self.names = outer;
        for (column, slot) in columns.iter().zip(plan.columns.clone()) {
            self.bind_to(column, slot);
        }
        stages.push(Stage::Subquery(plan));
        Ok(())
    }

    /// Resolves patterns and their condition; what they name stays visible.
    pub(super) fn patterns(
        &mut self,
        paths: &'a [crate::ast::PathPattern],
        filter: Option<&'a Expr>,
    ) -> Result<MatchPlan> {
        let used = mem::take(&mut self.used);
        let plan = self.match_plan(paths, filter);
        self.used.extend(used);
        plan
    }
}
