//! The fields of the body of a `@groupby`: what each has to say about one group.

use crate::exec::control::context::Context;
use crate::exec::math::aggregate::{aggregate, aggregate_numbers};
use crate::exec::select::numbers::NumberTable;
use crate::exec::select::read::first_value;
use crate::graph::Predicate;
use hexgraph_base::plan::{Field, FieldKind, PredicateUse};
use hexgraph_base::types::{Error, Result, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

impl Context<'_> {
    /// The numbers that each field of the body aggregates, when they are plain and close together: one table for each predicate.
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
            let table = match part.filter(|_| NumberTable::is_dense(members)) {
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
            if predicate.is_edges() || !PredicateUse::Aggregate(*op).is_allowed(&predicate.def) {
                let (op, result) = (op.name(), result.name());
                let message = format!("`{op}` can't aggregate `{name}`, which is of type {result}");
                let hint = "min and max take numbers, strings and datetimes, sum and avg numbers and vectors";
                return Err(Error::query_at(field.at, message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// The result of a field for a group of `count` members; `members` are needed where they are aggregated, in the order
    /// in which their values are added up. `table` has their numbers where a table of numbers was made.
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
                let Some(predicate) = self.predicate(name) else { return Ok(None) };
                if let Some(table) = table {
                    return aggregate_numbers(*op, &table.of(members))
                        .map_err(|error| error.or_at(field.at));
                }
                let values = self.values_of(predicate, langs, members)?;
                aggregate(*op, values.iter().map(Value::as_ref))
                    .map_err(|error| error.or_at(field.at))
            }
            _ => {
                let message = format!("found `{}` below `@groupby`", field.key);
                let hint = "expected count(uid), or min, max, sum, avg of a predicate";
                Err(Error::query_at(field.at, message).with_hint(hint))
            }
        }
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
            if PENDING_MAX < pending {
                self.check()?;
                held.grow(std::mem::take(&mut pending))?;
            }
            values.push(value);
        }
        Ok(values)
    }
}

/// The bytes of values that are charged together.
const PENDING_MAX: usize = 64 << 10;
