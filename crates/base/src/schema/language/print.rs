//! Writes the schema as text that declares it again, and as the answer to a schema query.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::schema::definition::is_reserved;
use crate::schema::language::lexer::is_bare_name;
use crate::schema::{PredicateDef, Schema, Tokenizer, TypeDef};
use crate::types::{Sink, ValueRef};

impl Schema {
    /// Returns a schema text that creates this schema in an empty graph, sorted by name. Predefined
    /// predicates and types are left out.
    pub fn to_text(&self) -> String {
        self.to_marked_text("")
    }

    /// As [`Schema::to_text`], with `mark` before each definition: the number of a namespace in
    /// square brackets and a blank, as Dgraph's exports have it.
    pub fn to_marked_text(&self, mark: &str) -> String {
        let mut text = String::new();
        for def in self.predicates.values().filter(|def| !is_reserved(&def.name)) {
            text.push_str(mark);
            write_predicate(&mut text, def);
        }
        for def in self.types.values().filter(|def| !is_reserved(&def.name)) {
            text.push_str(mark);
            write_type(&mut text, def);
        }
        text
    }

    /// Writes the keys `schema` and `types` into the open object. The value of each is an array
    /// sorted by name; an empty one is left out.
    ///
    /// `predicates` and `types` restrict what is listed; when one of them is given, only that part
    /// is written. `fields` restricts the properties of a predicate besides its name; empty means
    /// all.
    pub fn describe(
        &self,
        predicates: Option<&[String]>,
        types: Option<&[String]>,
        fields: &[String],
        sink: &mut dyn Sink,
    ) {
        if predicates.is_some() || types.is_none() {
            let listed = chosen(predicates, self.predicates.keys());
            let defs: Vec<_> =
                listed.iter().filter_map(|name| self.predicates.get(*name)).collect();
            write_array(sink, "schema", &defs, |sink, def| describe_predicate(sink, def, fields));
        }
        if types.is_some() || predicates.is_none() {
            let listed = chosen(types, self.types.keys());
            let defs: Vec<_> = listed.iter().filter_map(|name| self.types.get(*name)).collect();
            write_array(sink, "types", &defs, |sink, def| describe_type(sink, def));
        }
    }
}

/// Returns the names to list, sorted, each once.
fn chosen<'a>(
    names: Option<&'a [String]>,
    all: impl Iterator<Item = &'a String>,
) -> BTreeSet<&'a String> {
    match names {
        Some(names) => names.iter().collect(),
        None => all.collect(),
    }
}

fn write_array<T>(
    sink: &mut dyn Sink,
    key: &str,
    items: &[T],
    write_item: impl Fn(&mut dyn Sink, &T),
) {
    if items.is_empty() {
        return;
    }
    sink.key(key);
    sink.begin_array();
    for item in items {
        sink.begin_object();
        write_item(sink, item);
        sink.end_object();
    }
    sink.end_array();
}

fn describe_predicate(sink: &mut dyn Sink, def: &PredicateDef, fields: &[String]) {
    // Two are requested by a name that is not their key.
    let is_expected = |requested: &str, field: &str| match requested {
        "vector_specs" => field == "index_specs",
        "noconflict" => field == "no_conflict",
        requested => requested == field,
    };
    let expected = |field: &str| {
        fields.is_empty() || fields.iter().any(|requested| is_expected(requested, field))
    };
    write_text(sink, "predicate", &def.name);
    if expected("type") {
        write_text(sink, "type", def.value_type.name());
    }
    // A vector index has a property of its own, so a predicate with no other index does not count
    // as indexed.
    let indexed = def.indexes.iter().any(|index| !matches!(index, Tokenizer::Hnsw(_)));
    if expected("index") {
        write_flag(sink, "index", indexed);
    }
    if expected("tokenizer") && !def.indexes.is_empty() {
        sink.key("tokenizer");
        sink.begin_array();
        for index in &def.indexes {
            sink.text(&tokenizer_label(index));
        }
        sink.end_array();
    }
    let flags = [
        ("reverse", def.reverse),
        ("count", def.count),
        ("list", def.list),
        ("upsert", def.upsert),
        ("lang", def.lang),
        ("no_conflict", def.noconflict),
        ("unique", def.unique),
    ];
    for (name, set) in flags.into_iter().filter(|(name, _)| expected(name)) {
        write_flag(sink, name, set);
    }
    if expected("index_specs") {
        let vectors: Vec<_> =
            def.indexes.iter().filter(|index| matches!(index, Tokenizer::Hnsw(_))).collect();
        write_array(sink, "index_specs", &vectors, |sink, index| describe_vector(sink, index));
    }
}

