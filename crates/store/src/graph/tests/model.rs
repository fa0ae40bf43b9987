//! Random changes, compared with a model that is too simple to be wrong.

use super::*;
use crate::graph::build::compact::settle_all;
use crate::graph::build::compaction::Compaction;
use crate::graph::publish::catch_up::CatchUp;
use crate::graph::thresholds::Folding;
use crate::graph::{Redefinition, encode_changes, export, export_json, resolve, stats};
use crate::index::{TokenKey, index_kinds, tokens_of};
use proptest::prelude::*;
use std::ops::Bound;
use std::sync::Arc;

const SCHEMAS: [&str; 3] = [
    "name: string @index(exact, term, trigram) @lang .\ntag: [string] @index(exact) .\n\
     age: int @index(int) .\nbest: uid @reverse .\nfriend: [uid] @reverse .\n",
    "name: string @lang .\ntag: [string] @index(term, ngram) .\nage: int .\nbest: uid .\n\
     friend: [uid] .\n",
    "name: string @index(fulltext, hash) @lang .\ntag: [string] .\nage: float @index(float) .\n\
     best: uid @reverse .\nfriend: [uid] .\n",
];

const NODES: [u64; 8] =
    [1, 2, 3, 0x1_0000, 0x7000_0000, 0x8000_0001, 0x1_0000_0000, 0xffff_ffff_ffff_fff0];

const TEXTS: [&str; 5] = ["one two", "two", "three one", "", "Two, two!"];

#[derive(Debug, Clone)]
enum Statement {
    Value { predicate: usize, lang: usize, node: usize, value: usize, facet: Option<i64> },
    Edge { single: bool, node: usize, target: usize, facet: Option<i64> },
    Clear { predicate: usize, node: usize },
    ClearLang { node: usize, lang: usize },
}

#[derive(Debug, Clone)]
enum Step {
    Load(Vec<Statement>),
    Mutate {
        delete: Vec<Statement>,
        set: Vec<Statement>,
        as_json: bool,
    },
    Settle,
    /// Begins a concurrent compaction, or ends it.
    Compaction,
    Save,
    Alter(usize),
}

const VALUE_NAMES: [&str; 3] = ["name", "tag", "age"];
const EDGE_NAMES: [&str; 2] = ["friend", "best"];
const LANGS: [&str; 3] = ["", "de", "en"];

fn value_statement() -> impl Strategy<Value = Statement> {
    (0..3_usize, 0..3_usize, 0..8_usize, 0..5_usize, proptest::option::weighted(0.2, 0..3_i64))
        .prop_map(|(predicate, lang, node, value, facet)| Statement::Value {
            predicate,
            lang: if predicate == 0 { lang } else { 0 },
            node,
            value,
            facet,
        })
}

fn edge_statement() -> impl Strategy<Value = Statement> {
    (any::<bool>(), 0..8_usize, 0..8_usize, proptest::option::weighted(0.2, 0..3_i64))
        .prop_map(|(single, node, target, facet)| Statement::Edge { single, node, target, facet })
}

fn set_statement() -> impl Strategy<Value = Statement> {
    prop_oneof![value_statement(), edge_statement()]
}

