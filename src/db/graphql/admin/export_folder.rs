//! The one folder that requests may have files written to.
//!
//! A destination comes from a request, so it is not trusted. It has to be a path below the folder
//! without special components, and each component is checked again after links are resolved. Files
//! are written to a new folder in it, so no existing file is replaced.

use hexgraph_base::types::{Error, Result};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// The number of suffixes that are tried for a folder whose name exists.
const NAMES_MAX: u32 = 1000;

/// The folder that the operator allows requests to write to.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The absolute path, with all links resolved.
    root: PathBuf,
}

impl Folder {
    /// Takes the folder of a path, and creates it if it is missing.
    ///
    /// ```
    /// use hexgraph::db::graphql::Folder;
    ///
    /// let outer = tempfile::tempdir().unwrap();
    /// Folder::new(&outer.path().join("exports"))?;
    /// assert!(outer.path().join("exports").is_dir());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` when it can't be created or resolved.
    pub fn new(path: &Path) -> Result<Folder> {
        let failed = |error| Error::io(format!("the folder of exports {}", path.display()), error);
        fs::create_dir_all(path).map_err(failed)?;
        let root = fs::canonicalize(path).map_err(failed)?;
        if !root.is_dir() {
            return Err(failed(io::Error::from(ErrorKind::NotADirectory)));
        }
        Ok(Folder { root })
    }

    /// Checks, by its text alone, that a destination lies within the folder.
    ///
    /// ```
    /// use hexgraph::db::graphql::Folder;
    ///
    /// let outer = tempfile::tempdir().unwrap();
    /// let folder = Folder::new(outer.path())?;
    /// assert!(folder.check("2026/january").is_ok());
    /// assert!(folder.check("../elsewhere").is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` when it is not.
    pub fn check(&self, destination: &str) -> Result<()> {
        self.steps(destination).map(drop)
    }

    /// A new folder at a destination, which is empty for the folder itself, relative to it, or its
    /// absolute path. Its name is `name`, with a number if that exists.
    ///
    /// ```
    /// use hexgraph::db::graphql::Folder;
    ///
    /// let outer = tempfile::tempdir().unwrap();
    /// let folder = Folder::new(outer.path())?;
    /// let first = folder.make("", "backup")?;
    /// let second = folder.make("", "backup")?;
    /// assert_eq!((folder.shown(&first), folder.shown(&second)), ("backup".into(), "backup-2".into()));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Query` for a destination that is not within; `Io` on an error of the operating system.
    pub fn make(&self, destination: &str, name: &str) -> Result<PathBuf> {
        let mut position = self.root.clone();
        for step in self.steps(destination)? {
            position = self.enter(&position.join(step), destination)?;
        }
        for number in 1..=NAMES_MAX {
            let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
            let path = position.join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err(Error::query(format!("{destination}: there are too many of the name {name}")))
    }

    /// Returns the path of a file relative to the folder. Clients see this form.
    ///
    /// ```
    /// use hexgraph::db::graphql::Folder;
    ///
    /// let outer = tempfile::tempdir().unwrap();
    /// let folder = Folder::new(outer.path())?;
    /// assert_eq!(folder.shown(&folder.make("", "backup")?), "backup");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Returns the plain names that lead from the folder to a destination.
    fn steps<'a>(&self, destination: &'a str) -> Result<Vec<&'a Path>> {
        if destination.contains("://") || destination.starts_with('\\') {
            let hint = "copy the files when they are written";
            let message =
                format!("{destination}: exports and backups go to a folder of the server");
            return Err(Error::query(message).with_hint(hint));
        }
        let path = Path::new(destination);
        let below = match path.is_absolute() {
            true => path.strip_prefix(&self.root).map_err(|_| outside(destination))?,
            false => path,
        };
        let mut steps = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(name) if is_plain(name.to_str()) => steps.push(Path::new(name)),
                Component::CurDir => {}
                _ => return Err(outside(destination)),
            }
        }
        Ok(steps)
    }

    /// Resolves all links of a path and returns its folder, which is created where it is missing.
    fn enter(&self, path: &Path, destination: &str) -> Result<PathBuf> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(failed(path, error));
            }
            _ => {}
        }
        let position = fs::canonicalize(path).map_err(|error| failed(path, error))?;
        if !position.starts_with(&self.root) {
            return Err(outside(destination));
        }
        if !position.is_dir() {
            return Err(failed(path, io::Error::from(ErrorKind::NotADirectory)));
        }
        Ok(position)
    }
}

