//! Queries, mutations and GraphQL requests that are typed.

use super::arguments::{
    CypherArguments, DeleteArguments, GraphqlArguments, MutateArguments, QueryArguments,
};
use super::given::{
    duration, name_and_value, read_text, read_variables, report_recovery, request_text,
};
use super::interrupt::Interrupt;
use super::output::{print, save};
use super::quote::{Done, Failure};
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{
    CypherAnswer, Database, Mutation, MutationRequest, Nodes, OpenOptions, QueryAnswer,
    QueryRequest, Recovery, RequestContext, Statements, Variables, cypher_params,
};
use hexgraph::tables::{RecordBatch, RowFormat, record_batch, write_rows};
use hexgraph_base::types::{Error, Result, Uid};
use serde_json::{Map, Value, json};
use std::io;
use std::io::IsTerminal;
use std::path::Path;

/// Answers a query in DQL.
pub(super) fn query(arguments: &QueryArguments, interrupt: Interrupt) -> Done {
    let form = Form::of(arguments.format.as_deref(), arguments.output.as_deref())?;
    let text = request_text(arguments.query.as_deref(), arguments.file.as_deref())?;
    let variables = read_variables(&arguments.variables)?;
    let no_map = arguments.no_map;
    let options = OpenOptions { read_only: true, no_map, ..OpenOptions::default() };
    let database = Database::open(&arguments.path, options)?.namespace(arguments.namespace)?;
    report_recovery(Recovery { commits: 0, ..database.recovery()? });
    let request = QueryRequest { text, variables, debug: false };
    let control = control(arguments.timeout, interrupt)?;
    let about_query = Failure::about(&request.text);
    if arguments.explain || arguments.profile {
        let explanation = match arguments.profile {
            true => database.profile_with(&request, &control),
            false => database.explain_with(&request, &control),
        };
        let explanation = explanation.map_err(about_query)?;
        return Ok(print(format!("{explanation}\n").as_bytes())?);
    }
    let answer = database.query_with(&request, &control).map_err(&about_query)?;
    for warning in answer.warnings() {
        eprintln!("warning: {warning}");
    }
    write_answer(&answer, form, arguments, &control).map_err(about_query)
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// All blocks as one object of JSON.
    Json,
    /// The rows of one block.
    Rows(RowFormat),
}

impl Form {
    /// What `--format` says, or the end of the file's name, or else JSON.
    ///
    /// # Errors
    ///
    /// `Query` for a name that there is not, and for bytes that would go to a terminal.
    fn of(format: Option<&str>, output: Option<&Path>) -> Result<Form> {
        let end = output.and_then(Path::extension);
        let end = end.map(|end| end.to_string_lossy().into_owned());
        let form = match (format, end) {
            (Some("json"), _) => Form::Json,
            (Some(name), _) => Form::Rows(RowFormat::from_name(name).map_err(|_| unknown(name))?),
            (None, Some(end)) => RowFormat::of_file(&end).map_or(Form::Json, Form::Rows),
            (None, None) => Form::Json,
        };
        match form {
            Form::Rows(rows)
                if rows.is_binary() && output.is_none() && io::stdout().is_terminal() =>
            {
                Err(Error::query("this format is bytes, and no terminal shows them")
                    .with_hint("give -o FILE"))
            }
            form => Ok(form),
        }
    }
}

fn unknown(name: &str) -> Error {
    let names = RowFormat::names().collect::<Vec<&str>>().join(", ");
    Error::query(format!("--format {name}: it is json, {names}"))
}

fn write_answer(
    answer: &QueryAnswer,
    form: Form,
    arguments: &QueryArguments,
    control: &RequestContext,
) -> Result<()> {
    let block = match (form, &arguments.block) {
        (Form::Json, None) => String::new(),
        (Form::Json, Some(_)) => {
            return Err(Error::query(
                "--block is for --format table, csv, markdown, jsonl, arrow and parquet",
            ));
        }
        (Form::Rows(_), block) => answer
            .block_name(block.as_deref())
            .map_err(|error| error.with_hint("name one by --block, or use --format json"))?,
    };
    let bytes = answer_bytes(answer, form, &block, control)?;
    match &arguments.output {
        Some(file) => save(file, &bytes),
        None => print(&bytes),
    }
}

