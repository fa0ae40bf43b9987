//! Columns that the path of a file gives: those of partitions, `year=2024/part.parquet`, and the
//! file's name.

use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use hexgraph_base::types::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

/// The value of a partition that has none.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// A column whose cells all have one value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tables) struct PathColumn {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Option<String>,
    /// Whether all values of the column are ints, in this file and in the others.
    pub is_int: bool,
}

impl PathColumn {
    /// Its field.
    pub(super) fn field(&self) -> Field {
        Field::new(&self.name, if self.is_int { DataType::Int64 } else { DataType::Utf8 }, true)
    }

    fn array(&self, rows: usize) -> ArrayRef {
        match &self.value {
            None => new_null_array(self.field().data_type(), rows),
            Some(value) if self.is_int => {
                let int: i64 = value.parse().unwrap_or_default();
                Arc::new(Int64Array::from(vec![int; rows]))
            }
            Some(value) => Arc::new(StringArray::from(vec![value.as_str(); rows])),
        }
    }
}

/// The columns that a path gives. `file_name` is the name of the column that has the path.
pub(super) fn columns_of(path: &Path, file_name: Option<&str>) -> Vec<PathColumn> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let parts = folders.filter_map(|part| match part {
        Component::Normal(part) => part.to_str()?.split_once('='),
        _ => None,
    });
    let parts = parts.filter(|(name, _)| !name.is_empty()).map(|(name, value)| {
        let value = (value != NO_VALUE).then(|| unescaped(value));
        let is_int = value.as_deref().is_none_or(is_int);
        PathColumn { name: unescaped(name), value, is_int }
    });
    let name = file_name.map(|name| PathColumn {
        name: name.to_owned(),
        value: Some(path.display().to_string()),
        is_int: false,
    });
    parts.chain(name).collect()
}

/// Splits the columns that a path gives into those that the file lacks, and a sentence for each of
/// the others: the column of the file is loaded. `name` is that of the file.
///
/// # Errors
///
/// [`Error::Query`] where the column for the path of the file has the name of another column.
pub(super) fn without_own(
    columns: Vec<PathColumn>,
    own: &Schema,
    (name, file_name): (&str, Option<&str>),
) -> Result<(Vec<PathColumn>, Vec<String>)> {
    let is_own = |column: &PathColumn| own.column_with_name(&column.name).is_some();
    if let Some((path, partitions)) = columns.split_last().filter(|_| file_name.is_some())
        && (is_own(path) || partitions.iter().any(|column| column.name == path.name))
    {
        let column = &path.name;
        let fault = format!("{name} has a column {column:?}, which is no path of a file");
        return Err(Error::query(fault).with_hint("give another name in filename="));
    }
    let (repeated, new): (Vec<PathColumn>, Vec<PathColumn>) = columns.into_iter().partition(is_own);
    let notes = repeated.iter().map(|PathColumn { name, .. }| {
        format!("column {name:?} is in the file and in its path: the cells of the file are loaded")
    });
    Ok((new, notes.collect()))
}

/// A warning for each two columns whose names differ only in case, where one is a partition of a
/// path. Each table has its columns and those of its path.
pub(super) fn case_clashes<'s>(
    tables: impl Iterator<Item = (&'s Schema, &'s [PathColumn])>,
) -> Vec<String> {
    let mut spellings: BTreeMap<String, (BTreeSet<&str>, bool)> = BTreeMap::new();
    for (schema, of_path) in tables {
        for (position, field) in schema.fields().iter().enumerate() {
            let is_own = position + of_path.len() < schema.fields().len();
            let (names, has_partition) = spellings.entry(field.name().to_lowercase()).or_default();
            names.insert(field.name());
            *has_partition |= !is_own;
        }
    }
    let clashes =
        spellings.into_values().filter(|(names, has_partition)| 1 < names.len() && *has_partition);
    clashes
        .map(|(names, _)| {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!(
                "the columns {} differ only in case, and folders have these names: each is a \
                 predicate of its own; rename the folders if one is meant",
                names.join(" and ")
            )
        })
        .collect()
}

/// A batch with columns after its own.
///
/// # Errors
///
/// None for columns of its length.
pub(super) fn with_columns(
    batch: &RecordBatch,
    columns: &[PathColumn],
) -> std::result::Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let own = schema.fields().iter().map(|field| field.as_ref().clone());
    let fields: Vec<Field> = own.chain(columns.iter().map(PathColumn::field)).collect();
    let mut arrays = batch.columns().to_vec();
    arrays.extend(columns.iter().map(|column| column.array(batch.num_rows())));
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &rows)
}

/// Whether a text is an int that is written as ints are: `007` is none.
fn is_int(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|int| int.to_string() == text)
}

/// A text without its `%20` and the like.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [byte, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *byte == b'%');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_columns() {
        let column = |name: &str, value: Option<&str>, is_int| PathColumn {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            is_int,
        };
        let path =
            Path::new("/data/year=2024/at=a%20b/zip=007/x=__HIVE_DEFAULT_PARTITION__/=1/a.csv");
        let columns = columns_of(path, Some("file"));
        let expected = [
            column("year", Some("2024"), true),
            column("at", Some("a b"), false),
            column("zip", Some("007"), false),
            column("x", None, true),
            column("file", Some(&path.display().to_string()), false),
        ];
        assert_eq!(columns, expected);
    }
}
