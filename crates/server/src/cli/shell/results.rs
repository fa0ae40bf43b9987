//! Answers as they are printed.

use super::screen::Screen;
use crate::cli::requests::{Form, answer_bytes, cypher_bytes, cypher_rows, reservation};
use hexgraph::db::{CypherAnswer, QueryAnswer, RequestContext};
use hexgraph::tables::{
    RecordBatch, RowFormat, TableExtent, TableLimits, flattened, record_batch, write_table,
};
use hexgraph_base::types::{Error, Result};

/// How answers are written.
pub(super) struct ResultStyle {
    pub form: Form,
    /// The most rows of a table on a terminal.
    pub rows: Option<usize>,
}

/// The form of a name.
///
/// # Errors
///
/// `Query` for another name.
pub(super) fn form_of(name: &str) -> Result<Form> {
    match name {
        "json" => Ok(Form::Json),
        name => match RowFormat::from_name(name) {
            Ok(format) if !format.is_binary() => Ok(Form::Rows(format)),
            Ok(_) => Err(Error::query(format!("{name} is bytes, and no terminal shows them"))
                .with_hint("\\export FILE writes it")),
            Err(_) => Err(Error::query(format!("there is no format {name:?}"))
                .with_hint("there are table, json, csv, jsonl and markdown")),
        },
    }
}

/// An answer in one of the languages.
pub(super) enum ShellAnswer {
    Dql(QueryAnswer),
    Cypher(CypherAnswer),
}

/// Prints the rows of an answer in Cypher.
///
/// # Errors
///
/// As [`CypherAnswer::table`].
pub(super) fn show_cypher(
    answer: &CypherAnswer,
    style: &ResultStyle,
    screen: &mut Screen,
    control: &RequestContext,
) -> Result<()> {
    let text = match style.form {
        Form::Rows(RowFormat::Table) => {
            fitting_table(&cypher_rows(answer, RowFormat::Table, control)?, style, screen)?
        }
        Form::Json if screen.is_terminal => indented(&cypher_bytes(answer, Form::Json, control)?),
        form => cypher_bytes(answer, form, control)?,
    };
    screen.show(&text)
}

/// Prints an answer.
///
/// # Errors
///
/// As [`QueryAnswer::table`]; `Query` for several blocks in a format that has the rows of one.
pub(super) fn show_answer(
    answer: &QueryAnswer,
    style: &ResultStyle,
    screen: &mut Screen,
    control: &RequestContext,
) -> Result<()> {
    let blocks = answer.block_names();
    let text = match style.form {
        // A schema is one value, and no rows.
        form if form == Form::Json || blocks.is_empty() => {
            let json = answer_bytes(answer, Form::Json, "", control)?;
            if screen.is_terminal { indented(&json) } else { json }
        }
        Form::Rows(RowFormat::Csv | RowFormat::JsonLines) if 1 < blocks.len() => {
            return Err(Error::query(format!(
                "the answer has several blocks, and this format has the rows of one: {}",
                blocks.join(", ")
            ))
            .with_hint("\\format table and \\format json have all"));
        }
        form => {
            let mut text = Vec::new();
            for (number, block) in blocks.iter().enumerate() {
                if 1 < blocks.len() {
                    let gap = if number == 0 { "" } else { "\n" };
                    text.extend_from_slice(format!("{gap}{block}:\n").as_bytes());
                }
                match form {
                    Form::Rows(RowFormat::Table) => {
                        let rows = record_batch(answer.table_with(Some(block), control)?)?;
                        let rows = flattened(&rows, &reservation(control))?;
                        text.extend(fitting_table(&rows, style, screen)?);
                    }
                    form => text.extend(answer_bytes(answer, form, block, control)?),
                }
            }
            text
        }
    };
    screen.show(&text)
}

/// Prints rows as a table that fits the terminal.
///
/// # Errors
///
/// `Io` when the standard output refuses.
pub(super) fn show_rows(
    rows: &RecordBatch,
    style: &ResultStyle,
    screen: &mut Screen,
) -> Result<()> {
    let text = fitting_table(rows, style, screen)?;
    screen.show(&text)
}

