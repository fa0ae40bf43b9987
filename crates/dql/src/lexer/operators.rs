//! The lexer of `math(...)`: operators, operands and the minus sign, which may be either.

use super::cursor;
use super::modes::{Lexer, Spanned};
use super::scope::{Previous, Scope};
use crate::syntax::token::{Text, Token};
use hexgraph_base::plan::MathFunction;
use hexgraph_base::types::Result;

/// The greatest number of consecutive minus signs.
const NEGATIONS_MAX: usize = 100;

impl Lexer<'_> {
    pub(super) fn in_math(&mut self) -> Result<Spanned> {
        self.cursor.skip_blank();
        let at = self.cursor.at;
        let after_operand = matches!(self.previous, Previous::Operand | Previous::Name);
        match self.cursor.peek() {
            b'(' => self.opened(Token::RoundOpen, Scope::Math),
            b')' => self.math_operand(|lexer| lexer.closed(Token::RoundClose)),
            b',' => self.word(at + 1, Token::Comma),
            b'$' => self.math_operand(Lexer::variable),
            // Behind an operand a minus subtracts, elsewhere it negates.
            b'-' if !after_operand => self.negate(at),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' => self.operator(at),
            byte if cursor::is_name(byte) && byte != b'.' => {
                let end = self.cursor.after_name(at);
                if after_operand && self.cursor.text[at..end].eq_ignore_ascii_case("dot") {
                    return self.comparison(end, MathFunction::Dot);
                }
                let token = Token::Name(Text::slice(at, end));
                self.math_operand(|lexer| lexer.word(end, token))
            }
            _ => Err(self.wrong_in_brackets(at)),
        }
    }

    fn math_operand(&mut self, read: impl FnOnce(&mut Self) -> Result<Spanned>) -> Result<Spanned> {
        let word = read(self)?;
        self.previous = Previous::Operand;
        self.negations = 0;
        Ok(word)
    }

    fn negate(&mut self, at: usize) -> Result<Spanned> {
        self.negations += 1;
        if self.previous == Previous::Comparison {
            let hint = "put the negative operand into brackets";
            return Err(self.error(at, "a minus sign right behind a comparison or `dot`", hint));
        }
        if self.negations > NEGATIONS_MAX {
            return Err(self.error(at, "too many minus signs in a row", ""));
        }
        self.word(at + 1, Token::Negate)
    }

    fn operator(&mut self, at: usize) -> Result<Spanned> {
        let next = self.cursor.peek_at(at + 1);
        let simple = |function| (at + 1, Token::Operator(function));
        let (end, token) = match (self.cursor.peek(), next) {
            (b'+', _) => simple(MathFunction::Add),
            (b'-', _) => simple(MathFunction::Subtract),
            (b'*', _) => simple(MathFunction::Multiply),
            (b'/', _) => simple(MathFunction::Divide),
            (b'%', _) => simple(MathFunction::Modulo),
            (b'<', b'=') => return self.comparison(at + 2, MathFunction::LessEqual),
            (b'<', b' ' | b'\t') => return self.comparison(at + 1, MathFunction::Less),
            // A `<` also begins a name, as in `<first-name>`.
            (b'<', _) => {
                let message = "`<` without a blank behind it starts a name";
                return Err(self.error(at, message, "write a blank behind `<`"));
            }
            (b'>', b'=') => return self.comparison(at + 2, MathFunction::GreaterEqual),
            (b'>', _) => return self.comparison(at + 1, MathFunction::Greater),
            (b'=', b'=') => return self.comparison(at + 2, MathFunction::Equal),
            (b'!', b'=') => return self.comparison(at + 2, MathFunction::NotEqual),
            _ => return Err(self.error(at, "a single `=` or `!`", "write `==` or `!=`")),
        };
        self.word(end, token)
    }

    fn comparison(&mut self, end: usize, function: MathFunction) -> Result<Spanned> {
        let word = self.word(end, Token::Operator(function));
        self.previous = Previous::Comparison;
        word
    }
}
