//! The fields of the body of a `@groupby`: what each has to say about one group.

use crate::exec::control::context::Context;
use crate::exec::math::aggregate::{aggregate, aggregate_numbers};
use crate::exec::select::numbers::NumberTable;
use crate::exec::select::read::first_value;
use hexgraph_base::plan::{Field, FieldKind};
use hexgraph_base::types::{Error, Result, Value};

impl Context<'_> {
    /// The numbers that a field of the body aggregates, when they are plain and close together.
    pub(crate) fn number_table(&self, field: &Field, members: &[u32]) -> Option<NumberTable> {
        let FieldKind::AggregatePredicate { name, langs, .. } = &field.kind else { return None };
        let predicate = self.predicate(name).filter(|_| langs.is_empty())?;
        NumberTable::new(predicate.only_untagged()?, predicate.def.value_type, members)
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
