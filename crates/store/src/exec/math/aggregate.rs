//! Computes values from other values: `val`, `math`, and aggregates over the level below.
//!
//! They are computed when the rest of a block is there, in the order in which their variables
//! are resolved. A position in the tree is a path: the number of the field at each level.

use super::doubts::Operand;
use super::evaluate::{Evaluation, math_vars};
use super::holistic;
use super::node_numbers::NodeNumbers;
use super::sums::Sum;
use super::totals::Totals;
use crate::exec::access_path::TotalPath;
use crate::exec::columns::number_columns::{Number, NumberSlice};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::pending::Pending;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{
    Column, EdgeField, FieldData, Finder, Level, VALUE_BYTES, ValueMap,
};
use crate::exec::cost;
use hexgraph_base::plan::{Aggregate, Algebraic, Field, FieldKind, MathExpr, VarId};
use hexgraph_base::types::{Error, Result, Value, ValueRef};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What was aggregated of variables that are columns: all that the fields of an empty block request
/// of one, in one pass over it.
type Passes = HashMap<VarId, Vec<Totals>>;

/// For each variable of the block, the level that has its values.
type Homes = HashMap<VarId, Home>;

/// The level that has the values of a variable.
struct Home {
    /// The numbers of the fields that lead there from the root.
    path: Vec<usize>,
    /// True where no other level has values of the variable, as in `@recurse`.
    is_only: bool,
}

