//! A file of settings, in TOML: the keys are options without dashes.
//!
//! ```toml
//! port = 8080
//! allow-host = ["graph.example.org"]
//! [limit]                     # the same as limit = ["timeout=60s"]
//! timeout = "60s"
//! ```

use super::options::{Shape, parts};
use super::setting::{Setting, Source, shown};
use clap::Arg;
use hexgraph_base::types::{Error, Result, did_you_mean};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a file of settings.
///
/// # Errors
///
/// What is wrong, and in which line; never a value, since it may be a secret.
pub(super) fn read_settings(path: &Path, options: &BTreeMap<String, &Arg>) -> Result<Vec<Setting>> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Error::io(format!("reading settings from {shown}"), error))?;
    let file = SettingsFile { path, text: &text };
    // The text of the error would show the line, in which a secret may stand.
    let table = DeTable::parse(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        file.error(start, error.message())
    })?;
    let mut settings = Vec::new();
    for (key, value) in table.get_ref() {
        let name = key.get_ref().as_ref();
        let Some(option) = options.get(name) else {
            let hint = did_you_mean(name, options.keys().map(String::as_str));
            let fault = file.error(key.span().start, format!("`{name}` is no setting"));
            return Err(fault.with_hint(hint));
        };
        settings.extend(file.values(name, Shape::of(option), value)?);
    }
    Ok(settings)
}

/// Returns a warning if a file with secrets can be read by others.
pub(super) fn exposed(
    path: &Path,
    settings: &[Setting],
    options: &BTreeMap<String, &Arg>,
) -> Option<String> {
    let is_secret = |it: &Setting| {
        let option = options.get(&it.key);
        option.is_some_and(|option| shown(option, &it.text) != it.text.to_string_lossy())
    };
    let is_exposed = settings.iter().any(is_secret) && others_read(path);
    let path = path.display();
    is_exposed.then(|| format!("{path} has secrets, and other users can read it: chmod 600 {path}"))
}

#[cfg(unix)]
fn others_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn others_read(_: &Path) -> bool {
    false
}

struct SettingsFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl SettingsFile<'_> {
    fn line(&self, start: usize) -> usize {
        let before = self.text.as_bytes().get(..start).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn error(&self, start: usize, message: impl AsRef<str>) -> Error {
        let (path, line) = (self.path.display(), self.line(start));
        Error::query(format!("{path}:{line}: {}", message.as_ref()))
    }

    /// Reads the values of a key.
    fn values(
        &self,
        key: &str,
        shape: Shape,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<Setting>> {
        let mut texts = Vec::new();
        match (shape, value.get_ref()) {
            (Shape::Switch, DeValue::Boolean(set)) => texts.push((set.to_string(), value)),
            (Shape::Switch, _) => return Err(self.wrong(key, "true or false", value)),
            (Shape::List | Shape::Named, DeValue::Array(items)) => {
                for item in items.iter() {
                    texts.push((self.scalar(key, item)?, item));
                }
            }
            (Shape::Named | Shape::Joined, DeValue::Table(table)) => {
                for (name, value) in table {
                    let name = name.get_ref();
                    let items = match value.get_ref() {
                        DeValue::Array(items) => items.iter().collect(),
                        _ => vec![value],
                    };
                    for item in items {
                        let text = self.scalar(&format!("{key}.{name}"), item)?;
                        texts.push((format!("{name}={text}"), item));
                    }
                }
            }
            (Shape::List | Shape::Named, DeValue::Boolean(_) | DeValue::Table(_)) => {
                return Err(self.wrong(key, "a list of strings", value));
            }
            _ => texts.push((self.scalar(key, value)?, value)),
        }
        if shape == Shape::Joined {
            let joined = texts.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join("; ");
            texts = vec![(joined, value)];
        }
        let mut settings = Vec::new();
        for (text, at) in texts {
            let source = Source::File(self.path.to_owned(), self.line(at.span().start));
            let setting =
                |text: &str| Setting { key: key.into(), text: text.into(), source: source.clone() };
            match shape {
                Shape::Named => settings.extend(parts(&text).map(setting)),
                _ => settings.push(setting(&text)),
            }
        }
        Ok(settings)
    }

    /// Reads a string or a number.
    fn scalar(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<String> {
        Ok(match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Integer(number) => match number.radix() {
                10 => number.as_str().to_owned(),
                // Permissions are in octal, and other numbers are not.
                8 => format!("0o{}", number.as_str()),
                _ => return Err(self.wrong(key, "a decimal number", value)),
            },
            _ => return Err(self.wrong(key, "a string or a number", value)),
        })
    }

    fn wrong(&self, key: &str, expected: &str, value: &Spanned<DeValue<'_>>) -> Error {
        let kind = match value.get_ref() {
            DeValue::Integer(number) if number.radix() != 10 => "a number in another base",
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.error(value.span().start, format!("`{key}` is {kind}: expected {expected}"))
    }
}
