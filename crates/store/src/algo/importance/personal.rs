//! PageRank in the ways that it can be asked for: all ranks by rounds over all edges, or those near some nodes from these outward; all of
//! them, or the greatest.

use super::pagerank::pagerank as by_rounds;
use super::push::{greatest, push};
use crate::algo::run::{Found, Output, Run};
use crate::algo::task::Task;
use hexgraph_base::plan::ArgumentValue;
use hexgraph_base::types::{Error, Result};

pub(in crate::algo) fn pagerank(run: &Run<'_>) -> Result<Found> {
    let top = run.call.int("top").map(|top| top as usize);
    let starts = run.list("from").filter(|from| !from.is_empty());
    let method = run.call.word("method");
    if method == "push" && run.list("from").is_none() {
        let hint = "name nodes where walks start: `from: 0x1`, in Python `from_nodes`";
        return Err(Error::query("`method: push` without `from`").with_hint(hint));
    }
    if let (Some(starts), "push", _) | (Some(starts), "auto", Some(_)) = (starts, method, top) {
        return push(run, starts, top);
    }
    // Graphalytics has no tolerance: all rounds are made.
    let mut call = run.call.clone();
    if run.call.word("variant") == "graphalytics" {
        call = call.with("tolerance", ArgumentValue::Float(0.0));
    }
    let lists = run.lists.clone();
    let task: Task<'_> = run.task;
    let Found { output, report } = by_rounds(&Run { graph: run.graph, call: &call, lists, task })?;
    let output = match (output, top) {
        (Output::Floats(ranks), Some(top)) if top < ranks.len() => {
            let _room = run.room_a_node(size_of::<(u32, f64)>())?;
            Output::Some(greatest((0..).zip(ranks).collect(), top))
        }
        (output, _) => output,
    };
    Ok(Found { output, report })
}
