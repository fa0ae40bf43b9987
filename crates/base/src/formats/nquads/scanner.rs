//! Reads the parts of a statement from the bytes of a line, from left to right, once.
//!
//! Every part of a statement is delimited by an ASCII byte. In UTF-8 such a byte never occurs
//! inside another character, so the text between two of them can be borrowed as it is.

use std::borrow::Cow;

use crate::formats::nquads::escape::{escape_end, unescape};
use crate::formats::{LineFault, Object, Predicate, Subject};
use crate::schema::has_letter_or_digit;
use crate::types::{Uid, ValueType, did_you_mean, shown};

/// The result of reading a part of a line.
pub(super) type Scanned<T> = std::result::Result<T, LineFault>;

/// A line and the position up to which it has been read.
pub(super) struct Scanner<'a> {
    line: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Whether nodes may have external ids, and graphs names.
    has_names: bool,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner at the first byte of the line that is not white space. White space at the
    /// end is cut off.
    pub(super) fn new(line: &'a str) -> Scanner<'a> {
        let line_end = line.trim_end();
        let at = line_end.len() - line_end.trim_start().len();
        Scanner { line: line_end, bytes: line_end.as_bytes(), at, has_names: false }
    }

    /// Accepts external ids of nodes, and names of graphs.
    pub(super) fn with_names(self) -> Scanner<'a> {
        Scanner { has_names: true, ..self }
    }

    /// Returns the next byte, or `None` at the end of the line.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the offset of the next byte in the line.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the text from `start` up to the next byte.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.line[start..self.at]
    }

    /// Skips one byte, which must be ASCII.
    #[inline]
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Skips blanks and tabs.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips bytes as long as `belongs` is true for them.
    #[inline]
    pub(super) fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
    }

    /// Makes a fault at the next byte.
    pub(super) fn fault(&self, message: impl Into<String>) -> LineFault {
        self.fault_at(self.at, message)
    }

    /// Makes a fault at the byte `offset`.
    pub(super) fn fault_at(&self, offset: usize, message: impl Into<String>) -> LineFault {
        LineFault { column: u32::try_from(offset).unwrap_or(u32::MAX), message: message.into() }
    }

    /// Returns the next character as error messages show it.
    pub(super) fn result(&self) -> String {
        match self.line[self.at..].chars().next() {
            Some(character) if character.is_control() || character.is_whitespace() => {
                format!("`{}`", character.escape_debug())
            }
            Some(character) => format!("`{character}`"),
            None => "the end of the line".to_string(),
        }
    }

    pub(super) fn subject(&mut self) -> Scanned<Subject<'a>> {
        let start = self.at;
        match self.peek() {
            Some(b'<') => {
                let name = self.iri()?;
                if let Some(label) = name.strip_prefix("_:") {
                    return self.sane(start, label).map(Subject::Blank);
                }
                match function_call(name, "uid") {
                    Some(variable) => Ok(Subject::Var(variable)),
                    None => self.node(start, name),
                }
            }
            Some(b'_') => self.blank_node().map(Subject::Blank),
            Some(b'u') => self.variable("uid").map(Subject::Var),
            Some(b'*') => {
                self.step();
                Ok(Subject::Star)
            }
            Some(b'"') => Err(self
                .fault("a string can only be an object (subjects and predicates are written between `<` and `>`)")),
            _ => Err(self.fault(format!(
                "found {}, expected a subject: `<0x1>`, `_:name` or `uid(variable)`",
                self.result()
            ))),
        }
    }

    pub(super) fn predicate(&mut self) -> Scanned<(Predicate<'a>, &'a str)> {
        let start = self.at;
        match self.peek() {
            Some(b'<') => {
                let iri = self.iri()?;
                let (name, lang) = split_language(iri);
                self.sane(start, name)?;
                Ok((Predicate::Name(name), lang))
            }
            Some(b'*') => {
                self.step();
                Ok((Predicate::Star, ""))
            }
            Some(b'"') => Err(self
                .fault("a string can only be an object (subjects and predicates are written between `<` and `>`)")),
            _ => Err(self
                .fault(format!("found {}, expected a predicate: `<name>` or `*`", self.result()))),
        }
    }

    pub(super) fn object(&mut self, starred: bool, lang: &mut &'a str) -> Scanned<Object<'a>> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.literal(starred, lang),
            Some(b'<') => {
                let name = self.iri()?;
                if let Some(label) = name.strip_prefix("_:") {
                    return self.sane(start, label).map(Object::Blank);
                }
                if let Some(variable) = function_call(name, "uid") {
                    return Ok(Object::Var(variable));
                }
                match function_call(name, "val") {
                    Some(variable) => Ok(Object::Val(variable)),
                    None => self.node(start, name).map(Object::from),
                }
            }
            Some(b'_') => self.blank_node().map(Object::Blank),
            Some(b'u') => self.variable("uid").map(Object::Var),
            Some(b'v') => self.variable("val").map(Object::Val),
            Some(b'*') => {
                self.step();
                Ok(Object::Star)
            }
            _ => Err(self.fault(format!(
                "found {}, expected an object: `\"value\"`, `<0x1>`, `_:name`, `uid(variable)`, \
                 `val(variable)` or `*`",
                self.result()
            ))),
        }
    }

    /// Reads `<...>` and returns the text between the brackets. Its escapes are checked but not
    /// replaced.
    fn iri(&mut self) -> Scanned<&'a str> {
        self.step();
        let start = self.at;
        self.at = iri_end(self.bytes, start);
        match self.peek() {
            Some(b'>') => {
                let text = self.since(start);
                self.step();
                Ok(text)
            }
            Some(b'\\') if begins_escape(self.bytes, self.at) => Err(self.fault(
                "a wrong escape between `<` and `>` (`\\u` takes 4 hexadecimal digits, `\\U` 8)",
            )),
            None => Err(self.fault("`<` is never closed (add `>`)")),
            Some(_) => {
                let message =
                    format!("found {} between `<` and `>` (is `>` missing?)", self.result());
                Err(self.fault(message))
            }
        }
    }

    /// Reads the text of an IRI as a uid, or as an external id. `start` is where the IRI begins,
    /// for the fault.
    fn node(&self, start: usize, name: &'a str) -> Scanned<Subject<'a>> {
        match parse_uid(name) {
            Some(0) => Err(self.fault_at(start, "`<0>` is no node (uids start at 1)")),
            Some(number) => Ok(Subject::Uid(number)),
            None => {
                self.sane(start, name)?;
                // A number that could not be read has too many digits.
                let hint = match is_number(name) {
                    true => "uids have 64 bits",
                    false if self.has_names => return Ok(Subject::Name(name)),
                    false => "a new node is written `_:name`, an existing one `<0x1>`",
                };
                let message = format!("{} is no uid ({hint})", shown(name));
                Err(self.fault_at(start, message))
            }
        }
    }

    /// Returns the name, or a fault when it has neither a letter nor a digit.
    fn sane(&self, start: usize, name: &'a str) -> Scanned<&'a str> {
        if has_letter_or_digit(name) {
            return Ok(name);
        }
        let message = format!("`<{name}>` is no name (it has no letter and no digit)");
        Err(self.fault_at(start, message))
    }

    /// Reads `_:label` and returns the label.
    fn blank_node(&mut self) -> Scanned<&'a str> {
        let open = self.at;
        self.step();
        if self.peek() != Some(b':') {
            return Err(self.fault(format!(
                "found {} after `_` (a new node is written `_:name`)",
                self.result()
            )));
        }
        self.step();
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        // The loop above takes the common ASCII bytes; the rest is classified character by
        // character.
        while let Some(character) = self.line[self.at..].chars().next() {
            if character != '.' && !is_label_char(character) {
                break;
            }
            self.at += character.len_utf8();
        }
        let label = self.since(start);
        match label.chars().next() {
            Some(first) if is_label_start(first) => {}
            _ => {
                self.at = start;
                let result = self.result();
                let message =
                    format!("found {result} after `_:` (a name starts with a letter or a digit)");
                return Err(self.fault_at(open, message));
            }
        }
        // A label may have dots inside; the last one could as well be the end of the statement.
        if label.ends_with('.') {
            return Err(self.fault_at(
                open,
                "the name of a node ends with `.` (write a blank before the `.`)",
            ));
        }
        match self.peek() {
            Some(b' ' | b'\t') => self.sane(open, label),
            _ => {
                let message =
                    format!("found {} in the name of a node (a blank ends it)", self.result());
                Err(self.fault(message))
            }
        }
    }

    /// Reads `uid(v)` or `val(v)`, with blanks anywhere between its parts, and returns the
    /// variable.
    fn variable(&mut self, function: &str) -> Scanned<&'a str> {
        if !self.bytes[self.at..].starts_with(function.as_bytes()) {
            return Err(
                self.fault(format!("found {}, expected `{function}(variable)`", self.result()))
            );
        }
        self.at += function.len();
        self.skip_blanks();
        if self.peek() != Some(b'(') {
            let message = format!("found {} after `{function}`, expected `(`", self.result());
            return Err(self.fault(message));
        }
        self.step();
        self.skip_blanks();
        let start = self.at;
        self.skip_while(|byte| !matches!(byte, b' ' | b'\t' | b')'));
        let name = self.since(start);
        if name.is_empty() {
            return Err(self.fault("the name of a variable is missing"));
        }
        self.skip_blanks();
        if self.peek() != Some(b')') {
            let message =
                format!("found {} after `{function}({name}`, expected `)`", self.result());
            return Err(self.fault(message));
        }
        self.step();
        Ok(name)
    }

    fn literal(&mut self, starred: bool, lang: &mut &'a str) -> Scanned<Object<'a>> {
        let start = self.at;
        let text = self.quoted()?;
        match self.peek() {
            Some(b'@') => {
                *lang = self.language()?;
                Ok(Object::Literal { text, value_type: ValueType::Default })
            }
            Some(b'^') => {
                let value_type = self.literal_type()?;
                if starred {
                    let message = "with the predicate `*`, the object must be `*` too";
                    return Err(self.fault_at(start, message));
                }
                if text.is_empty() && value_type != ValueType::String {
                    return Err(self.fault_at(start, "an empty text is no value of this type"));
                }
                Ok(Object::Literal { text, value_type })
            }
            _ => Ok(Object::Literal { text, value_type: ValueType::Default }),
        }
    }

    /// Reads a quoted text and returns it with its escapes replaced.
    pub(super) fn quoted(&mut self) -> Scanned<Cow<'a, str>> {
        let open = self.at;
        let mut escaped = false;
        self.step();
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n' | b'\r'));
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    match escape_end(self.bytes, self.at) {
                        Some(end) => self.at = end,
                        None => {
                            self.step();
                            let result = self.result();
                            let message = format!(
                                "found {result} after `\\` (write `\\\\` for the letter itself)"
                            );
                            return Err(self.fault(message));
                        }
                    }
                }
                None => {
                    let message = "`\"` is never closed (add `\"`)";
                    return Err(self.fault_at(open, message));
                }
                Some(_) => {
                    let message = format!(
                        "found {} in a literal (write `\\n` for a line break)",
                        self.result()
                    );
                    return Err(self.fault(message));
                }
            }
        }
        let text = self.since(open + 1);
        self.step();
        if !escaped {
            return Ok(Cow::Borrowed(text));
        }
        unescape(text).map(Cow::Owned).map_err(|(offset, reason)| {
            self.fault_at(open + 1 + offset, format!("a literal with a wrong escape: {reason}"))
        })
    }

    fn language(&mut self) -> Scanned<&'a str> {
        self.step();
        let start = self.at;
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(
                self.fault(format!("found {} after `@`, expected a language", self.result()))
            );
        }
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let tag = self.since(start);
        if tag.ends_with('-') {
            return Err(self.fault("a language ends with `-`"));
        }
        Ok(tag)
    }

    fn literal_type(&mut self) -> Scanned<ValueType> {
        self.step();
        if self.peek() != Some(b'^') {
            return Err(self.fault("found one `^` (a type is written `^^<xs:int>`)"));
        }
        self.step();
        if self.peek() != Some(b'<') {
            return Err(self.fault("no type after `^^` (a type is written `^^<xs:int>`)"));
        }
        let start = self.at;
        let name = self.iri()?;
        literal_type(name).ok_or_else(|| {
            let names = literal_names();
            let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
                near if near.is_empty() => {
                    let names = names.join(", ");
                    format!("there are {names}; names of XML Schema also in full, {XML_SCHEMA}int")
                }
                near => near,
            };
            self.fault_at(start, format!("unknown type `{name}` ({hint})"))
        })
    }

    /// Skips the label of a graph, which N-Quads allow after the object. There is only one graph,
    /// so it has no meaning. Returns the name of a graph that is no number.
    pub(super) fn skip_label(&mut self) -> Scanned<Option<&'a str>> {
        let (start, mut graph) = (self.at, None);
        match self.peek() {
            Some(b'<') => {
                let name = self.iri()?;
                if parse_uid(name).is_none() {
                    if !self.has_names {
                        return Err(self.fault_at(start, "the name of a graph is a number"));
                    }
                    graph = Some(name);
                }
            }
            Some(b'_') => {
                self.blank_node()?;
            }
            _ => return Ok(None),
        }
        self.skip_blanks();
        Ok(graph)
    }

    /// Reads the dot at the end of the statement, and a comment after it.
    pub(super) fn end(&mut self) -> Scanned<()> {
        self.skip_blanks();
        match self.peek() {
            Some(b'.') => self.step(),
            None => {
                let message = "the statement has no end (add ` .`)";
                return Err(self.fault(message));
            }
            Some(b'"') => {
                return Err(self.fault(
                    "a string can only be an object (subjects and predicates are written between `<` and `>`)",
                ));
            }
            Some(_) => {
                let message =
                    format!("found {}, expected `.` at the end of the statement", self.result());
                return Err(self.fault(message));
            }
        }
        self.skip_blanks();
        match self.peek() {
            None | Some(b'#') => Ok(()),
            Some(_) => {
                Err(self
                    .fault(format!("found {} after the `.` (one statement a line)", self.result())))
            }
        }
    }
}

