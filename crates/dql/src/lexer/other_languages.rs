//! Recognises requests in other languages by their first word, for the hints of errors.

const SQL: &str =
    "this looks like SQL, which `db.sql(...)` in Python answers, of types and edges as tables";

const CYPHER: &str = "this looks like Cypher, which `db.cypher(...)` in Python, `hexgraph cypher` and POST /cypher \
     answer";

const SPARQL: &str = "this looks like SPARQL, which is not answered: in DQL a pattern is nested, as in \
     `{ q(func: eq(name, \"Ada\")) { knows { name } } }`";

const GREMLIN: &str = "this looks like Gremlin, which is not answered: in DQL steps are nested, as in \
     `{ q(func: eq(name, \"Ada\")) { knows { name } } }`";

/// What to do with a text that begins with `word`, which starts no operation; `None` where the word
/// says nothing.
pub(super) fn hint(word: &str, text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix(word)?.trim_ascii_start();
    Some(match word.to_ascii_lowercase().as_str() {
        // A variable of SPARQL.
        "select" | "ask" | "describe" | "construct" if rest.starts_with(['?', '$', '{']) => SPARQL,
        "prefix" => SPARQL,
        "select" | "with" | "insert" | "update" | "from" => SQL,
        // `CREATE (n)` is Cypher, and `CREATE TABLE` is SQL.
        "create" | "delete" | "drop" if !rest.starts_with('(') => SQL,
        "match" | "optional" | "merge" | "unwind" | "return" | "call" | "create" => CYPHER,
        "g.v" | "g.e" if rest.starts_with('(') => GREMLIN,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_recognised_by_their_first_word() {
        let hint = |text: &str| {
            let word =
                text.split(|it: char| !it.is_ascii_alphanumeric() && it != '.').next().unwrap();
            hint(word, text)
        };
        assert_eq!(hint("SELECT name FROM person"), Some(SQL));
        assert_eq!(hint("select * from person"), Some(SQL));
        assert_eq!(hint("WITH a AS (SELECT 1) SELECT * FROM a"), Some(SQL));
        assert_eq!(hint("CREATE TABLE a (b int)"), Some(SQL));
        assert_eq!(hint("MATCH (a)-[:KNOWS]->(b) RETURN b"), Some(CYPHER));
        assert_eq!(hint("CREATE (n:Person)"), Some(CYPHER));
        assert_eq!(hint("SELECT ?name WHERE { ?a :name ?name }"), Some(SPARQL));
        assert_eq!(hint("PREFIX foaf: <http://xmlns.com/foaf/0.1/>"), Some(SPARQL));
        assert_eq!(hint("g.V().has('name')"), Some(GREMLIN));
        for text in ["queries { q }", "me(func: has(name))", "g { name }", ""] {
            assert_eq!(hint(text), None, "{text}");
        }
    }
}
