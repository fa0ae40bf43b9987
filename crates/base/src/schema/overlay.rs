//! Applies a GraphQL schema to the schema of a graph. What `alter` declared stays. Of a predicate
//! or a type that `alter` declared too, or that the new GraphQL schema names, what an earlier
//! GraphQL schema declared is withdrawn.
//!
//! Each definition becomes the union of the two declarations, with three special cases. When both
//! request an index that gives an order, that of `alter` is retained, since either answers the same
//! queries. When the GraphQL schema changes the type of a predicate, the options of `alter` stay as
//! far as the new type can have them. Predicates and types that only an earlier GraphQL schema
//! declared and the new one does not name stay unchanged, since they may have data; Dgraph does the
//! same.

use std::collections::HashSet;

use crate::schema::{
    Declared, DeclaredFields, Options, Origin, PredicateDef, Schema, SchemaText, Tokenizer,
    TypeDef, is_reserved,
};
use crate::types::ValueType;

impl Schema {
    /// Returns the definitions that a GraphQL schema changes: those of all predicates and types
    /// that `text` names, and of those that both `alter` and an earlier GraphQL schema declared.
    /// This schema is not changed; [`Schema::apply`] does that with the result. Takes time linear
    /// in the size of both schemas.
    pub fn overlay(&self, text: SchemaText) -> SchemaText {
        let named: HashSet<String> = text.predicates.iter().map(|def| def.name.clone()).collect();
        let named_types: HashSet<String> = text.types.iter().map(|def| def.name.clone()).collect();
        let mut predicates: Vec<PredicateDef> =
            text.predicates.into_iter().map(|def| self.with_graphql(def)).collect();
        // What is left are the definitions that the new GraphQL schema does not name: it withdraws
        // its part of them.
        let left = self.predicates.values().filter(|def| !named.contains(&def.name));
        let left = left.filter(|def| {
            let declared = def.declared();
            declared.by_alter.is_some() && declared.by_graphql.is_some()
        });
        predicates.extend(left.map(|def| def.declare(Origin::Graphql, None)));
        let mut types: Vec<TypeDef> =
            text.types.into_iter().map(|def| self.type_with_graphql(def)).collect();
        let left = self.types.values().filter(|def| !named_types.contains(&def.name));
        let left = left.filter(|def| {
            let declared = def.declared();
            declared.by_alter.is_some() && declared.by_graphql.is_some()
        });
        types.extend(left.map(|def| def.declare(Origin::Graphql, None)));
        SchemaText { predicates, types }
    }

    /// Returns a predicate of the new GraphQL schema together with what `alter` declared of it.
    fn with_graphql(&self, new: PredicateDef) -> PredicateDef {
        // Only the engine declares reserved names, so there is no second source.
        if is_reserved(&new.name) {
            return new;
        }
        let by_alter = self.predicates.get(&new.name).and_then(|old| {
            let options = old.declared().by_alter?;
            Some(if old.value_type == new.value_type { options } else { fitting(options, &new) })
        });
        let mut by_graphql = new.options();
        // A predicate has one index that gives an order: that of `alter` stays, and no other is
        // added.
        if by_alter.iter().flat_map(|it| &it.indexes).any(Tokenizer::is_sortable) {
            let existing = by_alter.iter().flat_map(|it| &it.indexes);
            let existing: Vec<&str> = existing.map(Tokenizer::name).collect();
            by_graphql
                .indexes
                .retain(|index| !index.is_sortable() || existing.contains(&index.name()));
        }
        new.with_declared(Declared { by_alter, by_graphql: Some(by_graphql) })
    }

    /// Returns a type of the new GraphQL schema together with the fields that `alter` declared.
    fn type_with_graphql(&self, new: TypeDef) -> TypeDef {
        match self.types.get(&new.name) {
            _ if is_reserved(&new.name) => new,
            Some(old) => old.declare(Origin::Graphql, Some(new.fields)),
            None => {
                let declared = DeclaredFields { by_alter: None, by_graphql: Some(new.fields) };
                TypeDef::with_declared(new.name, declared)
            }
        }
    }
}

/// Returns those of the options that a predicate of the type of `new` can have.
fn fitting(options: Options, new: &PredicateDef) -> Options {
    let is_uid = new.value_type == ValueType::Uid;
    let indexes = options.indexes.into_iter().filter(|index| index.accepts(new.value_type));
    let indexes: Vec<Tokenizer> = indexes.collect();
    let is_indexed = !indexes.is_empty();
    Options {
        lang: options.lang && new.value_type == ValueType::String && !new.list,
        reverse: options.reverse && is_uid,
        count: options.count,
        upsert: options.upsert && is_indexed,
        unique: options.unique && is_indexed,
        noconflict: options.noconflict,
        indexes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parse_schema;

    const ALTERED: &str = "origin: [uid] @reverse @count .\niata: string @index(exact, term) @lang .\nseen: datetime @index(day) .\n\
                           free: int @index(int) .\ntype Airport {\n iata\n origin\n free\n}\n";

    fn laid(schema: &mut Schema, text: &str) {
        let text = schema.overlay(parse_schema(text).unwrap());
        schema.check_change(&text, &|_| true).unwrap();
        schema.apply(&text);
    }

    fn altered() -> Schema {
        let mut schema = Schema::new();
        schema.apply(&parse_schema(ALTERED).unwrap());
        schema
    }

    #[test]
    fn what_alter_declared_stays() {
        let mut schema = altered();
        laid(
            &mut schema,
            "origin: [uid] .\niata: string @index(hash) @upsert .\nseen: datetime @index(year) .\ncode: int .\n\
             type Airport {\n code\n iata\n}\n",
        );
        let want = "code: int .\nfree: int @index(int) .\niata: string @index(exact, term, hash) @lang @upsert .\n\
                    origin: [uid] @reverse @count .\nseen: datetime @index(day) .\n\
                    type Airport {\n iata\n origin\n free\n code\n}\n";
        let mut expected = Schema::new();
        expected.apply(&parse_schema(want).unwrap());
        assert_eq!(schema.to_text(), expected.to_text());
    }

    #[test]
    fn what_a_graphql_schema_declared_goes_with_it() {
        let mut schema = altered();
        laid(
            &mut schema,
            "iata: string @index(hash) .\ncode: int @index(int) .\ntype Airport {\n code\n iata\n}\n",
        );
        laid(&mut schema, "iata: string @index(fulltext) .\ntype Airport {\n iata\n}\n");
        let indexes = |schema: &Schema, name: &str| -> Vec<&'static str> {
            schema.predicates[name].indexes.iter().map(Tokenizer::name).collect()
        };
        assert_eq!(indexes(&schema, "iata"), ["exact", "term", "fulltext"]);
        assert_eq!(schema.types["Airport"].fields, ["iata", "origin", "free"]);
        // What nobody else declared stays until it is named again.
        assert_eq!(indexes(&schema, "code"), ["int"]);
        laid(&mut schema, "code: int .\ntype Port {\n code\n}\n");
        assert_eq!(indexes(&schema, "code"), [""; 0]);
        assert_eq!(indexes(&schema, "iata"), ["exact", "term"]);
        assert_eq!(schema.predicates["iata"], altered().predicates["iata"]);
        assert_eq!(schema.types["Airport"], altered().types["Airport"]);
    }

    #[test]
    fn another_type_retains_valid_options() {
        let mut schema = altered();
        laid(&mut schema, "iata: int @index(int) .\n");
        let iata = &schema.predicates["iata"];
        assert_eq!((iata.indexes.clone(), iata.lang), (vec![Tokenizer::Int], false));
    }
}
