//! Queries and clauses: their order, and what each binds.

use super::analysed::Column;
use super::analyser::{Analyser, Checked};
use super::bindings::Binding;
use super::kinds::Kind;
use super::scope::{Frame, Slot};
use crate::error::{Code, Fault};
use crate::span::Span;
use crate::syntax::ast::{
    Clause, ClauseKind, Imports, Projection, Query, SingleQuery, SubqueryKind,
};
use rustc_hash::FxHashSet;

/// Where a query is, which decides what its last clause may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The entire text, or a `CALL` subquery: it gives columns.
    Rows,
    /// `EXISTS` and `COUNT`, which need none.
    Matches,
}

/// The columns of a query: the name of each, and its variable in each branch.
struct Columns<'a> {
    names: Vec<&'a str>,
    slots: Vec<Vec<Slot>>,
}

impl<'a> Analyser<'a> {
    /// The entire text.
    pub(super) fn statement(&mut self, query: &'a Query) -> Checked<Vec<Column>> {
        let columns = self.query(query, Purpose::Rows, |_, _| Ok(()))?;
        let kinds = self.kinds(&columns);
        let named = columns.names.iter().zip(kinds);
        Ok(named.map(|(&name, kind)| Column { name: name.into(), kind }).collect())
    }

    /// The query of `EXISTS`, `COUNT` or `COLLECT`; returns the kind of its column.
    pub(super) fn subquery(&mut self, kind: SubqueryKind, query: &'a Query) -> Checked<Kind> {
        let purpose = match kind {
            SubqueryKind::Collect => Purpose::Rows,
            SubqueryKind::Exists | SubqueryKind::Count => Purpose::Matches,
        };
        let columns = self.query(query, purpose, |_, _| Ok(()))?;
        if kind == SubqueryKind::Collect && columns.names.len() != 1 {
            let span = query.branches[0].clauses[0].span;
            let count = columns.names.len();
            let message = format!("`COLLECT` needs one column, and there are {count}");
            let fault = Fault::new(Code::InvalidClauseComposition, span, message);
            return Err(fault.with_hint("return a list or a map of them"));
        }
        Ok(self.kinds(&columns).into_iter().next().unwrap_or(Kind::Any))
    }

    /// The kinds of columns, over all branches.
    fn kinds(&self, columns: &Columns<'a>) -> Vec<Kind> {
        let kind = |index: usize| {
            let kinds = columns.slots.iter().filter_map(|branch| branch.get(index));
            kinds.map(|&slot| self.scopes.kind(slot).clone()).reduce(Kind::join)
        };
        (0..columns.names.len()).map(|index| kind(index).unwrap_or(Kind::Any)).collect()
    }

    /// The branches of a query, each in a scope of its own that `enter` prepares.
    fn query(
        &mut self,
        query: &'a Query,
        purpose: Purpose,
        mut enter: impl FnMut(&mut Self, &'a SingleQuery) -> Checked<()>,
    ) -> Checked<Columns<'a>> {
        let mut result = Columns { names: Vec::new(), slots: Vec::new() };
        if let Some(other) = query.unions.iter().find(|it| it.all != query.unions[0].all) {
            let message = "`UNION` and `UNION ALL` are mixed";
            let fault = Fault::new(Code::InvalidClauseComposition, other.span, message);
            return Err(fault.with_hint("use one of them, or a subquery: `CALL { ... UNION ... }`"));
        }
        for (index, branch) in query.branches.iter().enumerate() {
            let columns = self.scoped(|it| {
                enter(it, branch)?;
                it.branch(branch, purpose)
            })?;
            let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
            if index == 0 {
                result.names = names;
            } else if names != result.names {
                return Err(different_columns(query.unions[index - 1].span, &result.names, &names));
            }
            result.slots.push(columns.into_iter().map(|column| column.1).collect());
        }
        Ok(result)
    }

    fn branch(
        &mut self,
        branch: &'a SingleQuery,
        purpose: Purpose,
    ) -> Checked<Vec<(&'a str, Slot)>> {
        let is_call = matches!(branch.clauses[..], [Clause { kind: ClauseKind::Procedure(_), .. }]);
        let mut columns = Vec::new();
        for (index, clause) in branch.clauses.iter().enumerate() {
            let next = branch.clauses.get(index + 1);
            check_order(clause, next, purpose == Purpose::Matches || is_call)?;
            match &clause.kind {
                ClauseKind::Match(it) => {
                    self.patterns(&it.paths, it.filter.as_ref(), Binding::New)?;
                }
                ClauseKind::Unwind(list, name) => {
                    let kind = self.without_aggregates("`UNWIND`", |it| it.expr(list))?;
                    // A value that is no list is a list of one.
                    let element = match &kind {
                        Kind::List(_) => kind.element(),
                        other => other.clone(),
                    };
                    self.bind_new(name, element)?;
                }
                ClauseKind::With(projection, filter) => {
                    self.project(clause, projection, filter.as_ref())?;
                }
                ClauseKind::Let(projection) => {
                    self.project(clause, projection, None)?;
                }
                ClauseKind::Return(projection) => {
                    columns = self.project(clause, projection, None)?;
                }
                ClauseKind::Procedure(call) => columns = self.procedure(call, is_call)?,
                ClauseKind::Subquery(imports, query) => {
                    self.call_subquery(clause.span, imports, query)?;
                }
            }
        }
        Ok(columns)
    }

