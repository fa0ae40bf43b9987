//! The words of the language, which editors propose while somebody types.

use crate::lexer;
use crate::lower::{arguments::function_names, selection::KEYS};
use hexgraph_base::plan::AGGREGATES;
use hexgraph_base::schema;
use hexgraph_base::types::ValueType;
use std::collections::BTreeSet;

/// Words that are in the grammar alone.
const GRAMMAR: &str = "as and or not var shortest mutation set delete math len distinct _all_";

/// The functions, directives and arguments of DQL, and what its schemas are made of: each word
/// once, ascending. A directive begins with `@`.
pub fn keywords() -> BTreeSet<String> {
    let plain = GRAMMAR
        .split(' ')
        .chain(lexer::words())
        .chain(function_names())
        .chain(KEYS)
        .chain(AGGREGATES.iter().filter_map(|row| row.open.strip_suffix('(')))
        .chain(ValueType::ALL.into_iter().map(ValueType::name));
    let directives = lexer::directives().chain(schema::PREDICATE_DIRECTIVES);
    plain.map(str::to_owned).chain(directives.map(|name| format!("@{name}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::keywords;

    #[test]
    fn each_part_of_the_language_gives_its_words() {
        let words = keywords();
        let requested = "query fragment upsert as and not var shortest _all_ func first after numpaths eq similar_to checkpwd expand \
            avg median quantile distinct math logbase cond len count @filter @facets @recurse @index @unique @lang float32vector datetime";
        let missing: Vec<&str> =
            requested.split_whitespace().filter(|word| !words.contains(*word)).collect();
        assert_eq!(missing, [""; 0]);
    }
}
