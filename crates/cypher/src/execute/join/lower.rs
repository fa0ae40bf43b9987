//! Matches and conditions become a join where only the bindings of some nodes matter, and how many
//! matches have them: before groups.

use super::compared::split;
use crate::ast::{CompareOp, Direction, LabelExpr, SubqueryKind};
use crate::execute::plan::{
    Aggregate, Attached, AttachedKind, Compared, Constraint, Edge, Expression, Hop, JoinPlan,
    JoinedRelationship, MatchPlan, MatchStep, NodeAccess, Operation, Pattern, QueryPlan, SlotIndex,
    Stage, ValueStep, VarIndex, Variable, Walk,
};
use crate::execute::rewrite::{Items, inlined};
use crate::execute::seeks::seeks_of;
use crate::execute::seeks::{add_seek, index_seeks_of};
use crate::execute::slots::{Uses, is_random};
use crate::span::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The most variables and the most edges of a join: constraints are between any two edges.
const PATTERN_MAX: usize = 64;

/// The most patterns of a join: as many as there are choices of the lengths of its walks.
const VARIANTS_MAX: usize = 16;

/// The slots from here on are of variables inside of walks. Nothing reads these, and no row has
/// them.
const INSIDE_OF_WALKS: SlotIndex = SlotIndex::MAX / 2;

/// What the stages before a group become.
pub(in crate::execute) struct Lowered {
    pub(in crate::execute) stages: Vec<Stage>,
    pub(in crate::execute) keys: Vec<(SlotIndex, Expression)>,
    pub(in crate::execute) aggregates: Vec<Aggregate>,
    /// The slot of the number of matches of a row.
    pub(in crate::execute) count: SlotIndex,
}

/// Lowers the stages from the beginning of a query to a group; `None` where rows are needed one by
/// one. `count` is a free slot, `types` the number of types of relationships. Where rows are
/// listed, what makes numbers of matches differences is tested for each binding.
pub(in crate::execute) fn lower(
    stages: &[Stage],
    (keys, aggregates): (&[(SlotIndex, Expression)], &[Aggregate]),
    count: SlotIndex,
    types: u32,
    is_listed: bool,
) -> Option<Lowered> {
    let mut patterns = Vec::new();
    let mut first: Option<Shared> = None;
    let variants = variants(stages)?;
    let is_only = variants.len() == 1;
    for variant in variants {
        let about = (types, is_only, is_listed);
        let (pattern, shared) = lower_variant(&variant, (keys, aggregates), about)?;
        patterns.push(pattern);
        first.get_or_insert(shared);
    }
    let Shared { retained, relationships, keys, aggregates, residual, compared } = first?;
    let rows = stages.to_vec();
    let join = JoinPlan { patterns, retained, relationships, compared, count, is_listed, rows };
    let mut stages = vec![Stage::Join(Box::new(join))];
    stages.extend(residual.into_iter().map(Stage::Filter));
    Some(Lowered { stages, keys, aggregates, count })
}

/// What the patterns of all variants have in common.
struct Shared {
    retained: Vec<SlotIndex>,
    relationships: Vec<JoinedRelationship>,
    keys: Vec<(SlotIndex, Expression)>,
    aggregates: Vec<Aggregate>,
    residual: Vec<Expression>,
    compared: Option<Box<Compared>>,
}

