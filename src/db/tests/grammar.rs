//! Sentences of the grammars of schemas: each is a query that runs.

use crate::db::{Database, QueryRequest, RequestContext};
use fastrand::Rng;
use hexgraph_base::schema::{Schema, parse_schema};
use hexgraph_dql::{CharSet, Expr, Grammar, query_grammar};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Sentences that get longer than so many bytes are ended as soon as the grammar allows.
const LENGTH: usize = 700;

/// Characters of tokens that allow almost any.
const LETTERS: &str = "abz AZ09.,:;-_#@$%&*+=/<>(){}[]|~^`'?!äßéλ中😀";

const FILMS: &str = r#"
    name: string @index(exact, term, fulltext, trigram) @lang .
    initial_release_date: datetime @index(year) .
    rating: float @index(float) .
    votes: int @index(int) .
    tagline: string .
    genre: [uid] @reverse @count .
    starring: [uid] @count .
    performance.actor: [uid] @reverse .
    director.film: [uid] @reverse @count .
    country: uid @reverse .
    type Film {
        name
        initial_release_date
        rating
        genre
        starring
        country
    }
    type Person {
        name
        director.film
    }
"#;

const PEOPLE: &str = r#"
    name: string @index(hash) .
    email: string @index(exact) @upsert .
    age: int @index(int) .
    joined: datetime @index(day) .
    active: bool @index(bool) .
    follows: [uid] @reverse @count .
    likes: [uid] @reverse .
    boss: uid .
    type Person {
        name
        email
        age
        joined
        active
        follows
        likes
        boss
    }
"#;

const ALL_TYPES: &str = r#"
    t_default: default .
    t_int: int .
    t_int_i: int @index(int) .
    t_ints: [int] @index(int) .
    t_float: float .
    t_float_i: float @index(float) .
    t_big: bigfloat @index(bigfloat) .
    t_bool: bool .
    t_bool_i: bool @index(bool) .
    t_time: datetime .
    t_time_y: datetime @index(year) .
    t_time_h: datetime @index(hour) .
    t_text: string .
    t_hash: string @index(hash) .
    t_exact: string @index(exact) .
    t_term: string @index(term) .
    t_full: string @index(fulltext) .
    t_tri: string @index(trigram) .
    t_ngram: string @index(ngram) .
    t_many: [string] @index(exact, trigram) .
    t_lang: string @lang .
    t_lang_i: string @index(exact, term, fulltext, trigram) @lang .
    t_geo: geo @index(geo) .
    t_geo_plain: geo .
    t_vector: float32vector @index(hnsw(metric: "cosine")) .
    t_vector_plain: float32vector .
    t_secret: password .
    e_one: uid .
    e_one_r: uid @reverse @count .
    e_many: [uid] @count .
    e_many_r: [uid] @reverse .
    type Thing {
        t_int
        t_text
        e_one
    }
"#;

const ODD: &str = r#"
    <straße>: string @index(exact) .
    <名前>: string @index(term) .
    <1st>: int @index(int) .
    <a-b>: float @index(float) .
    <it's>: string .
    <a/b>: [uid] @reverse @count .
    as: string @index(exact) .
    and: int .
    val: int @index(int) .
    count: [uid] @reverse @count .
    first: uid .
    func: string .
    total: int .
    q: string @index(exact) .
    film: string .
    film.name: string @index(exact) .
    filmname: string @index(exact) .
    expand: string .
    <http://schema.org/name>: string @index(exact) .
    type <Straße> {
        as
    }
    type type {
        q
    }
"#;

/// Some data for each predicate of a schema: three nodes that have all of them.
fn database(schema: &str) -> Database {
    let db = Database::in_memory();
    db.alter(schema).unwrap();
    let mut lines = String::new();
    for def in parse_schema(schema).unwrap().predicates {
        for node in 1..4 {
            let object = match def.value_type.name() {
                "uid" => format!("<{}>", node % 3 + 1),
                "int" | "float" | "bigfloat" => format!("\"{}\"", node - 1),
                "bool" => "\"true\"".to_owned(),
                "datetime" => format!("\"200{node}-02-03T04:05:06Z\""),
                "geo" => {
                    format!("\"{{'type':'Point','coordinates':[{node}.5,2]}}\"^^<geo:geojson>")
                }
                "float32vector" => format!("\"[{node}, 2]\""),
                _ => format!("\"some words {node}\""),
            };
            lines += &format!("<{node}> <{}> {object} .\n", def.name);
        }
    }
    for node in 1..4 {
        lines +=
            &format!("<{node}> <dgraph.type> \"Person\" .\n<{node}> <dgraph.type> \"Thing\" .\n");
    }
    db.mutate(&lines, "").unwrap();
    db
}

fn schema_of(db: &Database) -> Schema {
    Schema::clone(&db.version().unwrap().schema)
}

/// Samples sentences of a grammar.
struct Sampler<'g> {
    grammar: &'g Grammar,
    /// The length of the shortest sentence of each rule.
    shortest: Vec<usize>,
    rng: Rng,
}

