//! What the pages of the project name exists: the files that links lead to, the source files that
//! the pages on the inside name, and the functions and types that they name by a path such as
//! `Changes::apply`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages whose links are followed, beside those in `docs`.
const PAGES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CRATE.md",
    "RELEASING.md",
    "SECURITY.md",
    "STYLE.md",
    "benches/README.md",
];

/// Where the project lies on the web; a link there is one to a file of the repository.
const HOME: &str = "https://github.com/hexgraph/hexgraph/blob/main/";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// All files below a folder whose names end in `ending`, without what builds leave behind.
fn files(folder: &Path, ending: &str, result: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            files(&path, ending, result);
        } else if name.ends_with(ending) {
            result.push(path);
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = PAGES.iter().map(|page| root().join(page)).collect();
    pages.retain(|page| page.is_file());
    files(&root().join("docs"), ".md", &mut pages);
    pages
}

/// The pages on the inside: they may name any source file.
fn inner_pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("ARCHITECTURE.md")];
    files(&root().join("docs/internals"), ".md", &mut pages);
    pages
}

/// The chunks of a text between backquotes, without blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// The links of a page to files of the repository: the file, and the anchor after `#`.
fn links(page: &Path) -> Vec<(PathBuf, String)> {
    let text = fs::read_to_string(page).unwrap();
    let mut result = Vec::new();
    for (link, _) in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')) {
        let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
        if target.contains("://") && !target.starts_with(HOME) {
            continue;
        }
        let path = match target.strip_prefix(HOME) {
            Some(path) => root().join(path),
            None if target.is_empty() => page.to_owned(),
            None => page.parent().unwrap().join(target),
        };
        result.push((path, anchor.to_owned()));
    }
    result
}

/// The anchors of the headings of a page, as GitHub makes them.
fn anchors(page: &Path) -> HashSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let prose = text.split("```").step_by(2);
    let headings = prose.flat_map(str::lines).filter(|line| line.starts_with('#'));
    let is_retained = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let anchor = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim();
        heading
            .to_lowercase()
            .chars()
            .filter(is_retained)
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut faults = Vec::new();
    for page in pages() {
        for (path, anchor) in links(&page) {
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            if !path.exists() {
                faults.push(format!("{}: {} leads nowhere", page.display(), path.display()));
            } else if is_page && !anchor.is_empty() && !anchors(&path).contains(&anchor) {
                faults.push(format!("{}: {} has no #{anchor}", page.display(), path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_page_on_the_inside_is_linked() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for page in inner_pages().iter().skip(1) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            map.contains(&format!("(docs/internals/{name})")),
            "ARCHITECTURE.md has no link to {name}"
        );
    }
}

#[test]
fn files_and_names_on_the_inside_exist() {
    let mut sources = Vec::new();
    for folder in ["src", "crates", "tests", "fuzz", "benches"] {
        files(&root().join(folder), ".rs", &mut sources);
        files(&root().join(folder), ".graphql", &mut sources);
    }
    let texts: Vec<String> = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: HashSet<&str> = texts.iter().flat_map(|text| text.split(|c| !is_word(c))).collect();
    let mut faults = Vec::new();
    for page in inner_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for name in quoted(&text) {
            let is_file = name.ends_with(".rs") && !name.contains(['{', '*', ' ']);
            let is_known = sources.iter().any(|path| path.ends_with(name));
            let is_path = name.contains("::") && name.chars().all(|c| is_word(c) || c == ':');
            let is_missing = is_path && !name.split("::").all(|step| words.contains(step));
            if is_file && !is_known || is_missing {
                faults.push(format!("{}: there is no `{name}`", page.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Sentences of pages on the inside have at most so many words.
const WORDS_MAX: usize = 30;

/// The sentences of a page: without code, tables and headings, each item of a list apart.
fn sentences(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let mut paragraphs = vec![String::new()];
    for line in prose.lines() {
        let text = line.trim_start();
        let is_item = text.starts_with("- ")
            || text.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if text.is_empty() || is_item || text.starts_with(['#', '|']) {
            paragraphs.push(String::new());
        }
        if !text.starts_with(['#', '|']) {
            let last = paragraphs.last_mut().unwrap();
            last.push_str(text);
            last.push(' ');
        }
    }
    let ends = |text: &str| text.replace(": ", ". ").replace("? ", ". ");
    let all = paragraphs
        .iter()
        .flat_map(|text| ends(text).split(". ").map(str::to_owned).collect::<Vec<_>>());
    all.collect()
}

#[test]
fn pages_on_the_inside_are_short_and_name_their_tests() {
    let mut faults = Vec::new();
    for page in inner_pages().iter().skip(1) {
        let name = page.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(page).unwrap();
        for sentence in sentences(&text) {
            let words = sentence
                .split_whitespace()
                .filter(|word| word.contains(char::is_alphanumeric))
                .count();
            if WORDS_MAX < words {
                faults.push(format!("{name}: {words} words: {sentence}"));
            }
        }
        let head = text.lines().take(12);
        if !head.clone().any(|line| {
            line.starts_with("1. ")
                || line.starts_with("```")
                || line.starts_with("- ")
                || line.starts_with('|')
        }) {
            faults.push(format!("{name}: begins with neither a picture nor a list"));
        }
        match text.split_once("## Invariants") {
            None => faults.push(format!("{name}: no section of invariants with their tests")),
            Some((_, invariants)) => {
                let tests = quoted(invariants)
                    .into_iter()
                    .filter(|quote| quote.contains("test") || quote.contains("fuzz"));
                for path in tests.filter(|quote| quote.contains('/')) {
                    if !root().join(path).exists() {
                        faults.push(format!("{name}: there is no {path}"));
                    }
                }
            }
        }
        // Pages say what is: a year belongs to a history.
        if text.contains("202")
            && text
                .split(|c: char| !c.is_ascii_digit())
                .any(|n| n.len() == 4 && n.starts_with("202"))
        {
            faults.push(format!("{name}: has a date"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What only one operating system has.
const CALLS_OF_ONE_SYSTEM: &[&str] =
    &["std::os::", "rustix::", "signal::unix", "cfg(unix)", "cfg!(unix)", "target_os"];

#[test]
fn calls_of_one_system_are_listed() {
    let page = fs::read_to_string(root().join("docs/internals/platforms.md")).unwrap();
    let mut sources = Vec::new();
    for folder in ["src", "crates"] {
        files(&root().join(folder), ".rs", &mut sources);
    }
    let mut faults = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\nmod tests {").next().unwrap();
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let call = CALLS_OF_ONE_SYSTEM.iter().find(|call| code.contains(**call));
        if let Some(call) = call.filter(|_| !page.contains(&format!("`{name}`"))) {
            faults.push(format!("{name} has `{call}`, and platforms.md does not name the file"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
