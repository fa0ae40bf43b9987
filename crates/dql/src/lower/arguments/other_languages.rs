//! Words that people bring along from SQL, Cypher, GraphQL and data frames, and what is written
//! here for them. They are for hints of errors alone.

/// What is written for a function of another language.
pub(super) fn function_for(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "equals" | "equal" | "is" => "write `eq(name, \"Ada\")`",
        "in" | "any" | "is_in" | "isin" => "write `eq(name, [\"Ada\", \"Bob\"])`",
        "ne" | "neq" | "not_eq" => "write `not eq(name, \"Ada\")`",
        "like" | "ilike" | "startswith" | "starts_with" | "endswith" | "ends_with" | "prefix" => {
            "write `regexp(name, /^Ada/i)`, where `^` is the beginning and `$` the end"
        }
        "exists" | "not_null" | "is_not_null" => "write `has(name)`",
        "is_null" | "isnull" | "missing" => "write `not has(name)`",
        "search" | "fulltext" => "write `alloftext(text, \"some words\")`",
        "id" => "write `uid(0x1)`",
        "label" | "labels" => "write `type(Person)`",
        "distance" => "write `near(location, [8.5, 47.4], 1000)`",
        _ => return None,
    })
}

/// What is written for an argument of another language.
pub(in crate::lower) fn argument_for(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "limit" | "top" | "take" | "size" | "n" => "write `first: 10`",
        "skip" | "start" => "write `offset: 10`",
        "order_by" | "orderby" | "order" | "sort" | "sort_by" => {
            "write `orderasc: name` or `orderdesc: name`"
        }
        "desc" => "write `orderdesc: name`",
        "asc" => "write `orderasc: name`",
        "filter" | "where" => "write `@filter(eq(name, \"Ada\"))` behind the brackets",
        _ => return None,
    })
}
