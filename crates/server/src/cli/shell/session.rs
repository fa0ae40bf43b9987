//! Runs statements and commands, one after the other, with the settings that commands change.

use super::catalog::Catalog;
use super::commands::{help, hint_for};
use super::cypher::{is_cypher, is_plan, without_end};
use super::describe::{describe_all, describe_one};
use super::results::{
    ResultStyle, ShellAnswer, form_of, indented, show_answer, show_cypher, show_rows,
};
use super::screen::Screen;
use super::statements::command;
use crate::cli::arguments::{Arguments, Command};
use crate::cli::bar::{clear_bar, control_with_clock};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::{print, save};
use crate::cli::quote::{Done, Failure};
use crate::cli::requests::{
    ChangeRequest, Form, answer_bytes, answer_graphql, change, cypher_bytes, statements,
};
use crate::cli::tables::{load_files, loaded_files};
use clap::Parser;
use hexgraph::db::graphql::Request;
use hexgraph::db::{Database, QueryRequest, RequestContext, cypher_params, is_mutation};
use hexgraph::tables::RowFormat;
use hexgraph_base::types::{Error, Result};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Whether the shell goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Statement,
    Quit,
}

/// A shell: its database, its settings, and its last result.
pub(super) struct ShellSession {
    /// The first namespace, from which others are opened.
    pub root: Database,
    /// The namespace that statements are about.
    pub database: Database,
    pub interrupt: Interrupt,
    pub style: ResultStyle,
    pub screen: Screen,
    pub is_timed: bool,
    pub is_graphql: bool,
    /// The file of the history, where there is one.
    pub history: Option<PathBuf>,
    /// The text of the last query, and its answer where it was no explanation.
    pub last: Option<(String, Option<ShellAnswer>)>,
}

impl ShellSession {
    /// The names of the schema as it is now.
    ///
    /// # Errors
    ///
    /// Fails only when the database is closed.
    pub(super) fn catalog(&self) -> Result<Catalog> {
        Catalog::of(&self.database)
    }

    /// Runs a statement or a command, and prints its result.
    ///
    /// # Errors
    ///
    /// As the statement.
    pub(super) fn run(&mut self, text: &str) -> std::result::Result<Next, Failure> {
        // What was interrupted before does not stop this one.
        self.interrupt.came();
        let (started, is_timed) = (Instant::now(), self.is_timed);
        let done = match command(text) {
            Some((name, argument)) => self.command(name, argument),
            None if is_cypher(text) => self.cypher(text).map(|()| Next::Statement),
            None if self.is_graphql => self.graphql(text).map(|()| Next::Statement),
            None => self.dql(text).map(|()| Next::Statement),
        };
        clear_bar();
        if is_timed && matches!(done, Ok(Next::Statement)) {
            let millis = started.elapsed().as_secs_f64() * 1e3;
            print(format!("time: {millis:.1} ms\n").as_bytes())?;
        }
        done
    }

    fn command(&mut self, name: &str, argument: &str) -> std::result::Result<Next, Failure> {
        match name {
            "quit" | "q" => return Ok(Next::Quit),
            "help" => self.screen.show(help().as_bytes())?,
            "schema" => {
                let text = self.database.schema_text()?;
                self.screen.show(text.as_bytes())?;
            }
            "describe" => self.describe(argument)?,
            "explain" => self.explain(argument, false)?,
            "profile" => self.explain(argument, true)?,
            "timing" => self.is_timed = switch(name, argument, self.is_timed)?,
            "pager" => self.screen.has_pager = switch(name, argument, self.screen.has_pager)?,
            "format" => self.style.form = form_of(argument)?,
            "rows" => self.style.rows = row_limit(argument)?,
            "export" => self.export(argument)?,
            "load" => self.load(argument)?,
            "alter" => self.alter(argument)?,
            "use" => self.go_to(argument)?,
            "graphql" if argument.is_empty() => self.is_graphql = true,
            "graphql" => self.graphql(argument)?,
            "dql" if argument.is_empty() => self.is_graphql = false,
            "dql" => self.dql(argument)?,
            "history" => self.print_history()?,
            name => {
                let fault = Error::query(format!("there is no command \\{name}"));
                return Err(fault.with_hint(hint_for(name)).into());
            }
        }
        Ok(Next::Statement)
    }

    fn control(&self) -> RequestContext {
        control_with_clock(self.interrupt)
    }

    fn dql(&mut self, text: &str) -> Done {
        let about = Failure::about(text);
        let control = self.control();
        if text.trim_start().starts_with('.') {
            let fault = Error::query("commands begin with `\\`, and not with `.`");
            return Err(fault.with_hint("\\help lists them").into());
        }
        if is_mutation(text) || statements(text, false).is_some() {
            let request = ChangeRequest { text, ..ChangeRequest::default() };
            let done = change(&self.database, request, &control).map_err(about)?;
            clear_bar();
            return Ok(print(format!("{}\n", Value::Object(done)).as_bytes())?);
        }
        let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
        // The version that the last answer holds is free before the next one is made.
        self.last = None;
        let answer = self.database.query_with(&request, &control).map_err(&about)?;
        clear_bar();
        for warning in answer.warnings() {
            eprintln!("warning: {warning}");
        }
        let shown = show_answer(&answer, &self.style, &mut self.screen, &control);
        self.last = Some((request.text, Some(ShellAnswer::Dql(answer))));
        shown.map_err(about)
    }

