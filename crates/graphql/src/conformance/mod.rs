//! The answers that were recorded of Dgraph, compared with ours. The folder stands above all
//! others: its tests go from a schema's text to a mutation's outcome.

mod records;
mod generated_schemas;
mod schema_faults;
mod requests;
mod mutations;
