//! What the columns of a table of nodes are.
//!
//! A column is a predicate of its name, or of the name that the options give it. Names say more
//! where no predicate is called so: `name@en` are the values in a language, `name^^type` those of a
//! type among others, `name|key` a facet of the values of the column before the bar.

use super::cell_error::CellError;
use super::foreign_keys::edge_columns;
use super::ids::IdColumn;
use super::named::{
    check_columns, find, id_column, no_values, repeated, space_predicate, split_type, values_of,
};
use super::names::NameChooser;
use super::options::{Names, NodeOptions, PointColumns};
use super::other_types::SharedPredicates;
use super::parts::{ColumnName, FacetColumn, ValueColumn};
use super::plan::{EdgeColumn, NodePlan, Plan};
use crate::tables::read::cells::natural_of;
use crate::tables::read::source::Source;
use arrow_schema::Field;
use hexgraph_base::schema::{PredicateDef, Tokenizer};
use hexgraph_base::types::{Error, Result, ValueType, nearest};
use hexgraph_store::graph::{ColumnLoad, IdSpace};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The predicate of the types of nodes.
const TYPE_PREDICATE: &str = "dgraph.type";

/// What the columns of a table are.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Query`] for a column that is not there,
/// [`hexgraph_base::types::Error::Schema`] for one that no predicate can be made of.
pub(in crate::tables) fn plan_nodes(
    source: &Source,
    options: &NodeOptions,
    spaces: &[IdSpace],
    load: &mut ColumnLoad,
) -> Result<Plan> {
    let id = options.id.as_deref().map(|name| node_ids(source, name, (options, spaces), load));
    let id = id.transpose()?;
    check_columns(source, options.columns.keys().chain(options.table.types.keys()))?;
    let fields = source.schema.fields().iter().map(|field| field.name());
    let mut names = NameChooser::new(options.table.names, fields);
    let mut seen = HashSet::new();
    let (mut values, mut facets) = (Vec::new(), Vec::new());
    for (position, field) in source.schema.fields().iter().enumerate() {
        let column = ColumnName { name: field.name().clone(), position };
        let given = options.columns.get(&column.name);
        let own = match given {
            Some(None) => continue,
            Some(Some(predicate)) => predicate.as_str(),
            // The ids of a space that is a predicate are retained there.
            None if options.id.as_ref() == Some(&column.name) => continue,
            None if options.edges.iter().any(|key| key.column == column.name) => continue,
            None => column.name.as_str(),
        };
        let is_repeated = !seen.insert(field.name());
        if is_repeated && (given.is_some() || options.table.names == Names::Retain) {
            return Err(repeated(source, field.name()));
        }
        let prefixed = if given.is_some() { Cow::Borrowed(own) } else { options.prefixed(own) };
        let is_plain = given.is_some() || load.knows(&prefixed);
        let bar = if is_plain { None } else { own.rsplit_once('|') };
        if let Some((of, key)) = bar.filter(|(of, _)| source.schema.field_with_name(of).is_ok()) {
            source.check_column(position)?;
            let (key, exact) = split_type(key);
            let facet = FacetColumn { column: column.clone(), key: key.to_owned(), exact };
            facets.push((of.to_owned(), facet));
            continue;
        }
        let name = if is_plain { Name::plain(&prefixed) } else { Name::parse(&prefixed, load) };
        let predicate = if given.is_some() || name.is_shared() || !has_values(field) {
            Cow::Borrowed(name.predicate)
        } else {
            names.choose(name.predicate, position)?
        };
        names.reserve(given.is_some().then_some(&predicate));
        if let Some(def) = define(source, &column, &predicate, options, load)? {
            let (lang, exact) = (name.lang.to_owned(), name.exact);
            let (longitude, facets) = (None, Vec::new());
            values.push(ValueColumn { column, def, lang, exact, longitude, facets });
        }
    }
    // Facets may precede the column of their values, so they are joined after all columns.
    join_facets(&mut values, facets)?;
    for point in &options.points {
        values.push(point_column(source, point, load)?);
    }
    let edges = edge_columns(source, options, spaces, (&mut names, load))?;
    check_rivals((&values, &edges), options)?;
    let (node_types, shared) = node_types(options, (&values, &edges), id.is_some(), load)?;
    let notes = names.notes().chain(shared.as_ref().map(SharedPredicates::note)).collect();
    Ok(Plan::Nodes(NodePlan { id, values, edges, node_types, shared, notes }))
}

