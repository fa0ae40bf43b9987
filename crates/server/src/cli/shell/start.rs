//! Opens the database, and reads statements from the terminal, the standard input or the arguments.

use super::editor::{LineEditor, Typed};
use super::results::{ResultStyle, form_of, grouped};
use super::screen::Screen;
use super::session::{Next, ShellSession};
use super::statements::{Statement, Statements, statements};
use crate::cli::arguments::ShellArguments;
use crate::cli::given::report_recovery;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::print;
use crate::cli::quote::{Done, Failure};
use hexgraph::db::{Database, OpenOptions};
use hexgraph_base::types::{Error, Result};
use std::io;
use std::io::{BufRead, IsTerminal};

/// The most rows of a table on a terminal, before `\rows` says otherwise.
const ROWS_MAX: usize = 40;

/// Runs the shell.
pub(in crate::cli) fn shell(arguments: &ShellArguments, interrupt: Interrupt) -> Done {
    let form = form_of(&arguments.format)?;
    let root = open(arguments)?;
    report_recovery(root.recovery()?);
    let mut session = ShellSession {
        database: root.namespace(arguments.namespace)?,
        root,
        interrupt,
        style: ResultStyle { form, rows: Some(ROWS_MAX) },
        screen: Screen::detect(),
        is_timed: false,
        is_graphql: false,
        history: None,
        last: None,
    };
    let done = if !arguments.commands.is_empty() {
        let texts = arguments.commands.iter().flat_map(|text| statements(text));
        run_all(&mut session, texts.map(|it| Ok(Statement { line: 1, ..it })), arguments.goes_on)
    } else if io::stdin().is_terminal() {
        prompt(&mut session, arguments)
    } else {
        run_all(&mut session, piped(), arguments.goes_on)
    };
    let ShellSession { root, database, last, .. } = session;
    drop((database, last));
    let closed = root.close();
    done?;
    Ok(closed?)
}

/// Opens the database that the arguments name.
fn open(arguments: &ShellArguments) -> Result<Database> {
    let Some(path) = &arguments.path else {
        return Ok(Database::in_memory());
    };
    let shown = path.display().to_string();
    if let Some((scheme, _)) = shown.split_once("://") {
        let hint = "where the server runs, `hexgraph shell DATABASE --read-only` reads its directory; from Python \
            hexgraph.connect(URL) speaks to servers and to clusters";
        let fault =
            format!("{scheme}:// is a server, and the shell opens a database by its directory");
        return Err(Error::query(fault).with_hint(hint));
    }
    if !path.exists() && !arguments.create {
        return Err(Error::query(format!("{shown}: there is no database"))
            .with_hint("--create makes one; without a path the shell has one in memory"));
    }
    let options = OpenOptions { read_only: arguments.read_only, ..OpenOptions::default() };
    Database::open(path, options)
}

/// The statements of the standard input, each as soon as its last line is there.
fn piped() -> impl Iterator<Item = Result<Statement>> {
    let mut statements = Some(Statements::default());
    let mut lines = io::stdin().lock().lines();
    let more = move || {
        let reader = statements.as_mut()?;
        match lines.next() {
            Some(Ok(line)) => Some(reader.push(&line).into_iter().map(Ok).collect::<Vec<_>>()),
            Some(Err(error)) => {
                statements = None;
                Some(vec![Err(Error::io("reading the standard input", error))])
            }
            None => {
                let last = reader.pop();
                statements = None;
                Some(last.into_iter().map(Ok).collect())
            }
        }
    };
    std::iter::from_fn(more).flatten()
}

/// Runs statements until one fails, or all where `goes_on`.
fn run_all(
    session: &mut ShellSession,
    statements: impl Iterator<Item = Result<Statement>>,
    goes_on: bool,
) -> Done {
    let mut failures = 0;
    for statement in statements {
        let Statement { text, line } = statement?;
        match session.run(&text) {
            Ok(Next::Statement) => {}
            Ok(Next::Quit) => break,
            Err(failure) => {
                if 1 < line {
                    eprintln!("in the statement that begins on line {line}:");
                }
                if !goes_on {
                    return Err(failure);
                }
                eprintln!("error: {failure}");
                failures += 1;
            }
        }
    }
    match failures {
        0 => Ok(()),
        1 => Err(Error::query("a statement failed").into()),
        count => Err(Error::query(format!("{count} statements failed")).into()),
    }
}

/// Reads statements from the terminal until its end.
fn prompt(session: &mut ShellSession, arguments: &ShellArguments) -> Done {
    let handled = session.interrupt.handled();
    session.interrupt = handled.map_err(|error| Error::io("handling Ctrl-C", error))?;
    let mut editor = LineEditor::open(session.screen.has_colours)?;
    session.history = editor.history_file().cloned();
    let name = arguments.path.as_deref().and_then(|path| path.file_stem());
    let name = name.map_or("memory".into(), |name| name.to_string_lossy());
    greet(session, arguments)?;
    loop {
        let namespace = match session.database.namespace_id() {
            0 => String::new(),
            id => format!(":{id}"),
        };
        let language = if session.is_graphql { " graphql" } else { "" };
        let line = format!("{name}{namespace}{language}> ");
        match editor.read(&line, session.catalog()?, session.is_graphql)? {
            Typed::Nothing => {}
            Typed::End => return Ok(()),
            Typed::Text(text) => {
                for statement in statements(by_habit(&text)) {
                    match session.run(&statement.text) {
                        Ok(Next::Statement) => {}
                        Ok(Next::Quit) => return Ok(()),
                        Err(failure) => {
                            report(&failure);
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// What other shells write without a `\`.
fn by_habit(text: &str) -> &str {
    match text.trim().trim_end_matches(';') {
        "help" | "?" => "\\help",
        "quit" | "exit" => "\\quit",
        _ => text,
    }
}

fn report(failure: &Failure) {
    eprintln!("error: {failure}");
}

fn greet(session: &ShellSession, arguments: &ShellArguments) -> Result<()> {
    let what = match &arguments.path {
        None => "a database in memory, which is gone at the end".to_owned(),
        Some(path) => {
            let nodes = grouped(session.root.stats()?.nodes as usize);
            let mode = if arguments.read_only { ", read only" } else { "" };
            format!("{}, {nodes} nodes{mode}", path.display())
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    let line = format!("hexgraph {version}: {what}\n\\help lists the commands, Ctrl-D quits\n");
    print(line.as_bytes())
}