/// Writes an answer: all blocks as JSON, or the rows of one block.
///
/// # Errors
///
/// As [`QueryAnswer::table`] and [`write_rows`].
pub(super) fn answer_bytes(
    answer: &QueryAnswer,
    form: Form,
    block: &str,
    control: &RequestContext,
) -> Result<Vec<u8>> {
    match form {
        Form::Json => {
            let (json, _) = answer.to_json_with(control)?;
            let mut bytes = json.into_bytes();
            bytes.push(b'\n');
            Ok(bytes)
        }
        Form::Rows(format) => {
            let rows = record_batch(answer.table_with(Some(block), control)?)?;
            let mut bytes = Vec::new();
            write_rows(&rows, format, &reservation(control), &mut bytes)?;
            Ok(bytes)
        }
    }
}

/// Answers a query in Cypher.
pub(super) fn cypher(arguments: &CypherArguments, interrupt: Interrupt) -> Done {
    let is_plan = arguments.explain || arguments.profile;
    let form = match (is_plan, &arguments.format, &arguments.output) {
        (true, None, None) => Form::Rows(RowFormat::Table),
        (_, format, output) => Form::of(format.as_deref(), output.as_deref())?,
    };
    let text = request_text(arguments.query.as_deref(), arguments.file.as_deref())?;
    let params = cypher_params(&json_variables(&arguments.params)?)?;
    let no_map = arguments.no_map;
    let options = OpenOptions { read_only: true, no_map, ..OpenOptions::default() };
    let database = Database::open(&arguments.path, options)?.namespace(arguments.namespace)?;
    report_recovery(Recovery { commits: 0, ..database.recovery()? });
    let control = control(arguments.timeout, interrupt)?;
    let about_query = Failure::about(&text);
    let answer = match (arguments.explain, arguments.profile) {
        (true, _) => database.explain_cypher(&text, &params, &control),
        (false, true) => database.profile_cypher(&text, &params, &control),
        (false, false) => database.cypher_with(&text, &params, &control),
    };
    let answer = answer.map_err(&about_query)?;
    for warning in answer.warnings() {
        eprintln!("warning: {warning}");
    }
    let bytes = cypher_bytes(&answer, form, &control).map_err(about_query)?;
    let done = match &arguments.output {
        Some(file) => save(file, &bytes),
        None => print(&bytes),
    };
    Ok(done?)
}

/// Writes an answer in Cypher: an object of JSON with columns and rows, or the rows alone. Columns
/// of several types are warned of.
///
/// # Errors
///
/// As [`CypherAnswer::table`] and [`write_rows`].
pub(super) fn cypher_bytes(
    answer: &CypherAnswer,
    form: Form,
    control: &RequestContext,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match form {
        Form::Json => {
            bytes = answer.to_json(control)?.0.into_bytes();
            bytes.push(b'\n');
        }
        Form::Rows(format) => {
            let rows = cypher_rows(answer, format, control)?;
            write_rows(&rows, format, &reservation(control), &mut bytes)?;
        }
    }
    Ok(bytes)
}

/// The rows of an answer in Cypher: for text to look at without objects and lists. Columns that
/// lose something are warned of.
///
/// # Errors
///
/// As [`CypherAnswer::table`].
pub(super) fn cypher_rows(
    answer: &CypherAnswer,
    format: RowFormat,
    control: &RequestContext,
) -> Result<RecordBatch> {
    let (table, warnings) = match format {
        RowFormat::Table | RowFormat::Csv | RowFormat::Markdown => answer.flat_table(control)?,
        RowFormat::JsonLines | RowFormat::Arrow | RowFormat::Parquet => answer.table(control)?,
    };
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    record_batch(table)
}

/// Reserves bytes from the budget of memory for a request.
pub(super) fn reservation(control: &RequestContext) -> impl Fn(u64) -> Result<()> + '_ {
    |more| control.reserve(more)
}

/// A text that changes data, with its options.
#[derive(Default)]
pub(super) struct ChangeRequest<'t> {
    /// N-Quads, JSON, or a request in DQL.
    pub text: &'t str,
    /// Whether N-Quads and JSON are deleted, and not set.
    pub deletes: bool,
    /// A query whose variables N-Quads and JSON use.
    pub query: Option<&'t str>,
    /// The values of the variables of that query.
    pub variables: Variables,
}

