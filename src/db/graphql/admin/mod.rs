//! The API that administers a database, and its operations apart from data: exports, backups,
//! tasks.

mod api;
mod instance;
mod operations;
mod people;
mod namespaces;
mod keys;
mod state;
mod copies;
mod export_folder;
mod tasks;

pub use export_folder::Folder;
pub use instance::{Act, Instance, VERSION_TAG};
pub use tasks::Tasks;
