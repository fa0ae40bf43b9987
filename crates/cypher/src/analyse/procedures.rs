//! Calls of procedures: their arguments, and the columns that they bind.

use super::analyser::{Analyser, Checked};
use super::kinds::{Kind, Kinds};
use super::scope::Slot;
use crate::error::{Code, Fault};
use crate::procedures::{
    AlgorithmRequest, NamedProcedure, OptionFault, OptionKind, Procedure, literal, named, names_of,
};
use crate::span::Span;
use crate::syntax::ast::{Expr, ExprKind, Name, ProcedureCall, Yields};
use hexgraph_base::plan::{ArgumentKind, ResultKind};
use hexgraph_base::types::Position;
use rustc_hash::FxHashSet;

const NAMES: Kinds = Kinds::STRING.or(Kinds::LIST);
const NODES: Kinds = Kinds::NODE.or(Kinds::LIST).or(Kinds::INTEGER).or(Kinds::STRING);

impl<'a> Analyser<'a> {
    /// A call of a procedure. Where `is_alone`, it is the query and gives its columns.
    pub(super) fn procedure(
        &mut self,
        call: &'a ProcedureCall,
        is_alone: bool,
    ) -> Checked<Vec<(&'a str, Slot)>> {
        let procedure = named(&call.name.text)
            .map_err(|it| fault(Code::UnknownProcedure, call.name.span, it))?;
        match procedure {
            NamedProcedure::Algorithm(signature) => self.procedure_arguments(call, signature)?,
            NamedProcedure::Names(_) => require_no_arguments(call)?,
        }
        let columns = match &call.yields {
            Yields::Items(items) => self.yielded(items, procedure)?,
            Yields::Absent | Yields::All if is_alone => {
                let mut columns = Vec::new();
                for (name, kind) in columns_of(procedure) {
                    let slot = self.scopes.create(kind);
                    self.scopes.current().insert(name, slot);
                    columns.push((name, slot));
                }
                columns
            }
            other => return Err(unnamed_columns(call, procedure, other)),
        };
        if let Some(filter) = &call.filter {
            self.condition(filter, "`WHERE`")?;
        }
        Ok(if is_alone { columns } else { Vec::new() })
    }

    fn yielded(
        &mut self,
        items: &'a [(Name, Option<Name>)],
        procedure: NamedProcedure,
    ) -> Checked<Vec<(&'a str, Slot)>> {
        let columns = columns_of(procedure);
        let mut bound = Vec::with_capacity(items.len());
        for (field, alias) in items {
            let index = procedure
                .column(&field.text)
                .map_err(|it| fault(Code::UnknownName, field.span, it))?;
            let name = alias.as_ref().unwrap_or(field);
            bound.push((&*name.text, self.bind_new(name, columns[index].1.clone())?));
        }
        Ok(bound)
    }

    fn procedure_arguments(
        &mut self,
        call: &'a ProcedureCall,
        signature: Procedure,
    ) -> Checked<()> {
        let arguments = call.arguments.as_deref().unwrap_or_default();
        let (Some(types), None) = (arguments.first(), arguments.get(2)) else {
            let (name, count) = (signature.name(), arguments.len());
            let message = format!("`{name}` has 1 or 2 arguments, and here are {count}");
            let hint = format!(
                "write `CALL {name}('TYPE')`, or `CALL {name}(['A', 'B'], {{option: value}})`"
            );
            let fault = Fault::new(Code::InvalidNumberOfArguments, call.name.span, message);
            return Err(fault.with_hint(hint));
        };
        let kind = self.argument(types)?;
        self.require_types(&kind, types)?;
        match arguments.get(1) {
            None => self.options(call, &[], signature),
            Some(Expr { kind: ExprKind::Map(entries), .. }) => {
                self.options(call, entries, signature)
            }
            Some(options) => {
                let kind = self.argument(options)?;
                self.require(&kind, Kinds::MAP, options.span, "the second argument")
            }
        }
    }

    fn argument(&mut self, argument: &'a Expr) -> Checked<Kind> {
        self.without_aggregates("an argument of `CALL`", |it| it.expr(argument))
    }

    /// The types of relationships: a string, or a list of strings that is not empty.
    fn require_types(&self, kind: &Kind, types: &Expr) -> Checked<()> {
        self.require(kind, NAMES, types.span, "the first argument")?;
        let is_refused = literal(types).is_some_and(|it| names_of(&it).is_none());
        if !is_refused && Kinds::STRING.accepts(&element_of(kind)) {
            return Ok(());
        }
        let message = "the first argument names no type of relationships";
        let fault = Fault::new(Code::InvalidArgumentType, types.span, message);
        Err(fault.with_hint("write a string, or a list of strings"))
    }

