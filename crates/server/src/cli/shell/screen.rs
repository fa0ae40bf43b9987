//! The terminal: its size, its colours, and pages of what is longer than it.

use crate::cli::output::print;
use hexgraph_base::types::Result;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::{Cmd, ColorMode, DefaultEditor, KeyEvent};
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::{env, io};

/// Where answers are printed.
pub(super) struct Screen {
    /// Whether the standard output is a terminal.
    pub is_terminal: bool,
    /// Whether a text that is longer than the terminal is shown page by page.
    pub has_pager: bool,
    pub has_colours: bool,
    editor: Option<DefaultEditor>,
}

impl Screen {
    pub(super) fn detect() -> Screen {
        let is_terminal = io::stdout().is_terminal();
        let has_colours = is_terminal && env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let editor = is_terminal.then(|| DefaultEditor::new().ok()).flatten().map(for_pages);
        let has_pager = is_terminal && io::stdin().is_terminal();
        Screen { is_terminal, has_pager, has_colours, editor }
    }

    /// The columns and the lines; `None` where the output is no terminal.
    pub(super) fn size(&mut self) -> Option<(usize, usize)> {
        let (columns, lines) = self.editor.as_mut()?.dimensions()?;
        Some((usize::from(columns).max(1), usize::from(lines).max(2)))
    }

    /// Prints a text, page by page where it is longer than the terminal.
    ///
    /// # Errors
    ///
    /// `Io` when the standard output refuses.
    pub(super) fn show(&mut self, text: &[u8]) -> Result<()> {
        let Some((columns, lines)) = self.size().filter(|_| self.has_pager) else {
            return print(text);
        };
        let text = String::from_utf8_lossy(text);
        if text.lines().map(|line| height(line, columns)).sum::<usize>() < lines {
            return print(text.as_bytes());
        }
        match env::var_os("PAGER").filter(|pager| !pager.is_empty()) {
            Some(pager) => match page_by(&pager.to_string_lossy(), &text) {
                Ok(()) => Ok(()),
                Err(error) => {
                    eprintln!("warning: $PAGER {}: {error}", pager.display());
                    print(text.as_bytes())
                }
            },
            None => self.page(&text, columns, lines - 1),
        }
    }

    /// Shows a text in pages of so many lines, and stops after each.
    fn page(&mut self, text: &str, columns: usize, lines: usize) -> Result<()> {
        let all: Vec<&str> = text.lines().collect();
        let (mut done, mut used) = (0, 0);
        for (at, line) in all.iter().enumerate() {
            let height = height(line, columns);
            if done < at && lines < used + height {
                if !self.goes_on(at, all.len()) {
                    return Ok(());
                }
                (done, used) = (at, 0);
            }
            used += height;
            print(format!("{line}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Waits for a key after a page. Returns false where the rest is not of interest.
    fn goes_on(&mut self, shown: usize, count: usize) -> bool {
        let Some(editor) = &mut self.editor else { return true };
        let answer =
            editor.readline(&format!("-- {shown} of {count} lines: Space goes on, q stops -- "));
        // The prompt is not part of the text.
        let _ = print(b"\r\x1b[1A\x1b[K\r\x1b[K");
        match answer {
            Ok(answer) => !answer.trim().eq_ignore_ascii_case("q"),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => false,
            Err(_) => true,
        }
    }
}

/// The editor that waits for a key between two pages.
fn for_pages(mut editor: DefaultEditor) -> DefaultEditor {
    editor.set_color_mode(ColorMode::Disabled);
    for key in [' ', 'f', 'n'] {
        editor.bind_sequence(KeyEvent::from(key), Cmd::AcceptLine);
    }
    for key in ['q', 'Q'] {
        editor.bind_sequence(KeyEvent::from(key), Cmd::Interrupt);
    }
    editor
}

/// The lines of the terminal that a line has.
fn height(line: &str, columns: usize) -> usize {
    line.chars().count().div_ceil(columns).max(1)
}

/// Hands a text to a program that shows it.
fn page_by(pager: &str, text: &str) -> io::Result<()> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, pager]).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // Colours are colours, and long lines are cut: tables have their width.
        command.env("LESS", "RS");
    }
    let mut child = command.spawn()?;
    if let Some(input) = &mut child.stdin {
        // A pager that was quit reads no further.
        let _ = input.write_all(text.as_bytes());
    }
    match child.wait()?.code() {
        Some(126 | 127) => Err(io::Error::other("it can't be started")),
        _ => Ok(()),
    }
}
