//! [`Lock`]: the right to write to a directory, which is the operating system's lock on its file
//! `LOCK` (`flock` on Unix).
//!
//! The system releases the lock with the process, so the file means nothing by itself. Its one
//! line, `PID STARTED PROGRAM`, names the last process that locked it, for messages to others.
//! `STARTED` is the start of that process, in ticks since the machine booted (Linux), or `-`. A
//! line left by a crash, another container or another machine matches no process here, and nobody
//! is named then.

use hexgraph_base::types::{Error, Result};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs, io, process};

pub(super) const LOCK: &str = "LOCK";

/// The most bytes of `LOCK` that are read, and characters of a program's name that are written.
const LINE_MAX: u64 = 512;
const PROGRAM_MAX: usize = 80;

/// The start of a process if the system does not report it.
const UNKNOWN: &str = "-";

/// The lock of the process that writes.
pub(super) struct Lock {
    file: File,
    /// The process that acquired the lock. A forked child has the file too, and must not write.
    process: u32,
    /// Set when the lock is released although the handle is still in use.
    released: OnceLock<()>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file releases the lock only if no other process has the file. A forked child
        // has it until it executes another program, and until then a closed database could not be
        // reopened.
        if self.is_own() {
            self.release();
        }
    }
}

impl Lock {
    /// Locks a directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it is locked already, with the process that has it, and when the system
    /// refuses.
    pub(super) fn acquire(directory: &Path) -> Result<Lock> {
        let path = directory.join(LOCK);
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let context = "this process may not write there; open the database read-only, or make \
                               the directory writable: opening";
                failed(context, &path, error)
            }
            _ => failed("opening", &path, error),
        })?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock { file, process: process::id(), released: OnceLock::new() };
                // A full disk is no reason to refuse: messages then say less.
                let _ = lock.write(&Holder::own());
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                let reason = format!(
                    "the database is open for writing already, {}; close it there, or open it read-only",
                    holder_text(&path)
                );
                Err(failed("locking", &path, io::Error::new(io::ErrorKind::WouldBlock, reason)))
            }
            Err(TryLockError::Error(error)) => Err(failed("locking", &path, error)),
        }
    }

    /// Releases the lock before the handle is dropped.
    pub(super) fn release(&self) {
        if self.released.set(()).is_ok() {
            let _ = self.file.set_len(0);
        }
        // If this fails, the lock is released when the file is closed.
        let _ = self.file.unlock();
    }

    /// False in a child forked from the process that acquired the lock.
    pub(super) fn is_own(&self) -> bool {
        self.process == process::id()
    }

    /// True once it was released.
    pub(super) fn is_released(&self) -> bool {
        self.released.get().is_some()
    }

    /// True while a path names the locked file, and not one recreated there.
    pub(super) fn is_at(&self, directory: &Path) -> bool {
        let there = fs::metadata(directory.join(LOCK));
        there.is_ok_and(|there| self.file.metadata().is_ok_and(|own| is_same_file(&own, &there)))
    }

    fn write(&self, holder: &Holder) -> io::Result<()> {
        let line = holder.to_line();
        // In this order nobody reads an empty file; the rest of a longer line is not part of the
        // first one.
        (&self.file).write_all(line.as_bytes())?;
        self.file.set_len(line.len() as u64)
    }
}

#[cfg(unix)]
fn is_same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// A file that is locked can't be removed here.
#[cfg(not(unix))]
fn is_same_file(_one: &fs::Metadata, _other: &fs::Metadata) -> bool {
    true
}

/// A process that has, or had, a lock.
#[derive(Debug, PartialEq)]
struct Holder {
    process: u32,
    started: String,
    program: String,
}

impl Holder {
    fn own() -> Holder {
        let process = process::id();
        let started = started(process).unwrap_or_else(|| UNKNOWN.to_owned());
        Holder { process, started, program: program(env::args_os().collect()) }
    }

    fn to_line(&self) -> String {
        format!("{} {} {}\n", self.process, self.started, self.program)
    }

    /// Reads the line of a file, which anybody may have written.
    fn of_line(text: &str) -> Option<Holder> {
        let (line, _) = text.split_once('\n')?;
        let (process, rest) = line.split_once(' ')?;
        let (started, name) = rest.split_once(' ')?;
        let (process, program) = (process.parse().ok()?, printable(name));
        Some(Holder { process, started: started.to_owned(), program })
    }

    /// Whether it is a process of this machine that has not ended.
    fn is_running(&self) -> bool {
        match started(self.process) {
            Some(started) => started == self.started,
            // If the system cannot be queried, its lock implies a running process.
            None => !cfg!(target_os = "linux") && self.started == UNKNOWN,
        }
    }
}

