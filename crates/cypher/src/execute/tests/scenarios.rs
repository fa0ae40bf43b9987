//! The read-only scenarios of the openCypher TCK, over graphs in memory.

use super::context;
use super::encoding::{expected, returned};
use super::memory_graph::{MemoryGraph, decode};
use crate::conformance::rows;
use crate::execute::execute;
use crate::{analyse, parse};
use hexgraph_scalar::Map;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Why a scenario does not agree, where matches are joined or not.
fn disagreement(scenario: &Json) -> Option<String> {
    let graph = MemoryGraph::new(&scenario["graph"]);
    let lists = MemoryGraph::new(&scenario["graph"]).with_lists(1 << 20, 64 << 20);
    disagreement_over(scenario, &graph).or_else(|| disagreement_over(scenario, &lists))
}

fn disagreement_over(scenario: &Json, graph: &MemoryGraph) -> Option<String> {
    let params = scenario["params"].as_object().unwrap().iter();
    let params = params.map(|(key, it)| (key.as_str().into(), decode(it))).collect();
    let run = || -> Result<_, String> {
        let parsed = parse(scenario["query"].as_str().unwrap()).map_err(|it| it.to_string())?;
        analyse(&parsed).map_err(|it| it.to_string())?;
        let params = Map::new(params).unwrap();
        execute(&parsed, &params, graph, &context()).map_err(|it| it.to_string())
    };
    let table = match run() {
        Ok(_) if !scenario["error"].is_null() => return Some("no error".to_owned()),
        Ok(table) => table,
        Err(error) => return scenario["error"].is_null().then_some(error),
    };
    let unordered = scenario["lists_unordered"] == true;
    if let Some(columns) = scenario["columns"].as_array()
        && !columns.iter().map(|it| it.as_str().unwrap()).eq(table.columns.iter().map(|it| &**it))
    {
        return Some(format!("columns {:?}", table.columns));
    }
    let text = |row: &Vec<hexgraph_scalar::Value>| {
        let cells: Vec<String> = row.iter().map(|it| returned(it, graph, unordered)).collect();
        cells.join("\t")
    };
    let mut came: Vec<String> = table.rows.iter().map(text).collect();
    let expected_rows = scenario["rows"].as_array().unwrap().iter();
    let mut expected_rows: Vec<String> = expected_rows
        .map(|row| {
            let cells: Vec<String> =
                row.as_array().unwrap().iter().map(|it| expected(it, unordered)).collect();
            cells.join("\t")
        })
        .collect();
    if scenario["ordered"] != true {
        came.sort();
        expected_rows.sort();
    }
    (came != expected_rows).then(|| format!("{came:?}\n  instead of {expected_rows:?}"))
}

/// Scenarios that do not agree: an id, two spaces and a reason. The list may only become shorter.
const FAILURES: &str = include_str!("failures.txt");

#[test]
fn scenarios_have_their_rows() {
    let files = ["read.jsonl", "rewritten.jsonl"];
    let Some(scenarios) = files.iter().map(|file| rows(file)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let listed: BTreeMap<&str, &str> =
        FAILURES.lines().map(|line| line.split_once("  ").expect("an id and a reason")).collect();
    let mut folders: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for scenario in scenarios.iter().flatten() {
        let id = scenario["id"].as_str().unwrap();
        let counts = folders.entry(id.rsplit_once('/').unwrap().0).or_default();
        counts.1 += 1;
        match (disagreement(scenario), listed.get(id)) {
            (None, None) => counts.0 += 1,
            (None, Some(_)) => wrong.push(format!("{id} agrees, and is in failures.txt")),
            (Some(_), Some(_)) => {}
            (Some(reason), None) => {
                wrong.push(format!("{id}\n  {}\n  {reason}", scenario["query"].as_str().unwrap()));
            }
        }
    }
    for (folder, (passed, all)) in &folders {
        println!("{folder:40} {passed:5} of {all:5}");
    }
    let (passed, all) = folders.values().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    println!("{passed} passed, {} failed", all - passed);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every text over graphs that it was not written for, errors of the text included: an answer or an
/// error.
#[test]
fn any_text_over_any_graph_does_not_panic() {
    let Some(scenarios) = rows("read.jsonl") else { return };
    let graphs: Vec<&Json> = scenarios.iter().map(|it| &it["graph"]).collect();
    let mut answers = 0;
    for (index, scenario) in scenarios.iter().enumerate() {
        let Ok(parsed) = parse(scenario["query"].as_str().unwrap()) else { continue };
        let graph = MemoryGraph::new(graphs[(index * 7 + 1000) % graphs.len()]);
        graph.checks_left.set(1000);
        let params = Map::new(Vec::new()).unwrap();
        answers += usize::from(execute(&parsed, &params, &graph, &context()).is_ok());
        assert_eq!(graph.bytes_left.get(), 64 << 20, "{}", scenario["id"]);
    }
    assert!(2000 < answers, "{answers}");
}