impl Context<'_> {
    /// Fills in the computed fields of a block's tree and sets their variables.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when an aggregate's variable is not defined one level below.
    pub(crate) fn compute(&mut self, root: &mut Level) -> Result<()> {
        let mut waiting = Vec::new();
        let mut homes = Homes::new();
        survey(root, self.control, &mut waiting, &mut homes)?;
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut rest = Vec::new();
            for path in waiting {
                self.check()?;
                let ready = {
                    let field = field_at(root, &path);
                    read_vars(&field.kind).iter().all(|var| {
                        // A variable without a level in the tree is in a part that was not visited.
                        self.vars[var.0 as usize].is_some() || !homes.contains_key(var)
                    })
                };
                if !ready {
                    rest.push(path);
                    continue;
                }
                let computed = self.computed(root, &path, &homes);
                let map = computed.map_err(|error| error.or_at(field_at(root, &path).at))?;
                let (position, above) = path.split_last().expect("a path has a last field");
                let result = &mut level_at_mut(root, above).fields[*position];
                if let Some(var) = result.field.var {
                    self.set_var(var, Var::Values(Arc::clone(&map)));
                }
                result.data = FieldData::Column(map);
            }
            // A full round resolved nothing, so no further one will.
            if rest.len() == before {
                let at = rest.first().map(|path| field_at(root, path).at).unwrap_or_default();
                let message = "the variables of this field wait for themselves, in a circle";
                return Err(Error::query_at(at, message).with_hint("define one without the others"));
            }
            waiting = rest;
        }
        Ok(())
    }

    fn computed(&self, root: &Level, path: &[usize], homes: &Homes) -> Result<Arc<ValueMap>> {
        let (_, above) = path.split_last().expect("a path has a last field");
        let field = field_at(root, path);
        let values = VALUE_BYTES * level_at(root, above).nodes.len();
        if matches!(field.kind, FieldKind::AggregateVar(..) | FieldKind::Math(_)) {
            self.control.charge(values)?;
        }
        match &field.kind {
            FieldKind::Val(var) => {
                // Of a page of the nodes only their numbers are read.
                if let Some(column) = self.unread_column(*var)
                    && field.var.is_none()
                    && self.is_few(level_at(root, above).nodes.len(), column.len())
                {
                    self.control.charge(values)?;
                    return Ok(Arc::new(column.values_of(&level_at(root, above).nodes)));
                }
                Ok(self.value_var(*var)?.unwrap_or_default())
            }
            FieldKind::AggregateVar(op, var) => {
                self.aggregate_below(root, above, *op, *var, homes, field).map(Arc::new)
            }
            FieldKind::Math(expr) => {
                // The operands, and what flows down to them.
                let _while_computing = self.control.charge_while(4 * values)?;
                self.computed_math(root, above, expr, homes, field).map(Arc::new)
            }
            FieldKind::Predicate { .. }
            | FieldKind::Uid
            | FieldKind::Count { .. }
            | FieldKind::CountUid
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::Expand(_)
            | FieldKind::CheckPassword { .. } => Ok(Arc::default()),
        }
    }

    fn computed_math(
        &self,
        root: &Level,
        above: &[usize],
        expr: &MathExpr,
        homes: &Homes,
        field: &Field,
    ) -> Result<ValueMap> {
        let level = level_at(root, above);
        let result: RefCell<Vec<(VarId, Arc<ValueMap>)>> = RefCell::default();
        let shared = Cell::new(None);
        let lookup = |var: VarId| {
            if let Some((_, map)) = result.borrow().iter().find(|(existing, _)| *existing == var) {
                return Ok(Arc::clone(map));
            }
            let mut map = self.expect_values(var)?;
            if let Some(Home { path: home, .. }) = homes.get(&var)
                && home.len() < above.len()
                && above.starts_with(home)
            {
                let arrived = flow_down(root, home, above, &map)?;
                shared.set(shared.get().or(arrived.shared.map(|node| (var, node))));
                map = Arc::new(arrived.map);
            }
            self.note_unresolved_at(var, &map, &level.nodes, field.at);
            result.borrow_mut().push((var, Arc::clone(&map)));
            Ok(map)
        };
        let mut with = Evaluation::new(&lookup, self.control.now());
        let computed = super::evaluate::evaluate(expr, Some(&level.nodes), &mut with)?;
        let Evaluation { uneven, is_complete, mismatch, .. } = with;
        let result = result.take();
        // The sum over all nodes above is what is meant where nothing else is computed with.
        if let Some((var, node)) = shared.take().filter(|_| 1 < result.len()) {
            self.note_shared_above(var, node, field.at);
        }
        if let Some(mismatch) = mismatch {
            self.note_mismatch(mismatch, field.at);
        }
        if !uneven.is_empty() {
            let of_this_level = |var: &VarId| {
                homes.get(var).is_some_and(|home| home.is_only && above.starts_with(&home.path))
            };
            let operands = result.iter().filter(|(var, _)| uneven.contains(var));
            let operands = operands.filter(|(_, map)| map.constant.is_none());
            let operands =
                operands.map(|(var, map)| (map.nodes.as_slice(), of_this_level(var), *var));
            let operands: Vec<Operand<'_>> =
                operands.map(|(nodes, is_within, var)| Operand { var, nodes, is_within }).collect();
            let united = is_complete.then_some(computed.nodes.len());
            self.note_missing(&operands, &level.nodes, united, field.at);
        }
        Ok(computed)
    }

    fn aggregate_below(
        &self,
        root: &Level,
        above: &[usize],
        op: Aggregate,
        var: VarId,
        homes: &Homes,
        field: &Field,
    ) -> Result<ValueMap> {
        let map = self.expect_values(var)?;
        let wrong_level = || {
            let name = self.var_name(var);
            let message = format!(
                "`{}` aggregates variable `{name}`, which is not defined one level below",
                field.key
            );
            let hint =
                format!("write it next to the field that has `{name} as ...` in its selection");
            Error::query_at(field.at, message).with_hint(hint)
        };
        if self.vars[var.0 as usize].is_none() {
            return Ok(ValueMap::default());
        }
        let Home { path: home, .. } = homes.get(&var).ok_or_else(wrong_level)?;
        if home.len() != above.len() + 1 || !home.starts_with(above) {
            return Err(wrong_level());
        }
        let level = level_at(root, above);
        let FieldData::Edges(edges) = &level.fields[home[above.len()]].data else {
            return Ok(ValueMap::default());
        };
        if edges.level.nodes.len() < edges.targets.len()
            && sums_over_ways(var, &level.fields[home[above.len()]].field, edges, homes)
        {
            self.note_shared_below(var, op, edges, field.at);
        }
        let count = level.nodes.len();
        let numbers =
            op.as_sum().and_then(|op| Some((op, NodeNumbers::new(&map, edges.targets.len())?)));
        // A summed value is read in one step; the position of any other value is looked up.
        let finder = Finder::new(&map, if numbers.is_some() { 0 } else { edges.targets.len() });
        let gathered = holistic::gathered_bytes(op, edges.targets.len());
        let of_numbers = numbers.as_ref().map_or(0, |(_, numbers)| numbers.byte_len());
        let bytes = finder.byte_len() + of_numbers + gathered;
        let _while_looking_up = self.control.charge_while(bytes)?;
        let aggregate_of = |targets: &[u32]| match &numbers {
            Some((op, numbers)) => numbers.sum_of(targets).map_or(Ok(None), |sum| total(*op, sum)),
            None => {
                let values = targets.iter().filter_map(|&target| finder.get(target));
                aggregate(op, values, self.control)
            }
        };
        let each = cost::LOOKUP.times(1 + edges.targets.len() / count.max(1));
        // The values of a node are added up by one thread, in their order.
        let parts = self.morsels(count, each, |positions| {
            self.check()?;
            let mut result = ValueMap::default();
            for position in positions {
                if let Some(value) = aggregate_of(edges.targets_of(position))? {
                    result.nodes.push(level.nodes[position]);
                    result.values.push(value);
                }
            }
            Ok(result)
        })?;
        Ok(ValueMap::joined(parts))
    }

    /// One aggregate over all values of a variable, or the error of a sum that is no int. A column
    /// that nobody has read is added up where it lies.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when the variable holds nodes; [`Error::Limit`] when the request has to
    /// stop.
    fn aggregate_all(
        &self,
        op: Aggregate,
        var: VarId,
        fields: &[Arc<Field>],
        existing: &mut Passes,
    ) -> Result<Result<Option<Value>>> {
        if let Aggregate::Algebraic(op) = op
            && let Some(column) = self.unread_column(var)
            && self.pick(true, column.len(), || vec![true, false])
        {
            self.record_path(TotalPath::Column);
            let made = match existing.entry(var) {
                Entry::Occupied(made) => made.into_mut(),
                Entry::Vacant(position) => {
                    let passes = passes_over(var, fields);
                    position.insert(column.aggregate(&passes, self.control)?)
                }
            };
            let reported = made.iter().find_map(|totals| totals.reported_as(op));
            return Ok(reported.expect("all aggregates of the fields were made").finish());
        }
        self.record_path(TotalPath::Values);
        let map = self.expect_values(var)?;
        Ok(match &map.constant {
            Some(value) => match op {
                Aggregate::Algebraic(_) => Ok(Some(value.clone())),
                Aggregate::Holistic(op) => {
                    holistic::of_values(op, [value.as_ref()].into_iter(), self.control)
                }
            },
            None => aggregate_column(op, &map.values, self.control),
        })
    }

    /// Fills in the fields of an empty block: each has one value, over all of a variable.
    pub(crate) fn compute_empty(&mut self, fields: &[Arc<Field>]) -> Result<Level> {
        let (mut level, mut existing) = (Level::default(), Passes::new());
        for field in fields {
            let value = match &field.kind {
                FieldKind::AggregateVar(op, var) => {
                    let step = self.begin("field", &field.key, Some(field.at), None);
                    let value = self.aggregate_all(*op, *var, fields, &mut existing)?;
                    self.end(&step, usize::from(matches!(value, Ok(Some(_)))));
                    value.map_err(|error| error.or_at(field.at))?
                }
                FieldKind::Math(expr) => {
                    let lookup = |var: VarId| self.expect_values(var);
                    let mut with = Evaluation::new(&lookup, self.control.now());
                    let map = super::evaluate::evaluate(expr, None, &mut with)
                        .map_err(|error| error.or_at(field.at))?;
                    if map.constant.is_none() && !map.is_empty() {
                        let message = "a block without nodes can't compute with values of nodes";
                        let hint = "aggregate the variables first: `s as sum(val(x))`";
                        return Err(Error::query_at(field.at, message).with_hint(hint));
                    }
                    map.constant
                }
                FieldKind::Val(var) => self.expect_values(*var)?.constant.clone(),
                FieldKind::Predicate { .. }
                | FieldKind::Uid
                | FieldKind::Count { .. }
                | FieldKind::CountUid
                | FieldKind::AggregatePredicate { .. }
                | FieldKind::Expand(_)
                | FieldKind::CheckPassword { .. } => None,
            };
            let map = Arc::new(match value {
                Some(value) => ValueMap::constant(value),
                None => ValueMap::default(),
            });
            if let Some(var) = field.var {
                self.set_var(var, Var::Values(Arc::clone(&map)));
            }
            let data = FieldData::Column(map);
            level
                .fields
                .push(crate::exec::control::tree::FieldResult { field: Arc::clone(field), data });
        }
        Ok(level)
    }
}

