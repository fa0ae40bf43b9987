//! Keeps the layers of `ARCHITECTURE.md`: what each module may use, that files use each other in
//! one direction, where unsafe code may be, and how long files and functions may get. Reads the
//! source as text, so it needs no tool.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod examples;
mod executor;
mod names;
mod words;

/// Bottom to top. A module may use the modules named, and itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("compat", &[]),
    ("types", &["compat"]),
    ("budget", &["types"]),
    ("text", &["compat", "types"]),
    ("geo", &["types"]),
    ("schema", &["types"]),
    ("formats", &["compat", "types", "schema"]),
    ("storage", &["types", "schema"]),
    ("index", &["types", "schema", "storage", "text", "geo"]),
    ("graph", &["types", "budget", "schema", "storage", "index", "formats", "text"]),
    ("durability", &["types", "storage", "graph"]),
    ("answer", &["types"]),
    ("plan", &["types", "schema"]),
    ("algo", &["types", "budget", "plan", "storage", "graph"]),
    (
        "exec",
        &[
            "types", "budget", "schema", "storage", "index", "text", "geo", "graph", "algo",
            "plan", "answer",
        ],
    ),
    ("planner", &["types", "graph", "storage", "plan", "exec"]),
    ("dql", &["compat", "types", "schema", "plan"]),
    ("scalar", &["types"]),
    ("cypher", &["types", "answer", "plan", "scalar"]),
    ("graphql", &["types", "text", "schema", "formats", "plan"]),
    (
        "db",
        &[
            "types",
            "budget",
            "schema",
            "formats",
            "storage",
            "graph",
            "durability",
            "algo",
            "plan",
            "exec",
            "planner",
            "answer",
            "dql",
            "scalar",
            "cypher",
            "graphql",
        ],
    ),
    ("layout", &["types"]),
    ("tables", &["types", "budget", "schema", "formats", "storage", "graph", "answer", "db"]),
    ("http", &["types", "budget", "answer", "db"]),
    ("cli", &["types", "budget", "cypher", "answer", "db", "tables", "http"]),
    // db.serve(), python -m hexgraph
    ("python", &["types", "budget", "cypher", "answer", "layout", "db", "tables", "http", "cli"]),
];

/// The only files that may hold `unsafe`.
const UNSAFE_FILES: &[&str] = &["storage/files/mapped.rs"];

/// The only files that may hold atomics.
const ATOMIC_FILES: &[&str] = &[
    "budget/pool.rs",
    "types/work/arrivals.rs",
    "types/work/placement.rs",
    "http/admission/quick.rs",
    "graph/version/uids.rs",
    "algo/lowered.rs",
    "graph/load/intern.rs",
    "storage/files/blocks.rs",
    "exec/control/stop.rs",
    "db/change/input.rs",
    "db/graphql/change/hooks.rs",
];

/// The only files that may switch on features: whole modules, and what `Database` keeps for one.
const FEATURE_FILES: &[&str] = &[
    "lib.rs",
    "compat/mod.rs",
    "db/mod.rs",
    "db/database.rs",
    "db/namespaces/namespace.rs",
    "db/files/mod.rs",
    "durability/interleavings.rs",
    "formats/mod.rs",
    "geo/mod.rs",
    "http/logs/spans/mod.rs",
    "text/mod.rs",
    "text/patterns/mod.rs",
    "types/features.rs",
    "types/values/mod.rs",
    "types/work/sync.rs",
];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["common", "core", "helpers", "manager", "misc", "shared", "utils"];

const FILE_LINES_MAX: usize = 800;
const COMMENT_WIDTH_MAX: usize = 100;
/// The most files of one folder, its `mod.rs` and its tests included; more are grouped.
const FOLDER_FILES_MAX: usize = 15;
const FUNCTION_LINES_MAX: usize = 70;

/// The members: the name that a `use` has for each, its sources, and the layer that all of it is,
/// where it is one.
const MEMBERS: &[(&str, &str, Option<&str>)] = &[
    ("hexgraph_base", "crates/base/src", None),
    ("hexgraph_cypher", "crates/cypher/src", Some("cypher")),
    ("hexgraph_scalar", "crates/scalar/src", Some("scalar")),
    ("hexgraph_dql", "crates/dql/src", Some("dql")),
    ("hexgraph_store", "crates/store/src", None),
    ("hexgraph_graphql", "crates/graphql/src", Some("graphql")),
    ("hexgraph", "src", None),
    ("hexgraph_server", "crates/server/src", None),
    ("hexgraph_python", "crates/python/src", Some("python")),
];