/// Rows as a table that fits the terminal, and there a line that says what it has and what it
/// lacks.
fn fitting_table(rows: &RecordBatch, style: &ResultStyle, screen: &mut Screen) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if !screen.is_terminal {
        write_table(rows, &TableLimits::default(), &mut text)?;
        return Ok(text);
    }
    let width = screen.size().map(|(columns, _)| columns);
    let limits = TableLimits { width, rows: style.rows, has_rule: true };
    let about = about(&write_table(rows, &limits, &mut text)?);
    let line = if screen.has_colours { format!("\x1b[90m{about}\x1b[0m\n") } else { about + "\n" };
    text.extend_from_slice(line.as_bytes());
    Ok(text)
}

/// What a table has and what it lacks, in a line.
fn about(extent: &TableExtent) -> String {
    let TableExtent { rows, rows_shown, columns, columns_shown, cells_cut } = *extent;
    let mut parts = vec![counted(rows, "row")];
    let mut hints = Vec::new();
    if rows_shown < rows {
        parts[0] += &format!(" ({} shown)", grouped(rows_shown));
        hints.push("\\rows all");
    }
    if columns_shown < columns {
        parts.push(format!("{} ({columns_shown} shown)", counted(columns, "column")));
    }
    if 0 < cells_cut {
        parts.push(format!("{} cut", counted(cells_cut, "cell")));
    }
    if columns_shown < columns || 0 < cells_cut {
        hints.push("\\format json");
    }
    let hint = if hints.is_empty() {
        String::new()
    } else {
        format!(" · {} shows all", hints.join(", "))
    };
    format!("{}{hint}", parts.join(", "))
}

fn counted(count: usize, name: &str) -> String {
    format!("{} {name}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A number with commas between thousands.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<String> =
        groups.map(|group| String::from_utf8_lossy(group).into_owned()).collect();
    groups.join(",")
}

/// JSON with a line for each member, its characters as they are. Characters that would move the
/// cursor are escaped. O(text).
pub(super) fn indented(json: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(json);
    let mut out = String::new();
    let (mut depth, mut in_text, mut is_escaped) = (0, false, false);
    let mut letters = text.trim_end().chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    while let Some(letter) = letters.next() {
        if !in_text && letter.is_whitespace() {
            continue;
        }
        if letter.is_control() {
            out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            continue;
        }
        if in_text {
            out.push(letter);
            (in_text, is_escaped) = (is_escaped || letter != '"', !is_escaped && letter == '\\');
            continue;
        }
        match letter {
            '{' | '[' => {
                out.push(letter);
                match letters.peek() {
                    Some('}' | ']') => out.extend(letters.next()),
                    _ => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            letter => {
                in_text = letter == '"';
                out.push(letter);
            }
        }
    }
    out.push('\n');
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_with_its_letters() {
        let json = "{\"q\":[{\"a\":\"x\\\",{\u{9b}\",\"n\":1.50},{}],\"e\":[]}\n";
        let expected = "{\n  \"q\": [\n    {\n      \"a\": \"x\\\",{\\u009b\",\n      \"n\": 1.50\n    },\n    {}\n  ],\n  \"e\": []\n}\n";
        assert_eq!(String::from_utf8(indented(json.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn the_last_line_says_what_is_left_out() {
        let all =
            TableExtent { rows: 1, rows_shown: 1, columns: 2, columns_shown: 2, cells_cut: 0 };
        assert_eq!(about(&all), "1 row");
        let some = TableExtent {
            rows: 1_234_567,
            rows_shown: 40,
            columns: 30,
            columns_shown: 7,
            cells_cut: 1,
        };
        assert_eq!(
            about(&some),
            "1,234,567 rows (40 shown), 30 columns (7 shown), 1 cell cut · \\rows all, \\format json shows all"
        );
    }

    #[test]
    fn formats_have_names() {
        assert_eq!(form_of("json").unwrap(), Form::Json);
        assert!(form_of("parquet").unwrap_err().to_string().contains("\\export"));
        assert!(form_of("cvs").unwrap_err().to_string().contains("there are table"));
        for name in super::super::commands::FORMATS {
            form_of(name).unwrap();
        }
    }
}
