//! The commands for API keys and namespaces, which are stored next to the data.

use super::output::print;
use clap::Subcommand;
use hexgraph::db::access::{ApiKey, KeyRole, NewKey};
use hexgraph::db::{Database, OpenOptions, parse_time};
use hexgraph_base::types::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An operation on API keys.
#[derive(Subcommand)]
pub(super) enum KeysCommand {
    /// Make a key and print it, this once; the server answers nobody without one from then on
    Create {
        /// The directory of the database
        path: PathBuf,
        /// What it is for
        #[arg(long, default_value = "")]
        name: String,
        /// What its holder may do
        #[arg(long, value_parser = ["admin", "client", "read-only"], default_value = "client")]
        role: String,
        /// How long it holds, like 30d; without it there is no end
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
        /// The namespace that it opens
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        namespace: u64,
    },
    /// List all keys, also those that have ended or were revoked
    List {
        /// The directory of the database
        path: PathBuf,
    },
    /// Have a key open nothing any more
    Revoke {
        /// The directory of the database
        path: PathBuf,
        /// The id of the key, as it is listed
        id: String,
    },
}

/// An operation on namespaces.
#[derive(Subcommand)]
pub(super) enum NamespacesCommand {
    /// Make a namespace and print its number
    Create {
        /// The directory of the database
        path: PathBuf,
    },
    /// Print the numbers of all namespaces
    List {
        /// The directory of the database
        path: PathBuf,
    },
    /// Drop a namespace with all that is in it
    Drop {
        /// The directory of the database
        path: PathBuf,
        /// The number of the namespace
        id: u64,
    },
}

/// Runs a command about keys.
///
/// # Errors
///
/// As the operation.
pub(super) fn keys(command: &KeysCommand) -> Result<()> {
    match command {
        KeysCommand::Create { path, name, role, expires, namespace } => {
            let lifetime = expires.as_deref().map(lifetime).transpose()?;
            let key = NewKey { name, role: KeyRole::of_name(role)?, lifetime };
            let database = existing(path, false)?;
            let (key, secret) = database.namespace(*namespace)?.create_key(&key)?;
            database.close()?;
            eprintln!("key {} ({}); send it in the header X-Auth-Token:", key.id, key.role.name());
            print(format!("{}\n", secret.reveal()).as_bytes())
        }
        KeysCommand::List { path } => {
            let keys = existing(path, true)?.keys()?;
            let now = SystemTime::now();
            let lines = keys.iter().map(|key| line(key, now)).collect::<String>();
            print(
                format!(
                    "{:<18}{:<11}{:<11}{:<22}name\n{lines}",
                    "id", "role", "namespace", "state"
                )
                .as_bytes(),
            )
        }
        KeysCommand::Revoke { path, id } => {
            let database = existing(path, false)?;
            database.revoke_key(id)?;
            database.close()?;
            print(format!("key {id} is revoked\n").as_bytes())
        }
    }
}

/// Runs a command about namespaces.
///
/// # Errors
///
/// As the operation.
pub(super) fn namespaces(command: &NamespacesCommand) -> Result<()> {
    match command {
        NamespacesCommand::Create { path } => {
            let database = existing(path, false)?;
            let id = database.create_namespace(None)?;
            database.close()?;
            print(format!("{id}\n").as_bytes())
        }
        NamespacesCommand::List { path } => {
            let ids = existing(path, true)?.namespaces()?;
            print(ids.iter().map(|id| format!("{id}\n")).collect::<String>().as_bytes())
        }
        NamespacesCommand::Drop { path, id } => {
            let database = existing(path, false)?;
            database.drop_namespace(*id)?;
            database.close()?;
            print(format!("namespace {id} is dropped\n").as_bytes())
        }
    }
}

/// Opens an existing database: listing keys must not create one by mistake.
fn existing(path: &Path, read_only: bool) -> Result<Database> {
    Database::open(path, OpenOptions { read_only: true, ..OpenOptions::default() })?;
    Database::open(path, OpenOptions { read_only, ..OpenOptions::default() })
}

fn lifetime(text: &str) -> Result<Duration> {
    let time = parse_time(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| Error::query(format!("--expires {text}: expected a time like 30d")))
}

fn line(key: &ApiKey, now: SystemTime) -> String {
    let state = match (key.revoked, key.expires) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(end)) if end <= now => "ended".to_owned(),
        (None, Some(end)) => {
            let left = end.duration_since(now).unwrap_or_default().as_secs();
            format!("holds for {} h {} min", left / 3600, left % 3600 / 60)
        }
        (None, None) => "holds".to_owned(),
    };
    let made = key.made.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let name = if key.name.is_empty() { format!("(made at {made})") } else { shown(&key.name) };
    format!("{:<18}{:<11}{:<11}{state:<22}{name}\n", key.id, key.role.name(), key.namespace)
}

/// A name without what could move the cursor of a terminal.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
