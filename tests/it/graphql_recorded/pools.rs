//! The literals that records compare predicates with: data is made of them, so that filters hit.

use super::record::Record;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static CALL: LazyLock<Regex> = LazyLock::new(|| {
    let functions = "eq|le|lt|ge|gt|between|(?:any|all)of(?:terms|text)";
    Regex::new(&format!(r"\b(?:{functions})\(([^\s,()]+), ([^()]*)\)")).unwrap()
});
static LITERAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)"|([^\s,"]+)"#).unwrap());
static PASSWORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"checkpwd\(([\w.]+), (\$\w+)\)").unwrap());

/// The values of each predicate.
#[derive(Default)]
pub struct Pools(BTreeMap<String, Vec<String>>);

impl Pools {
    /// The literals in the DQL of records.
    pub fn of(records: &[Record]) -> Pools {
        let mut pools = Pools::default();
        for record in records {
            for result in CALL.captures_iter(&record.dql()) {
                let predicate = result[1].trim_matches(['<', '>']).trim_end_matches("@.");
                for value in LITERAL.captures_iter(&result[2]) {
                    let text = value.get(1).or(value.get(2)).unwrap().as_str();
                    pools.add(predicate, text);
                }
            }
            for result in PASSWORD.captures_iter(&record.dql()) {
                let password = record.0["dgvars"][&result[2]].as_str().unwrap();
                pools.add(&result[1], password);
            }
        }
        pools
    }

    fn add(&mut self, predicate: &str, value: &str) {
        let values = self.0.entry(predicate.to_owned()).or_default();
        if !values.iter().any(|existing| existing == value) {
            values.push(value.to_owned());
        }
    }

    pub fn get(&self, predicate: &str) -> &[String] {
        self.0.get(predicate).map_or(&[], Vec::as_slice)
    }
}
