//! Lowers a schema request: `schema(pred: [...]) { ... }`.

use super::request::Lowering;
use crate::syntax::ast::{Operation, SchemaBlock, Value};
use hexgraph_base::plan::SchemaRequest;
use hexgraph_base::types::Result;

const ALONE: &str = "send each in its own request";

impl<'a> Lowering<'a> {
    /// Returns the schema request among the operations, if there is one. Blocks after it are
    /// ignored.
    pub(super) fn schema(&self, operations: &'a [Operation]) -> Result<Option<SchemaRequest>> {
        let is_schema = |operation: &Operation| matches!(operation, Operation::Schema(_));
        let Some(index) = operations.iter().position(is_schema) else { return Ok(None) };
        let Operation::Schema(block) = &operations[index] else { return Ok(None) };
        let before = &operations[..index];
        let has_query =
            before.iter().any(|other| matches!(other, Operation::Blocks(_) | Operation::Query(_)));
        if has_query {
            let message = "a schema block can't be combined with a query";
            return Err(self.error_with(block.at, message, ALONE));
        }
        for other in &operations[index + 1..] {
            match other {
                Operation::Schema(second) => {
                    let message = "only one schema block is allowed";
                    return Err(self.error_with(second.at, message, ALONE));
                }
                Operation::Query(query) => {
                    let message = "a query can't be combined with a schema block";
                    return Err(self.error_with(query.at, message, ALONE));
                }
                _ => {}
            }
        }
        self.schema_block(block).map(Some)
    }

    fn schema_block(&self, block: &'a SchemaBlock) -> Result<SchemaRequest> {
        let fields = block.fields.iter().map(|field| self.text(field).to_owned()).collect();
        let mut request = SchemaRequest { fields, ..SchemaRequest::default() };
        let Some(argument) = &block.argument else { return Ok(request) };
        let names = match &argument.value {
            Value::List(_, values) => values.iter().map(|value| self.schema_name(value)).collect(),
            value => self.schema_name(value).map(|name| vec![name]),
        };
        let names = names.map_err(|()| {
            let hint = "write `schema(pred: [name, age]) {}`";
            self.error_with(argument.key.start, "a schema block takes names", hint)
        })?;
        match self.text(&argument.key).to_ascii_lowercase().as_str() {
            "pred" | "preds" => request.predicates = Some(names),
            "type" | "types" => request.types = Some(names),
            key => {
                let message = format!("`{key}` is no key of a schema block");
                let hint = "expected `pred` or `type`";
                return Err(self.error_with(argument.key.start, message, hint));
            }
        }
        Ok(request)
    }

    fn schema_name(&self, value: &'a Value) -> std::result::Result<String, ()> {
        match value {
            Value::Word(name, None) => Ok(self.text(name).to_owned()),
            _ => Err(()),
        }
    }
}
