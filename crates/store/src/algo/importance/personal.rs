//! The variants of PageRank: all ranks by rounds over all edges, or those near some nodes by
//! forward push; all of them, or the greatest.

use super::pagerank::pagerank as by_rounds;
use super::push::{greatest, push};
use crate::algo::run::{Outcome, Output, Run};
use crate::algo::task::Task;
use hexgraph_base::plan::ArgumentValue;
use hexgraph_base::types::{Error, Result};

pub(in crate::algo) fn pagerank(run: &Run<'_>) -> Result<Outcome> {
    let top = run.call.int("top").map(|top| top as usize);
    let starts = run.list("from");
    if starts.is_some_and(<[u32]>::is_empty) && !run.graph.is_empty() {
        // Ranks from everywhere would be an answer to another question.
        let hint =
            "name a node that an edge joins, or leave it out for walks that start everywhere";
        return Err(Error::query("none of the nodes of `from` is in the graph").with_hint(hint));
    }
    let method = run.call.word("method");
    check_push(run, method)?;
    // Rounds are counted by that method alone.
    let is_by_rounds = run.call.differs("iterations") || run.call.differs("variant");
    let result = match (starts, method, top) {
        (Some(starts), "push", _) => push(run, starts, top, false)?,
        (Some(starts), "auto", Some(_)) if !is_by_rounds && run.call.float("damping") < 1.0 => {
            push(run, starts, top, true)?
        }
        _ => None,
    };
    if let Some(result) = result {
        return Ok(result);
    }
    // Graphalytics has no tolerance: all rounds are made.
    let mut call = run.call.clone();
    if run.call.word("variant") == "graphalytics" {
        call = call.with("tolerance", ArgumentValue::Float(0.0));
    }
    let lists = run.lists.clone();
    let task: Task<'_> = run.task;
    let (graph, weights) = (run.graph, run.weights);
    let Outcome { output, report } = by_rounds(&Run { graph, call: &call, lists, weights, task })?;
    let output = match (output, top) {
        (Output::Floats(ranks), Some(top)) if top < ranks.len() => {
            let _capacity = run.capacity_per_node(size_of::<(u32, f64)>())?;
            Output::Some(greatest((0..).zip(ranks).collect(), top))
        }
        (output, _) => output,
    };
    Ok(Outcome { output, report })
}

/// Refuses what says nothing to the method that goes outward from some nodes.
fn check_push(run: &Run<'_>, method: &str) -> Result<()> {
    if method != "push" {
        return Ok(());
    }
    if run.list("from").is_none() {
        let hint = "name nodes where walks start: `from: 0x1`, in Python `from_nodes`";
        return Err(Error::query("`method: push` without `from`").with_hint(hint));
    }
    let rounds = ["iterations", "variant"].into_iter().find(|name| run.call.differs(name));
    rounds.map_or(Ok(()), |name| {
        let hint = "it makes no rounds: use `method: power`, or bound it by `tolerance`";
        Err(Error::query(format!("`method: push` with `{name}`")).with_hint(hint))
    })
}