    /// Options that the text names. Values that it has are checked, others when they are computed.
    fn options(
        &mut self,
        call: &ProcedureCall,
        entries: &'a [(Name, Expr)],
        signature: Procedure,
    ) -> Checked<()> {
        let mut request = AlgorithmRequest::new(signature, Position::default());
        let mut seen = FxHashSet::default();
        for (name, value) in entries {
            let option = signature
                .option(&name.text)
                .map_err(|it| fault(Code::UnknownName, name.span, it))?;
            if !seen.insert(&*name.text) {
                let message = format!("the option `{}` is there twice", name.text);
                return Err(Fault::new(Code::InvalidArgumentType, name.span, message)
                    .with_hint("leave one out"));
            }
            let kind = self.argument(value)?;
            self.require(&kind, kinds_of(option), value.span, &format!("`{}`", name.text))?;
            if let Some(constant) = literal(value) {
                let set = request.set(&name.text, &constant);
                set.map_err(|it| fault(Code::InvalidArgumentType, value.span, it))?;
            }
        }
        match request.missing(|name| seen.contains(name)) {
            Some(missing) => Err(fault(Code::InvalidArgumentType, call.name.span, missing)),
            None => Ok(()),
        }
    }
}

/// The kind of a list's elements, or of a value that is no list.
fn element_of(kind: &Kind) -> Kind {
    match kind {
        Kind::List(_) => kind.element(),
        other => other.clone(),
    }
}

fn kinds_of(option: OptionKind) -> Kinds {
    match option {
        OptionKind::Weight => Kinds::STRING,
        OptionKind::Labels => NAMES,
        OptionKind::Argument(kind) => match kind {
            ArgumentKind::Int { .. } => Kinds::INTEGER,
            ArgumentKind::Float { .. } => Kinds::NUMBER,
            ArgumentKind::Bool { .. } => Kinds::BOOLEAN,
            ArgumentKind::Choice(_) => Kinds::STRING,
            ArgumentKind::Numbers { .. } => Kinds::NUMBER.or(Kinds::LIST),
            ArgumentKind::Nodes { .. } => NODES,
            ArgumentKind::Groups => NAMES,
        },
    }
}

fn require_no_arguments(call: &ProcedureCall) -> Checked<()> {
    let (name, count) = (&call.name.text, call.arguments.as_deref().unwrap_or_default().len());
    if count == 0 {
        return Ok(());
    }
    let message = format!("`{name}` has no arguments, and here are {count}");
    let fault = Fault::new(Code::InvalidNumberOfArguments, call.name.span, message);
    Err(fault.with_hint(format!("write `CALL {name}()`")))
}

/// The columns of a procedure with their kinds.
fn columns_of(procedure: NamedProcedure) -> Vec<(&'static str, Kind)> {
    match procedure {
        NamedProcedure::Algorithm(signature) => {
            signature.columns().into_iter().map(|it| (it.name, kind_of(it.kind))).collect()
        }
        NamedProcedure::Names(list) => vec![(list.column(), Kind::String)],
    }
}

fn kind_of(column: ResultKind) -> Kind {
    match column {
        ResultKind::Node => Kind::Node,
        ResultKind::Nodes => Kind::list(Kind::Node),
        ResultKind::Int => Kind::Integer,
        ResultKind::Float => Kind::Float,
        ResultKind::Floats => Kind::list(Kind::Float),
    }
}

fn fault(code: Code, span: Span, it: OptionFault) -> Fault {
    Fault::new(code, span, it.message).with_hint(it.hint)
}

/// Within a query the columns have to be named.
fn unnamed_columns(call: &ProcedureCall, procedure: NamedProcedure, yields: &Yields) -> Fault {
    let (code, message) = match yields {
        Yields::All => {
            (Code::UnexpectedSyntax, "`YIELD *` is possible only where `CALL` is the entire query")
        }
        _ => (Code::InvalidClauseComposition, "`CALL` within a query needs `YIELD`"),
    };
    let columns = procedure.columns().join(", ");
    let fault = Fault::new(code, call.name.span, message);
    fault.with_hint(format!("name the columns: `YIELD {columns}`"))
}
