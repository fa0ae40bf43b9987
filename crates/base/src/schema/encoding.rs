//! The definitions of predicates and types as bytes, for snapshots and logs. They hold what a
//! schema text was resolved to, so their meaning does not change when a later release reads schema
//! texts differently.
//!
//! A definition is a message of tagged fields (`types/fields.rs`). An option without a field is not
//! declared.

use crate::schema::{
    Declared, DeclaredFields, HnswOptions, Metric, Options, PredicateDef, Tokenizer, TypeDef,
};
use crate::types::ValueType;
use crate::types::fields::{
    ByteReader, Unread, put_field, put_number, put_text, put_text_field, required, skip_unknown,
};

/// Fields of a predicate.
mod predicate {
    use super::required;
    pub(super) const NAME: u64 = required(1);
    pub(super) const VALUE_TYPE: u64 = required(2);
    pub(super) const LIST: u64 = required(3);
    pub(super) const OPTIONS: u64 = required(4);
    /// What `alter` and what a GraphQL schema declared; left out when `alter` declared everything.
    pub(super) const BY_ALTER: u64 = required(5);
    pub(super) const BY_GRAPHQL: u64 = required(6);
    /// The number of its namespace; 0, the only one there is so far, where it is left out.
    pub(super) const NAMESPACE: u64 = required(7);
}

/// Fields of options. An option is set if its field is present.
mod option {
    use super::required;
    pub(super) const LANG: u64 = required(1);
    pub(super) const REVERSE: u64 = required(2);
    pub(super) const COUNT: u64 = required(3);
    pub(super) const UPSERT: u64 = required(4);
    pub(super) const UNIQUE: u64 = required(5);
    pub(super) const NOCONFLICT: u64 = required(6);
    /// One for each index.
    pub(super) const INDEX: u64 = required(7);
}

/// Fields of an index.
mod index {
    use super::required;
    pub(super) const NAME: u64 = required(1);
    /// An option of a vector index as it was written: name and value. Repeated for each option.
    pub(super) const WRITTEN: u64 = required(2);
    /// The resolved options of a vector index, so that they stay when a later release has other
    /// defaults.
    pub(super) const METRIC: u64 = required(3);
    pub(super) const MAX_LEVELS: u64 = required(4);
    pub(super) const EF_CONSTRUCTION: u64 = required(5);
    pub(super) const EF_SEARCH: u64 = required(6);
}

/// Fields of a type.
mod type_field {
    use super::required;
    pub(super) const NAME: u64 = required(1);
    /// One for each field.
    pub(super) const FIELD: u64 = required(2);
    pub(super) const BY_ALTER: u64 = required(3);
    pub(super) const BY_GRAPHQL: u64 = required(4);
}

impl PredicateDef {
    /// Appends the definition as bytes. They do not contain their length: [`PredicateDef::decode`]
    /// reads to the end.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_text_field(predicate::NAME, &self.name, out);
        put_field(predicate::VALUE_TYPE, out, |out| out.push(self.value_type as u8));
        put_flag(predicate::LIST, self.list, out);
        put_field(predicate::OPTIONS, out, |out| put_options(&self.options(), out));
        let Some(declared) = &self.declared else { return };
        let reported = [
            (predicate::BY_ALTER, &declared.by_alter),
            (predicate::BY_GRAPHQL, &declared.by_graphql),
        ];
        for (tag, options) in reported {
            if let Some(options) = options {
                put_field(tag, out, |out| put_options(options, out));
            }
        }
    }

    /// Reads a definition; all bytes belong to it.
    ///
    /// # Errors
    ///
    /// The reason why the bytes are not a definition, or that a later version wrote them.
    pub fn decode(mut bytes: ByteReader<'_>) -> Result<PredicateDef, Unread> {
        let (mut name, mut value_type, mut list) = (None, None, false);
        let (mut options, mut declared) = (Options::default(), Declared::default());
        while let Some((tag, field)) = bytes.field()? {
            match tag {
                predicate::NAME => name = Some(field.entire_text()?.to_owned()),
                predicate::VALUE_TYPE => value_type = Some(value_type_of(field)?),
                predicate::LIST => list = true,
                predicate::OPTIONS => options = options_of(field)?,
                predicate::BY_ALTER => declared.by_alter = Some(options_of(field)?),
                predicate::BY_GRAPHQL => declared.by_graphql = Some(options_of(field)?),
                predicate::NAMESPACE if field.final_number()? == 0 => {}
                _ => skip_unknown(tag)?,
            }
        }
        let name = name.ok_or(Unread::Damaged)?;
        let def = PredicateDef::new(name, value_type.ok_or(Unread::Damaged)?);
        let declared = declared.by_graphql.is_some().then(|| Box::new(declared));
        Ok(PredicateDef { list, declared, ..def }.with_options(options))
    }
}

