//! What the benches share: databases made of seeded data, and how a query is asked.

use hexgraph::db::{Database, LoadOptions, QueryRequest, RequestContext, Source};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// As programs set it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The questions of a file of the gate: the name, the language and the text of each. They are there
/// until the end of the process.
///
/// # Panics
///
/// When the text is no such file.
pub fn questions(text: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let file: toml::Table = text.parse().expect("the file of questions is TOML");
    let list = file["question"].as_array().expect("questions are a list");
    let text_of =
        |value: &toml::Value| -> &'static str { value.as_str().expect("a text").to_owned().leak() };
    let question = |question: &toml::Value| {
        let fields = question.as_table().expect("a question has fields");
        let (language, text) =
            fields.iter().find(|(name, _)| *name != "name").expect("a question has a text");
        (text_of(&fields["name"]), &*language.clone().leak(), text_of(text))
    };
    list.iter().map(question).collect()
}

/// A query for each feature of the language, over the film data, by name.
pub fn features() -> Vec<(&'static str, &'static str)> {
    let films = questions(include_str!("../gate/questions/films.toml"));
    films.into_iter().map(|(name, _, text)| (name, text)).collect()
}

/// Answers a query as JSON text.
///
/// # Panics
///
/// When the query fails: a bench has no use for that.
pub fn ask(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).expect("the query is valid");
    answer.to_json().expect("the values are valid").0
}

/// Loads N-Quads that `lines` writes.
///
/// # Panics
///
/// When the file can't be written or loaded.
pub fn load_lines(db: &Database, dir: &Path, lines: impl FnOnce(&mut dyn Write)) {
    let path = dir.join("data.rdf");
    let file = std::fs::File::create(&path).expect("the directory is writable");
    let mut out = BufWriter::new(file);
    lines(&mut out);
    out.flush().expect("the disk has room");
    db.load_with(Source::File(path.clone()), None, LoadOptions::default(), &RequestContext::new())
        .expect("the lines are valid");
    std::fs::remove_file(path).expect("the file was just read");
}

/// The folder of the film data, `None` where it is absent.
pub fn shared() -> Option<PathBuf> {
    let root = match std::env::var_os("HEXGRAPH_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    root.join("data/film.rdf.gz").exists().then_some(root)
}

/// A database of the film data.
///
/// # Panics
///
/// When the data can't be loaded.
pub fn film(root: &Path) -> Database {
    let db = Database::in_memory();
    let schema =
        std::fs::read_to_string(root.join("data/film.schema")).expect("the schema is text");
    let source = Source::File(root.join("data/film.rdf.gz"));
    db.load_with(source, Some(&schema), LoadOptions::default(), &RequestContext::new())
        .expect("the film data is valid");
    db
}
