//! The fields of the body of a `@groupby`: what each has to say about one group.

use crate::exec::control::context::Context;
use crate::exec::math::aggregate::{aggregate, aggregate_numbers};
use crate::exec::select::numbers::NumberTable;
use crate::exec::select::read::first_value;
use hexgraph_base::plan::{Aggregate, Field, FieldKind};
use hexgraph_base::types::{Error, Result, Value, ValueType};
use std::sync::Arc;

impl Context<'_> {
    /// The numbers that a field of the body aggregates, when they are plain and close together.
    pub(crate) fn number_table(&self, field: &Field, members: &[u32]) -> Option<NumberTable> {
        let FieldKind::AggregatePredicate { name, langs, .. } = &field.kind else { return None };
        let predicate = self.predicate(name).filter(|_| langs.is_empty())?;
        NumberTable::new(predicate.only_untagged()?, predicate.def.value_type, members)
    }

    /// Refuses aggregates of what can't be aggregated in groups, whether there are some or not.
    pub(super) fn check_group_results(&self, body: &[Arc<Field>]) -> Result<()> {
        for field in body {
            let FieldKind::AggregatePredicate { op, name, .. } = &field.kind else { continue };
            let Some(predicate) = self.predicate(name) else { continue };
            let found = predicate.def.value_type;
            if predicate.is_edges() || !can_aggregate(*op, found) {
                let (op, found) = (op.name(), found.name());
                let message = format!("`{op}` can't aggregate `{name}`, which is of type {found}");
                let hint = "min and max take numbers, strings and datetimes, sum and avg numbers and vectors";
                return Err(Error::query_at(field.at, message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// The result of a field for a group of `count` members; `members` are needed where they are aggregated, in the order
    /// in which their values are added up. `table` has their numbers where [`Context::number_table`] made one.
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
                let values: Vec<Value> = members
                    .iter()
                    .filter_map(|&node| first_value(predicate, langs, node))
                    .collect();
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
}

fn can_aggregate(op: Aggregate, of: ValueType) -> bool {
    let ordered = [ValueType::DateTime, ValueType::String, ValueType::Default];
    match of {
        ValueType::Int | ValueType::Float | ValueType::BigFloat => true,
        ValueType::Vector => matches!(op, Aggregate::Sum | Aggregate::Avg),
        other => matches!(op, Aggregate::Min | Aggregate::Max) && ordered.contains(&other),
    }
}
