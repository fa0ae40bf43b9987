//! Parses a request by recursive descent. Depth and number of tokens are bounded, so no text can
//! exhaust the stack or the memory. The first fault stops it, as in Dgraph.

use apollo_compiler::Name;
use apollo_compiler::ast::Type;
use hexgraph_base::types::stack;

use super::document::{
    ArgumentNode, DirectiveNode, Document, FieldNode, FragmentNode, InlineNode, OperationNode,
    SelectionNode, SpreadNode, ValueKind, ValueNode, VariableNode,
};
use super::tokens::{Lexer, QueryToken, TokenKind};
use crate::request::{GraphqlError, OperationKind, Position, RequestLimits};

type Parsed<T> = Result<T, GraphqlError>;

/// Parses a request text. O(length).
pub(in crate::request) fn parse<'t>(text: &'t str, limits: &RequestLimits) -> Parsed<Document<'t>> {
    let mut lexer = Lexer::new(text);
    let next = lexer.read();
    let mut parser = Parser {
        lexer,
        next,
        depth: 0,
        depth_max: limits.depth,
        tokens_left: limits.tokens,
        condition: None,
        document: Document::default(),
    };
    while parser.next.kind != TokenKind::End {
        parser.definition()?;
    }
    Ok(parser.document)
}

/// A text that is being parsed, with one token of lookahead.
struct Parser<'t> {
    lexer: Lexer<'t>,
    next: QueryToken<'t>,
    depth: usize,
    depth_max: usize,
    tokens_left: usize,
    /// The type of the fragment that selections are in directly.
    condition: Option<&'t str>,
    document: Document<'t>,
}

impl<'t> Parser<'t> {
    fn definition(&mut self) -> Parsed<()> {
        match self.next.kind {
            TokenKind::Mark(b'{') | TokenKind::Name("query" | "mutation" | "subscription") => {
                let operation = self.operation()?;
                self.document.operations.push(operation);
            }
            TokenKind::Name("fragment") => {
                let fragment = self.fragment()?;
                let number = self.document.fragments.len();
                self.document.fragment_numbers.entry(fragment.name).or_insert(number);
                self.document.fragments.push(fragment);
            }
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn operation(&mut self) -> Parsed<OperationNode<'t>> {
        let at = self.next.at;
        let mut operation = OperationNode {
            kind: OperationKind::Query,
            name: "",
            variables: Vec::new(),
            directives: Vec::new(),
            selections: Vec::new(),
            at,
        };
        if self.next.kind != TokenKind::Mark(b'{') {
            operation.kind = match self.name()? {
                "mutation" => OperationKind::Mutation,
                "subscription" => OperationKind::Subscription,
                _ => OperationKind::Query,
            };
            if let TokenKind::Name(_) = self.next.kind {
                operation.name = self.name()?;
            }
            operation.variables = self.between(b'(', b')', Self::variable_definition)?;
            operation.directives = self.directives()?;
        }
        operation.selections = self.selections()?;
        Ok(operation)
    }

    fn variable_definition(&mut self) -> Parsed<VariableNode<'t>> {
        let at = self.next.at;
        self.expect(b'$')?;
        let name = self.name()?;
        self.expect(b':')?;
        let ty = self.type_reference()?;
        let default = match self.skip(b'=')? {
            true => Some(self.value(true)?),
            false => None,
        };
        Ok(VariableNode { name, ty, default, directives: self.directives()?, at })
    }

    fn type_reference(&mut self) -> Parsed<Type> {
        let ty = if self.skip(b'[')? {
            let element = self.deeper(Self::type_reference)?;
            self.expect(b']')?;
            Type::List(Box::new(element))
        } else {
            Type::Named(Name::new_unchecked(self.name()?))
        };
        Ok(if self.skip(b'!')? { ty.non_null() } else { ty })
    }

