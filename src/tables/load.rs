//! Finds out what the columns of tables are, and loads them.

use crate::db::{Canceller, Database, LoadReport, RequestContext};
use crate::tables::read::pages::memory::ReadMemory;
use crate::tables::read::rounds::Rounds;
use crate::tables::read::small::ReadJobs;
use crate::tables::read::source::Source;
use crate::tables::shape::cell_error::CellError;
use crate::tables::shape::choose_ids::{choose_for_edges, choose_for_nodes};
use crate::tables::shape::foreign_keys::check_missing;
use crate::tables::shape::named::{
    check_columns, find, id_column, space_predicate, split_type, unloaded_note, values_of,
};
use crate::tables::shape::names::clean;
use crate::tables::shape::options::{
    EdgeOptions, Missing, Names, NodeOptions, Table, TableOptions,
};
use crate::tables::shape::parts::FacetColumn;
use crate::tables::shape::plan::{EdgePlan, Plan};
use crate::tables::shape::plan_nodes::{check_facets, plan_nodes};
use hexgraph_base::schema::{PredicateDef, is_reserved};
use hexgraph_base::types::{Error, Result, ValueType};
use hexgraph_store::graph;
use hexgraph_store::graph::{ColumnLoad, IdSpace, Predicate, SpillOptions, Version};
use std::borrow::Cow;

/// The characters that the key of a facet must not contain, since N-Quads could not write it.
pub(super) const NO_FACET_KEY: [char; 9] = ['=', ' ', '\t', '(', ')', ',', '"', '~', '@'];

/// The types of facets.
const FACET_TYPES: [ValueType; 5] =
    [ValueType::Int, ValueType::Float, ValueType::Bool, ValueType::String, ValueType::DateTime];

/// Says what the rows of a table are.
#[derive(Clone)]
pub(super) enum Rows {
    /// Nodes.
    Nodes(NodeOptions),
    /// Edges.
    Edges(EdgeOptions),
}

/// # Loading tables
impl Database {
    /// Adds tables whose rows are nodes and whose columns are predicates.
    ///
    /// ```
    /// use hexgraph::{db::Database, tables::{NodeOptions, Table}};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("people.csv");
    /// std::fs::write(&path, "id,name,born\nada,Ada,1815\ngrace,Grace,1906\n").unwrap();
    /// let db = Database::in_memory();
    /// let options = NodeOptions { node_types: vec!["Person".to_owned()], ..NodeOptions::default() };
    /// let report = db.load_nodes(Table::File(path), options)?;
    /// assert_eq!(report.new_nodes, 2);
    /// let answer = db.query("{ q(func: eq(id, \"grace\")) { born } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"born":1906}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes_with`].
    pub fn load_nodes(
        &self,
        tables: impl Into<Vec<Table>>,
        options: NodeOptions,
    ) -> Result<LoadReport> {
        self.load_nodes_with(tables, options, &RequestContext::new())
    }

