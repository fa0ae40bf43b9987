//! Columns that are read chunk by chunk have the values that are read node by node, before and
//! after changes. A function is evaluated for rows, and so its argument is read node by node.

use crate::db::Database;
use std::fmt::Write;

const SCHEMA: &str = "
small: int .
large: int .
pay: float .
flag: bool .
day: datetime .
second: datetime .
zoned: datetime .
city: string .
name: string .
type P {
  small
}";

const PROPERTIES: [&str; 10] =
    ["small", "large", "pay", "flag", "day", "second", "zoned", "city", "name", "other"];

/// More nodes than several chunks have.
const NODES: usize = 6_000;

/// The values of a node: it lacks about one property in seven.
fn values(text: &mut String, node: usize, seed: usize) {
    let number = node * 7919 + seed;
    let (day, minute) = (1 + number % 28, number % 60);
    let values = [
        format!("\"{}\"", number % 100),
        format!("\"{}\"", number as i64 * 1_000_000_007 - 5_000_000_000_000),
        format!("\"{}.5\"", number % 1_000),
        format!("\"{}\"", number.is_multiple_of(3)),
        format!("\"2001-02-{day:02}\""),
        format!("\"2001-02-{day:02}T10:{minute:02}:07Z\""),
        format!("\"2001-02-{day:02}T10:{minute:02}:07.25+02:00\""),
        format!("\"c{}\"", number % 20),
        format!("\"name {number}\""),
        format!("\"{}\"", number % 5),
    ];
    writeln!(text, "<{node}> <dgraph.type> \"P\" .").unwrap();
    for (property, value) in PROPERTIES.iter().zip(values) {
        if *property == "pay" || !(node + property.len()).is_multiple_of(7) {
            writeln!(text, "<{node}> <{property}> {value} .").unwrap();
        }
    }
}

fn rows(db: &Database, text: &str) -> Vec<String> {
    let answer = db.cypher(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    answer.rows().map(|row| format!("{row:?}")).collect()
}

fn check(db: &Database) {
    for property in PROPERTIES {
        let by_rows = format!("coalesce(n.{property}, null)");
        for clause in [
            "MATCH (n:P) RETURN id(n), {it} AS it",
            "MATCH (n:P) RETURN {it} AS it, n.pay AS pay",
            "MATCH (n:P) WHERE {it} >= 50 RETURN id(n), {it} AS it",
            "MATCH (n:P) WHERE {it} IN ['c3', 'name 7919', 7] OR {it} = true RETURN id(n), n.pay",
            "MATCH (n:P) WHERE {it} < datetime('2001-02-09T08:30:00Z') RETURN id(n)",
            "MATCH (n:P) WHERE n.small > 40 AND {it} IS NOT NULL AND n.pay < 700 RETURN {it} AS it, n.name AS name",
            "MATCH (n:P) RETURN count({it}), min({it}), max({it})",
            "MATCH (n:P) RETURN {it} AS key, count(*) AS rows, sum(n.pay) ORDER BY rows, key",
        ] {
            let expected = rows(db, &clause.replace("{it}", &by_rows));
            let text = clause.replace("{it}", &format!("n.{property}"));
            assert_eq!(rows(db, &text), expected, "{text}");
        }
    }
}

#[test]
fn columns_have_the_values_of_their_nodes() {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    let mut text = String::new();
    (1..=NODES).for_each(|node| values(&mut text, node, 0));
    db.mutate(&text, "").unwrap();
    check(&db);
    // Some nodes change, some lose values, and some are new.
    let (mut set, mut delete) = (String::new(), String::new());
    (1..=NODES).step_by(50).for_each(|node| values(&mut set, node, 13));
    (NODES + 1..NODES + 90).for_each(|node| values(&mut set, node, 5));
    for (node, property) in (7..=NODES).step_by(30).zip(PROPERTIES.iter().cycle()) {
        writeln!(delete, "<{node}> <{property}> * .").unwrap();
    }
    db.mutate(&set, &delete).unwrap();
    check(&db);
}