/// Returns true if a name is plain. Names that a file system or a terminal may interpret are not.
fn is_plain(name: Option<&str>) -> bool {
    name.is_some_and(|name| !name.contains(['\\', ':']) && !name.contains(char::is_control))
}

fn outside(destination: &str) -> Error {
    let hint = "name a folder below it, without `..`";
    Error::query(format!("{destination:?} is not in the folder of exports")).with_hint(hint)
}

fn failed(path: &Path, error: io::Error) -> Error {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Error::io(format!("making the folder {}", name.unwrap_or_default()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_destinations_lead_nowhere() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("exports");
        let folder = Folder::new(&root).unwrap();
        let secret = outer.path().join("secret");
        fs::create_dir(&secret).unwrap();
        fs::write(root.join("file"), "").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, root.join("link")).unwrap();
            std::os::unix::fs::symlink("..", root.join("up")).unwrap();
            std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        }
        let full = |name: &str| outer.path().join(name).display().to_string();
        let mut hostile = vec![
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "./..",
            "/",
            "/etc",
            "/tmp/x",
            "//x",
            "C:\\x",
            "C:x",
            "\\\\host\\x",
            "..\\x",
            "a\\..\\..\\x",
            "a\0b",
            "a\nb",
            "file",
            "file/x",
            "s3://bucket/x",
            "minio://h/x",
            "file:///tmp",
            "http://169.254.169.254/",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<String>>();
        hostile.extend([full("secret"), full("exports/../secret"), full("exports2")]);
        hostile.push("x".repeat(300));
        if cfg!(unix) {
            hostile.extend(["link", "link/x", "up", "up/secret", "dangling"].map(str::to_owned));
        }
        for destination in hostile {
            let made = folder.make(&destination, "e");
            let error = made.expect_err(&destination);
            let why = match &error {
                Error::Query { message, .. } => message,
                Error::Io { context, .. } => context,
                _ => panic!("{destination:?}: {error}"),
            };
            let existing = [
                "is not in the folder of exports",
                "exports and backups go to a folder of the server",
                "making the folder ",
            ];
            assert!(
                existing.iter().any(|existing| why.contains(existing)),
                "{destination:?}: {error}"
            );
        }
        let names = |path: &Path| {
            let entries = fs::read_dir(path).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        assert!(names(&secret).is_empty());
        assert_eq!(names(outer.path()).len(), 2);
        assert!(!root.join("nowhere").exists());
    }

    #[test]
    fn folders_are_new() {
        let outer = tempfile::tempdir().unwrap();
        let folder = Folder::new(&outer.path().join("a/b")).unwrap();
        let made = |destination: &str| folder.shown(&folder.make(destination, "e").unwrap());
        assert_eq!(made(""), "e");
        assert_eq!(made("."), "e-2");
        assert_eq!(made("c/./d/"), "c/d/e");
        assert_eq!(made("c/d"), "c/d/e-2");
        let full = folder.root.join("c").display().to_string();
        assert_eq!(made(&full), "c/e");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.root.join("c"), folder.root.join("inner")).unwrap();
            assert_eq!(made("inner"), "c/e-2");
        }
        assert!(Folder::new(&outer.path().join("a/b/e/../../../x/y")).is_ok());
        fs::write(outer.path().join("file"), "").unwrap();
        let error = Folder::new(&outer.path().join("file")).expect_err("it is a file").to_string();
        assert!(error.starts_with("the folder of exports "), "{error}");
    }
}
