//! The plan of a checked operation: all that it requests before its variables have values.
//!
//! Selections lie in a list, children before parents, and refer to one another by number. So a
//! request fills them in one pass without recursion, a selection with several references is filled
//! once, and what no variable touches is filled already.

use apollo_compiler::Name;
use std::sync::Arc;

use crate::request::grammar::literals::Template;
use crate::request::{Arguments, Branch, Cascade, Field, FieldShape, Selection, Value};

/// The selections of an operation. The last is that of the root; number 0 is the empty one of all
/// scalars and enums. A plan is made for an operation and the values of the variables that `@skip`
/// and `@include` request, and is retained. Each request that has the same of both fills it.
#[derive(Debug)]
pub(super) struct Plan {
    pub selections: Vec<PlannedSelection>,
}

#[derive(Debug)]
pub(super) enum PlannedSelection {
    /// No variable is in the selection or below.
    Fixed(Arc<Selection>),
    Open(Vec<PlannedBranch>),
}

#[derive(Debug)]
pub(super) struct PlannedBranch {
    /// The object types with the fields; each type of the selection is in one branch.
    pub types: Arc<[Name]>,
    pub fields: Vec<PlannedField>,
}

#[derive(Debug)]
pub(super) struct PlannedField {
    pub shape: Arc<FieldShape>,
    pub arguments: PlannedArguments,
    pub cascade: PlannedCascade,
    /// The number of the selection below; 0 for a scalar or an enum.
    pub selection: usize,
}

#[derive(Debug)]
pub(super) enum PlannedArguments {
    Fixed(Arguments),
    Open(Vec<(Name, Template)>),
}

#[derive(Debug)]
pub(super) enum PlannedCascade {
    Fixed(Option<Cascade>),
    /// The variable of this number has the list of fields.
    Variable(usize),
}

impl Plan {
    /// Returns the root fields with the values of the variables in their positions. O(selections +
    /// parts that variables touch). `variables` has a value for each variable that the operation
    /// declares, in that order, and `None` for one that is absent.
    pub(super) fn fill(&self, variables: &[Option<Value>]) -> Arc<[Field]> {
        let mut filled: Vec<Arc<Selection>> = Vec::with_capacity(self.selections.len());
        for planned in &self.selections {
            // Children come first, so what a branch refers to is filled by now.
            let selection = match planned {
                PlannedSelection::Fixed(selection) => Arc::clone(selection),
                PlannedSelection::Open(branches) => {
                    let branches = branches.iter().map(|branch| branch.fill(&filled, variables));
                    Arc::new(Selection { branches: branches.collect() })
                }
            };
            filled.push(selection);
        }
        let root = filled.last().and_then(|selection| selection.branches.first());
        root.map_or_else(|| Arc::from([]), |branch| Arc::clone(&branch.fields))
    }
}

impl PlannedBranch {
    /// Fills a branch with the values of the variables. `below` has the filled selections by their
    /// numbers.
    pub(super) fn fill(&self, below: &[Arc<Selection>], variables: &[Option<Value>]) -> Branch {
        let fields = self.fields.iter().map(|field| Field {
            shape: Arc::clone(&field.shape),
            arguments: field.arguments.fill(variables),
            cascade: field.cascade.fill(variables),
            selection: Arc::clone(&below[field.selection]),
        });
        Branch { types: Arc::clone(&self.types), fields: fields.collect() }
    }
}

impl PlannedArguments {
    fn fill(&self, variables: &[Option<Value>]) -> Arguments {
        match self {
            PlannedArguments::Fixed(arguments) => arguments.clone(),
            PlannedArguments::Open(parts) => {
                let fill = |(name, part): &(Name, Template)| match name.as_str() {
                    "filter" => (name.clone(), part.fill_given(variables)),
                    _ => (name.clone(), part.fill(variables)),
                };
                Arguments(parts.iter().map(fill).collect())
            }
        }
    }
}

impl PlannedCascade {
    fn fill(&self, variables: &[Option<Value>]) -> Option<Cascade> {
        match self {
            PlannedCascade::Fixed(cascade) => cascade.clone(),
            PlannedCascade::Variable(number) => {
                // The names were checked when the values came. Without any, all selected fields are
                // meant.
                let names = variables[*number].as_ref().and_then(Value::as_list).unwrap_or(&[]);
                let names = names.iter().filter_map(Value::as_str).map(Name::new_unchecked);
                Some(Cascade { fields: names.collect() })
            }
        }
    }
}
