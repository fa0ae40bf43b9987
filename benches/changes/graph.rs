//! The graph that is changed, and the commits that change it: each kind of data that a predicate
//! can have.

use hexgraph::db::{Database, OpenOptions};
use hexgraph::internals::durability::SyncPolicy;
use hexgraph_benches::load_lines;
use std::io::Write;
use std::path::Path;

/// The number of nodes.
pub const NODES: u64 = 1_000_000;

/// The node that has an edge to each of the others.
pub const HUB: u64 = 2_000_000;

/// Uids of nodes that are made by commits begin here: so they are known and can be changed again.
const NEW: u64 = 3_000_000;

const SCHEMA: &str = "score: int @index(int) .\nage: int .\nheight: float .\ncity: string @index(exact) .\n\
     name: string @index(term) .\nnick: string .\nborn: datetime @index(year) .\nlikes: string @index(hash) .\n\
     code: string @index(trigram) .\nabout: string @index(fulltext) .\nplace: geo @index(geo) .\n\
     label: string @index(exact) @lang .\ntags: [string] @index(exact) .\n\
     emb: float32vector @index(hnsw(metric: \"euclidean\")) .\nfriend: [uid] @reverse @count .\n\
     knows: [uid] @reverse .\ne: [uid] .\n\
     type Person {\n  score\n  age\n  height\n  city\n  name\n  nick\n  born\n  likes\n  code\n  about\n  \
     place\n  label\n  tags\n  emb\n  friend\n  knows\n}\n";

/// The same people by GraphQL.
const SDL: &str = "type Person {\n  id: ID!\n  score: Int @search @dgraph(pred: \"score\")\n  \
     age: Int @dgraph(pred: \"age\")\n  city: String @search(by: [exact]) @dgraph(pred: \"city\")\n  \
     name: String @search(by: [term]) @dgraph(pred: \"name\")\n  nick: String @dgraph(pred: \"nick\")\n  \
     friend: [Person] @dgraph(pred: \"friend\")\n}\n";

/// A number that looks random and is the same in each run.
pub fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// Opens a directory into memory, without syncs and checkpoints: so the changes are in the log
/// alone.
pub fn open(path: &Path, fold: &str) -> Database {
    let mut options = OpenOptions { no_map: true, sync: SyncPolicy::Never, ..Default::default() };
    options.set_checkpoint("64GiB").expect("a number of bytes");
    options.set_fold(fold).expect("a way to fold");
    Database::open(path, options).expect("the directory was saved or copied")
}

/// Copies a directory of a database, with a log as far as it was written.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("there is room");
    for file in std::fs::read_dir(from).expect("the directory is there").flatten() {
        // The copies that are asked lie in directories beside what they were copied from.
        if file.path().is_dir() {
            continue;
        }
        std::fs::copy(file.path(), to.join(file.file_name())).expect("there is room");
    }
}

/// Builds the graph and saves it in a directory.
pub fn build(path: &Path) {
    let db = Database::in_memory();
    db.set_graphql_schema(SDL).expect("a valid schema");
    db.alter(SCHEMA).expect("a valid schema");
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    load_lines(&db, dir.path(), |out| {
        for uid in 1..=NODES {
            write_person(out, uid, mixed(uid), uid);
            for edge in 0..mixed(uid) % 5 {
                let friend = mixed(uid * 8 + edge) % NODES + 1;
                writeln!(out, "<{uid}> <friend> <{friend}> .").expect("room");
            }
            writeln!(out, "<{HUB}> <e> <{uid}> .").expect("room");
        }
    });
    db.compact().expect("there is memory");
    db.save(path).expect("the disk has room");
}

/// The statements of a person: what all have, and by `kind` what some have.
fn write_person(out: &mut dyn Write, uid: u64, random: u64, kind: u64) {
    write_common(out, uid, random).expect("room");
    if kind.is_multiple_of(2) {
        write_existing(out, uid, random).expect("room");
    }
    if kind % 4 == 1 {
        write_words(out, uid, random).expect("room");
    }
    if kind % 100 == 2 {
        let number = |shift: u64| (random >> shift) % 1000;
        let vector = [0, 7, 13, 19].map(number);
        writeln!(out, "<{uid}> <emb> \"{vector:?}\" .").expect("room");
    }
}

