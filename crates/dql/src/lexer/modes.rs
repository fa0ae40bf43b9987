//! The lexer: one function for each kind of scope.

use super::cursor::{self, Cursor};
use super::graphql_words;
use super::operator_words;
use super::scope::{Header, Open, Previous, Scope};
use crate::syntax::token::{Text, Token};
use hexgraph_base::types::{Error, Position, Result, stack};

/// The greatest number of open brackets.
const DEPTH_MAX: usize = 200;

/// The lexer: an iterator over the tokens of a text.
///
/// A token depends on the stack of open brackets, the token before and at most the word after it,
/// never on the state of the grammar. So `name :`, `name as` and `count (` are one token each, so
/// the grammar is LR(1).
pub(crate) struct Lexer<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) open: Vec<Open>,
    pub(super) header: Option<Header>,
    pub(super) previous: Previous,
    pub(super) negations: usize,
    /// True when the text is only a condition.
    pub(super) is_condition: bool,
    /// The first `{` that was closed by a `}` on a line with a smaller indent than its own, and
    /// that `}`. When the text has unclosed braces, the missing `}` probably belongs there.
    outdented: Option<(usize, usize)>,
    failed: bool,
}

/// A token with the offset of its first byte and the offset after its last byte.
pub(super) type Spanned = (usize, Token, usize);