fn delete_statement() -> impl Strategy<Value = Statement> {
    prop_oneof![
        3 => value_statement(),
        3 => edge_statement(),
        1 => (0..5_usize, 0..8_usize)
            .prop_map(|(predicate, node)| Statement::Clear { predicate, node }),
        1 => (0..8_usize, 1..3_usize).prop_map(|(node, lang)| Statement::ClearLang { node, lang }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let many = |statement| proptest::collection::vec(statement, 0..12);
    prop_oneof![
        2 => many(set_statement().boxed()).prop_map(Step::Load),
        6 => (many(delete_statement().boxed()), many(set_statement().boxed()), any::<bool>())
            .prop_map(|(delete, set, as_json)| Step::Mutate { delete, set, as_json }),
        1 => Just(Step::Settle),
        2 => Just(Step::Compaction),
        1 => Just(Step::Save),
        1 => (0..3_usize).prop_map(Step::Alter),
    ]
}

fn mutation() -> impl Strategy<Value = Changed> {
    let many = |statement| proptest::collection::vec(statement, 0..8);
    (many(delete_statement().boxed()), many(set_statement().boxed()))
}

fn text_of(statements: &[Statement]) -> String {
    statements.iter().map(line_of).collect()
}

fn line_of(statement: &Statement) -> String {
    let facets = |facet: &Option<i64>| facet.map_or(String::new(), |n| format!(" (f={n})"));
    match statement {
        Statement::Value { predicate, lang, node, value, facet } => {
            let (node, name) = (NODES[*node], VALUE_NAMES[*predicate]);
            let lang = if *lang == 0 { String::new() } else { format!("@{}", LANGS[*lang]) };
            let value = if *predicate == 2 { value.to_string() } else { TEXTS[*value].to_owned() };
            format!("<{node}> <{name}> \"{value}\"{lang}{} .\n", facets(facet))
        }
        Statement::Edge { single, node, target, facet } => {
            let (node, target) = (NODES[*node], NODES[*target]);
            let name = EDGE_NAMES[usize::from(*single)];
            format!("<{node}> <{name}> <{target}>{} .\n", facets(facet))
        }
        Statement::Clear { predicate, node } => {
            let names = ["name", "tag", "age", "friend", "best"];
            format!("<{}> <{}> * .\n", NODES[*node], names[*predicate])
        }
        Statement::ClearLang { node, lang } => {
            format!("<{}> <name@{}> * .\n", NODES[*node], LANGS[*lang])
        }
    }
}

/// The same as text in JSON, of what is set.
fn json_of(statements: &[Statement]) -> String {
    let objects: Vec<String> = statements.iter().map(object_of).collect();
    format!("[{}]", objects.join(",\n"))
}

fn object_of(statement: &Statement) -> String {
    match statement {
        Statement::Value { predicate, lang, node, value, facet } => {
            let name = match LANGS[*lang] {
                "" => VALUE_NAMES[*predicate].to_owned(),
                lang => format!("{}@{lang}", VALUE_NAMES[*predicate]),
            };
            let value = if *predicate == 2 { value.to_string() } else { TEXTS[*value].to_owned() };
            let is_list = *predicate == 1;
            let facet = facet.map_or(String::new(), |facet| match is_list {
                true => format!(", \"{name}|f\": {{\"0\": {facet}}}"),
                false => format!(", \"{name}|f\": {facet}"),
            });
            let value = if is_list { format!("[\"{value}\"]") } else { format!("\"{value}\"") };
            format!("{{\"uid\": \"{:#x}\", \"{name}\": {value}{facet}}}", NODES[*node])
        }
        Statement::Edge { single, node, target, facet } => {
            let name = EDGE_NAMES[usize::from(*single)];
            let facet = facet.map_or(String::new(), |n| format!("\"{name}|f\": {n}, "));
            let target = format!("{{{facet}\"uid\": \"{}\"}}", NODES[*target]);
            let target = if *single { target } else { format!("[{target}]") };
            format!("{{\"{name}\": {target}, \"uid\": \"{}\"}}", NODES[*node])
        }
        other => panic!("nothing is set: {other:?}"),
    }
}

#[derive(Default)]
struct Model {
    contents: Contents,
    age_is_float: bool,
}

impl Model {
    fn facets(facet: &Option<i64>) -> Facets {
        facet.iter().map(|&number| ("f".to_owned(), Value::Int(number))).collect()
    }

    fn value(&self, predicate: usize, value: usize) -> Value {
        match predicate {
            2 if self.age_is_float => Value::Float(value as f64),
            2 => Value::Int(value as i64),
            _ => Value::String(TEXTS[value].to_owned()),
        }
    }

    fn set(&mut self, statement: &Statement) {
        match statement {
            Statement::Value { predicate, lang, node, value, facet } => {
                let name = VALUE_NAMES[*predicate].to_owned();
                let key = (name, LANGS[*lang].to_owned(), NODES[*node]);
                let new = (self.value(*predicate, *value), Model::facets(facet));
                let row = self.contents.values.entry(key).or_default();
                if *predicate != 1 {
                    row.clear();
                }
                row.retain(|(old, _)| *old != new.0);
                row.push(new);
                row.sort_by_key(|(value, _)| format!("{value:?}"));
            }
            Statement::Edge { single, node, target, facet } => {
                let (node, target) = (NODES[*node], NODES[*target]);
                let name = EDGE_NAMES[usize::from(*single)].to_owned();
                if *single {
                    self.contents.edges.retain(|key, _| (&key.0, key.1) != (&name, node));
                }
                self.contents.edges.insert((name, node, target), Model::facets(facet));
            }
            Statement::Clear { .. } | Statement::ClearLang { .. } => {}
        }
    }

    fn delete(&mut self, statement: &Statement) {
        let contents = &mut self.contents;
        match statement {
            Statement::Value { predicate, lang, node, value, .. } => {
                let name = VALUE_NAMES[*predicate].to_owned();
                let key = (name, LANGS[*lang].to_owned(), NODES[*node]);
                let number = *value as f64;
                if let Some(row) = contents.values.get_mut(&key) {
                    row.retain(|(old, _)| match old {
                        Value::Int(old) => *old as f64 != number,
                        Value::Float(old) => *old != number,
                        Value::String(old) => old != TEXTS[*value],
                        _ => true,
                    });
                    if row.is_empty() {
                        contents.values.remove(&key);
                    }
                }
            }
            Statement::Edge { single, node, target, .. } => {
                let name = EDGE_NAMES[usize::from(*single)].to_owned();
                contents.edges.remove(&(name, NODES[*node], NODES[*target]));
            }
            Statement::Clear { predicate, node } => {
                let name = ["name", "tag", "age", "friend", "best"][*predicate];
                contents.values.retain(|key, _| (&*key.0, key.2) != (name, NODES[*node]));
                contents.edges.retain(|key, _| (&*key.0, key.1) != (name, NODES[*node]));
            }
            Statement::ClearLang { node, lang } => {
                let key = ("name".to_owned(), LANGS[*lang].to_owned(), NODES[*node]);
                contents.values.remove(&key);
            }
        }
    }
}

/// Compares the postings of all indexes with the tokens of the values.
pub(super) fn check_indexes(version: &Version) {
    for (name, predicate) in &version.predicates {
        for values in predicate.langs() {
            let kinds = index_kinds(&predicate.def);
            assert_eq!(
                values.base.indexes.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
                kinds
            );
            for kind in kinds {
                let mut expected: BTreeMap<TokenKey, BTreeSet<u32>> = BTreeMap::new();
                for node in values.subjects().iter() {
                    for value in values.values(node).iter() {
                        let mut tokens = Vec::new();
                        let value_type = predicate.def.value_type;
                        tokens_of(kind, value, value_type, &values.lang, &mut tokens);
                        for token in tokens {
                            expected.entry(token).or_default().insert(node);
                        }
                    }
                }
                let index = values.index(kind).unwrap();
                let mut all = BTreeSet::new();
                for (token, nodes) in &expected {
                    let result: BTreeSet<u32> = index.nodes(token).iter().collect();
                    assert_eq!(&result, nodes, "{name}@{} {kind:?} {token:?}", values.lang);
                    let only = (Bound::Included(token), Bound::Included(token));
                    let range: BTreeSet<u32> = index.range(only.0, only.1).iter().collect();
                    assert_eq!(&range, nodes, "{name}@{} {kind:?} {token:?}", values.lang);
                    assert_eq!(index.estimate(only.0, only.1), nodes.len(), "{name} {token:?}");
                    all.extend(nodes);
                }
                let range = index.range(Bound::Unbounded, Bound::Unbounded);
                assert_eq!(range.iter().collect::<BTreeSet<u32>>(), all, "{name} {kind:?}");
            }
        }
    }
}

fn check(version: &Version, model: &Model) {
    let result = contents(version);
    assert_eq!(result.values, model.contents.values);
    assert_eq!(result.edges, model.contents.edges);
    let mut reverse = BTreeSet::new();
    for (name, node, target) in model.contents.edges.keys() {
        if version.schema.predicates[name].reverse {
            reverse.insert((name.clone(), *target, *node));
        }
    }
    assert_eq!(result.reverse, reverse);
    check_indexes(version);
    check_counts(version);
}

/// Compares the maintained counts with the data.
fn check_counts(version: &Version) {
    let mut all = BTreeSet::new();
    for (name, predicate) in &version.predicates {
        all.extend(predicate.subjects().iter());
        let mut count: usize = 0;
        for values in predicate.langs() {
            count += values.subjects().iter().map(|node| values.values(node).len()).sum::<usize>();
        }
        if let PredicateData::Edges(edges) = &predicate.data {
            let edges = &edges.forward;
            let lists: Vec<_> = edges.subjects().iter().map(|node| edges.targets(node)).collect();
            count += lists.iter().map(|targets| targets.len()).sum::<usize>();
            let targets: BTreeSet<u32> = lists.iter().flat_map(|list| list.to_vec()).collect();
            assert_eq!(edges.all_targets().iter().collect::<BTreeSet<u32>>(), targets, "{name}");
        }
        let stats = stats(version);
        let counted = stats.iter().find(|stats| stats.name == *name).map_or(0, |it| it.values);
        assert_eq!(counted, count as u64, "{name}");
    }
    assert_eq!(version.subject_count(), all.len() as u64);
    let (least, most) = version.subject_bounds();
    // Edges that were removed count until a compaction, and targets are no subjects.
    assert!(least <= most && all.len() <= most, "{} nodes of {least} to {most}", all.len());
}

type Compactions = Vec<(Arc<str>, Compaction)>;

fn compactions_of(version: &Version) -> Compactions {
    let is_changed = |changes, _| 0 < changes;
    let compaction = |it| Compaction::of(it, &version.thresholds, is_changed);
    version.predicates.iter().map(|(name, it)| (Arc::clone(name), compaction(it))).collect()
}

fn end_compactions(version: &mut Version, compactions: Compactions) {
    for (name, mut compaction) in compactions {
        if caught_up(&mut compaction, version, &name) {
            version.replace([(name, compaction.compacted())]);
        }
    }
}

fn caught_up(compaction: &mut Compaction, version: &Version, name: &str) -> bool {
    let now = version.predicate(name);
    now.is_some_and(|now| compaction.catch_up(now, &version.thresholds).unwrap().is_some())
}

fn run(steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let mut version = with_schema(SCHEMAS[0]);
    let mut model = Model::default();
    let mut compactions = Vec::new();
    // Half of the cases let changes pile up; in the others commits compact, which makes concurrent
    // compactions useless.
    if steps.len().is_multiple_of(2) {
        version.thresholds.folding = Folding::Manual;
    }
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Load(statements) => {
                version = load_text(&version, &text_of(statements));
                statements.iter().for_each(|statement| model.set(statement));
            }
            Step::Mutate { delete, set, as_json } => {
                let (json, quads, deletes) = (json_of(set), text_of(set), text_of(delete));
                let sets = match as_json {
                    true => Statements::Json(&json),
                    false => Statements::NQuads(&quads),
                };
                let mutation = (sets, Statements::NQuads(&deletes));
                version = mutate(&version, &[mutation], &Bindings::default()).unwrap().0;
                delete.iter().for_each(|statement| model.delete(statement));
                set.iter().for_each(|statement| model.set(statement));
            }
            Step::Settle => version = settle_all(&version),
            Step::Compaction if compactions.is_empty() => compactions = compactions_of(&version),
            Step::Compaction => end_compactions(&mut version, std::mem::take(&mut compactions)),
            Step::Save => {
                let path = folder.path().join(format!("{number}.hxs"));
                persist::save(&version, &path).unwrap();
                version = opened(&path).unwrap();
            }
            Step::Alter(which) => {
                version = alter(&version, SCHEMAS[*which]).unwrap();
                model.age_is_float = *which == 2;
            }
        }
        check(&version, &model);
        // As often as the writers leave it time.
        if number % 2 == 0 {
            compactions.retain_mut(|(name, compaction): &mut (Arc<str>, Compaction)| {
                caught_up(compaction, &version, name)
            });
        }
    }
    // An altered type leaves values as they were stored; a load converts them.
    if !steps.iter().any(|step| matches!(step, Step::Alter(_))) {
        let result = contents(&version);
        for as_json in [false, true] {
            let again = contents(&exported_and_loaded(&version, as_json));
            assert_eq!(result.values, again.values);
            assert_eq!(result.edges, again.edges);
            assert_eq!(result.reverse, again.reverse);
        }
    }
}

