//! The algorithms that queries in Cypher call: they give what the blocks of DQL give.

use crate::db::{AlgorithmNumbers, Database, Limits, OpenOptions, RequestContext, TxnOptions};
use hexgraph_base::plan::{ALGORITHMS, Algorithm, ArgumentKind};
use hexgraph_scalar::{Map, Value};
use std::fmt::Write;
use std::fs;

/// Twelve people in teams of four, each of whom knows some others; the last one nobody.
fn database(options: OpenOptions) -> Database {
    let db = Database::in_memory_with(options);
    db.alter("team: string .\nUser.friend: [uid] .\nknows: [uid] .").unwrap();
    let mut quads = String::new();
    for id in 1..=12_u64 {
        writeln!(quads, "<{id}> <team> \"{}\" .\n<{id}> <dgraph.type> \"Person\" .", id / 4)
            .unwrap();
    }
    for id in 1..=11_u64 {
        for (step, km) in [(1, 2.5), (3, 1.0), (4, id as f64)] {
            let other = id % 11 + step;
            if other <= 11 && other % 5 != 0 {
                writeln!(quads, "<{id}> <knows> <{other}> (km={km:.1}) .").unwrap();
            }
        }
    }
    quads.push_str("<1> <User.friend> <12> .\n<12> <User.friend> <3> .\n");
    db.mutate(&quads, "").unwrap();
    db
}

