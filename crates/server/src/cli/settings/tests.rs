use super::options::{Shape, key_of, settable, variable_of};
use super::*;
use crate::cli::arguments::Arguments;
use clap::{Arg, Command, CommandFactory};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Three valid values for each kind of value, by its name in the help.
const SAMPLES: &[(&str, [&str; 3])] = &[
    ("PORT", ["1001", "1002", "off"]),
    ("FILE", ["/a", "/b", "/c"]),
    ("DIR", ["/a", "/b", "/c"]),
    ("PATH", ["a", "/b", "-c"]),
    ("MODE", ["600", "660", "0o640"]),
    ("ADDRESS:PORT", ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"]),
    ("HOST", ["127.0.0.1", "0.0.0.0", "::1"]),
    ("URL", ["http://a", "http://b", "http://c"]),
    ("SECONDS", ["1", "2.5", "3"]),
    ("DURATION", ["1s", "250ms", "3s"]),
    ("NUMBER", ["1", "2", "3"]),
    ("BYTES", ["1MiB", "2MiB", "3MiB"]),
    ("WHEN", ["always", "never", "every=1s"]),
    ("NAME", ["a.example", "b.example", "c.example"]),
    ("ORIGIN", ["https://a", "https://b", "https://c"]),
    ("NAME=VALUE", ["anonymous=full", "anonymous=data", "anonymous=none"]),
    ("SETTINGS", ["access-ttl=1h", "access-ttl=2h", "access-ttl=3h"]),
];

fn samples(option: &Arg) -> [String; 3] {
    if Shape::of(option) == Shape::Switch {
        return ["true".into(), "true".into(), "true".into()];
    }
    let values = option.get_possible_values();
    if !values.is_empty() {
        return [0, 1, 2].map(|at| values[at % values.len()].get_name().to_owned());
    }
    let name = option
        .get_value_names()
        .map_or_else(|| option.get_id().as_str().to_uppercase(), |names| names[0].to_string());
    let row = SAMPLES.iter().find(|(kind, _)| *kind == name);
    let (_, samples) = row.unwrap_or_else(|| panic!("{name}: give three samples of it"));
    samples.map(str::to_owned)
}

/// What `hexgraph config` prints for these words, variables and file.
fn config(words: &[&str], variables: &[(&str, &str)], file: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.toml");
    fs::write(&path, file).unwrap();
    let program = Arguments::command();
    let all = ["hexgraph", "--config", path.to_str().unwrap(), "config"];
    let words = all.iter().chain(words).map(OsString::from).collect();
    let variable = |name: &str| {
        let set = variables.iter().find(|(other, _)| *other == name);
        set.map(|(_, value)| OsString::from(value))
    };
    let without_folder = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    let settings = LayeredSettings::read(&program, words, variable)
        .map_err(|error| without_folder(error.to_string()))?;
    let lenient = program.clone().ignore_errors(true);
    let matches = lenient.try_get_matches_from(&settings.words).unwrap();
    let (_, matches) = matches.subcommand().unwrap();
    Ok(without_folder(in_force(program.find_subcommand("config").unwrap(), matches, &settings)))
}

/// The lines of an option in what `hexgraph config` prints, as one.
fn lines_of(key: &str, text: &str) -> String {
    let start = text.lines().position(|line| {
        line.starts_with(&format!("{key} = ")) || line == format!("# {key} is not set")
    });
    let lines: Vec<&str> = text.lines().skip(start.unwrap_or_else(|| panic!("{key}"))).collect();
    let count = if lines[0].contains(" = [") { 3 } else { 1 };
    lines[..count].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The flag has precedence over the variable, the variable over the file, the file over the
/// default: for each option of `serve`, also one of tomorrow.
#[test]
fn each_option_has_a_variable_and_a_key() {
    let program = Arguments::command();
    let serve = program.find_subcommand("serve").unwrap();
    assert!(40 < settable(serve).count());
    for option in settable(serve) {
        let (key, [flag, variable, file]) = (key_of(option), samples(option));
        let switch = Shape::of(option) == Shape::Switch;
        let name = variable_of(&key);
        let word = match (switch, option.is_positional()) {
            (true, _) => format!("--{key}"),
            (false, true) => flag.clone(),
            (false, false) => format!("--{key}={flag}"),
        };
        let toml = if switch { format!("{key} = true") } else { format!("{key} = '{file}'") };
        let toml = format!("\n{toml}");
        let variables = [(name.as_str(), variable.as_str())];
        let shown = |words: &[&str], variables: &[(&str, &str)], toml: &str| {
            lines_of(&key, &config(words, variables, toml).unwrap())
        };
        let is = |line: &str, value: &str, source: &str| {
            let value = value.strip_prefix("-").map_or(value.to_owned(), |it| format!("./-{it}"));
            assert!(line.contains(source) && line.contains(&value), "{key}: {line}");
            assert_eq!(line.matches('#').count(), 1, "{line}");
        };
        is(&shown(&[&word], &variables, &toml), &flag, "# flag");
        is(&shown(&[], &variables, &toml), &variable, &format!("# variable {name}"));
        let file = file.trim_start_matches('-');
        is(&shown(&[], &[], &toml), file, "# file f.toml:2");
        let default = shown(&[], &[], "");
        assert!(default.contains("# default") || default.contains("is not set"), "{default}");
        if switch {
            is(&shown(&[], &[(&name, "off")], &toml), "false", &format!("# variable {name}"));
        }
    }
}

/// Variables that are no options have the meaning that they had.
#[test]
fn no_option_has_the_name_of_a_secret() {
    let program = Arguments::command();
    let serve = program.find_subcommand("serve").unwrap();
    for option in settable(serve) {
        let name = variable_of(&key_of(option));
        assert!(!["HEXGRAPH_ADMIN_KEY", "HEXGRAPH_CLIENT_KEY", "HEXGRAPH_TOKEN"].contains(&&*name));
    }
}

#[test]
fn named_settings_are_layered_by_name() {
    let text = config(
        &["--limit", "timeout=1s"],
        &[("HEXGRAPH_LIMIT", "timeout=2s; memory=2GiB")],
        "[limit]\ntimeout = '3s'\nmemory = '3GiB'\nbody = '3MiB'\n",
    )
    .unwrap();
    let want = "limit = [
    \"body=3MiB\",  # file f.toml:4
    \"memory=2GiB\",  # variable HEXGRAPH_LIMIT
    \"timeout=1s\",  # flag
]";
    assert!(text.contains(want), "{text}");
}

#[test]
fn no_secret_is_shown() {
    let text = config(
        &["--security", "admin-key=hunter1;whitelist=10.0.0.1", "--security", "hunter2"],
        &[
            ("HEXGRAPH_SECURITY", "client-key=hunter3;client-key=hunter4"),
            ("HEXGRAPH_GRAPHQL_LAMBDA_URL", "https://user:hunter5@host/p?q@"),
        ],
        "acl = 'secret-file=/s; sceret=hunter6'\n[security]\ntoken = 'hunter7'\n",
    )
    .unwrap();
    assert!(!text.contains("hunter"), "{text}");
    for shown in [
        "\"token=***\",  # file f.toml:3",
        "\"client-key=***\",  # variable HEXGRAPH_SECURITY",
        "\"admin-key=***; whitelist=10.0.0.1\",  # flag",
        "\"***\",  # flag",
        "acl = \"secret-file=/s; sceret=***\"",
        "\"https://***@host/p?q@\"",
    ] {
        assert!(text.contains(shown), "{shown}\n{text}");
    }
}

#[test]
fn what_is_printed_is_a_file_of_settings() {
    let text = config(&["data", "--limit", "uids=\"\\7", "--port", "0"], &[], "").unwrap();
    let again = config(&[], &[], &text).unwrap();
    let values = |text: &str| {
        let lines = text.lines().map(|line| line.split("  # ").next().unwrap().to_owned());
        lines.collect::<Vec<_>>()
    };
    assert_eq!(values(&again), values(&text));
}

#[test]
fn faults_of_a_file_name_their_line() {
    for (file, why) in [
        ("\nprot = 1", "f.toml:2: `prot` is no setting (did you mean `port`?)"),
        ("grpc_port = 1", "did you mean `grpc-port`?"),
        ("[serve]\nport = 1", "f.toml:1: `serve` is no setting"),
        ("port = true", "f.toml:1: `port` is a boolean: expected a string or a number"),
        ("port = [1]", "`port` is a list: expected"),
        ("port = 0x10", "`port` is a number in another base: expected a decimal number"),
        ("read-only = 'yes'", "`read-only` is a string: expected true or false"),
        ("allow-host = [['a']]", "`allow-host` is a list: expected a string"),
        ("allow-host = true", "`allow-host` is a boolean: expected a list of strings"),
        ("[limit]\na = 1979-05-27", "f.toml:2: `limit.a` is a date"),
        ("a = 'hunter\n", "f.toml:1: "),
        ("port = 1\nport = 2", "f.toml:2: "),
    ] {
        let error = config(&[], &[], file).unwrap_err();
        assert!(error.contains(why) && !error.contains("hunter"), "{file}: {error}");
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(config(&[], &[], &deep).unwrap_err().contains("f.toml:1: "));
}

#[test]
fn faults_of_variables_name_them() {
    for (name, value, why) in [
        ("HEXGRAPH_ACL", " ", "the environment variable HEXGRAPH_ACL: it is empty"),
        ("HEXGRAPH_READ_ONLY", "maybe", "HEXGRAPH_READ_ONLY: expected true or false"),
    ] {
        let error = config(&[], &[(name, value)], "").unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let ignored =
        [("HEXGRAPH_WHAT", "1"), ("HEXGRAPH_PORT", "tcp://10.0.0.1:8080"), ("HEXGRAPH_FORMAT", "")];
    assert_eq!(config(&[], &ignored, ""), config(&[], &[], ""));
}

fn read(words: &[&str], variables: &[(&str, &str)]) -> LayeredSettings {
    let words = words.iter().map(OsString::from).collect();
    let variable = |name: &str| {
        let set = variables.iter().find(|(other, _)| *other == name);
        set.map(|(_, value)| OsString::from(value))
    };
    LayeredSettings::read(&Arguments::command(), words, variable).unwrap()
}

/// Other commands have the options that they have in common, after the name of the command.
#[test]
fn other_commands_have_common_options() {
    let all = [("HEXGRAPH_NAMESPACE", "3"), ("HEXGRAPH_TIMEOUT", "2"), ("HEXGRAPH_FILE", "f")];
    for (words, want) in [
        (
            &["hexgraph", "query", "d", "q"][..],
            &["hexgraph", "query", "--namespace=3", "--timeout=2", "d", "q"][..],
        ),
        (
            &["hexgraph", "keys", "create", "d"],
            &["hexgraph", "keys", "create", "--namespace=3", "d"],
        ),
        (&["hexgraph", "query", "d", "--timeout", "1"], &["hexgraph", "query", "--namespace=3"]),
        (&["hexgraph", "check", "d"], &["hexgraph", "check", "d"]),
        (&["hexgraph", "--version"], &["hexgraph", "--version"]),
        (&["hexgraph"], &["hexgraph"]),
        (&[], &[]),
    ] {
        let settings = read(words, &all);
        assert!(settings.words.iter().zip(want).all(|(a, b)| a == b), "{:?}", settings.words);
        assert!(want.len() <= settings.words.len());
    }
}

/// A setting that does not go with others is reported with its source.
#[test]
fn notes_name_the_source_of_a_setting() {
    let words = ["hexgraph", "serve", "d", "--read-only"];
    let settings = read(&words, &[("HEXGRAPH_SCHEMA", "s"), ("HEXGRAPH_PORT", "1")]);
    let error = Arguments::command().try_get_matches_from(&settings.words).unwrap_err();
    let notes = settings.notes_of(&error);
    assert_eq!(notes, ["note: --schema is set by the variable HEXGRAPH_SCHEMA"]);
    assert!(settings.notes("--ports --schemata").is_empty());
    let settings = read(&words, &[("HEXGRAPH_LIMIT", "timeout=soon;body=1MiB")]);
    let notes = settings.notes("limit timeout=soon: expected a time");
    assert_eq!(notes, ["note: --limit is set by the variable HEXGRAPH_LIMIT"]);
}

#[cfg(unix)]
#[test]
fn a_file_with_secrets_that_others_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.toml");
    for (file, mode, warns) in [
        ("security = 'token=x'", 0o640, true),
        ("[security]\nadmin-key = ['x', 'y']", 0o604, true),
        ("security = 'token=x'", 0o600, false),
        ("security = 'whitelist=10.0.0.1'\nport = 1", 0o644, false),
    ] {
        fs::write(&path, file).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let settings = read(&["hexgraph", "serve", "--config", path.to_str().unwrap()], &[]);
        assert_eq!(!settings.warnings.is_empty(), warns, "{file} {mode:o}");
    }
}

/// The rows of the page: option, variable, default.
fn rows(serve: &Command) -> String {
    let rows = settable(serve).map(|option| {
        let key = key_of(option);
        let flag = if option.is_positional() { "PATH".into() } else { format!("--{key}") };
        let values = option.get_default_values().iter().map(|value| value.to_string_lossy());
        let default = values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" ");
        let default = if Shape::of(option) == Shape::Switch { "`false`".into() } else { default };
        format!("| `{flag}` | `{}` | `{key}` | {default} |\n", variable_of(&key))
            .replace("|  |", "| |")
    });
    rows.collect()
}

/// `HEXGRAPH_UPDATE_DOCS=1` writes the table.
#[test]
fn the_page_lists_each_setting() {
    let program = Arguments::command();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command-line.md");
    let page = fs::read_to_string(&path).unwrap();
    let head = "| option | variable | key | default |\n|---|---|---|---|\n";
    let (before, rest) = page.split_once(head).expect("the table of settings");
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    let want = rows(program.find_subcommand("serve").unwrap());
    if std::env::var_os("HEXGRAPH_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{head}{want}{}", &rest[end..])).unwrap();
    } else {
        assert_eq!(&rest[..end], want);
    }
}