/// Deletes and sets, as the record of a commit.
type Changed = (Vec<Statement>, Vec<Statement>);

/// The version after a mutation. Its record is noted.
fn committed(
    version: &Version,
    (delete, set): &Changed,
    records: &mut Vec<(u64, Vec<u8>)>,
) -> Version {
    let (set, delete) = (text_of(set), text_of(delete));
    let mutation = (Statements::NQuads(&set), Statements::NQuads(&delete));
    let (changes, _) = staged(version, &[mutation], &Bindings::default()).unwrap();
    let mut record = Vec::new();
    encode_changes(std::slice::from_ref(&changes), &mut record);
    let mut next = changes.apply(version).unwrap();
    next.commit = version.commit + 1;
    records.push((next.commit, record));
    next
}

fn assert_same(result: &Version, expected: &Version) {
    assert_eq!(result.schema, expected.schema);
    let (of_result, of_expected) = (contents(result), contents(expected));
    assert_eq!(of_result.values, of_expected.values);
    assert_eq!(of_result.edges, of_expected.edges);
    assert_eq!(of_result.reverse, of_expected.reverse);
    check_indexes(result);
}

/// A graph with data; in half of the cases commits compact.
fn begun(before: &[Changed], compactions: bool) -> Version {
    let mut version = with_schema(SCHEMAS[before.len() % 3]);
    if !compactions {
        // Nor do they lay many rows into a new base at once.
        version.thresholds =
            Thresholds { folding: Folding::Manual, changes_min: 100, ..version.thresholds };
    }
    for mutation in before {
        version = committed(&version, mutation, &mut Vec::new());
    }
    version
}

