//! Columns by their names: where one is, what the ids in it are, and what is wrong with one.

use super::ids::IdColumn;
use super::options::ID_PREDICATE;
use super::parts::ColumnName;
use super::plan::id_type;
use crate::tables::read::cells::natural_of;
use crate::tables::read::source::Source;
use hexgraph_base::types::{Error, Result, ValueType, did_you_mean};
use hexgraph_store::graph::{ColumnLoad, IdSpace};
use std::collections::BTreeSet;

/// The largest number of columns that a note names.
const UNLOADED_SHOWN: usize = 10;

/// A column of ids of a space, with an index that distinguishes the id columns of a row.
pub(in crate::tables) fn id_column(
    source: &Source,
    name: &str,
    (space, spaces, slot, has_lists): (&Option<IdSpace>, &[IdSpace], u64, bool),
    load: &mut ColumnLoad,
) -> Result<IdColumn> {
    let column = find(source, name)?;
    let natural = values_of(source, &column)?;
    let is_vector = |value_type| value_type == ValueType::Vector;
    if natural.is_some_and(|(of, is_list)| is_vector(of) || is_list && !has_lists) {
        return Err(no_id_lists(name));
    }
    let natural = natural.map_or(ValueType::String, |(value_type, _)| value_type);
    let existing = spaces.iter().position(|other| Some(other) == space.as_ref());
    let position = existing.expect("all spaces are chosen and listed");
    let kind = load.define_ids(position, id_type(natural), is_unique(&spaces[position]))?;
    Ok(IdColumn { column, space: position, kind, slot, missing: None })
}

/// The error for a column of lists where a cell names one node.
fn no_id_lists(column: &str) -> Error {
    let reason = "an id is a whole number or a text, no list";
    Error::schema(format!("column {column:?}: {reason}: make one text of each list"))
}

/// The type that the values of a column have by nature, and true if a row has many of them; `None`
/// for a column without values.
///
/// # Errors
///
/// [`Error::Load`] with the position of a cell that is no value; [`Error::Schema`] for a column
/// whose type has none.
pub(in crate::tables) fn values_of(
    source: &Source,
    column: &ColumnName,
) -> Result<Option<(ValueType, bool)>> {
    let position = column.position;
    source.check_column(position)?;
    natural_of(source.schema.field(position)).map_err(|reason| no_values(column, reason))
}

/// Makes the error for a column whose name can't be that of a predicate.
pub(in crate::tables) fn no_values(column: &ColumnName, reason: impl std::fmt::Display) -> Error {
    let hint = "name its predicate, or leave it out, with `columns`";
    Error::schema(format!("column {:?}: {reason}; {hint}", column.name))
}

/// Finds a column by its name.
///
/// # Errors
///
/// [`Error::Query`] when there is none, with the names that there are, and when there are several.
pub(in crate::tables) fn find(source: &Source, name: &str) -> Result<ColumnName> {
    let position = position_of(source, name)?;
    let others = source.schema.fields()[position + 1..].iter();
    match others.map(|field| field.name()).any(|other| other == name) {
        true => Err(repeated(source, name)),
        false => Ok(ColumnName { name: name.to_owned(), position }),
    }
}

/// Makes the error for a name that several columns have.
pub(in crate::tables) fn repeated(source: &Source, name: &str) -> Error {
    let fault = format!("{} has several columns {name:?}", source.name);
    Error::query(fault).with_hint("give each a name of its own")
}

/// Finds the index of the first column of a name.
///
/// # Errors
///
/// [`Error::Query`] when there is none, with the names that there are.
pub(in crate::tables) fn position_of(source: &Source, name: &str) -> Result<usize> {
    let names = || source.schema.fields().iter().map(|field| field.name().as_str());
    if let Some(position) = names().position(|other| other == name) {
        return Ok(position);
    }
    if names().next().is_none() {
        return Err(Error::query(format!(
            "{} has no column {name:?}: it has no columns",
            source.name
        )));
    }
    let separators = source.text_file().and_then(|file| file.separator_hint());
    let hint = separators.unwrap_or_else(|| did_you_mean(name, names()));
    let names = names().map(|name| format!("{name:?}")).collect::<Vec<String>>().join(", ");
    let fault = Error::query(format!("{} has no column {name:?}; it has {names}", source.name));
    Err(if hint.is_empty() { fault } else { fault.with_hint(hint) })
}

/// Checks that a table has the columns that options name.
///
/// # Errors
///
/// As [`position_of`].
pub(in crate::tables) fn check_columns<'n>(
    source: &Source,
    mut names: impl Iterator<Item = &'n String>,
) -> Result<()> {
    names.try_for_each(|name| position_of(source, name).map(|_| ()))
}

/// The columns of a table of edges at none of the `loaded` positions, as a sentence. A column whose
/// type has no values is not among them.
pub(in crate::tables) fn unloaded_note(
    source: &Source,
    loaded: &BTreeSet<usize>,
) -> Option<String> {
    let fields = source.schema.fields().iter().enumerate();
    let unloaded = fields.filter(|(position, field)| {
        !loaded.contains(position) && !matches!(natural_of(field), Ok(None))
    });
    let names: Vec<&str> = unloaded.map(|(_, field)| field.name().as_str()).collect();
    let more = names.len().saturating_sub(UNLOADED_SHOWN);
    let shown = names[..names.len() - more].join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("the column {shown} is not loaded: name it in `facets=`")),
        _ if more == 0 => {
            Some(format!("the columns {shown} are not loaded: name them in `facets=`"))
        }
        _ => Some(format!(
            "the columns {shown} and {more} more are not loaded: name them in `facets=`"
        )),
    }
}

/// Returns the predicate in which the ids of a space are retained.
pub(in crate::tables) fn space_predicate(space: &IdSpace) -> Option<&str> {
    match space {
        IdSpace::Predicate(name) => Some(name),
        IdSpace::Uid => None,
    }
}

/// True for a space whose predicate gets `@unique` where the load is the first to define it: its
/// values name nodes. Those of [`ID_PREDICATE`] do so too, but loads of several tables have always
/// shared it.
fn is_unique(space: &IdSpace) -> bool {
    space_predicate(space).is_some_and(|name| name != ID_PREDICATE)
}

/// Splits the type after `^^` off a name.
pub(in crate::tables) fn split_type(name: &str) -> (&str, Option<ValueType>) {
    match name.rsplit_once("^^").map(|(rest, of)| (rest, ValueType::from_name(of))) {
        Some((rest, Some(exact))) => (rest, Some(exact)),
        _ => (name, None),
    }
}