    fn cypher(&mut self, text: &str) -> Done {
        let (text, control) = (without_end(text), self.control());
        let about = Failure::about(text);
        self.last = None;
        let params = cypher_params(&Map::new())?;
        let answer = self.database.cypher_with(text, &params, &control).map_err(&about)?;
        clear_bar();
        for warning in answer.warnings() {
            eprintln!("warning: {warning}");
        }
        let shown = show_cypher(&answer, &self.style, &mut self.screen, &control);
        self.last = Some((text.to_owned(), Some(ShellAnswer::Cypher(answer))));
        shown.map_err(about)
    }

    fn graphql(&mut self, text: &str) -> Done {
        let request = Request::new(text);
        let (json, fault) = answer_graphql(&self.database, &request, &self.control())?;
        clear_bar();
        let json = if self.screen.is_terminal { indented(&json) } else { json };
        self.screen.show(&json)?;
        fault.map_or(Ok(()), |error| Err(error.into()))
    }

    fn describe(&mut self, name: &str) -> Result<()> {
        let (catalog, control) = (self.catalog()?, self.control());
        let all = match name {
            "" => describe_all(&self.database, &catalog, &control)?,
            name => describe_one(&self.database, &catalog, name, &control)?,
        };
        clear_bar();
        for (title, rows) in all {
            print(format!("{title}\n").as_bytes())?;
            show_rows(&rows, &self.style, &mut self.screen)?;
        }
        Ok(())
    }

    /// Prints the plan of a query: with rows and times if it `runs`.
    fn explain(&mut self, text: &str, runs: bool) -> Done {
        let text = match (text, &self.last) {
            ("", Some((text, _))) => text.clone(),
            ("", None) => {
                let name = if runs { "profile" } else { "explain" };
                let message = format!("there is no last query: \\{name} QUERY");
                return Err(Error::query(message).into());
            }
            (text, _) => text.to_owned(),
        };
        if is_cypher(&text) {
            return self.explain_cypher(without_end(&text), runs);
        }
        let request = QueryRequest { text, ..QueryRequest::default() };
        let explained = match runs {
            true => self.database.profile_with(&request, &self.control()),
            false => self.database.explain_with(&request, &self.control()),
        };
        let explanation = explained.map_err(Failure::about(&request.text))?;
        clear_bar();
        Ok(self.screen.show(format!("{explanation}\n").as_bytes())?)
    }

    /// Prints the operators of a query in Cypher: with their rows and times if it `runs`, or as it
    /// says by `EXPLAIN` or `PROFILE`.
    fn explain_cypher(&mut self, text: &str, runs: bool) -> Done {
        let (about, control) = (Failure::about(text), self.control());
        let params = cypher_params(&Map::new())?;
        let plan = match (is_plan(text), runs) {
            (true, _) => self.database.cypher_with(text, &params, &control),
            (false, true) => self.database.profile_cypher(text, &params, &control),
            (false, false) => self.database.explain_cypher(text, &params, &control),
        };
        let plan = plan.map_err(&about)?;
        clear_bar();
        let style = ResultStyle { form: Form::Rows(RowFormat::Table), rows: None };
        show_cypher(&plan, &style, &mut self.screen, &control).map_err(about)
    }

    fn export(&mut self, argument: &str) -> Done {
        let words = words(argument)?;
        let [file] = &words[..] else {
            return Err(Error::query("\\export writes one file: \\export FILE").into());
        };
        let control = self.control();
        if has_all_data(Path::new(file)) {
            let report = self.database.export_as_with(Path::new(file), &control)?;
            clear_bar();
            let schema = report.schema.display();
            let text = format!("{file}: all data, {} triples; {schema}\n", report.triples);
            return Ok(print(text.as_bytes())?);
        }
        let Some((_, Some(answer))) = &self.last else {
            let fault = Error::query("there is no result to export");
            return Err(fault.with_hint("run a query first; a .rdf file has all data").into());
        };
        let end = Path::new(file).extension().map(|end| end.to_string_lossy().into_owned());
        let form = match end.as_deref() {
            Some("json") => Some(Form::Json),
            end => end.and_then(RowFormat::of_file).map(Form::Rows),
        };
        let Some(form) = form else {
            let names = ".csv, .json, .jsonl, .md, .parquet, .arrow, .txt, or .rdf for all data";
            let fault = Error::query(format!("{file}: the name says no format"));
            return Err(fault.with_hint(format!("it may be {names}")).into());
        };
        let bytes = match (answer, form) {
            (ShellAnswer::Cypher(answer), form) => cypher_bytes(answer, form, &control)?,
            (ShellAnswer::Dql(answer), Form::Json) => answer_bytes(answer, form, "", &control)?,
            (ShellAnswer::Dql(answer), form) => {
                answer_bytes(answer, form, &answer.block_name(None)?, &control)?
            }
        };
        save(Path::new(file), &bytes)?;
        clear_bar();
        Ok(print(format!("{file}: the last result, {} bytes\n", bytes.len()).as_bytes())?)
    }

