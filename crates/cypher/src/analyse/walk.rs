//! The parts of an expression.

use crate::syntax::ast::{
    Access, ClauseKind, Expr, ExprKind, Imports, MapItem, Name, NodePattern, PathPattern,
    Projection, Query, RelationshipPattern, SubqueryBody, Test,
};

/// A part of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) enum ExprPart<'a> {
    /// An operand.
    Expr(&'a Expr),
    /// A variable of a pattern or of a map projection.
    Name(&'a Name),
}

/// The direct parts of an expression. Those of a subquery are the parts of all its clauses.
pub(super) fn parts(expr: &Expr) -> Vec<ExprPart<'_>> {
    let mut collected = Parts(Vec::new());
    collected.of_expr(expr);
    collected.0
}

struct Parts<'a>(Vec<ExprPart<'a>>);

impl<'a> Parts<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        self.0.push(ExprPart::Expr(expr));
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'a Expr>) {
        self.0.extend(exprs.into_iter().map(ExprPart::Expr));
    }

    fn of_expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Boolean(_)
            | ExprKind::Integer(_)
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Parameter(_)
            | ExprKind::Variable(_)
            | ExprKind::CountStar => {}
            ExprKind::List(list)
            | ExprKind::Or(list)
            | ExprKind::Xor(list)
            | ExprKind::And(list) => self.exprs(list),
            ExprKind::Map(entries) => self.exprs(entries.iter().map(|(_, value)| value)),
            ExprKind::Not(inside) | ExprKind::Signed(_, inside) => self.expr(inside),
            ExprKind::HasLabels(of, _) => self.expr(of),
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                self.exprs(rest.iter().map(|(_, it)| it));
            }
            ExprKind::Arithmetic(first, rest) => {
                self.expr(first);
                self.exprs(rest.iter().map(|(_, it)| it));
            }
            ExprKind::Test(first, tests) => {
                self.expr(first);
                tests.iter().for_each(|test| self.test(test));
            }
            ExprKind::Access(of, steps) => {
                self.expr(of);
                steps.iter().for_each(|step| self.access(step));
            }
            ExprKind::Call(call) => self.exprs(&call.arguments),
            ExprKind::Case(case) => {
                self.exprs(&case.subject);
                case.branches.iter().for_each(|(when, then)| self.exprs([when, then]));
                self.exprs(&case.otherwise);
            }
            ExprKind::ListComprehension(over) | ExprKind::Quantifier(_, over) => {
                self.expr(&over.list);
                self.exprs(over.filter.iter().chain(&over.result));
            }
            ExprKind::PatternComprehension(it) => {
                self.path(&it.path);
                self.exprs(it.filter.iter().chain([&it.result]));
            }
            ExprKind::Reduce(it) => self.exprs([&it.start, &it.list, &it.step]),
            ExprKind::Pattern(path) => self.path(path),
            ExprKind::Subquery(_, body) => match &**body {
                SubqueryBody::Patterns(paths, filter) => {
                    paths.iter().for_each(|path| self.path(path));
                    self.exprs(filter);
                }
                SubqueryBody::Query(query) => self.query(query),
            },
            ExprKind::MapProjection(name, items) => {
                self.0.push(ExprPart::Name(name));
                for item in items {
                    match item {
                        MapItem::All | MapItem::Property(_) => {}
                        MapItem::Entry(_, value) => self.expr(value),
                        MapItem::Variable(name) => self.0.push(ExprPart::Name(name)),
                    }
                }
            }
        }
    }

    fn test(&mut self, test: &'a Test) {
        match test {
            Test::StartsWith(it)
            | Test::EndsWith(it)
            | Test::Contains(it)
            | Test::Matches(it)
            | Test::In(it) => self.expr(it),
            Test::IsNull(_) | Test::IsType(..) => {}
        }
    }

    fn access(&mut self, access: &'a Access) {
        match access {
            Access::Property(_) => {}
            Access::Index(index) => self.expr(index),
            Access::Slice(from, to) => self.exprs(from.iter().chain(to)),
        }
    }

    fn path(&mut self, path: &'a PathPattern) {
        self.0.extend(path.variable.iter().map(ExprPart::Name));
        self.node(&path.start);
        for (relationship, node) in &path.steps {
            self.relationship(relationship);
            self.node(node);
        }
    }

    fn node(&mut self, node: &'a NodePattern) {
        self.0.extend(node.variable.iter().map(ExprPart::Name));
        self.exprs(node.properties.iter().chain(&node.filter).map(|it| &**it));
    }

    fn relationship(&mut self, relationship: &'a RelationshipPattern) {
        self.0.extend(relationship.variable.iter().map(ExprPart::Name));
        let constraints = relationship.properties.iter().chain(&relationship.filter);
        self.exprs(constraints.map(|it| &**it));
    }

    fn query(&mut self, query: &'a Query) {
        for clause in query.branches.iter().flat_map(|branch| &branch.clauses) {
            match &clause.kind {
                ClauseKind::Match(it) => {
                    it.paths.iter().for_each(|path| self.path(path));
                    self.exprs(&it.filter);
                }
                ClauseKind::Unwind(list, _) => self.expr(list),
                ClauseKind::With(projection, filter) => {
                    self.projection(projection);
                    self.exprs(filter);
                }
                ClauseKind::Return(projection) | ClauseKind::Let(projection) => {
                    self.projection(projection);
                }
                ClauseKind::Procedure(call) => {
                    self.exprs(call.arguments.iter().flatten().chain(&call.filter));
                }
                ClauseKind::Subquery(imports, query) => {
                    if let Imports::Names(names) = imports {
                        self.0.extend(names.iter().map(ExprPart::Name));
                    }
                    // The lexer bounds how deep queries nest.
                    self.query(query);
                }
            }
        }
    }

    fn projection(&mut self, projection: &'a Projection) {
        self.exprs(projection.items.iter().map(|item| &item.expr));
        self.exprs(projection.order.iter().map(|item| &item.expr));
    }
}
