//! A join runs: from the candidates of its variables to rows.

use super::candidates::{CHECKED_NODES, Candidates, Reserved, collect, too_many};
use super::coded::{CodedExpression, Reader};
use super::compared::{SortedValues, Weighted};
use super::cyclic::Bindings;
use super::edge_lists::{nodes_of, parts_of};
use super::order::{Sizes, binding_steps};
use super::prune::pruned;
use super::reduce::Reduction;
use super::semi_join::near_candidates;
use super::terms::{Term, terms};
use crate::execute::adjacency::Adjacency;
use crate::execute::cells::Conditions;
use crate::execute::plan::{
    Attached, AttachedKind, Compared, Edge, JoinPlan, JoinedRelationship, MatchStep, NodeAccess,
    Pattern, SlotIndex, Stage, VarIndex, Variable,
};
use crate::execute::run::{Execution, Flow, MORE, Row, Sink};
use hexgraph_base::types::{Error, Result, stack};
use hexgraph_scalar::{Relationship, Value, truth};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A candidate or an entry of a list that is read in order, and a row with its conditions.
/// Estimates: `benches/patterns.py` reads an entry of a tree in 4 to 20 ns, and
/// `test_cypher_patterns.py` ran row by row at about 1.5 million rows a second.
const CANDIDATE_NANOS: f64 = 4.0;
const ROW_NANOS: f64 = 600.0;
/// A condition of a candidate is the look-up of a code. `benches/analysts.py`: five conditions of
/// 100,000 people in 5 ms.
const CONDITION_NANOS: f64 = 10.0;
/// To search a list for a node takes about so many nanoseconds. Estimate: lists of neighbouring
/// nodes are contiguous.
const LIST_NANOS: usize = 10;
/// More nodes than any graph has.
const MANY: f64 = 4e9;

/// What is called with bindings of the retained variables; false stops it.
pub(super) type Each<'e> = &'e mut dyn FnMut(&Bindings) -> Result<bool>;

/// The candidates of each variable; `None` for all nodes.
type All = Vec<Option<Candidates>>;

impl JoinPlan {
    /// Puts the nodes of a binding, and the relationships between them, into a row.
    pub(in crate::execute) fn bind(&self, nodes: &[u32], graph: &dyn Adjacency, row: &mut Row) {
        for (slot, node) in self.retained.iter().zip(nodes) {
            row[*slot] = Value::Node(graph.node(*node));
        }
        for JoinedRelationship { slot, type_id, subject, object } in &self.relationships {
            if let (Value::Node(subject), Value::Node(object)) = (&row[*subject], &row[*object]) {
                let (subject, type_id, object) = (*subject, *type_id, *object);
                row[*slot] = Value::Relationship(Relationship { subject, type_id, object });
            }
        }
    }
}

