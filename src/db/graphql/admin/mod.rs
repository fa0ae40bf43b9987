//! The API that administers a database, and what it does beside the data: exports, backups, tasks.

mod api;
mod instance;
mod requests;
mod state;
mod copies;
mod folder;
mod tasks;

pub use folder::Folder;
pub use instance::{Act, Instance};
pub use tasks::Tasks;