impl TypeDef {
    /// Appends the definition as bytes. They do not contain their length: [`TypeDef::decode`] reads
    /// to the end.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_text_field(type_field::NAME, &self.name, out);
        self.fields.iter().for_each(|field| put_text_field(type_field::FIELD, field, out));
        let Some(declared) = &self.declared else { return };
        let reported = [
            (type_field::BY_ALTER, &declared.by_alter),
            (type_field::BY_GRAPHQL, &declared.by_graphql),
        ];
        for (tag, fields) in reported {
            if let Some(fields) = fields {
                put_field(tag, out, |out| fields.iter().for_each(|field| put_text(field, out)));
            }
        }
    }

    /// Reads a definition; all bytes belong to it.
    ///
    /// # Errors
    ///
    /// The reason why the bytes are not a definition, or that a later version wrote them.
    pub fn decode(mut bytes: ByteReader<'_>) -> Result<TypeDef, Unread> {
        let (mut name, mut fields) = (None, Vec::new());
        let mut declared = DeclaredFields::default();
        while let Some((tag, field)) = bytes.field()? {
            match tag {
                type_field::NAME => name = Some(field.entire_text()?.to_owned()),
                type_field::FIELD => fields.push(field.entire_text()?.to_owned()),
                type_field::BY_ALTER => declared.by_alter = Some(texts_of(field)?),
                type_field::BY_GRAPHQL => declared.by_graphql = Some(texts_of(field)?),
                _ => skip_unknown(tag)?,
            }
        }
        let declared = declared.by_graphql.is_some().then(|| Box::new(declared));
        Ok(TypeDef { name: name.ok_or(Unread::Damaged)?, fields, declared })
    }
}

fn put_flag(tag: u64, is_set: bool, out: &mut Vec<u8>) {
    if is_set {
        put_field(tag, out, |_| ());
    }
}

fn put_options(options: &Options, out: &mut Vec<u8>) {
    put_flag(option::LANG, options.lang, out);
    put_flag(option::REVERSE, options.reverse, out);
    put_flag(option::COUNT, options.count, out);
    put_flag(option::UPSERT, options.upsert, out);
    put_flag(option::UNIQUE, options.unique, out);
    put_flag(option::NOCONFLICT, options.noconflict, out);
    options.indexes.iter().for_each(|it| put_field(option::INDEX, out, |out| put_index(it, out)));
}

fn put_index(tokenizer: &Tokenizer, out: &mut Vec<u8>) {
    put_text_field(index::NAME, tokenizer.name(), out);
    let Tokenizer::Hnsw(options) = tokenizer else { return };
    for (name, value) in options.written() {
        put_field(index::WRITTEN, out, |out| {
            put_text(name, out);
            put_text(value, out);
        });
    }
    put_text_field(index::METRIC, options.metric().name(), out);
    let numbers = [
        (index::MAX_LEVELS, options.max_levels()),
        (index::EF_CONSTRUCTION, options.ef_construction()),
        (index::EF_SEARCH, options.ef_search()),
    ];
    for (tag, number) in numbers {
        put_field(tag, out, |out| put_number(number.into(), out));
    }
}

fn options_of(mut bytes: ByteReader<'_>) -> Result<Options, Unread> {
    let mut options = Options::default();
    while let Some((tag, field)) = bytes.field()? {
        match tag {
            option::LANG => options.lang = true,
            option::REVERSE => options.reverse = true,
            option::COUNT => options.count = true,
            option::UPSERT => options.upsert = true,
            option::UNIQUE => options.unique = true,
            option::NOCONFLICT => options.noconflict = true,
            option::INDEX => options.indexes.push(index_of(field)?),
            _ => skip_unknown(tag)?,
        }
    }
    Ok(options)
}

fn index_of(mut bytes: ByteReader<'_>) -> Result<Tokenizer, Unread> {
    let (mut name, mut written) = (None, Vec::new());
    let (mut metric, mut numbers) = (None, [None; 3]);
    while let Some((tag, mut field)) = bytes.field()? {
        match tag {
            index::NAME => name = Some(field.entire_text()?),
            index::WRITTEN => {
                let mut text = || field.text().map(str::to_owned).ok_or(Unread::Damaged);
                written.push((text()?, text()?));
            }
            index::METRIC => {
                metric = Some(Metric::from_name(field.entire_text()?).ok_or(Unread::Later)?);
            }
            index::MAX_LEVELS => numbers[0] = Some(small_number(field)?),
            index::EF_CONSTRUCTION => numbers[1] = Some(small_number(field)?),
            index::EF_SEARCH => numbers[2] = Some(small_number(field)?),
            _ => skip_unknown(tag)?,
        }
    }
    let tokenizer = Tokenizer::from_name(name.ok_or(Unread::Damaged)?).ok_or(Unread::Later)?;
    match (tokenizer, metric, numbers) {
        (Tokenizer::Hnsw(_), Some(metric), [Some(levels), Some(construction), Some(search)]) => {
            let options = HnswOptions::resolved(written, metric, [levels, construction, search]);
            Ok(Tokenizer::Hnsw(options))
        }
        (Tokenizer::Hnsw(_), ..) => Err(Unread::Damaged),
        (tokenizer, ..) => Ok(tokenizer),
    }
}

