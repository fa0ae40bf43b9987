//! Chooses the cheapest of the allowed access paths, or one of them at random.

use crate::exec::control::context::Context;

impl Context<'_> {
    /// The cheapest path, or a random allowed one in tests. The random choice differs with `salt`,
    /// such as the number of nodes.
    #[inline]
    pub(crate) fn pick<P: Copy>(
        &self,
        cheapest: P,
        salt: usize,
        allowed: impl FnOnce() -> Vec<P>,
    ) -> P {
        let choice = self.control.costs().choice;
        if !choice.is_random() {
            return cheapest;
        }
        let allowed = allowed();
        if allowed.is_empty() { cheapest } else { allowed[choice.choose(salt, allowed.len())] }
    }
}

#[cfg(test)]
mod tests {
    use crate::exec::access_path::{AccessPath, FilterPath};
    use crate::exec::control::context::Context;
    use crate::exec::control::stop::RequestContext;
    use crate::exec::cost::CostModel;
    use crate::exec::cost::RandomChoice;
    use crate::exec::select::passing::Purpose;
    use crate::exec::tests::random_graph::{EDGES, graph};
    use crate::graph::Version;
    use crate::storage::NodeSet;
    use fastrand::Rng;
    use hexgraph_base::plan::{
        Argument, Call, Comparison, Filter, Function, Operand, Page, PredicateRef, Query, SemiJoin,
    };
    use std::collections::HashSet;

    /// A random function of values, such that each index has some and none has others.
    fn function(rng: &mut Rng) -> Filter {
        let name = |name: &str| PredicateRef { name: name.to_owned(), reverse: false, lang: None };
        let text = |text: &str| Argument::Text(text.to_owned());
        let numbers = ["-2", "0", "1", "3", "1000000007", "3000000021"];
        let number = *rng.choice(&numbers).unwrap();
        let op = *rng.choice(&[Comparison::Eq, Comparison::Ge, Comparison::Lt]).unwrap();
        let call = match rng.u8(..6) {
            0 => Call::Has(name(rng.choice(["age", "rank", "knows", "likes"]).unwrap())),
            1 => Call::Uid { uids: (0..9).map(|_| rng.u64(1..60)).collect(), vars: Vec::new() },
            2 => {
                let left = Operand::Predicate(name("name"));
                let arguments = ["a", "b", ""].iter().take(rng.usize(1..4)).map(|it| text(it));
                Call::Compare { op: Comparison::Eq, left, arguments: arguments.collect() }
            }
            3 => {
                let left = Operand::Count(name(rng.choice(EDGES).unwrap()));
                Call::Compare { op, left, arguments: vec![text("1")] }
            }
            4 => {
                let left = Operand::Predicate(name("rank"));
                Call::Between { left, low: text("0"), high: text(number) }
            }
            _ => {
                let left = Operand::Predicate(name(rng.choice(["age", "rank"]).unwrap()));
                Call::Compare { op, left, arguments: vec![text(number)] }
            }
        };
        Filter::Function(Box::new(Function { call, at: Default::default() }))
    }

    fn filter(rng: &mut Rng, depth: usize) -> Filter {
        let parts = |rng: &mut Rng| (0..rng.usize(1..4)).map(|_| filter(rng, depth - 1)).collect();
        match rng.u8(..8) {
            0 | 1 if 0 < depth => Filter::And(parts(rng)),
            2 if 0 < depth => Filter::Or(parts(rng)),
            3 if 0 < depth => Filter::Not(Box::new(filter(rng, depth - 1))),
            4 | 5 if 0 < depth => {
                let predicate = (*rng.choice(EDGES.as_slice()).unwrap()).to_owned();
                let reverse = predicate == EDGES[0] && rng.bool();
                let filter = (rng.u8(..4) != 0).then(|| filter(rng, depth - 1));
                let more_than = if rng.u8(..4) == 0 { 1 } else { 0 };
                Filter::SemiJoin(Box::new(SemiJoin { predicate, reverse, more_than, filter }))
            }
            _ => function(rng),
        }
    }

