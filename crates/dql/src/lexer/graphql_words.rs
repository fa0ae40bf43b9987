//! Recognises a GraphQL request by its words, for the hints of errors: both begin with `{` or
//! `query`, so the one is often sent where the other is expected.

/// What to do with a request that is GraphQL.
pub(crate) const HINT: &str =
    "this looks like GraphQL, which `db.graphql(...)` answers, and a server at `/graphql`";

/// The verbs that the fields of `Query` and `Mutation` begin with, before the name of a type.
const VERBS: [&str; 8] =
    ["query", "get", "aggregate", "similar", "check", "add", "update", "delete"];

/// Returns true for a name such as `queryPerson`, and for those of introspection.
pub(crate) fn is_field(name: &str) -> bool {
    let has_type = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    let is_operation = VERBS.iter().any(|verb| name.strip_prefix(verb).is_some_and(has_type));
    is_operation || matches!(name, "__schema" | "__type" | "__typename")
}

/// Returns true when the first field of the selection in `text` is one of GraphQL. `text` begins
/// with an operation, such as `mutation { addPerson`.
pub(crate) fn is_operation(text: &str) -> bool {
    let Some((_, selection)) = text.split_once('{') else { return false };
    let field = selection.trim_ascii_start();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    is_field(field.split(|letter| !is_letter(letter)).next().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_graphql_are_recognised_by_their_verbs() {
        for name in ["queryPerson", "getUser", "aggregateX", "addPerson", "__schema"] {
            assert!(is_field(name), "{name}");
        }
        for name in ["query", "queries", "people", "getaway", "q", "", "Query"] {
            assert!(!is_field(name), "{name}");
        }
    }

    #[test]
    fn operations_are_recognised_by_their_first_field() {
        assert!(is_operation("mutation { addPerson(input: []) { numUids } }"));
        assert!(is_operation("mutation m($x: Int!) {\n  deletePerson(filter: {}) { msg } }"));
        assert!(!is_operation("mutation { set { _:a <name> \"Ada\" . } }"));
        assert!(!is_operation("mutation"));
        assert!(!is_operation("mutation {"));
    }
}
