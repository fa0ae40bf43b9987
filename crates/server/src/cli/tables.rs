//! Loads files that the command line names.

use super::arguments::{LoadArguments, SniffArguments, TableArguments, TextArguments};
use super::bar::{clear_bar, control_with_bar};
use super::given::read_text;
use super::interrupt::Interrupt;
use super::output::print;
use super::quote::{Done, Failure};
use super::spelling::{in_shell, spelled, spelled_error};
use crate::http::{Level, log};
use hexgraph::db::{
    Database, LoadOptions, LoadProgress, LoadReport, RequestContext, Source, byte_count, files_of,
    has_triples, refuse_loaders_export,
};
use hexgraph::tables::{
    EdgeOptions, Encoding, ForeignKey, GraphOptions, IdSpace, Missing, NO_SEPARATOR, Names,
    NodeOptions, Ragged, SniffedOption, Table, TableOptions, TextOptions, has_no_extension,
    is_export_folder, is_graph_name, is_readable_name, is_table_name, refuse_other_names, sniff,
};
use hexgraph_base::types::{Error, Result, ValueType};
use std::path::{Path, PathBuf};

/// The options that a load of a graph reads.
const OF_GRAPHS: [&str; 4] = ["edges", "type", "missing", "xid"];

/// The options that a load of triples reads.
const OF_TRIPLES: [&str; 1] = ["xid"];

/// Returns true if a file is a table, by the end of its name.
pub(super) fn is_table(file: &Path) -> bool {
    is_table_name(&file.display().to_string())
}

/// Returns true if a file is a table for these arguments: a file of JSON is one where they say what
/// its rows are.
fn is_table_with(file: &Path, given: &TableArguments) -> bool {
    let says_rows = !given.node_types.is_empty() || given.edges.is_some() || given.no_id;
    let name = file.display().to_string();
    is_table(file) || says_rows && (is_readable_name(&name) || has_no_extension(&name))
}

/// Loads tables as the arguments say, all in one load: the rows of all of them become visible at
/// once, or nothing is stored. `options` has what loads of triples have as well. Of two `--cast` or
/// `--column` for one column the later one counts.
///
/// # Errors
///
/// [`Error::Query`] for arguments that make no sense; as the load.
fn load_table(
    database: &Database,
    files: &[PathBuf],
    arguments: &LoadArguments,
    mut options: TableOptions,
    control: &RequestContext,
) -> Result<LoadReport> {
    let given = &arguments.table;
    read_text_options(&given.text, &mut options)?;
    options.file_column.clone_from(&given.filename);
    let tables: Vec<Table> = files.iter().cloned().map(Table::File).collect();
    let loaded = match &given.edges {
        Some(_) if !given.node_types.is_empty() => {
            Err(Error::query("--type is of rows that are nodes, and with --edges they are edges"))
        }
        Some(predicate) => {
            database.load_edges_with(tables, edge_options(predicate, given, options)?, control)
        }
        None => database.load_nodes_with(tables, node_options(given, options)?, control),
    };
    loaded.map_err(spelled_error)
}

/// Loads the files of [`loaded_files`] with the schemas that the arguments name, and prints what
/// was loaded.
///
/// # Errors
///
/// `Query` for files of kinds that do not go together; as the load.
pub(super) fn load_files(
    database: &Database,
    files: (Vec<PathBuf>, Vec<PathBuf>),
    arguments: &LoadArguments,
    interrupt: Interrupt,
) -> Done {
    let schema = arguments.schema.as_deref().map(read_text).transpose()?;
    let graphql = arguments.graphql_schema.as_deref().map(read_text).transpose()?;
    let done = database.load_before_graphql(graphql.as_deref(), &interrupt.control(), || {
        load_data(database, files, schema.clone(), arguments, interrupt)
    });
    done.map_err(Failure::about(schema.as_deref().unwrap_or_default()))
}

