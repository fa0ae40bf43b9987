//! One command line of three layers: flags, then variables, then a file, then defaults.
//!
//! What variables and the file set becomes words of the command line, which follow the name
//! of the command, unless a flag is there. So one parser tests values and what they require, and
//! nothing can be set elsewhere that could not be typed.

use super::options::{
    FILE_OPTION, Shape, all_options, key_of, named_command, names_in, parts, settable, variable_of,
};
use super::setting::{Setting, Source};
use super::settings_file::{exposed, read_settings};
use clap::error::ContextKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use hexgraph_base::types::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The values of options that variables and a file set, for one command line.
#[derive(Debug, Default)]
pub(in crate::cli) struct LayeredSettings {
    /// Those that are in force, in the order of the options.
    pub(super) values: Vec<Setting>,
    /// The words of the command line, with those of the settings.
    pub words: Vec<OsString>,
    /// What is unwise.
    pub warnings: Vec<String>,
}

impl LayeredSettings {
    /// Reads what is set for a command line, the name of the program first. `variable` returns the
    /// value of a variable.
    ///
    /// # Errors
    ///
    /// The file, the line or the variable, and what is wrong there.
    pub(in crate::cli) fn read(
        program: &Command,
        words: Vec<OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<LayeredSettings> {
        let (command, end) = named_command(program, &words);
        // What is wrong in the words, the second reading says.
        let lenient = program.clone().ignore_errors(true).try_get_matches_from(&words);
        let (Ok(matches), true) = (lenient, 1 < end) else {
            return Ok(LayeredSettings { words, ..LayeredSettings::default() });
        };
        let mut matches = &matches;
        while let Some((_, deeper)) = matches.subcommand() {
            matches = deeper;
        }
        let options = all_options(program);
        let (mut in_file, mut warnings) = (Vec::new(), Vec::new());
        let named = matches.get_one::<PathBuf>(FILE_OPTION).cloned();
        let named = named.or_else(|| variable(&variable_of(FILE_OPTION)).map(PathBuf::from));
        if let Some(path) = named {
            in_file = read_settings(&path, &options)?;
            warnings.extend(exposed(&path, &in_file, &options));
        }
        let (mut values, mut added) = (Vec::new(), Vec::new());
        for option in settable(command) {
            let set = layers(option, matches, &in_file, &variable)?;
            added.extend(set.iter().filter_map(|setting| setting.word(option)));
            values.extend(set);
        }
        let mut words = words;
        words.splice(end..end, added);
        Ok(LayeredSettings { values, words, warnings })
    }

    /// As [`LayeredSettings::notes`], for the options that an error of the command line is about.
    pub(in crate::cli) fn notes_of(&self, error: &clap::Error) -> Vec<String> {
        let about = [ContextKind::InvalidArg, ContextKind::PriorArg];
        let about = about.iter().filter_map(|kind| error.get(*kind));
        self.notes(&about.map(|options| format!("{options} ")).collect::<String>())
    }

    /// Where the settings come from that a message names by their options, a line each.
    pub(in crate::cli) fn notes(&self, message: &str) -> Vec<String> {
        let named = self.values.iter().filter(|setting| setting.is_named_by(message));
        let mut notes: Vec<String> =
            named.map(|it| format!("note: --{} is set by the {}", it.key, it.source)).collect();
        notes.dedup();
        notes
    }
}

/// The values of an option from variables and the file that are in force.
fn layers(
    option: &Arg,
    matches: &ArgMatches,
    in_file: &[Setting],
    variable: &impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<Setting>> {
    let (key, shape) = (key_of(option), Shape::of(option));
    let id = option.get_id().as_str();
    let typed = matches.value_source(id) == Some(ValueSource::CommandLine);
    let in_file = in_file.iter().filter(|setting| setting.key == key).cloned().collect();
    let in_variable = match variable(&variable_of(&key)) {
        Some(text) => of_variable(&key, shape, &text)?,
        None => Vec::new(),
    };
    let typed_names = || {
        let raw = matches.get_raw(id).filter(|_| typed).into_iter().flatten();
        raw.flat_map(names_in).collect::<Vec<String>>()
    };
    Ok(match shape {
        // Each name is a setting of its own.
        Shape::Named => {
            let mut above = typed_names();
            let mut upper: Vec<Setting> = without(&above, in_variable);
            above.extend(upper.iter().flat_map(|setting| names_in(&setting.text)));
            let mut lower = without(&above, in_file);
            lower.append(&mut upper);
            lower
        }
        _ if typed => Vec::new(),
        _ if !in_variable.is_empty() => in_variable,
        _ => in_file,
    })
}

/// The settings without those of some names.
fn without(names: &[String], settings: Vec<Setting>) -> Vec<Setting> {
    let mut settings = settings;
    settings.retain(|setting| names_in(&setting.text).iter().all(|name| !names.contains(name)));
    settings
}

/// Reads the value of a variable.
fn of_variable(key: &str, shape: Shape, text: &OsStr) -> Result<Vec<Setting>> {
    let name = variable_of(key);
    let wrong = |what: &str| Error::query(format!("the environment variable {name}: {what}"));
    let setting = |text: OsString| Setting {
        key: key.to_owned(),
        text,
        source: Source::Variable(name.clone()),
    };
    let Some(utf8) = text.to_str() else { return Ok(vec![setting(text.to_owned())]) };
    Ok(match (shape, utf8.trim()) {
        (_, "") => return Err(wrong("it is empty: set it to a value, or not at all")),
        _ if is_of_kubernetes(&name, utf8) => Vec::new(),
        (Shape::Switch, "true" | "1" | "yes" | "on") => vec![setting("true".into())],
        (Shape::Switch, "false" | "0" | "no" | "off") => vec![setting("false".into())],
        (Shape::Switch, _) => return Err(wrong("expected true or false")),
        (Shape::List | Shape::Named, text) => parts(text).map(|it| setting(it.into())).collect(),
        (Shape::One | Shape::Joined, text) => vec![setting(text.into())],
    })
}

/// Whether Kubernetes has set a variable: for a service named `hexgraph` each container has
/// `HEXGRAPH_PORT=tcp://ADDRESS:PORT`.
fn is_of_kubernetes(name: &str, text: &str) -> bool {
    let protocols = ["tcp://", "udp://", "sctp://"];
    name.contains("_PORT") && protocols.iter().any(|protocol| text.starts_with(protocol))
}