    /// Whether a node passes, without any index or set.
    fn passes(context: &Context<'_>, filter: &Filter, node: u32) -> bool {
        match filter {
            Filter::And(parts) => parts.iter().all(|part| passes(context, part, node)),
            Filter::Or(parts) => parts.iter().any(|part| passes(context, part, node)),
            Filter::Not(part) => !passes(context, part, node),
            Filter::Function(function) => context.tester(function).unwrap().test(node),
            Filter::SemiJoin(reach) => {
                let predicate = context.predicate(&reach.predicate);
                let Some(edges) = predicate.and_then(|it| it.direction(reach.reverse)) else {
                    return false;
                };
                let far = |end: &&u32| match &reach.filter {
                    Some(filter) => passes(context, filter, **end),
                    None => true,
                };
                (reach.more_than as usize) < edges.targets(node).iter().filter(far).count()
            }
        }
    }

    /// Filters candidates in all forms, with some costs, and compares what passes with `expected`.
    fn check(
        version: &Version,
        filter: &Filter,
        costs: CostModel,
        requested: &[u32],
        expected: &[u32],
    ) {
        let (control, query) = (RequestContext::new().with_costs(costs), Query::default());
        control.start_trace();
        let context = Context { version, query: &query, control: &control, vars: Vec::new() };
        let set = NodeSet::from(requested.to_vec());
        let result = context.filter(filter, set.clone()).unwrap();
        assert_eq!(result.to_vec(), expected, "as a set: {filter:?}\n{costs:?}");
        let prepared = context.prepare(filter, set.len(), Purpose::All).unwrap();
        let result = context.all_passing(&set, &prepared).unwrap();
        assert_eq!(result.to_vec(), expected, "prepared for all: {filter:?}\n{costs:?}");
        let prepared = context.prepare(filter, set.len(), Purpose::Page).unwrap();
        let page = Page { first: 5, offset: 1, ..Page::default() };
        let result = context.first_passing(&set, &prepared, page).unwrap();
        let first: Vec<u32> = expected.iter().copied().skip(1).take(5).collect();
        assert_eq!(result, first, "a page: {filter:?}\n{costs:?}");
        TAKEN.with_borrow_mut(|taken| {
            let steps = control.trace().unwrap().steps();
            taken.extend(steps.iter().filter_map(|step| step.path));
        });
    }

    thread_local! {
        static TAKEN: std::cell::RefCell<HashSet<AccessPath>> = Default::default();
    }

    /// A filter lets the same nodes through by all access paths that are allowed for its parts:
    /// those of indexes, of tests, and of edges.
    #[test]
    fn all_ways_of_a_filter_lead_to_the_same_nodes() {
        let mut rng = Rng::with_seed(11);
        for _ in 0..40 {
            let version = graph(rng.u64(20..120), &mut rng);
            let (control, query) = (RequestContext::new(), Query::default());
            let naive =
                Context { version: &version, query: &query, control: &control, vars: Vec::new() };
            for _ in 0..20 {
                let filter = filter(&mut rng, 3);
                let requested: Vec<u32> = (0..150).filter(|_| rng.u8(..4) != 0).collect();
                let expected: Vec<u32> = requested
                    .iter()
                    .copied()
                    .filter(|node| passes(&naive, &filter, *node))
                    .collect();
                check(&version, &filter, CostModel::default(), &requested, &expected);
                for _ in 0..4 {
                    let costs =
                        CostModel { choice: RandomChoice::of(rng.u64(..)), ..CostModel::default() };
                    check(&version, &filter, costs, &requested, &expected);
                }
            }
        }
        use FilterPath::{
            Batches, Constant, DrivingSide, Index, Set, Subjects, Targets, Test, WalkBack,
        };
        for path in [Batches, Constant, DrivingSide, Targets, Index, Set, Subjects, Test, WalkBack]
        {
            let is_taken = TAKEN.with_borrow(|taken| taken.contains(&AccessPath::Filter(path)));
            assert!(is_taken, "no filter takes {path:?}");
        }
    }
}
