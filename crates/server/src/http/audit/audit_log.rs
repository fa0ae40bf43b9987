//! [`AuditLog`]: a file to which a thread appends lines, and which gives way to a new one when it is long.

use hexgraph_base::types::{Error, Result};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{fs, io, thread};
use tokio::sync::mpsc;

/// So many lines may wait for the disk. Requests whose lines find no place wait too, so none is lost.
const LINES_MAX: usize = 4096;

/// What is wanted of an audit log.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// The file.
    pub path: PathBuf,
    /// The length, in bytes, from which it gives way to a new one.
    pub bytes_max: u64,
    /// How many that were full are kept, as `PATH.1`, the newest, and so on.
    pub kept: usize,
}

impl AuditOptions {
    /// A file that gives way at 100 MiB to the next, of which ten are kept.
    pub fn new(path: PathBuf) -> AuditOptions {
        AuditOptions { path, bytes_max: 100 << 20, kept: 10 }
    }
}

/// What a request asks for, once it is read. It is noted where the body is, and told with the answer.
pub(in crate::http) type Slot = Arc<OnceLock<String>>;

/// The audit log of a server.
pub(in crate::http) struct AuditLog {
    sender: mpsc::Sender<String>,
}

impl AuditLog {
    /// Opens the file, or makes one that its owner alone may read, and starts the thread that writes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the system refuses the file or the thread.
    pub(in crate::http) fn open(options: AuditOptions) -> Result<AuditLog> {
        let shown = options.path.display().to_string();
        let failed = |error| Error::io(format!("opening the audit log {shown}"), error);
        let file = append_to(&options.path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        let writer = Writer { options, file, length, lost: 0 };
        let thread = thread::Builder::new().name("hexgraph-audit".to_owned());
        thread.spawn(move || writer.write_all(receiver)).map_err(failed)?;
        Ok(AuditLog { sender })
    }

    /// Notes a line as soon as there is a place for it.
    pub(in crate::http) async fn note(&self, line: &Value) {
        // The thread ends with the last sender, so it is there.
        let _ = self.sender.send(format!("{line}\n")).await;
    }
}

/// The thread's side.
struct Writer {
    options: AuditOptions,
    file: File,
    length: u64,
    /// How many lines could not be written since the last that was.
    lost: u64,
}

impl Writer {
    fn write_all(mut self, mut receiver: mpsc::Receiver<String>) {
        let mut lines = Vec::new();
        while 0 < receiver.blocking_recv_many(&mut lines, LINES_MAX) {
            let mut bytes = lines.concat().into_bytes();
            if 0 < self.lost {
                let told = format!("{{\"lost\":{}}}\n", self.lost);
                bytes.splice(0..0, told.into_bytes());
            }
            match self.append(&bytes) {
                Ok(()) => self.lost = 0,
                Err(error) => {
                    if self.lost == 0 {
                        let path = self.options.path.display();
                        eprintln!("the audit log {path} can't be written: {error}; lines are lost");
                    }
                    self.lost += lines.len() as u64;
                }
            }
            lines.clear();
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.options.bytes_max <= self.length {
            self.begin_next()?;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Moves the files on by one, and begins a new one.
    fn begin_next(&mut self) -> io::Result<()> {
        let numbered = |number: usize| {
            let mut name = self.options.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        // Each file takes the number behind its own, from the last one on, so that none is overwritten but
        // the oldest.
        for number in (1..self.options.kept).rev() {
            // There may be fewer yet.
            let _ = fs::rename(numbered(number), numbered(number + 1));
        }
        match self.options.kept {
            0 => fs::remove_file(&self.options.path)?,
            _ => fs::rename(&self.options.path, numbered(1))?,
        }
        self.file = append_to(&self.options.path)?;
        self.length = 0;
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_give_way_and_no_line_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let options = AuditOptions { path: path.clone(), bytes_max: 1000, kept: 2 };
        let log = AuditLog::open(options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for number in 0..100 {
            runtime.block_on(log.note(&json!({ "number": number, "rest": "x".repeat(50) })));
            // Lines that come at once go to one file.
            if number % 10 == 0 {
                thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        drop(log);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        let whole = || read("audit.jsonl.2") + &read("audit.jsonl.1") + &read("audit.jsonl");
        for _ in 0..200 {
            if whole().contains("\"number\":99,") {
                break;
            }
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let whole = whole();
        let numbers: Vec<u64> = whole
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["number"].as_u64().unwrap())
            .collect();
        assert!(numbers.is_sorted() && numbers.last() == Some(&99), "{numbers:?}");
        assert!(!read("audit.jsonl.1").is_empty() && read("audit.jsonl.3").is_empty());
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
        assert!(AuditLog::open(AuditOptions::new(folder.path().to_owned())).is_err());
    }
}