#[test]
fn source_is_tidy() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut faults = Vec::new();
    for (layer, _) in LAYERS {
        if !map.contains(&format!("`{layer}`")) {
            faults.push(format!("ARCHITECTURE.md: no `{layer}`"));
        }
    }
    for (_, folder, layer) in MEMBERS {
        let src = root.join(folder);
        let tests = test_modules(&src);
        check_folders(&src, &mut faults);
        for path in rust_files(&src) {
            let text = fs::read_to_string(&path).unwrap();
            if tests
                .iter()
                .any(|module| path.starts_with(module) || path == module.with_extension("rs"))
            {
                continue;
            }
            let name = path.strip_prefix(&src).unwrap().to_str().unwrap();
            let name = layer.map_or(name.to_owned(), |layer| format!("{layer}/{name}"));
            // Tests may reach anywhere and may be as long as they like.
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            check_uses(&name, code, &mut faults);
            check_words(&name, code, &mut faults);
            check_lengths(&name, code, &mut faults);
            check_comments(&name, code, &mut faults);
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Modules that are files of their own and compiled for tests only, as paths without ending.
fn test_modules(src: &Path) -> Vec<PathBuf> {
    let mut result = Vec::new();
    for path in rust_files(src) {
        let text = fs::read_to_string(&path).unwrap();
        for line in text.split("#[cfg(test)]\nmod ").skip(1) {
            let name = line.split(|c| !is_word(c)).next().unwrap();
            let is_file = line[name.len()..].starts_with(';');
            let folder = match path.ends_with("mod.rs") || path.ends_with("lib.rs") {
                true => path.parent().unwrap().to_owned(),
                false => path.with_extension(""),
            };
            result.extend(is_file.then(|| folder.join(name)));
        }
    }
    result
}

/// A folder can be looked over.
fn check_folders(src: &Path, faults: &mut Vec<String>) {
    let paths = rust_files(src);
    let mut folders: Vec<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    folders.sort_unstable();
    for files in folders.chunk_by(|one, other| one == other) {
        if FOLDER_FILES_MAX < files.len() {
            let folder = files[0].display();
            faults.push(format!("{folder}: {} files, most {FOLDER_FILES_MAX}", files.len()));
        }
    }
}

/// What a file uses lies below it.
fn check_uses(name: &str, code: &str, faults: &mut Vec<String>) {
    let module = name.split('/').next().unwrap().trim_end_matches(".rs");
    if module == "lib" || module == "main" {
        return;
    }
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == module) else {
        faults.push(format!("{name}: `{module}` has no line in LAYERS"));
        return;
    };
    for (number, used) in uses(code, module) {
        if used != module && !allowed.contains(&used.as_str()) {
            faults.push(format!("{name}:{number}: `{module}` may not use `{used}`"));
        }
    }
    for (number, line) in numbered_code(code) {
        if line.contains("super::super") || line.contains("super::") && name.ends_with("mod.rs") {
            faults.push(format!("{name}:{number}: `super` leaves the module, say `crate::`"));
        }
    }
}

/// The layers that a file of one names, with the numbers of the lines where it does, groups
/// (`crate::{graph, plan}`) included.
fn uses(code: &str, module: &str) -> Vec<(usize, String)> {
    let is_complete = MEMBERS.iter().any(|(_, _, layer)| *layer == Some(module));
    let lines: Vec<&str> = numbered_code(code).map(|(_, line)| line).collect();
    let text = lines.join("\n");
    let mut result = Vec::new();
    let inside = MEMBERS.iter().map(|(name, _, layer)| (*name, *layer));
    for (prefix, layer) in inside.chain([("crate", is_complete.then_some(module))]) {
        for (at, _) in text.match_indices(prefix) {
            let rest = &text[at + prefix.len()..];
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| is_word(c) || c == ':' || c == '$')
                || rest.starts_with(is_word)
            {
                continue;
            }
            let number = text[..at].matches('\n').count() + 1;
            match (layer, rest.strip_prefix("::")) {
                (Some(layer), _) => result.push((number, layer.to_owned())),
                (None, Some(path)) => result.extend(firsts(path).map(|used| (number, used))),
                (None, None) => {}
            }
        }
    }
    result
}

/// The first names of a path, or of each path of a group.
fn firsts(path: &str) -> impl Iterator<Item = String> {
    let mut names = vec![String::new()];
    let mut depth = 0;
    // Whether what is read is still the first name of its path.
    let mut is_first = true;
    for c in path.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                names.push(String::new());
                is_first = true;
            }
            c if c.is_whitespace() && 0 < depth => {}
            c if is_word(c) && is_first => names.last_mut().unwrap().push(c),
            _ => is_first = false,
        }
        if depth == 0 && !(is_word(c) && is_first) {
            break;
        }
    }
    names.into_iter().filter(|name| !name.is_empty())
}