fn lower_variant(
    stages: &[Stage],
    (keys, aggregates): (&[(SlotIndex, Expression)], &[Aggregate]),
    (types, is_only, is_listed): (u32, bool, bool),
) -> Option<(Pattern, Shared)> {
    // The conditions of all variants are the same.
    let is_listed = is_listed && is_only;
    let mut lowering = Lowering { types, is_listed, ..Lowering::default() };
    for stage in stages {
        match stage {
            Stage::Match { plan, optional: false } => lowering.add(plan)?,
            Stage::Match { plan, optional: true } => {
                lowering.attach(plan, AttachedKind::Optional, true)?;
            }
            Stage::Filter(condition) => {
                let condition = inlined(condition, &lowering.items)?;
                lowering.conditions.extend(conjuncts(&condition));
            }
            Stage::Project(items) => {
                for (slot, item) in items {
                    let item = inlined(item, &lowering.items).filter(|it| !is_random(it))?;
                    lowering.items.insert(*slot, item);
                }
            }
            _ => return None,
        }
    }
    if lowering.pattern.variables.is_empty() {
        return None;
    }
    lowering.classify()?;
    let keys: Vec<(SlotIndex, Expression)> = keys
        .iter()
        .map(|(slot, it)| Some((*slot, inlined(it, &lowering.items)?)))
        .collect::<Option<_>>()?;
    let aggregates: Vec<Aggregate> =
        aggregates.iter().map(|it| lowering.aggregate(it)).collect::<Option<_>>()?;
    let expressions = keys.iter().map(|(_, it)| it);
    let arguments = aggregates.iter().flat_map(|it| &it.arguments);
    let mut relationships = Vec::new();
    let read = slots_of(expressions.chain(arguments))?;
    let read = lowering.nodes_of(read, &mut relationships)?;
    let mut retained = lowering.nodes_of(slots_of(&lowering.residual)?, &mut relationships)?;
    retained.extend(&read);
    retained.sort_unstable();
    retained.dedup();
    let Lowering { pattern, assigned, residual, .. } = lowering;
    if !pattern.variables.iter().all(|it| assigned.contains(&it.slot)) {
        return None;
    }
    if let [condition] = &residual[..]
        && is_only
        && let Some((pattern, compared)) = split(&pattern, condition, &read)
    {
        let (retained, residual, compared) = (read, Vec::new(), Some(Box::new(compared)));
        let shared = Shared { retained, relationships, keys, aggregates, residual, compared };
        return Some((pattern, shared));
    }
    let compared = None;
    Some((pattern, Shared { retained, relationships, keys, aggregates, residual, compared }))
}

/// The slots that expressions read, in ascending order; `None` where one is random.
fn slots_of<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> Option<Vec<SlotIndex>> {
    let mut slots = Vec::new();
    for it in expressions {
        let uses = Uses::of(it);
        if uses.is_random {
            return None;
        }
        slots.extend(uses.outer());
    }
    slots.sort_unstable();
    slots.dedup();
    Some(slots)
}

/// The stages with a chain of relationships instead of each short walk that nothing reads, once for
/// each choice of their lengths. `None` where the choices are too many.
fn variants(stages: &[Stage]) -> Option<Vec<Vec<Stage>>> {
    let mut variants = vec![stages.to_vec()];
    let mut free = INSIDE_OF_WALKS;
    while let Some((stage, at, walk)) = variants[0].iter().enumerate().find_map(short_walk) {
        let mut next = Vec::new();
        for length in walk.min..=walk.max {
            let slots: Vec<SlotIndex> = (1..length).map(|step| free + step as usize).collect();
            let chain = chain(&walk.hop, &slots);
            for variant in &variants {
                let mut variant = variant.clone();
                if let Stage::Match { plan, .. } = &mut variant[stage] {
                    // Earlier walks of other lengths moved it.
                    let at = plan.steps.iter().position(|it| is_walk(it, &walk)).unwrap_or(at);
                    plan.steps.splice(at..=at, chain.clone());
                    plan.assigned.extend(&slots);
                }
                next.push(variant);
            }
        }
        if VARIANTS_MAX < next.len() {
            return None;
        }
        free += walk.max as usize;
        variants = next;
    }
    Some(variants)
}

/// The first walk of a match that can be a chain: its stage and its step.
fn short_walk((stage, it): (usize, &Stage)) -> Option<(usize, usize, Walk)> {
    let Stage::Match { plan, optional: false } = it else { return None };
    plan.steps.iter().enumerate().find_map(|(at, step)| match step {
        MatchStep::Walk(walk)
            if 0 < walk.min
                && walk.min <= walk.max
                && walk.max - walk.min < VARIANTS_MAX as u64
                && walk.max <= PATTERN_MAX as u64
                && walk.conditions.is_empty()
                && !walk.is_listed
                && walk.shortest.is_none() =>
        {
            Some((stage, at, walk.clone()))
        }
        _ => None,
    })
}

/// Each walk has a slot of its own for its list.
fn is_walk(step: &MatchStep, walk: &Walk) -> bool {
    matches!(step, MatchStep::Walk(it) if it.hop.relationship == walk.hop.relationship)
}

/// The relationships of a walk, with slots for the nodes between them.
fn chain(hop: &Hop, slots: &[SlotIndex]) -> Vec<MatchStep> {
    let from = std::iter::once(hop.from).chain(slots.iter().copied());
    let to = slots.iter().copied().chain([hop.to]);
    let step = |(from, to): (SlotIndex, SlotIndex)| {
        let to_bound = hop.to_bound && to == hop.to;
        MatchStep::Expand(Hop { from, to, to_bound, ..hop.clone() })
    };
    from.zip(to).map(step).collect()
}

