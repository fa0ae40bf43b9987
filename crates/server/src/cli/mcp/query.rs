//! `query`: a page of the rows of a query, bounded in rows, bytes and time.
//!
//! A cursor has the number of rows before the next page, the commit that the first page read, and a
//! digest of the request. The next page runs the query again, so a server holds nothing between
//! calls; where the data have changed meanwhile, the answer says so.

use super::answer::{Cuts, Outcome, ToolAnswer, ToolFault, ValueLimits};
use super::call::{ParamDef, ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use crate::cli::requests::reservation;
use hexgraph::answer::JsonSink;
use hexgraph::db::{ParameterValue, QueryAnswer, QueryRequest, Variables};
use hexgraph_base::types::Error;
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most bytes of the rows of a page.
pub(super) const BYTES: ParamDef = param(
    "bytes",
    ParamKind::Number(1_000, 262_144, 32_768),
    "the most bytes of the rows, as JSON",
);

/// The most rows of a page.
pub(super) const ROWS: ParamDef =
    param("rows", ParamKind::Number(1, 1_000, 50), "the most rows of a page");

/// The next page.
pub(super) const CURSOR: ParamDef = param(
    "cursor",
    ParamKind::Text,
    "the `cursor` of the page before, with the other parameters as they were",
);

/// How much of a text is shown.
pub(super) const TEXT_LENGTH: ParamDef = param(
    "text_length",
    ParamKind::Number(20, 100_000, 500),
    "the most characters of a single text; longer ones are cut",
);

pub(super) const QUERY: ToolDef = ToolDef {
    name: "query",
    title: "Run a query in DQL",
    what: "Runs a read-only query in DQL, such as `{ q(func: type(Film), first: 3) { uid name starring { name } } }`. \
        Call `describe` first for the names of types and predicates. Root functions other than has, type and uid need an index.",
    params: &[
        required("query", ParamKind::Text, "the query in DQL"),
        param("variables", ParamKind::Object, "the values of `$` variables, by name"),
        ROWS,
        BYTES,
        TEXT_LENGTH,
        param(
            "nodes",
            ParamKind::Number(1, 1_000, NODES_SHOWN as i64),
            "the most nodes below a node by one edge; longer lists are cut",
        ),
        CURSOR,
        SECONDS,
    ],
    writes: false,
    run: |call| {
        let text = call.arguments.required("query").to_owned();
        let variables = variables(call)?;
        page(call, &QueryRequest { text, variables, debug: false })
    },
};

/// The nodes below a node that are shown where nothing else is said.
const NODES_SHOWN: usize = 50;

/// The most values of a list that are shown.
const VALUES_SHOWN: usize = 50;

/// The bytes of memory that a byte of JSON may need when it is read.
const BYTES_PER_BYTE: u64 = 16;

/// The limits of a row that is alone longer than a page.
const TIGHT: ValueLimits = ValueLimits { text: 80, values: 5, nodes: 5 };

/// Reads the values of `$` variables.
///
/// # Errors
///
/// [`ToolFault::Params`] for a value that is no scalar.
fn variables(call: &ToolCall<'_>) -> Outcome<Variables> {
    let mut variables = Variables::new();
    for (name, value) in call.arguments.object("variables") {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => {
                let fault = format!("query: `variables`: {name}: expected a text or a number");
                return Err(ToolFault::Params(fault));
            }
        };
        let name = name.trim_start_matches('$');
        variables.insert(format!("${name}"), ParameterValue::from(text.as_str()));
    }
    Ok(variables)
}

/// The position of a page.
struct Cursor {
    /// The rows before it.
    offset: usize,
    /// The commit that the first page read; `None` on that one.
    commit: Option<u64>,
}

impl Cursor {
    /// Reads the cursor of a call; without one it is that of the first page.
    fn read(call: &ToolCall<'_>, digest: u64) -> Outcome<Cursor> {
        let Some(text) = call.arguments.text("cursor") else {
            return Ok(Cursor { offset: 0, commit: None });
        };
        let parts: Vec<&str> = text.split('-').collect();
        let number = |at: usize, radix| u64::from_str_radix(parts.get(at).unwrap_or(&""), radix);
        let (Ok(offset), Ok(commit), Ok(given), 3) =
            (number(0, 10), number(1, 10), number(2, 16), parts.len())
        else {
            let fault = "`cursor`: expected the `cursor` of an answer, unchanged";
            return Err(ToolFault::Params(fault.to_owned()));
        };
        if given != digest {
            let fault = "`cursor`: it belongs to another request: repeat the one that it came with";
            return Err(ToolFault::Params(fault.to_owned()));
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX / 2);
        Ok(Cursor { offset: offset.min(usize::MAX / 2), commit: Some(commit) })
    }
}