/// Collects the computed fields and the levels that define variables. A path is charged: in a deep
/// tree it is long.
fn survey(
    level: &Level,
    control: &RequestContext,
    waiting: &mut Vec<Vec<usize>>,
    homes: &mut Homes,
) -> Result<()> {
    let (mut path, mut open) = (Vec::new(), vec![level.fields.iter().enumerate()]);
    let mut pending = Pending::new(control);
    while let Some(fields) = open.last_mut() {
        let Some((number, result)) = fields.next() else {
            open.pop();
            path.pop();
            continue;
        };
        let is_edges = matches!(result.data, FieldData::Edges(_));
        path.push(number);
        // A variable of nodes is at home where its edges lead, one level further down.
        let home = if is_edges { path.len() } else { path.len() - 1 };
        if let Some(var) = result.field.var {
            add_home(homes, var, &path[..home]);
        }
        let computed = matches!(
            result.field.kind,
            FieldKind::Val(_) | FieldKind::AggregateVar(..) | FieldKind::Math(_)
        );
        if computed {
            pending.add(size_of::<Vec<usize>>() + size_of_val(&path[..]))?;
            waiting.push(path.clone());
        }
        for item in result.field.facets.iter().flat_map(|facets| &facets.items) {
            if let Some(var) = item.var {
                add_home(homes, var, &path[..home]);
            }
        }
        if let FieldData::Edges(edges) = &result.data {
            open.push(edges.level.fields.iter().enumerate());
        } else {
            path.pop();
        }
    }
    pending.charge()
}

