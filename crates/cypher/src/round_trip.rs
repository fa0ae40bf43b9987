//! What is printed is parsed to the same tree: for trees that are made of random bytes, and for the
//! texts of the TCK.

use crate::span::Span;
use crate::syntax::ast::*;
use crate::syntax::build::all_and;
use crate::{analyse, parse};
use proptest::prelude::*;

/// Makes trees of bytes; without bytes the smallest.
struct Maker<'a>(&'a [u8]);

impl Maker<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn choose(&mut self, count: u8) -> u8 {
        self.byte() % count
    }

    fn flag(&mut self) -> bool {
        self.choose(2) == 1
    }

    fn name(&mut self) -> Name {
        const NAMES: [&str; 14] = [
            "a", "b", "end", "order", "In", "null", "x y", "ti`ck", "count", "all", "where", "set",
            "größe", "reduce",
        ];
        Name { text: NAMES[usize::from(self.choose(14))].into(), span: Span::default() }
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn several<T>(&mut self, least: u8, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.choose(3);
        (0..count).map(|_| make(self)).collect()
    }

    fn expr(&mut self, depth: u8) -> Expr {
        let kind =
            if depth == 0 || self.0.is_empty() { self.leaf() } else { self.inner(depth - 1) };
        Expr { kind, span: Span::default() }
    }

    fn boxed(&mut self, depth: u8) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn leaf(&mut self) -> ExprKind {
        match self.choose(8) {
            0 => ExprKind::Variable(self.name().text),
            1 => ExprKind::Null,
            2 => ExprKind::Boolean(self.flag()),
            3 => ExprKind::Integer(u64::from(self.byte())),
            4 => ExprKind::Float([0.5, 1e300, 2.0, 1e-7][usize::from(self.choose(4))]),
            5 => ExprKind::String(["", "it's", "a\\b\n", "ü"][usize::from(self.choose(4))].into()),
            6 => ExprKind::Parameter(self.name().text),
            _ => ExprKind::CountStar,
        }
    }

    fn inner(&mut self, depth: u8) -> ExprKind {
        match self.choose(24) {
            0 => ExprKind::Or(self.several(2, |it| it.expr(depth))),
            1 => ExprKind::Xor(self.several(2, |it| it.expr(depth))),
            2 => ExprKind::And(self.several(2, |it| it.expr(depth))),
            3 => ExprKind::Not(self.boxed(depth)),
            4 => {
                let rest = self.several(1, |it| {
                    use CompareOp::*;
                    let ops = [Equal, Unequal, Less, LessEqual, Greater, GreaterEqual];
                    (ops[usize::from(it.choose(6))], it.expr(depth))
                });
                ExprKind::Compare(self.boxed(depth), rest)
            }
            5 => ExprKind::Test(self.boxed(depth), self.several(1, |it| it.test(depth))),
            6 => {
                use ArithmeticOp::{Add, Concatenate, Subtract};
                self.arithmetic(depth, &[Add, Subtract, Concatenate])
            }
            7 => {
                let ops = [ArithmeticOp::Multiply, ArithmeticOp::Divide, ArithmeticOp::Modulo];
                self.arithmetic(depth, &ops)
            }
            8 => self.arithmetic(depth, &[ArithmeticOp::Power]),
            9 => ExprKind::Signed(self.flag(), self.boxed(depth)),
            10 => ExprKind::Access(self.boxed(depth), self.several(1, |it| it.access(depth))),
            11 => ExprKind::HasLabels(self.boxed(depth), self.labels(2)),
            12 => ExprKind::List(self.several(0, |it| it.expr(depth))),
            13 => ExprKind::Map(self.several(0, |it| (it.name(), it.expr(depth)))),
            14 => {
                let name = Name { text: "date.truncate".into(), span: Span::default() };
                let arguments = self.several(1, |it| it.expr(depth));
                ExprKind::Call(Call { name, distinct: self.flag(), arguments })
            }
            15 => ExprKind::Case(Box::new(Case {
                subject: self.maybe(|it| it.expr(depth)),
                branches: self.several(1, |it| (it.expr(depth), it.expr(depth))),
                otherwise: self.maybe(|it| it.expr(depth)),
            })),
            16 => {
                let result = self.maybe(|it| it.expr(depth));
                ExprKind::ListComprehension(Box::new(ListComprehension {
                    result,
                    ..self.over(depth)
                }))
            }
            17 => ExprKind::PatternComprehension(Box::new(PatternComprehension {
                path: PathPattern { variable: self.maybe(Self::name), ..self.path(depth, 1) },
                filter: self.maybe(|it| it.expr(depth)),
                result: self.expr(depth),
            })),
            18 => {
                use QuantifierKind::*;
                let kind = [All, Any, None, Single][usize::from(self.choose(4))];
                ExprKind::Quantifier(kind, Box::new(self.over(depth)))
            }
            19 => ExprKind::Reduce(Box::new(Reduce {
                accumulator: self.name(),
                start: self.expr(depth),
                variable: self.name(),
                list: self.expr(depth),
                step: self.expr(depth),
            })),
            20 => ExprKind::Pattern(Box::new(self.path(depth, 1))),
            21 => {
                let kinds = [SubqueryKind::Exists, SubqueryKind::Count, SubqueryKind::Collect];
                let kind = kinds[usize::from(self.choose(3))];
                ExprKind::Subquery(kind, Box::new(self.body(depth)))
            }
            22 => ExprKind::MapProjection(
                self.name(),
                self.several(1, |it| match it.choose(4) {
                    0 => MapItem::All,
                    1 => MapItem::Property(it.name()),
                    2 => MapItem::Entry(it.name(), it.expr(depth)),
                    _ => MapItem::Variable(it.name()),
                }),
            ),
            _ => self.leaf(),
        }
    }

    fn arithmetic(&mut self, depth: u8, ops: &[ArithmeticOp]) -> ExprKind {
        let rest =
            self.several(1, |it| (ops[usize::from(it.choose(ops.len() as u8))], it.expr(depth)));
        ExprKind::Arithmetic(self.boxed(depth), rest)
    }

    fn over(&mut self, depth: u8) -> ListComprehension {
        let (variable, list) = (self.name(), self.expr(depth));
        ListComprehension { variable, list, filter: self.maybe(|it| it.expr(depth)), result: None }
    }

    fn test(&mut self, depth: u8) -> Test {
        match self.choose(8) {
            0 => Test::StartsWith(self.expr(depth)),
            1 => Test::EndsWith(self.expr(depth)),
            2 => Test::Contains(self.expr(depth)),
            3 => Test::Matches(self.expr(depth)),
            4 => Test::In(self.expr(depth)),
            5 => Test::IsNull(self.flag()),
            _ => {
                let name = Name { text: "ZONED DATETIME".into(), span: Span::default() };
                let simple = TypeName::Simple(name);
                let list = TypeName::List(Box::new(simple.clone()));
                let name = if self.flag() { simple } else { list };
                let is_nullable = self.flag();
                let name = if is_nullable { name } else { TypeName::NotNull(Box::new(name)) };
                Test::IsType(self.flag(), name)
            }
        }
    }

    fn access(&mut self, depth: u8) -> Access {
        match self.choose(3) {
            0 => Access::Property(self.name()),
            1 => Access::Index(self.expr(depth)),
            _ => Access::Slice(self.maybe(|it| it.expr(depth)), self.maybe(|it| it.expr(depth))),
        }
    }

    fn labels(&mut self, depth: u8) -> LabelExpr {
        match if depth == 0 { 0 } else { self.choose(5) } {
            1 => LabelExpr::Any(Span::default()),
            2 => LabelExpr::Not(Box::new(self.labels(depth - 1))),
            3 => LabelExpr::And(self.several(2, |it| it.labels(depth - 1))),
            4 => LabelExpr::Or(self.several(2, |it| it.labels(depth - 1))),
            _ => LabelExpr::Label(self.name()),
        }
    }

    fn properties(&mut self, depth: u8) -> Option<Box<Expr>> {
        let kind = match self.choose(3) {
            0 => return None,
            1 => ExprKind::Map(self.several(0, |it| (it.name(), it.expr(depth)))),
            _ => ExprKind::Parameter(self.name().text),
        };
        Some(Box::new(Expr { kind, span: Span::default() }))
    }

    fn node(&mut self, depth: u8) -> NodePattern {
        NodePattern {
            variable: self.maybe(Self::name),
            labels: self.maybe(|it| it.labels(2)),
            properties: self.properties(depth),
            filter: if self.choose(4) == 3 { Some(self.boxed(depth)) } else { None },
            span: Span::default(),
        }
    }

    fn relationship(&mut self, depth: u8) -> RelationshipPattern {
        let directions = [Direction::Out, Direction::In, Direction::Either];
        let bound = |it: &mut Self| it.maybe(|it| u64::from(it.choose(9)));
        let mut length =
            self.maybe(|it| Length { min: bound(it), max: bound(it), quantifier: it.flag() });
        // `{,}` is `{0,}`, and written so.
        if let Some(Length { min: min @ None, max: None, quantifier: true }) = &mut length {
            *min = Some(0);
        }
        RelationshipPattern {
            variable: self.maybe(Self::name),
            types: self.maybe(|it| it.labels(2)),
            length,
            properties: self.properties(depth),
            filter: if self.choose(4) == 3 { Some(self.boxed(depth)) } else { None },
            direction: directions[usize::from(self.choose(3))],
            span: Span::default(),
        }
    }

    fn path(&mut self, depth: u8, least: u8) -> PathPattern {
        let start = self.node(depth);
        let steps = self.several(least, |it| (it.relationship(depth), it.node(depth)));
        let (variable, selector) = (None, Selector::All);
        PathPattern { variable, selector, start, steps, span: Span::default() }
    }

    fn named_path(&mut self, depth: u8) -> PathPattern {
        use Selector::*;
        let count = u64::from(self.choose(9));
        let selector = match self.choose(8) {
            0 => ShortestPath,
            1 => AllShortestPaths,
            2 => AnyShortest,
            3 => AllShortest,
            4 => Shortest(count),
            5 => ShortestGroups(count),
            _ => All,
        };
        PathPattern { variable: self.maybe(Self::name), selector, ..self.path(depth, 0) }
    }

    fn body(&mut self, depth: u8) -> SubqueryBody {
        if self.flag() {
            return SubqueryBody::Query(self.query(depth));
        }
        let paths = self.several(1, |it| it.named_path(depth));
        SubqueryBody::Patterns(paths, self.maybe(|it| it.expr(depth)))
    }

    fn projection(&mut self, depth: u8) -> Projection {
        let star = self.flag();
        Projection {
            distinct: self.flag(),
            star,
            items: self.several(u8::from(!star), |it| Item {
                expr: it.expr(depth),
                alias: it.maybe(Self::name),
                written: Span::default(),
            }),
            order: self.several(0, |it| SortItem {
                expr: it.expr(depth),
                descending: it.flag(),
                nulls_first: it.maybe(Self::flag),
            }),
            skip: self.maybe(|it| it.expr(depth)),
            limit: self.maybe(|it| it.expr(depth)),
        }
    }

    fn clause(&mut self, depth: u8) -> ClauseKind {
        match self.choose(7) {
            0 => ClauseKind::Return(self.projection(depth)),
            1 => ClauseKind::Match(Match {
                optional: self.flag(),
                paths: self.several(1, |it| it.named_path(depth)),
                filter: self.maybe(|it| it.expr(depth)),
            }),
            2 => ClauseKind::Unwind(self.expr(depth), self.name()),
            3 => ClauseKind::With(self.projection(depth), self.maybe(|it| it.expr(depth))),
            4 => {
                let item = |it: &mut Self| Item {
                    alias: Some(it.name()),
                    expr: it.expr(depth),
                    written: Span::default(),
                };
                ClauseKind::Let(all_and(self.several(1, item)))
            }
            5 => {
                let yields = match self.choose(3) {
                    0 => Yields::Absent,
                    1 => Yields::All,
                    _ => Yields::Items(self.several(1, |it| (it.name(), it.maybe(Self::name)))),
                };
                let filter = match yields {
                    Yields::Absent => None,
                    _ => self.maybe(|it| it.expr(depth)),
                };
                let name = Name { text: "algo.pagerank".into(), span: Span::default() };
                let arguments = self.maybe(|it| it.several(0, |it| it.expr(depth)));
                ClauseKind::Procedure(ProcedureCall { name, arguments, yields, filter })
            }
            _ => {
                let imports = match self.choose(3) {
                    0 => Imports::Leading,
                    1 => Imports::All,
                    _ => Imports::Names(self.several(0, Self::name)),
                };
                ClauseKind::Subquery(imports, self.query(depth.saturating_sub(1)))
            }
        }
    }

    fn query(&mut self, depth: u8) -> Query {
        let branches = self.several(1, |it| SingleQuery {
            clauses: if depth == 0 {
                let kind = ClauseKind::Return(it.projection(0));
                vec![Clause { kind, span: Span::default() }]
            } else {
                it.several(1, |it| Clause { kind: it.clause(depth - 1), span: Span::default() })
            },
        });
        let unions = branches[1..].iter().map(|_| Union { all: false, span: Span::default() });
        Query { unions: unions.collect(), branches }
    }
}

