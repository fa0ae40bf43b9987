//! Tables as nodes and edges: Arrow columns from other libraries, Parquet and CSV files. Answers as
//! tables.

mod shape;
mod read;
mod load;
mod graphs;
mod columns;
mod parquet_export;
mod answers;
mod generate;
mod sniff;

pub use answers::batch::{PlainColumn, plain_rows, record_batch, texts_array};
pub use answers::flatten::{Reserve, exploded, flattened};
pub use answers::greatest::greatest_rows;
pub use answers::text::{TableExtent, TableLimits, write_table};
pub use answers::uids::{with_fields, with_text_uids};
pub use answers::write::{RowFormat, write_rows};
pub use arrow_array::RecordBatch;
pub use generate::Generated;
#[doc(hidden)]
pub use graphs::graphml::check_graphml;
pub use graphs::load::{Batches, EDGE_PREDICATE, GraphOptions, is_graph_name, refuse_other_names};
#[doc(inline)]
pub use hexgraph_store::graph::IdSpace;
#[doc(hidden)]
pub use read::check::check_text_table;
pub use read::exported::is_export_folder;
#[doc(hidden)]
pub use read::json::check_json_table;
pub use read::table_format::{has_no_extension, is_readable_name, is_table_name};
pub use shape::options::{
    EdgeOptions, Encoding, ForeignKey, ID_PREDICATE, Missing, NO_SEPARATOR, Names, NodeOptions,
    PointColumns, Ragged, SniffedOption, Table, TableOptions, TextOptions,
};
pub use sniff::{Sniffed, SniffedColumn, sniff};

#[cfg(test)]
mod tests;
