//! Errors as exceptions: the one table of them.

use hexgraph::db::Warning;
use hexgraph_base::types::{Error, Position};
use pyo3::prelude::*;

/// The exception classes, which are written in Python.
mod classes {
    use pyo3::import_exception;

    import_exception!(hexgraph.errors, ParseError);
    import_exception!(hexgraph.errors, SchemaError);
    import_exception!(hexgraph.errors, QueryError);
    import_exception!(hexgraph.errors, LimitError);
    import_exception!(hexgraph.errors, ConflictError);
    import_exception!(hexgraph.errors, ClosedError);
    import_exception!(hexgraph.errors, AccessError);
    import_exception!(hexgraph.errors, ReadOnlyError);
    import_exception!(hexgraph.errors, LoadError);
    import_exception!(hexgraph.errors, CorruptError);
    import_exception!(hexgraph.errors, StorageError);
    import_exception!(hexgraph.errors, InternalError);
}

/// Fetches all exceptions, so that none has to be imported when it is raised: at the end of the
/// interpreter nothing can be imported any more, and objects that are dropped then still need them.
///
/// # Errors
///
/// That of the import.
pub(crate) fn fetch_exceptions(py: Python<'_>) -> PyResult<()> {
    use classes::*;
    use pyo3::PyTypeInfo;
    py.import("hexgraph.errors")?;
    let fetch = [
        ParseError::type_object,
        SchemaError::type_object,
        QueryError::type_object,
        LimitError::type_object,
        ConflictError::type_object,
        ClosedError::type_object,
        AccessError::type_object,
        ReadOnlyError::type_object,
        LoadError::type_object,
        CorruptError::type_object,
        StorageError::type_object,
        InternalError::type_object,
    ];
    fetch.into_iter().for_each(|fetch| _ = fetch(py));
    Ok(())
}

/// Converts an error to an exception.
pub(crate) fn to_python(error: Error) -> PyErr {
    to_python_with_text(error, "")
}

/// The line and the column of a position, from 1, and that line of the text; zeros for no position.
fn shown(text: &str, at: Option<Position>) -> (u32, u32, String) {
    let Some(at) = at else { return (0, 0, String::new()) };
    let line = text.split('\n').nth((at.line as usize).saturating_sub(1));
    (at.line, at.shown_column(), line.unwrap_or_default().trim_end_matches('\r').to_owned())
}

/// A hint with the one line of Python that does what it says, where it says which predicate lacks
/// what.
fn with_call(hint: String) -> String {
    let call = || {
        let (_, rest) = hint.split_once("add `@")?;
        let (directive, rest) = rest.split_once("` to the schema of `")?;
        let (name, _) = rest.split_once('`')?;
        let index = directive.strip_prefix("index(").and_then(|rest| rest.strip_suffix(')'));
        Some(format!("db.index({name:?}, {:?})", index.unwrap_or(directive)))
    };
    match call() {
        Some(call) => format!("{hint}; in one line: {call}"),
        None => hint,
    }
}

/// The exception of an error about a text that the caller did not write: without a position there.
pub(crate) fn to_python_without_position(error: Error) -> PyErr {
    match error {
        Error::Syntax { message, hint, .. } => {
            classes::ParseError::new_err((message, 0, 0, hint, ""))
        }
        Error::Schema { message, hint, .. } => to_python(Error::schema(message).with_hint(hint)),
        Error::Query { message, hint, .. } => to_python(Error::query(message).with_hint(hint)),
        other => to_python(other),
    }
}

/// Makes Python's warnings of those of a query, in words that `text_of` gives, each of the category
/// of its kind; fails where a filter of Python's makes errors of them.
pub(crate) fn warn_of(
    py: Python<'_>,
    warnings: &[Warning],
    text_of: impl Fn(&Warning) -> String,
) -> PyResult<()> {
    if warnings.is_empty() {
        return Ok(());
    }
    let errors = py.import("hexgraph.errors")?;
    let reported: Vec<(String, &str)> =
        warnings.iter().map(|warning| (text_of(warning), warning.kind.name())).collect();
    errors.call_method1("warn_of_query", (reported,)).map(drop)
}

/// The exception of an error; one about a text quotes the line of `text` that is wrong.
pub(crate) fn to_python_with_text(error: Error, text: &str) -> PyErr {
    match error {
        Error::Syntax { message, at, hint } => {
            let (row, column, line) = shown(text, Some(at));
            classes::ParseError::new_err((message, row, column, hint, line))
        }
        Error::Schema { message, at, hint } => {
            let (row, column, line) = shown(text, at);
            classes::SchemaError::new_err((message, row, column, with_call(hint), line))
        }
        Error::Query { message, at, hint } => {
            let (row, column, line) = shown(text, at);
            classes::QueryError::new_err((message, row, column, with_call(hint), line))
        }
        // A program that opens a database itself may do everything, so that none is refused there.
        Error::Access(error) => classes::AccessError::new_err(error.message().to_owned()),
        Error::Limit { message } => classes::LimitError::new_err(message),
        Error::Conflict => classes::ConflictError::new_err(Error::Conflict.to_string()),
        Error::Closed => classes::ClosedError::new_err(Error::Closed.to_string()),
        Error::ReadOnly { message } => classes::ReadOnlyError::new_err(message),
        Error::Load { file, line, column, message } => {
            classes::LoadError::new_err((message, file, line, column))
        }
        Error::Corrupt { path, message } => classes::CorruptError::new_err((message, path)),
        Error::Internal { message, position } => {
            classes::InternalError::new_err((message, position))
        }
        Error::Io { context, source } => {
            classes::StorageError::new_err((format!("{context}: {source}"), source.raw_os_error()))
        }
    }
}