fn describe_vector(sink: &mut dyn Sink, index: &Tokenizer) {
    write_text(sink, "name", index.name());
    write_array(sink, "options", written_options(index), |sink, (name, value)| {
        write_text(sink, "key", name);
        write_text(sink, "value", value);
    });
}

fn describe_type(sink: &mut dyn Sink, def: &TypeDef) {
    sink.key("fields");
    sink.begin_array();
    for field in &def.fields {
        sink.begin_object();
        write_text(sink, "name", field);
        sink.end_object();
    }
    sink.end_array();
    write_text(sink, "name", &def.name);
}

fn write_text(sink: &mut dyn Sink, key: &str, text: &str) {
    sink.key(key);
    sink.text(text);
}

fn write_flag(sink: &mut dyn Sink, key: &str, set: bool) {
    if set {
        sink.key(key);
        sink.value(ValueRef::Bool(true));
    }
}

fn written_options(index: &Tokenizer) -> &[(String, String)] {
    match index {
        Tokenizer::Hnsw(options) => options.written(),
        _ => &[],
    }
}

/// Returns a tokenizer as the answer to a schema query shows it: the names of options are in
/// quotes.
fn tokenizer_label(index: &Tokenizer) -> String {
    let options = written_options(index);
    if options.is_empty() {
        return index.name().to_string();
    }
    let shown: Vec<String> =
        options.iter().map(|(name, value)| format!("\"{name}\":\"{value}\"")).collect();
    format!("{}({})", index.name(), shown.join(","))
}

/// Returns a tokenizer as schema text.
fn tokenizer_text(index: &Tokenizer) -> String {
    let options = written_options(index);
    if options.is_empty() {
        return index.name().to_string();
    }
    let shown: Vec<String> =
        options.iter().map(|(name, value)| format!("{}:\"{value}\"", name_text(name))).collect();
    format!("{}({})", index.name(), shown.join(", "))
}

fn name_text(name: &str) -> String {
    if is_bare_name(name) { name.to_string() } else { format!("<{name}>") }
}

fn write_predicate(text: &mut String, def: &PredicateDef) {
    let mut line = format!("{}: {}", name_text(&def.name), def.type_text());
    if !def.indexes.is_empty() {
        let indexes: Vec<String> = def.indexes.iter().map(tokenizer_text).collect();
        line.push_str(&format!(" @index({})", indexes.join(", ")));
    }
    let directives = [
        (" @reverse", def.reverse),
        (" @count", def.count),
        (" @upsert", def.upsert),
        (" @unique", def.unique),
        (" @lang", def.lang),
        (" @noconflict", def.noconflict),
    ];
    for (directive, _) in directives.into_iter().filter(|(_, set)| *set) {
        line.push_str(directive);
    }
    writeln!(text, "{line} .").expect("a String takes any text");
}

