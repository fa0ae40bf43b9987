//! The fields of the body of a `@groupby`: what each has to say about one group.

use super::key_codes::{KeyCodes, MISSING};
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::columns::numbers::NumberTable;
use crate::exec::columns::read::{Langs, first_value, typed_or_none};
use crate::exec::control::context::Context;
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::math::aggregate::{aggregate, aggregate_numbers};
use crate::exec::math::holistic;
use crate::exec::math::holistic::distinct::{self, count_sorted};
use crate::graph::{Predicate, ValueList};
use hexgraph_base::plan::{Aggregate, AggregateTypes, Field, FieldKind, Holistic, PredicateUse};
use hexgraph_base::types::{Error, Result, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

impl Context<'_> {
    /// The numbers that each field of the body aggregates, when they are plain and close together:
    /// one table for each predicate.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::charge`](crate::exec::RequestContext::charge).
    pub(crate) fn number_tables(
        &self,
        body: &[Arc<Field>],
        members: &[u32],
    ) -> Result<Vec<Option<Rc<NumberTable>>>> {
        let mut existing: FxHashMap<&str, Option<Rc<NumberTable>>> = FxHashMap::default();
        let mut tables = Vec::with_capacity(body.len());
        for field in body {
            let FieldKind::AggregatePredicate { name, langs, .. } = &field.kind else {
                tables.push(None);
                continue;
            };
            if !langs.is_empty() {
                tables.push(None);
                continue;
            }
            if let Some(table) = existing.get(name.as_str()) {
                tables.push(table.clone());
                continue;
            }
            let predicate = self.predicate(name);
            let part = predicate.and_then(|it| Some((it.only_untagged()?, it.def.value_type)));
            let table = match part.filter(|_| NumberTable::suits(members)) {
                Some((part, value_type)) => {
                    self.control.charge(NumberTable::byte_len(members))?;
                    NumberTable::new(part, value_type, members).map(Rc::new)
                }
                None => None,
            };
            existing.insert(name, table.clone());
            tables.push(table);
        }
        Ok(tables)
    }

    /// Refuses aggregates of what can't be aggregated in groups, whether there are some or not.
    pub(super) fn check_group_results(&self, body: &[Arc<Field>]) -> Result<()> {
        for field in body {
            let FieldKind::AggregatePredicate { op, name, .. } = &field.kind else { continue };
            let Some(predicate) = self.predicate(name) else { continue };
            let result = predicate.def.value_type;
            let takes_edges = op.function().types == AggregateTypes::Any;
            if predicate.is_edges() && !takes_edges
                || !PredicateUse::Aggregate(*op).is_allowed(&predicate.def)
            {
                let (name_of_op, result) = (op.name(), result.name());
                let message =
                    format!("`{name_of_op}` can't aggregate `{name}`, which is of type {result}");
                let hint = match op {
                    Aggregate::Algebraic(_) => {
                        "min and max take numbers, strings and datetimes, sum and avg numbers and vectors".to_owned()
                    }
                    Aggregate::Holistic(_) => {
                        format!("`{name_of_op}` takes {}", op.function().types.described())
                    }
                };
                return Err(Error::query_at(field.at, message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// The result of a field for a group of `count` members; `members` are needed where they are
    /// aggregated, in the order in which their values are added up. `table` has their numbers where
    /// a table of numbers was made.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a field that a group does not have, and for a sum that is no int.
    pub(crate) fn group_result(
        &self,
        field: &Field,
        table: Option<&NumberTable>,
        count: usize,
        members: &[u32],
    ) -> Result<Option<Value>> {
        match &field.kind {
            FieldKind::CountUid => Ok(Some(Value::Int(count as i64))),
            FieldKind::AggregatePredicate { op, name, langs } => {
                let Some(predicate) = self.predicate(name) else {
                    return Ok(holistic::of_none(*op));
                };
                self.aggregate_members(*op, predicate, langs, table, members)
                    .map_err(|error| error.or_at(field.at))
            }
            FieldKind::Predicate { .. }
            | FieldKind::Uid
            | FieldKind::Count { .. }
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::Math(_)
            | FieldKind::Expand(_)
            | FieldKind::CheckPassword { .. } => {
                let message = format!("found `{}` below `@groupby`", field.key);
                let hint = format!("expected count(uid), or {} of a predicate", Aggregate::names());
                Err(Error::query_at(field.at, message).with_hint(hint))
            }
        }
    }

    /// The aggregate of the values that members have of a predicate.
    fn aggregate_members(
        &self,
        op: Aggregate,
        predicate: &Predicate,
        langs: &[String],
        table: Option<&NumberTable>,
        members: &[u32],
    ) -> Result<Option<Value>> {
        if let Some(table) = table {
            return aggregate_numbers(op, &table.of(members), self.control);
        }
        if op == Aggregate::Holistic(Holistic::CountDistinct) {
            let count = match predicate.is_edges() {
                true => self.count_distinct_targets(predicate, members)?,
                false => self.count_distinct_values(predicate, langs, members)?,
            };
            return Ok(Some(Value::Int(count as i64)));
        }
        let values = self.values_of(predicate, langs, members)?;
        let gathered = holistic::gathered_bytes(op, values.len());
        let _while_gathered = self.control.charge_while(gathered)?;
        aggregate(op, values.iter().map(Value::as_ref), self.control)
    }

    /// The number of nodes to which some members have an edge.
    fn count_distinct_targets(&self, predicate: &Predicate, members: &[u32]) -> Result<usize> {
        let Some(edges) = predicate.direction(false) else { return Ok(0) };
        let (mut targets, mut held) = (Vec::new(), self.control.charge_while(0)?);
        for &member in members {
            let more = edges.targets(member);
            if targets.capacity() < targets.len() + more.len() {
                // Before the list grows, each target stays in it once.
                self.check()?;
                targets.sort_unstable();
                targets.dedup();
                let grown = 2 * (targets.len() + more.len());
                if targets.capacity() < grown {
                    held.grow(size_of::<u32>() * (grown - targets.capacity()))?;
                    targets.reserve_exact(grown - targets.len());
                }
            }
            targets.extend_from_slice(&more);
        }
        targets.sort_unstable();
        Ok(count_sorted(&targets))
    }

    /// The number of different values that some members have, of lists all values.
    fn count_distinct_values(
        &self,
        predicate: &Predicate,
        langs: &[String],
        members: &[u32],
    ) -> Result<usize> {
        let values = members.iter().flat_map(|member| {
            let list = predicate.values_in(Langs::First(langs), *member).map(|(_, list)| list);
            let len = list.as_ref().map_or(0, ValueList::len);
            let most = if predicate.def.list { len } else { len.min(1) };
            let value = move |position| list.as_ref().map(|list| list.get(position));
            (0..most).filter_map(value)
        });
        let values = values.filter_map(|value| typed_or_none(value, predicate.def.value_type));
        distinct::count(values, self.control)
    }

    /// The codes of the values that the fields of the body count, each different one once; `None`
    /// for a field that does something else, and for values without codes that mean the same in
    /// each group.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::charge`](crate::exec::RequestContext::charge).
    pub(super) fn distinct_codes<'s>(
        &'s self,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Vec<Option<KeyCodes<'s>>>> {
        let codes = |field: &Arc<Field>| {
            let FieldKind::AggregatePredicate { op, name, langs } = &field.kind else {
                return None;
            };
            let predicate = self.predicate(name).filter(|it| !it.def.list && langs.is_empty())?;
            if *op != Aggregate::Holistic(Holistic::CountDistinct) {
                return None;
            }
            let codes =
                KeyCodes::new(predicate.only_untagged()?, predicate.def.value_type, members)?;
            Some(codes).filter(|codes| !codes.numbers_values())
        };
        let codes: Vec<Option<KeyCodes<'s>>> = body.iter().map(codes).collect();
        self.control.charge(codes.iter().flatten().map(KeyCodes::byte_len).sum())?;
        Ok(codes)
    }

    /// The number of different values that some members have, which ascend: that of their codes.
    pub(super) fn count_distinct_codes(
        &self,
        codes: &KeyCodes<'_>,
        members: &[u32],
    ) -> Result<usize> {
        let Some(&first) = members.first() else { return Ok(0) };
        let mut codes = codes.fork(first, members.len());
        let words = codes.limit().div_ceil(64) as usize;
        let _while_counting =
            self.control.charge_while(words.min(members.len()) * size_of::<u64>())?;
        let (mut bits, mut listed) = (Vec::new(), Vec::<u32>::new());
        // Codes are marked where there are not many more of them than members.
        if words <= members.len() {
            bits.resize(words, 0_u64);
        }
        let mut batch = Vec::with_capacity(members.len().min(BATCH));
        for nodes in members.chunks(BATCH) {
            self.check()?;
            codes.read(nodes, &mut batch);
            match bits.is_empty() {
                true => listed.extend(batch.iter().filter(|code| **code != MISSING)),
                false => batch.iter().for_each(|code| {
                    bits[*code as usize / 64] |= 1 << (code % 64);
                }),
            }
        }
        if let Some(word) = bits.first_mut() {
            *word &= !(1 << MISSING);
        }
        listed.sort_unstable();
        let marked: u32 = bits.iter().map(|word| word.count_ones()).sum();
        Ok(marked as usize + count_sorted(&listed))
    }

    /// The first values of members, which are freed when they were aggregated.
    fn values_of(
        &self,
        predicate: &Predicate,
        langs: &[String],
        members: &[u32],
    ) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        let (mut pending, mut held) = (0, self.control.charge_while(0)?);
        for &node in members {
            let Some(value) = first_value(predicate, langs, node) else { continue };
            pending += 2 * size_of::<Value>() + value.heap_size();
            if CHARGED_BYTES < pending {
                self.check()?;
                held.grow(std::mem::take(&mut pending))?;
            }
            values.push(value);
        }
        Ok(values)
    }
}