fn load_data(
    database: &Database,
    (tables, triples): (Vec<PathBuf>, Vec<PathBuf>),
    schema: Option<String>,
    arguments: &LoadArguments,
    interrupt: Interrupt,
) -> Result<()> {
    let memory = arguments.memory.as_deref().map_or(Ok(0), |text| byte_count("--memory", text))?;
    let progress = LoadProgress::default();
    let control = control_with_bar(interrupt, &progress);
    let skip_errors = arguments.skip_errors;
    let report = match (&tables[..], &triples[..]) {
        ([folder], []) if is_export_folder(folder) => {
            refuse_unused(&arguments.table, "an export", &[])?;
            let options =
                TableOptions { schema, skip_errors, memory, progress, ..Default::default() };
            database.load_folder_with(folder, options, &control)
        }
        ([file], []) if is_graph_name(&file.display().to_string()) => {
            refuse_unused(&arguments.table, "a graph", &OF_GRAPHS)?;
            let options =
                TableOptions { schema, skip_errors, memory, progress, ..Default::default() };
            load_graph(database, file, &arguments.table, options, &control)
        }
        (tables, []) if tables.iter().any(|file| is_graph_name(&file.display().to_string())) => {
            Err(Error::query("a load is of one graph, and of nothing else"))
        }
        (tables, []) => {
            let options =
                TableOptions { schema, skip_errors, memory, progress, ..Default::default() };
            load_table(database, tables, arguments, options, &control)
        }
        ([], triples) => {
            refuse_unused(&arguments.table, "triples", &OF_TRIPLES)?;
            let sources: Vec<Source> = triples.iter().cloned().map(Source::File).collect();
            let options =
                LoadOptions { skip_errors, progress, memory, xid: arguments.table.xid.clone() };
            database.load_with(sources, schema.as_deref(), options, &control)
        }
        _ => Err(Error::query("a load is of triples or of tables, not of both")),
    };
    clear_bar();
    let shown = arguments.files.iter().map(|file| file.display().to_string());
    print_report(&shown.collect::<Vec<String>>().join(", "), &report?)
}

/// Sorts the files that the arguments name into tables and others.
///
/// # Errors
///
/// `Query` for a pattern without files; as the file system.
pub(super) fn loaded_files(arguments: &LoadArguments) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut tables, mut triples) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        if is_export_folder(path) || is_graph_name(&path.display().to_string()) {
            tables.push(path.clone());
            continue;
        }
        if arguments.schema.is_none() {
            refuse_loaders_export(path)?;
        }
        for file in files_of(path, |name| is_table_name(name) || has_triples(name))? {
            refuse_other_names(&file.display().to_string())?;
            let kind =
                if is_table_with(&file, &arguments.table) { &mut tables } else { &mut triples };
            kind.push(file);
        }
    }
    Ok((tables, triples))
}

/// Refuses options of tables that a load of something else does not read; `used` has those that it
/// reads.
///
/// # Errors
///
/// [`Error::Query`] with the options.
fn refuse_unused(given: &TableArguments, what: &str, used: &[&str]) -> Result<()> {
    let text = &given.text;
    let options = [
        ("edges", given.edges.is_some()),
        ("source", given.source != "source"),
        ("target", given.target != "target"),
        ("facet", !given.facet.is_empty()),
        ("no-types", given.no_types),
        ("id", given.id != "id"),
        ("no-id", given.no_id),
        ("type", !given.node_types.is_empty()),
        ("link", !given.links.is_empty()),
        ("prefix", given.prefix),
        ("missing", given.missing != "make"),
        ("column", !given.columns.is_empty()),
        ("xid", given.xid.is_some()),
        ("uid", given.uid),
        ("filename", given.filename.is_some()),
        ("separator", text.separator.is_some()),
        ("encoding", text.encoding.is_some()),
        ("header", text.header.is_some()),
        ("quote", text.quote.is_some()),
        ("escape", text.escape.is_some()),
        ("comment", text.comment.is_some()),
        ("skip", text.skip.is_some()),
        ("null-value", !text.null_values.is_empty()),
        ("quoted-null", text.quoted_null),
        ("ragged", text.ragged != "error"),
        ("names", text.names != "clean"),
        ("cast", !text.types.is_empty()),
        ("columns", text.column_names.is_some()),
    ];
    let unused = options.iter().filter(|(name, is_set)| *is_set && !used.contains(name));
    let names: Vec<String> = unused.map(|(name, _)| format!("--{name}")).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(Error::query(format!(
            "a load of {what} does not read {}: these options are of tables",
            names.join(", ")
        ))),
    }
}