fn write_type(text: &mut String, def: &TypeDef) {
    let fields: String =
        def.fields.iter().map(|field| format!("\t{}\n", name_text(field))).collect();
    writeln!(text, "type {} {{\n{fields}}}", name_text(&def.name))
        .expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::{HnswOptions, parse_schema};
    use crate::types::{Uid, ValueType};

    /// Writes JSON of the few things that a schema needs.
    #[derive(Default)]
    struct Text(String);

    impl Text {
        fn open(&mut self, bracket: char) {
            self.separate();
            self.0.push(bracket);
        }

        fn separate(&mut self) {
            if !self.0.is_empty() && !self.0.ends_with(['{', '[', ':']) {
                self.0.push(',');
            }
        }
    }

    impl Sink for Text {
        fn begin_object(&mut self) {
            self.open('{');
        }
        fn end_object(&mut self) {
            self.0.push('}');
        }
        fn discard_object(&mut self) {
            unreachable!()
        }
        fn begin_array(&mut self) {
            self.open('[');
        }
        fn end_array(&mut self) {
            self.0.push(']');
        }
        fn discard_array(&mut self) {
            unreachable!()
        }
        fn is_empty(&self) -> bool {
            self.0.ends_with(['{', '['])
        }
        fn key(&mut self, key: &str) {
            self.text(key);
            self.0.push(':');
        }
        fn value(&mut self, value: ValueRef<'_>) {
            self.separate();
            assert_eq!(value, ValueRef::Bool(true));
            self.0.push_str("true");
        }
        fn uid(&mut self, _: Uid) {
            unreachable!()
        }
        fn int(&mut self, _: i64) {
            unreachable!()
        }
        fn null(&mut self) {
            unreachable!()
        }
        fn text(&mut self, text: &str) {
            self.separate();
            self.0.push_str(&format!("{text:?}"));
        }
    }

    fn schema(text: &str) -> Schema {
        let mut schema = Schema::new();
        schema.apply(&parse_schema(text).unwrap());
        schema
    }

    fn described(
        schema: &Schema,
        predicates: Option<&[&str]>,
        types: Option<&[&str]>,
        fields: &[&str],
    ) -> String {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let mut text = Text::default();
        text.begin_object();
        let (predicates, types) = (predicates.map(owned), types.map(owned));
        schema.describe(predicates.as_deref(), types.as_deref(), &owned(fields), &mut text);
        text.end_object();
        text.0
    }

    #[test]
    fn descriptions() {
        let schema = schema(
            "name: string @index(term, exact) @lang @count @unique .\n\
             friend: [uid] @reverse @noconflict .\n\
             v: float32vector @index(hnsw(metric: \"euclidean\")) .\n\
             type B {\n name\n <~friend>\n}\ntype A {}",
        );
        let name = Some(&["name", "none", "name"][..]);
        #[rustfmt::skip]
        let cases = [
            (name, None, &[][..], r#"{"schema":[{"predicate":"name","type":"string","index":true,"tokenizer":["term","exact"],"count":true,"upsert":true,"lang":true,"unique":true}]}"#),
            (name, None, &["tokenizer", "reverse", "foo"][..], r#"{"schema":[{"predicate":"name","tokenizer":["term","exact"]}]}"#),
            (Some(&["friend"][..]), None, &[], r#"{"schema":[{"predicate":"friend","type":"uid","reverse":true,"list":true,"no_conflict":true}]}"#),
            (Some(&["friend", "v"][..]), None, &["noconflict", "vector_specs"], r#"{"schema":[{"predicate":"friend","no_conflict":true},{"predicate":"v","index_specs":[{"name":"hnsw","options":[{"key":"metric","value":"euclidean"}]}]}]}"#),
            (Some(&["v"][..]), None, &[], r#"{"schema":[{"predicate":"v","type":"float32vector","tokenizer":["hnsw(\"metric\":\"euclidean\")"],"index_specs":[{"name":"hnsw","options":[{"key":"metric","value":"euclidean"}]}]}]}"#),
            (Some(&["none"][..]), None, &[], "{}"),
            (None, Some(&["None"][..]), &[], "{}"),
            (None, Some(&["B", "A"][..]), &[], r#"{"types":[{"fields":[],"name":"A"},{"fields":[{"name":"name"},{"name":"~friend"}],"name":"B"}]}"#),
        ];
        for (predicates, types, fields, want) in cases {
            assert_eq!(described(&schema, predicates, types, fields), want);
        }
    }

    #[test]
    fn every_graph_has_these() {
        let names: Vec<_> = Schema::new().predicates.into_keys().collect();
        let want = [
            "dgraph.drop.op",
            "dgraph.graphql.p_query",
            "dgraph.graphql.schema",
            "dgraph.graphql.xid",
            "dgraph.namespace.id",
            "dgraph.namespace.name",
            "dgraph.type",
        ];
        assert_eq!(names, want);
        let text = described(&Schema::new(), None, None, &[]);
        let start = r#"{"schema":[{"predicate":"dgraph.drop.op","type":"string"},{"predicate":"dgraph.graphql.p_query","type":"string","index":true,"tokenizer":["sha256"]},"#;
        let end = r#""types":[{"fields":[{"name":"dgraph.graphql.schema"},{"name":"dgraph.graphql.xid"}],"name":"dgraph.graphql"},{"fields":[{"name":"dgraph.graphql.p_query"}],"name":"dgraph.graphql.persisted_query"},{"fields":[{"name":"dgraph.namespace.name"},{"name":"dgraph.namespace.id"}],"name":"dgraph.namespace"}]}"#;
        assert!(text.starts_with(start) && text.ends_with(end), "{text}");
    }

    #[test]
    fn text_reads_nicely() {
        let text = "<a b>".replace(' ', "/") + ": [uid] @reverse @count .\n";
        let text = text
            + "name: string @index(exact, term) @upsert @unique @lang .\n\
               v: float32vector @index(hnsw(metric:\"cosine\", exponent:\"4\")) .\n\
               type Person {\n\tname\n\t<~a/b>\n}\n";
        assert_eq!(schema(&text).to_text(), text);
    }

    fn predicate() -> impl Strategy<Value = PredicateDef> {
        let types = vec![
            (ValueType::String, vec!["exact", "term", "trigram"]),
            (ValueType::Int, vec!["int"]),
            (ValueType::DateTime, vec!["day"]),
            (ValueType::Uid, vec![]),
            (ValueType::Geo, vec!["geo"]),
            (ValueType::Default, vec![]),
        ];
        let kind = prop::sample::select(types);
        ("_?[a-z][a-zA-Z0-9_.-]{0,9}|[é0-9][/:é%0-9]{0,8}", kind, any::<[bool; 6]>()).prop_map(
            |(name, (value_type, indexes), [list, lang, reverse, count, indexed, unique])| {
                let mut def = PredicateDef::new(name, value_type);
                def.list = list;
                def.lang = lang && value_type == ValueType::String && !list;
                def.reverse = reverse && value_type == ValueType::Uid;
                def.count = count;
                def.noconflict = lang;
                if indexed {
                    def.indexes = indexes.iter().filter_map(|n| Tokenizer::from_name(n)).collect();
                }
                let can_be_unique = matches!(value_type, ValueType::String | ValueType::Int);
                def.unique = unique && can_be_unique && indexed;
                def.upsert = def.unique || (reverse && !def.indexes.is_empty());
                def
            },
        )
    }

    proptest! {
        #[test]
        fn text_declares_the_same_schema(
            defs in prop::collection::vec(predicate(), 0..9),
            ef in prop::option::of(1u32..1000),
        ) {
            let mut schema = Schema::new();
            let mut fields = Vec::new();
            for def in defs.into_iter().filter(|def| def.name != "uid") {
                fields.push(format!("{}{}", if def.reverse { "~" } else { "" }, def.name));
                schema.predicates.insert(def.name.clone(), def);
            }
            fields.sort();
            fields.dedup();
            let mut vector = PredicateDef::new("V", ValueType::Vector);
            let written = ef.map(|ef| ("efSearch".to_string(), ef.to_string()));
            let options = HnswOptions::new(written.into_iter().collect()).unwrap();
            vector.indexes = vec![Tokenizer::Hnsw(options)];
            schema.predicates.insert(vector.name.clone(), vector);
            schema.types.insert("T".to_string(), TypeDef::new("T", fields));
            let text = schema.to_text();
            let mut again = Schema::new();
            again.apply(&parse_schema(&text).unwrap());
            prop_assert_eq!(again, schema);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = parse_schema(&text);
        }

        #[test]
        fn any_fragments_are_read_or_refused(
            chunks in prop::collection::vec(
                prop::sample::select(vec![
                    "a", ":", " ", "\n", "string", "uid", "[", "]", "@index", "(", ")", "exact",
                    ",", "hnsw", "\"4\"", "\"", "@", "reverse", ".", "type", "{", "}", "<", ">",
                    "é", "#", "0x1", "~", "!", "\r", "\\u0041", "float32vector", "unique",
                ]),
                0..16,
            ),
        ) {
            let _ = parse_schema(&chunks.concat());
        }
    }
}