    fn call_subquery(&mut self, span: Span, imports: &'a Imports, query: &'a Query) -> Checked<()> {
        let rows = Purpose::Rows;
        let columns = match imports {
            Imports::All => self.query(query, rows, |_, _| Ok(()))?,
            Imports::Names(names) => {
                let mut seen = Frame::default();
                for name in names {
                    seen.insert(&name.text, self.resolve(&name.text, name.span)?);
                }
                self.scopes.hide(vec![seen]);
                let columns = self.query(query, rows, |_, _| Ok(()));
                self.scopes.unhide();
                columns?
            }
            Imports::Leading => {
                let visible = self.scopes.visible();
                self.count_names(visible.len(), span)?;
                self.scopes.hide(Vec::new());
                let columns = self.query(query, rows, |it, branch| {
                    let named = leading_imports(branch);
                    let imported = visible.iter().filter(|(name, _)| named.has(name));
                    imported.for_each(|&(name, slot)| it.scopes.current().insert(name, slot));
                    Ok(())
                });
                self.scopes.unhide();
                columns?
            }
        };
        let kinds = self.kinds(&columns);
        for (&name, kind) in columns.names.iter().zip(kinds) {
            if self.scopes.find(name).is_some() {
                let message = format!("the subquery returns `{name}`, which exists before it");
                let fault = Fault::new(Code::VariableAlreadyBound, span, message);
                return Err(fault.with_hint("return it under another name: `AS name`"));
            }
            let slot = self.scopes.create(kind);
            self.scopes.current().insert(name, slot);
        }
        Ok(())
    }
}

/// The variables that the first clause of a subquery names.
struct Leading<'a> {
    all: bool,
    names: FxHashSet<&'a str>,
}

impl Leading<'_> {
    fn has(&self, name: &str) -> bool {
        self.all || self.names.contains(name)
    }
}

/// What a subquery imports: its first clause is a `WITH` of nothing but variables.
fn leading_imports(branch: &SingleQuery) -> Leading<'_> {
    let none = Leading { all: false, names: FxHashSet::default() };
    let Some(ClauseKind::With(projection, None)) = branch.clauses.first().map(|it| &it.kind) else {
        return none;
    };
    let Projection { distinct: false, order, skip: None, limit: None, items, star } = projection
    else {
        return none;
    };
    let names: Option<FxHashSet<&str>> =
        items.iter().map(|item| item.expr.variable().filter(|_| item.alias.is_none())).collect();
    match names {
        Some(names) if order.is_empty() => Leading { all: *star, names },
        _ => none,
    }
}

/// `RETURN` is the last clause, and the last clause gives rows.
fn check_order(clause: &Clause, next: Option<&Clause>, may_stop: bool) -> Checked<()> {
    let is_return = matches!(clause.kind, ClauseKind::Return(_));
    let is_middle = matches!(clause.kind, ClauseKind::With(..) | ClauseKind::Let(_));
    let (span, message, hint) = match next {
        Some(next) if is_return => (
            next.span,
            "a clause follows `RETURN`".to_owned(),
            "`RETURN` is the last clause; write `WITH` before others",
        ),
        None if !is_return && (!may_stop || is_middle) => (
            Span { start: clause.span.start, end: clause.span.start },
            "the last clause is no `RETURN`".to_owned(),
            "add what to return: `RETURN *`",
        ),
        _ => return Ok(()),
    };
    Err(Fault::new(Code::InvalidClauseComposition, span, message).with_hint(hint))
}

fn different_columns(span: Span, first: &[&str], second: &[&str]) -> Fault {
    let message = format!(
        "the queries of `UNION` have different columns: `{}` and `{}`",
        first.join(", "),
        second.join(", ")
    );
    let fault = Fault::new(Code::DifferentColumnsInUnion, span, message);
    fault.with_hint("give them the same names in the same order: `AS name`")
}