/// Building from an earlier version and catching up with the commits since equals building from the
/// last one.
fn redefine_concurrently(
    (before, meanwhile): (&[Changed], &[Changed]),
    which: usize,
    compactions: bool,
) {
    let mut version = begun(before, compactions);
    let definitions = resolve(&version, SCHEMAS[which]).unwrap();
    let mut built = Redefinition::new(&version, definitions, &|| Ok(())).unwrap();
    let (built_of, mut is_useless) = (version.nodes.high().len(), false);
    for (number, mutation) in meanwhile.iter().enumerate() {
        version = committed(&version, mutation, &mut Vec::new());
        if number % 2 == 0 {
            is_useless |= built.catch_up(&version).unwrap().is_none();
        }
    }
    is_useless |= built.catch_up(&version).unwrap().is_none();
    let is_renumbered = built_of != version.nodes.high().len();
    assert!(!is_useless || compactions || is_renumbered, "nothing has replaced a base");
    if !is_useless {
        assert_same(&built.version(&version), &alter(&version, SCHEMAS[which]).unwrap());
    }
}

/// Loading into an earlier version and replaying the commits since equals applying these to the
/// loaded one.
fn load_concurrently(
    (before, meanwhile): (&[Changed], &[Changed]),
    load: &[Statement],
    compactions: bool,
) {
    let base = begun(before, compactions);
    let made = load_text(&base, &text_of(load));
    let has_new_uid = base.nodes.high().len() != made.nodes.high().len();
    let (mut version, mut expected, mut records) = (base.clone(), made.clone(), Vec::new());
    let mut catch_up = CatchUp::new(&base, made);
    for (number, mutation) in meanwhile.iter().enumerate() {
        version = committed(&version, mutation, &mut records);
        expected = committed(&expected, mutation, &mut Vec::new());
        if number % 2 == 0 {
            catch_up.add(&std::mem::take(&mut records)).unwrap();
        }
    }
    catch_up.add(&records).unwrap();
    let result = catch_up.finish(&version).unwrap();
    assert_same(&result, &expected);
    for name in ["name", "tag", "age", "best", "friend"] {
        let is_loaded =
            load.iter().any(|statement| line_of(statement).contains(&format!("<{name}>")));
        assert!(
            is_loaded || has_new_uid || result.has_same(&version, name),
            "{name} was not loaded"
        );
    }
}

fn exported_and_loaded(version: &Version, as_json: bool) -> Version {
    let mut text = Vec::new();
    let write = if as_json { export_json } else { export };
    let count = write(version, &mut text, &|| Ok(())).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(as_json || text.lines().count() as u64 == count);
    load_text(&with_schema(&version.schema.to_text()), &text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_store_holds_what_the_model_holds(steps in proptest::collection::vec(step(), 1..12)) {
        run(&steps);
    }

    #[test]
    fn redefinition_includes_concurrent_commits(
        before in proptest::collection::vec(mutation(), 0..4),
        meanwhile in proptest::collection::vec(mutation(), 0..6),
        which in 0..3_usize,
        compactions in any::<bool>(),
    ) {
        redefine_concurrently((&before, &meanwhile), which, compactions);
    }

    #[test]
    fn a_load_includes_concurrent_commits(
        before in proptest::collection::vec(mutation(), 0..4),
        meanwhile in proptest::collection::vec(mutation(), 0..6),
        load in proptest::collection::vec(set_statement(), 0..12),
        compactions in any::<bool>(),
    ) {
        load_concurrently((&before, &meanwhile), &load, compactions);
    }
}
