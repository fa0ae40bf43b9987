//! Prints definitions, laid out as Dgraph lays them out.

use apollo_compiler::ast;
use hexgraph_base::types::stack;
use std::fmt::Write;

use crate::generate::layout::tree::{ArgumentEntry, Definition, Entry, Word};

/// The first and last line of a banner.
const RULE: &str = "#######################";

/// Prints definitions below a banner. Without definitions it prints nothing.
pub(in crate::generate) fn print_section(
    text: &mut String,
    title: &str,
    definitions: &[&Definition],
) {
    if definitions.is_empty() {
        return;
    }
    print_banner(text, title);
    for definition in definitions {
        print_definition(text, definition);
        text.push('\n');
    }
}

/// Prints the three lines over a section.
pub(in crate::generate) fn print_banner(text: &mut String, title: &str) {
    append(text, format_args!("{RULE}\n# {title}\n{RULE}\n\n"));
}

fn print_definition(text: &mut String, definition: &Definition) {
    print_description(text, "", &definition.description);
    let word = match definition.word {
        Word::Type => "type",
        Word::Interface => "interface",
        Word::Union => "union",
        Word::Enum => "enum",
        Word::Input => "input",
    };
    append(text, format_args!("{word} {}", definition.name));
    if !definition.interfaces.is_empty() {
        append(text, format_args!(" implements {}", definition.interfaces.join(" & ")));
    }
    text.push_str(&definition.directives);
    // A union has members instead of fields.
    if definition.word == Word::Union {
        append(text, format_args!(" = {}\n", definition.members.join(" | ")));
        return;
    }
    text.push_str(" {\n");
    for field in &definition.fields {
        print_entry(text, field);
    }
    text.push_str("}\n");
}

/// Prints a field, or a value of an enum, in a line of its own.
fn print_entry(text: &mut String, entry: &Entry) {
    print_description(text, "\t", &entry.description);
    append(text, format_args!("\t{}", entry.name));
    if !entry.arguments.is_empty() {
        let arguments: Vec<String> = entry.arguments.iter().map(argument_text).collect();
        append(text, format_args!("({})", arguments.join(", ")));
    }
    if let Some(ty) = &entry.ty {
        append(text, format_args!(": {ty}"));
    }
    append(text, format_args!("{}\n", entry.directives));
}

/// Returns an argument with its description, in one line.
fn argument_text(argument: &ArgumentEntry) -> String {
    let mut text = String::new();
    if !argument.description.is_empty() {
        append(&mut text, format_args!("{} ", quote(&argument.description)));
    }
    append(&mut text, format_args!("{}: {}{}", argument.name, argument.ty, argument.default));
    text
}

/// Prints a description as a block string; nothing when it is empty.
fn print_description(text: &mut String, indent: &str, description: &str) {
    if !description.is_empty() {
        let description = description.replace("\"\"\"", "\\\"\"\"");
        // A quote at the end would run into the three that close the string.
        let blank = if description.ends_with(['"', '\\']) { "\n" } else { "" };
        append(text, format_args!("{indent}\"\"\"{description}{blank}\"\"\"\n"));
    }
}

/// Returns directives as they are printed after a field or a name, each with a blank before it.
pub(in crate::generate) fn directives_text<'a>(
    directives: impl IntoIterator<Item = &'a ast::Directive>,
) -> String {
    let mut text = String::new();
    for directive in directives {
        append(&mut text, format_args!(" @{}", directive.name));
        if !directive.arguments.is_empty() {
            let arguments = directive.arguments.iter();
            let arguments: Vec<String> =
                arguments.map(|arg| format!("{}: {}", arg.name, value_text(&arg.value))).collect();
            append(&mut text, format_args!("({})", arguments.join(", ")));
        }
    }
    text
}

/// Returns a value as it is printed: without blanks between its parts.
pub(in crate::generate) fn value_text(value: &ast::Value) -> String {
    let mut text = String::new();
    print_value(&mut text, value);
    text
}

fn print_value(text: &mut String, value: &ast::Value) {
    stack::require();
    match value {
        ast::Value::Null => text.push_str("null"),
        ast::Value::Enum(name) => text.push_str(name),
        ast::Value::Variable(name) => append(text, format_args!("${name}")),
        ast::Value::String(value) => text.push_str(&quote(value)),
        ast::Value::Float(number) => text.push_str(number.as_str()),
        ast::Value::Int(number) => text.push_str(number.as_str()),
        ast::Value::Boolean(value) => append(text, format_args!("{value}")),
        ast::Value::List(values) => {
            text.push('[');
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                print_value(text, value);
            }
            text.push(']');
        }
        ast::Value::Object(fields) => {
            text.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                append(text, format_args!("{}{name}:", if at > 0 { "," } else { "" }));
                print_value(text, value);
            }
            text.push('}');
        }
    }
}

/// Returns a text between quotes, with the escapes of GraphQL.
fn quote(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 2);
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control < ' ' => {
                append(&mut text, format_args!("\\u{:04x}", u32::from(control)));
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

fn append(text: &mut String, chunk: std::fmt::Arguments<'_>) {
    text.write_fmt(chunk).expect("a string takes all that is written");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::layout::tree::one;

    #[test]
    fn a_definition_is_laid_out() {
        let mut definition = Definition::new(Word::Type, "A");
        definition.description = "Say \"hi\"".into();
        definition.interfaces = vec!["I".into(), "J".into()];
        let arguments = vec![ArgumentEntry::new("x", one("Int"))];
        definition.fields.push(Entry::new("f", one("T")).taking(arguments));
        let mut text = String::new();
        print_section(&mut text, "Here", &[&definition]);
        let body = "\"\"\"Say \"hi\"\n\"\"\"\ntype A implements I & J {\n\tf(x: Int): T\n}\n\n";
        assert_eq!(text, format!("{RULE}\n# Here\n{RULE}\n\n{body}"));
    }

    #[test]
    fn strings_are_quoted() {
        assert_eq!(quote("a\"\\\n\u{1}é"), "\"a\\\"\\\\\\n\\u0001é\"");
    }
}
