//! The names of procedures, of their options and of their columns.

use super::catalog::NameList;
use super::options::{OptionFault, OptionKind};
use hexgraph_base::plan::{
    ALGORITHMS, Algorithm, ArgumentDef, COMMON_ARGUMENTS, ResultColumn, algorithm,
    nearest_algorithm,
};
use hexgraph_base::types::nearest;

/// What the name of a procedure begins with.
const PREFIX: &str = "algo.";

/// What names begin with that other databases have for their catalog.
const CATALOG_PREFIXES: [&str; 4] = ["db.", "dbms.", "apoc.meta.", "apoc.schema."];

/// The option with the property of relationships that is their weight, of algorithms with weights.
pub(super) const WEIGHT: &str = "weight";

/// The option with the labels of the nodes of the graph.
pub(super) const LABELS: &str = "labels";

/// What a name of a procedure means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NamedProcedure {
    /// A graph algorithm.
    Algorithm(Procedure),
    /// A list of names in the graph.
    Names(NameList),
}

/// An algorithm with its options and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Procedure {
    pub(crate) algorithm: &'static Algorithm,
}

/// The procedure of a name.
pub(crate) fn named(name: &str) -> Result<NamedProcedure, OptionFault> {
    if let Some(algorithm) = name.strip_prefix(PREFIX).and_then(algorithm) {
        return Ok(NamedProcedure::Algorithm(Procedure { algorithm }));
    }
    if let Some(list) = NameList::ALL.into_iter().find(|it| it.name() == name) {
        return Ok(NamedProcedure::Names(list));
    }
    Err(OptionFault { message: format!("there is no procedure `{name}`"), hint: instead_of(name) })
}

/// What to call instead of a name that no procedure has.
fn instead_of(name: &str) -> String {
    let lists = NameList::ALL.map(NameList::name);
    if let Some(near) = nearest(name, lists.into_iter()) {
        return format!("did you mean `{near}`?");
    }
    if CATALOG_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        let lists = lists.map(|it| format!("`{it}`")).join(", ");
        return format!(
            "names are listed by {lists}; the schema with its indexes is in `schema()`, what is in the graph in `describe()`"
        );
    }
    if let Some(near) = name.split('.').rev().find_map(nearest_algorithm) {
        return format!("did you mean `{PREFIX}{near}`?");
    }
    let some = ALGORITHMS.iter().take(3).map(|it| format!("`{PREFIX}{}`", it.name));
    let some = some.collect::<Vec<_>>().join(", ");
    format!("procedures are `{}` and the graph algorithms: {some}, …", lists.join("`, `"))
}

impl NamedProcedure {
    /// The name that `CALL` has.
    pub(crate) fn name(self) -> String {
        match self {
            NamedProcedure::Algorithm(procedure) => procedure.name(),
            NamedProcedure::Names(list) => list.name().to_owned(),
        }
    }

    /// The names of the columns in their order.
    pub(crate) fn columns(self) -> Vec<&'static str> {
        match self {
            NamedProcedure::Algorithm(procedure) => {
                procedure.columns().into_iter().map(|it| it.name).collect()
            }
            NamedProcedure::Names(list) => vec![list.column()],
        }
    }

    /// The index of a column.
    pub(crate) fn column(self, name: &str) -> Result<usize, OptionFault> {
        let columns = self.columns();
        columns.iter().position(|it| *it == name).ok_or_else(|| {
            let message = format!("`{}` has no column `{name}`", self.name());
            OptionFault { message, hint: proposal(name, &columns) }
        })
    }
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