/// Notes that a level has values of a variable. The first one is its home.
fn add_home(homes: &mut Homes, var: VarId, path: &[usize]) {
    let home = homes.entry(var);
    home.and_modify(|home| home.is_only = false)
        .or_insert_with(|| Home { path: path.to_vec(), is_only: true });
}

/// The variables that a field computes with.
pub(crate) fn read_vars(kind: &FieldKind) -> Vec<VarId> {
    let mut vars = Vec::new();
    match kind {
        FieldKind::Val(var) | FieldKind::AggregateVar(_, var) => vars.push(*var),
        FieldKind::Math(expr) => math_vars(expr, &mut vars),
        FieldKind::Predicate { .. }
        | FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::CountUid
        | FieldKind::AggregatePredicate { .. }
        | FieldKind::Expand(_)
        | FieldKind::CheckPassword { .. } => {}
    }
    vars
}

fn edges_at(level: &Level, number: usize) -> Option<&EdgeField> {
    level.fields[number].data.edges()
}

fn level_at<'t>(root: &'t Level, path: &[usize]) -> &'t Level {
    path.iter()
        .fold(root, |level, number| edges_at(level, *number).map_or(level, |edges| &edges.level))
}

fn level_at_mut<'t>(root: &'t mut Level, path: &[usize]) -> &'t mut Level {
    let mut level = root;
    for number in path {
        let FieldData::Edges(edges) = &mut level.fields[*number].data else {
            unreachable!("paths lead over edge fields");
        };
        level = &mut edges.level;
    }
    level
}

fn field_at<'t>(root: &'t Level, path: &[usize]) -> &'t Field {
    let (number, above) = path.split_last().expect("a path has a last field");
    &level_at(root, above).fields[*number].field
}

/// True where a value of a variable of the level below is, or is computed from, a sum over all
/// paths to its node: of facets of the edges, or of what came down along them. O(fields below).
fn sums_over_ways(var: VarId, above: &Field, edges: &EdgeField, homes: &Homes) -> bool {
    let Some(Home { path: home, .. }) = homes.get(&var) else { return false };
    let facets = above.facets.iter().flat_map(|facets| &facets.items);
    let facets: Vec<VarId> = facets.filter_map(|item| item.var).collect();
    let comes_down = |var: &VarId| {
        homes
            .get(var)
            .is_some_and(|other| other.path.len() < home.len() && home.starts_with(&other.path))
    };
    let (mut existing, mut next) = (BTreeSet::from([var]), vec![var]);
    while let Some(var) = next.pop() {
        if facets.contains(&var) || comes_down(&var) {
            return true;
        }
        let defined = edges.level.fields.iter().find(|below| below.field.var == Some(var));
        if let Some(FieldKind::Math(expr)) = defined.map(|below| &below.field.kind) {
            let mut vars = Vec::new();
            math_vars(expr, &mut vars);
            next.extend(vars.into_iter().filter(|var| existing.insert(*var)));
        }
    }
    false
}

/// What came down along edges.
struct Arrived {
    map: ValueMap,
    /// A node to which numbers came down from several.
    shared: Option<u32>,
}