fn small_number(field: ByteReader<'_>) -> Result<u32, Unread> {
    let number = u32::try_from(field.final_number()?).map_err(|_| Unread::Damaged)?;
    if number == 0 { Err(Unread::Damaged) } else { Ok(number) }
}

fn value_type_of(mut field: ByteReader<'_>) -> Result<ValueType, Unread> {
    let tag = field.byte().filter(|_| field.is_empty()).ok_or(Unread::Damaged)?;
    ValueType::from_tag(tag).ok_or(Unread::Later)
}

fn texts_of(mut field: ByteReader<'_>) -> Result<Vec<String>, Unread> {
    let mut texts = Vec::new();
    while !field.is_empty() {
        texts.push(field.text().ok_or(Unread::Damaged)?.to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Origin, parse_schema};
    use crate::types::fields::optional;

    const TEXT: &str = "a: string @index(exact, term, trigram, fulltext, ngram) @lang @count @upsert .\n\
        b: string @index(hash) @unique .\nc: [uid] @reverse @count .\nd: uid @noconflict .\ne: [datetime] @index(hour) .\n\
        f: float32vector @index(hnsw(metric: \"cosine\", exponent: \"4\")) .\ng: float32vector @index(hnsw) .\n\
        h: geo @index(geo) .\ni: password .\nj: bigfloat @index(bigfloat) .\nk: default .\n\
        type T {\n a\n <~c>\n}\ntype U {\n}\n";

    fn encoded(def: &PredicateDef) -> Vec<u8> {
        let mut out = Vec::new();
        def.encode(&mut out);
        out
    }

    fn decoded(bytes: &[u8]) -> Result<PredicateDef, Unread> {
        PredicateDef::decode(ByteReader::new(bytes))
    }

    #[test]
    fn definitions_read_back() {
        let text = parse_schema(TEXT).unwrap();
        for def in &text.predicates {
            assert_eq!(decoded(&encoded(def)).as_ref(), Ok(def));
            let both =
                def.declare(Origin::Graphql, Some(Options { count: true, ..Options::default() }));
            assert_eq!(decoded(&encoded(&both)), Ok(both.clone()));
            let graphql = both.declare(Origin::Alter, None);
            assert_eq!(decoded(&encoded(&graphql)), Ok(graphql));
        }
        for def in &text.types {
            for def in [def.clone(), def.declare(Origin::Graphql, Some(vec!["x".to_owned()]))] {
                let mut out = Vec::new();
                def.encode(&mut out);
                assert_eq!(TypeDef::decode(ByteReader::new(&out)), Ok(def));
            }
        }
    }

    #[test]
    fn what_is_unknown_is_left_out_or_reported() {
        let def = parse_schema("a: int @index(int) .").unwrap().predicates.remove(0);
        let with = |tag: u64, content: &[u8]| {
            let mut bytes = encoded(&def);
            put_field(tag, &mut bytes, |out| out.extend_from_slice(content));
            decoded(&bytes)
        };
        assert_eq!(with(optional(77), b"statistics"), Ok(def.clone()));
        assert_eq!(with(required(77), b""), Err(Unread::Later));
        assert_eq!(with(predicate::NAMESPACE, &[0]), Ok(def.clone()));
        assert_eq!(with(predicate::NAMESPACE, &[7]), Err(Unread::Later));
        assert_eq!(with(predicate::VALUE_TYPE, &[200]), Err(Unread::Later));
        let mut index = Vec::new();
        put_field(option::INDEX, &mut index, |out| put_text_field(index::NAME, "psychic", out));
        assert_eq!(with(predicate::OPTIONS, &index), Err(Unread::Later));
    }

    #[test]
    fn no_bytes_panic() {
        for def in &parse_schema(TEXT).unwrap().predicates {
            let bytes = encoded(def);
            for at in 0..bytes.len() {
                let _ = decoded(&bytes[..at]);
                for flip in 0..8 {
                    let mut bytes = bytes.clone();
                    bytes[at] ^= 1 << flip;
                    let _ = decoded(&bytes);
                }
            }
        }
    }
}