impl<'g> Sampler<'g> {
    fn new(grammar: &'g Grammar, seed: u64) -> Sampler<'g> {
        let shortest = vec![usize::MAX; grammar.rules.len()];
        let mut sampler = Sampler { grammar, shortest, rng: Rng::with_seed(seed) };
        loop {
            let rules = grammar.rules.iter().map(|rule| sampler.length(&rule.body)).collect();
            if std::mem::replace(&mut sampler.shortest, rules) == sampler.shortest {
                return sampler;
            }
        }
    }

    fn length(&self, expr: &Expr) -> usize {
        match expr {
            Expr::Text(text) => text.len(),
            Expr::Chars(_) => 1,
            Expr::Rule(rule) => self.shortest[*rule],
            Expr::Sequence(parts) => {
                let lengths = parts.iter().map(|part| self.length(part));
                lengths.reduce(usize::saturating_add).unwrap_or(0)
            }
            Expr::Choice(parts) => {
                parts.iter().map(|part| self.length(part)).min().unwrap_or(usize::MAX)
            }
            Expr::Optional(_) => 0,
            Expr::Repeat { body, least, .. } => match least {
                0 => 0,
                least => self.length(body).saturating_mul(*least as usize),
            },
        }
    }

    fn sentence(&mut self) -> String {
        let mut out = String::new();
        self.expand(&self.grammar.rules[0].body, &mut out);
        out
    }

    fn expand(&mut self, expr: &'g Expr, out: &mut String) {
        let is_long = LENGTH < out.len();
        match expr {
            Expr::Text(text) => out.push_str(text),
            Expr::Chars(set) => out.push(self.letter(set)),
            Expr::Rule(rule) => self.expand(&self.grammar.rules[*rule].body, out),
            Expr::Sequence(parts) => parts.iter().for_each(|part| self.expand(part, out)),
            Expr::Choice(parts) => {
                let part = match is_long {
                    true => parts.iter().min_by_key(|part| self.length(part)),
                    false => parts.get(self.rng.usize(..parts.len())),
                };
                self.expand(part.expect("a choice has alternatives"), out);
            }
            Expr::Optional(body) => {
                if !is_long && self.rng.bool() {
                    self.expand(body, out);
                }
            }
            Expr::Repeat { body, least, most } => {
                let most = most.unwrap_or(4).min(least + 6);
                let times = if is_long { *least } else { self.rng.u32(*least..=most) };
                (0..times).for_each(|_| self.expand(body, out));
            }
        }
    }

    fn letter(&mut self, set: &CharSet) -> char {
        if set.is_negated {
            let is_free =
                |it: &char| !set.ranges.iter().any(|(low, high)| (low..=high).contains(&it));
            let free: Vec<char> = LETTERS.chars().filter(is_free).collect();
            return free[self.rng.usize(..free.len())];
        }
        let (low, high) = set.ranges[self.rng.usize(..set.ranges.len())];
        self.rng.char(low..=high)
    }
}

/// Samples sentences and runs them; each has to be answered, with names that the schema has.
fn run(db: &Database, count: usize, seed: u64) {
    let (grammar, _) = query_grammar(&schema_of(db));
    let mut sampler = Sampler::new(&grammar, seed);
    let mut refused = BTreeSet::new();
    for _ in 0..count {
        let text = sampler.sentence();
        let context = RequestContext::new().with_timeout(Duration::from_secs(60));
        let request = QueryRequest::from(text.as_str());
        let fault = match db.query_with(&request, &context) {
            Err(error) => Some(error.to_string()),
            Ok(answer) => {
                let named = answer.warnings().into_iter().find(|it| it.kind.is_unknown_name());
                let written = answer.to_json().err().map(|error| error.to_string());
                named.map(|it| it.to_string()).or(written)
            }
        };
        if let Some(fault) = fault {
            refused.insert(format!("{fault}\n    {text}"));
        }
        assert!(refused.len() < 12, "\n{}", refused.into_iter().collect::<Vec<_>>().join("\n"));
    }
    assert!(refused.is_empty(), "\n{}", refused.into_iter().collect::<Vec<_>>().join("\n"));
}

/// `HEXGRAPH_CASES` is the number of sentences.
#[test]
fn each_sentence_of_a_grammar_runs() {
    let count = std::env::var("HEXGRAPH_CASES").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(5_000) / 5;
    let begun = Instant::now();
    for (seed, schema) in [FILMS, PEOPLE, ALL_TYPES, ODD, ""].into_iter().enumerate() {
        run(&database(schema), count, seed as u64);
    }
    eprintln!("{} sentences in {:.1?}", 5 * count, begun.elapsed());
}

/// The rules that a sentence of the first one may have.
fn reachable(grammar: &Grammar) -> BTreeSet<usize> {
    fn rules_in(expr: &Expr, each: &mut impl FnMut(usize)) {
        match expr {
            Expr::Text(_) | Expr::Chars(_) => {}
            Expr::Rule(rule) => each(*rule),
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                parts.iter().for_each(|part| rules_in(part, each));
            }
            Expr::Optional(body) | Expr::Repeat { body, .. } => rules_in(body, each),
        }
    }
    let (mut seen, mut open) = (BTreeSet::from([0]), vec![0]);
    while let Some(rule) = open.pop() {
        rules_in(&grammar.rules[rule].body, &mut |next| {
            if seen.insert(next) {
                open.push(next);
            }
        });
    }
    seen
}

