//! What the schema of a database has, by names: for completion, colours and descriptions.

use super::scan::{Kind, tokens};
use hexgraph::db::{Database, Keyword, KeywordKind, keyword_table};
use hexgraph_base::types::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The names of a schema, and the words of the language.
#[derive(Default)]
pub(in crate::cli) struct Catalog {
    /// The definition of each predicate, without its name.
    pub predicates: BTreeMap<String, String>,
    /// The fields of each type.
    pub types: BTreeMap<String, Vec<String>>,
    /// The words of DQL; directives begin with `@`.
    pub keywords: Vec<Keyword>,
    /// The names of the API in GraphQL.
    pub graphql: BTreeSet<String>,
}

impl Catalog {
    /// Reads the names from a database. O(schema).
    ///
    /// # Errors
    ///
    /// Fails only when it is closed.
    pub(in crate::cli) fn of(database: &Database) -> Result<Catalog> {
        let mut catalog = Catalog { keywords: keyword_table(), ..Catalog::default() };
        catalog.read(&database.schema_text()?);
        if let Some(schema) = database.graphql_schema()? {
            let words = tokens(&schema.generated);
            let words = words.iter().filter(|token| token.kind == Kind::Word);
            catalog.graphql = words.map(|token| token.text.to_owned()).collect();
        }
        Ok(catalog)
    }

    /// Reads a schema as the database writes it: a predicate or a field a line.
    fn read(&mut self, schema: &str) {
        let mut of_type = None;
        for line in schema.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("type ").and_then(|it| it.strip_suffix('{')) {
                let name = unquoted(name.trim());
                self.types.insert(name.clone(), Vec::new());
                of_type = Some(name);
            } else if line == "}" {
                of_type = None;
            } else if let Some(fields) = of_type.as_ref().and_then(|it| self.types.get_mut(it)) {
                fields.push(unquoted(line));
            } else if let Some((name, definition)) = line.split_once(": ") {
                let definition = definition.trim_end_matches('.').trim();
                self.predicates.insert(unquoted(name), definition.to_owned());
            }
        }
    }

    /// The words of one kind.
    pub(super) fn keywords_of(&self, kind: KeywordKind) -> impl Iterator<Item = &str> {
        self.keywords.iter().filter(move |word| word.kind == kind).map(|word| &*word.name)
    }

    /// Whether a word is one of DQL.
    pub(super) fn is_keyword(&self, name: &str) -> bool {
        self.keywords.iter().any(|word| word.name == name)
    }

    /// Whether a word is called with predicates or variables in brackets.
    pub(super) fn is_function(&self, name: &str) -> bool {
        let is_called = |kind: KeywordKind| match kind {
            KeywordKind::Condition | KeywordKind::Aggregate | KeywordKind::Field => true,
            KeywordKind::Math
            | KeywordKind::Argument
            | KeywordKind::Directive
            | KeywordKind::Type
            | KeywordKind::Word => false,
        };
        self.keywords.iter().any(|word| word.name == name && is_called(word.kind))
    }

    /// A call of a function, where the language has one for hints.
    pub(super) fn form_of(&self, name: &str) -> Option<&'static str> {
        let word = self.keywords.iter().find(|word| word.name == name && !word.form.is_empty());
        word.map(|word| word.form)
    }

    /// Whether a text may have a secret in it: one that compares or sets a password, or names one.
    pub(super) fn has_secret(&self, text: &str) -> bool {
        let is_password = |name: &str| {
            let definition = self.predicates.get(name);
            definition.is_some_and(|it| it.starts_with("password"))
                || ["passw", "checkpwd", "secret", "login"]
                    .iter()
                    .any(|word| name.to_ascii_lowercase().contains(word))
        };
        tokens(text).iter().any(|token| match token.kind {
            Kind::Text => is_password(token.text.trim_matches('"')),
            _ => token.name().is_some_and(is_password),
        })
    }
}

/// A name as queries have it: in `<>` where it has other characters than those of plain names.
pub(in crate::cli) fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    let starts_plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if starts_plain && name.chars().all(is_plain) { name.to_owned() } else { format!("<{name}>") }
}

fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
    inner.unwrap_or(name).to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::cli::shell) fn sample() -> Catalog {
        let database = Database::in_memory();
        let schema = "name: string @index(term) @lang .\nnickname: string .\npin: password .\n<böse_zahl>: int .\n\
            starring: [uid] @reverse .\ntype Film {\n name\n starring\n}\ntype <Böse> {\n <böse_zahl>\n}";
        database.alter(schema).unwrap();
        Catalog::of(&database).unwrap()
    }

    #[test]
    fn names_come_from_the_schema() {
        let catalog = sample();
        assert_eq!(catalog.predicates["name"], "string @index(term) @lang");
        assert_eq!(catalog.predicates["böse_zahl"], "int");
        assert_eq!(catalog.types["Film"], ["name", "starring"]);
        assert_eq!(catalog.types["Böse"], ["böse_zahl"]);
        assert_eq!(quoted("böse_zahl"), "<böse_zahl>");
        assert_eq!(quoted("Film.name"), "Film.name");
    }

    #[test]
    fn texts_with_passwords_are_secrets() {
        let catalog = sample();
        for (text, expected) in [
            ("\\login groot password", true),
            ("{ q(func: uid(1)) { checkpwd(pin, \"1234\") } }", true),
            ("{ set { _:a <pin> \"1234\" . } }", true),
            ("{\"pin\": \"1234\"}", true),
            ("mutation { addUser(input: {user_password: \"x\"}) { numUids } }", true),
            ("{ set { _:a <name> \"1234\" . } }", false),
            ("{ q(func: has(name)) { name } } # pin", false),
        ] {
            assert_eq!(catalog.has_secret(text), expected, "{text}");
        }
    }
}
