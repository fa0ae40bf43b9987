//! [`AuditLog`]: a file to which a thread appends lines, which is rotated when it is long.

use crate::http::logs::{Level, log};
use hexgraph_base::types::{Error, Result};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::{fs, io, thread};
use tokio::sync::mpsc;

/// So many lines may wait for the disk. Requests whose lines find no slot wait too, so none is
/// lost.
const LINES_MAX: usize = 4096;

/// What is requested of an audit log.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// The file.
    pub path: PathBuf,
    /// The length, in bytes, from which it is rotated.
    pub bytes_max: u64,
    /// How many that were full are retained, as `PATH.1`, the newest, and so on.
    pub retained: usize,
}

impl AuditOptions {
    /// A file that is rotated at 100 MiB, with ten old files.
    pub fn new(path: PathBuf) -> AuditOptions {
        AuditOptions { path, bytes_max: 100 << 20, retained: 10 }
    }
}

/// What a request requests, once it is read. It is recorded with the body, and logged with the
/// answer.
pub(in crate::http) type Slot = Arc<OnceLock<String>>;

/// The audit log of a server.
pub(in crate::http) struct AuditLog {
    sender: mpsc::Sender<String>,
}

impl AuditLog {
    /// Opens the file, or makes one that its owner alone may read, and starts the thread that
    /// writes. Also returns a handle to wait until that thread has written all lines.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system the file or the thread.
    pub(in crate::http) fn open(mut options: AuditOptions) -> Result<(AuditLog, AuditEnd)> {
        let shown = options.path.display().to_string();
        let failed = |error| Error::io(format!("opening the audit log {shown}"), error);
        // It is opened again by rotation, perhaps in another working directory.
        options.path = std::path::absolute(&options.path).map_err(failed)?;
        let file = append_to(&options.path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        let writer = Writer { options, file, length, is_torn: false, lost: 0, has_said: false };
        let thread = thread::Builder::new().name("hexgraph-audit".to_owned());
        let (going, end) = sync_channel(0);
        thread.spawn(move || writer.write_all(receiver, going)).map_err(failed)?;
        Ok((AuditLog { sender }, AuditEnd(end)))
    }

    /// Returns when there is space for a line. It is not reserved: a slow request would block
    /// others.
    pub(in crate::http) async fn has_position(&self) {
        // It fails where the thread that writes has, and then nothing is worth waiting for.
        drop(self.sender.reserve().await);
    }

    /// Notes a line as soon as there is space for it.
    pub(in crate::http) async fn note(&self, line: &Value) {
        // The thread exits after the last sender, so it exists.
        let _ = self.sender.send(format!("{line}\n")).await;
    }
}

/// The end of the thread that writes an audit log.
pub(in crate::http) struct AuditEnd(Receiver<()>);

impl AuditEnd {
    /// Waits until all lines are written, which begins when the [`AuditLog`] is dropped, or for a
    /// time where the disk is stuck.
    pub(in crate::http) fn wait(self, most: Duration) {
        // Nothing is ever sent: the wait is over when the thread has dropped its sender.
        let _ = self.0.recv_timeout(most);
    }
}

/// The thread's side. It never gives up: where a line can't be written it is counted, and each line
/// that comes is a new try.
struct Writer {
    options: AuditOptions,
    file: File,
    length: u64,
    /// Whether the last line is incomplete, since the disk stored only a part of it.
    is_torn: bool,
    /// How many lines could not be written since the last that was.
    lost: u64,
    /// Whether it was said that something is wrong, since all was right for the last time.
    has_said: bool,
}

impl Writer {
    /// Writes lines until nobody can send any. `going` is dropped then.
    fn write_all(mut self, mut receiver: mpsc::Receiver<String>, _going: SyncSender<()>) {
        let mut lines = Vec::new();
        while 0 < receiver.blocking_recv_many(&mut lines, LINES_MAX) {
            let done = self.write_some(&lines);
            if let Err(message) = &done
                && !self.has_said
            {
                let path = self.options.path.display();
                log(Level::Error, &format!("the audit log {path} {message}"), &[]);
            }
            self.has_said = done.is_err();
            lines.clear();
        }
    }