/// True when an expression has an alternative, of any depth, that produces nothing.
fn has_dead_part(expr: &Expr, sampler: &Sampler<'_>) -> bool {
    sampler.length(expr) == usize::MAX
        || match expr {
            Expr::Sequence(parts) | Expr::Choice(parts) => {
                parts.iter().any(|part| has_dead_part(part, sampler))
            }
            Expr::Optional(body) | Expr::Repeat { body, .. } => has_dead_part(body, sampler),
            _ => false,
        }
}

fn random_schema(rng: &mut Rng) -> String {
    const TYPES: [(&str, &[&str]); 9] = [
        ("string", &["hash", "exact", "term", "fulltext", "trigram", "ngram"]),
        ("int", &["int"]),
        ("float", &["float"]),
        ("bool", &["bool"]),
        ("datetime", &["year", "month", "day", "hour"]),
        ("geo", &["geo"]),
        ("float32vector", &["hnsw"]),
        ("uid", &[]),
        ("default", &[]),
    ];
    let names = ["a", "as", "名", "x y", "p.q", "uid", "b-c", "Not", "n1", "n11", "~z", "query"];
    let mut text = String::new();
    for name in names {
        if name.contains([' ', '~']) || name == "uid" || rng.bool() {
            continue;
        }
        let (kind, indexes) = TYPES[rng.usize(..TYPES.len())];
        let is_list = rng.bool() && !matches!(kind, "bool" | "float32vector" | "default" | "geo");
        let kind_text = if is_list { format!("[{kind}]") } else { kind.to_owned() };
        let mut options = String::new();
        if !indexes.is_empty() && rng.bool() {
            options += &format!(" @index({})", indexes[rng.usize(..indexes.len())]);
        }
        if kind == "uid" && rng.bool() {
            options += " @reverse";
        }
        if kind == "string" && !is_list && rng.bool() {
            options += " @lang";
        }
        if rng.bool() && kind != "float32vector" {
            options += " @count";
        }
        text += &format!("<{name}>: {kind_text}{options} .\n");
    }
    text
}

#[test]
fn no_rule_is_dead() {
    let mut rng = Rng::with_seed(7);
    let fixed = [FILMS, PEOPLE, ALL_TYPES, ODD, ""].map(str::to_owned);
    let random = (0..150).map(|_| random_schema(&mut rng)).collect::<Vec<_>>();
    for schema in fixed.iter().chain(&random) {
        let db = Database::in_memory();
        db.alter(schema).unwrap();
        let (grammar, _) = query_grammar(&schema_of(&db));
        assert_eq!(reachable(&grammar).len(), grammar.rules.len(), "{schema}");
        let sampler = Sampler::new(&grammar, 0);
        let mut names = BTreeSet::new();
        for rule in &grammar.rules {
            assert!(!has_dead_part(&rule.body, &sampler), "{} of {schema}", rule.name);
            assert!(names.insert(&rule.name), "two rules `{}` of {schema}", rule.name);
            let is_name =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            assert!(rule.name.bytes().all(is_name), "{}", rule.name);
        }
        run(&db, 20, 3);
    }
}

#[test]
fn what_has_no_form_is_reported() {
    let db = Database::in_memory();
    db.alter("secret: password .\nname: string .").unwrap();
    let text = db.grammar("gbnf".parse().unwrap()).unwrap();
    assert!(text.contains("# left out: \"secret\", since a password is not read"), "{text}");
    assert!(!text.contains("\"secret\" "), "{text}");
    assert!("bnf".parse::<crate::db::GrammarFormat>().unwrap_err().to_string().contains("lark"));
}

/// A schema of ten thousand predicates has a grammar of a size that grows with it and not faster.
#[test]
fn size_grows_with_the_schema() {
    let text_of = |count: usize| {
        let mut schema = String::new();
        for number in 0..count {
            schema += &match number % 4 {
                0 => format!("edge_{number}: [uid] @reverse @count .\n"),
                1 => format!("text_{number}: string @index(term) .\n"),
                2 => format!("number_{number}: int @index(int) .\n"),
                _ => format!("instant_{number}: datetime .\n"),
            };
        }
        let db = Database::in_memory();
        db.alter(&schema).unwrap();
        let begun = Instant::now();
        let text = db.grammar("gbnf".parse().unwrap()).unwrap();
        eprintln!("{count} predicates: {} bytes in {:.1?}", text.len(), begun.elapsed());
        text.len()
    };
    let (small, large) = (text_of(1_000), text_of(10_000));
    assert!(large < 12 * small, "{small} and {large}");
}