#[test]
fn groups_of_uses_are_read() {
    let code = "use crate::graph::{A, B};\nuse hexgraph_base::{\n    types::{Error, Result}, plan,\n};\nlet x = crate::exec::run();\nuse hexgraph_dql::parse; // crate::http\n";
    let result: Vec<String> = uses(code, "db").into_iter().map(|(_, used)| used).collect();
    assert_eq!(result, ["types", "plan", "dql", "graph", "exec"]);
}

/// Unsafe code, feature switches and leftovers stay where they belong.
fn check_words(name: &str, code: &str, faults: &mut Vec<String>) {
    if name.ends_with("mod.rs") && !code.starts_with("//! ") {
        faults.push(format!("{name}:1: say what the module is for, in a `//!` line"));
    }
    if EMPTY_NAMES.iter().any(|empty| name.split(['/', '.']).any(|part| part == *empty)) {
        faults.push(format!("{name}: the name says nothing"));
    }
    for (number, line) in numbered_code(code) {
        let has = |word| line.split(|c| !is_word(c)).any(|w| w == word);
        if has("unsafe") && !UNSAFE_FILES.contains(&name) {
            faults.push(format!("{name}:{number}: unsafe outside UNSAFE_FILES"));
        }
        if line.contains("sync::atomic") && !ATOMIC_FILES.contains(&name) {
            faults.push(format!("{name}:{number}: atomics outside ATOMIC_FILES"));
        }
        if line.contains("rayon::") && name.starts_with("exec/") && name != "exec/control/stop.rs" {
            faults
                .push(format!("{name}:{number}: queries share work by `exec/control/morsels.rs`"));
        }
        if line.contains("feature = ") && !FEATURE_FILES.contains(&name) {
            faults.push(format!("{name}:{number}: feature switches outside FEATURE_FILES"));
        }
    }
    // Leftovers hide in comments too.
    for (index, line) in code.lines().enumerate() {
        if line.contains("FIXME") || line.contains("dbg!(") {
            faults.push(format!("{name}:{}: leftover", index + 1));
        }
    }
}

/// Prose in comments is wrapped; examples, tables and drawings are as wide as they have to be.
fn check_comments(name: &str, code: &str, faults: &mut Vec<String>) {
    let (mut is_example, mut is_session) = (false, false);
    for (index, line) in code.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            (is_example, is_session) = (false, false);
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim_start();
        is_example ^= text.starts_with("```");
        // A session of Python and what it prints, up to an empty line.
        is_session = !text.is_empty() && (is_session || text.starts_with(">>>"));
        let is_drawn = text.starts_with(['|', '.']) || text.contains("  ") || text.contains('→');
        let is_prose = !is_example && !is_session && !is_drawn;
        if is_prose && COMMENT_WIDTH_MAX < line.chars().count() {
            faults.push(format!("{name}:{}: wrap the comment at {COMMENT_WIDTH_MAX}", index + 1));
        }
    }
}

fn check_lengths(name: &str, code: &str, faults: &mut Vec<String>) {
    let lines: Vec<&str> = code.lines().collect();
    if FILE_LINES_MAX < lines.len() {
        faults.push(format!("{name}: {} lines, most {FILE_LINES_MAX}", lines.len()));
    }
    for (start, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let is_function =
            text.starts_with("fn ") || text.starts_with("pub") && text.contains(" fn ");
        if !is_function || text.ends_with([';', '}']) {
            continue;
        }
        // rustfmt puts the closing brace at the indent of the opening line.
        let end = format!("{}}}", &line[..line.len() - text.len()]);
        let length = lines[start..].iter().position(|l| *l == end).map_or(1, |n| n + 1);
        if FUNCTION_LINES_MAX < length {
            let number = start + 1;
            faults.push(format!("{name}:{number}: {length} lines, most {FUNCTION_LINES_MAX}"));
        }
    }
}

/// The files of a member by the paths of their modules: `db::query`, and nothing for the root.
type Modules = BTreeMap<String, Names>;

/// What a file names of others.
#[derive(Default)]
struct Names {
    /// The names that `use` brings in or hands on, each with its path as it is written.
    uses: Vec<(String, Vec<String>)>,
    /// All paths outside of `use`.
    paths: Vec<Vec<String>>,
    /// The modules that have no file of their own: `mod unix { … }`.
    inner: BTreeSet<String>,
}

