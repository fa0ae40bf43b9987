//! Runs the query of an upsert, and binds the variables of the mutations that follow.

use super::answer::Answer;
use super::control::options::ExecOptions;
use super::run::{run_blocks, with_unknowns};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::stop::RequestContext;
use crate::graph::{Binding, Bindings, Version};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Filter, Query};
use hexgraph_base::types::{Error, Result, stack};
use std::sync::Arc;

/// The result of the query of an upsert.
pub struct Upsert {
    /// The answer to the query itself.
    pub answer: Answer,
    /// Which of the conditions hold, in their order.
    pub holds: Vec<bool>,
    /// The values of the variables that the mutations use.
    pub bindings: Bindings,
}

/// Carries out the query of an upsert on one version of the graph. `conditions` are those of the
/// mutations, `names` the variables that they use.
///
/// A condition is about no node: it compares the number of nodes in a variable, or a variable
/// that is one value.
///
/// # Errors
///
/// As [`super::execute`]; [`Error::Query`] for a condition that tests what only a node can have.
pub fn execute_upsert(
    version: Arc<Version>,
    query: Arc<Query>,
    conditions: &[Option<Filter>],
    names: &[String],
    control: &RequestContext,
) -> Result<Upsert> {
    for condition in conditions.iter().flatten() {
        check_condition(condition)?;
    }
    let version = with_unknowns(version, &query);
    let vars = vec![None; query.variables.len()];
    let mut context = Context { version: &version, query: &query, control, vars };
    let blocks = run_blocks(&mut context)?;
    // No node has the number 0.
    let nobody = || NodeSet::from(vec![0]);
    let holds = conditions.iter().map(|condition| match condition {
        Some(filter) => Ok(!context.filter(filter, nobody())?.is_empty()),
        None => Ok(true),
    });
    let holds = holds.collect::<Result<_>>()?;
    let bindings = context.bindings(names)?;
    let options = ExecOptions::default();
    Ok(Upsert { answer: Answer::new(version, query, options, blocks), holds, bindings })
}

impl Context<'_> {
    fn bindings(&self, names: &[String]) -> Result<Bindings> {
        let mut bindings = Bindings::default();
        for (variable, value) in self.query.variables.iter().zip(&self.vars) {
            if names.binary_search(&variable.name).is_ok()
                && let Some(value) = value
            {
                bindings.bind(&variable.name, self.binding(value)?);
            }
        }
        Ok(bindings)
    }

    fn binding(&self, value: &Var) -> Result<Binding> {
        let uid = |node| self.version.nodes.uid(node);
        let map = match value {
            Var::Uids(uids) => return Ok(Binding::Uids(uids.set.iter().map(uid).collect())),
            Var::Values(map) => Arc::clone(map),
            Var::Column(column) => column.values(self.control)?,
        };
        Ok(match &map.constant {
            Some(value) => Binding::Constant(value.clone()),
            None => {
                let pairs = map.iter().map(|(node, value)| (uid(node), value.to_value()));
                Binding::Values(pairs.collect())
            }
        })
    }
}

fn check_condition(condition: &Filter) -> Result<()> {
    stack::require();
    match condition {
        Filter::And(parts) | Filter::Or(parts) => parts.iter().try_for_each(check_condition),
        Filter::Not(part) => check_condition(part),
        Filter::SemiJoin(_) => Ok(()),
        Filter::Function(function) => {
            let Call::Has(predicate) = &function.call else { return Ok(()) };
            let message = format!(
                "the condition of a mutation is about no node, which could have `{}`",
                predicate.name
            );
            let hint = "use the number of nodes in a variable: `eq(len(v), 0)`";
            Err(Error::query_at(function.at, message).with_hint(hint))
        }
    }
}