fn assert_same(text: &str, statement: &Statement) {
    let parsed = parse(text).unwrap_or_else(|error| panic!("{text}\n{}", error.report(text)));
    assert_eq!(parsed.statement(), statement, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_trees_are_parsed_to_themselves(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
        let query = Maker(&bytes).query(3);
        let statement = Statement { mode: Mode::Run, query };
        assert_same(&statement.to_string(), &statement);
    }

    #[test]
    fn any_tree_is_analysed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..160)) {
        let query = Maker(&bytes).query(3);
        let text = Statement { mode: Mode::Run, query }.to_string();
        let _ = parse(&text).and_then(|it| analyse(&it)).map_err(|error| error.report(&text));
    }

    #[test]
    fn any_text_is_analysed_or_refused(text in "[a-z(){}\\[\\]|:,.*<>=$'\"` 0-9-]{0,60}") {
        let _ = parse(&text).and_then(|it| analyse(&it)).map_err(|error| error.report(&text));
    }
}

#[test]
fn texts_of_the_tck_are_printed_and_parsed() {
    let Some(rows) = crate::conformance::rows("read.jsonl") else { return };
    for row in rows.iter().filter(|row| row["error"].is_null()) {
        let parsed = parse(row["query"].as_str().unwrap()).unwrap();
        assert_same(&parsed.statement().to_string(), parsed.statement());
    }
}
