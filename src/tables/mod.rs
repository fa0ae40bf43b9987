//! Tables as nodes and edges: Arrow columns from other libraries, Parquet and CSV files.

mod options;
mod cells;
mod parts;
mod ids;
mod plan;
mod source;
mod lines;
mod rounds;
mod plan_nodes;
mod load;
mod columns;
mod export;
mod folder;

pub use folder::is_export_folder;
pub use hexgraph_store::graph::IdSpace;
pub use options::{EdgeOptions, ID_PREDICATE, NodeOptions, Table, TableOptions};
pub use source::is_table_name;

#[cfg(test)]
mod tests;