/// The rows of the block of an algorithm: nodes and numbers, a path with its nodes in a row.
fn of_dql(db: &Database, text: &str) -> Vec<String> {
    let context = RequestContext::new();
    let table = db.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let table = table.into_algorithm(&context).unwrap();
    let numbers: Vec<Option<String>> = match &table.numbers {
        AlgorithmNumbers::Floats(all) => {
            all.iter().map(|it| (!it.is_nan()).then(|| Value::Float(*it).to_string())).collect()
        }
        AlgorithmNumbers::Ints(all) => {
            let is_there = |it: &i64| !AlgorithmNumbers::is_missing(*it);
            all.iter().map(|it| is_there(it).then(|| it.to_string())).collect()
        }
        AlgorithmNumbers::Vectors(length, all) => all
            .chunks(*length)
            .map(|it| {
                let floats = it.iter().map(|it| Value::Float(f64::from(*it))).collect();
                Some(Value::list(floats).unwrap().to_string())
            })
            .collect(),
        AlgorithmNumbers::Nothing => table.uids.iter().map(|_| Some(String::new())).collect(),
    };
    let uid = |uid: &u64| format!("{uid:#x}");
    if let Some(paths) = &table.path {
        let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        for (index, path) in paths.iter().enumerate() {
            rows.resize_with(rows.len().max(*path as usize + 1), Default::default);
            let (nodes, distances) = &mut rows[*path as usize];
            nodes.push(uid(&table.uids[index]));
            distances.extend(numbers[index].clone());
        }
        let row = |(index, (nodes, distances)): (usize, (Vec<String>, Vec<String>))| {
            let nodes = format!("{index} [{}]", nodes.join(", "));
            if table.name == "walks" {
                nodes
            } else {
                format!("{nodes} [{}]", distances.join(", "))
            }
        };
        return rows.into_iter().enumerate().map(row).collect();
    }
    let row = |(index, number): (usize, Option<String>)| {
        let nodes = [table.uids.get(index), table.to.as_ref().and_then(|to| to.get(index))];
        let cells = nodes.into_iter().flatten().map(uid).chain(Some(number?));
        Some(cells.filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" "))
    };
    numbers.into_iter().enumerate().filter_map(row).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Map(node) => node.get("uid").unwrap().to_string(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(cell).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn of_cypher(db: &Database, text: &str) -> Vec<String> {
    let answer = db.cypher(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    answer.rows().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
}

/// The same call in DQL and in Cypher.
fn texts(algorithm: &Algorithm) -> [String; 2] {
    let (mut arguments, mut options) = (Vec::new(), Vec::new());
    for argument in algorithm.arguments.iter().filter(|it| it.kind.is_required()) {
        let (dql, cypher) = match argument.kind {
            ArgumentKind::Groups => ("team", "'team'"),
            _ if argument.name == "target" => ("0x7", "7"),
            _ if algorithm.argument("k").is_some() => ("0x1", "'0x1'"),
            _ => ("uid(0x1, 0x2, 0x3)", "[1, '0x2', 3, 3]"),
        };
        arguments.push(format!("{}: {dql}", argument.name));
        options.push(format!("{}: {cypher}", argument.name));
    }
    arguments.push("seed: 5".to_owned());
    options.push("seed: 5".to_owned());
    let facet = if algorithm.takes_weights { " @facets(km)" } else { "" };
    options.extend(algorithm.takes_weights.then(|| "weight: 'km'".to_owned()));
    let name = algorithm.name;
    let dql = format!("{{ {name}({}) {{ knows{facet} }} }}", arguments.join(", "));
    [dql, format!("CALL algo.{name}('knows', {{{}}})", options.join(", "))]
}

fn assert_equal_to_dql(db: &Database) {
    for algorithm in ALGORITHMS {
        let [dql, cypher] = texts(algorithm);
        let rows = of_cypher(db, &cypher);
        assert_eq!(rows, of_dql(db, &dql), "{cypher}");
        assert!(!rows.is_empty() || algorithm.name == "articulation_points", "{cypher}");
        let columns: Vec<&str> = algorithm.columns().iter().map(|it| it.name).collect();
        let answer = db.cypher(&cypher).unwrap();
        assert_eq!(answer.columns.iter().map(|it| &**it).collect::<Vec<_>>(), columns);
        let named = columns.join(", ");
        let within = format!("{cypher} YIELD {named} RETURN {named}");
        assert_eq!(of_cypher(db, &within), rows, "{within}");
    }
}

#[test]
fn each_algorithm_gives_what_its_block_gives() {
    let db = database(OpenOptions::default());
    assert_equal_to_dql(&db);
    db.mutate("<3> <knows> <1> (km=0.5) .\n<13> <knows> <2> (km=4.5) .", "<1> <knows> <2> .")
        .unwrap();
    assert_equal_to_dql(&db);
    let top =
        "CALL algo.pagerank('knows', {from: [1, 2], top: 3}) YIELD node, score RETURN node, score";
    let dql = "{ pagerank(from: uid(0x1, 0x2), top: 3) { knows } }";
    assert_eq!(of_cypher(&db, top), of_dql(&db, dql));
}

#[test]
fn a_transaction_sees_its_changes_in_algorithms() {
    let db = database(OpenOptions::default());
    let txn = db.begin(TxnOptions::default()).unwrap();
    txn.mutate("<12> <knows> <1> .", "").unwrap();
    let (none, context) = (Map::new(Vec::new()).unwrap(), RequestContext::new());
    let text = "CALL algo.bfs('knows', {source: 12}) YIELD node, distance RETURN count(*)";
    let inside = txn.cypher_with(text, &none, &context).unwrap();
    let all: i64 = of_cypher(&db, "CALL algo.bfs('knows', {source: 1}) YIELD node RETURN count(*)")
        [0]
    .parse()
    .unwrap();
    assert_eq!(inside.value(0, 0), Value::Int(all + 1));
    assert_eq!(of_cypher(&db, text), ["0"]);
}

#[test]
fn names_and_nodes_are_those_of_the_query() {
    let db = database(OpenOptions::default());
    let rows = |text: &str| of_cypher(&db, text).join("; ");
    // A short name, and both names of one type.
    let expected = "0x1 1.0; 0x3 0.0; 0xc 1.0";
    assert_eq!(rows("CALL algo.degree('friend')"), expected);
    assert_eq!(rows("CALL algo.degree(['friend', 'User.friend'])"), expected);
    assert_eq!(rows("CALL algo.degree(['friend', 'none'])"), expected);
    // Nodes of variables, collected and by their ids.
    let text = "MATCH (n:Person) WHERE id(n) = 1 CALL algo.bfs('friend', {source: n}) YIELD node, distance RETURN node, distance";
    assert_eq!(rows(text), "0x1 0; 0x3 2; 0xc 1");
    let text = "CALL algo.bfs('friend', {source: COLLECT { MATCH (n) WHERE id(n) > 2 RETURN n }}) YIELD node, distance RETURN node, distance";
    assert_eq!(rows(text), "0x3 0; 0xc 0");
    let text = "MATCH (n:Person) WHERE id(n) IN [1, 12] CALL algo.bfs('friend', {source: elementId(n)}) YIELD distance RETURN id(n), sum(distance)";
    assert_eq!(rows(text), "1 3; 12 1");
    let text =
        "OPTIONAL MATCH (n:Nobody) CALL algo.bfs('friend', {source: n}) YIELD node RETURN count(*)";
    assert_eq!(rows(text), "0");
    // Labels include nodes without edges; nodes restrict them.
    assert_eq!(
        rows("CALL algo.degree('friend', {labels: 'Person'}) YIELD node RETURN count(*)"),
        "12"
    );
    let text = "CALL algo.degree('friend', {labels: ['Person', 'Nobody'], nodes: [1, 12, 99]})";
    assert_eq!(rows(text), "0x1 1.0; 0xc 0.0");
    assert_eq!(
        rows("CALL algo.degree('friend', {labels: 'Nobody'}) YIELD node RETURN count(*)"),
        "0"
    );
    // Groups of another algorithm.
    let text = "CALL algo.louvain('knows') YIELD node, community WITH collect([node, community]) AS groups CALL algo.modularity('knows', {groups: groups}) YIELD modularity RETURN modularity > 0.1";
    assert_eq!(rows(text), "true");
    let one = "MATCH (n:Person) WITH collect([n, 1]) AS groups CALL algo.modularity('knows', {groups: groups}) YIELD modularity RETURN modularity";
    assert_eq!(rows(one), "0.0");
}

#[test]
fn what_an_algorithm_refuses_has_its_position() {
    let db = database(OpenOptions::default());
    let refused = [
        (
            "RETURN 1 AS x UNION CALL algo.pagerank('knows', {from: []}) YIELD score AS x RETURN 1 AS x",
            "line 1 column 26",
        ),
        ("CALL algo.distances('knows', {source: 1, weight: 'miles'})", "miles"),
        (
            "CALL algo.modularity('knows', {groups: 'knows'}) YIELD modularity AS m RETURN n",
            "`n` is not defined",
        ),
    ];
    for (text, expected) in refused {
        let error = db.cypher(text).map(|answer| answer.row_count()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let answer = db.cypher("CALL algo.degree(['frend', 'frend', 'knows'])").unwrap();
    let warnings: Vec<String> = answer.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["line 1 column 18: there is no relationship type `frend` (did you mean `friend`?)"]
    );
    let slow = db.cypher("CALL algo.pagerank('knows', {iterations: 1})").unwrap();
    assert!(slow.warnings()[0].to_string().contains("did not converge"), "{:?}", slow.warnings());
}

#[test]
fn limits_stop_an_algorithm() {
    let limits = Limits { memory: 64 << 10, ..Limits::default() };
    let db = database(OpenOptions { limits, ..OpenOptions::default() });
    let seeds = "WITH range(1, 100000) AS seeds CALL algo.bfs('knows', {source: seeds}) YIELD node RETURN count(*)";
    let error = db.cypher(seeds).map(|answer| answer.row_count()).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
    let text = "CALL algo.fastrp('knows', {dimensions: 4096})";
    let error = db.cypher(text).map(|answer| answer.row_count()).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
    let context = RequestContext::new();
    context.canceller().cancel();
    let none = Map::new(Vec::new()).unwrap();
    assert!(db.cypher_with("CALL algo.degree('knows')", &none, &context).is_err());
    assert_eq!(of_cypher(&db, "CALL algo.degree('friend')").len(), 3, "the database goes on");
}

/// The page about Cypher has each algorithm once, with its options and columns. `HEXGRAPH_UPDATE=1`
/// writes the table anew.
#[test]
fn the_page_about_cypher_has_the_table_of_algorithms() {
    const HEAD: &str = "| procedure | options | columns |\n|---|---|---|\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cypher.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(HEAD).expect("the page has the table");
    let (_, after) = rest.split_once("\n\n").unwrap_or(("", rest.trim_start()));
    let row = |algorithm: &Algorithm| {
        let own = algorithm.arguments.iter().map(|it| {
            let name = format!("`{}`", it.name);
            if it.kind.is_required() { format!("**{name}**") } else { name }
        });
        let weight = algorithm.takes_weights.then(|| "`weight`".to_owned());
        let options: Vec<String> = own.chain(weight).collect();
        let columns: Vec<String> =
            algorithm.columns().iter().map(|it| format!("`{}`", it.name)).collect();
        let (options, columns) = (options.join(", "), columns.join(", "));
        format!("| `algo.{}` | {options} | {columns} |\n", algorithm.name).replace("|  |", "| |")
    };
    let rows: String = ALGORITHMS.iter().map(row).collect();
    let expected = format!("{before}{HEAD}{rows}\n{after}");
    if std::env::var_os("HEXGRAPH_UPDATE").is_some() {
        fs::write(path, &expected).unwrap();
    }
    assert!(page == expected, "{path} lacks these rows:\n{rows}");
}
