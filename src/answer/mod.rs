//! The forms that an answer is written in.

mod cells;
mod json;
mod table;

pub use cells::{Cell, Cells, Lists, Texts, Values};
pub use json::{JsonSink, write_json_text, write_plain_text};
pub use table::{Column, Table, TableSink};