/// For each pair of files of which the first uses the second: the names that it uses.
type Ties = BTreeMap<(String, String), BTreeSet<String>>;

/// Files that use each other can only be read, moved and tested together, and so can rooms. A
/// parent and its own parts may.
#[test]
fn files_use_each_other_in_one_direction() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut faults = Vec::new();
    for (_, folder, _) in MEMBERS {
        let ties = ties(&modules_of(&root.join(folder)));
        for (ties, what) in [(&ties, "files"), (&ties_of_capacities(&ties), "rooms")] {
            let reported = |circle: &Vec<&str>| {
                format!("a circle of {what} in {folder}:\n{}", reported(circle, ties))
            };
            faults.extend(circles(ties).iter().map(reported));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What the files of a member name, without tests.
fn modules_of(src: &Path) -> Modules {
    let tests = test_modules(src);
    let mut modules = Modules::new();
    for path in rust_files(src) {
        let module = path.with_extension("");
        if tests.iter().any(|test| module.starts_with(test)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let steps = module.strip_prefix(src).unwrap().iter().map(|step| step.to_str().unwrap());
        let steps: Vec<&str> = steps.filter(|step| !["mod", "lib"].contains(step)).collect();
        modules.insert(steps.join("::"), names(&text));
    }
    modules
}

/// What a file names.
fn names(text: &str) -> Names {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines: Vec<&str> = numbered_code(code).map(|(_, line)| line).collect();
    let code = lines.join("\n");
    let mut result = Names::default();
    for line in &lines {
        let inner = line.split_once("mod ").and_then(|(_, rest)| rest.strip_suffix(" {"));
        result.inner.extend(inner.map(str::to_owned));
    }
    for statement in code.split(';') {
        // The last words before a semicolon may be a `use`.
        let is_path = |c: char| is_word(c) || c.is_whitespace() || ":{},*".contains(c);
        let cut = statement.rsplit_once("use ");
        let cut =
            cut.filter(|(before, path)| !before.ends_with(is_word) && path.chars().all(is_path));
        let rest = match cut {
            Some((before, path)) => {
                expand(path, &[], &mut result.uses);
                before
            }
            None => statement,
        };
        for token in rest.split(|c| !is_word(c) && c != ':').filter(|token| token.contains("::")) {
            let path: Vec<String> = token.split("::").map(str::to_owned).collect();
            result.paths.push(path.into_iter().filter(|step| !step.is_empty()).collect());
        }
    }
    result
}

/// The paths of a `use`, its groups written out, with the names that they bring in.
fn expand(text: &str, before: &[String], result: &mut Vec<(String, Vec<String>)>) {
    let (mut depth, mut start) = (0, 0);
    let ends = text.char_indices().chain([(text.len(), ',')]);
    for (at, c) in ends {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand_one(text[start..at].trim(), before, result);
                start = at + 1;
            }
            _ => {}
        }
    }
}

fn expand_one(text: &str, before: &[String], result: &mut Vec<(String, Vec<String>)>) {
    let (path, group) = text.split_once('{').map_or((text, None), |(path, it)| (path, Some(it)));
    let (path, name) = path.split_once(" as ").map_or((path, None), |(path, it)| (path, Some(it)));
    let steps = path.split("::").map(str::trim).filter(|step| !step.is_empty());
    let mut steps: Vec<String> = before.iter().cloned().chain(steps.map(str::to_owned)).collect();
    if let Some(group) = group {
        return expand(group.trim_end().trim_end_matches('}'), &steps, result);
    }
    // `a::{self}` is `a`.
    if 1 < steps.len() {
        steps.pop_if(|last| last == "self");
    }
    if let Some(last) = steps.last() {
        result.push((name.map_or(last.clone(), |name| name.trim().to_owned()), steps));
    }
}

/// Who uses what of whom.
fn ties(modules: &Modules) -> Ties {
    let mut ties = Ties::new();
    for (from, names) in modules {
        for path in names.uses.iter().map(|(_, path)| path).chain(&names.paths) {
            let Some((to, name)) = owner(modules, from, path, 0) else { continue };
            let is_part = |part: &str, full: &str| {
                part == full || full.is_empty() || part.starts_with(&format!("{full}::"))
            };
            if !is_part(from, &to) && !is_part(&to, from) {
                ties.entry((from.clone(), to)).or_default().insert(name);
            }
        }
    }
    ties
}

/// The ties between the modules at the top of a member, each a file or a folder.
fn ties_of_capacities(ties: &Ties) -> Ties {
    let capacity = |file: &str| file.split("::").next().unwrap_or_default().to_owned();
    let mut capacities = Ties::new();
    for ((from, to), names) in ties {
        let (from, to) = (capacity(from), capacity(to));
        if from != to && !from.is_empty() && !to.is_empty() {
            capacities.entry((from, to)).or_default().extend(names.iter().cloned());
        }
    }
    capacities
}

/// The file that a path leads to, through the modules that hand names on, with the name that it has
/// there. `None` for what is of another crate, of the file itself, or a module as a whole: paths
/// that go on from it are looked at themselves.
fn owner(modules: &Modules, from: &str, path: &[String], depth: usize) -> Option<(String, String)> {
    let mut at = from.to_owned();
    for (position, step) in path.iter().enumerate() {
        let child = if at.is_empty() { step.clone() } else { format!("{at}::{step}") };
        match step.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => at = at.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned(),
            _ if modules.contains_key(&child) => at = child,
            _ if modules.get(&at).is_some_and(|names| names.inner.contains(step)) => {
                return Some((at, path.last().unwrap_or(step).clone()));
            }
            _ => {
                let existing = modules.get(&at)?.uses.iter().find(|(name, _)| name == step);
                // A name may lead to itself: `use it;`.
                if let Some((_, to)) = existing.filter(|_| depth < 8) {
                    let full = [to.as_slice(), &path[position + 1..]].concat();
                    return owner(modules, &at, &full, depth + 1);
                }
                return (0 < position).then(|| (at, step.clone()));
            }
        }
    }
    None
}