/// Changes data, and prints the uids of new nodes.
pub(super) fn mutate(arguments: &MutateArguments, interrupt: Interrupt) -> Done {
    let text = request_text(arguments.text.as_deref(), arguments.file.as_deref())?;
    let database = open_existing(&arguments.path)?;
    let database = database.namespace(arguments.namespace)?;
    let request = ChangeRequest {
        text: &text,
        deletes: arguments.delete,
        query: arguments.query.as_deref(),
        variables: read_variables(&arguments.variables)?,
    };
    let done = change(&database, request, &interrupt.control()).map_err(Failure::about(&text))?;
    print(format!("{}\n", Value::Object(done)).as_bytes())?;
    Ok(database.close()?)
}

/// Changes data. Returns the uids of new nodes, and the answer to a query of the request.
///
/// # Errors
///
/// `Query` for a request whose parts do not fit together; as the mutation.
pub(super) fn change(
    database: &Database,
    request: ChangeRequest<'_>,
    control: &RequestContext,
) -> Result<Map<String, Value>> {
    let ChangeRequest { text, deletes, query, variables } = request;
    let done = match (statements(text, query.is_some()), deletes) {
        (None, true) => Err(Error::query(
            "--delete is for N-Quads and JSON: a request in DQL says `delete { ... }`",
        )),
        (None, false) if variables.is_empty() => database.mutate_text_with(text, control),
        (None, false) => Err(Error::query(
            "--var is for upserts of N-Quads or JSON with --query: a request in DQL has its values in it",
        )),
        (Some(statements), deletes) => {
            let mut mutation = Mutation::default();
            let list = if deletes { &mut mutation.delete } else { &mut mutation.set };
            list.push(statements);
            let query = query.unwrap_or_default().into();
            let request = MutationRequest { query, variables, mutations: vec![mutation] };
            database.mutate_with(&request, control)
        }
    };
    let done = done?;
    if let Some(warning) = done.losses.warning() {
        eprintln!("warning: {warning}");
    }
    let mut result = Map::new();
    result.insert("uids".to_owned(), json!(done.uids));
    if let Some(answer) = &done.queries {
        let (json, _) = answer.to_json_with(control)?;
        let answer = parsed(&json)?;
        if answer.as_object().is_none_or(|blocks| !blocks.is_empty()) {
            result.insert("queries".to_owned(), answer);
        }
    }
    Ok(result)
}

/// The statements that a text is, by its first letters; `None` for a request in DQL.
pub(super) fn statements(text: &str, has_query: bool) -> Option<Statements<'_>> {
    match first_letters(text).as_slice() {
        // N-Quads begin with a node, JSON with a bracket, or a brace before a name in quotes.
        [b'<' | b'_', ..] => Some(Statements::NQuads(text)),
        [b'[', ..] | [b'{', b'"', ..] => Some(Statements::Json(text)),
        // The variable of a query may begin an N-Quad: `uid(v) <name> "Ada" .`
        _ if has_query => Some(Statements::NQuads(text)),
        _ => None,
    }
}

/// Deletes nodes with all their values and edges, and prints how many are gone.
pub(super) fn delete(arguments: &DeleteArguments, interrupt: Interrupt) -> Done {
    let uids = arguments.nodes.iter().map(|text| uid_of(text)).collect::<Option<Vec<Uid>>>();
    let text = match (&uids, arguments.nodes.as_slice()) {
        (Some(_), _) => String::new(),
        (None, [text]) => request_text(Some(text), None)?,
        (None, _) => {
            return Err(Error::query("delete takes one query in DQL, or uids such as 0x1").into());
        }
    };
    let database = open_existing(&arguments.path)?.namespace(arguments.namespace)?;
    let variables = read_variables(&arguments.variables)?;
    let nodes = match &uids {
        Some(uids) => Nodes::Uids(uids),
        None => Nodes::Query(&text, &variables),
    };
    let done = database.delete_with(&nodes, &interrupt.control()).map_err(Failure::about(&text))?;
    let counts = json!({"nodes": done.nodes, "values": done.values, "edges": done.edges});
    print(format!("{counts}\n").as_bytes())?;
    Ok(database.close()?)
}

