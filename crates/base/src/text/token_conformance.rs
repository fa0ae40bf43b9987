//! Agreement with the tokens that a Dgraph server made of a corpus.
//!
//! The corpus is `conformance/dql/tokens.jsonl`, with one JSON object in each line. It lies in the
//! folder that the variable `HEXGRAPH_SHARED` names, or in `shared` next to the repository. Where
//! the file is missing the tests say so and pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::{Collation, FulltextAnalyzer, NgramAnalyzer, TermAnalyzer, trigrams};

/// A text and the tokens that the server made of it.
struct Case {
    /// `tokens` for the tokens of a stored value, `ngram_query` for those that a search for the
    /// text looks up.
    kind: String,
    tokenizer: String,
    /// The language tag, empty for a text without one.
    lang: String,
    value: String,
    /// True when the only token is the collation key of the text: its order among other keys is
    /// compared, not its bytes.
    collated: bool,
    tokens: BTreeSet<Vec<u8>>,
}

fn cases() -> Option<Vec<Case>> {
    let shared = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        Into::into,
    );
    let path = shared.join("conformance/dql/tokens.jsonl");
    let Ok(lines) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(lines.lines().filter_map(case).collect())
}

fn case(line: &str) -> Option<Case> {
    let case: Value = serde_json::from_str(line).expect("a case is JSON");
    if case["type"] != "string" {
        return None;
    }
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
    let tokens = case["tokens_hex"].as_array()?;
    Some(Case {
        kind: text("kind"),
        tokenizer: text("tokenizer"),
        lang: text("lang"),
        value: text("value"),
        collated: case["collated"] == Value::Bool(true),
        // The first byte says which index it is for.
        tokens: tokens.iter().map(|token| unhex(token.as_str().unwrap_or_default(), 1)).collect(),
    })
}

fn unhex(hex: &str, skipped: usize) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (skipped * 2..hex.len()).step_by(2).map(digit).collect()
}

/// Our tokens of a case; `None` when it is for an index that is not of this module.
fn ours(case: &Case) -> Option<BTreeSet<Vec<u8>>> {
    let mut tokens = BTreeSet::new();
    let mut add = |token: &[u8]| {
        tokens.insert(token.to_vec());
    };
    let (text, lang) = (&case.value, &case.lang);
    match (case.kind.as_str(), case.tokenizer.as_str()) {
        ("tokens", "term") => TermAnalyzer::new().value(text, lang, |token| add(token.as_bytes())),
        ("tokens", "fulltext") => {
            FulltextAnalyzer::new().tokens(text, lang, |token| add(token.as_bytes()));
        }
        ("tokens", "ngram") => NgramAnalyzer::new().value(text, add),
        ("ngram_query", _) => NgramAnalyzer::new().query(text, lang, add),
        ("tokens", "trigram") => {
            let mut packed = Vec::new();
            trigrams(text, &mut packed);
            packed.iter().for_each(|trigram| add(&trigram.to_be_bytes()[1..]));
        }
        _ => return None,
    }
    Some(tokens)
}

#[test]
fn tokens_agree() {
    let Some(cases) = cases() else { return };
    let mut agreement: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in &cases {
        let Some(ours) = ours(case) else { continue };
        let name = match case.tokenizer.as_str() {
            "fulltext" => format!("fulltext {}", case.lang),
            other => format!("{} {other}", case.kind),
        };
        // The server lower-cases in the same buffer, and leaves bytes behind where the lower case
        // of a letter, such as İ, is shorter than the letter. Such stale bytes are no text: ours
        // has U+FFFD for them. Trigrams are bytes on both sides.
        let theirs: BTreeSet<Vec<u8>> = if case.tokenizer == "trigram" || case.kind != "tokens" {
            case.tokens.clone()
        } else {
            case.tokens.iter().map(|token| readable(token)).collect()
        };
        let (agreed, all) = agreement.entry(name.clone()).or_default();
        *all += 1;
        *agreed += usize::from(ours == theirs);
        if ours != theirs {
            println!("{name}: {:?}: {} is not {}", case.value, show(&ours), show(&theirs));
        }
    }
    for (name, (agreed, all)) in &agreement {
        println!("{name}: {agreed} of {all}");
    }
    let differing: Vec<&String> =
        agreement.iter().filter(|(_, (agreed, all))| agreed < all).map(|(name, _)| name).collect();
    assert!(!agreement.is_empty() && differing.is_empty(), "{differing:?}");
}

/// Replaces bytes that are no text by U+FFFD. A hash of 32 bytes, which represents a long n-gram,
/// stays as it is.
fn readable(token: &[u8]) -> Vec<u8> {
    let is_hash = token.len() == 32 && std::str::from_utf8(token).is_err();
    if is_hash { token.to_vec() } else { String::from_utf8_lossy(token).into_owned().into_bytes() }
}

fn show(tokens: &BTreeSet<Vec<u8>>) -> String {
    let texts: Vec<_> = tokens.iter().map(|token| String::from_utf8_lossy(token)).collect();
    texts.join(" ")
}

#[test]
fn collations_agree() {
    let Some(cases) = cases() else { return };
    let mut by_language: BTreeMap<&str, Vec<(&str, &Vec<u8>)>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.collated) {
        let key = case.tokens.first().expect("a key");
        by_language.entry(&case.lang).or_default().push((&case.value, key));
    }
    for (language, texts) in by_language {
        let collation = Collation::of(language).unwrap().expect("a supported language");
        let (mut agreed, mut all) = (0, 0);
        for (number, (a, a_key)) in texts.iter().enumerate() {
            for (b, b_key) in &texts[number + 1..] {
                all += 1;
                if collation.compare(a, b) == a_key.cmp(b_key) {
                    agreed += 1;
                } else {
                    println!("{language}: {a:?} {b:?} theirs {:?}", a_key.cmp(b_key));
                }
            }
        }
        println!("collation {language}: {agreed} of {all} pairs");
        assert_eq!(agreed, all, "{language}");
    }
}
