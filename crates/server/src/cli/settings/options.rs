//! Which options can be set by variables and in a file, and by which names: all of `serve`, and
//! those that several other commands have in one sense. The names follow from the definition of
//! the command line, so a new option of `serve` has its variable and its key.

use clap::{Arg, ArgAction, Command};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The option that names the file, on all commands.
pub(super) const FILE_OPTION: &str = "config";

/// The command all of whose options can be set, and the one that prints them.
const SERVING: [&str; 2] = ["serve", "config"];

/// The options of other commands that can be set. The others are of one call, such as `--file`.
const COMMON: [&str; 3] = ["namespace", "timeout", "no_map"];

/// The name of an option in a file: that of the flag without its dashes.
pub(super) fn key_of(option: &Arg) -> String {
    option.get_long().unwrap_or(option.get_id().as_str()).to_owned()
}

/// The name of the variable for a key.
pub(super) fn variable_of(key: &str) -> String {
    format!("HEXGRAPH_{}", key.to_uppercase().replace('-', "_"))
}

/// All options that can be set, by their keys.
pub(super) fn all_options(program: &Command) -> BTreeMap<String, &Arg> {
    let mut commands = vec![program];
    let mut options = BTreeMap::new();
    while let Some(command) = commands.pop() {
        options.extend(settable(command).map(|option| (key_of(option), option)));
        commands.extend(command.get_subcommands());
    }
    options
}

/// The options of a command that can be set, in the order of their definition.
pub(super) fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    let serves = SERVING.contains(&command.get_name());
    command.get_arguments().filter(move |option| {
        serves || !option.is_positional() && COMMON.contains(&option.get_id().as_str())
    })
}

/// The command that the words name, and the number of words up to its name.
pub(super) fn named_command<'a>(program: &'a Command, words: &[OsString]) -> (&'a Command, usize) {
    let (mut command, mut end, mut at) = (program, 1, 1);
    let flag = format!("--{FILE_OPTION}");
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match command.find_subcommand(word) {
            Some(inner) => (command, end, at) = (inner, at + 1, at + 1),
            None if word == flag => at += 2,
            None if word.starts_with(&format!("{flag}=")) => at += 1,
            None => break,
        }
    }
    (command, end)
}

/// What values an option has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// None: it is given or not.
    Switch,
    /// One.
    One,
    /// One, of texts `name=value` with `;` between.
    Joined,
    /// Several, the later ones in addition.
    List,
    /// Several texts `name=value`, each one a setting of its own.
    Named,
}

impl Shape {
    pub(super) fn of(option: &Arg) -> Shape {
        let value = option.get_value_names().and_then(|names| names.first());
        match (option.get_action(), value.map(|name| name.as_str())) {
            (ArgAction::SetTrue, _) => Shape::Switch,
            (ArgAction::Append, Some("NAME=VALUE")) => Shape::Named,
            (ArgAction::Append, _) => Shape::List,
            (_, Some("SETTINGS")) => Shape::Joined,
            _ => Shape::One,
        }
    }
}

/// The texts `name=value` in a text that has `;` between them.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty())
}

/// The names in a text of `name=value`.
pub(super) fn names_in(text: &OsStr) -> Vec<String> {
    let text = text.to_string_lossy();
    parts(&text).map(|part| part.split('=').next().unwrap_or(part).trim().to_owned()).collect()
}
