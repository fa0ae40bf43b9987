//! Finds out what the columns of a table are, and loads it.

use super::cells::natural_type;
use super::ids::IdColumn;
use super::options::EdgeOptions;
use super::options::NodeOptions;
use super::options::Table;
use super::options::TableOptions;
use super::parts::ColumnName;
use super::plan::EdgePlan;
use super::plan::NodePlan;
use super::plan::Plan;
use super::plan::id_type;
use super::rounds::load_pieces;
use super::source::Source;
use crate::db::Control;
use crate::db::Database;
use crate::db::LoadReport;
use crate::graph;
use crate::graph::ColumnLoad;
use crate::graph::IdSpace;
use crate::graph::Version;
use crate::schema::PredicateDef;
use crate::types::Error;
use crate::types::Result;
use crate::types::ValueType;
use std::borrow::Cow;

/// The predicate of the types of nodes.
const TYPE_PREDICATE: &str = "dgraph.type";

/// What the key of a facet may not hold, as N-Quads could not write it.
const NO_FACET_KEY: [char; 9] = ['=', ' ', '\t', '(', ')', ',', '"', '~', '@'];

impl Database {
    /// Adds a table whose rows are nodes and whose columns are predicates. A predicate that the
    /// schema lacks gets the type of its column; values of others are converted. All rows become
    /// visible at once. Missing values are left out, and so are NaN.
    ///
    /// # Errors
    ///
    /// `Load` with row, column and value of the first cell that can't be stored, unless `options`
    /// skip such cells; `Query` for a column that is not there or a file that can't be read;
    /// `Schema` for a column that no predicate can be made of; `Limit` when `control` stops it.
    /// Nothing is changed then.
    pub fn load_nodes(
        &self,
        table: Table,
        options: NodeOptions,
        control: &Control,
    ) -> Result<LoadReport> {
        self.load_with(control, move |version, canceller| {
            let version = altered(version, &options.table)?;
            let spaces = vec![options.ids.clone()];
            let names = |column: &str| predicate_of(column, &options).map(str::to_owned);
            let source = open(table, &version, &options.table, names)?;
            let mut load = ColumnLoad::new(&version, spaces);
            let plan = Plan::Nodes(plan_nodes(&source, &options, &mut load)?);
            let pieces = source.pieces(plan.places())?;
            load_pieces(load, &plan, pieces, &options.table, canceller)
        })
    }