/// The largest sets of files each of which leads to all others, in the order of their first files.
fn circles(ties: &Ties) -> Vec<Vec<&str>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, _) in ties.keys() {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.as_str()]);
        while let Some(at) = open.pop() {
            let next = ties.keys().filter(|(from, _)| from == at).map(|(_, to)| to.as_str());
            open.extend(next.filter(|to| seen.insert(*to)));
        }
        reached.insert(from, seen);
    }
    let mut result: Vec<Vec<&str>> = Vec::new();
    for (from, seen) in &reached {
        let leads_back = |to: &&&str| reached.get(**to).is_some_and(|back| back.contains(from));
        let circle: Vec<&str> = seen.iter().filter(leads_back).copied().collect();
        if !circle.is_empty() && !result.contains(&circle) {
            result.push(circle);
        }
    }
    result
}

/// The files of a circle, and the names that tie it.
fn reported(circle: &[&str], ties: &Ties) -> String {
    let has = |file: &String| circle.contains(&file.as_str());
    let within = ties.iter().filter(|((from, to), _)| has(from) && has(to));
    let lines = within.map(|((from, to), names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("    {from} uses {to}: {}", names.join(", "))
    });
    let lines: Vec<String> = lines.collect();
    format!("  {circle:?}\n{}", lines.join("\n"))
}

#[test]
fn circles_are_found() {
    let files = [
        ("", "mod a;\npub mod b;\nmod d;\n"),
        ("a", "use crate::b::{self, One as First};\nfn a(_: First) { b::run() }\n"),
        ("b", "//! Hands on.\nmod c;\nmod e;\npub use c::{One, run};\n"),
        // A path of its own leads back to the first file.
        ("b::c", "use super::super::d;\nfn run() { crate::a::stop::<u8>(d::go()); }\n"),
        (
            "d",
            "use std::fmt;\nuse it;\n// use crate::b::c;\nfn go() {}\n#[cfg(test)]\nmod tests {\n    use crate::a::stop;\n}\n",
        ),
        // A part and its parent.
        ("b::e", "use super::go;\nuse super::e::f::g;\nfn h() { fmt::write() }\n"),
        ("b::e::f", "use super::h;\n"),
        // What a module without a file hands on is of the file around it.
        ("g", "use crate::h::Options;\npub use unix::Socket;\nmod unix {\n    struct Socket;\n}\n"),
        ("h", "use crate::g::Socket;\nstruct Options(Socket);\n"),
    ];
    let read = |(path, text): &(&str, &str)| ((*path).to_owned(), names(text));
    let ties = ties(&files.iter().map(read).collect());
    assert_eq!(circles(&ties), [["a", "b::c"], ["g", "h"]]);
    let want = "  [\"a\", \"b::c\"]\n    a uses b::c: One, run\n    b::c uses a: stop";
    assert_eq!(reported(&["a", "b::c"], &ties), want);
}

/// The lines without their comments, numbered from one.
fn numbered_code(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().map(|(index, line)| (index + 1, line.split("//").next().unwrap()))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut result = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            result.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            result.push(path);
        }
    }
    result.sort();
    result
}
