//! Reads the text that declares predicates and types.
//!
//! One declaration a line: `name: type @directive ... .` or `type Name {` with a field a line.
//! What is read here is checked as far as the text alone allows; [`crate::schema::Schema`] checks
//! it against what is declared already.

use std::collections::HashSet;

use crate::schema::HnswOptions;
use crate::schema::PredicateDef;
use crate::schema::Tokenizer;
use crate::schema::TypeDef;
use crate::schema::lexer::Kind;
use crate::schema::lexer::Token;
use crate::schema::lexer::tokens;
use crate::types::Error;
use crate::types::Position;
use crate::types::Result;
use crate::types::ValueType;

/// The declarations of a schema text, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaText {
    /// The predicates; no name twice.
    pub predicates: Vec<PredicateDef>,
    /// The types; no name twice.
    pub types: Vec<TypeDef>,
}

/// The longest name of a predicate, in bytes.
const NAME_LEN_MAX: usize = 65_535;

/// Reads schema text.
///
/// # Errors
///
/// [`Error::Syntax`] with the place, what was found and what was expected.
pub fn parse_schema(text: &str) -> Result<SchemaText> {
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
                        let message = format!("type {} defined multiple times", def.name);
                        return Err(parser.fault(name, message));
                    }
                    schema.types.push(def);
                } else {
                    let def = parser.predicate()?;
                    if !predicate_names.insert(def.name.clone()) {
                        let message = format!("predicate {} defined multiple times", def.name);
                        return Err(parser.fault(name, message));
                    }
                    schema.predicates.push(def);
                }
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.peek_after(0)
    }

    /// The token after `skipped` others; the end of the text stands for all behind it.
    fn peek_after(&self, skipped: usize) -> Token<'a> {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + skipped).min(last)]
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn take(&mut self, sign: u8) -> bool {
        let found = self.peek().is(sign);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, token: Token<'_>, message: impl Into<String>) -> Error {
        Error::syntax(Position::of(self.text, token.start), message)
    }

    /// The error that `expected` did not stand where `found` does.
    fn mismatch(&self, found: Token<'_>, problem: &str, expected: &str) -> Error {
        let message = format!("{problem}: expected {expected}, found {}", found.shown());
        self.fault(found, message)
    }

    fn end_of_declaration(&mut self) -> Result<()> {
        let token = self.peek();
        if matches!(token.kind, Kind::Newline | Kind::End) {
            return Ok(());
        }
        Err(self.mismatch(token, "Invalid ending", "the end of the line"))
    }

    /// Skips `[0]` or `[0x0]`: there is one namespace only, whatever its number is.
    fn namespace(&mut self) -> Result<()> {
        if !self.take(b'[') {
            return Ok(());
        }
        let number = self.next();
        let digits = number.text.strip_prefix("0x").unwrap_or(number.text);
        let radix = if digits.len() == number.text.len() { 10 } else { 16 };
        if number.kind != Kind::Number || u64::from_str_radix(digits, radix).is_err() {
            return Err(self.mismatch(number, "Invalid namespace", "a number"));
        }
        let close = self.next();
        if close.is(b']') {
            return Ok(());
        }
        Err(self.mismatch(close, "Invalid namespace", "`]`"))
    }

    fn at_type_declaration(&self) -> bool {
        let keyword = self.peek();
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
                        let message = format!("Duplicate fields with name: {}", token.text);
                        return Err(self.fault(token, message));
                    }
                    fields.push(token.text.to_string());
                    self.field_type()?;
                }
                _ => return Err(self.mismatch(token, "Unexpected token", "a field or `}`")),
            }
        }
        self.end_of_declaration()?;
        Ok(TypeDef { name: name.text.to_string(), fields })
    }

    /// Skips what may follow the name of a field, `: [string!]!`: it has no meaning any more.
    fn field_type(&mut self) -> Result<()> {
        if self.peek().kind == Kind::Newline {
            return Ok(());
        }
        let colon = self.next();
        if !colon.is(b':') {
            let problem = "Missing colon in type declaration";
            return Err(self.mismatch(colon, problem, "the end of the line or `:`"));
        }
        let list = self.take(b'[');
        let word = self.next();
        if !word.is_name() {
            let problem = "Missing field type in type declaration";
            return Err(self.mismatch(word, problem, "a type"));
        }
        self.take(b'!');
        if list {
            let close = self.next();
            if !close.is(b']') {
                return Err(self.mismatch(close, "Unclosed [ in type declaration", "`]`"));
            }
            self.take(b'!');
        }
        let end = self.peek();
        if end.kind == Kind::Newline {
            return Ok(());
        }
        Err(self.mismatch(end, "Invalid field declaration", "the end of the line"))
    }

    fn predicate(&mut self) -> Result<PredicateDef> {
        let name = self.predicate_name()?;
        let list = self.take(b'[');
        let word = self.next();
        if !word.is_name() {
            return Err(self.mismatch(word, "Missing Type", "a type"));
        }
        let Some(value_type) = ValueType::from_name(&word.text.to_ascii_lowercase()) else {
            return Err(self.mismatch(word, "Undefined Type", "the name of a type"));
        };
        if list {
            if matches!(value_type, ValueType::Password | ValueType::Bool) {
                let message = format!("Unsupported type for list: [{}].", value_type.name());
                return Err(self.fault(word, message));
            }
            let close = self.next();
            if !close.is(b']') {
                let problem = format!("Unclosed [ while parsing schema for: {}", name.text);
                return Err(self.mismatch(close, &problem, "`]`"));
            }
        }
        let mut def = PredicateDef::new(name.text, value_type);
        def.list = list;
        while self.take(b'@') {
            self.directive(&mut def)?;
        }
        let dot = self.next();
        if !dot.is(b'.') {
            return Err(self.mismatch(dot, "Invalid ending", "`@` or `.`"));
        }
        self.end_of_declaration()?;
        self.check_whole(name, &mut def)?;
        Ok(def)
    }

    fn predicate_name(&mut self) -> Result<Token<'a>> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(name, "Unexpected token", "a predicate or `type`"));
        }
        let colon = self.next();
        if colon.is(b'@') || name.text.contains('@') {
            return Err(self.fault(colon, format!("Invalid '@' in name {}", name.text)));
        }
        if !colon.is(b':') {
            return Err(self.mismatch(colon, "Missing colon", "`:`"));
        }
        if name.text.starts_with('~') {
            let message = format!("predicate \"{}\": Has invalid characters", name.text);
            return Err(self.fault(name, message));
        }
        if name.text == "uid" {
            let message = "Cannot create user-defined predicate with internal name uid";
            return Err(self.fault(name, message));
        }
        if NAME_LEN_MAX < name.text.len() {
            let start: String = name.text.chars().take(80).collect();
            let message = format!(
                "Predicate name length cannot be bigger than 2^16: it is {}. Predicate: {start}",
                name.text.len()
            );
            return Err(self.fault(name, message));
        }
        Ok(name)
    }

    fn directive(&mut self, def: &mut PredicateDef) -> Result<()> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(name, "Missing directive name", "a directive"));
        }
        match name.text {
            "reverse" if def.value_type == ValueType::Uid => def.reverse = true,
            "reverse" => return Err(self.fault(name, "Cannot reverse for non-UID type")),
            "index" => def.indexes = self.indexes(name, def)?,
            "count" => def.count = true,
            "upsert" => def.upsert = true,
            "unique" => def.unique = true,
            "noconflict" => def.noconflict = true,
            "lang" if def.value_type == ValueType::String && !def.list => def.lang = true,
            "lang" => {
                let message = format!(
                    "@lang directive can only be specified for string type. Got: [{}] for attr: \
                     [{}]",
                    def.value_type.name(),
                    def.name
                );
                return Err(self.fault(name, message));
            }
            _ => {
                let expected = "reverse, index, count, upsert, unique, noconflict or lang";
                return Err(self.mismatch(name, "Invalid index specification", expected));
            }
        }
        Ok(())
    }

    fn indexes(&mut self, directive: Token<'_>, def: &PredicateDef) -> Result<Vec<Tokenizer>> {
        if matches!(def.value_type, ValueType::Uid | ValueType::Default | ValueType::Password) {
            let message = format!(
                "Indexing not allowed on predicate {} of type {}",
                def.name,
                def.value_type.name()
            );
            return Err(self.fault(directive, message));
        }
        if !self.take(b'(') {
            let message = format!("Require type of tokenizer for pred: {} for indexing.", def.name);
            return Err(self.fault(directive, message));
        }
        let mut indexes: Vec<Tokenizer> = Vec::new();
        loop {
            let name = self.peek();
            let tokenizer = self.tokenizer(def)?;
            self.check_beside(name, &tokenizer, &indexes, def)?;
            indexes.push(tokenizer);
            let separator = self.next();
            if separator.is(b')') {
                return Ok(indexes);
            }
            if !separator.is(b',') {
                let problem = format!("Invalid index of predicate {}", def.name);
                return Err(self.mismatch(separator, &problem, "`,` or `)`"));
            }
        }
    }

    /// Refuses a tokenizer that can't be added to those before it.
    fn check_beside(
        &self,
        name: Token<'_>,
        tokenizer: &Tokenizer,
        before: &[Tokenizer],
        def: &PredicateDef,
    ) -> Result<()> {
        // Several vector indexes may be declared; the first is the one that is used.
        let vector = matches!(tokenizer, Tokenizer::Hnsw(_));
        if !vector && before.iter().any(|other| other.name() == tokenizer.name()) {
            let message = format!(
                "Duplicate tokenizers defined for predicate {}: {}",
                def.name,
                tokenizer.name()
            );
            return Err(self.fault(name, message));
        }
        if tokenizer.is_sortable() && before.iter().any(Tokenizer::is_sortable) {
            let message = format!("Only one index tokenizer can be sortable for {}", def.name);
            return Err(self.fault(name, message));
        }
        Ok(())
    }

    fn tokenizer(&mut self, def: &PredicateDef) -> Result<Tokenizer> {
        let name = self.next();
        if !name.is_name() {
            return Err(self.mismatch(name, "Missing tokenizer", "the name of a tokenizer"));
        }
        let Some(tokenizer) = Tokenizer::from_name(name.text) else {
            return Err(self.fault(name, format!("Invalid tokenizer {}", name.text)));
        };
        let vector = matches!(tokenizer, Tokenizer::Hnsw(_));
        if !tokenizer.accepts(def.value_type) {
            let kind = if vector { "IndexFactory" } else { "Tokenizer" };
            let message = format!(
                "{kind}: {} isn't valid for predicate: {} of type: {}",
                tokenizer.name(),
                def.name,
                def.value_type.name()
            );
            return Err(self.fault(name, message));
        }
        if !vector {
            return Ok(tokenizer);
        }
        let written = self.hnsw_options()?;
        HnswOptions::new(written).map(Tokenizer::Hnsw).map_err(|reason| {
            self.fault(name, format!("IndexFactory: hnsw issues this error: '{reason}'"))
        })
    }

    fn hnsw_options(&mut self) -> Result<Vec<(String, String)>> {
        let mut options = Vec::new();
        if !self.take(b'(') {
            return Ok(options);
        }
        let problem = "Invalid options of hnsw";
        loop {
            let name = self.next();
            if !name.is_name() {
                return Err(self.mismatch(name, problem, "the name of an option"));
            }
            let colon = self.next();
            if !colon.is(b':') {
                return Err(self.mismatch(colon, problem, "`:`"));
            }
            let value = self.next();
            if value.kind != Kind::Quoted {
                return Err(self.mismatch(value, problem, "quoted text"));
            }
            options.push((name.text.to_string(), value.text.to_string()));
            let separator = self.next();
            if separator.is(b')') {
                return Ok(options);
            }
            if !separator.is(b',') {
                return Err(self.mismatch(separator, problem, "`,` or `)`"));
            }
        }
    }

    /// Checks directives against each other, and adds what `@unique` implies.
    fn check_whole(&self, name: Token<'_>, def: &mut PredicateDef) -> Result<()> {
        if def.upsert && def.indexes.is_empty() {
            let message = format!(
                "Index tokenizer is mandatory for: [{}] when specifying @upsert directive",
                def.name
            );
            return Err(self.fault(name, message));
        }
        if !def.unique {
            return Ok(());
        }
        let has = |wanted: Tokenizer| def.indexes.contains(&wanted);
        let missing = match def.value_type {
            ValueType::String if has(Tokenizer::Hash) || has(Tokenizer::Exact) => None,
            ValueType::Int if has(Tokenizer::Int) => None,
            ValueType::String => Some("either hash or exact index"),
            ValueType::Int => Some("int index"),
            other => {
                let kind = other.name().to_ascii_uppercase();
                let message = format!("@unique directive not supported on [{kind}] type predicate");
                return Err(self.fault(name, message));
            }
        };
        if let Some(index) = missing {
            let message =
                format!("index for predicate [{}] is missing, add {index} with @unique", def.name);
            return Err(self.fault(name, message));
        }
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
        assert!(parse_schema(text).is_err(), "a blank in an IRI");
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
        assert_eq!(schema.types[2], TypeDef { name: "a/b".to_string(), fields: vec![] });
    }

    #[test]
    fn last_index_wins() {
        let schema = parse_schema("d: datetime @index(year) @index(hour) .").unwrap();
        assert_eq!(schema.predicates[0].indexes, [Tokenizer::Hour]);
    }

    /// Each row: text, a part of the error.
    #[test]
    fn wrong_text_is_refused() {
        #[rustfmt::skip]
        let cases = [
            ("x: foo .", "line 1 column 3: Undefined Type"),
            ("x: string.", "Undefined Type"), // a dot may end a name
            ("x: [bool] .", "Unsupported type for list: [bool]."),
            ("x: [password] .", "Unsupported type for list: [password]."),
            ("x: string @index .", "line 1 column 11: Require type of tokenizer for pred: x"),
            ("x: string @index(foo) .", "line 1 column 17: Invalid tokenizer foo"),
            ("x: string @index(int) .", "Tokenizer: int isn't valid for predicate: x of type: string"),
            ("x: string @index() .", "expected the name of a tokenizer, found `)`"),
            ("x: string @index(,term) .", "expected the name of a tokenizer, found `,`"),
            ("x: string @index(term,) .", "expected the name of a tokenizer, found `)`"),
            ("x: string @index(term exact) .", "expected `,` or `)`, found `exact`"),
            ("x: string @index(term", "expected `,` or `)`, found the end of the text"),
            ("x: uid @index(int) .", "Indexing not allowed on predicate x of type uid"),
            ("x: default @index(term) .", "Indexing not allowed on predicate x of type default"),
            ("x: password @index(term) .", "Indexing not allowed"),
            ("x: string @index(exact, exact) .", "Duplicate tokenizers defined"),
            ("x: datetime @index(year, month) .", "Only one index tokenizer can be sortable for x"),
            ("x: string @index(term, hash, TERM) .", "Duplicate tokenizers defined for predicate x: term"),
            ("x: string @reverse .", "line 1 column 11: Cannot reverse for non-UID type"),
            ("x: [int] @lang .", "Got: [int] for attr: [x]"),
            ("x: [string] @lang .", "@lang directive can only be specified for string type"),
            ("x: string @Lang .", "Invalid index specification"),
            ("x: string @foo .", "Invalid index specification"),
            ("x: string @ .", "Missing directive name"),
            ("x: string @upsert .", "Index tokenizer is mandatory for: [x]"),
            ("x: string @unique @index(term) .", "add either hash or exact index with @unique"),
            ("x: int @unique .", "add int index with @unique"),
            ("x: float @index(float) @unique .", "not supported on [FLOAT] type predicate"),
            ("x: uid @unique .", "not supported on [UID] type predicate"),
            ("uid: string .", "Cannot create user-defined predicate with internal name uid"),
            ("type T {\n a\n b\n a\n}", "line 4 column 1: Duplicate fields with name: a"),
            ("v: string @index(hnsw) .", "IndexFactory: hnsw isn't valid for predicate: v of type: string"),
            ("v: float32vector @index(hnsw(metric: \"foo\")) .", "line 1 column 24: IndexFactory: hnsw issues this error: 'Can't create"),
            ("v: float32vector @index(hnsw(foo: \"1\")) .", "option foo is not allowed!"),
            ("v: float32vector @index(hnsw(exponent: 4)) .", "expected quoted text, found `4`"),
            ("v: float32vector @index(hnsw()) .", "expected the name of an option, found `)`"),
            ("v: float32vector @index(hnsw(exponent \"4\")) .", "expected `:`, found `\"4\"`"),
            ("v: float32vector @index(hnsw(exponent: \"4)) .", "nothing in the line closes the '\"'"),
            ("a: int . b: int .", "line 1 column 9: Invalid ending: expected the end of the line, found `b`"),
            ("a: int", "expected `@` or `.`, found the end of the text"),
            ("a: int\n.", "expected `@` or `.`, found the end of the line"),
            ("a:\nint .", "Missing Type: expected a type, found the end of the line"),
            ("a: [int .", "Unclosed [ while parsing schema for: a"),
            ("a: int] .", "Invalid ending: expected `@` or `.`, found `]`"),
            ("a int .", "Missing colon: expected `:`, found `int`"),
            ("x@en: string .", "Invalid '@' in name"),
            ("<x@en>: string .", "Invalid '@' in name"),
            ("~x: uid .", "line 1 column 0: Invalid schema. Unexpected '~'"),
            ("<~x>: uid .", "Has invalid characters"),
            ("1x: int .", "Unexpected token: expected a predicate or `type`, found `1x`"),
            ("é: int .", "Unexpected 'é'"),
            ("<a b>: int .", "line 1 column 2: Invalid schema: expected `>`, found ' '"),
            ("<a: int .", "expected `>`, found ' '"),
            ("<>: int .", "empty name"),
            ("<a", "no `>` closes the '<'"),
            ("a: int .\na: int .", "line 2 column 0: predicate a defined multiple times"),
            ("type T {}\ntype T {}", "line 2 column 0: type T defined multiple times"),
            ("type T { a b }", "Missing colon in type declaration: expected the end of the line or `:`, found `b`"),
            ("type T { a }", "Missing colon in type declaration"),
            ("type T {\n a: [string\n}", "Unclosed [ in type declaration"),
            ("type T {\n a:\n}", "Missing field type"),
            ("type T {\n a: string b\n}", "Invalid field declaration"),
            ("type T {\n ~a\n}", "Unexpected '~'"),
            ("type T {\n a", "Missing colon in type declaration: expected the end of the line or `:`, found the end of the text"),
            ("type T {\n a\n", "Unexpected token: expected a field or `}`, found the end of the text"),
            ("type T {} type U {}", "Invalid ending"),
            ("type T\n{\n}", "Missing colon: expected `:`, found `T`"),
            ("Type T {\n}", "Missing colon"),
            ("[x] a: int .", "Invalid namespace: expected a number, found `x`"),
            ("[1 a: int .", "Invalid namespace: expected `]`, found `a`"),
            ("[99999999999999999999] a: int .", "Invalid namespace"),
            ("[1]", "expected a predicate or `type`, found the end of the text"),
            (". a: int .", "found `.`"),
            ("\n\tmutation {\n", "line 2 column 10: Missing colon: expected `:`, found `{`"),
        ];
        for (text, part) in cases {
            let fault = fault(text);
            assert!(fault.contains(part), "{text:?}\n  got  {fault}\n  want {part}");
        }
        assert!(fault(&format!("{}: int .", "x".repeat(65_536))).contains("2^16"));
        assert!(parse_schema(&format!("{}: int .", "x".repeat(65_535))).is_ok());
    }
}