/// Adds facets to the columns of their values.
fn join_facets(values: &mut [ValueColumn], facets: Vec<(String, FacetColumn)>) -> Result<()> {
    for (of, facet) in facets {
        match values.iter_mut().find(|value| value.column.name == of) {
            Some(value) => {
                value.facets.push(facet);
                check_facets(&value.facets)?;
            }
            None => return Err(no_values(&facet.column, format!("column {of:?} has no values"))),
        }
    }
    Ok(())
}

/// Checks that no column replaces another one, where a node has one value or edge of a predicate.
///
/// # Errors
///
/// [`Error::Query`] with both columns.
fn check_rivals(
    (values, edges): (&[ValueColumn], &[EdgeColumn]),
    options: &NodeOptions,
) -> Result<()> {
    let ids = options.ids.as_ref().and_then(space_predicate);
    let ids = options.id.as_deref().zip(ids);
    let ids = ids.map(|(column, predicate)| (column, (predicate, "")));
    let values = values.iter().filter(|value| !value.def.list).map(|value| {
        (value.column.name.as_str(), (value.def.name.as_str(), value.lang.as_str()), value.exact)
    });
    let edges = edges.iter().filter(|edge| !edge.def.list);
    let edges =
        edges.map(|edge| (edge.target.column.name.as_str(), (edge.def.name.as_str(), ""), None));
    let mut seen = HashMap::new();
    for (column, (predicate, lang), exact) in values.chain(edges) {
        let own = (predicate, lang);
        let id = ids.filter(|(id, named)| *named == own && *id != column).map(|(id, _)| id);
        if let Some(other) = id.or(seen.insert((own, exact), column)) {
            let fault = format!(
                "columns {other:?} and {column:?} are both the predicate {predicate}, of which a node has one"
            );
            let hint = format!(
                "name another predicate, or None, for one of them in `columns` or `edges`, or alter {predicate} to a list"
            );
            return Err(Error::query(fault).with_hint(hint));
        }
    }
    Ok(())
}

/// Checks that no facet replaces another one. Those of several types have a common key: `w` and
/// `w^^int`.
///
/// # Errors
///
/// [`Error::Query`] with both columns.
pub(in crate::tables) fn check_facets(facets: &[FacetColumn]) -> Result<()> {
    for (at, facet) in facets.iter().enumerate() {
        let is_same = |other: &&FacetColumn| other.key == facet.key && other.exact == facet.exact;
        if let Some(other) = facets[..at].iter().find(is_same) {
            let (one, two, key) = (&other.column.name, &facet.column.name, &facet.key);
            let fault = format!("columns {one:?} and {two:?} are both the facet {key:?}");
            let hint = "give each a key of its own, facets={\"column\": \"key\"}";
            return Err(Error::query(fault).with_hint(hint));
        }
    }
    Ok(())
}

/// The column that names the nodes.
fn node_ids(
    source: &Source,
    name: &str,
    (options, spaces): (&NodeOptions, &[IdSpace]),
    load: &mut ColumnLoad,
) -> Result<IdColumn> {
    let id = id_column(source, name, (&options.ids, spaces, 0, false), load);
    let id = id.map_err(|error| with_id(error, source, name))?;
    Ok(IdColumn { missing: Some(CellError::NoId), ..id })
}

/// The error for a table without the column that names its nodes says which other one may.
fn with_id(error: Error, source: &Source, name: &str) -> Error {
    if source.text_file().is_some_and(|file| file.separator_hint().is_some()) {
        return error;
    }
    let names = || source.schema.fields().iter().map(|field| field.name().as_str());
    match nearest(name, names()).or_else(|| names().next()) {
        Some(meant) if names().all(|other| other != name) => error.with_hint(format!(
            "say which column names the nodes, id={meant:?}, or id=None where each row is a new node"
        )),
        _ => error,
    }
}

/// Whether a column may have a value. One without needs no name.
fn has_values(field: &Field) -> bool {
    natural_of(field).is_ok_and(|natural| natural.is_some())
}

/// The value that a column of latitudes makes with one of longitudes.
fn point_column(
    source: &Source,
    point: &PointColumns,
    load: &mut ColumnLoad,
) -> Result<ValueColumn> {
    let column = find(source, &point.latitude)?;
    let longitude = find(source, &point.longitude)?;
    source.check_column(column.position)?;
    source.check_column(longitude.position)?;
    let longitude = Some(longitude);
    let def = load.define(&point.predicate, || {
        let mut def = PredicateDef::new(&*point.predicate, ValueType::Geo);
        def.indexes = vec![Tokenizer::Geo];
        def
    })?;
    if def.value_type != ValueType::Geo {
        let fault = format!("predicate {} is of type {}", def.name, def.type_text());
        return Err(Error::schema(format!("{fault}, it can't have points")));
    }
    let (lang, exact, facets) = (String::new(), None, Vec::new());
    Ok(ValueColumn { column, def, lang, exact, longitude, facets })
}

