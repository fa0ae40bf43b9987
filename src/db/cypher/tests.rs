//! A version of the graph as Cypher sees it: names, hidden predicates, values, indexes, changes.

use crate::db::Database;

const DATA: &str = r#"
<1> <dgraph.type> "Film" .
<1> <Film.title> "Metropolis" .
<1> <year> "1927"^^<xs:int> .
<2> <dgraph.type> "Person" .
<2> <name> "Fritz" .
<2> <name> "Fritz Lang"@de .
<2> <born> "1890-12-05T00:00:00Z"^^<xs:dateTime> .
<2> <secret> "geheim!" .
<2> <home> "{'type':'Point','coordinates':[16.4,48.2]}"^^<geo:geojson> .
<2> <Person.directed> <1> (scenes=7) .
<3> <likes> <3> .
<3> <likes> <4> .
<5> <tags> "b" .
<5> <tags> "a" .
"#;

const SCHEMA: &str = "
name: string @lang @index(exact) .
year: int @index(int) .
secret: password .
born: datetime @index(year) .
home: geo .
tags: [string] .
likes: [uid] .
Person.directed: [uid] @reverse .
Film.title: string @index(hash) .
type Film {
  Film.title
  year
}
type Person {
  name
  Person.directed
}";

fn database() -> Database {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db.mutate(DATA, "").unwrap();
    db
}

fn rows(db: &Database, text: &str) -> String {
    let answer = db.cypher(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rows = answer.rows.iter();
    let rows = rows.map(|row| row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(", "));
    rows.collect::<Vec<_>>().join("; ")
}

#[test]
fn names_find_the_fields_of_types() {
    let db = database();
    assert_eq!(
        rows(&db, "MATCH (f:Film) RETURN f.title, f.`Film.title`, f.year"),
        "Metropolis, Metropolis, 1927"
    );
    assert_eq!(rows(&db, "MATCH (f {title: 'Metropolis'}) RETURN id(f)"), "1");
    assert_eq!(
        rows(&db, "MATCH (p)-[r:directed]->(f) RETURN type(r), r.scenes, p.name"),
        "Person.directed, 7, Fritz"
    );
    assert_eq!(rows(&db, "MATCH (f)<-[:directed]-(p) RETURN p.`name@de`"), "Fritz Lang");
    assert_eq!(
        rows(&db, "MATCH (f:Film) RETURN keys(f), properties(f)"),
        "['title', 'year'], {title: 'Metropolis', year: 1927}"
    );
}

#[test]
fn values_that_differ_by_name_are_an_error_that_names_them() {
    let db = database();
    db.alter(
        "Film.name: string .\nWork.name: string .\ntype Film {\nFilm.name\n}\ntype Work {\nWork.name\n}",
    )
    .unwrap();
    db.mutate("<9> <dgraph.type> \"Film\" .\n<9> <dgraph.type> \"Work\" .\n<9> <Film.name> \"M\" .\n<9> <Work.name> \"N\" .", "").unwrap();
    let error = db.cypher("MATCH (n:Work) RETURN n.name").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`Film.name`") && error.contains("`Work.name`"), "{error}");
    assert_eq!(rows(&db, "MATCH (n:Work) RETURN n.`Work.name`"), "N");
}

#[test]
fn passwords_and_the_engines_own_data_are_hidden() {
    let db = database();
    assert_eq!(rows(&db, "MATCH (n) RETURN collect(id(n))"), "[1, 2, 3, 4, 5]");
    assert_eq!(
        rows(&db, "MATCH (p:Person) RETURN p.secret, keys(p)"),
        "null, ['born', 'home', 'name', 'name@de']"
    );
    assert_eq!(rows(&db, "MATCH (p) WHERE p.`dgraph.type` IS NOT NULL RETURN count(p)"), "0");
    db.mutate("<77> <secret> \"geheim!\" .", "").unwrap();
    assert_eq!(rows(&db, "MATCH (n) RETURN count(n)"), "5");
}

#[test]
fn values_have_the_kinds_of_cypher() {
    let db = database();
    assert_eq!(
        rows(
            &db,
            "MATCH (p:Person) RETURN p.born.year, p.home.x, p.born < datetime('1900-01-01T00:00:00Z')"
        ),
        "1890, 16.4, true"
    );
    assert_eq!(rows(&db, "MATCH (n) WHERE n.tags IS NOT NULL RETURN n.tags"), "['a', 'b']");
}

/// Against the direction of an edge without `@reverse`, from itself to itself, and after a change.
#[test]
fn edges_are_read_in_both_directions() {
    let db = database();
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) RETURN id(a), id(b)"), "3, 3; 4, 3");
    assert_eq!(rows(&db, "MATCH (a)-[:likes]-(b) RETURN id(a), id(b)"), "3, 3; 3, 4; 4, 3");
    db.mutate("<6> <likes> <4> .", "").unwrap();
    assert_eq!(rows(&db, "MATCH (a {x: null})<--(b) RETURN 1"), "");
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) WHERE id(a) = 4 RETURN id(b)"), "3; 6");
    db.mutate("", "<3> <likes> <4> .").unwrap();
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) WHERE id(a) = 4 RETURN id(b)"), "6");
}

/// An index finds what a scan finds: equal numbers of both kinds, and no others.
#[test]
fn an_index_finds_what_a_scan_finds() {
    let db = database();
    for (index, scan) in [
        (
            "MATCH (n {year: 1927.0}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = 1927.0 RETURN id(n)",
        ),
        (
            "MATCH (n {year: 1927.5}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = 1927.5 RETURN id(n)",
        ),
        (
            "MATCH (n {year: '1927'}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = '1927' RETURN id(n)",
        ),
        (
            "MATCH (n {name: 'Fritz'}) RETURN id(n)",
            "MATCH (n) WHERE n.name + '' = 'Fritz' RETURN id(n)",
        ),
        (
            "MATCH (n {born: datetime('1890-12-05T01:00:00+01:00')}) RETURN id(n)",
            "MATCH (n) WHERE n.born.year = 1890 RETURN id(n)",
        ),
        (
            "MATCH (n {born: datetime('1890-12-06T00:00:00Z')}) RETURN id(n)",
            "MATCH (n) WHERE n.born.day = 6 RETURN id(n)",
        ),
    ] {
        assert_eq!(rows(&db, index), rows(&db, scan), "{index}");
    }
}

#[test]
fn nobody_writes_and_limits_hold() {
    let db = database();
    let fault = |text: &str| db.cypher(text).map(|_| ()).unwrap_err().to_string();
    assert!(fault("CREATE (n)").contains("mutate"), "{}", fault("CREATE (n)"));
    assert!(fault("EXPLAIN MATCH (n) RETURN n").contains("EXPLAIN"));
    assert!(fault("MATCH (n) RETURN m").contains('m'));
    let endless = fault("UNWIND range(0, 1000000000000) AS n RETURN n");
    assert!(endless.contains("value_bytes_max"), "{endless}");
}
