//! A value of an option, and where it comes from.

use super::options::{Shape, key_of, parts};
use clap::Arg;
use std::ffi::{OsStr, OsString};
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// The text shown for a secret.
pub(super) const MASK: &str = "***";

/// The names in texts of `name=value` whose values are no secrets. All others are masked: what is
/// mistyped may be one.
const PUBLIC: [(&str, &[&str]); 2] = [
    ("security", &["whitelist", "anonymous"]),
    ("acl", &["secret-file", "access-ttl", "refresh-ttl", "jwt-alg"]),
];

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A variable of the environment.
    Variable(String),
    /// A line of a file.
    File(PathBuf, usize),
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Variable(name) => write!(f, "variable {name}"),
            Source::File(path, line) => write!(f, "file {}:{line}", path.display()),
        }
    }
}

/// A value that a variable or a file gives to an option.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// The name of the option without dashes.
    pub key: String,
    /// The value; `true` or `false` for an option without one.
    pub text: OsString,
    /// Where it comes from.
    pub source: Source,
}

impl Setting {
    /// Returns the setting as a word of the command line; `None` for an option that is not given.
    pub(super) fn word(&self, option: &Arg) -> Option<OsString> {
        let mut word = OsString::from(format!("--{}", self.key));
        match Shape::of(option) {
            Shape::Switch => return (self.text == "true").then_some(word),
            _ if !option.is_positional() => {}
            // A path that begins with a dash would be an option.
            _ if self.text.to_string_lossy().starts_with('-') => {
                return Some(PathBuf::from(".").join(&self.text).into());
            }
            _ => return Some(self.text.clone()),
        }
        word.push("=");
        word.push(&self.text);
        Some(word)
    }

    /// Whether a message is about this setting: it names its option, or shows `name=value`.
    pub(super) fn is_named_by(&self, message: &str) -> bool {
        let text = self.text.to_string_lossy();
        if text.contains('=') && message.contains(&*text) {
            return true;
        }
        let flag = format!("--{}", self.key);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '-';
        message.match_indices(&flag).any(|(at, _)| !message[at + flag.len()..].starts_with(is_part))
    }
}

/// A value as it is shown: without secrets.
pub(super) fn shown(option: &Arg, text: &OsStr) -> String {
    let (key, text) = (key_of(option), text.to_string_lossy());
    let value_names = option.get_value_names().unwrap_or_default();
    if value_names.iter().any(|name| name == "SECRET") {
        return MASK.to_owned();
    }
    match PUBLIC.iter().find(|(name, _)| *name == key) {
        Some((_, public)) => {
            let shown = parts(&text).map(|part| match part.split_once('=') {
                Some((name, _)) if public.contains(&name.trim()) => part.to_owned(),
                Some((name, _)) => format!("{}={MASK}", name.trim()),
                None => MASK.to_owned(),
            });
            shown.collect::<Vec<_>>().join("; ")
        }
        None => without_user(&text),
    }
}

/// A URL without a user and a password; other texts as they are.
fn without_user(text: &str) -> String {
    let url = text.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let at = rest[..end].rfind('@')?;
        Some(format!("{scheme}://{MASK}{}", &rest[at..]))
    });
    url.unwrap_or_else(|| text.to_owned())
}