/// Splits `name@en` into the name and the language. The language is empty when there is none.
pub(in crate::formats) fn split_language(name: &str) -> (&str, &str) {
    // A name may have an `@` itself, so the last one divides.
    match name.rsplit_once('@') {
        Some((name, lang)) if !name.is_empty() && !lang.is_empty() => (name, lang),
        _ => (name, ""),
    }
}

/// What the IRIs of XML Schema begin with, in full.
const XML_SCHEMA: &str = "http://www.w3.org/2001/XMLSchema#";

/// A type of literals: its name after `xs:`, after [`XML_SCHEMA`], or as it stands.
enum LiteralName {
    /// The name after `xs:` and after the IRI.
    Both(&'static str),
    /// The name after `xs:` alone.
    Short(&'static str),
    /// The name after the IRI alone.
    Long(&'static str),
    /// The entire name.
    Full(&'static str),
}

/// The types of literals, and whether values of the type are written with the name.
const LITERAL_TYPES: [(LiteralName, ValueType, bool); 16] = {
    use LiteralName::{Both, Full, Long, Short};
    [
        (Both("string"), ValueType::String, true),
        (Both("int"), ValueType::Int, true),
        (Both("integer"), ValueType::Int, false),
        (Both("positiveInteger"), ValueType::Int, false),
        (Both("float"), ValueType::Float, true),
        (Both("double"), ValueType::Float, false),
        (Both("boolean"), ValueType::Bool, true),
        (Both("date"), ValueType::DateTime, false),
        (Both("dateTime"), ValueType::DateTime, true),
        (Short("decimal"), ValueType::BigFloat, true),
        (Short("password"), ValueType::Password, true),
        (Short("base64Binary"), ValueType::Binary, true),
        (Short("[]float32"), ValueType::Vector, true),
        (Full("geo:geojson"), ValueType::Geo, true),
        (Long("gYear"), ValueType::DateTime, false),
        (Long("gYearMonth"), ValueType::DateTime, false),
    ]
};

/// Returns the type that the IRI after `^^` means, such as `xs:int`; `None` for an unknown one.
fn literal_type(name: &str) -> Option<ValueType> {
    use LiteralName::{Both, Full, Long, Short};
    let short = name.strip_prefix("xs:");
    let long = if short.is_none() { name.strip_prefix(XML_SCHEMA) } else { None };
    let is_named = |(own, ..): &&(LiteralName, ValueType, bool)| match own {
        Both(own) => short.or(long) == Some(own),
        Short(own) => short == Some(own),
        Long(own) => long == Some(own),
        Full(own) => name == *own,
    };
    LITERAL_TYPES.iter().find(is_named).map(|(_, value_type, _)| *value_type)
}

/// Returns how a literal of a type is marked, as two parts of a name; `None` for a type without a
/// name.
pub(super) fn mark_of(value_type: ValueType) -> Option<(&'static str, &'static str)> {
    let mut written = LITERAL_TYPES.iter().filter(|(.., is_written)| *is_written);
    let (name, ..) = written.find(|(_, named, _)| *named == value_type)?;
    Some(match name {
        LiteralName::Both(name) | LiteralName::Short(name) => ("xs:", name),
        LiteralName::Long(name) => (XML_SCHEMA, name),
        LiteralName::Full(name) => ("", name),
    })
}

/// The names of the types of literals for messages, short where they have a short form.
fn literal_names() -> Vec<String> {
    let names = LITERAL_TYPES.iter().map(|(name, ..)| match name {
        LiteralName::Both(name) | LiteralName::Short(name) => format!("xs:{name}"),
        LiteralName::Long(name) => format!("{XML_SCHEMA}{name}"),
        LiteralName::Full(name) => (*name).to_owned(),
    });
    names.collect()
}

/// The bytes that may be in an IRI without an escape: IRIREF of the N-Quads grammar, in which bytes
/// above 127 are allowed.
const IRI_BYTES: [bool; 256] = {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte <= 32 {
        table[byte] = false;
        byte += 1;
    }
    let others = b"<>\"{}|^`\\";
    let mut index = 0;
    while index < others.len() {
        table[others[index] as usize] = false;
        index += 1;
    }
    table
};

/// Whether a text can stand between `<` and `>` as a name, here and in queries and schemas.
pub fn is_name(text: &str) -> bool {
    iri_end(text.as_bytes(), 0) == text.len() && has_letter_or_digit(text)
}

/// The position of the first byte, from `at` on, that is not allowed in an IRI; of the backslash
/// that begins a wrong escape.
fn iri_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(&byte) if IRI_BYTES[usize::from(byte)] => at += 1,
            Some(b'\\') if begins_escape(bytes, at) => match escape_end(bytes, at) {
                Some(end) => at = end,
                None => return at,
            },
            _ => return at,
        }
    }
}

/// Whether the backslash at a position begins an escape as IRIs have them, if perhaps a wrong one.
fn begins_escape(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at + 1), Some(b'u' | b'U'))
}

