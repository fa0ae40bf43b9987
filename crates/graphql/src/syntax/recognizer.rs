//! What the grammars of schemas and requests have in common: a recognizer reads tokens and stops at
//! the first that does not fit.
//!
//! It builds no tree: apollo-compiler does that afterwards. It runs before for the sake of the
//! faults, whose words and positions are those of Dgraph, and for the few
//! texts that only one of the two takes.

use hexgraph_base::types::stack;
use std::ops::Range;

use crate::syntax::lexer::{LexFault, LexemeKind, Token, Tokens};
use crate::syntax::{GraphqlError, Positions};
use hexgraph_base::types::quote;

/// How many levels deep values, types and selections may be nested, all counted together.
const DEPTH_MAX: usize = 100;

/// The result of reading a part of the grammar, or the fault that ended it.
pub(super) type Read<T = ()> = Result<T, LexFault>;

/// Reads the tokens of a text, with one token of lookahead.
pub(super) struct Recognizer<'a> {
    lexer: Tokens<'a>,
    lookahead: Token<'a>,
    /// The number of levels around the lookahead token.
    depth: usize,
    /// See [`Recognized::empty_parentheses`].
    empty_parentheses: Vec<Range<usize>>,
}

/// A grammar: reads an entire text.
pub(super) type Grammar = fn(&mut Recognizer<'_>) -> Read;

/// What is reported of a text that fits its grammar.
#[derive(Debug)]
pub(super) struct Recognized {
    /// True if the text has no token.
    pub(super) is_empty: bool,
    /// The ranges in bytes of parentheses with nothing between them.
    pub(super) empty_parentheses: Vec<Range<usize>>,
}

/// Runs a grammar over a text. O(text).
///
/// # Errors
///
/// The first fault, with its position.
pub(super) fn recognize(text: &str, grammar: Grammar) -> Result<Recognized, GraphqlError> {
    let run = || {
        let mut lexer = Tokens::new(text);
        // apollo-compiler refuses a text without tokens, and Dgraph does not.
        let lookahead = lexer.next()?;
        let is_empty = lookahead.kind == LexemeKind::End;
        let mut tokens = Recognizer { lexer, lookahead, depth: 0, empty_parentheses: Vec::new() };
        grammar(&mut tokens)?;
        Ok(Recognized { is_empty, empty_parentheses: tokens.empty_parentheses })
    };
    run().map_err(|(at, message): LexFault| {
        GraphqlError::at(Some(Positions::of(text).at(at)), message)
    })
}

impl<'a> Recognizer<'a> {
    /// Reads a value. A `constant` one, such as the default of an argument, must not contain a
    /// variable.
    pub(super) fn value(&mut self, constant: bool) -> Read {
        stack::require();
        match self.lookahead.kind {
            LexemeKind::Mark("[") => self.many("[", "]", |this| this.value(constant)).map(drop),
            LexemeKind::Mark("{") => self.many("{", "}", |this| this.argument(constant)).map(drop),
            LexemeKind::Mark("$") if !constant => self.variable(),
            LexemeKind::Mark(_) | LexemeKind::End => self.unexpected(),
            _ => self.next().map(drop),
        }
    }

    /// Reads `$name`.
    pub(super) fn variable(&mut self) -> Read {
        self.expect("$")?;
        self.name().map(drop)
    }

    /// Reads `name: value`.
    fn argument(&mut self, constant: bool) -> Read {
        self.name()?;
        self.expect(":")?;
        self.value(constant)
    }

    /// Reads `(name: value ...)`, if it is next.
    pub(super) fn arguments(&mut self, constant: bool) -> Read {
        self.many("(", ")", |this| this.argument(constant)).map(drop)
    }

    /// Reads all directives that are next, and returns their number.
    pub(super) fn directives(&mut self, constant: bool) -> Read<usize> {
        let mut count = 0;
        while self.skip("@")? {
            self.name()?;
            self.arguments(constant)?;
            count += 1;
        }
        Ok(count)
    }

    /// Reads a reference to a type, such as `[Name!]!`.
    pub(super) fn type_reference(&mut self) -> Read {
        stack::require();
        if self.skip("[")? {
            self.deeper(|this| this.type_reference())?;
            self.expect("]")?;
        } else {
            self.name()?;
        }
        self.skip("!").map(drop)
    }

    /// Returns the token that comes next, without reading it.
    pub(super) fn lookahead(&self) -> Token<'a> {
        self.lookahead
    }

    /// Returns true if the next token is this punctuator.
    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.lookahead.kind, LexemeKind::Mark(lookahead) if lookahead == mark)
    }

    /// Returns true if the next token is this name.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.lookahead.kind == LexemeKind::Name && self.lookahead.text == word
    }

    /// Reads a token and returns it.
    pub(super) fn next(&mut self) -> Read<Token<'a>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.lookahead, next))
    }

    /// Reads a punctuator if it is next, and says whether it was.
    pub(super) fn skip(&mut self, mark: &str) -> Read<bool> {
        let result = self.is(mark);
        if result {
            self.next()?;
        }
        Ok(result)
    }

    /// Reads a punctuator that must be next.
    pub(super) fn expect(&mut self, mark: &str) -> Read {
        if self.skip(mark)? {
            return Ok(());
        }
        Err(self.expected(mark))
    }

    /// Makes the fault that `expected` is missing at the next token.
    pub(super) fn expected(&self, requested: &str) -> LexFault {
        (self.lookahead.at, format!("Expected {requested}, found {}", self.lookahead.kind.name()))
    }

    /// Reads a name and returns its token.
    pub(super) fn name(&mut self) -> Read<Token<'a>> {
        match self.lookahead.kind {
            LexemeKind::Name => self.next(),
            _ => Err(self.expected("Name")),
        }
    }

    /// Reads a word of the grammar, such as `type`, that must be next.
    pub(super) fn keyword(&mut self, word: &str) -> Read {
        if self.is_word(word) {
            return self.next().map(drop);
        }
        let message = format!("Expected {}, found {}", quote(word), self.lookahead.described());
        Err((self.lookahead.at, message))
    }

    /// Makes the fault that the next token fits nowhere.
    pub(super) fn unexpected<T>(&self) -> Read<T> {
        Err((self.lookahead.at, format!("Unexpected {}", self.lookahead.described())))
    }

    /// Reads any number of fragments between two punctuators, if the first is next, and returns
    /// their number.
    pub(super) fn many(
        &mut self,
        open: &str,
        close: &str,
        chunk: impl FnMut(&mut Self) -> Read,
    ) -> Read<usize> {
        let start = self.lookahead.at;
        if !self.skip(open)? {
            return Ok(0);
        }
        // Dgraph allows `f()`; the caller needs to know where, to hide it from
        // apollo-compiler.
        if open == "(" && self.is(close) {
            self.empty_parentheses.push(start..self.lookahead.at + 1);
        }
        self.until(close, chunk)
    }

    /// Reads fragments as [`Recognizer::many`] does, but at least one: nothing between the
    /// punctuators is a fault.
    pub(super) fn some(
        &mut self,
        open: &str,
        close: &str,
        chunk: impl FnMut(&mut Self) -> Read,
    ) -> Read<usize> {
        if !self.is(open) {
            return Ok(0);
        }
        self.next()?;
        if self.is(close) {
            let message = format!("expected at least one definition, found {close}");
            return Err((self.lookahead.at, message));
        }
        self.until(close, chunk)
    }

    /// Reads fragments up to and including a closing punctuator, and returns their number.
    fn until(&mut self, close: &str, mut chunk: impl FnMut(&mut Self) -> Read) -> Read<usize> {
        self.deeper(|this| {
            let mut count = 0;
            while !this.is(close) {
                chunk(this)?;
                count += 1;
            }
            this.next()?;
            Ok(count)
        })
    }

    /// Reads a part one level deeper. Levels are bounded, so no text can exhaust the stack.
    pub(super) fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEPTH_MAX {
            return Err((self.lookahead.at, format!("more than {DEPTH_MAX} levels deep")));
        }
        self.depth += 1;
        let read = part(self);
        self.depth -= 1;
        read
    }
}
