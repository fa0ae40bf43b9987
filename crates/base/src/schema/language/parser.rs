//! The parser of schema texts, which declare predicates and types.
//!
//! Each line has one declaration: `name: type @directive ... .` or `type Name {` with one field on
//! each line. The parser checks what the text alone determines; [`crate::schema::Schema`] checks
//! the result against the existing definitions.

use std::collections::HashSet;

use crate::schema::language::lexer::{Kind, Token, tokens};
use crate::schema::{HnswOptions, PredicateDef, Tokenizer, TypeDef, has_letter_or_digit};
use crate::types::{Error, Position, Result, ValueType, did_you_mean, shown, without_mark};

/// The declarations of a schema text, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaText {
    /// The predicates; each name occurs once.
    pub predicates: Vec<PredicateDef>,
    /// The types; each name occurs once.
    pub types: Vec<TypeDef>,
}

/// The longest name of a predicate, in bytes, as in Dgraph: its keys have two bytes for the length
/// of a name.
const NAME_LEN_MAX: usize = 65_535;

/// What a byte of schema text takes while it is parsed: a token may be as short.
const BYTES_PER_BYTE: u64 = 2 * size_of::<Token<'_>>() as u64;

/// What a line takes: a definition, in the schema before and after, in their difference and its
/// report, and as a predicate without data.
const BYTES_PER_LINE: u64 = 3 << 10;

/// The bytes that it takes to parse a schema text and to make its definitions those of a graph,
/// about.
pub fn schema_weight(text: &str) -> u64 {
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    BYTES_PER_BYTE * text.len() as u64 + BYTES_PER_LINE * (lines + 1)
}

/// Reads schema text, which may begin with a byte order mark.
///
/// # Errors
///
/// [`Error::Syntax`] with the position, the token at it and what was expected: the first fault
/// only.
pub fn parse_schema(text: &str) -> Result<SchemaText> {
    let text = without_mark(text);
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0 };
    let mut schema = SchemaText::default();
    let mut predicate_names = HashSet::new();
    let mut type_names = HashSet::new();
    loop {
        let first = parser.peek();
        match first.kind {
            Kind::End => return Ok(schema),
            Kind::Newline => parser.at += 1,
            _ => {
                parser.namespace()?;
                let name = parser.peek();
                if parser.at_type_declaration() {
                    let def = parser.type_declaration()?;
                    if !type_names.insert(def.name.clone()) {
                        let message = format!("type `{}` is declared twice", def.name);
                        return Err(parser.fault(name, message));
                    }
                    schema.types.push(def);
                } else {
                    let def = parser.predicate()?;
                    if !predicate_names.insert(def.name.clone()) {
                        let message = format!("predicate `{}` is declared twice", def.name);
                        return Err(parser.fault(name, message));
                    }
                    schema.predicates.push(def);
                }
            }
        }
    }
}

/// The directives of predicates.
pub const PREDICATE_DIRECTIVES: [&str; 7] =
    ["index", "reverse", "count", "lang", "upsert", "unique", "noconflict"];

/// Returns the names of the indexes that values of a type can have.
fn indexes_of(value_type: ValueType) -> Vec<&'static str> {
    let all = Tokenizer::names();
    all.filter(|name| Tokenizer::from_name(name).is_some_and(|index| index.accepts(value_type)))
        .collect()
}

/// Returns the hint that lists the indexes that a predicate can have.
fn offered(def: &PredicateDef) -> String {
    format!("`{}` can have {}", def.name, indexes_of(def.value_type).join(", "))
}