/// Prints what a load has stored and what it has left out.
///
/// # Errors
///
/// `Io` when the standard output refuses.
pub(super) fn print_report(files: &str, report: &LoadReport) -> Result<()> {
    for line in &report.skipped_lines {
        log(Level::Info, &format!("{}:{}: {}", line.file, line.line, line.reason), &[]);
    }
    for note in &report.notes {
        log(Level::Info, &spelled(note), &[]);
    }
    for warning in &report.warnings {
        log(Level::Warning, &spelled(warning), &[]);
    }
    let skipped = match report.skipped {
        0 => String::new(),
        number => format!(", {number} lines skipped"),
    };
    let untyped = match report.untyped {
        0 => String::new(),
        number => format!(", {number} made without a type"),
    };
    let replaced = match report.replaced {
        0 => String::new(),
        number => format!(", {number} values replaced"),
    };
    print(
        format!(
            "{files}: {} triples, {} nodes{untyped}, {:.1} s{skipped}{replaced}\n",
            report.triples,
            report.nodes,
            report.elapsed.as_secs_f64()
        )
        .as_bytes(),
    )
}

/// Prints how a file would be read as a table, and the arguments with which a load reads it so.
///
/// # Errors
///
/// [`Error::Query`] for arguments that make no sense; as the load.
pub(super) fn sniff_file(arguments: &SniffArguments, interrupt: Interrupt) -> Result<()> {
    let mut options = TableOptions::default();
    read_text_options(&arguments.text, &mut options)?;
    let sniffed = sniff(&arguments.file, &options, arguments.rows, &interrupt.control())?;
    let mut call = format!("hexgraph load DATABASE {}", in_shell(&sniffed.file));
    for (name, value) in &sniffed.options {
        call.extend(flags(name, value).iter().map(|flag| format!(" {flag}")));
    }
    print(format!("{}\n{call}\n", sniffed.text()?).as_bytes())
}

/// The arguments that give an option.
fn flags(name: &str, value: &SniffedOption) -> Vec<String> {
    let flag = name.replace('_', "-");
    match value {
        SniffedOption::Text(text) => vec![format!("--{flag} {}", in_shell(text))],
        SniffedOption::Flag(is_so) if name == "header" => vec![format!("--header {is_so}")],
        SniffedOption::Flag(_) => vec![format!("--{flag}")],
        SniffedOption::Number(number) => vec![format!("--{flag} {number}")],
        SniffedOption::Texts(texts) if name == "columns" => {
            vec![format!("--columns {}", in_shell(&texts.join(",")))]
        }
        SniffedOption::Texts(texts) => {
            texts.iter().map(|text| format!("--null-value {}", in_shell(text))).collect()
        }
        SniffedOption::Types(types) => {
            let cast = |(column, name): &(String, String)| {
                format!("--cast {}", in_shell(&format!("{column}={name}")))
            };
            types.iter().map(cast).collect()
        }
    }
}

/// Reads the options of text files from the arguments.
fn read_text_options(given: &TextArguments, options: &mut TableOptions) -> Result<()> {
    for pair in &given.types {
        let (column, name) = split(pair);
        let Some(name) = name else {
            return Err(Error::query(format!("--cast {pair}: write it as column=type")));
        };
        let Some(value_type) = ValueType::from_name(name) else {
            let fault = Error::query(format!("--cast {pair}: there is no type {name:?}"));
            return Err(fault.with_hint(ValueType::hint_for(name)));
        };
        options.types.insert(column.to_owned(), value_type);
    }
    options.encoding = given.encoding.as_deref().map(Encoding::from_name).transpose()?;
    let separator = optional_sign("separator", given.separator.as_deref())?;
    options.separator = separator.map(|sign| sign.unwrap_or(NO_SEPARATOR));
    options.text = text_options(given)?;
    options.names = Names::from_name(&given.names)?;
    Ok(())
}

/// Loads a graph as the arguments say.
///
/// # Errors
///
/// As [`load_table`].
fn load_graph(
    database: &Database,
    file: &Path,
    given: &TableArguments,
    table: TableOptions,
    control: &RequestContext,
) -> Result<LoadReport> {
    let defaults = GraphOptions::default();
    let options = GraphOptions {
        node_types: given.node_types.clone(),
        predicate: given.edges.clone().unwrap_or(defaults.predicate),
        ids: given.xid.clone().unwrap_or(defaults.ids),
        missing: Missing::from_name(&given.missing)?,
        table,
    };
    database.load_graph_with(file, options, control).map_err(spelled_error)
}