/// A uid, hexadecimal or decimal; `None` for any other text.
pub(super) fn uid_of(text: &str) -> Option<Uid> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.ok().filter(|number| *number != 0).map(Uid)
}

/// The first two letters that are no blanks.
fn first_letters(text: &str) -> Vec<u8> {
    text.bytes().filter(|letter| !letter.is_ascii_whitespace()).take(2).collect()
}

/// Answers a GraphQL request. Errors of it is in the answer, and is a failure where there is no
/// data.
pub(super) fn graphql(arguments: &GraphqlArguments, interrupt: Interrupt) -> Done {
    let query = match (&arguments.schema, &arguments.text, &arguments.file) {
        // A schema alone is set.
        (Some(_), None, None) => None,
        _ => Some(request_text(arguments.text.as_deref(), arguments.file.as_deref())?),
    };
    let variables = graphql_variables(arguments)?;
    let writes = arguments.schema.is_some()
        || query.as_deref().is_some_and(|text| text.contains("mutation"));
    let database = match writes {
        true => open_existing(&arguments.path)?,
        false => {
            let options = OpenOptions { read_only: true, ..OpenOptions::default() };
            Database::open(&arguments.path, options)?
        }
    };
    let database = database.namespace(arguments.namespace)?;
    let control = control(arguments.timeout, interrupt)?;
    if let Some(file) = &arguments.schema {
        database.set_graphql_schema_with(&read_text(file)?, &control)?;
    }
    if let Some(query) = query {
        let operation = arguments.operation.clone();
        let request = Request { variables, operation, ..Request::new(query) };
        let (json, fault) = answer_graphql(&database, &request, &control)?;
        print(&json)?;
        if let Some(error) = fault {
            return Err(error.into());
        }
    }
    Ok(database.close()?)
}

/// Answers a GraphQL request. Returns the answer as JSON, and its first error where it has no data.
///
/// # Errors
///
/// `Limit` when `control` stops it.
pub(super) fn answer_graphql(
    database: &Database,
    request: &Request,
    control: &RequestContext,
) -> Result<(Vec<u8>, Option<Error>)> {
    let response = database.graphql_with(request, &Headers::default(), control);
    control.check()?;
    let fault = response.data.is_none().then(|| response.errors.first()).flatten();
    let fault = fault.map(|fault| Error::query(&fault.message));
    let mut json = response.to_json("");
    json.push(b'\n');
    Ok((json, fault))
}

/// The values of variables: JSON where a value is that, else a text.
fn graphql_variables(arguments: &GraphqlArguments) -> Result<Map<String, Value>> {
    let mut variables = match &arguments.variables_file {
        None => Map::new(),
        Some(file) => match parsed(&read_text(file)?)? {
            Value::Object(variables) => variables,
            _ => {
                let fault = format!("{}: the variables are an object of JSON", file.display());
                return Err(Error::query(fault));
            }
        },
    };
    variables.extend(json_variables(&arguments.variables)?);
    Ok(variables)
}

/// The values of `name=value`: JSON where a value is that, else a text.
fn json_variables(pairs: &[String]) -> Result<Map<String, Value>> {
    let variable = |pair: &String| {
        let (name, value) = name_and_value(pair)?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok((name.to_owned(), value))
    };
    pairs.iter().map(variable).collect()
}

fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| Error::query(format!("it is no JSON: {error}")))
}

/// Opens a database for changes; a path that is mistyped makes none.
fn open_existing(path: &Path) -> Result<Database> {
    check_exists(path)?;
    Database::open(path, OpenOptions::default())
}

/// Refuses a path that opening would create.
///
/// # Errors
///
/// `Query` where nothing is there.
pub(super) fn check_exists(path: &Path) -> Result<()> {
    match path.exists() {
        true => Ok(()),
        false => Err(Error::query(format!("{}: there is no database", path.display()))
            .with_hint("`hexgraph load` makes one")),
    }
}

fn control(timeout: Option<f64>, interrupt: Interrupt) -> Result<RequestContext> {
    Ok(match timeout {
        Some(seconds) => interrupt.control().with_timeout(duration("--timeout", seconds)?),
        None => interrupt.control(),
    })
}