    fn fragment(&mut self) -> Parsed<FragmentNode<'t>> {
        let at = self.next.at;
        self.name()?;
        let name = self.fragment_name()?;
        if self.next.kind != TokenKind::Name("on") {
            return Err(self.fault(format!("Expected \"on\", found {}", self.next.kind)));
        }
        self.name()?;
        let condition = self.name()?;
        let directives = self.directives()?;
        let selections = self.selections_on(Some(condition))?;
        Ok(FragmentNode { name, condition, directives, selections, at })
    }

    fn fragment_name(&mut self) -> Parsed<&'t str> {
        if self.next.kind == TokenKind::Name("on") {
            return Err(self.unexpected());
        }
        self.name()
    }

    fn selections(&mut self) -> Parsed<Vec<SelectionNode<'t>>> {
        if self.next.kind != TokenKind::Mark(b'{') {
            return Err(self.expected("{"));
        }
        self.advance()?;
        if self.next.kind == TokenKind::Mark(b'}') {
            return Err(self.fault("expected at least one definition, found }".to_owned()));
        }
        let mut selections = Vec::new();
        while !self.skip(b'}')? {
            selections.push(self.deeper(Self::selection)?);
        }
        Ok(selections)
    }

    /// Reads a selection set that is, or is not, that of a fragment on a type.
    fn selections_on(&mut self, condition: Option<&'t str>) -> Parsed<Vec<SelectionNode<'t>>> {
        // Fields know the fragment that they are in; the one around counts again after it.
        let around = std::mem::replace(&mut self.condition, condition);
        let selections = self.selections()?;
        self.condition = around;
        Ok(selections)
    }

    fn selection(&mut self) -> Parsed<SelectionNode<'t>> {
        if self.next.kind != TokenKind::Spread {
            return self.field().map(SelectionNode::Field);
        }
        self.advance()?;
        let at = self.next.at;
        match self.next.kind {
            TokenKind::Name(name) if name != "on" => {
                self.advance()?;
                let directives = self.directives()?;
                Ok(SelectionNode::Spread(SpreadNode { name, directives, at }))
            }
            _ => {
                let condition = match self.next.kind {
                    TokenKind::Name(_) => {
                        self.advance()?;
                        Some(self.name()?)
                    }
                    _ => None,
                };
                let directives = self.directives()?;
                // A fragment without a type inherits that of the enclosing one.
                let selections = self.selections_on(condition.or(self.condition))?;
                Ok(SelectionNode::Inline(InlineNode { condition, directives, selections, at }))
            }
        }
    }

    fn field(&mut self) -> Parsed<u32> {
        let at = self.next.at;
        let key = self.name()?;
        let name = if self.skip(b':')? { self.name()? } else { key };
        let arguments = self.between(b'(', b')', |parser| parser.argument(false))?;
        let directives = self.directives()?;
        let selections = match self.next.kind {
            TokenKind::Mark(b'{') => self.selections_on(None)?,
            _ => Vec::new(),
        };
        // Below the field its own type counts, and here the fragment that it is in.
        let on = self.condition;
        let id = u32::try_from(self.document.fields.len()).expect("fewer fields than tokens");
        let field = FieldNode { key, name, on, arguments, directives, selections, at };
        self.document.fields.push(field);
        Ok(id)
    }

    fn directives(&mut self) -> Parsed<Vec<DirectiveNode<'t>>> {
        let mut directives = Vec::new();
        while self.skip(b'@')? {
            let at = self.next.at;
            let name = self.name()?;
            let arguments = self.between(b'(', b')', |parser| parser.argument(false))?;
            directives.push(DirectiveNode { name, arguments, at });
        }
        Ok(directives)
    }

    fn argument(&mut self, constant: bool) -> Parsed<ArgumentNode<'t>> {
        let at = self.next.at;
        let name = self.name()?;
        self.expect(b':')?;
        let value = self.value(constant)?;
        Ok(ArgumentNode { name, value, at })
    }

    fn value(&mut self, constant: bool) -> Parsed<ValueNode<'t>> {
        let at = self.next.at;
        let kind = match &mut self.next.kind {
            TokenKind::Mark(b'[') => ValueKind::List(
                self.deeper(|p| p.between(b'[', b']', |parser| parser.value(constant)))?,
            ),
            TokenKind::Mark(b'{') => ValueKind::Object(
                self.deeper(|p| p.between(b'{', b'}', |parser| parser.argument(constant)))?,
            ),
            TokenKind::Mark(b'$') if !constant => {
                self.advance()?;
                ValueKind::Variable(self.name()?)
            }
            kind => {
                let kind = match kind {
                    TokenKind::Int(text) => ValueKind::Int(text),
                    TokenKind::Float(text) => ValueKind::Float(text),
                    TokenKind::String(text) => ValueKind::String(std::mem::take(text)),
                    TokenKind::Block(text) => ValueKind::String(std::mem::take(text).into()),
                    TokenKind::Name("true") => ValueKind::Boolean(true),
                    TokenKind::Name("false") => ValueKind::Boolean(false),
                    TokenKind::Name("null") => ValueKind::Null,
                    TokenKind::Name(text) => ValueKind::Enum(text),
                    _ => return Err(self.unexpected()),
                };
                self.advance()?;
                kind
            }
        };
        Ok(ValueNode { kind, at })
    }

    /// Reads items between two punctuators. There may be none, and the first punctuator may be
    /// missing.
    fn between<T>(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.skip(open)? {
            while !self.skip(close)? {
                items.push(item(self)?);
            }
        }
        Ok(items)
    }

    /// Parses a part one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        stack::require();
        self.depth += 1;
        if self.depth > self.depth_max {
            let message = format!("the request is nested deeper than {} levels", self.depth_max);
            return Err(self.fault(message));
        }
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    /// Reads a name.
    fn name(&mut self) -> Parsed<&'t str> {
        match self.next.kind {
            TokenKind::Name(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => Err(self.expected("Name")),
        }
    }

    /// Reads a punctuator that must be next.
    fn expect(&mut self, mark: u8) -> Parsed<()> {
        if self.skip(mark)? { Ok(()) } else { Err(self.expected(&char::from(mark).to_string())) }
    }

    /// Reads a punctuator if it is next, and says whether it was.
    fn skip(&mut self, mark: u8) -> Parsed<bool> {
        let result = self.next.kind == TokenKind::Mark(mark);
        if result {
            self.advance()?;
        }
        Ok(result)
    }

    /// Reads the next token. Counting them bounds the memory of the tree.
    fn advance(&mut self) -> Parsed<()> {
        if self.tokens_left == 0 {
            return Err(self.fault("the request has too many tokens".to_owned()));
        }
        self.tokens_left -= 1;
        self.next = self.lexer.read();
        Ok(())
    }

    /// Makes the fault that something else was expected than the next token.
    fn expected(&self, what: &str) -> GraphqlError {
        match &self.next.kind {
            TokenKind::Invalid(reason) => self.fault(reason.clone()),
            result => self.fault(format!("Expected {what}, found {}", result.word())),
        }
    }

    /// Makes the fault that the next token fits nowhere.
    fn unexpected(&self) -> GraphqlError {
        match &self.next.kind {
            TokenKind::Invalid(reason) => self.fault(reason.clone()),
            result => self.fault(format!("Unexpected {result}")),
        }
    }

    fn fault(&self, message: String) -> GraphqlError {
        let at: Position = self.next.at;
        GraphqlError::at(at, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let fault = parse(text, &RequestLimits::default()).unwrap_err();
        let at = fault.positions[0];
        format!("{}:{} {}", at.line, at.column, fault.message)
    }

    #[test]
    fn parses_everything() {
        let text = "query Q($a: [Int!]! = [1], $b: T @x) @c(maxAge: 1) { k: f(a: $a, o: {p: [null, E]}) @d \
                    { ...F @i ... on T { x } ... { y } } } fragment F on T { z }";
        let document = parse(text, &RequestLimits::default()).unwrap();
        assert_eq!(document.operations[0].variables[0].ty.to_string(), "[Int!]!");
        assert_eq!(document.fragments[0].name, "F");
        let names: Vec<&str> = document.fields.iter().map(|field| field.name).collect();
        assert_eq!(names, ["x", "y", "f", "z"]);
        let argument = &document.fields[2].arguments[1];
        assert_eq!(argument.to_string(), "o:{p:[null,E]}");
    }

    #[test]
    fn faults_name_the_unexpected_token() {
        assert_eq!(fault("{ a"), "1:4 Expected Name, found <EOF>");
        assert_eq!(fault("{ a(b:) }"), "1:7 Unexpected )");
        assert_eq!(fault("{ }"), "1:3 expected at least one definition, found }");
        assert_eq!(fault("query { a } x"), "1:13 Unexpected Name \"x\"");
        assert_eq!(fault("query Q"), "1:8 Expected {, found <EOF>");
        assert_eq!(fault("{ a(b: \"x) }"), "1:13 Unterminated string.");
        assert_eq!(fault("query($a: Int = $b) { a }"), "1:17 Unexpected $");
    }

    #[test]
    fn depth_and_tokens_are_bounded() {
        assert!(fault(&"{a".repeat(100_000)).contains("nested deeper"));
        assert!(fault(&format!("{{ a(b: {}", "[".repeat(100_000))).contains("nested deeper"));
        assert!(fault(&format!("query($a: {}", "[".repeat(100_000))).contains("nested deeper"));
        let text = format!("{{ {} }}", "a ".repeat(2_000_000));
        assert!(fault(&text).contains("too many tokens"));
    }
}
