//! What was typed, read: texts from arguments, files and the standard input, variables, times.

use super::arguments::LogArguments;
use crate::http::{Level, LogOptions, SpanOptions, log};
use hexgraph::db::{Limits, Memory, OpenOptions, Recovery, Variables, memory_count, parse_time};
use hexgraph_base::types::{Error, Result, without_mark};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// Reads an entire file, without a byte order mark.
///
/// # Errors
///
/// `Io` with the name of the file.
pub(super) fn read_text(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
    Ok(without_mark(&text).to_owned())
}

/// Returns the text of a request: `text` unchanged; that of `file`; of the standard input for `-`,
/// and where neither is given and something is piped in. A `text` without a brace that is the name
/// of a file is that file's.
///
/// # Errors
///
/// `Io` when it can't be read; `Query` when there is none, or two.
pub(super) fn request_text(text: Option<&str>, file: Option<&Path>) -> Result<String> {
    match (text, file) {
        (Some(_), Some(_)) => Err(Error::query("there is a text and a --file: give one of them")),
        (None, Some(file)) if file == Path::new("-") => read_input(),
        (None, Some(file)) => read_text(file),
        (Some("-"), None) => read_input(),
        (Some(text), None) => match names_file(text) {
            true => read_text(Path::new(text)),
            false => Ok(text.to_owned()),
        },
        (None, None) if io::stdin().is_terminal() => Err(Error::query(
            "there is no text: give it as an argument, by --file FILE, or pipe it in",
        )),
        (None, None) => read_input(),
    }
}

/// Whether a text is the name of a file, or looks like one that is not there: a word with an
/// ending, which no request is.
fn names_file(text: &str) -> bool {
    let path = Path::new(text);
    let is_word = || path.extension().is_some() && !text.contains(char::is_whitespace);
    !text.contains('{') && (path.is_file() || is_word())
}

fn read_input() -> Result<String> {
    let text = io::read_to_string(io::stdin())
        .map_err(|error| Error::io("reading the standard input", error))?;
    Ok(without_mark(&text).to_owned())
}

/// Splits `name=value` of a `--var`; a `$` before the name is left out.
///
/// # Errors
///
/// `Query` for a text without `=`.
pub(super) fn name_and_value(pair: &str) -> Result<(&str, &str)> {
    match pair.split_once('=') {
        Some((name, value)) => Ok((name.trim_start_matches('$'), value)),
        None => Err(Error::query(format!("--var {pair}: write it as name=value"))),
    }
}

/// Reads the variables of a query in DQL.
///
/// # Errors
///
/// As [`name_and_value`].
pub(super) fn read_variables(given: &[String]) -> Result<Variables> {
    let mut variables = Variables::new();
    for pair in given {
        let (name, value) = name_and_value(pair)?;
        variables.insert(format!("${name}"), value.into());
    }
    Ok(variables)
}

/// Reads the number of seconds of an option.
///
/// # Errors
///
/// `Query` for a number that is no time.
pub(super) fn duration(name: &str, seconds: f64) -> Result<Duration> {
    let fault = |_| Error::query(format!("{name} {seconds}: it is no number of seconds"));
    Duration::try_from_secs_f64(seconds).map_err(fault)
}

/// Reads which requests are logged.
///
/// # Errors
///
/// `Query` for a text that is no time.
pub(super) fn log_options(arguments: &LogArguments) -> Result<LogOptions> {
    let time = |text: &String| {
        let fault = format!("--log-slow-queries {text}: expected a time like 250ms");
        parse_time(text).ok_or_else(|| Error::query(fault))
    };
    let slow = arguments.log_slow_queries.as_ref().map(time).transpose()?;
    Ok(LogOptions { slow, queries: arguments.log_queries })
}

/// Reads the collector of spans: from the argument, otherwise from the standard variables.
///
/// # Errors
///
/// As [`SpanOptions::new`] and [`SpanOptions::of_environment`].
pub(super) fn span_options(arguments: &LogArguments) -> Result<Option<SpanOptions>> {
    match &arguments.otlp_endpoint {
        Some(url) => SpanOptions::new(url).map(Some),
        None => SpanOptions::of_environment(|name| std::env::var_os(name)),
    }
}

/// Sets the memory limit of a process that serves a database, and with it the limits of a request.
///
/// # Errors
///
/// As [`memory_count`].
pub(super) fn set_memory(options: &mut OpenOptions, memory: Option<&str>) -> Result<()> {
    options.memory = Memory::Process(memory.map_or(Ok(0), memory_count)?);
    options.limits = Limits::for_untrusted(options.memory.bytes());
    Ok(())
}

/// Prints how many commits were recovered after a crash.
pub(super) fn report_recovery(recovery: Recovery) {
    let Recovery { commits, bytes, cut } = recovery;
    if 0 < commits {
        let message = format!("{commits} commits were read from {bytes} bytes of log");
        log(Level::Info, &message, &[]);
    }
    if 0 < cut {
        let what = "bytes at the end of the log were ignored: a commit that was not acknowledged";
        log(Level::Info, &format!("{cut} {what}"), &[]);
    }
}
