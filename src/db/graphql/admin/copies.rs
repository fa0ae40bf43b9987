//! Exports and backups that a request requests.

use crate::db::Database;
use crate::db::graphql::admin::namespaces::named;
use crate::db::graphql::admin::tasks::{PATIENCE, Status, Task};
use crate::db::graphql::admin::{Folder, Instance};
use crate::db::guard::guarded;
use hexgraph_base::types::{Error, Result};
use hexgraph_graphql::request::Value;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the data as text, in the folder of exports: a new folder with the data, the schema, and
/// the GraphQL schema where there is one.
///
/// # Errors
///
/// A fault of the input, or the failure of the export if it ended while the request waited. The
/// failure of a longer export is retained with its task.
pub(super) fn export(
    database: &Database,
    input: Option<&Value>,
    instance: &Instance<'_>,
) -> Result<Json> {
    let extension = match text_of(input, "format").unwrap_or("rdf") {
        "rdf" | "" => ".rdf.gz",
        "json" => ".jsonl.gz",
        other => {
            let hint = "write rdf or json";
            return Err(Error::query(format!("invalid export format: {other}")).with_hint(hint));
        }
    };
    // As Dgraph has it, -1 represents all namespaces.
    let is_for_all = input.and_then(|input| input.get("namespace")?.as_int()) == Some(-1);
    let databases = match is_for_all {
        true => database
            .namespaces()?
            .into_iter()
            .map(|id| database.namespace(id))
            .collect::<Result<_>>()?,
        false => vec![named(database, input)?],
    };
    let site = Site::new(database, input, instance)?;
    let task = instance.tasks.start("Export", PATIENCE, move |context| {
        site.fill(|position| {
            let mut files = Vec::new();
            for database in &databases {
                let folder = match databases.len() {
                    1 => position.to_owned(),
                    _ => position.join(format!("namespace-{}", database.namespace_id())),
                };
                let failed = |error| Error::io(format!("creating {}", folder.display()), error);
                fs::create_dir_all(&folder).map_err(failed)?;
                // Files of Dgraph are named after the group of servers that wrote them; there is
                // one here.
                let data = folder.join(format!("g01{extension}"));
                let report = database.export_with(&data, context)?;
                files.extend([data, report.schema]);
                files.extend(report.graphql_schema);
            }
            Ok(files)
        })
    });
    payload("Export", task?)
}

/// Writes the database as it lies on disk to a new folder in the folder of exports: it can be
/// served from there.
///
/// # Errors
///
/// As [`export`].
pub(super) fn backup(
    database: &Database,
    input: Option<&Value>,
    instance: &Instance<'_>,
) -> Result<Json> {
    let (database, site) = (database.clone(), Site::new(database, input, instance)?);
    let task = instance.tasks.start("Backup", PATIENCE, move |context| {
        site.fill(|position| {
            // On this thread: who has given up removes what was written.
            guarded(|| database.save_while(position, &|| context.check()))?;
            Ok(vec![position.to_owned()])
        })
    });
    payload("Backup", task?)
}

fn text_of<'a>(input: Option<&'a Value>, name: &str) -> Option<&'a str> {
    input?.get(name)?.as_str()
}

/// The destination of an export or backup.
struct Site {
    folder: Folder,
    destination: String,
    /// The name of the folder that will be created there. It consists of the number of the newest
    /// commit and the time of the request in seconds since 1970; a number is added if it exists.
    /// What is written may be newer than that commit, since the task may have to wait.
    name: String,
}

impl Site {
    fn new(database: &Database, input: Option<&Value>, instance: &Instance<'_>) -> Result<Site> {
        let Some(folder) = instance.folder else {
            let hint = "start it with `serve --export DIR`";
            let message = "the server has no folder that exports and backups may go to";
            return Err(Error::query(message).with_hint(hint));
        };
        let destination = text_of(input, "destination").unwrap_or_default();
        folder.check(destination)?;
        let name = format!("hexgraph.r{}.t{}", database.commit()?, instance.now);
        Ok(Site { folder: folder.clone(), destination: destination.to_owned(), name })
    }

    /// Has a new folder filled, and returns what clients are reported of the files. Where it fails
    /// nothing of it stays.
    fn fill(&self, fill: impl FnOnce(&Path) -> Result<Vec<PathBuf>>) -> Result<Vec<String>> {
        let position = self.folder.make(&self.destination, &self.name)?;
        match fill(&position) {
            Ok(files) => Ok(files.iter().map(|file| self.folder.shown(file)).collect()),
            Err(error) => {
                // What can't be removed either is left to the operator, who is reported why it
                // failed.
                let _ = fs::remove_dir_all(&position);
                Err(error)
            }
        }
    }
}

/// Words the answer: the files of a task that has ended, or only its number, in hexadecimal, while
/// it waits or runs.
///
/// # Errors
///
/// The failure of the task, if it has failed by now.
fn payload(kind: &str, task: Task) -> Result<Json> {
    let id = format!("{:#x}", task.id);
    let (message, files) = match task.status {
        Status::Success(files) => (format!("{kind} {id} is complete"), Some(files)),
        Status::Failed(message) => return Err(Error::query(message)),
        Status::Queued | Status::Running => (format!("{kind} queued with ID {id}"), None),
    };
    let response = json!({ "code": "Success", "message": message });
    Ok(json!({ "response": response, "exportedFiles": files, "taskId": id }))
}