/// A page of the answer to a query, by the parameters of the call.
///
/// # Errors
///
/// Those of the query, and [`ToolFault::Params`] for the cursor.
pub(super) fn page(call: &ToolCall<'_>, request: &QueryRequest) -> Outcome<ToolAnswer> {
    let digest = digest_of(request);
    let Cursor { offset, commit } = Cursor::read(call, digest)?;
    let about = ToolFault::about(&request.text);
    let answer = call.database.query_with(request, call.control).map_err(&about)?;
    let rows_max = call.arguments.number("rows");
    // Tools without the parameter bound these lists in their queries.
    let nodes = Some(call.arguments.number("nodes")).filter(|nodes| 0 < *nodes);
    let nodes = nodes.unwrap_or(NODES_SHOWN);
    let objects_max = (offset + rows_max + 1).max(nodes + 1);
    let blocks = blocks_of(&answer, objects_max, call).map_err(&about)?;
    let limits =
        ValueLimits { text: call.arguments.number("text_length"), values: VALUES_SHOWN, nodes };
    let bytes_max = call.arguments.number("bytes");
    let mut cuts = Cuts::default();
    let Rows { blocks, rows, has_more } =
        rows_of(blocks, (offset, rows_max, bytes_max), limits, &mut cuts);
    let mut warnings: Vec<String> = answer.warnings().iter().map(ToString::to_string).collect();
    if commit.is_some_and(|commit| commit != answer.commit()) {
        let changed = "the data have changed since the first page: rows may be missing or repeated";
        warnings.push(changed.to_owned());
    }
    let first = commit.unwrap_or(answer.commit());
    let next = offset + rows;
    let cursor = has_more.then(|| format!("{next}-{first}-{digest:x}"));
    if has_more {
        cuts.note(format!("rows: {offset} to {next} are shown, and more follow by `cursor`"));
    }
    let data = Map::from_iter([
        ("rows".to_owned(), json!(rows)),
        ("blocks".to_owned(), Value::Object(blocks)),
    ]);
    Ok(ToolAnswer { data, cuts, cursor, warnings, commit: answer.commit() })
}

fn digest_of(request: &QueryRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.text.hash(&mut hasher);
    for (name, value) in &request.variables {
        (name, format!("{value:?}")).hash(&mut hasher);
    }
    hasher.finish()
}

/// The blocks of an answer, of each list at most so many objects.
fn blocks_of(
    answer: &QueryAnswer,
    objects_max: usize,
    call: &ToolCall<'_>,
) -> hexgraph_base::types::Result<Map<String, Value>> {
    let json = answer.write_head(objects_max, JsonSink::new(), call.control)?.into_bytes();
    reservation(call.control)(BYTES_PER_BYTE * json.len() as u64)?;
    serde_json::from_slice(&json).map_err(|error| Error::internal(error.to_string()))
}

/// The rows of a page.
struct Rows {
    blocks: Map<String, Value>,
    rows: usize,
    has_more: bool,
}

/// Chooses the rows of a page: those of all blocks, counted through.
fn rows_of(
    blocks: Map<String, Value>,
    (offset, rows_max, bytes_max): (usize, usize, usize),
    limits: ValueLimits,
    cuts: &mut Cuts,
) -> Rows {
    let mut page = Rows { blocks: Map::new(), rows: 0, has_more: false };
    let (mut position, mut bytes) = (0, 0);
    for (name, block) in blocks {
        let rows = match block {
            Value::Array(rows) => rows,
            single => vec![single],
        };
        let mut shown = Vec::new();
        for mut row in rows {
            position += 1;
            if position <= offset || page.has_more {
                continue;
            }
            let mut of_row = Cuts::default();
            of_row.shorten(&mut row, &name, limits);
            let mut length = row.to_string().len();
            if bytes_max < length {
                length = tighten(&mut row, &name, (length, bytes_max), &mut of_row);
            }
            if page.rows == rows_max || 0 < page.rows && bytes_max < bytes + length {
                page.has_more = true;
                continue;
            }
            (page.rows, bytes) = (page.rows + 1, bytes + length);
            cuts.add(of_row);
            shown.push(row);
        }
        page.blocks.insert(name, Value::Array(shown));
    }
    page
}

/// Cuts a row of `before` bytes, which is longer than a page. Returns its length then.
fn tighten(
    row: &mut Value,
    name: &str,
    (before, bytes_max): (usize, usize),
    cuts: &mut Cuts,
) -> usize {
    cuts.shorten(row, name, TIGHT);
    let length = row.to_string().len();
    if length <= bytes_max {
        return length;
    }
    let uid = row["uid"].clone();
    *row = json!({"uid": uid, "cut": format!("a row of {before} bytes is longer than a page")});
    cuts.note(format!("{name}: a row of {before} bytes: raise `bytes`, or select less of it"));
    row.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ValueLimits = ValueLimits { text: 50, values: 50, nodes: 50 };

    fn blocks() -> Map<String, Value> {
        let rows = |names: &[&str]| names.iter().map(|name| json!({"n": name})).collect::<Value>();
        let all = [("a", rows(&["1", "2", "3"])), ("b", rows(&["4", "5"]))];
        all.into_iter().map(|(name, rows)| (name.to_owned(), rows)).collect()
    }

    #[test]
    fn pages_go_through_all_blocks() {
        let (mut all, mut offset) = (Vec::new(), 0);
        loop {
            let page = rows_of(blocks(), (offset, 2, 1_000), LIMITS, &mut Cuts::default());
            let lists = page.blocks.values().filter_map(Value::as_array).flatten();
            all.extend(lists.map(|row| row["n"].as_str().unwrap().to_owned()));
            offset += page.rows;
            if !page.has_more {
                break;
            }
        }
        assert_eq!(all, ["1", "2", "3", "4", "5"]);
    }

    #[test]
    fn pages_end_at_their_bytes_and_have_a_row() {
        let mut cuts = Cuts::default();
        let page = rows_of(blocks(), (0, 50, 20), LIMITS, &mut cuts);
        assert_eq!((page.rows, page.has_more), (2, true));
        let page = rows_of(blocks(), (4, 50, 2), LIMITS, &mut cuts);
        assert_eq!((page.rows, page.has_more), (1, false));
        assert!(cuts.lines()[0].contains("a row of 9 bytes"), "{:?}", cuts.lines());
    }
}
