//! The words of the language, which editors propose and colour while somebody types.

use crate::lexer;
use crate::lower::{
    arguments::{FUNCTIONS, math_functions},
    selection::KEYS,
};
use crate::syntax::keyword_kind::KeywordKind;
use hexgraph_base::plan::AGGREGATES;
use hexgraph_base::schema;
use hexgraph_base::types::ValueType;
use std::collections::BTreeSet;

/// Words that are in the grammar alone.
const GRAMMAR: &str = "as and or not var shortest mutation set delete distinct _all_";

/// A word of DQL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyword {
    /// What it is.
    pub kind: KeywordKind,
    /// The word; a directive with its `@`.
    pub name: String,
    /// A call of it, such as `has(name)`; empty for what is not called.
    pub form: &'static str,
}

/// The functions, directives and arguments of DQL, and what its schemas are made of, in the order
/// of the tables that the language is read by. A word of several kinds is there once for each.
pub fn keyword_table() -> Vec<Keyword> {
    let word = |kind, name: &str| Keyword { kind, name: name.to_owned(), form: "" };
    let functions = FUNCTIONS.iter().map(|it| Keyword { form: it.form, ..word(it.kind, it.name) });
    let aggregates = AGGREGATES.iter().filter_map(|row| row.open.strip_suffix('('));
    let fields = lexer::field_functions().chain([("math", "math(x + y)"), ("len", "len(x)")]);
    let directives = lexer::directives().chain(schema::PREDICATE_DIRECTIVES);
    let mut seen = BTreeSet::new();
    functions
        .chain(aggregates.map(|name| word(KeywordKind::Aggregate, name)))
        .chain(math_functions().map(|name| word(KeywordKind::Math, name)))
        .chain(fields.map(|(name, form)| Keyword { form, ..word(KeywordKind::Field, name) }))
        .chain(KEYS.map(|name| word(KeywordKind::Argument, name)))
        .chain(directives.map(|name| word(KeywordKind::Directive, &format!("@{name}"))))
        .chain(ValueType::ALL.map(|value_type| word(KeywordKind::Type, value_type.name())))
        .chain(
            lexer::operations().chain(GRAMMAR.split(' ')).map(|name| word(KeywordKind::Word, name)),
        )
        .filter(|keyword| seen.insert((keyword.kind, keyword.name.clone())))
        .collect()
}

/// The words of [`keyword_table`], each once, ascending.
pub(crate) fn keywords() -> BTreeSet<String> {
    keyword_table().into_iter().map(|keyword| keyword.name).collect()
}

#[cfg(test)]
mod tests {
    use super::{KeywordKind, keyword_table, keywords};

    #[test]
    fn each_part_of_the_language_gives_its_words() {
        let words = keywords();
        let requested = "query fragment upsert as and not var shortest _all_ func first after numpaths eq similar_to checkpwd expand \
            avg median quantile distinct math logbase cond len count @filter @facets @recurse @index @unique @lang float32vector datetime";
        let missing: Vec<&str> =
            requested.split_whitespace().filter(|word| !words.contains(*word)).collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn words_have_kinds() {
        let table = keyword_table();
        let kinds = |name: &str| {
            let kinds = table.iter().filter(|word| word.name == name).map(|word| word.kind.name());
            kinds.collect::<Vec<_>>().join(" ")
        };
        for (name, expected) in [
            ("eq", "condition"),
            ("uid", "condition field type"),
            ("max", "aggregate math"),
            ("count", "field"),
            ("orderasc", "argument"),
            ("@cascade", "directive"),
            ("datetime", "type"),
            ("anyof", "word"),
            ("upsert", "word"),
        ] {
            assert_eq!(kinds(name), expected, "{name}");
        }
        for kind in KeywordKind::ALL {
            assert!(table.iter().any(|word| word.kind == kind), "{}", kind.name());
        }
    }
}