    /// Adds tables whose rows are nodes and whose columns are predicates. A predicate that the
    /// schema lacks gets the type of its column; values of others are converted. All rows become
    /// visible at once. Missing values are left out, and so are NaN.
    ///
    /// A column `name@en` has values in a language, where the schema has `name` with `@lang`;
    /// `name|key` has a facet of the values in column `name`.
    ///
    /// ```
    /// use arrow_array::{Int64Array, RecordBatch, RecordBatchIterator, StringArray};
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::tables::{NodeOptions, Table};
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([
    ///     ("id", Arc::new(StringArray::from(vec!["ada", "grace"])) as _),
    ///     ("born", Arc::new(Int64Array::from(vec![1815, 1906])) as _),
    /// ]).unwrap();
    /// let schema = batch.schema();
    /// let table = Table::Batches(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    /// let db = Database::in_memory();
    /// let report = db.load_nodes_with(table, NodeOptions::default(), &RequestContext::new())?;
    /// assert_eq!(report.new_nodes, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Load` with row, column and value of the first cell that can't be stored, unless `options`
    /// skip such cells; `Query` for a column that is not there, a file that can't be read, or a
    /// value that must be unique; `Schema` for a column that makes no predicate; `Limit` when
    /// `context` stops it. Nothing is changed then.
    pub fn load_nodes_with(
        &self,
        tables: impl Into<Vec<Table>>,
        options: NodeOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let table = options.table.clone();
        let rows = Rows::Nodes(options);
        let jobs = tables.into().into_iter().map(|table| (table, rows.clone())).collect();
        self.load_tables(jobs, table, context)
    }

    /// Adds tables whose rows are edges.
    ///
    /// ```
    /// use hexgraph::{db::Database, tables::{EdgeOptions, NodeOptions, Table}};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let file = |name: &str, text: &str| {
    ///     std::fs::write(folder.path().join(name), text).unwrap();
    ///     Table::File(folder.path().join(name))
    /// };
    /// let db = Database::in_memory();
    /// db.load_nodes(file("people.csv", "id,name\nada,Ada\nbob,Bob\n"), NodeOptions::default())?;
    /// db.load_edges(file("knows.csv", "from,to\nada,bob\n"), EdgeOptions::new("knows", "from", "to"))?;
    /// let answer = db.query("{ q(func: has(knows)) { name knows { name } } }")?;
    /// assert_eq!(answer.to_json()?.0, r#"{"q":[{"name":"Ada","knows":[{"name":"Bob"}]}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_edges_with`].
    pub fn load_edges(
        &self,
        tables: impl Into<Vec<Table>>,
        options: EdgeOptions,
    ) -> Result<LoadReport> {
        self.load_edges_with(tables, options, &RequestContext::new())
    }

    /// Adds tables whose rows are edges, from the node that one column names to the node that
    /// another one names. Rows without either of them are left out. All become visible at once.
    ///
    /// ```
    /// use arrow_array::{RecordBatch, RecordBatchIterator, UInt64Array};
    /// use hexgraph::db::{Database, RequestContext};
    /// use hexgraph::tables::{EdgeOptions, IdSpace, Table};
    /// use std::sync::Arc;
    ///
    /// let batch = RecordBatch::try_from_iter([
    ///     ("from", Arc::new(UInt64Array::from(vec![1, 2])) as _),
    ///     ("to", Arc::new(UInt64Array::from(vec![2, 3])) as _),
    /// ]).unwrap();
    /// let schema = batch.schema();
    /// let table = Table::Batches(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    /// let options = EdgeOptions {
    ///     source_ids: Some(IdSpace::Uid),
    ///     target_ids: Some(IdSpace::Uid),
    ///     ..EdgeOptions::new("knows", "from", "to")
    /// };
    /// let db = Database::in_memory();
    /// db.load_edges_with(table, options, &RequestContext::new())?;
    /// assert_eq!(db.query("{ q(func: has(knows)) { uid } }")?.row_count()?, 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes`].
    pub fn load_edges_with(
        &self,
        tables: impl Into<Vec<Table>>,
        options: EdgeOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let table = options.table.clone();
        let rows = Rows::Edges(options);
        let jobs = tables.into().into_iter().map(|table| (table, rows.clone())).collect();
        self.load_tables(jobs, table, context)
    }

    /// Adds tables of several kinds, at once. `options` count, not those of a table.
    ///
    /// # Errors
    ///
    /// As [`Database::load_nodes`].
    pub(super) fn load_tables(
        &self,
        jobs: Vec<(Table, Rows)>,
        options: TableOptions,
        context: &RequestContext,
    ) -> Result<LoadReport> {
        let spill = self.spill_options(options.memory)?;
        if options.schema.is_some() || 0 < options.memory {
            return self.publish_load(context, move |version, canceller| {
                loaded(version, jobs, (&options, spill), canceller)
            });
        }
        self.load_detached(context, move |database, canceller| match ReadJobs::read(jobs) {
            ReadJobs::Small(jobs) => database.publish_small(canceller, |version| {
                let jobs = jobs.iter().map(|(table, rows)| (table.reopen(), rows.clone()));
                loaded(version, jobs.collect(), (&options, None), canceller)
            }),
            ReadJobs::Other(jobs) => database.publish_loaded(canceller, |version| {
                loaded(version, jobs, (&options, None), canceller)
            }),
        })
    }
}

/// The version with the rows of all tables.
fn loaded(
    version: &Version,
    jobs: Vec<(Table, Rows)>,
    (options, spill): (&TableOptions, Option<SpillOptions>),
    canceller: &Canceller,
) -> Result<(Version, graph::LoadReport)> {
    let version = altered(version, options)?;
    let jobs = with_ids(&version, jobs)?;
    // What comes as a stream can be read once, so that types have to be right at the first attempt.
    let files = jobs.iter().map(|(table, rows)| match table {
        Table::File(path) => Some((Table::File(path.clone()), rows.clone())),
        Table::Batches(_) => None,
    });
    let again = files.collect::<Option<Vec<(Table, Rows)>>>();
    let attempt = Attempt { version: &version, options, spill: spill.as_ref(), canceller };
    match again {
        None => attempt.load(jobs, true).map_err(|failure| failure.error),
        Some(again) => attempt.load(jobs, false).or_else(|failure| match failure.has_mismatch {
            true => attempt.load(again, true).map_err(|failure| failure.error),
            false => Err(failure.error),
        }),
    }
}

/// A try to load tables.
struct Attempt<'a> {
    version: &'a Version,
    options: &'a TableOptions,
    spill: Option<&'a SpillOptions>,
    canceller: &'a Canceller,
}

/// Why it failed.
struct Failure {
    error: Error,
    /// Whether a cell of a text file is of another type than its beginning showed.
    has_mismatch: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, has_mismatch: false }
    }
}

