//! Tables in chunks, wherever they come from.

pub(super) mod cells;
pub(super) mod csv;
pub(super) mod text;
pub(super) mod opened;
pub(super) mod pages;
pub(super) mod row_groups;
mod arrow_file;
pub(super) mod json;
mod path_columns;
pub(super) mod checked;
pub(super) mod table_format;
pub(super) mod source;
pub(super) mod small;
pub(super) mod rounds;
pub(super) mod exported;
pub(super) mod check;
