//! Conditions on the targets of edges (semi-joins).
//!
//! Over a set, the targets are gathered, each once, and filtered as a set: a chain of such
//! conditions costs the edges between its levels and no node is tested twice. Where an index gives
//! the few targets that pass, they are looked for instead; with edges stored in both directions the
//! walk begins at them. So does that of `uid_in`, which names the targets.

use crate::exec::access_path::FilterPath;
use crate::exec::choose::function::no_reverse;
use crate::exec::choose::tester::Tester;
use crate::exec::columns::batches::{BATCH, EdgeCounts, Members};
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::{Direction, distinct_of, union_of};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Filter, Function, SemiJoin, VarId};
use hexgraph_base::types::{Result, stack};

/// To test single nodes, at most this many targets are looked up in an index.
const FEW: usize = BATCH;

/// A walk from the targets pays when they are this many times fewer than the candidates.
const BACK_RATIO: usize = 16;

/// The targets of fewer nodes are listed: a list of them is sorted as quickly as bits are looked
/// through.
const MARKED_MIN: usize = cost::SETUP.per(cost::GATHER);

impl<'a> Context<'a> {
    /// The candidates with a target that passes.
    pub(crate) fn filter_by_targets<'f>(
        &self,
        join: &'f SemiJoin,
        candidates: NodeSet,
    ) -> Result<NodeSet>
    where
        'a: 'f,
    {
        stack::check()?;
        let Some(edges) = self.join_edges(join)? else { return Ok(NodeSet::default()) };
        let step = self.begin("filter", &join.predicate, None, None);
        let passing = match &join.filter {
            Some(filter) => match self.few_passing(filter, self.few_max(candidates.len()))? {
                Some(few) => Some(few),
                None => Some(self.filter(filter, self.targets(edges, &candidates)?)?),
            },
            None => None,
        };
        let passed = match &passing {
            Some(passing) if passing.is_empty() => {
                self.record_path(FilterPath::Constant);
                NodeSet::default()
            }
            Some(passing) => match self.inverse(join, passing, candidates.len()) {
                Some(back) => {
                    self.record_path(FilterPath::WalkBack);
                    self.sources(back, passing)?.and(&candidates)
                }
                None => {
                    self.record_path(FilterPath::Targets);
                    let passes = Tester::Member(passing.clone().into());
                    self.retain_reaching(edges, join, passes, &candidates)?
                }
            },
            None => {
                self.record_path(FilterPath::Test);
                self.retain_reaching(edges, join, Tester::Constant(true), &candidates)?
            }
        };
        self.end(&step, passed.len());
        Ok(passed)
    }

    fn retain_reaching(
        &self,
        edges: &Direction,
        join: &SemiJoin,
        passes: Tester<'_>,
        candidates: &NodeSet,
    ) -> Result<NodeSet> {
        let tester = Tester::Reaches(edges, join.more_than as usize, Box::new(passes));
        Ok(NodeSet::from(self.retain_passing(Members::Set(candidates), &tester)?))
    }

    /// The condition as a test of single nodes.
    pub(crate) fn reach_tester<'f>(&self, join: &'f SemiJoin) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        let Some(edges) = self.join_edges(join)? else { return Ok(Tester::Constant(false)) };
        let passes = match &join.filter {
            Some(filter) => match self.few_passing(filter, self.few_max(FEW))? {
                Some(few) => Tester::Member(few.into()),
                None => self.filter_tester(filter)?,
            },
            None => Tester::Constant(true),
        };
        Ok(Tester::Reaches(edges, join.more_than as usize, Box::new(passes)))
    }

    /// All nodes that meet the condition, if a walk back from few targets returns them.
    pub(crate) fn semi_join<'f>(&self, join: &'f SemiJoin, root: usize) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        let Some(filter) = &join.filter else { return Ok(None) };
        if self.join_edges(join)?.is_none() {
            return Ok(Some(NodeSet::default()));
        }
        // No more than it pays to walk back from.
        let few = self.few_passing(filter, self.few_max(FEW.min(root / BACK_RATIO)))?;
        let Some(few) = few else { return Ok(None) };
        let back = self.inverse(join, &few, root);
        back.map(|back| self.sources(back, &few)).transpose()
    }

    /// All nodes that pass a function `uid_in`, where a walk back from the nodes that it names
    /// looks at no more than `most` edges, and `requested` ones would have to be tested; `None`
    /// where it would look at more, edges are stored in one direction, and for any other function.
    /// O(1), or O(ends + edges).
    pub(super) fn uid_in_set(
        &self,
        function: &Function,
        requested: usize,
        most: usize,
    ) -> Result<Option<NodeSet>> {
        let walk = self.uid_in_back(function, requested, most);
        walk.map(|(back, targets)| self.sources(back, &targets)).transpose()
    }

    /// The edges back from the nodes that a function `uid_in` names, and these, where
    /// [`Context::uid_in_set`] walks them. O(1), or O(named nodes).
    pub(crate) fn uid_in_back(
        &self,
        function: &Function,
        requested: usize,
        most: usize,
    ) -> Option<(&'a Direction, NodeSet)> {
        let Call::UidIn { predicate: name, uids, vars } = &function.call else { return None };
        let var_len = |var: &VarId| self.uid_var(*var).len();
        let named = uids.len() + vars.iter().map(var_len).sum::<usize>();
        // Most of them have an edge, so where they are more it is not worth while to count.
        let is_few = named <= most && are_few_targets(named, requested);
        if !is_few && !self.control.costs().choice.is_random() {
            return None;
        }
        // What is wrong with the name is reported by the test.
        let predicate = self.resolve(name).ok()??;
        let back = predicate.direction(!name.reverse).filter(|_| predicate.is_edges())?;
        let targets = self.uid_in_ends(uids, vars);
        let pays = self.pays_to_walk_back(back, &targets, is_few, (requested, most));
        pays.then_some((back, targets))
    }

    /// The edges of a condition; `None` when nothing has the predicate.
    pub(crate) fn join_edges(&self, join: &SemiJoin) -> Result<Option<&'a Direction>> {
        let Some(predicate) = self.predicate(&join.predicate) else { return Ok(None) };
        if !predicate.is_edges() {
            return Ok(None);
        }
        let edges = predicate.direction(join.reverse);
        edges.map(Some).ok_or_else(|| no_reverse(&join.predicate))
    }

    /// The sources of edges to some nodes: the targets of the reverse edges.
    fn sources(&self, back: &Direction, ends: &NodeSet) -> Result<NodeSet> {
        if MARKED_MIN <= ends.len()
            && let Some(bits) = self.target_bits(&ends.as_list(), back)?
        {
            return Ok(NodeSet::from(bits.to_bitmap()));
        }
        let mut sources = Vec::new();
        ends.iter().for_each(|end| sources.extend_from_slice(&back.targets(end)));
        Ok(union_of(sources))
    }

    /// The nodes at the targets of the edges of some nodes.
    fn targets(&self, edges: &Direction, nodes: &NodeSet) -> Result<NodeSet> {
        let mut targets: Vec<u32> = Vec::new();
        if MARKED_MIN <= nodes.len()
            && let Some(bits) = self.target_bits(&nodes.as_list(), edges)?
        {
            self.make_space(&mut targets, bits.count())?;
            bits.append_to(&mut targets);
            return Ok(NodeSet::from(targets));
        }
        for (count, node) in nodes.iter().enumerate() {
            if count % 8192 == 8191 {
                self.check()?;
            }
            let far = edges.targets(node);
            self.make_space(&mut targets, far.len())?;
            // With repeats; they are dropped once at the end, which is a sort and no look into a
            // set for each edge.
            targets.extend_from_slice(&far);
        }
        Ok(NodeSet::from(distinct_of(&targets)))
    }

    /// The nodes that pass a filter, when an index gives at most `most` candidates for them.
    fn few_passing<'f>(&self, filter: &'f Filter, most: usize) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        match filter {
            Filter::Function(function) => {
                match self.estimate(function).is_some_and(|count| count <= most) {
                    true => self.indexed(function),
                    false => Ok(None),
                }
            }
            Filter::And(parts) => {
                let counts = parts.iter().filter_map(|part| {
                    let Filter::Function(function) = part else { return None };
                    Some((self.estimate(function)?, part))
                });
                // Whatever passes all parts passes the one that leaves least; the others are
                // applied to those alone.
                let Some((_, least)) = counts.min_by_key(|(count, _)| *count) else {
                    return Ok(None);
                };
                match self.few_passing(least, most)? {
                    Some(few) => self.filter(filter, few).map(Some),
                    None => Ok(None),
                }
            }
            Filter::Or(_) | Filter::Not(_) | Filter::SemiJoin(_) => Ok(None),
        }
    }

    /// The greatest number of targets that are looked up in an index: `usual`, or any at random.
    fn few_max(&self, usual: usize) -> usize {
        self.pick(usual, usual, || vec![0, usual, usize::MAX])
    }

    /// The reverse edges of some targets, if they are stored and a walk back costs less than
    /// testing `candidates`.
    fn inverse(&self, join: &SemiJoin, ends: &NodeSet, candidates: usize) -> Option<&'a Direction> {
        // From the targets it is not seen how many of its edges lead a node to them.
        if join.more_than != 0 {
            return None;
        }
        let is_few = are_few_targets(ends.len(), candidates);
        if !is_few && !self.control.costs().choice.is_random() {
            return None;
        }
        let back = self.predicate(&join.predicate)?.direction(!join.reverse)?;
        self.pays_to_walk_back(back, ends, is_few, (candidates, candidates)).then_some(back)
    }

    /// Whether ends are few, and have no more than `most` edges that lead back, where `requested`
    /// nodes would have to be tested else.
    fn pays_to_walk_back(
        &self,
        back: &Direction,
        ends: &NodeSet,
        is_few: bool,
        (requested, most): (usize, usize),
    ) -> bool {
        self.pick(is_few && has_at_most(back, ends, most), requested, || vec![true, false])
    }
}

/// Whether a walk from so many targets pays, where `candidates` nodes would be tested else.
pub(crate) fn are_few_targets(targets: usize, candidates: usize) -> bool {
    targets <= candidates / BACK_RATIO
}

/// Whether some nodes have at most so many edges, which are counted a batch at a time and not
/// looked at. O(nodes), or less where they have more.
fn has_at_most(edges: &Direction, nodes: &NodeSet, most: usize) -> bool {
    let (mut counts, mut count) = (EdgeCounts::new(edges), 0);
    for start in (0..nodes.len()).step_by(BATCH) {
        let batch = nodes.page(start, BATCH);
        count += counts.read(&batch).iter().map(|count| *count as usize).sum::<usize>();
        if most < count {
            return false;
        }
    }
    true
}

/// True when a filter looks at other nodes than the one that it tests: it is cheaper for many nodes
/// at a time.
pub(crate) fn looks_beyond(filter: &Filter) -> bool {
    stack::require();
    match filter {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().any(looks_beyond),
        Filter::Not(part) => looks_beyond(part),
        Filter::Function(_) => false,
        Filter::SemiJoin(_) => true,
    }
}