/// The holder of a lock that could not be acquired.
fn holder_text(path: &Path) -> String {
    match read_holder(path).filter(Holder::is_running) {
        Some(holder) if holder.process == process::id() => "in this process".to_owned(),
        Some(holder) => format!("in process {} ({})", holder.process, holder.program),
        None => "here or in another process".to_owned(),
    }
}

fn read_holder(path: &Path) -> Option<Holder> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LINE_MAX).read_to_end(&mut bytes).ok()?;
    Holder::of_line(&String::from_utf8_lossy(&bytes))
}

/// The start of a process, as the system counts; `None` if there is no such process, or no `/proc`.
fn started(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses and may have blanks; the start is the 20th field
    // after it.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19).map(str::to_owned)
}

/// The program of a process without its arguments, which may be secret, except for the script,
/// module or command: `python3 load.py`, `python3 -m ipykernel_launcher`, `hexgraph serve`.
fn program(mut arguments: Vec<OsString>) -> String {
    if arguments.is_empty() {
        arguments.extend(env::current_exe().map(OsString::from));
    }
    let name = |at: usize| {
        let argument = Path::new(arguments.get(at)?);
        Some(argument.file_name().unwrap_or(argument.as_os_str()).to_string_lossy().into_owned())
    };
    let runs = match name(1) {
        Some(flag) if flag == "-m" => name(2).map(|module| format!("-m {module}")),
        Some(flag) if flag.starts_with('-') => None,
        other => other,
    };
    let words = [name(0), runs].into_iter().flatten().collect::<Vec<_>>();
    match words.is_empty() {
        true => UNKNOWN.to_owned(),
        false => printable(&words.join(" ")),
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).take(PROGRAM_MAX).collect()
}

/// Makes the error of a step, such as `opening`, that the system refused for a path.
pub(super) fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    Error::io(format!("{doing} {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(directory: &Path) -> String {
        Lock::acquire(directory).err().expect("it is locked").to_string()
    }

    #[test]
    fn a_lock_is_released_though_a_child_process_has_its_file() {
        let root = tempfile::tempdir().unwrap();
        let first = Lock::acquire(root.path()).unwrap();
        let inherited = first.file.try_clone().unwrap();
        let error = refused(root.path());
        assert!(error.contains("open for writing already, in this process"), "{error}");
        drop(first);
        assert_eq!(fs::read(root.path().join(LOCK)).unwrap(), b"");
        drop(Lock::acquire(root.path()).unwrap());
        drop(inherited);
    }

    /// The lock is held, but not by whom the file names: it was left, or written by who knows whom.
    #[test]
    fn a_stale_line_names_nobody() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(LOCK);
        // The line left by a crash is longer than its replacement.
        fs::write(&path, "x".repeat(300)).unwrap();
        let _lock = Lock::acquire(root.path()).unwrap();
        let own = fs::read_to_string(&path).unwrap();
        let holder = Holder::of_line(&own).unwrap();
        assert_eq!(holder, Holder::own());
        let id = process::id();
        for line in [
            String::new(),
            "\n".to_owned(),
            format!("{id}\n"),
            format!("{id} {}", holder.started),
            format!("{id} 1 other\n"),
            format!("4294967295 {} other\n", holder.started),
            "x".repeat(10_000),
            "1 - init\n".to_owned(),
        ] {
            if line.starts_with("1 -") && !cfg!(target_os = "linux") {
                continue;
            }
            fs::write(&path, &line).unwrap();
            let error = refused(root.path());
            assert!(error.contains("already, here or in another process;"), "{line}: {error}");
        }
    }

    #[test]
    fn a_file_that_is_made_anew_is_another_one() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("db");
        fs::create_dir(&path).unwrap();
        let lock = Lock::acquire(&path).unwrap();
        assert!(lock.is_at(&path) && lock.is_at(&path.join("..").join("db")));
        fs::remove_dir_all(&path).unwrap();
        assert!(!lock.is_at(&path));
        fs::create_dir(&path).unwrap();
        let second = Lock::acquire(&path).unwrap();
        assert!(!lock.is_at(&path) && second.is_at(&path));
    }

    #[test]
    fn a_program_is_named_without_its_arguments() {
        for (arguments, name) in [
            (&["/usr/bin/python3", "/home/ada/load.py", "--key=secret"][..], "python3 load.py"),
            (
                &["python3", "-m", "ipykernel_launcher", "-f", "x.json"],
                "python3 -m ipykernel_launcher",
            ),
            (&["python3", "-c", "import secret"], "python3"),
            (&["hexgraph", "serve", "films"], "hexgraph serve"),
            (&["a\nb\u{1b}"], "a?b?"),
        ] {
            assert_eq!(program(arguments.iter().map(OsString::from).collect()), name);
        }
    }
}