fn edge_options(
    predicate: &str,
    given: &TableArguments,
    table: TableOptions,
) -> Result<EdgeOptions> {
    let both = given.xid.as_deref();
    let (source, target) = match both.and_then(|both| both.split_once(',')) {
        Some((source, target)) => (Some(source), Some(target)),
        None => (both, both),
    };
    // A column without a key is the facet of its own name.
    let facet = |pair: &String| {
        let (column, key) = split(pair);
        (column.to_owned(), key.unwrap_or(column).to_owned())
    };
    Ok(EdgeOptions {
        source_ids: ids(source, given),
        target_ids: ids(target, given),
        facets: given.facet.iter().map(facet).collect(),
        owned: !given.no_types,
        table,
        missing: Missing::from_name(&given.missing)?,
        ..EdgeOptions::new(predicate, &given.source, &given.target)
    })
}

/// A column that is an edge, with its predicate where that is named.
fn link(text: &str) -> Result<ForeignKey> {
    let (column, Some(target)) = split(text) else {
        return Err(Error::query(format!("--link {text}: write it as column=Type.predicate")));
    };
    let (predicate, target) = match target.split_once(':') {
        Some((predicate, target)) => (Some(predicate.to_owned()), target),
        None => (None, target),
    };
    Ok(ForeignKey { predicate, ..ForeignKey::new(column, target) })
}

fn node_options(given: &TableArguments, table: TableOptions) -> Result<NodeOptions> {
    let mut options = NodeOptions {
        id: (!given.no_id).then(|| given.id.clone()),
        ids: ids(given.xid.as_deref(), given),
        node_types: given.node_types.clone(),
        edges: given.links.iter().map(|text| link(text)).collect::<Result<_>>()?,
        missing: Missing::from_name(&given.missing)?,
        prefix: given.prefix,
        table,
        ..NodeOptions::default()
    };
    for pair in &given.columns {
        let (column, Some(predicate)) = split(pair) else {
            return Err(Error::query(format!("--column {pair}: write it as column=predicate")));
        };
        // `column=` leaves the column out.
        let predicate = Some(predicate.to_owned()).filter(|name| !name.is_empty());
        options.columns.insert(column.to_owned(), predicate);
    }
    Ok(options)
}

/// How text files are written, as the arguments say.
fn text_options(given: &TextArguments) -> Result<TextOptions> {
    Ok(TextOptions {
        header: given.header,
        quote: optional_sign("quote", given.quote.as_deref())?,
        escape: given.escape.map(|letter| sign("escape", letter)).transpose()?,
        comment: optional_sign("comment", given.comment.as_deref())?,
        skip: given.skip,
        null_values: given.null_values.clone(),
        quoted_null: given.quoted_null,
        ragged: Ragged::from_name(&given.ragged)?,
        columns: given.column_names.clone(),
    })
}

/// A character that an option gives, where an empty text says that there is none.
fn optional_sign(option: &str, text: Option<&str>) -> Result<Option<Option<u8>>> {
    let letter_of = |text: &str| match text.chars().next() {
        None => Ok(None),
        Some(letter) => sign(option, letter).map(Some),
    };
    text.map(letter_of).transpose()
}

fn sign(option: &str, letter: char) -> Result<u8> {
    u8::try_from(letter)
        .ok()
        .filter(u8::is_ascii)
        .ok_or_else(|| Error::query(format!("--{option} is a letter of ASCII, not {letter:?}")))
}

fn ids(predicate: Option<&str>, given: &TableArguments) -> Option<IdSpace> {
    match given.uid {
        true => Some(IdSpace::Uid),
        false => predicate.map(|name| IdSpace::Predicate(name.to_owned())),
    }
}

/// Splits `column=other` at the last `=`: columns may have one in their names, types, predicates
/// and facets do not.
fn split(pair: &str) -> (&str, Option<&str>) {
    match pair.rsplit_once('=') {
        Some((column, other)) => (column, Some(other)),
        None => (pair, None),
    }
}