impl<'a> Execution<'a> {
    /// Pushes a row for each binding of the retained variables, with its number of matches.
    pub(in crate::execute) fn join(
        &self,
        plan: &JoinPlan,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let Some(graph) = self.graph.adjacency() else { return self.join_rows(plan, row, sink) };
        let (width, mut flow) = (plan.retained.len(), MORE);
        let is_joined = self.join_bindings(plan, row, &mut |nodes, counts, row| {
            for (at, count) in counts.iter().enumerate() {
                self.tick()?;
                let nodes = &nodes[at * width..(at + 1) * width];
                plan.bind(nodes, graph, row);
                row[plan.count] = Value::Int(i64::try_from(*count).map_err(|_| too_many())?);
                flow = sink(row)?;
                if flow != MORE {
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        if is_joined { Ok(flow) } else { self.join_rows(plan, row, sink) }
    }

    /// Calls back with the bindings of the retained variables of a join and their numbers of
    /// matches, in parts, until that returns false. False where rows are to be matched one by one.
    pub(in crate::execute) fn join_bindings(
        &self,
        plan: &JoinPlan,
        row: &mut Row,
        each: &mut dyn FnMut(&[u32], &[u64], &mut Row) -> Result<bool>,
    ) -> Result<bool> {
        let Some((mut join, patterns)) = self.prepared(plan, row)? else { return Ok(false) };
        let mut goes_on = true;
        for ready in patterns {
            join.retained_bindings(ready, plan, row, &mut |Bindings { nodes, counts }, row| {
                goes_on = each(nodes, counts, row)?;
                Ok(goes_on)
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(true)
    }

    /// A join that is about to run; `None` where matches are to be listed row by row.
    pub(super) fn prepared<'e, 'p>(
        &'e self,
        plan: &'p JoinPlan,
        row: &mut Row,
    ) -> Result<Option<(Join<'e, 'a>, Vec<Ready<'p>>)>> {
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        // Rows try all pairs of what is compared.
        for pattern in plan.patterns.iter().filter(|_| plan.compared.is_none()) {
            if self.is_cheaper_by_rows((plan, pattern), graph, row)? {
                return Ok(None);
            }
        }
        let mut join = Join { execution: self, graph, loops: FxHashMap::default(), sorted: None };
        if let Some(compared) = &plan.compared {
            join.sorted = join.sorted_values(compared, row)?;
            if join.sorted.is_none() {
                return Ok(None);
            }
        }
        let mut patterns = Vec::with_capacity(plan.patterns.len());
        for pattern in &plan.patterns {
            let Some(ready) = join.prepare(pattern, None, row)? else { return Ok(None) };
            if plan.is_listed && ready.terms.len() != 1 {
                return Ok(None);
            }
            patterns.push(ready);
        }
        Ok(Some((join, patterns)))
    }

    /// Whether an index has so few nodes for a variable that to follow their relationships costs
    /// less than to read all candidates of the others.
    pub(in crate::execute) fn is_cheaper_by_rows(
        &self,
        (plan, pattern): (&JoinPlan, &Pattern),
        graph: &dyn Adjacency,
        row: &mut Row,
    ) -> Result<bool> {
        if !begins_at_index(&plan.rows) {
            return Ok(false);
        }
        let (mut sizes, mut has_index, mut nanos) = (Vec::new(), false, 0.0);
        for variable in &pattern.variables {
            let mut size = match &variable.access {
                Some(access) => self.sought_len(access, &|| self.scanned(variable), row)?,
                None => None,
            };
            has_index |= size.is_some();
            for label in &variable.labels {
                let count = self.graph.label_count(label)? as usize;
                nanos += count as f64 * CANDIDATE_NANOS;
                size = Some(size.map_or(count, |it| it.min(count)));
            }
            sizes.push(size);
        }
        if !has_index {
            return Ok(false);
        }
        let sizes = Sizes::new(&pattern.edges, sizes, graph);
        for (variable, size) in pattern.variables.iter().zip(&sizes.variables) {
            let conditions = variable.conditions.len() as f64 * CONDITION_NANOS;
            let attached = variable.attached.len() as f64 * ROW_NANOS;
            nanos += size.min(MANY) * (conditions + attached);
        }
        for edge in &pattern.edges {
            let lists = edge.types.iter().filter_map(|it| graph.any_lists(*it));
            nanos += lists.map(|it| it.total() as f64).sum::<f64>() * CANDIDATE_NANOS;
        }
        let variables: Vec<VarIndex> = (0..pattern.variables.len()).collect();
        let tried = sizes.order(&variables).map_or(0.0, |it| it.tried);
        Ok(tried * ROW_NANOS < nanos)
    }

    /// The nodes that an index has for a variable, or those of uids, perhaps with others.
    fn indexed(&self, variable: &Variable, row: &mut Row) -> Result<Option<Vec<u64>>> {
        match &variable.access {
            Some(access) => self.sought(access, &|| self.scanned(variable), row),
            None => Ok(None),
        }
    }

    /// How many nodes have the labels of a variable, at most; `None` without a label.
    pub(in crate::execute) fn scanned(&self, variable: &Variable) -> Result<Option<u64>> {
        let counts: Result<Vec<u64>> =
            variable.labels.iter().map(|it| self.graph.label_count(it)).collect();
        Ok(counts?.into_iter().min())
    }

    /// The same by one row for each match.
    fn join_rows(&self, plan: &JoinPlan, row: &mut Row, sink: Sink<'_>) -> Result<Flow> {
        self.produce(&plan.rows, row, &mut |row| {
            row[plan.count] = Value::Int(1);
            sink(row)
        })
    }
}

/// Whether rows begin at the candidates of an index. Rows follow the clauses in their order: an
/// index for a variable of a later one does not make the first one smaller.
fn begins_at_index(rows: &[Stage]) -> bool {
    let Some(Stage::Match { plan, .. }) = rows.first() else { return false };
    matches!(
        plan.steps.first(),
        Some(MatchStep::Scan { access: NodeAccess::Index { .. } | NodeAccess::Uids(_), .. })
    )
}

/// One run of a join.
pub(super) struct Join<'e, 'a> {
    pub(super) execution: &'e Execution<'a>,
    pub(super) graph: &'a dyn Adjacency,
    /// For each type whether a node has a relationship to itself.
    loops: FxHashMap<u32, bool>,
    /// The values that those of the pattern are compared with.
    sorted: Option<SortedValues<'a>>,
}

/// A pattern with its candidates.
pub(super) struct Ready<'p> {
    pattern: Cow<'p, Pattern>,
    terms: Vec<Term>,
    candidates: All,
}

impl<'a> Join<'_, 'a> {
    /// The candidates of all variables and the terms; `None` where a condition has no value for
    /// some node, which may have no match, or the terms are too many.
    pub(super) fn prepare<'p>(
        &mut self,
        pattern: &'p Pattern,
        given: Option<(VarIndex, &Candidates)>,
        row: &mut Row,
    ) -> Result<Option<Ready<'p>>> {
        stack::check()?;
        let mut candidates: All = vec![None; pattern.variables.len()];
        // Those with few nodes first: they restrict their neighbours.
        let mut sizes = Vec::with_capacity(candidates.len());
        for (at, variable) in pattern.variables.iter().enumerate() {
            let mut size = given.filter(|(it, _)| *it == at).map(|(_, nodes)| nodes.nodes.len());
            for label in &variable.labels {
                let count = self.execution.graph.label_count(label)? as usize;
                size = Some(size.map_or(count, |size| size.min(count)));
            }
            sizes.push((size.unwrap_or(usize::MAX), at));
        }
        sizes.sort_unstable();
        for (size, at) in sizes {
            let variable = &pattern.variables[at];
            let nodes = match given {
                Some((variable, nodes)) if variable == at => Some(nodes.clone()),
                _ if size == usize::MAX => None,
                _ => near_candidates(pattern, at, &candidates, size, self.graph)?,
            };
            let Some(of_variable) = self.candidates(pattern, variable, nodes, row)? else {
                return Ok(None);
            };
            candidates[at] = of_variable;
        }
        let original = pattern;
        let pattern = match pruned(pattern, &mut candidates, self.graph)? {
            Some(pattern) => Cow::Owned(pattern),
            None => Cow::Borrowed(pattern),
        };
        let terms = terms(&pattern, &mut |types| {
            for type_id in types {
                if self.has_loops(*type_id)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
        if let (Some(profile), Some(terms)) = (&self.execution.profile, &terms)
            && (terms.len() != 1 || matches!(pattern, Cow::Owned(_)))
        {
            profile.set_join(original, Vec::new());
        }
        Ok(terms.map(|terms| Ready { pattern, terms, candidates }))
    }

    fn has_loops(&mut self, type_id: u32) -> Result<bool> {
        if let Some(has) = self.loops.get(&type_id) {
            return Ok(*has);
        }
        let mut has = false;
        if let Some(lists) = self.graph.any_lists(type_id) {
            let nodes = lists.nodes();
            let parts = collect(self.graph, nodes.len(), LIST_NANOS, |range| {
                let mut has = false;
                for nodes in nodes[range].chunks(CHECKED_NODES) {
                    self.graph.check()?;
                    lists
                        .each(nodes, &mut |at, list| has |= list.binary_search(&nodes[at]).is_ok());
                    if has {
                        break;
                    }
                }
                Ok(has)
            })?;
            has = parts.contains(&true);
        }
        self.loops.insert(type_id, has);
        Ok(has)
    }

    /// The candidates of a variable. The outer `None` is that of [`Join::prepare`].
    #[allow(clippy::option_option, reason = "the inner one is all nodes, the outer one no answer")]
    fn candidates(
        &mut self,
        pattern: &Pattern,
        variable: &Variable,
        given: Option<Candidates>,
        row: &mut Row,
    ) -> Result<Option<Option<Candidates>>> {
        let mut result = given;
        if let Some(of_index) = self.execution.indexed(variable, row)? {
            let _reserved = self.execution.reserve_nodes(&of_index)?;
            let nodes = of_index.iter().filter_map(|node| self.graph.number(*node)).collect();
            restrict(&mut result, nodes)?;
        }
        for label in &variable.labels {
            restrict(&mut result, self.graph.labelled(label)?)?;
        }
        if result.is_none() && !(variable.conditions.is_empty() && variable.attached.is_empty()) {
            result = Some(Candidates { nodes: self.nodes_of(pattern, variable)?, counts: None });
        }
        let Some(mut candidates) = result else { return Ok(Some(None)) };
        if !variable.conditions.is_empty() && !self.filter(variable, &mut candidates, row)? {
            return Ok(None);
        }
        for attached in &variable.attached {
            if !self.attach(attached, &mut candidates, row)? {
                return Ok(None);
            }
        }
        Ok(Some(Some(candidates)))
    }

    /// The nodes that an edge of a variable has, or all.
    fn nodes_of(&self, pattern: &Pattern, variable: &Variable) -> Result<Vec<u32>> {
        let index = pattern.variable_of(variable.slot);
        let edge =
            index.and_then(|at| Some((pattern.edges.iter().find(|it: &&Edge| it.has(at))?, at)));
        match edge {
            Some((edge, at)) => nodes_of(&parts_of(edge, at, self.graph), self.graph),
            None => self.graph.all(),
        }
    }

    /// Drops the nodes that do not pass the conditions of a variable; false where one has no value.
    fn filter(
        &self,
        variable: &Variable,
        candidates: &mut Candidates,
        row: &mut Row,
    ) -> Result<bool> {
        let about = (self.execution, self.graph);
        let (conditions, mut others) =
            Conditions::new(about, (variable.slot, None), variable.conditions.iter(), row);
        let passing = match conditions.is_empty() {
            true => None,
            false => conditions.passing(&candidates.nodes)?,
        };
        match passing {
            Some(passing) => candidates.retain(passing),
            None => others = variable.conditions.iter().collect(),
        }
        for condition in others {
            let mut factors = Vec::with_capacity(candidates.nodes.len());
            let mut coded = CodedExpression::new(condition, variable.slot, self.graph)?;
            let (mut codes, mut passes) = (Vec::with_capacity(CHECKED_NODES), Vec::new());
            for nodes in candidates.nodes.chunks(CHECKED_NODES) {
                self.graph.check()?;
                codes.clear();
                let reader = &mut Reader { execution: self.execution, graph: self.graph, row };
                match coded.read(reader, nodes, &mut codes) {
                    Ok(()) => {}
                    Err(Error::Query { .. }) => return Ok(false),
                    Err(error) => return Err(error),
                }
                for value in &coded.values()[passes.len()..] {
                    match truth(value) {
                        Ok(truth) => passes.push(u64::from(truth == Some(true))),
                        Err(_) => return Ok(false),
                    }
                }
                factors.extend(codes.iter().map(|code| passes[*code as usize]));
            }
            candidates.multiply(&factors)?;
        }
        Ok(true)
    }

    /// Multiplies by the matches of an attached pattern; false where it can't be prepared.
    fn attach(
        &mut self,
        attached: &Attached,
        candidates: &mut Candidates,
        row: &mut Row,
    ) -> Result<bool> {
        let nodes = Candidates { nodes: candidates.nodes.clone(), counts: None };
        let given = Some((attached.variable, &nodes));
        let Some(ready) = self.prepare(&attached.pattern, given, row)? else { return Ok(false) };
        let mut counts: Vec<(u32, u64)> = Vec::new();
        let _reserved = Reserved::new(self.graph, nodes.nodes.len() * 16)?;
        let slot = attached.pattern.variables[attached.variable].slot;
        self.bindings(ready, &[slot], &mut |bindings| {
            counts.extend(bindings.nodes.iter().copied().zip(bindings.counts.iter().copied()));
            Ok(true)
        })?;
        counts.sort_unstable();
        let mut counts = counts.into_iter().peekable();
        let mut factors = Vec::with_capacity(nodes.nodes.len());
        for node in nodes.nodes {
            let mut sum = 0_u64;
            while let Some((_, count)) = counts.next_if(|(it, _)| *it == node) {
                sum = sum.checked_add(count).ok_or_else(too_many)?;
            }
            factors.push(match attached.kind {
                AttachedKind::Optional => sum.max(1),
                AttachedKind::Exists => sum.min(1),
                AttachedKind::NotExists => u64::from(sum == 0),
            });
        }
        candidates.multiply(&factors)?;
        Ok(true)
    }

    /// The values of a pattern that another one is compared with; `None` where rows are needed.
    fn sorted_values(
        &mut self,
        compared: &Compared,
        row: &mut Row,
    ) -> Result<Option<SortedValues<'a>>> {
        let Some(ready) = self.prepare(&compared.pattern, None, row)? else { return Ok(None) };
        let (execution, graph) = (self.execution, self.graph);
        let (mut nodes, mut reserved) = (Vec::new(), Reserved::new(graph, 0)?);
        self.bindings(ready, &[compared.slot], &mut |bindings| {
            reserved.grow(bindings.counts.len() * size_of::<(u32, u64)>())?;
            nodes.extend(bindings.nodes.iter().copied().zip(bindings.counts.iter().copied()));
            Ok(true)
        })?;
        SortedValues::new(nodes, compared, &mut Reader { execution, graph, row }, graph)
    }

    /// Calls back with the bindings of the retained variables of a plan, in parts.
    pub(super) fn retained_bindings(
        &mut self,
        ready: Ready<'_>,
        plan: &JoinPlan,
        row: &mut Row,
        each: &mut dyn FnMut(&Bindings, &mut Row) -> Result<bool>,
    ) -> Result<()> {
        let (Some(compared), Some(sorted)) = (&plan.compared, self.sorted.take()) else {
            return self.bindings(ready, &plan.retained, &mut |bindings| each(bindings, row));
        };
        let mut slots = plan.retained.clone();
        if !slots.contains(&compared.own.0) {
            slots.push(compared.own.0);
        }
        let (execution, graph) = (self.execution, self.graph);
        let of_slots = (&slots[..], plan.retained.len());
        let mut weighted = Weighted::new(&sorted, compared, of_slots, graph)?;
        self.bindings(ready, &slots, &mut |bindings| {
            let reader = &mut Reader { execution, graph, row };
            let bindings = weighted.weighted(bindings, reader)?;
            if bindings.counts.is_empty() { Ok(true) } else { each(&bindings, row) }
        })
    }

    /// Calls back with the bindings of the variables of some slots and their numbers of matches, in
    /// parts.
    pub(super) fn bindings(
        &mut self,
        ready: Ready<'_>,
        slots: &[SlotIndex],
        each: Each<'_>,
    ) -> Result<()> {
        let Ready { pattern, terms, candidates } = ready;
        let retained: Vec<VarIndex> =
            slots.iter().filter_map(|slot| pattern.variable_of(*slot)).collect();
        let retained = &retained[..];
        if let [term] = &terms[..]
            && term.sign == 1
        {
            return self.term(&pattern, term, candidates, retained, each);
        }
        let mut sums: FxHashMap<Box<[u32]>, i128> = FxHashMap::default();
        let mut reserved = Reserved::new(self.graph, 0)?;
        for term in &terms {
            let sign = i128::from(term.sign);
            self.term(&pattern, term, candidates.clone(), retained, &mut |bindings| {
                for (at, count) in bindings.counts.iter().enumerate() {
                    self.execution.tick()?;
                    let nodes = &bindings.nodes[at * retained.len()..(at + 1) * retained.len()];
                    match sums.get_mut(nodes) {
                        Some(sum) => *sum += sign * i128::from(*count),
                        None => {
                            reserved.grow(64 + size_of_val(nodes))?;
                            sums.insert(nodes.into(), sign * i128::from(*count));
                        }
                    }
                }
                Ok(true)
            })?;
        }
        let mut bindings = Bindings::default();
        for (nodes, sum) in sums {
            if sum == 0 {
                continue;
            }
            bindings.nodes.extend(nodes);
            bindings.counts.push(u64::try_from(sum).map_err(|_| too_many())?);
            if bindings.counts.len() == CHECKED_NODES {
                if !each(&bindings)? {
                    return Ok(());
                }
                bindings = Bindings::default();
            }
        }
        if !bindings.counts.is_empty() {
            each(&bindings)?;
        }
        Ok(())
    }

    /// The bindings of one term.
    fn term(
        &self,
        pattern: &Pattern,
        term: &Term,
        mut candidates: All,
        retained: &[VarIndex],
        each: Each<'_>,
    ) -> Result<()> {
        for variable in 0..pattern.variables.len() {
            let same = term.same[variable];
            if same == variable {
                continue;
            }
            let Some(others) = candidates[variable].take() else { continue };
            match &mut candidates[same] {
                Some(nodes) => nodes.intersect(&others)?,
                none => *none = Some(others),
            }
        }
        let left: Vec<VarIndex> =
            (0..pattern.variables.len()).filter(|it| term.same[*it] == *it).collect();
        let mut distinct: Vec<VarIndex> = retained.iter().map(|it| term.same[*it]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let bytes = candidates.iter().flatten().map(Candidates::bytes).sum();
        let mut reduction = Reduction {
            graph: self.graph,
            candidates,
            edges: term.edges.clone(),
            functions: Vec::new(),
            totals: Vec::new(),
            keys: Vec::new(),
            retained: distinct.clone(),
            left,
            factor: 1,
            steps: Vec::new(),
            reserved: Reserved::new(self.graph, bytes)?,
        };
        reduction.run()?;
        let triangles = reduction.core()?;
        if let Some(profile) = &self.execution.profile {
            let mut steps = reduction.steps.clone();
            if triangles.is_none() {
                let functions = reduction.functions.iter().map(|it| (it.from, it.to));
                steps.extend(binding_steps(&reduction.order(), &reduction.edges, functions));
            }
            profile.set_join(pattern, steps);
        }
        match triangles {
            Some(0) => return Ok(()),
            Some(count) => {
                return each(&Bindings { nodes: Vec::new(), counts: vec![count] }).map(drop);
            }
            None => {}
        }
        // Where each retained variable is in a binding.
        let at: Vec<usize> = retained
            .iter()
            .map(|it| distinct.partition_point(|other| *other < term.same[*it]))
            .collect();
        if at.iter().copied().eq(0..distinct.len()) {
            return reduction.bindings(each);
        }
        let width = distinct.len();
        reduction.bindings(&mut |Bindings { nodes, counts }| {
            let nodes = (0..counts.len())
                .flat_map(|index| at.iter().map(move |at| nodes[index * width + at]));
            each(&Bindings { nodes: nodes.collect(), counts: counts.clone() })
        })
    }
}

fn restrict(candidates: &mut Option<Candidates>, nodes: Vec<u32>) -> Result<()> {
    let others = Candidates { nodes, counts: None };
    match candidates {
        Some(candidates) => candidates.intersect(&others),
        none => {
            *none = Some(others);
            Ok(())
        }
    }
}
