//! The commands of the shell, which begin with `\`.

use hexgraph_base::types::did_you_mean;

/// What follows the name of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Nothing,
    Switch,
    Format,
    File,
    Name,
    Number,
    Text,
}

/// A command: its name, what follows it, how it is written, and what it does.
pub(super) struct CommandDef {
    pub name: &'static str,
    pub argument: Argument,
    pub usage: &'static str,
    pub what: &'static str,
}

const fn def(
    name: &'static str,
    argument: Argument,
    usage: &'static str,
    what: &'static str,
) -> CommandDef {
    CommandDef { name, argument, usage, what }
}

/// All commands, in the order of the help.
pub(super) const COMMANDS: [CommandDef; 18] = [
    def("schema", Argument::Nothing, "", "print the schema"),
    def("describe", Argument::Name, "[NAME]", "types and predicates with counts, or one of them"),
    def("explain", Argument::Text, "[QUERY]", "the plan of a query, or of the last one"),
    def("profile", Argument::Text, "[QUERY]", "run it, and print its plan with rows and times"),
    def("timing", Argument::Switch, "on|off", "print how long statements run"),
    def("format", Argument::Format, "FORMAT", "table, json, csv, jsonl or markdown"),
    def("rows", Argument::Number, "NUMBER|all", "the most rows of a table on the terminal"),
    def("pager", Argument::Switch, "on|off", "stop after each page, or run $PAGER"),
    def(
        "export",
        Argument::File,
        "FILE",
        "write the last result (.csv .json .parquet …), or all data (.rdf .rdf.gz)",
    ),
    def("load", Argument::File, "FILE…", "load files, with the options of `hexgraph load`"),
    def("alter", Argument::Text, "DEFINITIONS", "change the schema"),
    def("use", Argument::Number, "NAMESPACE", "go on in another namespace"),
    def("graphql", Argument::Text, "[REQUEST]", "go on in GraphQL, or run one request"),
    def("dql", Argument::Text, "[REQUEST]", "go on in DQL, or run one request"),
    def("history", Argument::Nothing, "", "print the file of the history"),
    def("help", Argument::Nothing, "", "print this"),
    def("quit", Argument::Nothing, "", "quit the shell, as Ctrl-D does"),
    def("q", Argument::Nothing, "", "the same"),
];

/// The formats that `\format` accepts.
pub(super) const FORMATS: [&str; 5] = ["table", "json", "csv", "jsonl", "markdown"];

/// The command of a name.
pub(super) fn command_of(name: &str) -> Option<&'static CommandDef> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// What to write instead of a name that no command has.
pub(super) fn hint_for(name: &str) -> String {
    match did_you_mean(name, COMMANDS.iter().map(|command| command.name)) {
        hint if hint.is_empty() => "\\help lists the commands".to_owned(),
        hint => format!("{hint}; \\help lists the commands"),
    }
}

/// The help.
pub(super) fn help() -> String {
    let mut text = "A query, a mutation or N-Quads run when their braces are balanced; `#` begins a comment.\n\
        A text that begins with MATCH, RETURN or another clause is Cypher, and runs at `;` or a blank line.\n\n".to_owned();
    for CommandDef { name, usage, what, .. } in COMMANDS.iter().filter(|it| it.name != "q") {
        text += &format!("  {:<22}{what}\n", format!("\\{name} {usage}").trim_end());
    }
    text + "\nTab completes, the right arrow accepts a hint, Ctrl-R searches the history.\nCtrl-C stops a query, Ctrl-D quits.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_has_a_hint() {
        assert!(hint_for("shema").contains("schema"), "{}", hint_for("shema"));
        assert_eq!(hint_for("xyzzy"), "\\help lists the commands");
        assert!(help().contains("\\load FILE…"));
        assert!(help().lines().all(|line| line.chars().count() <= 110), "{}", help());
    }
}