/// A parser by recursive descent.
struct Parser<'a> {
    /// The entire text, from which the line and the column of an error are counted.
    text: &'a str,
    /// All tokens of the text; the last one is [`Kind::End`].
    tokens: Vec<Token<'a>>,
    /// The index of the next token in `tokens`.
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.peek_after(0)
    }

    /// Returns the token after the next `skipped` ones, without consuming any. Behind the end of
    /// the text it is [`Kind::End`].
    fn peek_after(&self, skipped: usize) -> Token<'a> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + skipped).min(last)]
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Consumes the next token if it is this character, and returns whether it was.
    fn accept(&mut self, sign: u8) -> bool {
        let result = self.peek().is(sign);
        self.at += usize::from(result);
        result
    }

    fn fault(&self, token: Token<'_>, message: impl std::fmt::Display) -> Error {
        Error::syntax(Position::of(self.text, token.start), message)
    }

    /// Makes the error that `result` stands where `expected` should.
    fn mismatch(&self, result: Token<'_>, expected: &str, hint: &str) -> Error {
        self.fault(result, format!("found {}, expected {expected}", result.shown())).with_hint(hint)
    }

    /// Makes the error for a name that is not one of `existing`, with a proposal if one of them is
    /// similar.
    fn unknown(&self, result: Token<'_>, what: &str, existing: &[&str]) -> Error {
        let hint = match did_you_mean(&result.text.to_ascii_lowercase(), existing.iter().copied()) {
            near if near.is_empty() => format!("valid are {}", existing.join(", ")),
            near => near,
        };
        self.fault(result, format!("unknown {what} `{}`", result.text)).with_hint(hint)
    }

    fn end_of_declaration(&mut self) -> Result<()> {
        let token = self.peek();
        if matches!(token.kind, Kind::Newline | Kind::End) {
            return Ok(());
        }
        Err(self.mismatch(token, "the end of the line", "one declaration a line"))
    }

    /// Skips the number of a namespace, `[0]` or `[0x0]`. There is only one namespace, so its
    /// number has no meaning.
    fn namespace(&mut self) -> Result<()> {
        if !self.accept(b'[') {
            return Ok(());
        }
        let number = self.next();
        let digits = number.text.strip_prefix("0x").unwrap_or(number.text);
        let radix = if digits.len() == number.text.len() { 10 } else { 16 };
        if number.kind != Kind::Number || u64::from_str_radix(digits, radix).is_err() {
            return Err(self.mismatch(number, "the number of a namespace", ""));
        }
        let close = self.next();
        if close.is(b']') {
            return Ok(());
        }
        Err(self.mismatch(close, "`]`", ""))
    }

    fn at_type_declaration(&self) -> bool {
        let keyword = self.peek();
        // A predicate may be named `type`, so it is the brace that decides.
        keyword.kind == Kind::Word
            && keyword.text == "type"
            && self.peek_after(1).is_name()
            && self.peek_after(2).is(b'{')
    }

    fn type_declaration(&mut self) -> Result<TypeDef> {
        let name = self.peek_after(1);
        self.at += 3;
        let mut fields: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let token = self.next();
            match token.kind {
                Kind::Newline => {}
                Kind::Sign(b'}') => break,
                Kind::Word | Kind::Iri => {
                    if !seen.insert(token.text) {
                        let message =
                            format!("field `{}` stands twice in type `{}`", token.text, name.text);
                        return Err(self.fault(token, message));
                    }
                    fields.push(token.text.to_string());
                    self.field_type()?;
                }
                _ => return Err(self.mismatch(token, "a field or `}`", "")),
            }
        }
        self.end_of_declaration()?;
        Ok(TypeDef::new(name.text, fields))
    }

    /// Skips the type after the name of a field, such as `: [string!]!`. Old schema texts have it;
    /// it has no meaning.
    fn field_type(&mut self) -> Result<()> {
        if self.peek().kind == Kind::Newline {
            return Ok(());
        }
        let colon = self.next();
        if !colon.is(b':') {
            let hint = "one field a line, and `}` in a line of its own";
            return Err(self.mismatch(colon, "the end of the line or `:`", hint));
        }
        let list = self.accept(b'[');
        let word = self.next();
        if !word.is_name() {
            return Err(self.mismatch(word, "a type", ""));
        }
        self.accept(b'!');
        if list {
            let close = self.next();
            if !close.is(b']') {
                return Err(self.mismatch(close, "`]`", ""));
            }
            self.accept(b'!');
        }
        let end = self.peek();
        if end.kind == Kind::Newline {
            return Ok(());
        }
        Err(self.mismatch(end, "the end of the line", "one field a line"))
    }

    fn predicate(&mut self) -> Result<PredicateDef> {
        let name = self.predicate_name()?;
        let list = self.accept(b'[');
        let word = self.next();
        if !word.is_name() {
            return Err(self.mismatch(word, "a type", "write `name: string .`"));
        }
        let Some(value_type) = ValueType::from_name(&word.text.to_ascii_lowercase()) else {
            return Err(match word.text.strip_suffix('.') {
                // Words may have dots in them, so `string.` is one word.
                Some(_) => self.mismatch(word, "a type", "write a blank before the `.`"),
                None => {
                    let message = format!("unknown type `{}`", word.text);
                    self.fault(word, message).with_hint(ValueType::hint_for(word.text))
                }
            });
        };
        if list {
            if !value_type.has_lists() {
                let message = format!("a list can't hold values of type {}", value_type.name());
                return Err(self.fault(word, message).with_hint("leave out `[` and `]`"));
            }
            let close = self.next();
            if !close.is(b']') {
                return Err(self.mismatch(close, "`]`", ""));
            }
        }
        let mut def = PredicateDef::new(name.text, value_type);
        def.list = list;
        while self.accept(b'@') {
            self.directive(&mut def)?;
        }
        let dot = self.next();
        if !dot.is(b'.') {
            return Err(self.mismatch(dot, "`@` or `.`", "a declaration ends with ` .`"));
        }
        self.end_of_declaration()?;
        // Directives come in any order; what depends on two of them is checked after all of them.
        self.check_full(name, &mut def)?;
        Ok(def)
    }

    fn predicate_name(&mut self) -> Result<Token<'a>> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(
                name,
                "a predicate or `type`",
                "names of other letters are written between `<` and `>`",
            ));
        }
        let colon = self.next();
        if colon.is(b'@') || name.text.contains('@') {
            let message = format!("found `@` in the name `{}`", name.text);
            let hint = "languages are declared by `@lang` behind the type";
            return Err(self.fault(colon, message).with_hint(hint));
        }
        if !colon.is(b':') {
            return Err(self.mismatch(colon, "`:`", "write `name: string .`"));
        }
        if name.text.starts_with('~') {
            let message = format!("a predicate can't be named `{}`", name.text);
            return Err(self
                .fault(name, message)
                .with_hint("add `@reverse` to the predicate itself"));
        }
        if name.text == "uid" {
            let message = "`uid` can't be the name of a predicate";
            return Err(self.fault(name, message));
        }
        if name.text.starts_with('-') || !has_letter_or_digit(name.text) {
            let message = format!("`{}` is no name of a predicate", name.text);
            let hint =
                "no statement could use it: a name has a letter or a digit, and no `-` before it";
            return Err(self.fault(name, message).with_hint(hint));
        }
        if NAME_LEN_MAX < name.text.len() {
            let message = format!(
                "the name {} has {} bytes, at most {NAME_LEN_MAX} are possible",
                shown(name.text),
                name.text.len()
            );
            return Err(self.fault(name, message));
        }
        Ok(name)
    }

    fn directive(&mut self, def: &mut PredicateDef) -> Result<()> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(name, "a directive", ""));
        }
        match name.text {
            "reverse" if def.value_type == ValueType::Uid => def.reverse = true,
            "reverse" => return Err(self.not_edges(name, def)),
            // Of several `@index` the last one counts, as in Dgraph.
            "index" => def.indexes = self.indexes(name, def)?,
            "count" => def.count = true,
            "upsert" => def.upsert = true,
            "unique" => def.unique = true,
            "noconflict" => def.noconflict = true,
            "lang" if def.value_type == ValueType::String && !def.list => def.lang = true,
            "lang" => {
                let message = format!(
                    "only strings have languages, and `{}` is of type {}",
                    def.name,
                    def.type_text()
                );
                return Err(self.fault(name, message).with_hint("leave out `@lang`"));
            }
            _ => {
                return Err(self.unknown(name, "directive", &PREDICATE_DIRECTIVES));
            }
        }
        Ok(())
    }

    fn not_edges(&self, directive: Token<'_>, def: &PredicateDef) -> Error {
        let (name, result) = (&def.name, def.type_text());
        let message = format!("only edges have a reverse, and `{name}` is of type {result}");
        self.fault(directive, message).with_hint("leave out `@reverse`, or write `[uid]`")
    }

    fn indexes(&mut self, directive: Token<'_>, def: &PredicateDef) -> Result<Vec<Tokenizer>> {
        if matches!(def.value_type, ValueType::Uid | ValueType::Default | ValueType::Password) {
            let result = def.value_type.name();
            let message = format!("`{}` is of type {result}, which has no index", def.name);
            let hint = match def.value_type {
                ValueType::Uid => "leave out `@index`; `@reverse` and `@count` are for edges",
                ValueType::Default => "write a type instead of default, string for example",
                _ => "leave out `@index`",
            };
            return Err(self.fault(directive, message).with_hint(hint));
        }
        if !self.accept(b'(') {
            let message = format!("`@index` of `{}` does not say which index", def.name);
            let existing = indexes_of(def.value_type).join(", ");
            let hint = format!("write `@index(...)` with some of {existing}");
            return Err(self.fault(directive, message).with_hint(hint));
        }
        let mut indexes: Vec<Tokenizer> = Vec::new();
        loop {
            let name = self.peek();
            let tokenizer = self.tokenizer(def)?;
            self.check_existing(name, &tokenizer, &indexes, def)?;
            indexes.push(tokenizer);
            let separator = self.next();
            if separator.is(b')') {
                return Ok(indexes);
            }
            if !separator.is(b',') {
                return Err(self.mismatch(separator, "`,` or `)`", ""));
            }
        }
    }

    /// Checks that a tokenizer can be used together with those before it.
    fn check_existing(
        &self,
        name: Token<'_>,
        tokenizer: &Tokenizer,
        before: &[Tokenizer],
        def: &PredicateDef,
    ) -> Result<()> {
        // Several vector indexes may be declared, as in Dgraph. Only the first one is used.
        let vector = matches!(tokenizer, Tokenizer::Hnsw(_));
        if !vector && before.iter().any(|other| other.name() == tokenizer.name()) {
            let message = format!("index `{}` of `{}` is given twice", tokenizer.name(), def.name);
            return Err(self.fault(name, message));
        }
        if tokenizer.is_sortable() && before.iter().any(Tokenizer::is_sortable) {
            let other = before.iter().find(|other| other.is_sortable()).map_or("", Tokenizer::name);
            let message = format!(
                "indexes `{other}` and `{}` of `{}` both give an order",
                tokenizer.name(),
                def.name
            );
            return Err(self.fault(name, message).with_hint("keep one of them"));
        }
        Ok(())
    }

    fn tokenizer(&mut self, def: &PredicateDef) -> Result<Tokenizer> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(name, "the name of an index", &offered(def)));
        }
        let Some(tokenizer) = Tokenizer::from_name(name.text) else {
            return Err(self.unknown(name, "index", &indexes_of(def.value_type)));
        };
        let vector = matches!(tokenizer, Tokenizer::Hnsw(_));
        if !tokenizer.accepts(def.value_type) {
            let result = def.value_type.name();
            let message = format!("index `{}` is not for type {result}", tokenizer.name());
            return Err(self.fault(name, message).with_hint(offered(def)));
        }
        if !vector {
            return Ok(tokenizer);
        }
        let written = self.hnsw_options()?;
        HnswOptions::new(written)
            .map(Tokenizer::Hnsw)
            .map_err(|(reason, hint)| self.fault(name, reason).with_hint(hint))
    }

    /// Reads the options of a vector index, such as `(metric: "cosine", exponent: "4")`, as pairs
    /// of texts; none where no bracket follows.
    fn hnsw_options(&mut self) -> Result<Vec<(String, String)>> {
        let mut options = Vec::new();
        if !self.accept(b'(') {
            return Ok(options);
        }
        loop {
            let name = self.next();
            if !name.is_name() {
                return Err(self.mismatch(name, "the name of an option", ""));
            }
            let colon = self.next();
            if !colon.is(b':') {
                return Err(self.mismatch(colon, "`:`", "write `metric: \"cosine\"`"));
            }
            let value = self.next();
            if value.kind != Kind::Quoted {
                return Err(self.mismatch(value, "a text in quotes", "write `exponent: \"4\"`"));
            }
            options.push((name.text.to_string(), value.text.to_string()));
            let separator = self.next();
            if separator.is(b')') {
                return Ok(options);
            }
            if !separator.is(b',') {
                return Err(self.mismatch(separator, "`,` or `)`", ""));
            }
        }
    }

    /// Checks that the directives of a predicate fit each other, and adds the `@upsert` that
    /// `@unique` implies.
    fn check_full(&self, name: Token<'_>, def: &mut PredicateDef) -> Result<()> {
        if def.upsert && def.indexes.is_empty() {
            let message = format!("`{}` is `@upsert` and has no index", def.name);
            return Err(self.fault(name, message).with_hint("add `@index(...)`"));
        }
        if !def.unique {
            return Ok(());
        }
        let has = |expected: Tokenizer| def.indexes.contains(&expected);
        let missing = match def.value_type {
            ValueType::String if has(Tokenizer::Hash) || has(Tokenizer::Exact) => None,
            ValueType::Int if has(Tokenizer::Int) => None,
            ValueType::String => Some("add `@index(hash)` or `@index(exact)`"),
            ValueType::Int => Some("add `@index(int)`"),
            _ => {
                let (kind, name_text) = (def.type_text(), &def.name);
                let message = format!("`{name_text}` is of type {kind}, which can't be `@unique`");
                return Err(self.fault(name, message).with_hint("string and int can"));
            }
        };
        if let Some(hint) = missing {
            let message = format!("`{}` is `@unique` and has no index of its values", def.name);
            return Err(self.fault(name, message).with_hint(hint));
        }
        // Values stay distinct only if two transactions that set one of them conflict.
        def.upsert = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse_schema(text).expect_err(text).to_string()
    }

    #[test]
    fn everything_that_may_be_written() {
        let text = "# people\r\n\
            name: String @index(Exact, term) @lang @count . # the name\n\
            <http://x.org/knows#of>: [uid] @reverse @count .\n\n\
            [0x0] _email-2.x:string @unique @index(hash).\n\
            [7] type: int @index(int) @noconflict .\n\
            v: float32vector @index(hnsw(metric:\"cosine\", exponent: \"4\")) .\n\
            w: [float32vector] @index(hnsw, hnsw) .\n\
            type Person {\n\n name: string! # old\n <~http://x.org/knows#of>: [Person!]!\n\
            \t_email-2.x\n}\n\
            type Empty {}\n\
            type <a b> {}";
        assert_eq!(fault(text), "line 16 column 8: expected `>`, found ` `", "a blank in an IRI");
        let schema = parse_schema(&text.replace("<a b>", "<a/b>")).unwrap();
        let shown: Vec<String> = schema
            .predicates
            .iter()
            .map(|def| format!("{}:{} {:?}", def.name, def.type_text(), def.indexes.len()))
            .collect();
        assert_eq!(
            shown,
            [
                "name:string 2",
                "http://x.org/knows#of:[uid] 0",
                "_email-2.x:string 1",
                "type:int 1",
                "v:float32vector 1",
                "w:[float32vector] 2"
            ]
        );
        assert!(schema.predicates[2].unique && schema.predicates[2].upsert);
        assert_eq!(schema.types[0].fields, ["name", "~http://x.org/knows#of", "_email-2.x"]);
        assert_eq!(schema.types[2], TypeDef::new("a/b", vec![]));
    }

    #[test]
    fn last_index_wins() {
        let schema = parse_schema("d: datetime @index(year) @index(hour) .").unwrap();
        assert_eq!(schema.predicates[0].indexes, [Tokenizer::Hour]);
    }

    /// What else is refused is in `tests/golden/errors/schema_text`.
    #[test]
    fn unexpected_end_and_long_names() {
        let fault_of = "found the end of the text, expected a field or `}`";
        assert!(fault("type T {\n a\n").contains(fault_of));
        assert!(fault("\n\tmutation {\n").contains("line 2 column 11: found `{`, expected `:`"));
        assert!(fault(&format!("{}: int .", "x".repeat(65_536))).contains("65535"));
        assert!(parse_schema(&format!("{}: int .", "x".repeat(65_535))).is_ok());
    }
}
