//! A type's name is found by one search: of the types of a member that other files see, few share a
//! name.

use super::{MEMBERS, rust_files, test_modules};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The most names that stand for several types of a member. It only shrinks.
const SHARED_NAMES_MAX: usize = 8;

/// What declares a type.
const KINDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

#[test]
fn names_of_types_are_found_by_one_search() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut shared = Vec::new();
    for (_, folder, _) in MEMBERS {
        let src = root.join(folder);
        let tests = test_modules(&src);
        let mut files_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in rust_files(&src) {
            // A module that stands in for one whose feature is off has its names.
            let stands_in =
                path.file_stem().is_some_and(|it| it.to_str().unwrap().ends_with("missing"));
            if stands_in || tests.iter().any(|test| path.with_extension("").starts_with(test)) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for name in declared(&text) {
                let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                files_of.entry(name).or_default().push(file);
            }
        }
        let several = files_of.into_iter().filter(|(_, files)| 1 < files.len());
        shared.extend(several.map(|(name, files)| format!("{name}: {}", files.join(", "))));
    }
    assert!(
        shared.len() <= SHARED_NAMES_MAX,
        "{} names stand for several types, most {SHARED_NAMES_MAX}; rename one of each:\n{}",
        shared.len(),
        shared.join("\n")
    );
    assert_eq!(shared.len(), SHARED_NAMES_MAX, "lower SHARED_NAMES_MAX");
}

/// The names of the types that a file declares for others.
fn declared(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let name = |line: &str| {
        let rest = line.strip_prefix("pub")?;
        // `pub(crate)`, `pub(in crate::exec)`.
        let rest =
            rest.strip_prefix('(').map_or(Some(rest), |it| it.split_once(')').map(|it| it.1))?;
        let (kind, rest) = rest.trim_start().split_once(' ')?;
        let name = rest.split(|c: char| !super::is_word(c)).next()?;
        KINDS.contains(&kind).then(|| name.to_owned())
    };
    code.lines().filter_map(name).collect()
}

#[test]
fn declarations_are_read() {
    let text = "pub struct One<'a>(u8);\npub(in crate::exec) enum Two {\n    Three,\n}\nstruct Four;\n\
                pub(super) type Five = u8;\npub fn six() {}\npub mod seven;\npub use eight::Nine;\n\
                #[cfg(test)]\nmod tests {\npub struct Ten;\n}\n";
    assert_eq!(declared(text), ["One", "Two", "Five"]);
}