    /// Adds a table whose rows are edges, from the node that one column names to the node that
    /// another one names. Rows without either of them are left out. All become visible at once.
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes`].
    pub fn load_edges(
        &self,
        table: Table,
        options: EdgeOptions,
        control: &Control,
    ) -> Result<LoadReport> {
        self.load_with(control, move |version, canceller| {
            let version = altered(version, &options.table)?;
            let mut spaces = vec![options.source_ids.clone()];
            if options.target_ids != options.source_ids {
                spaces.push(options.target_ids.clone());
            }
            let names = |column: &str| id_predicate(column, &options).map(str::to_owned);
            let source = open(table, &version, &options.table, names)?;
            let mut load = ColumnLoad::new(&version, spaces);
            let plan = Plan::Edges(plan_edges(&source, &options, &mut load)?);
            let pieces = source.pieces(plan.places())?;
            load_pieces(load, &plan, pieces, &options.table, canceller)
        })
    }
}

fn altered<'a>(version: &'a Version, options: &TableOptions) -> Result<Cow<'a, Version>> {
    Ok(match &options.schema {
        Some(text) => Cow::Owned(graph::alter(version, text)?),
        None => Cow::Borrowed(version),
    })
}

/// Opens a table. `predicate_of` says which predicate takes a column.
fn open(
    table: Table,
    version: &Version,
    options: &TableOptions,
    predicate_of: impl Fn(&str) -> Option<String>,
) -> Result<Source> {
    Source::open(table, |column| {
        if let Some(wanted) = options.types.get(column) {
            return Some(*wanted);
        }
        // What is text in the schema is not to go through a number: 007 is not 7.
        let def = version.schema.predicates.get(&predicate_of(column)?)?;
        let is_own = matches!(
            def.value_type,
            ValueType::Int
                | ValueType::Float
                | ValueType::Bool
                | ValueType::DateTime
                | ValueType::Uid
        );
        (!is_own).then_some(def.value_type)
    })
}

fn predicate_of<'o>(column: &'o str, options: &'o NodeOptions) -> Option<&'o str> {
    if options.id.as_deref() == Some(column) {
        return space_predicate(&options.ids);
    }
    match options.columns.get(column) {
        Some(name) => name.as_deref(),
        None => Some(column),
    }
}

fn id_predicate<'o>(column: &str, options: &'o EdgeOptions) -> Option<&'o str> {
    match column {
        _ if column == options.source => space_predicate(&options.source_ids),
        _ if column == options.target => space_predicate(&options.target_ids),
        _ => None,
    }
}

fn space_predicate(space: &IdSpace) -> Option<&str> {
    match space {
        IdSpace::Predicate(name) => Some(name),
        IdSpace::Uid => None,
    }
}

fn plan_nodes(source: &Source, options: &NodeOptions, load: &mut ColumnLoad) -> Result<NodePlan> {
    let id = options.id.as_deref().map(|name| id_column(source, name, (0, 0), load)).transpose()?;
    let id = id.map(|id| IdColumn { is_needed: true, ..id });
    for column in options.columns.keys().chain(options.table.types.keys()) {
        find(source, column)?;
    }
    let mut values = Vec::new();
    for (place, field) in source.schema.fields().iter().enumerate() {
        let name = field.name();
        let own = match options.columns.get(name) {
            Some(None) => continue,
            Some(Some(predicate)) => predicate.as_str(),
            // The ids of a space that is a predicate are kept there.
            None if options.id.as_ref() == Some(name) => continue,
            None => name.as_str(),
        };
        let column = ColumnName { name: name.clone(), place };
        if let Some(def) = define(source, &column, own, &options.table, load)? {
            values.push((column, def));
        }
    }
    let mut node_type = None;
    if let Some(name) = &options.node_type {
        let mut fields: Vec<String> = values.iter().map(|(_, def)| def.name.clone()).collect();
        if let (Some(_), Some(ids)) = (&id, space_predicate(&options.ids)) {
            fields.insert(0, ids.to_owned());
        }
        fields.retain(|field| field != TYPE_PREDICATE);
        load.define_type(name, fields);
        let def = load.define(TYPE_PREDICATE, || unreachable!("every schema has it"))?;
        node_type = Some((def, name.clone()));
    }
    Ok(NodePlan { id, values, node_type })
}

fn plan_edges(source: &Source, options: &EdgeOptions, load: &mut ColumnLoad) -> Result<EdgePlan> {
    let target_space = usize::from(options.target_ids != options.source_ids);
    let from = id_column(source, &options.source, (0, 0), load)?;
    let to = id_column(source, &options.target, (target_space, 1), load)?;
    let def = load.define(&options.predicate, || {
        let mut def = PredicateDef::new(&*options.predicate, ValueType::Uid);
        def.list = true;
        def
    })?;
    if def.value_type != ValueType::Uid {
        let fault = format!("predicate {} is of type {}", def.name, def.type_text());
        return Err(Error::schema(format!("{fault}, it can't have edges")));
    }
    let facet = |(column, key): &(String, String)| {
        if key.is_empty() || key.contains(NO_FACET_KEY) {
            return Err(Error::schema(format!("{key:?} can be no key of a facet")));
        }
        Ok((find(source, column)?, key.clone()))
    };
    let facets = options.facets.iter().map(facet).collect::<Result<_>>()?;
    Ok(EdgePlan { def, source: from, target: to, facets })
}

fn id_column(
    source: &Source,
    name: &str,
    (space, slot): (usize, u64),
    load: &mut ColumnLoad,
) -> Result<IdColumn> {
    let column = find(source, name)?;
    let field = source.schema.field(column.place);
    let natural = natural_type(field.data_type()).map_err(|reason| no_values(&column, reason))?;
    let natural = natural.map_or(ValueType::String, |(value_type, _)| value_type);
    let kind = load.define_ids(space, id_type(natural))?;
    Ok(IdColumn { column, space, kind, slot, is_needed: false })
}

/// The predicate of a column; `None` when there is neither a predicate nor a value.
fn define(
    source: &Source,
    column: &ColumnName,
    name: &str,
    options: &TableOptions,
    load: &mut ColumnLoad,
) -> Result<Option<PredicateDef>> {
    let field = source.schema.field(column.place);
    let natural = natural_type(field.data_type()).map_err(|reason| no_values(column, reason))?;
    let Some((value_type, is_list)) = natural else { return Ok(None) };
    let def = load.define(name, || {
        let wanted = options.types.get(&column.name).copied();
        let mut def = PredicateDef::new(name, wanted.unwrap_or(value_type));
        def.list = is_list && def.value_type != ValueType::Vector;
        def
    });
    let def = def.map_err(|error| no_values(column, error))?;
    if def.value_type == ValueType::Uid {
        let reason = format!("predicate {name} leads to nodes, load_edges loads it");
        return Err(no_values(column, reason));
    }
    if is_list && !def.list && def.value_type != ValueType::Vector {
        let reason = format!("it has lists, but predicate {name} is of type {}", def.type_text());
        return Err(no_values(column, reason));
    }
    Ok(Some(def))
}

fn no_values(column: &ColumnName, reason: impl std::fmt::Display) -> Error {
    let hint = "name its predicate, or leave it out, with `columns`";
    Error::schema(format!("column {:?}: {reason}; {hint}", column.name))
}

fn find(source: &Source, name: &str) -> Result<ColumnName> {
    let mut fields = source.schema.fields().iter();
    if let Some(place) = fields.position(|field| field.name() == name) {
        return Ok(ColumnName { name: name.to_owned(), place });
    }
    let names = source.schema.fields().iter().map(|field| field.name().as_str());
    let names = names.collect::<Vec<&str>>().join(", ");
    Err(Error::query(format!("{} has no column {name:?}, but {names}", source.name)))
}
