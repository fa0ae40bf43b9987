//! Queries and clauses as text.

use super::names::{Commas, Dotted};
use crate::syntax::ast::{
    Clause, ClauseKind, Expr, Imports, Item, Match, Mode, Name, ProcedureCall, Projection, Query,
    SingleQuery, SortItem, Statement, SubqueryBody, Yields,
};
use hexgraph_base::types::stack;
use std::fmt::{self, Display, Formatter};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::Run => {}
            Mode::Explain => f.write_str("EXPLAIN ")?,
            Mode::Profile => f.write_str("PROFILE ")?,
        }
        self.query.fmt(f)
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        stack::require();
        for (index, branch) in self.branches.iter().enumerate() {
            if let Some(union) = index.checked_sub(1).map(|it| &self.unions[it]) {
                f.write_str(if union.all { " UNION ALL " } else { " UNION " })?;
            }
            branch.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for SingleQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, clause) in self.clauses.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " " })?;
            clause.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Clause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ClauseKind::Match(clause) => clause.fmt(f),
            ClauseKind::Unwind(list, name) => write!(f, "UNWIND {list} AS {name}"),
            ClauseKind::With(projection, filter) => {
                write!(f, "WITH {projection}{}", Where(filter.as_ref()))
            }
            ClauseKind::Let(projection) => {
                f.write_str("LET ")?;
                for (index, Item { expr, alias, .. }) in projection.items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    alias.iter().try_for_each(|name| write!(f, "{name} = "))?;
                    expr.fmt(f)?;
                }
                Ok(())
            }
            ClauseKind::Return(projection) => write!(f, "RETURN {projection}"),
            ClauseKind::Procedure(call) => call.fmt(f),
            ClauseKind::Subquery(imports, query) => {
                match imports {
                    Imports::Leading => f.write_str("CALL")?,
                    Imports::All => f.write_str("CALL (*)")?,
                    Imports::Names(names) => write!(f, "CALL ({})", Commas(names))?,
                }
                write!(f, " {{ {query} }}")
            }
        }
    }
}

impl Display for Match {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = if self.optional { "OPTIONAL MATCH" } else { "MATCH" };
        write!(f, "{word} {}{}", Commas(&self.paths), Where(self.filter.as_ref()))
    }
}

/// `WHERE` and the condition after it, or nothing.
pub(super) struct Where<'a>(pub Option<&'a Expr>);

impl Display for Where<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |filter| write!(f, " WHERE {filter}"))
    }
}

impl Display for ProcedureCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CALL {}", Dotted(&self.name.text))?;
        if let Some(arguments) = &self.arguments {
            write!(f, "({})", Commas(arguments))?;
        }
        match &self.yields {
            Yields::Absent => {}
            Yields::All => f.write_str(" YIELD *")?,
            Yields::Items(items) => {
                let named = items.iter().map(|(name, alias)| Named(name, alias.as_ref()));
                write!(f, " YIELD {}", Commas(&named.collect::<Vec<_>>()))?;
            }
        }
        Where(self.filter.as_ref()).fmt(f)
    }
}

/// Something with the name that it gets.
struct Named<'a, T>(&'a T, Option<&'a Name>);

impl<T: Display> Display for Named<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        self.1.map_or(Ok(()), |alias| write!(f, " AS {alias}"))
    }
}

impl Display for Projection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.distinct { "DISTINCT " } else { "" })?;
        f.write_str(if self.star { "*" } else { "" })?;
        f.write_str(if self.star && !self.items.is_empty() { ", " } else { "" })?;
        Commas(&self.items).fmt(f)?;
        if !self.order.is_empty() {
            write!(f, " ORDER BY {}", Commas(&self.order))?;
        }
        if let Some(skip) = &self.skip {
            write!(f, " SKIP {skip}")?;
        }
        self.limit.as_ref().map_or(Ok(()), |limit| write!(f, " LIMIT {limit}"))
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Named(&self.expr, self.alias.as_ref()).fmt(f)
    }
}

impl Display for SortItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.descending { " DESC" } else { "" })?;
        match self.nulls_first {
            None => Ok(()),
            Some(true) => f.write_str(" NULLS FIRST"),
            Some(false) => f.write_str(" NULLS LAST"),
        }
    }
}

impl Display for SubqueryBody {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SubqueryBody::Patterns(paths, filter) => {
                write!(f, "{}{}", Commas(paths), Where(filter.as_ref()))
            }
            SubqueryBody::Query(query) => query.fmt(f),
        }
    }
}
