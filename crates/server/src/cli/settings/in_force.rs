//! What `hexgraph config` prints: the settings that are in force, as a file of settings, with their
//! sources in comments.

use super::layered::LayeredSettings;
use super::options::{Shape, key_of, settable};
use super::setting::shown;
use clap::{Arg, ArgMatches, Command, parser::ValueSource};
use std::fmt::Write;

/// Returns the settings of a command line as TOML, secrets as `***`.
pub(in crate::cli) fn in_force(
    command: &Command,
    matches: &ArgMatches,
    settings: &LayeredSettings,
) -> String {
    let mut text = String::new();
    for option in settable(command) {
        let key = key_of(option);
        let values = sourced(option, matches, settings);
        let list = matches!(Shape::of(option), Shape::List | Shape::Named);
        match &values[..] {
            [] => writeln!(text, "# {key} is not set"),
            [(value, source)] if !list => writeln!(text, "{key} = {value}  # {source}"),
            values => {
                let lines =
                    values.iter().map(|(value, source)| format!("    {value},  # {source}\n"));
                writeln!(text, "{key} = [\n{}]", lines.collect::<String>())
            }
        }
        .expect("a string grows");
    }
    text
}

/// The values of an option as TOML, and where each comes from.
fn sourced(
    option: &Arg,
    matches: &ArgMatches,
    settings: &LayeredSettings,
) -> Vec<(String, String)> {
    let (key, id) = (key_of(option), option.get_id().as_str());
    let set: Vec<_> = settings.values.iter().filter(|setting| setting.key == key).collect();
    let value = |text: &std::ffi::OsStr| toml(&shown(option, text), Shape::of(option));
    let mut values: Vec<(String, String)> =
        set.iter().map(|setting| (value(&setting.text), setting.source.to_string())).collect();
    let source = match matches.value_source(id) {
        Some(ValueSource::CommandLine) => "flag",
        Some(_) => "default",
        None => return values,
    };
    if Shape::of(option) == Shape::Switch {
        values.push((matches.get_flag(id).to_string(), source.to_owned()));
        values.truncate(1);
        return values;
    }
    // The words of settings stand before those that were typed.
    let typed = matches.get_raw(id).into_iter().flatten().skip(set.len());
    values.extend(typed.map(|text| (value(text), source.to_owned())));
    values
}

/// A value as it is written in TOML.
fn toml(text: &str, shape: Shape) -> String {
    let is_number = text.parse::<u64>().is_ok_and(|number| number.to_string() == text);
    match shape {
        Shape::Switch => text.to_owned(),
        Shape::One if is_number => text.to_owned(),
        // The escapes of JSON are those of TOML.
        _ => serde_json::Value::from(text).to_string(),
    }
}