/// Reads a uid. The usual form, `0x` and up to 16 hexadecimal digits, is read here without the
/// general parser, since loads read two for each edge.
#[inline]
fn parse_uid(text: &str) -> Option<u64> {
    if let [b'0', b'x', digits @ ..] = text.as_bytes()
        // Sixteen digits fill the 64 bits: no shift below loses a bit.
        && (1..=16).contains(&digits.len())
    {
        let mut number = 0u64;
        let mut plain = true;
        // No branch per digit: a wrong one is only remembered.
        for &byte in digits {
            let digit = HEX_DIGITS[usize::from(byte)];
            plain &= digit < 16;
            number = number << 4 | u64::from(digit & 15);
        }
        if plain {
            return Some(number);
        }
    }
    // Decimal, octal and binary uids, `0X`, underscores, and more than sixteen digits with zeros in
    // front.
    Uid::parse(text).map(|uid| uid.0)
}

/// Whether a text is digits alone, decimal or hexadecimal after `0x`.
fn is_number(name: &str) -> bool {
    let hex = name.strip_prefix("0x").filter(|digits| !digits.is_empty());
    let is_hex = hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_hex || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The value of each byte as a hexadecimal digit; 255 for bytes that are none.
const HEX_DIGITS: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

/// Returns the argument when an IRI is written as a call of the function, such as `<uid(v)>`.
fn function_call<'a>(name: &'a str, function: &str) -> Option<&'a str> {
    let argument = name.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')')?;
    (!argument.is_empty()).then_some(argument)
}

/// Whether a label may start with the character: PN_CHARS_U of the N-Quads grammar, and digits.
fn is_label_start(character: char) -> bool {
    match character {
        '_' | ':' | '0'..='9' | 'a'..='z' | 'A'..='Z' => true,
        '\u{c0}'..='\u{2ff}' => !matches!(character, '\u{d7}' | '\u{f7}'),
        '\u{370}'..='\u{1fff}' => character != '\u{37e}',
        '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' => true,
        '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' => true,
        '\u{10000}'..='\u{effff}' => true,
        _ => false,
    }
}

/// Whether a label may contain the character: PN_CHARS of the N-Quads grammar.
fn is_label_char(character: char) -> bool {
    is_label_start(character)
        || matches!(character, '-' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}