/// A pattern in progress.
#[derive(Default)]
struct Lowering {
    types: u32,
    /// Whether each binding is a row: then conditions on several variables are tested for it.
    is_listed: bool,
    pattern: Pattern,
    assigned: FxHashSet<SlotIndex>,
    conditions: Vec<Expression>,
    /// Conditions on several variables that are tested for each binding.
    residual: Vec<Expression>,
    /// What projections have computed, by slots.
    items: Items,
}

impl Lowering {
    fn variable_of(&self, slot: SlotIndex) -> Option<VarIndex> {
        self.pattern.variable_of(slot)
    }

    fn variable(&mut self, slot: SlotIndex) -> VarIndex {
        self.variable_of(slot).unwrap_or_else(|| {
            self.pattern.variables.push(Variable {
                slot,
                labels: Vec::new(),
                access: None,
                conditions: Vec::new(),
                attached: Vec::new(),
            });
            self.pattern.variables.len() - 1
        })
    }

    /// The slots of nodes among some slots, and of the endpoints of the relationships among them;
    /// `None` where a slot is neither, or its endpoints do not determine a relationship.
    fn nodes_of(
        &self,
        slots: Vec<SlotIndex>,
        relationships: &mut Vec<JoinedRelationship>,
    ) -> Option<Vec<SlotIndex>> {
        let mut nodes = Vec::with_capacity(slots.len());
        for slot in slots {
            if self.variable_of(slot).is_some() {
                nodes.push(slot);
                continue;
            }
            let edge = self.relationship(slot)?;
            let [type_id] = edge.types[..] else { return None };
            if edge.either || edge.once {
                return None;
            }
            let slot_of = |it: VarIndex| self.pattern.variables[it].slot;
            let (subject, object) = (slot_of(edge.from), slot_of(edge.to));
            nodes.extend([subject, object]);
            let relationship = JoinedRelationship { slot, type_id, subject, object };
            if !relationships.contains(&relationship) {
                relationships.push(relationship);
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }

    fn relationship(&self, slot: SlotIndex) -> Option<&Edge> {
        self.pattern.edges.iter().find(|it| it.slot == slot)
    }

    /// Adds a match.
    fn add(&mut self, plan: &MatchPlan) -> Option<()> {
        self.assigned.extend(&plan.assigned);
        let first = self.pattern.edges.len();
        // Names of thousands of variables are not compared with each other.
        if 4 * PATTERN_MAX < plan.steps.len() {
            return None;
        }
        for step in &plan.steps {
            match step {
                MatchStep::Scan { slot, access } => {
                    let variable = self.variable(*slot);
                    // What an index has follows from the conditions.
                    if let NodeAccess::Uids(seek) = access
                        && seek.is_constant()
                    {
                        self.pattern.variables[variable].access = Some(access.clone());
                    }
                }
                MatchStep::Expand(hop) => {
                    let edge = self.edge(hop);
                    self.pattern.edges.push(edge);
                }
                MatchStep::Filter(condition) => {
                    self.conditions.push(inlined(condition, &self.items)?);
                }
                MatchStep::Walk(_)
                | MatchStep::Bound { .. }
                | MatchStep::Path { .. }
                | MatchStep::Shortest { .. } => return None,
            }
        }
        if PATTERN_MAX < self.pattern.edges.len() || PATTERN_MAX < self.pattern.variables.len() {
            return None;
        }
        for other in first..self.pattern.edges.len() {
            for one in first..other {
                let is_common =
                    |it: &u32| self.pattern.edges[other].types.binary_search(it).is_ok();
                if self.pattern.edges[one].types.iter().any(is_common) {
                    match self.differ(one, other).filter(|_| self.is_listed) {
                        Some(condition) => self.residual.push(condition),
                        None => self.pattern.constraints.push(Constraint::Unique(one, other)),
                    }
                }
            }
        }
        Some(())
    }

    /// The condition that two relationships of a type differ: they have another subject or another
    /// object. `None` where their endpoints do not determine them.
    fn differ(&self, one: usize, other: usize) -> Option<Expression> {
        let (one, other) = (&self.pattern.edges[one], &self.pattern.edges[other]);
        let is_plain = |it: &Edge| {
            let mut slots = [it.from, it.to].map(|it| self.pattern.variables[it].slot).into_iter();
            it.types.len() == 1 && !it.either && slots.all(|slot| slot < INSIDE_OF_WALKS)
        };
        if one.types != other.types || !is_plain(one) || !is_plain(other) {
            return None;
        }
        let node =
            |it: VarIndex| Operation::Slot(self.pattern.variables[it].slot).at(Span::default());
        let pairs = [(one.from, other.from), (one.to, other.to)];
        let differ: Vec<Expression> = pairs
            .into_iter()
            .filter(|(one, other)| one != other)
            .map(|(one, other)| {
                let rest = vec![(CompareOp::Unequal, node(other))];
                Operation::Compare(Box::new(node(one)), rest).at(Span::default())
            })
            .collect();
        match differ.len() {
            0 => None,
            1 => differ.into_iter().next(),
            _ => Some(Operation::Or(differ).at(Span::default())),
        }
    }

    fn edge(&mut self, hop: &Hop) -> Edge {
        let (from, to) = (self.variable(hop.from), self.variable(hop.to));
        let types: Arc<[u32]> = match &hop.types {
            Some(types) => types.as_slice().into(),
            None => (0..self.types).collect(),
        };
        let (from, to) = if hop.direction == Direction::In { (to, from) } else { (from, to) };
        let (slot, either) = (hop.relationship, hop.direction == Direction::Either);
        Edge { from, to, slot, types, either, once: false }
    }

    /// Adds a match that has one variable in common with this pattern. `binds` where other clauses
    /// could see what it assigns.
    fn attach(&mut self, plan: &MatchPlan, kind: AttachedKind, binds: bool) -> Option<()> {
        let mut inner = Lowering { types: self.types, ..Lowering::default() };
        inner.add(plan)?;
        inner.classify()?;
        let mut common = Vec::new();
        for (at, it) in inner.pattern.variables.iter().enumerate() {
            match self.variable_of(it.slot) {
                Some(variable) => common.push((variable, at)),
                None if inner.assigned.contains(&it.slot) => {}
                None => return None,
            }
        }
        let [(outer, variable)] = common[..] else { return None };
        if !inner.residual.is_empty()
            || binds && inner.assigned.contains(&self.pattern.variables[outer].slot)
        {
            return None;
        }
        let attached = Attached { pattern: inner.pattern, variable, kind };
        self.pattern.variables[outer].attached.push(attached);
        Some(())
    }

    /// Gives each condition to what it is about.
    fn classify(&mut self) -> Option<()> {
        for condition in std::mem::take(&mut self.conditions) {
            self.classify_one(condition)?;
        }
        Some(())
    }

    fn classify_one(&mut self, condition: Expression) -> Option<()> {
        let uses = Uses::of(&condition);
        if uses.is_random {
            return None;
        }
        if let Some(kind) = existence(&condition)
            && self.exists(kind.0, kind.1).is_some()
        {
            return Some(());
        }
        let slots = uses.outer();
        if slots.iter().any(|slot| self.relationship(*slot).is_some()) {
            self.residual.push(condition);
            return Some(());
        }
        let variables: Option<Vec<VarIndex>> =
            slots.iter().map(|slot| self.variable_of(*slot)).collect();
        match (&variables?[..], &condition.operation) {
            ([variable], Operation::Steps(value, steps))
                if matches!(value.operation, Operation::Slot(_)) =>
            {
                match &steps[..] {
                    // A node that is matched is no null.
                    [ValueStep::IsNull(true)] => {}
                    [ValueStep::HasLabels(test)] if let Some(labels) = labels_of(&test.labels) => {
                        self.pattern.variables[*variable].labels.extend(labels);
                    }
                    _ => self.pattern.variables[*variable].conditions.push(condition),
                }
            }
            ([variable], _) => {
                let variable = &mut self.pattern.variables[*variable];
                add_access(&mut variable.access, &condition);
                variable.conditions.push(condition);
            }
            ([one, other], Operation::Compare(left, rest))
                if !self.is_listed
                    && matches!(left.operation, Operation::Slot(_))
                    && matches!(&rest[..], [(CompareOp::Unequal, it)] if matches!(it.operation, Operation::Slot(_))) =>
            {
                self.pattern.constraints.push(Constraint::Differ(*one, *other));
            }
            _ => self.residual.push(condition),
        }
        Some(())
    }

    /// A pattern that exists or not: between two variables of this one, or at one of them.
    fn exists(&mut self, kind: AttachedKind, plan: &QueryPlan) -> Option<()> {
        let [branch] = &plan.branches[..] else { return None };
        let [Stage::Match { plan, optional: false }] = &branch.stages[..] else { return None };
        // The variables of a pattern are not null.
        let is_test = |it: &&MatchStep| match it {
            MatchStep::Filter(condition) => {
                not_null(condition).is_none_or(|slot| self.variable_of(slot).is_none())
            }
            _ => true,
        };
        let steps: Vec<&MatchStep> = plan.steps.iter().filter(is_test).collect();
        if let [MatchStep::Expand(hop)] = steps[..]
            && self.variable_of(hop.from).is_some()
            && self.variable_of(hop.to).is_some()
        {
            let edge = Edge { once: true, ..self.edge(hop) };
            match kind {
                AttachedKind::NotExists if self.is_listed => return None,
                AttachedKind::NotExists => {
                    self.pattern.constraints.push(Constraint::NoEdge(edge));
                }
                _ => self.pattern.edges.push(edge),
            }
            return Some(());
        }
        self.attach(plan, kind, false)
    }

    /// An aggregate of the variables. Counts of a node or a relationship that is matched count
    /// rows.
    fn aggregate(&self, aggregate: &Aggregate) -> Option<Aggregate> {
        let is_matched = |it: &Expression| match it.operation {
            Operation::Slot(slot) => {
                self.variable_of(slot).is_some() || self.relationship(slot).is_some()
            }
            _ => false,
        };
        let arguments = aggregate.arguments.iter().map(|it| inlined(it, &self.items));
        let mut result =
            Aggregate { arguments: arguments.collect::<Option<_>>()?, ..aggregate.clone() };
        if result.function.name == "count"
            && !result.distinct
            && result.arguments.iter().all(is_matched)
        {
            result.arguments.clear();
        }
        Some(result)
    }
}

/// `EXISTS {}` or its negation.
fn existence(condition: &Expression) -> Option<(AttachedKind, &QueryPlan)> {
    match &condition.operation {
        Operation::Subquery { kind: SubqueryKind::Exists, plan, .. } => {
            Some((AttachedKind::Exists, plan))
        }
        Operation::Not(inside) => match &inside.operation {
            Operation::Subquery { kind: SubqueryKind::Exists, plan, .. } => {
                Some((AttachedKind::NotExists, plan))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The slot of a condition that is no other than that it has a value.
pub(in crate::execute) fn not_null(condition: &Expression) -> Option<SlotIndex> {
    let Operation::Steps(value, steps) = &condition.operation else { return None };
    match (&value.operation, &steps[..]) {
        (Operation::Slot(slot), [ValueStep::IsNull(true)]) => Some(*slot),
        _ => None,
    }
}

/// The labels that a node needs, where the condition is no other than that.
pub(in crate::execute) fn labels_of(labels: &LabelExpr) -> Option<Vec<Arc<str>>> {
    match labels {
        LabelExpr::Label(name) => Some(vec![(&*name.text).into()]),
        LabelExpr::And(list) => {
            let each: Option<Vec<Vec<Arc<str>>>> = list.iter().map(labels_of).collect();
            Some(each?.concat())
        }
        _ => None,
    }
}

/// Adds what a condition says of the candidates of its variable: the uids of constants, or values
/// that an index of a property may have.
fn add_access(access: &mut Option<NodeAccess>, condition: &Expression) {
    if let Some(NodeAccess::Uids(_)) = access {
        return;
    }
    if let Some((_, seek)) = seeks_of(condition).into_iter().find(|(_, it)| it.is_constant()) {
        *access = Some(NodeAccess::Uids(seek));
        return;
    }
    let mut seeks = match access.take() {
        Some(NodeAccess::Index { seeks, .. }) => seeks,
        _ => Vec::new(),
    };
    for (_, seek) in index_seeks_of(condition) {
        if seek.is_constant() {
            add_seek(&mut seeks, seek);
        }
    }
    *access = (!seeks.is_empty()).then_some(NodeAccess::Index { label: None, seeks });
}

/// The parts of a conjunction.
fn conjuncts(condition: &Expression) -> Vec<Expression> {
    match &condition.operation {
        Operation::And(list) => list.iter().flat_map(conjuncts).collect(),
        _ => vec![condition.clone()],
    }
}
