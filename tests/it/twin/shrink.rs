//! Makes a case smaller as long as engine and twin differ.

use super::case::{Case, Step, Verdict, written_out};
use super::graph::Triple;
use super::piece::Chunk;
use std::time::{Duration, Instant};

/// The longest that may be spent on one case.
const PATIENCE: Duration = Duration::from_secs(30);

/// The smallest case that is found on the way.
pub fn shrink(case: &Case) -> Case {
    let started = Instant::now();
    let mut best = case.clone();
    loop {
        let before = format!("{best}").len();
        shrink_query(&mut best, started);
        shrink_steps(&mut best, started);
        shrink_triples(&mut best, started);
        shrink_facets(&mut best, started);
        if format!("{best}").len() == before || PATIENCE < started.elapsed() {
            return best;
        }
    }
}

/// Takes another case when it still differs.
fn try_case(best: &mut Case, other: Case, started: Instant) -> bool {
    let differs = started.elapsed() < PATIENCE && matches!(other.verdict(), Verdict::Differs(_));
    if differs {
        *best = other;
    }
    differs
}

fn shrink_query(best: &mut Case, started: Instant) {
    // The plan is checked without a database, so texts that are wrong cost nothing.
    let plans = |text: &str| {
        hexgraph::internals::dql::parse(text)
            .and_then(|document| document.plan(&Default::default()))
            .is_ok()
    };
    loop {
        let names = variables(&best.query.to_string());
        let without = names.iter().filter_map(|name| best.query.without(name));
        let smaller: Vec<Chunk> = without.chain(best.query.smaller()).collect();
        let lists = best.lists.clone();
        let worth = smaller.into_iter().filter(|it| plans(&written_out(&it.to_string(), &lists)));
        let shorter = worth.into_iter().any(|query| {
            let other = Case { query, ..best.clone() };
            try_case(best, other, started)
        });
        if !shorter {
            return;
        }
    }
}

/// The variables that a text defines.
fn variables(text: &str) -> Vec<String> {
    let starts = text.match_indices(" as ").map(|(end, _)| &text[..end]);
    starts.filter_map(|start| start.rsplit([' ', '(', ':']).next()).map(str::to_owned).collect()
}

fn shrink_steps(best: &mut Case, started: Instant) {
    let mut position = best.steps.len();
    while 1 < position {
        position -= 1;
        let mut other = best.clone();
        other.steps.remove(position);
        try_case(best, other, started);
    }
}

fn shrink_triples(best: &mut Case, started: Instant) {
    for step in 0..best.steps.len() {
        for list in 0..2 {
            let mut size = triples(&mut best.clone(), step, list).map_or(0, |all| all.len());
            while size != 0 {
                let mut start = 0;
                loop {
                    let mut other = best.clone();
                    let Some(all) = triples(&mut other, step, list) else { break };
                    if all.len() <= start {
                        break;
                    }
                    all.drain(start..(start + size).min(all.len()));
                    if !try_case(best, other, started) {
                        start += size;
                    }
                }
                size /= 2;
            }
        }
    }
}

fn shrink_facets(best: &mut Case, started: Instant) {
    for step in 0..best.steps.len() {
        let count = triples(&mut best.clone(), step, 0).map_or(0, |all| all.len());
        for position in 0..count {
            let mut other = best.clone();
            let Some(all) = triples(&mut other, step, 0) else { break };
            if !all[position].facets.is_empty() {
                all[position].facets.clear();
                try_case(best, other, started);
            }
        }
    }
}

/// The triples of a step: those that come, or those that go.
fn triples(case: &mut Case, step: usize, list: usize) -> Option<&mut Vec<Triple>> {
    match (case.steps.get_mut(step)?, list) {
        (Step::Load(triples), 0) => Some(triples),
        (Step::Change(change), 0) => Some(&mut change.set),
        (Step::Change(change), _) => Some(&mut change.delete),
        _ => None,
    }
}
