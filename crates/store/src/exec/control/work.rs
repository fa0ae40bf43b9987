//! What a request gives to the algorithms that it runs: its threads, its memory, and when to stop.

use super::stop::RequestContext;
use crate::algo::Work;
use hexgraph_base::types::Result;
use hexgraph_base::types::pool::Pool;

impl Work for RequestContext {
    fn check(&self) -> Result<()> {
        RequestContext::check(self)
    }

    fn charge(&self, bytes: usize) -> Result<()> {
        RequestContext::charge(self, bytes)
    }

    fn uncharge(&self, bytes: usize) {
        RequestContext::uncharge(self, bytes);
    }

    fn pool(&self) -> Option<&Pool> {
        RequestContext::pool(self).map(AsRef::as_ref)
    }

    /// A request of a server leaves one core to concurrent quick ones: the threads of the pool have
    /// the same priority as theirs.
    fn threads(&self) -> usize {
        let all = RequestContext::pool(self).map_or(1, |pool| pool.threads());
        if self.has_admission_hook() { all.saturating_sub(1).max(1) } else { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::{Alone, EdgeArrays, Graph, Output, Run, Task, compute};
    use crate::exec::control::stop::Onward;
    use hexgraph_base::plan::{AlgorithmCall, algorithm};
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn a_request_of_a_server_leaves_a_core_to_others() {
        for (threads, of_server) in [(1, 1), (2, 1), (3, 2), (8, 7)] {
            let pool = Arc::new(Pool::new(threads));
            let own = RequestContext::new();
            own.set_pool(&pool);
            assert_eq!(Task::new(&own, None).threads(), threads);
            let served =
                RequestContext::new().with_admission_hook(Duration::ZERO, |_| Ok(Onward::ForGood));
            served.set_pool(&pool);
            assert_eq!(Task::new(&served, None).threads(), of_server);
            assert_eq!(Task::new(&served, Some(1)).threads(), 1);
            assert_eq!(Task::new(&served, Some(64)).threads(), of_server);
        }
        assert_eq!(Task::new(&RequestContext::new(), None).threads(), 1, "there is no pool");
    }

    fn result(graph: &Graph, call: &AlgorithmCall, task: Task<'_>) -> Output {
        let lists = vec![None; call.algorithm.arguments.len()];
        compute(&Run { graph, call, lists, weights: "`w`", task }).unwrap().output
    }

    #[test]
    fn it_uses_the_threads_that_it_has_and_finds_the_same() {
        let sources: Vec<u32> = (0..200_000).map(|edge| edge % 70_001).collect();
        let targets: Vec<u32> = (0..200_000).map(|edge| edge * 7 % 65_537).collect();
        let nodes = 70_001;
        let edges = EdgeArrays {
            nodes,
            sources: &sources,
            targets: &targets,
            weights: None,
            is_undirected: false,
        };
        let graph = Graph::of_arrays(&edges, &Task::new(&Alone, None)).unwrap();
        let call = AlgorithmCall::new(algorithm("pagerank").unwrap());
        let expected = result(&graph, &call, Task::new(&Alone, None));
        for (threads, helps) in [(2, false), (3, true)] {
            let pool = Arc::new(Pool::new(threads));
            let served =
                RequestContext::new().with_admission_hook(Duration::ZERO, |_| Ok(Onward::ForGood));
            served.set_pool(&pool);
            assert_eq!(result(&graph, &call, Task::new(&served, None)), expected);
            assert_eq!(pool.is_started(), helps, "of {threads} threads");
        }
    }
}