    fn load(&mut self, argument: &str) -> Done {
        let words = words(argument)?;
        let line = ["hexgraph", "load", "-"].into_iter().map(str::to_owned).chain(words);
        let arguments = match Arguments::try_parse_from(line) {
            Ok(Arguments { command: Command::Load(arguments), .. }) => arguments,
            Ok(_) => return Err(Error::query("\\load FILE…").into()),
            Err(error) => {
                let text = error.to_string();
                let text = text.lines().next().unwrap_or_default();
                let fault = Error::query(text.trim_start_matches("error: "));
                return Err(fault.with_hint("`hexgraph load --help` has the options").into());
            }
        };
        if arguments.namespace != 0 {
            let fault = Error::query("\\load is into the namespace of the shell");
            return Err(fault.with_hint("\\use NAMESPACE goes to another one").into());
        }
        load_files(&self.database, loaded_files(&arguments)?, &arguments, self.interrupt)
    }

    fn alter(&mut self, text: &str) -> Done {
        if text.is_empty() {
            let fault = Error::query("\\alter changes the schema by definitions");
            return Err(fault.with_hint("as in \\alter name: string @index(term) .").into());
        }
        let report = self.database.alter_with(text, &self.control());
        let report = report.map_err(Failure::about(text))?;
        clear_bar();
        let mut lines = String::new();
        for (part, items) in report.parts() {
            lines.extend(items.iter().map(|item| format!("{part} {item}\n")));
        }
        if lines.is_empty() {
            lines = "nothing changed\n".to_owned();
        }
        Ok(print(lines.as_bytes())?)
    }

    fn go_to(&mut self, argument: &str) -> Result<()> {
        let id = argument.parse().map_err(|_| {
            Error::query(format!("\\use {argument}: expected the number of a namespace"))
        })?;
        self.database = self.root.namespace(id)?;
        self.last = None;
        Ok(())
    }

    fn print_history(&self) -> Result<()> {
        match &self.history {
            Some(file) => print(format!("{}\n", file.display()).as_bytes()),
            None => print(b"what is typed is written to no file\n"),
        }
    }
}

/// Reads `on` or `off`; nothing changes a switch to the other one.
fn switch(name: &str, argument: &str, is_on: bool) -> Result<bool> {
    let next = match argument {
        "on" => true,
        "off" => false,
        "" => !is_on,
        other => return Err(Error::query(format!("\\{name} {other}: expected on or off"))),
    };
    print(format!("{name} is {}\n", if next { "on" } else { "off" }).as_bytes())?;
    Ok(next)
}

/// Whether the name of a file is that of an export of all data: `.rdf`, compressed or not.
fn has_all_data(file: &Path) -> bool {
    let is = |file: &Path, names: &[&str]| {
        file.extension().is_some_and(|end| names.iter().any(|name| end.eq_ignore_ascii_case(name)))
    };
    let plain = if is(file, &["gz", "zst"]) { file.with_extension("") } else { file.to_owned() };
    is(&plain, &["rdf"])
}

fn row_limit(argument: &str) -> Result<Option<usize>> {
    match argument {
        "all" => Ok(None),
        number => match number.parse() {
            Ok(number) if 0 < number => Ok(Some(number)),
            _ => Err(Error::query(format!("\\rows {number}: expected a number above 0, or all"))),
        },
    }
}

/// The words of a line, at blanks outside of quotes.
///
/// # Errors
///
/// `Query` for a quote that is not closed.
fn words(line: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => {
                words.extend(word);
                word = None;
            }
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quote {
        return Err(Error::query(format!("the {quote} is not closed")));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks() {
        assert_eq!(words("a 'b c'  d\"e f\"g ''").unwrap(), ["a", "b c", "de fg", ""]);
        assert!(words("'a").is_err());
        assert_eq!(words(" ").unwrap(), [""; 0]);
    }

    #[test]
    fn exports_of_all_data_have_names() {
        for (file, expected) in [("a.rdf", true), ("a.b/c.RDF.gz", true), ("a.rdf.d/c.csv", false)]
        {
            assert_eq!(has_all_data(Path::new(file)), expected, "{file}");
        }
    }

    #[test]
    fn limits_of_rows_are_read() {
        assert_eq!(row_limit("all").unwrap(), None);
        assert_eq!(row_limit("7").unwrap(), Some(7));
        assert!(row_limit("0").is_err() && row_limit("").is_err());
    }
}
