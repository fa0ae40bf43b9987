//! The line that is typed: completion, colours, hints, history.

use super::catalog::Catalog;
use super::commands::command_of;
use super::completion::{Completion, completion, hint};
use super::cypher::{is_cypher, is_word};
use super::history::{ENTRIES_MAX, history_file};
use super::scan::{Kind, Token, tokens};
use super::statements::{command, is_complete};
use hexgraph_base::types::{Error, Result};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{ColorMode, CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// What was typed.
pub(super) enum Typed {
    Text(String),
    /// Ctrl-C: what was typed is dropped.
    Nothing,
    /// Ctrl-D.
    End,
}

/// The editor of lines.
pub(super) struct LineEditor {
    editor: Editor<ShellHelper, FileHistory>,
    file: Option<PathBuf>,
}

impl LineEditor {
    /// Opens the terminal and reads the history. A history that can't be read is reported, and
    /// there is none then.
    ///
    /// # Errors
    ///
    /// `Io` when the terminal refuses.
    pub(super) fn open(has_colours: bool) -> Result<LineEditor> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .color_mode(if has_colours { ColorMode::Enabled } else { ColorMode::Disabled })
            .history_ignore_space(true)
            .max_history_size(ENTRIES_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(failed)?
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(ShellHelper::default()));
        let mut file = history_file().unwrap_or_else(|error| {
            eprintln!("warning: what is typed is not written to a file: {error}");
            None
        });
        if let Some(path) = file.clone().filter(|path| path.exists())
            && let Err(error) = editor.load_history(&path)
        {
            eprintln!("warning: {}: the history can't be read: {error}", path.display());
            file = None;
        }
        Ok(LineEditor { editor, file })
    }

    /// The file of the history.
    pub(super) fn history_file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// Reads a statement, of one line or several. It goes to the history unless it may have a
    /// secret in it.
    ///
    /// # Errors
    ///
    /// `Io` when the terminal fails.
    pub(super) fn read(
        &mut self,
        prompt: &str,
        catalog: Catalog,
        is_graphql: bool,
    ) -> Result<Typed> {
        if let Some(helper) = self.editor.helper_mut() {
            (helper.catalog, helper.is_graphql) = (catalog, is_graphql);
        }
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.remember(&text);
                Ok(Typed::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes a statement to the history at once, so that it is there when the process is killed.
    fn remember(&mut self, text: &str) {
        let text = text.trim_end();
        let has_secret = self.editor.helper().is_some_and(|it| it.catalog.has_secret(text));
        if text.is_empty() || has_secret || !self.editor.add_history_entry(text).unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.file
            && let Err(error) = self.editor.append_history(file)
        {
            eprintln!("warning: {}: {error}", file.display());
            self.file = None;
        }
    }
}

fn failed(error: ReadlineError) -> Error {
    Error::io("reading from the terminal", io::Error::other(error.to_string()))
}

/// What the editor consults while somebody types.
#[derive(Default)]
struct ShellHelper {
    catalog: Catalog,
    is_graphql: bool,
    files: FilenameCompleter,
    history: HistoryHinter,
}

impl Helper for ShellHelper {}

impl Validator for ShellHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        // A blank line has an end only when the next one begins.
        Ok(match text.trim().is_empty() || is_complete(&format!("{text}\n")) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        match completion(&self.catalog, &line[..position], self.is_graphql) {
            Completion::File => self.files.complete(line, position, context),
            Completion::Words(start, words) => {
                let pair = |word: String| Pair { display: word.clone(), replacement: word };
                Ok((start, words.into_iter().map(pair).collect()))
            }
        }
    }
}

/// A hint, and what of it the right arrow accepts.
struct ShownHint {
    text: String,
    accepted: bool,
}

impl Hint for ShownHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.accepted.then_some(self.text.as_str())
    }
}

impl Hinter for ShellHelper {
    type Hint = ShownHint;

    fn hint(&self, line: &str, position: usize, context: &Context<'_>) -> Option<ShownHint> {
        if position < line.len() || line.trim().is_empty() {
            return None;
        }
        let typed = hint(&self.catalog, line, self.is_graphql);
        let earlier = || {
            let entry = self.history.hint(line, position, context)?;
            let first = entry.lines().next().unwrap_or_default();
            (!first.is_empty()).then(|| (first.to_owned(), true))
        };
        let (text, accepted) = typed.or_else(earlier)?;
        Some(ShownHint { text, accepted })
    }
}

impl Highlighter for ShellHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        let (mut text, mut done) = (String::new(), 0);
        if let Some((name, _)) = command(line) {
            done = line.len() - line.trim_start().len() + 1 + name.len();
            let colour = if command_of(name).is_some() { "1;36" } else { "31" };
            text = format!("\x1b[{colour}m{}\x1b[0m", &line[..done]);
        }
        let (start, is_cypher) = (done, is_cypher(line));
        for token in tokens(&line[start..]) {
            text.push_str(&line[done..start + token.at]);
            text.push_str(&self.coloured(&token, is_cypher));
            done = start + token.at + token.text.len();
        }
        text.push_str(&line[done..]);
        Cow::Owned(text)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m"))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[90m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

impl ShellHelper {
    fn coloured(&self, token: &Token<'_>, is_cypher: bool) -> String {
        match self.colour(token, is_cypher) {
            Some(colour) => format!("\x1b[{colour}m{}\x1b[0m", token.text),
            None => token.text.to_owned(),
        }
    }

    fn colour(&self, token: &Token<'_>, is_cypher: bool) -> Option<&'static str> {
        let catalog = &self.catalog;
        let is_name = |name: &str| {
            catalog.predicates.contains_key(name)
                || catalog.types.contains_key(name)
                || self.is_graphql && catalog.graphql.contains(name)
        };
        match token.kind {
            Kind::Comment => Some("90"),
            Kind::Text => Some("32"),
            Kind::Number | Kind::Variable => Some("36"),
            Kind::Directive => Some("35"),
            Kind::Word | Kind::Iri => match token.name() {
                Some(name) if is_cypher && is_word(name) => Some("34"),
                Some(name) if is_name(name) => Some("33"),
                Some(_) if is_cypher => None,
                Some(name) if catalog.is_keyword(name) => Some("34"),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::tests::sample;
    use super::*;

    #[test]
    fn colours_leave_the_text_as_it_is() {
        let helper = ShellHelper { catalog: sample(), ..ShellHelper::default() };
        for text in
            ["{ q(func: eq(name, \"x\")) { uid 5 $a @filter } } # é", " \\schema x", "\\", "  "]
        {
            let coloured = helper.highlight(text, 0);
            let mut plain = String::new();
            for part in coloured.split('\x1b') {
                plain.push_str(
                    part.split_once('m').filter(|_| part.starts_with('[')).map_or(part, |it| it.1),
                );
            }
            assert_eq!(plain, text);
        }
        let coloured = helper.highlight("match (f:Film) RETURN f.nickname", 0);
        assert!(coloured.contains("\x1b[34mmatch\x1b[0m"), "{coloured}");
        assert!(coloured.contains("\x1b[33mFilm\x1b[0m"), "{coloured}");
        let coloured = helper.highlight("{ q(func: has(name)) { nmae } }", 0);
        assert!(coloured.contains("\x1b[34mhas\x1b[0m"), "{coloured}");
        assert!(
            coloured.contains("\x1b[33mname\x1b[0m") && coloured.contains(" nmae "),
            "{coloured}"
        );
    }
}
