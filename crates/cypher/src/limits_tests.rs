//! Texts that are too deep or very long: an error with the limit's name, or a tree, and no overflow
//! of a stack.

use crate::{Code, Result, analyse, parse};
use std::thread;

fn on_stack<T: Send + 'static>(kib: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(kib << 10).spawn(work).unwrap().join().unwrap()
}

/// What nests: a head, what is repeated before what is inside, what is repeated after it, and a
/// tail.
const NESTED: [[&str; 5]; 14] = [
    ["RETURN ", "(", "1", ")", ""],
    ["RETURN ", "[", "1", "]", ""],
    ["RETURN ", "{a: ", "1", "}", ""],
    ["RETURN ", "f(", "1", ")", ""],
    ["RETURN ", "a[", "1", "]", ""],
    ["RETURN ", "-(", "1", ")", ""],
    ["RETURN ", "NOT (", "true", ")", ""],
    ["RETURN ", "CASE WHEN ", "true", " THEN 1 END", ""],
    ["RETURN ", "CASE ", "a", " WHEN 1 THEN 2 END", ""],
    ["RETURN ", "[x IN ", "l", "]", ""],
    ["RETURN ", "all(x IN ", "l WHERE true", ") WHERE true", ""],
    ["MATCH (n:", "!(", "A", ")", ") RETURN n"],
    ["", "CALL { ", "RETURN 1", " }", ""],
    ["RETURN ", "EXISTS { MATCH (n) WHERE ", "true", " }", ""],
];

fn nested([head, before, inside, after, tail]: [&str; 5], times: usize) -> String {
    format!("{head}{}{inside}{}{tail}", before.repeat(times), after.repeat(times))
}

#[test]
fn deep_texts_are_refused_on_any_stack() {
    for kib in [256, 1024, 8192] {
        for parts in NESTED {
            for times in [10_000, 100_000] {
                let text = nested(parts, times);
                let error = on_stack(kib, move || parse(&text).unwrap_err());
                assert_eq!(error.code, Code::Limit, "{parts:?}: {error}");
            }
        }
    }
}

/// Texts are analysed unless they break a rule of the language.
fn analysed(text: &str) -> Result<()> {
    match parse(text).and_then(|it| analyse(&it)) {
        Err(error) if error.code == Code::Limit => Err(error),
        _ => Ok(()),
    }
}

#[test]
fn levels_below_the_limit_are_parsed_and_printed() {
    for parts in NESTED {
        let mut text = nested(parts, 60);
        if parts[1].starts_with("all") {
            text = text.strip_suffix(" WHERE true").unwrap().to_owned();
        }
        let result = on_stack(8192, move || parse(&text).map(|it| it.statement().to_string()));
        assert!(result.is_ok(), "{parts:?}: {}", result.unwrap_err());
        let text = nested(parts, 60);
        on_stack(8192, move || assert!(analysed(&text).is_ok(), "{parts:?}"));
    }
}

#[test]
fn many_clauses_and_items_are_analysed_in_linear_time() {
    let names = |count: usize| (0..count).map(|it| format!("n{it}")).collect::<Vec<_>>();
    let list = names(20_000).join("), (");
    let items = names(20_000).join(" + 1, 1 + ");
    let texts = [
        format!("MATCH ({list}) {} RETURN *", "WITH * ".repeat(20_000)),
        format!("MATCH (a) {} RETURN 1", "WITH a ".repeat(100_000)),
        format!("RETURN {}1", "EXISTS { MATCH (a) RETURN a } AND ".repeat(20_000)),
        format!("MATCH ({list}) RETURN 1 + {items} + 1, count(*)"),
        format!("WITH 1 AS a {} RETURN a", "WITH [a] AS a ".repeat(50_000)),
    ];
    for text in texts {
        assert!(on_stack(1024, move || analysed(&text)).is_ok());
    }
    let items = names(10_000).into_iter().map(|name| format!("WITH *, 1 AS {name} "));
    let text = format!("{} RETURN 1", items.collect::<String>());
    assert!(analysed(&text).unwrap_err().message.starts_with("`*` means more than"));
}

#[test]
fn long_texts_without_nesting_are_parsed_on_a_small_stack() {
    let length = 128 << 10;
    for part in ["1 + ", "true AND ", "true OR ", "1 < ", "NOT ", "- ", "2 ^ ", "1 * ", "a:A AND "]
    {
        let text = format!("RETURN {}true", part.repeat(length / part.len()));
        on_stack(256, move || assert!(analysed(&text).is_ok(), "{}", &text[..40]));
    }
    for part in [".b", "[1]", " IS NULL", " IN l"] {
        let text = format!("RETURN a{}", part.repeat(length / part.len()));
        on_stack(256, move || assert!(analysed(&text).is_ok(), "{}", &text[..40]));
    }
    for part in ["MATCH (a)-->(b) ", "WITH a ", "RETURN 1 AS a UNION ALL "] {
        let text = format!("{}RETURN 1 AS a", part.repeat(length / part.len()));
        on_stack(256, move || assert!(analysed(&text).is_ok(), "{}", &text[..40]));
    }
    let text =
        format!("MATCH (n:{}A)-->{} RETURN n", "!".repeat(length), "()--".repeat(1000) + "()");
    on_stack(256, move || assert!(analysed(&text).is_ok()));
    let long = 1 << 20;
    let text = format!("RETURN '{}' + {}1", "x".repeat(long / 2), "1 + ".repeat(long / 8));
    assert!(analysed(&text).is_ok());
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let error = parse(&" ".repeat((4 << 20) + 1)).unwrap_err();
    assert_eq!(error.code, Code::Limit);
    assert!(error.message.contains("query_length_max"), "{error}");
}
