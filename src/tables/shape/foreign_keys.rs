//! Columns of a table of nodes whose cells name other nodes: external keys, which become edges.

use super::choose_ids::naming;
use super::named::{find, id_column, values_of};
use super::names::NameChooser;
use super::options::{ForeignKey, Missing, NodeOptions};
use super::plan::EdgeColumn;
use crate::tables::read::source::Source;
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result, ValueType};
use hexgraph_store::graph::{ColumnLoad, IdSpace, Version};

impl ForeignKey {
    /// Finds the predicate that names the nodes, and their type.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] where the target is a type whose nodes no predicate identifies, or several
    /// do.
    pub(in crate::tables) fn choose(&mut self, version: &Version) -> Result<()> {
        let schema = &version.schema;
        let target = self.target.clone();
        let is_type = |name: &str| schema.types.contains_key(name);
        let parts = target.split_once('.').filter(|(of, rest)| !of.is_empty() && !rest.is_empty());
        let (of, predicate) = match parts {
            _ if target == "uid" => (None, None),
            _ if self.node_type.is_some() => (None, Some(target.as_str())),
            // The predicates of a GraphQL schema are called so.
            Some((of, _)) if schema.predicates.contains_key(&target) => {
                (Some(of).filter(|of| is_type(of)), Some(target.as_str()))
            }
            Some((of, predicate)) => (Some(of), Some(predicate)),
            None if schema.predicates.contains_key(&target) || !is_type(&target) => {
                (None, Some(target.as_str()))
            }
            None => (Some(target.as_str()), Some(self.only_id(version)?)),
        };
        let space = predicate.map(|name| IdSpace::Predicate(name.to_owned()));
        self.ids = Some(space.unwrap_or(IdSpace::Uid));
        if let Some(of) = of {
            self.node_type = Some(of.to_owned());
        }
        Ok(())
    }

    /// The only predicate of the target, which is a type, that names its nodes.
    fn only_id<'v>(&self, version: &'v Version) -> Result<&'v str> {
        let Self { column, target, .. } = self;
        let fields = version.schema.types.get(target).map_or(&[][..], |def| &def.fields);
        let defs = fields.iter().filter_map(|field| version.schema.predicates.get(field));
        let names = naming(defs);
        let fault = match names.as_slice() {
            [only] => return Ok(only),
            [] => format!(
                "no predicate of type {target} is @unique, or @id in GraphQL, and names its nodes"
            ),
            some => format!("nodes of type {target} are named by {}", some.join(" and by ")),
        };
        let field = names.first().copied().or(fields.first().map(String::as_str)).unwrap_or("id");
        let hint = format!("say which predicate does: edges={{{column:?}: \"{target}.{field}\"}}");
        Err(Error::query(format!("column {column:?}: {fault}")).with_hint(hint))
    }
}

/// The columns that are edges.
///
/// # Errors
///
/// [`Error::Query`] for a column that is not there, [`Error::Schema`] for a predicate that can't
/// have edges.
pub(in crate::tables) fn edge_columns(
    source: &Source,
    options: &NodeOptions,
    spaces: &[IdSpace],
    (names, load): (&mut NameChooser, &mut ColumnLoad),
) -> Result<Vec<EdgeColumn>> {
    let mut columns = Vec::new();
    for key in &options.edges {
        let column = find(source, &key.column)?;
        let natural = values_of(source, &column)?;
        let is_list = natural.is_some_and(|(_, is_list)| is_list);
        let target = id_column(source, &key.column, (&key.ids, spaces, 1, true), load)?;
        let name = predicate_name(key, column.position, options, (names, load))?;
        let def = load.define(&name, || {
            let mut def = PredicateDef::new(&*name, ValueType::Uid);
            def.list = is_list;
            def
        });
        let def = def.map_err(|error| named_by(&key.column, error))?;
        if def.value_type != ValueType::Uid {
            let fault = format!("predicate {name} is of type {}", def.type_text());
            return Err(named_by(&key.column, format!("{fault}, it can't have edges")));
        }
        if let Some(node_type) = &key.node_type {
            let id = match &key.ids {
                Some(IdSpace::Predicate(name)) => vec![name.clone()],
                _ => Vec::new(),
            };
            load.define_type(node_type, id)?;
            load.type_targets(&name, node_type);
        }
        columns.push(EdgeColumn { def, target });
    }
    Ok(columns)
}

/// The name of the predicate of edges: that of the column, or of the type where the former is one
/// of values.
fn predicate_name(
    key: &ForeignKey,
    position: usize,
    options: &NodeOptions,
    (names, load): (&mut NameChooser, &mut ColumnLoad),
) -> Result<String> {
    if let Some(name) = &key.predicate {
        return Ok(name.clone());
    }
    let own = names.choose(&key.column, position)?;
    let own = options.prefixed(&own).into_owned();
    let (ids, is_values) = (&key.ids, load.has_values(&own));
    match &key.node_type {
        Some(of) if is_values || *ids == Some(IdSpace::Predicate(own.clone())) => {
            let mut letters = of.chars();
            let first = letters.next().map(|first| first.to_lowercase().to_string());
            let name = first.unwrap_or_default() + letters.as_str();
            let name = options.prefixed(&name).into_owned();
            names.note(format!("column {:?} is the edge {name}", key.column));
            Ok(name)
        }
        _ => Ok(own),
    }
}

fn named_by(column: &str, reason: impl std::fmt::Display) -> Error {
    let hint = format!("name the edge: edges={{{column:?}: (\"predicate\", \"Type\", \"id\")}}");
    Error::schema(format!("column {column:?}: {reason}; {hint}"))
}

/// Refuses keys that point to nodes which the table itself names, where none are to be made: its
/// rows make nodes.
///
/// # Errors
///
/// [`Error::Query`].
pub(in crate::tables) fn check_missing(options: &NodeOptions) -> Result<()> {
    let is_own = |key: &&ForeignKey| options.id.is_some() && key.ids == options.ids;
    match options.edges.iter().find(is_own) {
        Some(key) if options.missing != Missing::Make => {
            let fault = format!("column {:?} names nodes of the table itself", key.column);
            let hint = "load the nodes first, and the column with load_edges(…, missing=…)";
            Err(Error::query(format!("{fault}, and these are made")).with_hint(hint))
        }
        _ => Ok(()),
    }
}
