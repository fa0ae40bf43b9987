//! `POST /alter`.

use crate::http::app::App;
use crate::http::message::incoming::Incoming;
use crate::http::message::reply::Reply;
use crate::http::metrics::Refused;
use hexgraph::db::{Database, Drop, RequestContext, SchemaReport};
use hexgraph_base::types::{Error, Result as EngineResult};
use serde_json::{Map, Value};

/// Changes the schema, or drops something.
pub(in crate::http) fn answer(app: &App, incoming: &Incoming, control: &RequestContext) -> Reply {
    if let Some(refusal) = app.security.refusal(incoming) {
        return Reply::internal_error(&refusal).counted_as(Refused::KEY);
    }
    if let Some(refusal) = app.switches.refusal() {
        return Reply::error(&refusal);
    }
    let database = app.database_for(incoming);
    // What begins so may be an operation, and is read as JSON first.
    if incoming.bytes().trim_ascii_start().starts_with(b"{")
        && let Err(error) = incoming.reserve_json(1)
    {
        control.note_starved();
        return Reply::error(&error);
    }
    let done = incoming.text().map_err(Error::query).and_then(|text| run(&database, text, control));
    match done {
        Ok(report) => Reply::altered(&report),
        Err(error) => Reply::error(&error),
    }
}

/// A body that is no operation in JSON is the text of a schema.
fn run(database: &Database, body: &str, control: &RequestContext) -> EngineResult<SchemaReport> {
    let operation = match serde_json::from_str::<Value>(body) {
        Ok(Value::Object(members)) => Operation::read(&members),
        _ => None,
    };
    match operation {
        _ if body.is_empty() => Err(Error::query(NOTHING_SET)),
        None => database.alter_with(body, control),
        Some(operation) => operation.execute(database, control),
    }
}

const NOTHING_SET: &str =
    "nothing to do (send a schema text, or `{\"drop_all\": true}` and its like)";

/// An operation as Dgraph defines it; names are in either spelling.
#[derive(Default)]
pub(in crate::http) struct Operation {
    /// Definitions to set.
    pub schema: String,
    /// A predicate to drop.
    pub drop_attr: String,
    /// Whether everything is to be dropped.
    pub drop_all: bool,
    /// What is to be dropped.
    pub drop_op: DropOp,
    /// The name of what is to be dropped.
    pub drop_value: String,
}

/// Why an operation does not say what to drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum DropError {
    #[error("`drop_all` and `drop_op` exclude each other (leave one of them out)")]
    AllAndData,
    #[error("`drop_op` DATA drops all data (leave out `drop_value`)")]
    DataOfOne,
    #[error("`drop_op` ATTR without a predicate (write its name as `drop_value`)")]
    NoPredicate,
    #[error("`drop_op` TYPE without a type (write its name as `drop_value`)")]
    NoType,
}

/// What an operation drops.
#[derive(Clone, Copy, Default, PartialEq)]
pub(in crate::http) enum DropOp {
    /// Nothing.
    #[default]
    None,
    /// Data and schema.
    All,
    /// All data.
    Data,
    /// A predicate.
    Attr,
    /// A type.
    Type,
}

impl Operation {
    /// Changes the schema, or drops something.
    ///
    /// # Errors
    ///
    /// As [`Database::alter_with`] and [`Database::drop`].
    pub(in crate::http) fn execute(
        &self,
        database: &Database,
        control: &RequestContext,
    ) -> EngineResult<SchemaReport> {
        match self.drop().map_err(Error::query)? {
            Some(drop) => database.drop(&drop).map(|()| SchemaReport::default()),
            None if self.schema.is_empty() => Err(Error::query(NOTHING_SET)),
            None => database.alter_with(&self.schema, control),
        }
    }