/// Carries numbers down the edges from the level of a variable to a level below: each node gets the
/// sum over its parents, once for each path.
///
/// # Errors
///
/// [`Error::Query`] for a sum of ints that is no int.
fn flow_down(root: &Level, home: &[usize], to: &[usize], map: &ValueMap) -> Result<Arrived> {
    let mut arrived = Arrived { map: ValueMap::default(), shared: None };
    if map.constant.is_some() {
        return Ok(Arrived { map: map.clone(), ..arrived });
    }
    let mut level = level_at(root, home);
    let mut sums: Vec<Option<Sum>> =
        level.nodes.iter().map(|&node| map.get(node).filter(is_number).map(Sum::of)).collect();
    for number in &to[home.len()..] {
        let Some(edges) = edges_at(level, *number) else { return Ok(arrived) };
        // `None` is not 0: a node to which no number came down has no value.
        let mut below: Vec<Option<Sum>> = vec![None; edges.level.nodes.len()];
        for (position, sum) in sums.iter().enumerate() {
            let Some(sum) = sum else { continue };
            for &target in edges.targets_of(position) {
                let Some(position) = edges.level.position(target) else { continue };
                match &mut below[position] {
                    Some(existing) => {
                        existing.add_sum(sum);
                        arrived.shared = Some(target);
                    }
                    none => *none = Some(sum.clone()),
                }
            }
        }
        sums = below;
        level = &edges.level;
    }
    for (&node, sum) in level.nodes.iter().zip(sums) {
        if let Some(sum) = sum {
            arrived.map.nodes.push(node);
            arrived.map.values.push(sum.value()?);
        }
    }
    Ok(arrived)
}

/// What has to be aggregated of a variable for all of some fields.
fn passes_over(var: VarId, fields: &[Arc<Field>]) -> Vec<Algebraic> {
    let mut passes = Vec::new();
    for field in fields {
        if let FieldKind::AggregateVar(Aggregate::Algebraic(op), other) = &field.kind
            && *other == var
            && !passes.contains(&Totals::pass_of(*op))
        {
            passes.push(Totals::pass_of(*op));
        }
    }
    passes
}

fn is_number(value: &ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Int(_) | ValueRef::Float(_))
}

/// One aggregate over some values; `None` when there are none.
///
/// # Errors
///
/// [`Error::Query`] for a sum of ints that is no int, and for values of other types than the
/// aggregate has.
pub(crate) fn aggregate<'v>(
    op: Aggregate,
    values: impl Iterator<Item = ValueRef<'v>>,
    control: &RequestContext,
) -> Result<Option<Value>> {
    match op {
        Aggregate::Algebraic(op) => algebraic(op, values),
        Aggregate::Holistic(op) => holistic::of_values(op, values, control),
    }
}

/// As [`aggregate`], of those whose state has a constant size.
///
/// # Errors
///
/// [`Error::Query`] for a sum of ints that is no int.
pub(in crate::exec) fn algebraic<'v>(
    op: Algebraic,
    values: impl Iterator<Item = ValueRef<'v>>,
) -> Result<Option<Value>> {
    match op {
        Algebraic::Min => Ok(extreme(values, Ordering::Less)),
        Algebraic::Max => Ok(extreme(values, Ordering::Greater)),
        Algebraic::Sum => Sum::over(values).map(Sum::value).transpose(),
        Algebraic::Avg => Ok(Sum::over(values).and_then(Sum::mean)),
    }
}

/// What the sum of some values is used for.
fn total(op: Algebraic, sum: Sum) -> Result<Option<Value>> {
    if op == Algebraic::Avg { Ok(sum.mean()) } else { sum.value().map(Some) }
}

/// An aggregate over all values of a variable.
fn aggregate_column(
    op: Aggregate,
    values: &Column,
    control: &RequestContext,
) -> Result<Option<Value>> {
    match values {
        Column::Int(ints) => aggregate_numbers(op, Number::slice(ints), control),
        Column::Float(floats) => aggregate_numbers(op, Number::slice(floats), control),
        Column::Any(values) => {
            let gathered = holistic::gathered_bytes(op, values.len());
            let _while_gathered = control.charge_while(gathered)?;
            aggregate(op, values.iter().map(Value::as_ref), control)
        }
    }
}

/// An aggregate over a plain array of numbers.
///
/// # Errors
///
/// As [`aggregate`].
pub(crate) fn aggregate_numbers<'s>(
    op: Aggregate,
    numbers: impl Into<NumberSlice<'s>>,
    control: &RequestContext,
) -> Result<Option<Value>> {
    let numbers = numbers.into();
    match op {
        Aggregate::Algebraic(op) => {
            let mut totals = Totals::new(op);
            totals.add(numbers);
            totals.finish()
        }
        Aggregate::Holistic(op) => holistic::of_numbers(op, numbers, control),
    }
}

fn extreme<'v>(values: impl Iterator<Item = ValueRef<'v>>, side: Ordering) -> Option<Value> {
    let better = |best: ValueRef<'v>, value: ValueRef<'v>| {
        if value.compare(best) == Some(side) { value } else { best }
    };
    values.reduce(better).map(|value| value.to_value())
}
