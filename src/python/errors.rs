//! Errors as exceptions: the one table of them.

use crate::types::Error;
use crate::types::Position;
use pyo3::PyErr;

/// The classes, which are written in Python.
mod classes {
    use pyo3::import_exception;

    import_exception!(hexgraph.errors, ParseError);
    import_exception!(hexgraph.errors, SchemaError);
    import_exception!(hexgraph.errors, QueryError);
    import_exception!(hexgraph.errors, LimitError);
    import_exception!(hexgraph.errors, ConflictError);
    import_exception!(hexgraph.errors, LoadError);
    import_exception!(hexgraph.errors, CorruptError);
    import_exception!(hexgraph.errors, StorageError);
}

/// The exception of an error.
pub fn to_python(error: Error) -> PyErr {
    to_python_with_text(error, "")
}

/// The line of a text that holds a place.
fn line_of(text: &str, at: Position) -> String {
    let line = text.split('\n').nth((at.line as usize).saturating_sub(1));
    line.unwrap_or_default().trim_end_matches('\r').to_owned()
}

/// The exception of an error; one about a text quotes the line of `text` that is wrong.
pub fn to_python_with_text(error: Error, text: &str) -> PyErr {
    match error {
        Error::Syntax { message, at, hint } => {
            let line = line_of(text, at);
            classes::ParseError::new_err((message, at.line, at.column, hint, line))
        }
        Error::Schema { message, at, hint } => {
            let (line, at) = (at.map(|at| line_of(text, at)), at.unwrap_or_default());
            classes::SchemaError::new_err((
                message,
                at.line,
                at.column,
                hint,
                line.unwrap_or_default(),
            ))
        }
        Error::Query { message, at, hint } => {
            let (line, at) = (at.map(|at| line_of(text, at)), at.unwrap_or_default());
            classes::QueryError::new_err((
                message,
                at.line,
                at.column,
                hint,
                line.unwrap_or_default(),
            ))
        }
        Error::Limit { message } => classes::LimitError::new_err(message),
        Error::Conflict => classes::ConflictError::new_err(Error::Conflict.to_string()),
        Error::Load { file, line, column, message } => {
            classes::LoadError::new_err((message, file, line, column))
        }
        Error::Corrupt { path, message } => classes::CorruptError::new_err((message, path)),
        Error::Io { context, source } => {
            classes::StorageError::new_err((format!("{context}: {source}"), source.raw_os_error()))
        }
    }
}
