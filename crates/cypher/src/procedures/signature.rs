//! The names of procedures, of their options and of their columns.

use super::options::{OptionFault, OptionKind};
use hexgraph_base::plan::{
    ALGORITHMS, Algorithm, ArgumentDef, COMMON_ARGUMENTS, ResultColumn, algorithm,
    nearest_algorithm,
};
use hexgraph_base::types::nearest;

/// What the name of a procedure begins with.
const PREFIX: &str = "algo.";

/// The option with the property of relationships that is their weight, of algorithms with weights.
pub(super) const WEIGHT: &str = "weight";

/// The option with the labels of the nodes of the graph.
pub(super) const LABELS: &str = "labels";

/// A procedure: an algorithm with its options and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Procedure {
    pub(crate) algorithm: &'static Algorithm,
}

/// The procedure of a name.
pub(crate) fn named(name: &str) -> Result<Procedure, OptionFault> {
    if let Some(algorithm) = name.strip_prefix(PREFIX).and_then(algorithm) {
        return Ok(Procedure { algorithm });
    }
    let near = name.split('.').rev().find_map(nearest_algorithm);
    let hint = match near {
        Some(near) => format!("did you mean `{PREFIX}{near}`?"),
        None => {
            let some = ALGORITHMS.iter().take(3).map(|it| format!("`{PREFIX}{}`", it.name));
            format!(
                "procedures are the graph algorithms: {}, …",
                some.collect::<Vec<_>>().join(", ")
            )
        }
    };
    Err(OptionFault { message: format!("there is no procedure `{name}`"), hint })
}

impl Procedure {
    /// The name that `CALL` has.
    pub(crate) fn name(self) -> String {
        format!("{PREFIX}{}", self.algorithm.name)
    }

    /// The columns in their order.
    pub(crate) fn columns(self) -> Vec<ResultColumn> {
        self.algorithm.columns()
    }

    /// The index of a column.
    pub(crate) fn column(self, name: &str) -> Result<usize, OptionFault> {
        let columns = self.columns();
        let index = columns.iter().position(|it| it.name == name);
        index.ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|it| it.name).collect();
            let message = format!("`{}` has no column `{name}`", self.name());
            OptionFault { message, hint: proposal(name, &names) }
        })
    }

    /// The values of an option.
    pub(crate) fn option(self, name: &str) -> Result<OptionKind, OptionFault> {
        let is_named = |it: &&ArgumentDef| it.name == name;
        let all = || self.algorithm.arguments.iter().chain(COMMON_ARGUMENTS);
        match name {
            LABELS => return Ok(OptionKind::Labels),
            WEIGHT if self.algorithm.takes_weights => return Ok(OptionKind::Weight),
            _ => {}
        }
        if let Some(argument) = all().find(is_named) {
            return Ok(OptionKind::Argument(argument.kind));
        }
        let extra =
            [LABELS, WEIGHT].into_iter().take(1 + usize::from(self.algorithm.takes_weights));
        let names: Vec<&str> = all().map(|it| it.name).chain(extra).collect();
        let message = format!("`{}` has no option `{name}`", self.name());
        let hint = match name {
            WEIGHT => format!("it does not use weights; {}", listed(&names)),
            _ => proposal(name, &names),
        };
        Err(OptionFault { message, hint })
    }
}

/// The nearest of some names, and all of them.
fn proposal(name: &str, names: &[&str]) -> String {
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {}", listed(names)),
        None => listed(names),
    }
}

fn listed(names: &[&str]) -> String {
    format!("it has {}", names.join(", "))
}