    /// Writes lines, or counts those that can't be. Returns what is wrong, in words.
    fn write_some(&mut self, lines: &[String]) -> std::result::Result<(), String> {
        let grown = self.make_ready();
        let reported = match self.lost {
            0 => String::new(),
            lost => format!("{{\"lost\":{lost}}}\n"),
        };
        let bytes = reported.clone() + &lines.concat();
        let mut rest = bytes.as_bytes();
        let written = match &grown {
            Err(Unready::Gone(_)) => Ok(()),
            _ => self.append(&mut rest),
        };
        let lines_len = bytes.len() - reported.len();
        self.lost = match rest.len() <= lines_len {
            true => rest.iter().map(|&byte| u64::from(byte == b'\n')).sum(),
            // Not even how many were lost before is reported yet.
            false => self.lost + lines.len() as u64,
        };
        match (written, grown) {
            (Err(error), _) | (_, Err(Unready::Gone(error))) => {
                Err(format!("can't be written: {error}; lines are lost until it can"))
            }
            (_, Err(Unready::Full(error))) => {
                Err(format!("can't be rotated: {error}; it grows until it can"))
            }
            (Ok(()), Ok(())) => Ok(()),
        }
    }

    /// Has a file at the path, which is not too long. A removed file is created again.
    fn make_ready(&mut self) -> std::result::Result<(), Unready> {
        if !self.is_there() {
            let open = || {
                let file = append_to(&self.options.path)?;
                let length = file.metadata()?.len();
                Ok((file, length))
            };
            (self.file, self.length) = open().map_err(Unready::Gone)?;
            self.is_torn = false;
        }
        if self.options.bytes_max <= self.length {
            self.begin_next().map_err(Unready::Full)?;
        }
        Ok(())
    }