impl Attempt<'_> {
    /// Loads tables. `reads_full` says that the types of text files are inferred from all of their
    /// cells.
    fn load(
        &self,
        jobs: Vec<(Table, Rows)>,
        reads_full: bool,
    ) -> std::result::Result<(Version, graph::LoadReport), Failure> {
        let Attempt { version, options, spill, canceller } = self;
        let expected = expected_ids(version, &jobs);
        let spaces = spaces_of(&jobs);
        let mut load = ColumnLoad::new(version, spaces.clone(), *spill)?;
        let refuses_lost = require_stored_nodes(&jobs, &spaces, &mut load);
        let has_owned = |(_, rows): &(Table, Rows)| match rows {
            Rows::Edges(options) => options.owned,
            Rows::Nodes(options) => !options.edges.is_empty(),
        };
        if jobs.iter().any(has_owned) {
            load.own_edges(jobs.iter().any(|(_, rows)| matches!(rows, Rows::Nodes(_))));
        }
        let memory = ReadMemory::new(&version.budget, options.memory);
        let open = |(table, rows)| Ok((open(table, version, (options, &memory), &rows)?, rows));
        let mut sources = jobs.into_iter().map(open).collect::<Result<Vec<(Source, Rows)>>>()?;
        let mut tables: Vec<&mut Source> = sources.iter_mut().map(|(source, _)| source).collect();
        Source::unify(&mut tables, reads_full.then_some((*canceller, &memory)))?;
        let clashes = Source::case_clashes(&tables);
        let empty = without_empty(&mut sources);
        let mut opened = Vec::new();
        for (source, rows) in sources {
            let plan = match &rows {
                Rows::Nodes(rows) => plan_nodes(&source, rows, &spaces, &mut load),
                Rows::Edges(rows) => plan_edges(&source, rows, &spaces, &mut load),
            };
            opened.push((plan?, source));
        }
        // All tables are planned before the first row is read, so a wrong column fails at once.
        options.progress.start(opened.iter().map(|(_, source)| source.size()).sum());
        let mut rounds = Rounds::new(load, ((*options).clone(), memory), canceller, expected);
        rounds.note(empty);
        rounds.warn(clashes);
        for (plan, source) in opened {
            let file = source.text_file();
            rounds.table(&plan, source).map_err(|error| {
                let has_mismatch = file.is_some_and(|file| file.has_mismatch());
                Failure { error, has_mismatch }
            })?;
        }
        Ok(rounds.finish(version, refuses_lost)?)
    }
}

