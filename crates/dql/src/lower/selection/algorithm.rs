//! Lowers the blocks of algorithms: `rank as pagerank(damping: 0.85) { follows }`.
//!
//! The name of an algorithm is no keyword. A block that is named so is one of an algorithm where it
//! has no function and could be nothing else: it has arguments, or its selection begins with a
//! predicate. Both are errors in any other block without a function.

use super::aggregate::empty_block_holds;
use super::fields::FieldContext;
use super::modifiers::Modifiers;
use crate::lower::arguments::number;
use crate::lower::request::Lowering;
use crate::syntax::ast::{self, Argument, Head, Item, Suffix, Value};
use crate::syntax::token::Text;
use hexgraph_base::plan::{
    Algorithm, AlgorithmCall, ArgumentKind, ArgumentValue, Block, BlockKind, COMMON_ARGUMENTS,
    Call, Direction, Field, FieldKind, GroupsBy, NUMBERS_MAX, NodeList, Order, Page, algorithm,
    nearest_algorithm,
};
use hexgraph_base::types::{Error, Result, nearest};
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// The algorithm that a block is about; `None` for any other block.
    pub(in crate::lower) fn algorithm_of(
        &self,
        block: &'a ast::Block,
    ) -> Option<&'static Algorithm> {
        let algorithm = algorithm(self.text(&block.name))?;
        if block.arguments.iter().any(|argument| self.text(&argument.key) == "func") {
            return None;
        }
        (first_predicate(block).is_some() || !block.arguments.is_empty()).then_some(algorithm)
    }

    /// Errors of a block that is one of no algorithm, but looks like one: it has no function, and
    /// its selection begins with a predicate, but there is no algorithm of its name, or only
    /// nearly.
    pub(super) fn misspelt_algorithm(&self, block: &'a ast::Block) -> Option<Error> {
        let name = self.text(&block.name);
        let is_function = |argument: &Argument| {
            nearest(self.text(&argument.key), std::iter::once("func")).is_some()
        };
        if name == "shortest" || block.arguments.iter().any(is_function) {
            return None;
        }
        first_predicate(block)?;
        let near = nearest_algorithm(name)?;
        let message = format!("there is no algorithm `{name}`");
        Some(self.error_with(block.name.start, message, format!("did you mean `{near}`?")))
    }

    /// Errors of a block without a function and without arguments, whose selection begins with a
    /// predicate. `None` for one that says so itself.
    pub(super) fn no_algorithm(&self, block: &'a ast::Block) -> Option<Error> {
        if let Some(misspelt) = self.misspelt_algorithm(block) {
            return Some(misspelt);
        }
        let (name, (at, predicate)) = (self.text(&block.name), first_predicate(block)?);
        // `var` is the name of blocks that are not shown.
        if name == "var" {
            return None;
        }
        let message = format!("found `{}` in a block without a function", self.text(predicate));
        let hint = format!("{}, and there is no algorithm `{name}`", empty_block_holds());
        Some(self.error_with(at, message, hint))
    }

    /// Lowers the block of an algorithm. Its variable is defined already.
    pub(super) fn algorithm_block(
        &mut self,
        block: &'a ast::Block,
        algorithm: &'static Algorithm,
    ) -> Result<Block> {
        let at = block.name.start;
        let name = self.text(&block.name);
        let var = block.var.as_ref().map(|var| self.define(var));
        if let (Some(_), Some((message, hint))) = (var, algorithm.gives.fits_no_variable()) {
            return Err(self.error_with(at, format!("`{name}` gives {message}"), hint));
        }
        let call = self.algorithm_call(block, algorithm)?;
        let mut modifiers = Modifiers::default();
        for directive in &block.directives {
            if let Suffix::Directive(at, directive) = directive {
                self.directive(*at, directive, true, &mut modifiers)?;
            }
        }
        let filter = modifiers.filter.take().flatten();
        if !modifiers.is_plain() {
            let message = format!("`{name}` takes no directive but `@filter`");
            return Err(self.error_with(
                at,
                message,
                "order and page the nodes where they are shown",
            ));
        }
        let fields =
            self.selection(block.body.as_deref().unwrap_or_default(), FieldContext::default())?;
        if fields.is_empty() {
            let message = format!("`{name}` without edges");
            return Err(self.error_with(
                at,
                message,
                format!("name their predicate: `{name}(...) {{ follows }}`"),
            ));
        }
        fields.iter().try_for_each(|field| check_edges(field, algorithm))?;
        Ok(Block {
            name: name.to_owned(),
            at: self.source.position(at),
            kind: BlockKind::Algorithm(Box::new(call)),
            var,
            root: None,
            filter,
            order: Order::default(),
            page: Page::default(),
            cascade: None,
            normalize: false,
            ignore_reflex: false,
            recurse: None,
            group_by: None,
            fields,
            has_body: true,
            is_aggregated: false,
            reads: super::block::sorted(&self.reads),
            defines: super::block::sorted(&self.defines),
        })
    }

    /// Lowers the arguments of an algorithm.
    fn algorithm_call(
        &mut self,
        block: &'a ast::Block,
        algorithm: &'static Algorithm,
    ) -> Result<AlgorithmCall> {
        let mut call = AlgorithmCall::new(algorithm);
        let mut seen: Vec<&str> = Vec::with_capacity(block.arguments.len());
        for argument in &block.arguments {
            let key = self.text(&argument.key);
            if seen.contains(&key) {
                return Err(self.repeated(argument));
            }
            seen.push(key);
            self.algorithm_argument(argument, &mut call)?;
        }
        for (argument, given) in algorithm.arguments.iter().zip(&call.given) {
            if argument.kind.is_required() && given.is_none() {
                let message = format!("`{}` without `{}`", algorithm.name, argument.name);
                let hint = match argument.kind {
                    ArgumentKind::Groups => {
                        "write `groups: val(x)`, or `groups: team` for the values of a predicate"
                            .to_owned()
                    }
                    _ => format!("write `{0}: 0x1` or `{0}: uid(x)`", argument.name),
                };
                return Err(self.error_with(block.name.start, message, hint));
            }
        }
        Ok(call)
    }

    fn algorithm_argument(
        &mut self,
        argument: &'a Argument,
        call: &mut AlgorithmCall,
    ) -> Result<()> {
        let Argument { key, value } = argument;
        let (at, name) = (key.start, self.text(key));
        if let Some(context) = call.algorithm.argument(name) {
            let kind = call.algorithm.arguments[context].kind;
            call.given[context] = Some(self.argument_value(argument, kind)?);
            return Ok(());
        }
        let Some(common) = COMMON_ARGUMENTS.iter().find(|it| it.name == name) else {
            return Err(self.no_such_argument(at, name, call.algorithm));
        };
        match (name, self.argument_value(argument, common.kind)?) {
            ("nodes", ArgumentValue::Nodes(list)) => call.nodes = Some(list),
            ("threads", ArgumentValue::Int(threads)) => call.threads = Some(threads as usize),
            ("seed", ArgumentValue::Int(seed)) => call.seed = seed as u64,
            (_, ArgumentValue::Word(word)) => {
                call.direction = self.direction_of(at, word, call.algorithm)?
            }
            _ => return Err(self.wrong_value(at, name, value, "a value of its type")),
        }
        Ok(())
    }

    /// The direction of a word, if the algorithm supports it.
    fn direction_of(&self, at: u32, word: &str, algorithm: &Algorithm) -> Result<Direction> {
        let all = [Direction::Out, Direction::In, Direction::Both];
        let requested = all.into_iter().find(|direction| direction.name() == word);
        if let Some(direction) =
            requested.filter(|requested| algorithm.directions.contains(requested))
        {
            return Ok(direction);
        }
        let existing = algorithm.directions.iter().map(|direction| direction.name());
        let existing = existing.collect::<Vec<_>>().join(", ");
        let message = format!("`{}` can't follow edges with `direction: {word}`", algorithm.name);
        Err(self.error_with(at, message, format!("it knows: {existing}")))
    }

    fn argument_value(
        &mut self,
        argument: &'a Argument,
        kind: ArgumentKind,
    ) -> Result<ArgumentValue> {
        let Argument { key, value } = argument;
        let (at, name) = (key.start, self.text(key));
        match kind {
            ArgumentKind::Nodes { .. } => {
                return self.node_list(argument).map(ArgumentValue::Nodes);
            }
            ArgumentKind::Groups => return self.groups_by(argument).map(ArgumentValue::Groups),
            ArgumentKind::Numbers { least, most, is_integer, .. } => {
                let range = (least, most, is_integer);
                return self.number_list(argument, range).map(ArgumentValue::Numbers);
            }
            _ => {}
        }
        let text = self.scalar(at, value)?;
        match kind {
            ArgumentKind::Int { least, most, .. } => {
                let number = number::int(text).filter(|number| (least..=most).contains(number));
                let range = || match most {
                    i64::MAX => format!("an integer from {least} on"),
                    _ => format!("an integer from {least} to {most}"),
                };
                let number = number.ok_or_else(|| self.wrong_value(at, name, value, &range()))?;
                Ok(ArgumentValue::Int(number))
            }
            ArgumentKind::Float { least, most, .. } => {
                // NaN is in no range, and an infinite number is beyond `f64::MAX`.
                let number = text.parse::<f64>().ok().filter(|it| (least..=most).contains(it));
                let range = || match most {
                    f64::MAX => format!("a number from {least} on"),
                    _ => format!("a number from {least} to {most}"),
                };
                let number = number.ok_or_else(|| self.wrong_value(at, name, value, &range()))?;
                Ok(ArgumentValue::Float(number))
            }
            ArgumentKind::Bool { .. } => {
                let truth = number::boolean(text);
                truth
                    .map(ArgumentValue::Bool)
                    .ok_or_else(|| self.wrong_value(at, name, value, "true or false"))
            }
            ArgumentKind::Choice(words) => {
                let word = words.iter().find(|word| **word == text);
                word.map(|word| ArgumentValue::Word(word)).ok_or_else(|| {
                    self.wrong_value(at, name, value, &format!("one of {}", words.join(", ")))
                })
            }
            // These have returned above, since their values are not one text.
            ArgumentKind::Nodes { .. } | ArgumentKind::Groups | ArgumentKind::Numbers { .. } => {
                Err(self.wrong_value(at, name, value, "a value of its type"))
            }
        }
    }

    /// Numbers: one, or a list of them.
    fn number_list(
        &self,
        argument: &'a Argument,
        (least, most, is_integer): (f64, f64, bool),
    ) -> Result<Vec<f64>> {
        let Argument { key, value } = argument;
        let (at, name) = (key.start, self.text(key));
        let items = match value {
            Value::List(_, items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        if !(1..=NUMBERS_MAX).contains(&items.len()) {
            let message = format!("`{name}` has {} numbers", items.len());
            let hint = format!("expected 1 to {NUMBERS_MAX}, such as `{name}: [2, 1]`");
            return Err(self.error_with(at, message, hint));
        }
        let number = |item: &'a Value| {
            let number = self.scalar(at, item)?.parse::<f64>().ok();
            let number = number.filter(|number| (least..=most).contains(number));
            number.filter(|number| !is_integer || number.fract() == 0.0).ok_or_else(|| {
                let kind = if is_integer { "integers" } else { "numbers" };
                self.wrong_value(at, name, item, &format!("{kind} from {least} to {most}"))
            })
        };
        items.iter().map(number).collect()
    }

    /// What identifies groups: `val(x)`, or a predicate.
    fn groups_by(&mut self, argument: &'a Argument) -> Result<GroupsBy> {
        let Argument { key, value } = argument;
        match value {
            Value::Call(call) if self.text(&call.name).eq_ignore_ascii_case("val") => {
                if let [Value::Word(variable, None)] = call.arguments.as_slice() {
                    return Ok(GroupsBy::Var(self.read(variable)));
                }
            }
            Value::Word(predicate, langs) => {
                let langs = langs.as_ref().map(|langs| self.langs(langs)).transpose()?;
                let predicate = self.text(predicate).to_owned();
                return Ok(GroupsBy::Predicate(predicate, langs.unwrap_or_default()));
            }
            _ => {}
        }
        let name = self.text(key);
        let hint =
            format!("write `{name}: val(x)`, or `{name}: team` for the values of a predicate");
        Err(self.error_with(key.start, format!("`{name}` takes a variable or a predicate"), hint))
    }

    /// Nodes: `uid(x, 0x1)`, a uid, or a list of uids.
    fn node_list(&mut self, argument: &'a Argument) -> Result<NodeList> {
        let Argument { key, value } = argument;
        match value {
            Value::Call(call) if self.text(&call.name).eq_ignore_ascii_case("uid") => {
                match self.uid(call)? {
                    Call::Uid { uids, vars } => Ok(NodeList { uids, vars }),
                    _ => Ok(NodeList::default()),
                }
            }
            Value::List(_, values) => {
                let uids = values.iter().map(|value| self.one_uid(argument, value));
                let mut uids = uids.collect::<Result<Vec<u64>>>()?;
                // The plan requires them ascending, as `uid(...)` gives them.
                uids.sort_unstable();
                Ok(NodeList { uids, vars: Vec::new() })
            }
            Value::Word(..) | Value::Quoted(_) | Value::Variable(_) => {
                Ok(NodeList { uids: vec![self.one_uid(argument, value)?], vars: Vec::new() })
            }
            _ => {
                let name = self.text(key);
                let hint = format!("write `{name}: uid(x)`, where `x` is a variable of nodes");
                Err(self.error_with(key.start, format!("`{name}` takes nodes"), hint))
            }
        }
    }

    fn one_uid(&self, argument: &'a Argument, value: &'a Value) -> Result<u64> {
        let (at, name) = (argument.key.start, self.text(&argument.key));
        let text = self.scalar(at, value)?;
        number::uint(text).ok_or_else(|| {
            let hint = format!("write `{name}: 0x1` or `{name}: uid(x)`");
            self.error_with(at, format!("`{name}: {text}` is no uid"), hint)
        })
    }

    fn wrong_value(&self, at: u32, name: &str, value: &'a Value, expected: &str) -> Error {
        let text = self.scalar(at, value).unwrap_or("...");
        self.error_with(
            at,
            format!("`{name}: {text}` is out of range"),
            format!("expected {expected}"),
        )
    }

    fn no_such_argument(&self, at: u32, name: &str, algorithm: &Algorithm) -> Error {
        let existing: Vec<&str> = algorithm.argument_names().collect();
        let near = match name {
            // As it is called in Python, where `from` is a keyword.
            "from_nodes" if existing.contains(&"from") => Some("did you mean `from`?".to_owned()),
            "weight" if algorithm.takes_weights => {
                Some("write the facet behind the predicate: `follows @facets(weight)`".to_owned())
            }
            _ => nearest(name, existing.iter().copied())
                .map(|near| format!("did you mean `{near}`?")),
        };
        let existing = format!("it has {}", existing.join(", "));
        let hint = near.map_or(existing.clone(), |near| format!("{near}; {existing}"));
        self.error_with(at, format!("`{name}` is no argument of `{}`", algorithm.name), hint)
    }
}