fn write_common(out: &mut dyn Write, uid: u64, random: u64) -> std::io::Result<()> {
    let (score, age, city) = (random % 1_000_000, random / 7 % 80, random / 11 % 100);
    writeln!(out, "<{uid}> <score> \"{score}\" .\n<{uid}> <age> \"{age}\" .")?;
    writeln!(out, "<{uid}> <height> \"{}\" .", 1.0 + (random / 17 % 1000) as f64 / 1000.0)?;
    writeln!(out, "<{uid}> <city> \"c{city}\" .\n<{uid}> <dgraph.type> \"Person\" .")?;
    writeln!(out, "<{uid}> <name> \"n{} m{}\" .", random % 500, random / 3 % 500)?;
    let (year, month) = (1940 + random % 80, random / 5 % 12 + 1);
    writeln!(out, "<{uid}> <born> \"{year}-{month:02}-04\" .")
}

fn write_existing(out: &mut dyn Write, uid: u64, random: u64) -> std::io::Result<()> {
    writeln!(out, "<{uid}> <nick> \"k{}\" .", random / 19 % 1000)?;
    writeln!(out, "<{uid}> <likes> \"l{}\" .", random / 23 % 1000)?;
    for edge in 0..2 {
        let (other, weight) = (mixed(random + edge), random / 29 % 1000);
        let (target, since) = (other % NODES + 1, 1990 + other % 30);
        let weight = weight as f64 / 1000.0;
        writeln!(out, "<{uid}> <knows> <{target}> (weight={weight}, since={since}) .")?;
    }
    Ok(())
}

fn write_words(out: &mut dyn Write, uid: u64, random: u64) -> std::io::Result<()> {
    let word = |by: u64| random / by % 400;
    writeln!(out, "<{uid}> <code> \"{:x}\" .", mixed(random))?;
    writeln!(out, "<{uid}> <about> \"word{} and word{} of word{}\" .", word(3), word(5), word(7))?;
    let (longitude, latitude) = (random % 100_000, random / 31 % 50_000);
    let (longitude, latitude) = (longitude as f64 / 1000.0, latitude as f64 / 1000.0);
    let point =
        format!("{{\\\"type\\\":\\\"Point\\\",\\\"coordinates\\\":[{longitude},{latitude}]}}");
    writeln!(out, "<{uid}> <place> \"{point}\"^^<geo:geojson> .")?;
    writeln!(out, "<{uid}> <label> \"e{}\"@en .", random / 37 % 1000)?;
    writeln!(out, "<{uid}> <label> \"d{}\"@de .", random / 41 % 1000)?;
    writeln!(out, "<{uid}> <tags> \"t{}\" .", random / 43 % 500)?;
    writeln!(out, "<{uid}> <tags> \"t{}\" .", random / 47 % 500)
}

/// Makes some commits, by their numbers.
pub fn commit_all(db: &Database, numbers: std::ops::Range<u64>) {
    numbers.for_each(|number| commit(db, number));
}

/// One commit, of number 0 or above. It changes all values of a person and adds a friend. Some make
/// a new person, take a person, values or edges away, or change the hub; the number 0 does all of
/// it.
pub fn commit(db: &Database, number: u64) {
    let (set, delete) = statements(number, 2);
    db.mutate(&set, &delete).expect("a valid mutation");
}

/// As many persons come as go.
pub fn steady_commit(db: &Database, number: u64) {
    let (set, delete) = statements(number, 10);
    db.mutate(&set, &delete).expect("a valid mutation");
}

/// What a commit sets and deletes; one in `new` makes a person.
fn statements(number: u64, new: u64) -> (String, String) {
    let random = mixed(number ^ 0x5555);
    let uid = random % NODES + 1;
    let (mut set, mut delete) = (Vec::new(), String::new());
    let friend = random / 13 % NODES + 1;
    write_person(&mut set, uid, random / 3, uid);
    writeln!(set, "<{uid}> <friend> <{friend}> .").expect("room");
    if number.is_multiple_of(new) {
        let uid = NEW + number;
        write_person(&mut set, uid, mixed(random), number / new);
        writeln!(set, "<{uid}> <friend> <{friend}> .\n<{friend}> <friend> <{uid}> .")
            .expect("room");
        writeln!(set, "<{HUB}> <e> <{uid}> .").expect("room");
    }
    let other = mixed(random) % NODES + 1;
    match number % 20 {
        _ if other == uid || other == friend => {}
        0 | 10 => delete = format!("<{other}> * * .\n"),
        5 => delete = format!("<{other}> <age> * .\n<{other}> <city> * .\n<{other}> <tags> * .\n"),
        15 => {
            delete =
                format!("<{other}> <friend> * .\n<{other}> <nick> * .\n<{other}> <knows> * .\n")
        }
        _ => {}
    }
    if number.is_multiple_of(100) {
        delete.push_str(&format!("<{HUB}> <e> <{other}> .\n"));
    }
    (String::from_utf8(set).expect("it is text"), delete)
}