/// Leaves out the files of text without a row and a column, where others have some: a day on which
/// nothing was logged has no names of columns. Returns a sentence for each.
fn without_empty(sources: &mut Vec<(Source, Rows)>) -> Vec<String> {
    let has_columns = |(source, _): &(Source, Rows)| !source.schema.fields().is_empty();
    if !sources.iter().any(has_columns) {
        return Vec::new();
    }
    let is_empty = |it: &mut (Source, Rows)| !has_columns(it) && it.0.is_text();
    let empty = sources.extract_if(.., is_empty);
    empty.map(|(source, _)| format!("{}: there is no row in it", source.name)).collect()
}

fn altered<'a>(version: &'a Version, options: &TableOptions) -> Result<Cow<'a, Version>> {
    Ok(match &options.schema {
        Some(text) => Cow::Owned(graph::alter(version, text)?),
        None => Cow::Borrowed(version),
    })
}

/// The jobs with the predicates of ids that the options left open.
fn with_ids(version: &Version, mut jobs: Vec<(Table, Rows)>) -> Result<Vec<(Table, Rows)>> {
    for (_, rows) in &mut jobs {
        match rows {
            Rows::Nodes(options) => {
                if options.prefix && options.node_types.is_empty() {
                    let fault = "prefix=True puts the type in front of names, and there is no type";
                    return Err(Error::query(fault));
                }
                choose_for_nodes(version, options);
                options.edges.iter_mut().try_for_each(|key| key.choose(version))?;
                check_missing(options)?;
            }
            Rows::Edges(options) => choose_for_edges(version, options)?,
        }
    }
    Ok(jobs)
}

/// Creates no nodes for the endpoints of edges where the options say so. Returns true if an id
/// without a node is an error.
fn require_stored_nodes(jobs: &[(Table, Rows)], spaces: &[IdSpace], load: &mut ColumnLoad) -> bool {
    let mut refuses_lost = false;
    for (_, rows) in jobs {
        let (missing, own) = match rows {
            Rows::Edges(options) => {
                (options.missing, vec![options.source_ids.as_ref(), options.target_ids.as_ref()])
            }
            Rows::Nodes(options) => {
                (options.missing, options.edges.iter().map(|key| key.ids.as_ref()).collect())
            }
        };
        if missing == Missing::Make {
            continue;
        }
        refuses_lost |= missing == Missing::Raise;
        for (position, space) in spaces.iter().enumerate() {
            if own.contains(&Some(space)) {
                load.only_stored(position);
            }
        }
    }
    refuses_lost
}

fn spaces_of(jobs: &[(Table, Rows)]) -> Vec<IdSpace> {
    let mut spaces = Vec::new();
    for (_, rows) in jobs {
        let own = match rows {
            Rows::Nodes(options) => {
                let keys = options.edges.iter().map(|key| &key.ids);
                std::iter::once(&options.ids).chain(keys).collect()
            }
            Rows::Edges(options) => vec![&options.source_ids, &options.target_ids],
        };
        for space in own.into_iter().flatten() {
            if !spaces.contains(space) {
                spaces.push(space.clone());
            }
        }
    }
    spaces
}