    /// Whether the file at the path is the one that is written to.
    fn is_there(&self) -> bool {
        match fs::metadata(&self.options.path) {
            Ok(result) => is_same(&self.file, &result),
            // What can't be looked at may still be there.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Writes bytes to the file. `rest` becomes what is not written.
    fn append(&mut self, rest: &mut &[u8]) -> io::Result<()> {
        if self.is_torn {
            self.file.write_all(b"\n")?;
            (self.is_torn, self.length) = (false, self.length + 1);
        }
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => {
                    self.is_torn = rest[len - 1] != b'\n';
                    self.length += len as u64;
                    *rest = &rest[len..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Begins a new file, and moves those before on by one. The new one is made first, next to the
    /// others, so that nothing has moved where there is no space for it.
    fn begin_next(&mut self) -> io::Result<()> {
        let path = &self.options.path;
        let numbered = |number: usize| {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        let next = append_to(&numbered(0))?;
        if 0 < self.options.retained {
            // Each file gets the next number, up to the first free one, so that only the oldest
            // file is overwritten, if all numbers are used.
            let is_free = |number: &usize| !numbered(*number).exists();
            let free = (1..self.options.retained).find(is_free).unwrap_or(self.options.retained);
            for number in (1..free).rev() {
                fs::rename(numbered(number), numbered(number + 1))?;
            }
            fs::rename(path, numbered(1))?;
        }
        fs::rename(numbered(0), path)?;
        (self.file, self.length, self.is_torn) = (next, 0, false);
        Ok(())
    }
}

/// Why there is no file to write to as it should be.
enum Unready {
    /// It is gone, and can't be made anew.
    Gone(io::Error),
    /// It is too long, and can't be rotated.
    Full(io::Error),
}

#[cfg(unix)]
fn is_same(file: &File, result: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (result.dev(), result.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &fs::Metadata) -> bool {
    // An open file can't be replaced there.
    true
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
    fn files_are_rotated_and_no_line_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let options = AuditOptions { path: path.clone(), bytes_max: 1000, retained: 2 };
        let (log, end) = AuditLog::open(options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for number in 0..100 {
            runtime.block_on(log.note(&json!({ "number": number, "rest": "x".repeat(50) })));
            // Lines that come at once go to one file.
            if number % 10 == 0 {
                thread::sleep(Duration::from_millis(20));
            }
        }
        drop(log);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        end.wait(Duration::from_secs(60));
        let full = read("audit.jsonl.2") + &read("audit.jsonl.1") + &read("audit.jsonl");
        let numbers: Vec<u64> = full
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["number"].as_u64().unwrap())
            .collect();
        assert!(numbers.is_sorted() && numbers.last() == Some(&99), "{numbers:?}");
        assert!(!read("audit.jsonl.1").is_empty() && read("audit.jsonl.3").is_empty());
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
        assert!(AuditLog::open(AuditOptions::new(folder.path().to_owned())).is_err());
    }

    #[test]
    fn requests_wait_while_the_queue_of_lines_is_full() {
        let (sender, mut receiver) = mpsc::channel(1);
        let log = AuditLog { sender };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            log.has_position().await;
            log.note(&json!({ "number": 1 })).await;
            let soon = std::time::Duration::from_millis(20);
            assert!(tokio::time::timeout(soon, log.has_position()).await.is_err());
            receiver.recv().await.unwrap();
            log.has_position().await;
        });
    }

    /// A writer of lines of twelve bytes, without its thread.
    fn writer(path: &Path, bytes_max: u64, retained: usize) -> Writer {
        let file = append_to(path).unwrap();
        let options = AuditOptions { path: path.to_owned(), bytes_max, retained };
        Writer { options, file, length: 0, is_torn: false, lost: 0, has_said: false }
    }

    fn line(number: usize) -> [String; 1] {
        [format!("line {number:06}\n")]
    }

    #[test]
    fn a_file_that_is_gone_is_made_anew_and_no_other_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut writer = writer(&path, 30, 10);
        for number in 0..10 {
            writer.write_some(&line(number)).unwrap();
        }
        let names = || {
            let files = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> =
                files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(), ["a.log", "a.log.1", "a.log.2", "a.log.3"]);
        fs::remove_file(&path).unwrap();
        writer.write_some(&line(10)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 000010\n");
        assert_eq!(names(), ["a.log", "a.log.1", "a.log.2", "a.log.3"]);
        // A number that is free is used before the oldest file has to move.
        fs::remove_file(folder.path().join("a.log.2")).unwrap();
        for number in 11..14 {
            writer.write_some(&line(number)).unwrap();
        }
        assert_eq!(names(), ["a.log", "a.log.1", "a.log.2", "a.log.3"]);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("a.log.3").starts_with("line 000000") && read("a.log").ends_with("13\n"));
        assert!(read("a.log.1").starts_with("line 000010"));
    }

    #[test]
    fn a_file_that_cannot_be_rotated_grows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut writer = writer(&path, 30, 2);
        // The new file can't be made where a folder is.
        fs::create_dir(folder.path().join("a.log.0")).unwrap();
        let faults = (0..6).filter(|&number| writer.write_some(&line(number)).is_err()).count();
        assert_eq!((faults, fs::read_to_string(&path).unwrap().lines().count()), (3, 6));
        assert!(!folder.path().join("a.log.1").exists());
        fs::remove_dir(folder.path().join("a.log.0")).unwrap();
        writer.write_some(&line(6)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 000006\n");
        assert_eq!(fs::read_to_string(folder.path().join("a.log.1")).unwrap().lines().count(), 6);
    }

    #[test]
    fn lost_lines_are_counted_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let path = inner.join("a.log");
        let mut writer = writer(&path, 1000, 2);
        fs::remove_dir_all(&inner).unwrap();
        for number in 0..3 {
            writer.write_some(&line(number)).unwrap_err();
        }
        fs::create_dir(&inner).unwrap();
        writer.write_some(&line(3)).unwrap();
        writer.write_some(&line(4)).unwrap();
        let want = "{\"lost\":3}\nline 000003\nline 000004\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), want);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let mut writer = writer(&path, 1000, 2);
        for number in 0..2 {
            let reported = writer.write_some(&line(number)).unwrap_err();
            assert!(reported.starts_with("can't be written: "), "{reported}");
        }
        fs::remove_file(&path).unwrap();
        writer.write_some(&line(2)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"lost\":2}\nline 000002\n");
    }
}