impl<'a> Lexer<'a> {
    /// Creates a lexer for an entire request.
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer {
            cursor: Cursor::new(text),
            open: Vec::new(),
            header: None,
            previous: Previous::Other,
            negations: 0,
            is_condition: false,
            outdented: None,
            failed: false,
        }
    }

    /// Creates a lexer for a text that is one `@if(...)` or `@filter(...)`.
    pub(crate) fn of_condition(text: &'a str) -> Lexer<'a> {
        Lexer { is_condition: true, ..Lexer::new(text) }
    }

    fn read(&mut self) -> Result<Option<Spanned>> {
        match self.open.last().map(|open| open.scope) {
            Some(Scope::Blocks | Scope::Fields | Scope::Schema) => self.in_body().map(Some),
            Some(Scope::Filter) => self.in_filter().map(Some),
            Some(Scope::Math) => self.in_math().map(Some),
            Some(Scope::Mutation) => self.in_mutation().map(Some),
            // Between the word that begins an operation and its `{`.
            None | Some(Scope::Upsert) if self.header.is_some() => self.in_header().map(Some),
            None => self.at_top(),
            Some(Scope::Upsert) => self.in_upsert().map(Some),
            Some(scope) => self.in_brackets(scope).map(Some),
        }
    }

    /// Reads the start of an operation. Characters that begin none are skipped.
    fn at_top(&mut self) -> Result<Option<Spanned>> {
        loop {
            self.cursor.skip_blank();
            let at = self.cursor.at;
            match self.cursor.peek() {
                _ if self.cursor.is_done() => return Ok(None),
                b'@' if self.is_condition => return self.condition_open().map(Some),
                _ if self.is_condition => return Err(self.no_condition(at)),
                // `{ set` is a mutation, although a block may be named `set`.
                b'{' if self.starts_mutation(at + 1) => {
                    return self.opened(Token::BraceOpen, Scope::Mutation).map(Some);
                }
                b'{' => return self.opened(Token::BraceOpen, Scope::Blocks).map(Some),
                b'}' => return Err(self.error(at, "`}` without a `{` before it", "remove it")),
                b'(' => return Err(self.error(at, "`(` outside of any block", "")),
                byte if cursor::starts_name(byte) => return self.operation(at).map(Some),
                // A step may end within a character. Texts are cut at ASCII bytes alone, so none is
                // cut there.
                _ => self.cursor.at += 1,
            }
        }
    }

    fn operation(&mut self, at: usize) -> Result<Spanned> {
        let end = self.cursor.after_name(at);
        let (token, header) = match &self.cursor.text[at..end] {
            "query" => (Token::Query, Header::Query),
            "fragment" => (Token::Fragment, Header::Fragment),
            "upsert" => (Token::Upsert, Header::Upsert),
            "mutation" => {
                let hint = match graphql_words::is_operation(&self.cursor.text[at..]) {
                    true => graphql_words::HINT,
                    false => "write `{ set { ... } }` or put it into `upsert { ... }`",
                };
                return Err(self.error(at, "`mutation` can't stand on its own", hint));
            }
            word if word.eq_ignore_ascii_case("schema") => (Token::Schema, Header::Schema),
            word => return Err(self.unknown_operation(at, word)),
        };
        self.header = Some(header);
        self.word(end, token)
    }

    fn in_upsert(&mut self) -> Result<Spanned> {
        self.cursor.skip_blank();
        let at = self.cursor.at;
        if self.cursor.peek() == b'}' {
            return self.closed(Token::BraceClose);
        }
        self.check_unclosed()?;
        let end = self.cursor.after_name(at);
        let (token, header) = match &self.cursor.text[at..end] {
            "query" => (Token::Query, Header::Query),
            "fragment" => (Token::Fragment, Header::Fragment),
            "mutation" => (Token::Mutation, Header::Mutation),
            _ => {
                let message = format!("found {} in an upsert block", self.cursor.shown(at));
                return Err(self.error(at, message, "expected `query`, `fragment` or `mutation`"));
            }
        };
        self.header = Some(header);
        self.word(end, token)
    }

    fn in_header(&mut self) -> Result<Spanned> {
        self.cursor.skip_blank();
        let at = self.cursor.at;
        match self.cursor.peek() {
            b'{' => {
                let scope = match self.header.take() {
                    Some(Header::Fragment) => Scope::Fields,
                    Some(Header::Schema) => Scope::Schema,
                    Some(Header::Upsert) => Scope::Upsert,
                    Some(Header::Mutation) => Scope::Mutation,
                    Some(Header::Query) | None => Scope::Blocks,
                };
                self.opened(Token::BraceOpen, scope)
            }
            b'(' => self.opened(Token::RoundOpen, Scope::Arguments),
            b'@' if self.header == Some(Header::Mutation) => self.if_open(),
            byte if cursor::starts_name(byte) || byte == b'<' => self.name(Scope::Schema),
            _ if self.cursor.is_done() => {
                Err(self.error(at, "the text ends before the `{` of an operation", ""))
            }
            _ => Err(self.unexpected(at, "before the `{` of an operation")),
        }
    }

    fn in_body(&mut self) -> Result<Spanned> {
        // `read` comes here only within a bracket, so there is a last one.
        let scope = self.open[self.open.len() - 1].scope;
        self.cursor.skip_blank_and_commas();
        let at = self.cursor.at;
        match self.cursor.peek() {
            b'{' => self.opened(Token::BraceOpen, Scope::Fields),
            b'}' => self.closed(Token::BraceClose),
            b'(' => self.opened(Token::RoundOpen, Scope::Arguments),
            b'@' => self.directive(scope),
            b':' => self.word(at + 1, Token::Colon),
            b'.' if self.cursor.text[at..].starts_with("...") => self.word(at + 3, Token::Spread),
            byte if cursor::starts_name(byte) || byte == b'<' => self.name(scope),
            _ => {
                self.check_unclosed()?;
                Err(self.unexpected(at, "between fields"))
            }
        }
    }

    fn in_brackets(&mut self, scope: Scope) -> Result<Spanned> {
        self.cursor.skip_blank();
        let at = self.cursor.at;
        match self.cursor.peek() {
            b'(' if scope == Scope::Count => self.opened(Token::RoundOpen, Scope::Arguments),
            b'(' => self.opened(Token::RoundOpen, Scope::Function),
            b'[' => self.opened(Token::SquareOpen, Scope::List),
            b')' => self.closed(Token::RoundClose),
            b']' => self.closed(Token::SquareClose),
            b',' => self.word(at + 1, Token::Comma).inspect(|_| self.previous = Previous::Comma),
            b':' => self.word(at + 1, Token::Colon),
            b'=' => self.word(at + 1, Token::Equals),
            b'!' => self.word(at + 1, Token::Bang),
            b'"' => self.string(),
            b'$' => self.variable(),
            b'@' => self.directive(scope),
            // Only an argument after a comma can be a regular expression.
            b'/' if self.previous == Previous::Comma && scope == Scope::Function => self.regex(),
            b'+' | b'-' => self.signed(),
            byte if cursor::is_name(byte) && byte != b'.' || byte == b'<' => self.name(scope),
            _ => Err(self.wrong_in_brackets(at)),
        }
    }

    fn in_filter(&mut self) -> Result<Spanned> {
        self.cursor.skip_blank();
        let at = self.cursor.at;
        match self.cursor.peek() {
            // Behind a name it opens the arguments of a function, elsewhere a group of conditions.
            b'(' if self.previous == Previous::Name => {
                self.opened(Token::RoundOpen, Scope::Function)
            }
            b'(' => self.opened(Token::RoundOpen, Scope::Filter),
            b')' => self.closed(Token::RoundClose),
            b',' => self.word(at + 1, Token::Comma),
            byte if cursor::is_name(byte) && byte != b'.' => {
                let end = self.cursor.after_name(at);
                let word = &self.cursor.text[at..end];
                match word {
                    _ if word.eq_ignore_ascii_case("and") => self.word(end, Token::And),
                    _ if word.eq_ignore_ascii_case("or") => self.word(end, Token::Or),
                    _ if word.eq_ignore_ascii_case("not") => self.word(end, Token::Not),
                    _ => {
                        let token = Token::Name(Text::slice(at, end));
                        self.word(end, token).inspect(|_| self.previous = Previous::Name)
                    }
                }
            }
            _ => Err(self.wrong_in_brackets(at)),
        }
    }

    /// Returns the token up to `end`, and moves after it.
    pub(super) fn word(&mut self, end: usize, token: Token) -> Result<Spanned> {
        let start = self.cursor.at;
        self.cursor.at = end;
        self.previous = Previous::Other;
        Ok((start, token, end))
    }

    /// Returns the token of an opening bracket, which is one byte, and pushes its scope.
    pub(super) fn opened(&mut self, token: Token, scope: Scope) -> Result<Spanned> {
        let end = self.cursor.at + 1;
        self.opened_until(end, token, scope)
    }

    /// Returns the token up to `end`, whose last byte is an opening bracket, and pushes the scope
    /// of the bracket.
    pub(super) fn opened_until(
        &mut self,
        end: usize,
        token: Token,
        scope: Scope,
    ) -> Result<Spanned> {
        if self.open.len() >= DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} brackets are open at once");
            return Err(self.error(end - 1, message, "split the query with variables"));
        }
        // The LR parser builds the tree without recursion, but dropping the tree recurses. So the
        // depth is checked here, before there is a tree.
        stack::check_levels(self.open.len())?;
        self.open.push(Open { scope, at: end - 1 });
        // Whether the bracket belongs to a longer token or not, it is the last byte before `end`.
        self.word(end, token)
    }

    /// Returns the token of a closing bracket and pops its scope. The bracket must close the
    /// innermost open one.
    pub(super) fn closed(&mut self, token: Token) -> Result<Spanned> {
        let at = self.cursor.at;
        match self.open.last() {
            Some(open) if open.scope.closing() == self.cursor.peek() => {
                // The first one is the position to report: after it all braces are off by one.
                if self.outdented.is_none() && self.is_outdented(open.at, at) {
                    self.outdented = Some((open.at, at));
                }
            }
            _ => return Err(self.wrong_in_brackets(at)),
        }
        self.open.pop();
        self.word(at + 1, token)
    }

    /// Checks that the text does not end here with an open bracket.
    pub(super) fn check_unclosed(&self) -> Result<()> {
        match self.open.last() {
            Some(open) if self.cursor.is_done() => Err(self.unclosed(open)),
            _ => Ok(()),
        }
    }

    /// Returns true when the bracket at `close` begins a line with a smaller indent than the line
    /// of the bracket at `open`.
    fn is_outdented(&self, open: usize, close: usize) -> bool {
        let bytes = self.cursor.text.as_bytes();
        let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
        let indent = bytes[..close].iter().rev().take_while(is_blank).count();
        // What stands between the start of the line and the bracket has to be blank, or the bracket
        // does not begin the line.
        if close != indent && bytes[close - indent - 1] != b'\n' {
            return false;
        }
        let line = bytes[..open].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        indent < bytes[line..open].iter().take_while(is_blank).count()
    }

    fn unclosed(&self, open: &Open) -> Error {
        if let Some((outdented, close)) = self.outdented.filter(|_| open.scope.closing() == b'}') {
            let line = Position::of(self.cursor.text, close).line;
            let hint = format!("add `}}` before line {line}: the one there is indented less");
            return self.error(outdented, "`{` is never closed", hint);
        }
        let bracket = self.cursor.shown(open.at);
        let message = format!("{bracket} is never closed");
        self.error(open.at, message, format!("add `{}`", open.scope.closing() as char))
    }

    /// Makes the error for a character that is not allowed in round or square brackets.
    pub(super) fn wrong_in_brackets(&self, at: usize) -> Error {
        let Some(open) = self.open.last() else { return self.unexpected(at, "here") };
        let closing = open.scope.closing() as char;
        match self.cursor.peek_at(at) {
            _ if at >= self.cursor.text.len() => self.unclosed(open),
            b'{' | b'}' | b')' | b']' => {
                let opening = self.cursor.shown(open.at);
                let message = format!("found {} while {opening} is open", self.cursor.shown(at));
                self.error(at, message, format!("is `{closing}` missing before it?"))
            }
            b'\'' => self.error(at, "found `'`", "write strings between double quotes"),
            b'"' => self.error(
                at,
                "found `\"` in math",
                "declare a variable: `query q($x: string = \"...\")`",
            ),
            b'&' => self.error(at, "found `&`", "write `and`"),
            b'|' => {
                let facet = operator_words::facet_filter(self.cursor.text, open.at, at)
                    .filter(|_| open.scope == Scope::Function);
                self.error(at, "found `|`", facet.unwrap_or_else(|| "write `or`".to_owned()))
            }
            b'!' | b'=' | b'<' | b'>' => self.wrong_comparison(at),
            b'*' => self.error(
                at,
                "unexpected `*` inside brackets",
                "nodes are counted by `count(uid)`",
            ),
            _ => self.unexpected(at, "inside brackets"),
        }
    }

    /// Makes the error for an operator of comparison, which other languages have.
    fn wrong_comparison(&self, at: usize) -> Error {
        let (message, usual) = match self.cursor.peek_at(at) {
            b'!' => ("found `!`".to_owned(), "write `not`"),
            b'=' => (
                "unexpected `=` inside brackets".to_owned(),
                "write `first: 10` for an argument, and `eq(name, \"Ada\")` to compare",
            ),
            _ => (
                format!("unexpected {} inside brackets", self.cursor.shown(at)),
                "compare by a function: eq, lt, le, gt or ge, as in `gt(age, 41)`",
            ),
        };
        let written = operator_words::comparison(self.cursor.text, at);
        self.error(at, message, written.unwrap_or_else(|| usual.to_owned()))
    }

    pub(super) fn unexpected(&self, at: usize, position: &str) -> Error {
        let message = format!("unexpected {} {position}", self.cursor.shown(at));
        let hint = match self.cursor.peek_at(at) {
            128.. => "names with such letters are written between `<` and `>`",
            b'"' if self.cursor.text[..at].trim() == "{" => {
                "this looks like JSON, which needs the content type application/json"
            }
            b'"' => "strings may only be inside round brackets",
            b'*' => "all fields of the types of a node are `expand(_all_)`",
            b'.' => "languages are separated by `:`, as in `@en:fr:.`",
            b')' | b']' => "it closes nothing: remove it",
            b'0'..=b'9' | b'-' => "names with such letters are written between `<` and `>`",
            _ => "",
        };
        self.error(at, message, hint)
    }

    pub(super) fn error(
        &self,
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        self.cursor.error(at, message, hint)
    }
}

impl Iterator for Lexer<'_> {
    type Item = Result<Spanned>;

    fn next(&mut self) -> Option<Result<Spanned>> {
        if self.failed {
            return None;
        }
        let word = self.read().transpose();
        // Behind an error the stack of brackets can't be trusted, so no token follows it.
        self.failed = matches!(word, Some(Err(_)));
        word
    }
}