    /// `None` when a member is unknown or of a wrong type.
    fn read(members: &Map<String, Value>) -> Option<Operation> {
        let mut operation = Operation::default();
        for (name, value) in members {
            match name.as_str() {
                "schema" => operation.schema = value.as_str()?.to_owned(),
                "drop_attr" | "dropAttr" => operation.drop_attr = value.as_str()?.to_owned(),
                "drop_all" | "dropAll" => operation.drop_all = value.as_bool()?,
                "drop_op" | "dropOp" => operation.drop_op = DropOp::read(value)?,
                "drop_value" | "dropValue" => operation.drop_value = value.as_str()?.to_owned(),
                "run_in_background" | "runInBackground" => drop(value.as_bool()?),
                _ => return None,
            }
        }
        Some(operation)
    }

    fn drop(&self) -> Result<Option<Drop>, DropError> {
        let drops_all = self.drop_all || self.drop_op == DropOp::All;
        if drops_all && self.drop_op == DropOp::Data {
            return Err(DropError::AllAndData);
        }
        if drops_all {
            return Ok(Some(Drop::All));
        }
        let value = self.drop_value.clone();
        match self.drop_op {
            DropOp::Data if !value.is_empty() => Err(DropError::DataOfOne),
            DropOp::Data => Ok(Some(Drop::Data)),
            DropOp::Attr if value.is_empty() => Err(DropError::NoPredicate),
            DropOp::Attr => Ok(Some(Drop::Predicate(value))),
            DropOp::Type if value.is_empty() => Err(DropError::NoType),
            DropOp::Type => Ok(Some(Drop::Type(value))),
            _ if !self.drop_attr.is_empty() => Ok(Some(Drop::Predicate(self.drop_attr.clone()))),
            _ => Ok(None),
        }
    }
}

impl DropOp {
    fn read(value: &Value) -> Option<DropOp> {
        let by_number = [DropOp::None, DropOp::All, DropOp::Data, DropOp::Attr, DropOp::Type];
        match value {
            Value::Number(number) => by_number.get(number.as_u64()? as usize).copied(),
            Value::String(name) => match name.as_str() {
                "NONE" => Some(DropOp::None),
                "ALL" => Some(DropOp::All),
                "DATA" => Some(DropOp::Data),
                "ATTR" => Some(DropOp::Attr),
                "TYPE" => Some(DropOp::Type),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a body drops; `None` for one that is no operation.
    fn drop_of(body: &str) -> Option<Result<Option<Drop>, DropError>> {
        let Value::Object(members) = serde_json::from_str(body).unwrap() else { panic!("{body}") };
        Operation::read(&members).map(|operation| operation.drop())
    }

    #[test]
    fn operations() {
        let predicate = Ok(Some(Drop::Predicate("p".to_owned())));
        let cases = [
            (r#"{"drop_all": true}"#, Ok(Some(Drop::All))),
            (r#"{"dropOp": "ALL"}"#, Ok(Some(Drop::All))),
            (r#"{"drop_op": 2}"#, Ok(Some(Drop::Data))),
            (r#"{"drop_attr": "p"}"#, predicate.clone()),
            (r#"{"drop_op": "ATTR", "drop_value": "p"}"#, predicate),
            (r#"{"drop_op": "TYPE", "drop_value": "T"}"#, Ok(Some(Drop::Type("T".to_owned())))),
            (r#"{"schema": "a: int ."}"#, Ok(None)),
        ];
        for (body, want) in cases {
            assert_eq!(drop_of(body), Some(want), "{body}");
        }
        let faulty = [
            (
                r#"{"drop_op": "ATTR"}"#,
                "`drop_op` ATTR without a predicate (write its name as `drop_value`)",
            ),
            (
                r#"{"drop_op": "DATA", "drop_value": "p"}"#,
                "`drop_op` DATA drops all data (leave out `drop_value`)",
            ),
            (
                r#"{"drop_all": true, "drop_op": "DATA"}"#,
                "`drop_all` and `drop_op` exclude each other (leave one of them out)",
            ),
        ];
        for (body, why) in faulty {
            let refused = drop_of(body).map(|read| read.unwrap_err().to_string());
            assert_eq!(refused.as_deref(), Some(why), "{body}");
        }
        for body in [r#"{"drop_op": "FOO"}"#, r#"{"other": 1}"#] {
            assert_eq!(drop_of(body), None, "{body}");
        }
    }
}
