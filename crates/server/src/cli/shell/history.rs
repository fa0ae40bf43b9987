//! The file of what was typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs, io};

/// The most statements that the file has.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// The file of the history: that of `HEXGRAPH_HISTORY`, where an empty value means none, or else
/// one in the directory for the state of the user's programs. Its directory is created, and only
/// the user may read it. `None` where there is no such directory.
///
/// # Errors
///
/// `Io` when the directory can't be created.
pub(super) fn history_file() -> io::Result<Option<PathBuf>> {
    let Some(file) = path(&|name| env::var_os(name)) else { return Ok(None) };
    if let Some(folder) = file.parent().filter(|folder| !folder.exists()) {
        fs::create_dir_all(folder)?;
        only_for_owner(folder)?;
    }
    Ok(Some(file))
}

/// `variable` returns a variable of the environment.
fn path(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = variable("HEXGRAPH_HISTORY") {
        return Some(PathBuf::from(file)).filter(|file| !file.as_os_str().is_empty());
    }
    let folder = |name: &str| {
        let folder = variable(name).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".local").join("state")));
    state.map(|state| state.join("hexgraph").join("history"))
}

#[cfg(unix)]
fn only_for_owner(folder: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Elsewhere the directory of a user's programs is the user's alone.
#[cfg(not(unix))]
fn only_for_owner(_: &std::path::Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_file() {
        let of = |variables: &[(&str, &str)]| {
            path(&|name| {
                variables
                    .iter()
                    .find(|(variable, _)| *variable == name)
                    .map(|(_, value)| value.into())
            })
        };
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.local/state/hexgraph/history".into()));
        let both = [("HOME", "/h"), ("XDG_STATE_HOME", "/s")];
        assert_eq!(of(&both), Some("/s/hexgraph/history".into()));
        assert_eq!(of(&[("HOME", "/h"), ("XDG_STATE_HOME", "s")]), of(&[("HOME", "/h")]));
        assert_eq!(of(&[("HEXGRAPH_HISTORY", "/f"), ("HOME", "/h")]), Some("/f".into()));
        assert_eq!(of(&[("HEXGRAPH_HISTORY", ""), ("HOME", "/h")]), None);
        assert_eq!(of(&[]), None);
    }
}
