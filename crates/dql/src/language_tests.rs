//! The language, construct by construct: what is accepted and what the plan holds. What is refused
//! is in `tests/golden/errors/language`.

use super::{
    Document, MutationRequest, ParameterValue, RdfBlock, UpsertCondition, parse, parse_condition,
    parse_mutation,
};
use crate::lower::upsert::UpsertPlan;
use hexgraph_base::plan::{
    Aggregate, Algebraic, Argument, Block, BlockKind, Call, Cascade, Comparison, Constant,
    Endpoint, Expand, Field, FieldKind, Filter, MathExpr, Operand, OrderKey, Query, TextTest,
    VarId,
};
use hexgraph_base::types::{Error, Result};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn plan_with(text: &str, variables: &[(&str, &str)]) -> Result<Query> {
    let pairs =
        variables.iter().map(|(name, value)| ((*name).to_owned(), ParameterValue::from(*value)));
    parse(text)?.plan(&pairs.collect())
}

fn plan(text: &str) -> Query {
    plan_with(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn only_block(text: &str) -> Block {
    plan(text).blocks.remove(0)
}

/// The fields of a block with these items.
fn fields(items: &str) -> Vec<Field> {
    let block = only_block(&format!("{{ q(func: has(name)) {{ {items} }} }}"));
    block.fields.iter().map(|field| Field::clone(field)).collect()
}

/// The root function of a block.
fn function(text: &str) -> Call {
    only_block(&format!("{{ q(func: {text}) {{ uid }} }}")).root.unwrap().call
}

fn filter(text: &str) -> Filter {
    only_block(&format!("{{ q(func: has(name)) @filter({text}) {{ uid }} }}")).filter.unwrap()
}

/// `math` over three variables, as a Lisp.
fn math(text: &str) -> String {
    let text = format!(
        "{{ q(func: has(a)) {{ a as a b as b c as c val(a) val(b) val(c) m: math({text}) }} }}"
    );
    let query = plan(&text);
    match &query.blocks[0].fields[6].kind {
        FieldKind::Math(expression) => lisp(&query, expression),
        other => panic!("{other:?}"),
    }
}

fn lisp(query: &Query, expression: &MathExpr) -> String {
    match expression {
        MathExpr::Constant(Constant::Int(int)) => int.to_string(),
        MathExpr::Constant(Constant::Float(float)) => format!("{float:?}"),
        MathExpr::Value(value) => format!("{value:?}"),
        MathExpr::Var(var) => query.variables[var.0 as usize].name.clone(),
        MathExpr::Call(function, operands) => {
            let operands: Vec<String> =
                operands.iter().map(|operand| lisp(query, operand)).collect();
            format!("({function:?} {})", operands.join(" "))
        }
    }
}

#[test]
fn accepted_texts() {
    for text in [
        "# only a comment\n{ q(func: uid(1)) { name } }",
        "{q(func:uid(1)){name,,,age}} ; 5 {p(func:uid(2)){name}}",
        "{ q(func: uid(1)) , p(func: uid(2)) { name } }",
        "query works { q(func: has(name)) { name } }",
        "query works() { q(func: has(name)) { name } }",
        "{ count(func: has(name)) { count(uid) } uid(func: has(name)) { uid } }",
        "{ q(func: has(name)) { count val uid math min } }",
        "{ q(func: EQ(name, \"x\")) @FILTER(NOT Has(a) AND has(b)) @Cascade { name } }",
        "{ q(func: has(name)) { friend { uid } (first: 1) @filter(has(x)) (offset: 1) } }",
        "{ q(func: has(name)) { v as a: age b: w as age2 val(v) val(w) dangling: } }",
        "{ q(func: has(name)) { count(friend @filter(has(x)) (first: 1)) n: count(friend) @facets(gt(w, 0.3)) } }",
        "{ q(func: has(name)) @filter(()) @normalize { a: name@en:fr:. b: name@* c: name@zh-Hans } }",
        "{ q(func: has(name)) { friend @facets(not eq(a, 1)) @facets(a, o: b, orderasc: c) { uid } } }",
        "{ q(func: has(name)) @recurse(depth: 3, loop: true) { name friend } }",
        "{ q(func: has(name)) @groupby(a, x: b@en) { count(uid) m: max(c) } }",
        "{ var(func: has(a)) { x as a } q() { min(val(x)) m: math(1 + 2) } }",
        "{ p as shortest(from: 1, to: 0x2, numpaths: 2, depth: 3) { friend } q(func: uid(p)) { uid } }",
        "fragment f { name ...g } { q(func: uid(1)) { ... f } } fragment g { age }",
        "{ q(func: near(loc, [-1.5, 2], 10)) @filter(within(loc, [[[1,2],[3,4],[1,2]]])) { uid } }",
        "{ q(func: similar_to(v, 3, \"[1, 2]\", EF: 10)) { uid } }",
        "{ q(func: regexp(name, /a\\/b\"c/i)) { uid } }",
        "{ q(func: uid(1)) { checkpwd(pass, \"x\") expand(_all_) { uid } } }",
        "{ q(func: uid(1)) { expand(A, B) @filter(type(A) or has(x)) (first: 1) { uid } } }",
        "{ q(func: has(<name-of>)) { <http://x/y#z> a <日本> : b } }",
        "schema {}",
        "schema(pred: [a, <b/c>]) { type index }",
    ] {
        let outcome = plan_with(text, &[]);
        assert!(outcome.is_ok(), "{text}: {outcome:?}");
    }
}

#[test]
fn keys_are_those_of_the_reference() {
    let keys: Vec<String> = fields(
        "name name@en:fr a: age count(~friend) count(uid) c: count(uid) friend { y as age }
         val(y) min(val(y)) checkpwd(p, \"q\") z as math(y) my - age <iri> ~back uid w: math(z)",
    )
    .into_iter()
    .map(|field| field.key)
    .collect();
    let expected = [
        "name",
        "name@en:fr",
        "a",
        "count(~friend)",
        "count",
        "c",
        "friend",
        "val(y)",
        "min(val(y))",
        "checkpwd(p)",
        "val(z)",
        "my-age",
        "iri",
        "~back",
        "uid",
        "w",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn variables_are_numbered_and_noted() {
    let query = plan(
        "{ a as var(func: uid(1)) { b as age c as friend @facets(d as w) }
           q(func: uid(a), orderasc: val(b)) @filter(uid(c) or gt(val(d), 1)) { m: math(b + d) }
           shortest(from: uid(a), to: uid(c)) { friend } }",
    );
    let names: Vec<&str> = query.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "d", "c"]);
    let ids = |list: &[u32]| list.iter().map(|&id| VarId(id)).collect::<Vec<_>>();
    assert_eq!(query.blocks[0].defines, ids(&[0, 1, 2, 3]));
    assert_eq!(query.blocks[0].reads, ids(&[]));
    assert_eq!(query.blocks[1].reads, ids(&[0, 1, 2, 3]));
    assert_eq!(query.blocks[2].reads, ids(&[0, 3]));
    let BlockKind::Shortest(path) = &query.blocks[2].kind else { panic!("no path") };
    assert_eq!(
        (path.from, path.to),
        (Some(Endpoint::Var(VarId(0))), Some(Endpoint::Var(VarId(3))))
    );
}

#[test]
fn functions() {
    let text = |text: &str| Argument::Text(text.to_owned());
    let Call::Compare { op: Comparison::Eq, left: Operand::Predicate(name), arguments } =
        function("eq(first - name@en, [Alice, \"B\\n\", -1e-5, + 7])")
    else {
        panic!("no comparison")
    };
    assert_eq!((name.name.as_str(), name.lang.as_deref()), ("first-name", Some("en")));
    assert_eq!(arguments, [text("Alice"), text("B\n"), text("-1e-5"), text("+7")]);
    let Call::Uid { uids, vars } = function("uid(3, 0x1, \"1\", 010)") else { panic!("no uid") };
    assert_eq!((uids, vars), (vec![1, 1, 3, 8], vec![]));
    let Call::Text { test: TextTest::Regexp { pattern, flags }, .. } =
        function("regexp(name, /a\\/b\\d/i)")
    else {
        panic!("no regexp")
    };
    assert_eq!((pattern.as_str(), flags.as_str()), ("a/b\\d", "i"));
    let Call::Geo { arguments, .. } = function("within(loc, [[1.5 , -2],[3,4]] )") else {
        panic!("no geo")
    };
    assert_eq!(arguments, ["[[1.5,-2],[3,4]]"]);
    let Call::Compare { left: Operand::Count(name), .. } = function("gt(count(~p), 1)") else {
        panic!("no count")
    };
    assert!(name.reverse && name.name == "p");
}

#[test]
fn filters_bind_not_before_and_before_or() {
    let Filter::Or(sides) = filter("has(a) or not has(b) and has(c) and (has(d) or has(e))") else {
        panic!("no `or`")
    };
    let Filter::And(parts) = &sides[1] else { panic!("no `and`") };
    assert!(matches!(parts[..], [Filter::Not(_), Filter::Function(_), Filter::Or(_)]));
    assert_eq!(only_block("{ q(func: uid(1)) @filter(()) { a } }").filter, None);
}

#[test]
fn math_binds_as_the_reference_does() {
    assert_eq!(math("a + b * c / a"), "(Add a (Divide (Multiply b c) a))");
    assert_eq!(math("a + b - c"), "(Add a (Subtract b c))");
    assert_eq!(math("a % b * c"), "(Modulo a (Multiply b c))");
    assert_eq!(math("a dot b * c"), "(Dot a (Multiply b c))");
    assert_eq!(math("a == b < c"), "(Equal a (Less b c))");
    assert_eq!(
        math("c*-1.0+-b+(-b*c)"),
        "(Add (Add (Multiply c (Negate 1.0)) (Negate b)) (Multiply (Negate b) c))"
    );
    assert_eq!(math("COND(a <= 10, max(b, 1), ln(c))"), "(Cond (LessEqual a 10) (Max b 1) (Ln c))");
    assert_eq!(math("a-b"), "(Subtract a b)");
    assert_eq!(math("1 / floor(1.5)"), "(Divide 1 (Floor 1.5))");
    let long = format!("{{ q() {{ x: math(1{}) }} }}", " + 1".repeat(5_000));
    let error = plan_with(&long, &[]).unwrap_err().to_string();
    assert!(error.contains("an expression of more than 300 levels"), "{error}");
}

#[test]
fn directives_and_pages() {
    let block = only_block(
        "{ q(func: has(a), first: -0x2, offset: 3, after: 0xa, orderdesc: b@en, orderasc: c)
           @cascade(a, b - c) @normalize @ignorereflex { a } }",
    );
    assert_eq!((block.page.first, block.page.offset, block.page.after), (-2, 3, 10));
    assert_eq!(block.cascade, Some(Cascade::Fields(vec!["a".to_owned(), "b-c".to_owned()])));
    assert!(block.normalize && block.ignore_reflex && block.has_body);
    let expected = OrderKey::Predicate {
        predicate: "b".to_owned(),
        lang: Some("en".to_owned()),
        descending: true,
    };
    assert_eq!((block.order.len(), &block.order[0]), (2, &expected));
}

#[test]
fn facets_are_sorted_and_unique() {
    let field = &fields("f @facets(z, orderdesc: b, a, k: a, v as z) { uid } val(v)")[0];
    let facets = field.facets.as_ref().unwrap();
    let names: Vec<&str> = facets.items.iter().map(|item| item.facet.as_str()).collect();
    assert_eq!(names, ["a", "b", "z"]);
    assert_eq!(facets.items[0].alias.as_deref(), Some("k"));
    assert!(facets.items[2].var.is_some() && facets.order[0].descending);
    assert!(fields("f @facets { uid }")[0].facets.as_ref().unwrap().all);
    assert!(fields("f @facets(eq(a, 1) and not le(b, 2)) { uid }")[0].facet_filter.is_some());
}

#[test]
fn fragments_and_bodies_are_merged() {
    let query =
        plan("{ q(func: uid(1)) { a { ...f } { d } } } fragment f { b ...g } fragment g { c }");
    let inner: Vec<&str> =
        query.blocks[0].fields[0].fields.iter().map(|field| field.key.as_str()).collect();
    assert_eq!(inner, ["b", "c", "d"]);
}

#[test]
fn groups_and_expansions() {
    let field = &fields("f @groupby(a, x: b@en:fr) { count(uid) m: max(c@en) }")[0];
    assert_eq!(field.group_by.as_ref().unwrap().keys[1].langs, ["en", "fr"]);
    let FieldKind::AggregatePredicate { op: Aggregate::Algebraic(Algebraic::Max), name, .. } =
        &field.fields[1].kind
    else {
        panic!("no aggregate")
    };
    assert_eq!(name, "c");
    let types = Expand::Types(vec!["A".to_owned(), "B".to_owned()]);
    assert_eq!(fields("expand(A, B) { uid }")[0].kind, FieldKind::Expand(types));
    assert_eq!(fields("expand(_all_)")[0].kind, FieldKind::Expand(Expand::All));
}

#[test]
fn blocks_without_functions() {
    assert_eq!(only_block("{ q() {} }").kind, BlockKind::Empty);
    assert_eq!(only_block("{ var(func: uid(1)) }").kind, BlockKind::Hidden);
    let query = plan("{ var(func: has(a)) { x as a } q() { s: sum(val(x)) } }");
    let sum = FieldKind::AggregateVar(Aggregate::Algebraic(Algebraic::Sum), VarId(0));
    assert_eq!((query.blocks[1].fields[0].kind.clone(), query.blocks[1].name.as_str()), (sum, "q"));
}

#[test]
fn query_variables() {
    let text = "query t($a: int = 2, $b: string, $r: string = \"/x/i\") {
        q(func: eq(name, [$b, \"c\"]), first: $a) @filter(regexp(name, $r)) { m: math(1 + $a) } }";
    let query = plan_with(text, &[("$b", "x")]).unwrap();
    assert_eq!(query.blocks[0].page.first, 2);
    let refused =
        |text: &str, given: &[(&str, &str)]| plan_with(text, given).unwrap_err().to_string();
    let error = refused(text, &[("$a", "x")]);
    assert_eq!(error, "line 1 column 9: variable $a is declared as int, and its value is `x`");
    let error = refused(text, &[("$z", "x")]);
    assert_eq!(error, "variable $z has a value but no declared type (did you mean `$a`?)");
    let error = refused(text, &[("a", "x")]);
    let hint = "names of variables begin with `$`: give `$a`";
    assert_eq!(error, format!("variable a has a value but no declared type ({hint})"));
    let error = refused(text, &[("other", "x")]);
    let hint = "names of variables begin with `$`: give `$other`, and declare it: `query name($other: string) { ... }`";
    assert_eq!(error, format!("variable other has a value but no declared type ({hint})"));
    assert_eq!(plan_with(text, &[("$a", "7")]).unwrap().blocks[0].page.first, 7);
    let ids = "query t($ids: string) { q(func: uid($ids)) { uid } }";
    let query = plan_with(ids, &[("$ids", "[0x2, 1]")]).unwrap();
    assert_eq!(
        query.blocks[0].root.as_ref().unwrap().call,
        Call::Uid { uids: vec![1, 2], vars: vec![] }
    );
    let error = refused(ids, &[("$ids", "  ")]);
    assert!(error.contains("variable $ids holds ``, which is no uid"), "{error}");
    let recurse = "{ q(func: has(a)) @recurse(depth: $d) { a } }";
    assert!(plan_with(recurse, &[("$d", "2")]).is_ok());
    let error = refused(recurse, &[]);
    assert!(error.starts_with("line 1 column 35: variable $d has no value"), "{error}");
}

/// A list as the value of a variable is what the same list in the text is.
#[test]
fn lists_as_values_of_variables() {
    let items =
        |items: &[&str]| ParameterValue::list(items.iter().map(|it| (*it).to_owned()).collect());
    let planned = |text: &str, list: ParameterValue| {
        parse(text)?.plan(&BTreeMap::from([("$l".to_owned(), list)]))
    };
    for (kind, call, list, literal) in [
        ("string", "eq(name, $l)", &["a", "b, c", "[d]"][..], r#"eq(name, ["a", "b, c", "[d]"])"#),
        ("string", "eq(name, $l)", &["a"], r#"eq(name, ["a"])"#),
        ("int", "eq(age, $l)", &["1", "-2"], "eq(age, [1, -2])"),
        ("float", "eq(size, $l)", &["1.5"], "eq(size, [1.5])"),
        ("string", "uid($l)", &["0x2", "1"], "uid(0x2, 1)"),
    ] {
        let text = format!("query t($l: {kind}) {{ q(func: {call}) {{ uid }} }}");
        let result = planned(&text, items(list)).unwrap().blocks[0].root.clone().unwrap();
        assert_eq!(result.call, function(literal), "{call}");
    }
    let text = "query t($l: int) { q(func: has(a)) @filter(uid_in(f, $l) and eq(a, $l)) { a } }";
    let in_text = "{ q(func: has(a)) @filter(uid_in(f, [1, 2]) and eq(a, [1, 2])) { a } }";
    let calls = |filter: &Filter| match filter {
        Filter::And(parts) => parts.iter().map(call_of).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let result = planned(text, items(&["1", "2"])).unwrap();
    assert_eq!(
        calls(result.blocks[0].filter.as_ref().unwrap()),
        calls(plan(in_text).blocks[0].filter.as_ref().unwrap())
    );
    // An empty list equals nothing.
    let text = "query t($l: string) { q(func: eq(name, $l)) { uid } }";
    let Call::Compare { arguments, .. } =
        planned(text, items(&[])).unwrap().blocks[0].root.clone().unwrap().call
    else {
        panic!("no comparison")
    };
    assert!(arguments.is_empty());
    for (text, list, message) in [
        ("query t($l: int) { q(func: eq(age, $l)) { uid } }", &["1", "x"][..], "its value is `x`"),
        ("query t($l: int) { q(func: le(age, $l)) { uid } }", &["1", "2"], "takes one value"),
        ("query t($l: int) { q(func: has(a), first: $l) { a } }", &["1"], "$l is a list"),
        ("query t($l: string) { q(func: type($l)) { a } }", &["T"], "$l is a list"),
        ("query t($l: string) { q(func: uid($l)) { a } }", &["x"], "holds `x`, which is no uid"),
    ] {
        let error = planned(text, items(list)).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

fn call_of(filter: &Filter) -> Call {
    match filter {
        Filter::Function(function) => function.call.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn schema_requests() {
    let schema = plan("schema(type: [A, B]) { fields }").schema.unwrap();
    assert_eq!(schema.types.unwrap(), ["A", "B"]);
    assert_eq!(schema.predicates, None);
    let schema = plan("SCHEMA(pred: a) { type index } { q(func: has(a)) { a } }").schema.unwrap();
    assert_eq!((schema.predicates.unwrap(), schema.fields.len()), (vec!["a".to_owned()], 2));
}

#[test]
fn mutation_blocks() {
    let request =
        parse_mutation("{ set { <1> <a> \"}{\" . } # b\n delete {x} set { last } }").unwrap();
    assert!(request.query.is_none());
    let texts = |blocks: &[RdfBlock]| -> Vec<String> {
        blocks.iter().map(|block| block.text.clone()).collect()
    };
    assert_eq!(texts(&request.mutations[0].set), [" <1> <a> \"}{\" . ", " last "]);
    assert_eq!(texts(&request.mutations[0].delete), ["x"]);
    assert_eq!(parse_mutation("{ q(func: has(a)) { a } }").unwrap().mutations, []);
    #[rustfmt::skip]
    let cases = [
        ("{ set { a } } { set { b } }", "line 1 column 1: a mutation must be the only block of its text (several mutations belong into one `upsert { ... }`)"),
        ("{ set { { } }", "line 1 column 9: found `{` inside RDF (braces may only be inside quoted literals)"),
        ("{ set { \" } }", "line 1 column 9: a literal is never closed (add `\"`)"),
        ("{ r as pagerank { follows } q(func: uid(r)) { val(r) } }", "line 1 column 17: found `{`, expected `(` (an algorithm needs round brackets: `pagerank() { follows }`)"),
        ("{ schema { a } }", "line 1 column 10: found `{`, expected `(` (a block needs round brackets: `name(func: ...)`)"),
        ("{ set a }", "line 1 column 7: found `a` (expected `{`)"),
        ("upsert {}", "line 1 column 1: an upsert block without a `mutation` (add `mutation { set { ... } }`, or send it as a query)"),
        ("upsert { query { q(func: has(a)) { a } } }", "line 1 column 1: an upsert block without a `mutation` (add `mutation { set { ... } }`, or send it as a query)"),
        ("upsert { mutation { set { a } } }", "line 1 column 1: an upsert block without a `query` (add `query { ... }`, or write `{ set { ... } }` alone)"),
        ("upsert { query { q(func: has(a)) } query { p(func: has(a)) } mutation { set { a } } }", "line 1 column 36: a second `query` in an upsert block (write all blocks into one)"),
        ("upsert { query { q(func: has(a)) } mutation @filter(has(a)) { set { a } } }", "line 1 column 45: found `@filter` before a mutation (expected `@if(...)`)"),
    ];
    let reported = cases.map(|(text, _)| parse_mutation(text).unwrap_err().to_string());
    assert_eq!(reported, cases.map(|(_, fault)| fault));
}

/// The plan of a request whose mutations use these variables.
fn plan_request(request: &MutationRequest, names: &[&str]) -> Result<UpsertPlan> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let conditions: Vec<Option<&UpsertCondition>> =
        request.mutations.iter().map(|mutation| mutation.condition.as_ref()).collect();
    let empty = Document::empty();
    let query = request.query.as_ref().unwrap_or(&empty);
    query.plan_upsert(&BTreeMap::new(), &conditions, &names)
}

#[test]
fn upserts() {
    let text = "upsert { mutation @if(eq(len(v), 0) and not gt(len(v), 5)) { set { uid(v) <a> val(w) . } }
        query { var(func: has(a)) { v as uid ...f } } fragment f { w as b } mutation { delete { } } }";
    let request = parse_mutation(text).unwrap();
    let planned = plan_request(&request, &["v", "w"]).unwrap();
    assert_eq!(planned.conditions.len(), 2);
    let Some(Filter::And(parts)) = &planned.conditions[0] else { panic!("no condition") };
    let Filter::Function(function) = &parts[0] else { panic!("no function") };
    assert!(matches!(function.call, Call::Compare { left: Operand::Len(VarId(0)), .. }));
    assert_eq!(planned.conditions[1], None);
    let unused = "upsert { query { var(func: has(a)) { v as uid } } mutation { set { <1> <a> \"uid(v)\" . } } }";
    let error = plan_request(&parse_mutation(unused).unwrap(), &[]).unwrap_err().to_string();
    assert!(error.contains("variable `v` is defined but not used"), "{error}");
    let undefined = parse_mutation("{ set { uid(v) <a> \"x\" . } }").unwrap();
    let error = plan_request(&undefined, &["v"]).unwrap_err().to_string();
    assert!(error.contains("variable `v` is used in a mutation but not defined"), "{error}");
}

#[test]
fn conditions_of_their_own() {
    let query: Document = parse("{ q(func: has(a)) { v as uid } }").unwrap();
    let condition = parse_condition(" @filter( eq(len(v), 1) ) ").unwrap();
    let planned = query.plan_upsert(&BTreeMap::new(), &[Some(&condition)], &[]).unwrap();
    assert!(planned.conditions[0].is_some());
    assert!(parse_condition("@if()").is_ok());
    for (text, why) in [
        ("", "a condition is exactly one `@if(...)`"),
        ("@if", "column 1: found `@if` before a mutation"),
        ("if(has(a))", "a condition begins with `@if(` (write `@if(has(a))`)"),
        ("has(a)", "a condition begins with `@if(` (write `@if(has(a))`)"),
        ("@If(has(a))", "found `@If` before a mutation (write `@if(...)` in small letters)"),
        ("@if(has(a)) x", "column 13: text behind the condition"),
        ("@if(has(a)) @if(has(b))", "a condition is exactly one `@if(...)`"),
        ("@if(has(a)", "column 4: `(` is never closed"),
    ] {
        let error = parse_condition(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn limits() {
    let deep = format!("{{ q(func: has(a)) {}", "{ a ".repeat(100_000));
    assert!(matches!(parse(&deep), Err(Error::Syntax { .. })));
    let long = format!("{{ q(func: has(a)) {{ a }} }}{}", " ".repeat(5 << 20));
    let Err(Error::Limit { message }) = parse(&long) else { panic!("accepted") };
    assert!(message.contains("query_length_max"));
    let mut bomb = "{ q(func: has(a)) { ...f0 } }".to_owned();
    for level in 0..30 {
        let next = level + 1;
        bomb += &format!("fragment f{level} {{ a {{ ...f{next} }} b {{ ...f{next} }} }} ");
    }
    bomb += "fragment f30 { a }";
    assert!(matches!(plan_with(&bomb, &[]), Err(Error::Limit { .. })));
    let mut chain = "{ q(func: has(a)) { ...f0 } } fragment f1000 { a }".to_owned();
    for level in 0..1000 {
        chain += &format!("fragment f{level} {{ a {{ ...f{} }} }} ", level + 1);
    }
    assert!(matches!(plan_with(&chain, &[]), Err(Error::Syntax { .. })));
    let wide = 200_000;
    for items in [
        "a - ".repeat(wide) + "a",
        "a@b : ".to_owned() + &"c : ".repeat(wide) + "d",
        (0..wide).map(|index| format!("a{index} ")).collect(),
        format!("a @filter({}has(a))", "has(a) or ".repeat(wide)),
        format!(
            "a ({}first: 1)",
            (0..wide).map(|i| format!("orderasc: a{i}, ")).collect::<String>()
        ),
    ] {
        let _ = plan_with(&format!("{{ q(func: has(a)) {{ {items} }} }}"), &[]);
    }
    let minus = format!("{{ q() {{ x: math({}1) }} }}", "-".repeat(100_000));
    let error = plan_with(&minus, &[]).unwrap_err().to_string();
    assert!(error.contains("too many minus signs in a row"), "{error}");
}

/// Texts that between them use most of the language.
const SEEDS: [&str; 6] = [
    "query t($a: int = 2) { v as q(func: eq(name@en, [\"x\\u00e9\", $a]), first: -1, orderasc: a@en) @filter(not (has(a) or uid(v, 0x1))) @cascade(a, b) { c: count(friend @filter(gt(count(x), 1)) (first: 2)) name@en:fr:. } }",
    "{ var(func: near(loc, [[1.5,-2],[3,4]], 10)) @recurse(depth: 2, loop: true) { x as a } q() { m: math(cond(x <= 1.5, -x * 2 % 3, pow(x, 2)) + 1) min(val(x)) } }",
    "{ q(func: regexp(p, /a\\/b/i)) @groupby(a, k: b) { count(uid) m: max(c) } } fragment f { ...g f @facets(a, orderasc: b, v as c) @facets(eq(d, 1)) { uid } }",
    "upsert { query { q(func: uid(1)) { v as uid } } mutation @if(eq(len(v), 0)) { set { uid(v) <a> \"}\" . } delete { * * * . } } }",
    "schema(pred: [a, <b>]) { type } # c\n{ p as shortest(from: uid(v), to: 2, numpaths: 3) { <a> @filter(type(T)) } }",
    "{ q(func: similar_to(v, 3, \"[1]\", ef: 2)) { expand(val(x)) { checkpwd(p, \"q\") } my - x : y @normalize } }",
];

fn never_panics(text: &str) {
    let none = BTreeMap::new();
    if let Ok(document) = parse(text) {
        let _ = document.plan(&none);
    }
    if let Ok(request) = parse_mutation(text) {
        let _ = plan_request(&request, &["a"]);
    }
    let _ = parse_condition(text);
}

proptest! {
    #[test]
    fn any_text_is_answered(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        never_panics(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_are_answered(
        words in proptest::collection::vec("[{}()\\[\\]@:,.<>=!/\"$#*+-]|[a-c]| |as|eq|uid|query|math|val|filter|é|\n|\\\\", 0..60),
    ) {
        never_panics(&words.concat());
        never_panics(&format!("{{ q(func: has(a)) {{ {} }} }}", words.concat()));
    }

    #[test]
    fn damaged_queries_are_answered(
        seed in 0..SEEDS.len(),
        edits in proptest::collection::vec((any::<u16>(), any::<u16>(), "[ -~é]{0,3}"), 1..5),
    ) {
        let mut letters: Vec<char> = SEEDS[seed].chars().collect();
        for (at, length, insert) in edits {
            let at = usize::from(at) % (letters.len() + 1);
            let end = (at + usize::from(length) % 4).min(letters.len());
            letters.splice(at..end, insert.chars());
        }
        never_panics(&letters.into_iter().collect::<String>());
    }
}
