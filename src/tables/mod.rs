//! Tables as nodes and edges: Arrow columns from other libraries, Parquet and CSV files.

mod shape;
mod read;
mod load;
mod columns;
mod parquet_export;

pub use hexgraph_store::graph::IdSpace;
pub use read::exported::is_export_folder;
pub use read::source::is_table_name;
pub use shape::options::{
    EdgeOptions, Encoding, ID_PREDICATE, Missing, NodeOptions, PointColumns, Table, TableOptions,
};

#[cfg(test)]
mod tests;