/// The predicate that the selection of a block begins with, and where it stands.
fn first_predicate(block: &ast::Block) -> Option<(u32, &Text)> {
    match block.body.as_deref().unwrap_or_default().first() {
        Some(Item::Field(field)) => match &field.head {
            Head::Predicate(name) => Some((field.at, name)),
            _ => None,
        },
        _ => None,
    }
}

/// Refuses what says nothing of the edges of a graph.
fn check_edges(field: &Arc<Field>, algorithm: &Algorithm) -> Result<()> {
    let refuse =
        |message: String, hint: &str| Err(Error::syntax(field.at, message).with_hint(hint));
    let name = algorithm.name;
    let is_edges = matches!(&field.kind, FieldKind::Predicate { langs, .. } if langs.is_empty());
    if !is_edges {
        let message = format!("found `{}` in the block of `{name}`", field.key);
        return refuse(message, "it holds predicates of edges, such as `follows` and `~follows`");
    }
    let is_bare = field.alias.is_none()
        && field.var.is_none()
        && !field.has_body
        && field.order.is_empty()
        && field.page.is_all()
        && field.facet_filter.is_none()
        && field.cascade.is_none()
        && !field.normalize
        && field.group_by.is_none();
    if !is_bare {
        let message = format!("`{}` in the block of `{name}` has more than edges have", field.key);
        return refuse(
            message,
            "there it takes `@filter` of the far end and `@facets(weight)` alone",
        );
    }
    let Some(facets) = &field.facets else { return Ok(()) };
    let is_one = facets.items.len() == 1
        && !facets.all
        && facets.order.is_empty()
        && facets.items.iter().all(|item| item.var.is_none() && item.alias.is_none());
    if !is_one {
        let message = "the weight of an edge is one facet".to_owned();
        return refuse(message, "name it: `@facets(weight)`");
    }
    if !algorithm.takes_weights {
        return refuse(format!("`{name}` has no use for weights"), "remove `@facets(...)`");
    }
    Ok(())
}