/// What the name of a column says.
struct Name<'a> {
    predicate: &'a str,
    lang: &'a str,
    exact: Option<ValueType>,
}

impl<'a> Name<'a> {
    fn plain(predicate: &'a str) -> Name<'a> {
        Name { predicate, lang: "", exact: None }
    }

    /// Whether other columns may have values of the same predicate, in other languages or of other
    /// types.
    fn is_shared(&self) -> bool {
        !self.lang.is_empty() || self.exact.is_some()
    }

    fn parse(own: &'a str, load: &ColumnLoad) -> Name<'a> {
        let (rest, exact) = split_type(own);
        match rest.rsplit_once('@') {
            Some((predicate, lang)) if load.has_langs(predicate) => Name { predicate, lang, exact },
            _ if exact.is_some() && load.knows(rest) => Name { predicate: rest, lang: "", exact },
            _ => Name::plain(own),
        }
    }
}

/// Defines the types of the nodes, and notes which predicates other types have.
fn node_types(
    options: &NodeOptions,
    (values, edges): (&[ValueColumn], &[EdgeColumn]),
    has_id: bool,
    load: &mut ColumnLoad,
) -> Result<(Option<(PredicateDef, Vec<String>)>, Option<SharedPredicates>)> {
    let names = &options.node_types;
    let columns = values.iter().map(|value| (&value.column.name, &value.def.name));
    let mut fields: Vec<String> = columns.clone().map(|(_, name)| name.clone()).collect();
    fields.extend(edges.iter().map(|edge| edge.def.name.clone()));
    let ids = options.id.as_ref().filter(|_| has_id);
    let ids = ids.zip(options.ids.as_ref().and_then(space_predicate));
    if let Some((_, ids)) = ids {
        fields.insert(0, ids.to_owned());
    }
    let mut seen = std::collections::BTreeSet::new();
    // Columns of several languages have one predicate, and a type names each once.
    fields.retain(|field| field != TYPE_PREDICATE && seen.insert(field.clone()));
    let id = ids.map(|(column, predicate)| (column.as_str(), predicate));
    let columns = columns.map(|(column, predicate)| (column.as_str(), predicate.as_str()));
    let shared = SharedPredicates::of(load.schema(), names, id.into_iter().chain(columns));
    if names.is_empty() {
        return Ok((None, shared));
    }
    for name in names {
        load.define_type(name, fields.clone())?;
    }
    let def = load.define(TYPE_PREDICATE, || unreachable!("every schema has it"))?;
    let mut own: Vec<String> = Vec::new();
    names.iter().for_each(|name| {
        if !own.contains(name) {
            own.push(name.clone());
        }
    });
    Ok((Some((def, own)), shared))
}

/// The predicate of a column; `None` when there is neither a predicate nor a value.
fn define(
    source: &Source,
    column: &ColumnName,
    name: &str,
    options: &NodeOptions,
    load: &mut ColumnLoad,
) -> Result<Option<PredicateDef>> {
    let Some((value_type, is_list)) = values_of(source, column)? else { return Ok(None) };
    let def = load.define(name, || {
        let expected = options.table.types.get(&column.name).copied();
        let mut def = PredicateDef::new(name, expected.unwrap_or(value_type));
        def.list = is_list && def.value_type != ValueType::Vector;
        def
    });
    let def = def.map_err(|error| match name {
        "uid" => column_of_uids(column, &error, options),
        _ => no_values(column, error),
    })?;
    if def.list && !def.value_type.has_lists() {
        let reason = format!("a list can't hold values of type {}", def.value_type.name());
        return Err(no_values(column, reason));
    }
    if def.value_type == ValueType::Uid {
        let reason = format!("predicate {name} is an edge: use load_edges");
        return Err(no_values(column, reason));
    }
    if is_list && !def.list && def.value_type != ValueType::Vector {
        let reason = format!("it has lists, but predicate {name} is of type {}", def.type_text());
        return Err(no_values(column, reason));
    }
    Ok(Some(def))
}

/// The error for a column that would be the predicate `uid`: it likely names the nodes.
fn column_of_uids(column: &ColumnName, error: &Error, options: &NodeOptions) -> Error {
    let meant = match options.ids {
        Some(IdSpace::Uid) => "id=\"uid\"",
        _ => "id=\"uid\", uid=True",
    };
    let hint = format!("if it names the nodes say {meant}; else name its predicate");
    let fault =
        format!("column {:?}: {error}; {hint}, or leave it out, with `columns`", column.name);
    Error::schema(fault)
}