/// The predicate in which some node should have an id of edges: where there are nodes already, and
/// all tables are edges.
fn expected_ids(version: &Version, jobs: &[(Table, Rows)]) -> Option<String> {
    let has_data = |predicate: &Predicate| {
        !is_reserved(&predicate.def.name) && !predicate.subjects().is_empty()
    };
    let has_nodes = version.predicates().any(|(_, predicate)| has_data(predicate));
    let name = |(_, rows): &(Table, Rows)| match rows {
        Rows::Edges(options) => predicate_of_space(&options.source_ids).map(str::to_owned),
        Rows::Nodes(_) => None,
    };
    let mut names = jobs.iter().map(name).collect::<Option<Vec<String>>>()?;
    // One is enough for the check; none where the database is empty, since all ids are new there.
    names.truncate(usize::from(has_nodes));
    names.pop()
}

/// Opens a table.
fn open(
    table: Table,
    version: &Version,
    (options, memory): (&TableOptions, &ReadMemory),
    rows: &Rows,
) -> Result<Source> {
    Source::open(table, options, memory, |column| {
        if let Some(expected) = options.types.get(column) {
            return Some(*expected);
        }
        let name = match rows {
            Rows::Nodes(options) => predicate_of(column, options),
            Rows::Edges(options) => id_predicate(column, options).map(Cow::Borrowed),
        };
        // What is text in the schema is not to go through a number: 007 is not 7.
        let def = version.schema.predicates.get(&*name?)?;
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

/// The predicate of a column. `None` for one of several equal columns, and for a name that is empty
/// after cleaning.
fn predicate_of<'o>(column: &'o str, options: &'o NodeOptions) -> Option<Cow<'o, str>> {
    if options.id.as_deref() == Some(column) {
        return predicate_of_space(&options.ids).map(Cow::Borrowed);
    }
    match options.columns.get(column) {
        Some(name) => name.as_deref().map(Cow::Borrowed),
        None if options.edges.iter().any(|key| key.column == column) => {
            let key = options.edges.iter().find(|key| key.column == column)?;
            predicate_of_space(&key.ids).map(Cow::Borrowed)
        }
        None => {
            let is_clean = options.table.names == Names::Clean;
            let name = if is_clean { clean(column) } else { Cow::Borrowed(column) };
            Some(Cow::Owned(options.prefixed(&name).into_owned()))
        }
    }
}

fn predicate_of_space(space: &Option<IdSpace>) -> Option<&str> {
    space.as_ref().and_then(space_predicate)
}

fn id_predicate<'o>(column: &str, options: &'o EdgeOptions) -> Option<&'o str> {
    match column {
        _ if column == options.source => predicate_of_space(&options.source_ids),
        _ if column == options.target => predicate_of_space(&options.target_ids),
        _ => None,
    }
}

fn plan_edges(
    source: &Source,
    options: &EdgeOptions,
    spaces: &[IdSpace],
    load: &mut ColumnLoad,
) -> Result<Plan> {
    check_columns(source, options.table.types.keys())?;
    let mut from =
        id_column(source, &options.source, (&options.source_ids, spaces, 0, false), load)?;
    let mut to = id_column(source, &options.target, (&options.target_ids, spaces, 1, false), load)?;
    if options.missing == Missing::Raise {
        (from.missing, to.missing) = (Some(CellError::NoEnd), Some(CellError::NoEnd));
    }
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
        let (key, exact) = split_type(key);
        if key.is_empty() || key.contains(NO_FACET_KEY) {
            return Err(Error::schema(format!("{key:?} can be no key of a facet")));
        }
        let column = find(source, column)?;
        values_of(source, &column)?;
        let given = options.table.types.get(&column.name).copied();
        let exact = exact.or(given.filter(|of| FACET_TYPES.contains(of)));
        Ok(FacetColumn { column, key: key.to_owned(), exact })
    };
    let facets = options.facets.iter().map(facet).collect::<Result<Vec<_>>>()?;
    check_facets(&facets)?;
    let facet_positions = facets.iter().map(|facet| facet.column.position);
    let positions = facet_positions.chain([from.column.position, to.column.position]);
    let notes = unloaded_note(source, &positions.collect()).into_iter().collect();
    Ok(Plan::Edges(EdgePlan { def, source: from, target: to, facets, notes }))
}
