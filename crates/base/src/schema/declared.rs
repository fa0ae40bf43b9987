//! Who declared what of a predicate or a type: `alter`, or a GraphQL schema.
//!
//! A definition says what holds, whoever asked for it: it is the union of what the two declared. What each asked for is
//! kept beside it, so that one of them can take back what is its own and nothing else. A definition that keeps nothing
//! beside it counts as declared by `alter` as it stands: so do those of directories that were written before this was
//! kept, and predicates that nobody declared, which came with data.

use crate::schema::{PredicateDef, Tokenizer, TypeDef};

/// Who declares predicates and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A schema text that was given to `alter`, to a load or over HTTP.
    Alter,
    /// A GraphQL schema.
    Graphql,
}

/// What can be declared of a predicate beside its type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Values may have a language.
    pub lang: bool,
    /// Edges are kept in both directions.
    pub reverse: bool,
    /// The number of values or edges of a node is indexed.
    pub count: bool,
    /// Transactions that write the same indexed value conflict.
    pub upsert: bool,
    /// No two nodes have the same value.
    pub unique: bool,
    /// Writes never conflict.
    pub noconflict: bool,
    /// The indexes, in the order they were declared.
    pub indexes: Vec<Tokenizer>,
}

/// What each declared of a predicate; `None` for one who did not name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declared {
    /// What `alter` declared.
    pub by_alter: Option<Options>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Options>,
}

/// The fields that each declared of a type; `None` for one who did not name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeclaredFields {
    /// What `alter` declared.
    pub by_alter: Option<Vec<String>>,
    /// What the GraphQL schema declared.
    pub by_graphql: Option<Vec<String>>,
}

impl Options {
    /// What either asks for. Indexes of `self` come first; of two vector indexes that of `self` is kept.
    pub fn union(&self, other: &Options) -> Options {
        let mut indexes = self.indexes.clone();
        for index in &other.indexes {
            if !indexes.iter().any(|known| known.name() == index.name()) {
                indexes.push(index.clone());
            }
        }
        Options {
            lang: self.lang | other.lang,
            reverse: self.reverse | other.reverse,
            count: self.count | other.count,
            upsert: self.upsert | other.upsert,
            unique: self.unique | other.unique,
            noconflict: self.noconflict | other.noconflict,
            indexes,
        }
    }
}

impl PredicateDef {
    /// Whether both mean the same, whoever declared what.
    pub fn is_alike(&self, other: &PredicateDef) -> bool {
        let shape = |def: &PredicateDef| (def.value_type, def.list, def.options());
        self.name == other.name && shape(self) == shape(other)
    }

    /// All that is declared beside the type, by whomever.
    pub fn options(&self) -> Options {
        Options {
            lang: self.lang,
            reverse: self.reverse,
            count: self.count,
            upsert: self.upsert,
            unique: self.unique,
            noconflict: self.noconflict,
            indexes: self.indexes.clone(),
        }
    }

    /// Who declared what.
    pub fn declared(&self) -> Declared {
        match &self.declared {
            Some(declared) => Declared::clone(declared),
            None => Declared { by_alter: Some(self.options()), by_graphql: None },
        }
    }

    /// The definition after one of the two declared other options, or took back all of his (`None`): the union of what
    /// both want. The type stays. A union may ask for two indexes that both give an order, which
    /// [`crate::schema::parse_schema`] refuses: who declares has to look.
    pub fn declare(&self, origin: Origin, options: Option<Options>) -> PredicateDef {
        let mut declared = self.declared();
        match origin {
            Origin::Alter => declared.by_alter = options,
            Origin::Graphql => declared.by_graphql = options,
        }
        self.with_declared(declared)
    }

    /// The definition of the same name and type that is the union of what was declared.
    pub fn with_declared(&self, declared: Declared) -> PredicateDef {
        let Declared { by_alter, by_graphql } = &declared;
        let nothing = Options::default();
        let all = by_alter.as_ref().unwrap_or(&nothing);
        let all = all.union(by_graphql.as_ref().unwrap_or(&nothing));
        let kept = by_graphql.is_some().then(|| Box::new(declared.clone()));
        PredicateDef { declared: kept, ..self.clone() }.with_options(all)
    }

    /// The definition with these options in place of its own.
    pub(super) fn with_options(self, options: Options) -> PredicateDef {
        let Options { lang, reverse, count, upsert, unique, noconflict, indexes } = options;
        PredicateDef { lang, reverse, count, upsert, unique, noconflict, indexes, ..self }
    }
}

impl TypeDef {
    /// A type with these fields, all of which count as declared by `alter`.
    pub fn new(name: impl Into<String>, fields: Vec<String>) -> TypeDef {
        TypeDef { name: name.into(), fields, declared: None }
    }

    /// Who declared which fields.
    pub fn declared(&self) -> DeclaredFields {
        match &self.declared {
            Some(declared) => DeclaredFields::clone(declared),
            None => DeclaredFields { by_alter: Some(self.fields.clone()), by_graphql: None },
        }
    }

    /// The type after one of the two declared other fields, or took back all of his (`None`): first those of `alter`,
    /// then those of the GraphQL schema that are not among them.
    pub fn declare(&self, origin: Origin, fields: Option<Vec<String>>) -> TypeDef {
        let mut declared = self.declared();
        match origin {
            Origin::Alter => declared.by_alter = fields,
            Origin::Graphql => declared.by_graphql = fields,
        }
        TypeDef::with_declared(self.name.clone(), declared)
    }

    /// The type that is the union of what was declared.
    pub fn with_declared(name: impl Into<String>, declared: DeclaredFields) -> TypeDef {
        let mut fields = declared.by_alter.clone().unwrap_or_default();
        for field in declared.by_graphql.iter().flatten() {
            if !fields.contains(field) {
                fields.push(field.clone());
            }
        }
        let kept = declared.by_graphql.is_some().then(|| Box::new(declared));
        TypeDef { name: name.into(), fields, declared: kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parse_schema;

    fn def(text: &str) -> PredicateDef {
        parse_schema(text).unwrap().predicates.remove(0)
    }

    #[test]
    fn each_takes_back_his_own() {
        let altered = def("a: string @index(exact, term) @upsert .");
        let graphql = def("a: string @index(term, fulltext) @count .").options();
        let both = altered.declare(Origin::Graphql, Some(graphql.clone()));
        let union = def("a: string @index(exact, term, fulltext) @upsert @count .");
        assert_eq!(both.options(), union.options());
        assert_eq!(both.declared().by_alter, Some(altered.options()));
        assert_eq!(both.declare(Origin::Graphql, None), altered);
        let alone = both.declare(Origin::Alter, None);
        assert_eq!((alone.options(), alone.declared().by_alter), (graphql, None));
        assert_eq!(alone.declare(Origin::Graphql, None), def("a: string ."));
    }

    #[test]
    fn fields_of_a_type_are_told_apart() {
        let fields = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let altered = TypeDef::new("T", fields(&["a", "b"]));
        let both = altered.declare(Origin::Graphql, Some(fields(&["b", "c"])));
        assert_eq!(both.fields, ["a", "b", "c"]);
        assert_eq!(both.declare(Origin::Alter, None).fields, ["b", "c"]);
        assert_eq!(both.declare(Origin::Graphql, None), altered);
    }
}
