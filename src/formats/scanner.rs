//! Reads a statement from the bytes of a line, from left to right, once.
//!
//! Every part ends at an ASCII byte, so cuts never fall inside a character and what is between
//! them is borrowed as it is.

use std::borrow::Cow;

use crate::formats::LineFault;
use crate::formats::NQuad;
use crate::formats::Object;
use crate::formats::Predicate;
use crate::formats::Subject;
use crate::formats::escape::escape_end;
use crate::formats::escape::unescape;
use crate::formats::facet::parse_facets;
use crate::formats::nquad::literal_type;
use crate::formats::nquad::split_language;
use crate::types::Uid;
use crate::types::ValueType;

/// What reading a part of a line gives.
pub(super) type Scanned<T> = std::result::Result<T, LineFault>;

/// A place in a line.
pub(super) struct Scanner<'a> {
    line: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The first byte of a line that is not white space.
    pub(super) fn new(line: &'a str) -> Scanner<'a> {
        let line_end = line.trim_end();
        let at = line_end.len() - line_end.trim_start().len();
        Scanner { line: line_end, bytes: line_end.as_bytes(), at }
    }

    /// Reads the whole line.
    pub(super) fn statement(mut self) -> Scanned<Option<NQuad<'a>>> {
        if matches!(self.peek(), None | Some(b'#')) {
            return Ok(None);
        }
        let subject = self.subject()?;
        self.skip_blanks();
        let (predicate, mut lang) = self.predicate()?;
        self.skip_blanks();
        let starred = subject == Subject::Star || predicate == Predicate::Star;
        let object = self.object(starred, &mut lang)?;
        self.skip_blanks();
        self.skip_label()?;
        let facets = if self.peek() == Some(b'(') { parse_facets(&mut self)? } else { Vec::new() };
        self.end()?;
        Ok(Some(NQuad { subject, predicate, lang, object, facets, in_list: None }))
    }

    /// The byte here.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The number of the byte here.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The line from `start` up to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.line[start..self.at]
    }

    /// Steps over a byte of ASCII.
    #[inline]
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Steps over blanks and tabs.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Steps over bytes while they belong.
    #[inline]
    pub(super) fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&belongs) {
            self.at += 1;
        }
    }

    /// A fault here.
    pub(super) fn fault(&self, message: impl Into<String>) -> LineFault {
        self.fault_at(self.at, message)
    }

    /// A fault at another byte.
    pub(super) fn fault_at(&self, offset: usize, message: impl Into<String>) -> LineFault {
        LineFault { column: u32::try_from(offset).unwrap_or(u32::MAX), message: message.into() }
    }

    /// The character here, for an error.
    pub(super) fn found(&self) -> String {
        match self.line[self.at..].chars().next() {
            Some(character) => format!("{character:?}"),
            None => "the end of the line".to_string(),
        }
    }

    fn subject(&mut self) -> Scanned<Subject<'a>> {
        let start = self.at;
        match self.peek() {
            Some(b'<') => {
                let name = self.iri()?;
                if let Some(label) = name.strip_prefix("_:") {
                    return self.sane(start, label).map(Subject::Blank);
                }
                match function_call(name, "uid") {
                    Some(variable) => Ok(Subject::Var(variable)),
                    None => self.uid(start, name).map(Subject::Uid),
                }
            }
            Some(b'_') => self.blank_node().map(Subject::Blank),
            Some(b'u') => self.variable("uid").map(Subject::Var),
            Some(b'*') => {
                self.step();
                Ok(Subject::Star)
            }
            Some(b'"') => Err(self.fault("Invalid quote for non-object.")),
            _ => Err(self.fault(format!(
                "Invalid input: {} where a subject should be: <uid>, _:name, uid(variable) or *",
                self.found()
            ))),
        }
    }

    fn predicate(&mut self) -> Scanned<(Predicate<'a>, &'a str)> {
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
            Some(b'"') => Err(self.fault("Invalid quote for non-object.")),
            _ => Err(self.fault(format!(
                "Invalid input: {} where a predicate should be: <name> or *",
                self.found()
            ))),
        }
    }

    fn object(&mut self, starred: bool, lang: &mut &'a str) -> Scanned<Object<'a>> {
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
                    None => self.uid(start, name).map(Object::Uid),
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
                "Invalid input: {} where an object should be: <uid>, _:name, \"value\", \
                 uid(variable), val(variable) or *",
                self.found()
            ))),
        }
    }

    /// The text between the angle brackets that start here.
    fn iri(&mut self) -> Scanned<&'a str> {
        self.step();
        let start = self.at;
        loop {
            self.skip_while(|byte| IRI_BYTES[usize::from(byte)]);
            match self.peek() {
                Some(b'>') => {
                    let text = self.since(start);
                    self.step();
                    return Ok(text);
                }
                Some(b'\\') if matches!(self.bytes.get(self.at + 1), Some(b'u' | b'U')) => {
                    match escape_end(self.bytes, self.at) {
                        Some(end) => self.at = end,
                        None => {
                            return Err(self.fault("Unexpected escape while parsing IRI"));
                        }
                    }
                }
                None => return Err(self.fault("Unexpected end of IRI: no `>` closes it")),
                Some(_) => {
                    let message =
                        format!("Unexpected character {} while parsing IRI", self.found());
                    return Err(self.fault(message));
                }
            }
        }
    }

    /// The uid that an IRI means.
    fn uid(&self, start: usize, name: &str) -> Scanned<u64> {
        match parse_uid(name) {
            Some(0) => Err(self.fault_at(start, "UID must to be greater than 0")),
            Some(number) => Ok(number),
            None => {
                self.sane(start, name)?;
                let digits = name.bytes().all(|byte| byte.is_ascii_digit());
                let reason = if digits { "value out of range" } else { "invalid syntax" };
                let message = format!("strconv.ParseUint: parsing \"{name}\": {reason}");
                Err(self.fault_at(start, message))
            }
        }
    }

    /// Refuses names without any letter or digit.
    fn sane(&self, start: usize, name: &'a str) -> Scanned<&'a str> {
        if name.chars().any(char::is_alphanumeric) {
            return Ok(name);
        }
        let message = format!("NQuad failed sanity check: no letter or digit in \"{name}\"");
        Err(self.fault_at(start, message))
    }

    /// The label of a blank node, without `_:`.
    fn blank_node(&mut self) -> Scanned<&'a str> {
        let open = self.at;
        self.step();
        if self.peek() != Some(b':') {
            return Err(self.fault(format!("Invalid character {} after _", self.found())));
        }
        self.step();
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        // What is rare is looked at a character at a time.
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
                let found = self.line[start..].chars().next();
                let found =
                    found.map_or("nothing".to_string(), |character| format!("{character:?}"));
                let message = format!("Invalid character after _: , Got {found}");
                return Err(self.fault_at(open, message));
            }
        }
        if label.ends_with('.') {
            return Err(self.fault_at(open, "Can not end a blank node with '.'"));
        }
        match self.peek() {
            Some(b' ' | b'\t') => self.sane(open, label),
            _ => {
                let message = format!("Invalid character {} after a blank node", self.found());
                Err(self.fault(message))
            }
        }
    }

    /// The variable of `uid(v)` or `val(v)`, with blanks around the brackets.
    fn variable(&mut self, function: &str) -> Scanned<&'a str> {
        if !self.bytes[self.at..].starts_with(function.as_bytes()) {
            return Err(self.fault(format!("Unexpected input, expected {function}(variable)")));
        }
        self.at += function.len();
        self.skip_blanks();
        if self.peek() != Some(b'(') {
            let message = format!("Expected '(' after {function}, found: {}", self.found());
            return Err(self.fault(message));
        }
        self.step();
        self.skip_blanks();
        let start = self.at;
        self.skip_while(|byte| !matches!(byte, b' ' | b'\t' | b')'));
        let name = self.since(start);
        if name.is_empty() {
            return Err(self.fault("Unexpected end of input while reading variable name"));
        }
        self.skip_blanks();
        if self.peek() != Some(b')') {
            let message = format!("Expected ')' after {function}({name}, found: {}", self.found());
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
                    let message = "if predicate/subject is *, value should be * as well";
                    return Err(self.fault_at(start, message));
                }
                if text.is_empty() && value_type != ValueType::String {
                    return Err(self.fault_at(start, "invalid ObjectValue: it is empty"));
                }
                Ok(Object::Literal { text, value_type })
            }
            _ => Ok(Object::Literal { text, value_type: ValueType::Default }),
        }
    }

    /// The text in the double quotes that start here.
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
                            let found = self.found();
                            let message = format!("Invalid escape character : {found} in literal");
                            return Err(self.fault(message));
                        }
                    }
                }
                None => {
                    let message = "while unquoting: invalid syntax: nothing closes the quote";
                    return Err(self.fault_at(open, message));
                }
                Some(_) => {
                    let message = format!("Invalid character {} in literal.", self.found());
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
            self.fault_at(open + 1 + offset, format!("while unquoting: invalid syntax: {reason}"))
        })
    }

    fn language(&mut self) -> Scanned<&'a str> {
        self.step();
        let start = self.at;
        if !self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(self.fault(format!("Invalid language tag prefix: {}", self.found())));
        }
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let tag = self.since(start);
        if tag.ends_with('-') {
            return Err(self.fault("Invalid character - at the end of language literal."));
        }
        Ok(tag)
    }

    fn literal_type(&mut self) -> Scanned<ValueType> {
        self.step();
        if self.peek() != Some(b'^') {
            return Err(self.fault("Expected ^^ before the type of a literal"));
        }
        self.step();
        if self.peek() != Some(b'<') {
            return Err(self.fault("Expected < before the type of a literal"));
        }
        let start = self.at;
        let name = self.iri()?;
        literal_type(name)
            .ok_or_else(|| self.fault_at(start, format!("unrecognized rdf type {name}")))
    }

    /// Skips the name of a graph: there is one only.
    fn skip_label(&mut self) -> Scanned<()> {
        let start = self.at;
        match self.peek() {
            Some(b'<') => {
                if parse_uid(self.iri()?).is_none() {
                    return Err(self.fault_at(start, "invalid namespace ID: expected a number"));
                }
            }
            Some(b'_') => {
                self.blank_node()?;
            }
            _ => return Ok(()),
        }
        self.skip_blanks();
        Ok(())
    }

    /// The dot, and at most a comment after it.
    fn end(&mut self) -> Scanned<()> {
        self.skip_blanks();
        match self.peek() {
            Some(b'.') => self.step(),
            None => {
                let message = "invalid end of input: expected '.' at the end of the statement";
                return Err(self.fault(message));
            }
            Some(b'"') => return Err(self.fault("Invalid quote for non-object.")),
            Some(_) => {
                let message = format!("Invalid input: {}, expected '.'", self.found());
                return Err(self.fault(message));
            }
        }
        self.skip_blanks();
        match self.peek() {
            None | Some(b'#') => Ok(()),
            Some(_) => Err(self.fault(format!(
                "invalid end of input. Expected newline or # after ., found {}",
                self.found()
            ))),
        }
    }
}

/// The bytes that stand for themselves in an IRI; all of a character beyond ASCII does.
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

/// Reads a uid; the usual form, a short hexadecimal number, at little cost.
#[inline]
fn parse_uid(text: &str) -> Option<u64> {
    if let [b'0', b'x', digits @ ..] = text.as_bytes()
        && (1..=16).contains(&digits.len())
    {
        let mut number = 0u64;
        let mut plain = true;
        for &byte in digits {
            let digit = HEX_DIGITS[usize::from(byte)];
            plain &= digit < 16;
            number = number << 4 | u64::from(digit & 15);
        }
        if plain {
            return Some(number);
        }
    }
    Uid::parse(text).map(|uid| uid.0)
}

/// The digit that a byte is in base 16, else 255.
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

/// The argument when an IRI spells a call of the function.
fn function_call<'a>(name: &'a str, function: &str) -> Option<&'a str> {
    let argument = name.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')')?;
    (!argument.is_empty()).then_some(argument)
}

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

fn is_label_char(character: char) -> bool {
    is_label_start(character)
        || matches!(character, '-' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}
