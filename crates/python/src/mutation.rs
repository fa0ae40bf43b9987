//! What a mutation is made of in Python, and what came of it.

use crate::answers::result::PyResultSet;
use crate::convert::encoding::{Encoded, encode, text_of};
use crate::convert::sequences::items_of;
use hexgraph::db::{Drop, Effect, Losses, Mutation, MutationAnswer, Statements};
use hexgraph_base::types::bounded;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::collections::BTreeMap;

/// The result of an upsert.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.alter("email: string @index(exact) @unique .")
/// >>> find = '{ v as var(func: eq(email, "ada@x.io")) }'
/// >>> db.upsert(find, set='uid(v) <email> "ada@x.io" .')
/// <hexgraph.Upsert: 1 new node, 1 value set>
/// >>> db.upsert(find, set='uid(v) <email> "ada@x.io" .')
/// <hexgraph.Upsert: nothing changed>
#[pyclass(frozen, name = "Upsert", module = "hexgraph")]
pub struct PyUpsert {
    uids: BTreeMap<String, String>,
    effect: Effect,
    lossy_values: u64,
    result: Option<Py<PyResultSet>>,
}

impl PyUpsert {
    /// What Python sees of an answer. With `warns`, values that were converted with loss come with
    /// Python's warning.
    pub fn new(py: Python<'_>, answer: MutationAnswer, warns: bool) -> PyResult<PyUpsert> {
        if warns {
            warn_of_losses(py, &answer.losses)?;
        }
        let result = answer.queries;
        let result = result.map(|queries| Py::new(py, PyResultSet::new(py, queries, warns)));
        let (result, lossy_values) = (result.transpose()?, answer.losses.count);
        Ok(PyUpsert { uids: answer.uids, effect: answer.effect, lossy_values, result })
    }
}

#[pymethods]
impl PyUpsert {
    /// The uids of new nodes, by the names of their blank nodes, and by `uid(v)` for an empty
    /// variable.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("email: string @index(exact) @unique .")
    /// >>> find = '{ v as var(func: eq(email, "ada@x.io")) }'
    /// >>> done = db.upsert(find, set='uid(v) <email> "ada@x.io" .\nuid(v) <knows> _:bob .')
    /// >>> list(done.uids)
    /// ['bob', 'uid(v)']
    #[getter]
    fn uids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        uid_dict(py, &self.uids)
    }

    /// The result of the query before the change.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.mutate(set='<1> <visits> "1"^^<xs:int> .')
    /// >>> query = "{ q(func: uid(1)) { v as visits } var(func: uid(1)) { n as math(v + 1) } }"
    /// >>> done = db.upsert(query, set="<1> <visits> val(n) .")
    /// >>> done.result.rows(), db.query("{ q(func: uid(1)) { visits } }").rows()
    /// ([(1,)], [(2,)])
    #[getter]
    fn result(&self, py: Python<'_>) -> Option<Py<PyResultSet>> {
        self.result.as_ref().map(|result| result.clone_ref(py))
    }

    /// The number of values that were set, and are new or different.
    #[getter]
    fn values_set(&self) -> u64 {
        self.effect.values_set
    }

    /// The number of edges that were set, and are new or have facets.
    #[getter]
    fn edges_set(&self) -> u64 {
        self.effect.edges_set
    }

    /// The number of existing values that were deleted.
    #[getter]
    fn values_deleted(&self) -> u64 {
        self.effect.values_deleted
    }

    /// The number of existing edges that were deleted.
    #[getter]
    fn edges_deleted(&self) -> u64 {
        self.effect.edges_deleted
    }

    /// The number of values that were stored as less than they are, since the type of their
    /// predicate does not hold them: `hexgraph.LossWarning` shows the first.
    #[getter]
    fn lossy_values(&self) -> u64 {
        self.lossy_values
    }

    fn __repr__(&self) -> String {
        let counts = [
            (self.uids.len() as u64, "new node", ""),
            (self.effect.values_set, "value", " set"),
            (self.effect.edges_set, "edge", " set"),
            (self.effect.values_deleted, "value", " deleted"),
            (self.effect.edges_deleted, "edge", " deleted"),
            (self.lossy_values, "value", " converted with loss"),
        ];
        let reported = counts.into_iter().filter(|(count, ..)| *count != 0);
        let reported = reported.map(|(count, noun, done)| {
            format!("{count} {noun}{}{done}", if count == 1 { "" } else { "s" })
        });
        let reported = reported.collect::<Vec<_>>().join(", ");
        let reported = if reported.is_empty() { "nothing changed" } else { &reported };
        format!("<hexgraph.Upsert: {reported}>")
    }
}

/// Warns of values that a mutation has stored as less than they are.
pub(crate) fn warn_of_losses(py: Python<'_>, losses: &Losses) -> PyResult<()> {
    let Some(warning) = losses.warning() else { return Ok(()) };
    let errors = py.import("hexgraph.errors")?;
    errors.call_method1("warn_of_losses", (warning, losses.count)).map(drop)
}

/// The arguments of a mutation, in addition to its conditions.
#[derive(Clone, Copy)]
pub(crate) struct MutationArguments<'a, 'py> {
    /// What came without a name.
    pub given: &'a Bound<'py, PyTuple>,
    /// N-Quads that are set.
    pub set: Option<&'a Bound<'py, PyAny>>,
    /// N-Quads that are deleted.
    pub delete: Option<&'a Bound<'py, PyAny>>,
    /// What is set as dicts or JSON text.
    pub set_json: Option<&'a Bound<'py, PyAny>>,
    /// What is deleted as dicts or JSON text.
    pub delete_json: Option<&'a Bound<'py, PyAny>>,
}

/// The texts of a mutation; empty for none.
#[derive(Default)]
pub(crate) struct Texts {
    set: String,
    delete: String,
    set_json: Encoded,
    delete_json: Encoded,
    cond: String,
}

impl Texts {
    /// Reads arguments.
    ///
    /// # Errors
    ///
    /// `TypeError` and `ValueError` for what a mutation cannot contain.
    pub(crate) fn read(arguments: &MutationArguments<'_, '_>, cond: &str) -> PyResult<Texts> {
        let MutationArguments { given, set, delete, set_json, delete_json } = *arguments;
        if let Ok(given) = given.get_item(0) {
            return Err(PyTypeError::new_err(by_name(&given)));
        }
        Ok(Texts {
            set: to_quads("set", set)?,
            delete: to_quads("delete", delete)?,
            set_json: to_json("set_json", set_json)?,
            delete_json: to_json("delete_json", delete_json)?,
            cond: cond.to_owned(),
        })
    }

    /// Reads mutations that came as a list of dicts.
    ///
    /// # Errors
    ///
    /// `TypeError` for anything else; as [`Texts::of_dict`].
    pub(crate) fn of_list(given: &Bound<'_, PyAny>) -> PyResult<Vec<Texts>> {
        let Ok(mutations) = items_of::<Bound<'_, PyDict>>(given) else {
            let kind = given.get_type().name()?;
            let fault = format!("mutations is a list of dicts, not {kind}");
            return Err(PyTypeError::new_err(fault));
        };
        mutations.iter().map(Texts::of_dict).collect()
    }

    /// Reads a mutation that came as a dict.
    ///
    /// # Errors
    ///
    /// `TypeError` for a key that means nothing, and for values that are not allowed there.
    fn of_dict(given: &Bound<'_, PyDict>) -> PyResult<Texts> {
        let mut texts = Texts::default();
        for (key, value) in given.iter() {
            let key: String = key.extract()?;
            match &*key {
                "set" => texts.set = to_quads("set", Some(&value))?,
                "delete" => texts.delete = to_quads("delete", Some(&value))?,
                "set_json" => texts.set_json = to_json("set_json", Some(&value))?,
                "delete_json" => texts.delete_json = to_json("delete_json", Some(&value))?,
                "cond" => texts.cond = value.extract()?,
                other => {
                    let fault = format_args!(
                        "a mutation has no key {other:?}: it is \"set\", \"delete\", \
                         \"set_json\", \"delete_json\" or \"cond\""
                    );
                    return Err(PyTypeError::new_err(bounded(fault)));
                }
            }
        }
        Ok(texts)
    }

    /// Returns the mutation that the texts describe.
    pub(crate) fn mutation(&self) -> Mutation<'_> {
        Mutation {
            condition: (&*self.cond).into(),
            set: statements(&self.set, &self.set_json),
            delete: statements(&self.delete, &self.delete_json),
        }
    }

    /// Returns the text that an error must be about; empty unless exactly one text is given.
    pub(crate) fn only(&self) -> &str {
        let Texts { set, delete, set_json, delete_json, .. } = self;
        let all = [set, delete, &set_json.json, &delete_json.json];
        let mut given = all.into_iter().filter(|text| !text.is_empty());
        match (given.next(), given.next()) {
            // With two texts, the line of an error does not say in which of them it is.
            (Some(text), None) => text,
            _ => "",
        }
    }
}

fn statements<'a>(quads: &'a str, json: &'a Encoded) -> Vec<Statements<'a>> {
    let quads = (!quads.is_empty()).then_some(Statements::NQuads(quads));
    let Encoded { json, times } = json;
    let json = (!json.is_empty()).then_some(Statements::TimedJson(json, times));
    quads.into_iter().chain(json).collect()
}

/// Returns the message about an argument that was passed without a name.
fn by_name(given: &Bound<'_, PyAny>) -> String {
    let name = match given.is_instance_of::<PyString>() {
        true => "set=\"...\" adds N-Quads, delete=\"...\" removes them",
        false => "set_json=... adds dicts, delete_json=... removes them",
    };
    format!("mutate takes its arguments by name: {name}")
}

/// Converts an argument to a text of N-Quads; empty for None.
///
/// # Errors
///
/// `TypeError` for anything else, `ValueError` for a text with half a character.
fn to_quads(name: &'static str, given: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(String::new()) };
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text_of(text, || name.to_owned())?.to_owned());
    }
    let kind = given.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} is a text of N-Quads, not {kind}: pass dicts and lists of them as {name}_json"
    )))
}

/// Converts an argument to JSON. A text is JSON already; None gives an empty text.
///
/// # Errors
///
/// As [`encode`].
fn to_json(name: &'static str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Encoded> {
    let Some(given) = given.filter(|given| !given.is_none()) else {
        return Ok(Encoded::default());
    };
    match given.cast::<PyString>() {
        Ok(text) => {
            let json = text_of(text, || name.to_owned())?.to_owned();
            Ok(Encoded { json, times: Vec::new() })
        }
        Err(_) => encode(name, given),
    }
}

/// Creates a dict of uids by names.
pub(crate) fn uid_dict<'py>(
    py: Python<'py>,
    uids: &BTreeMap<String, String>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, uid) in uids {
        dict.set_item(name, uid)?;
    }
    Ok(dict)
}

/// What `drop` removes.
///
/// # Errors
///
/// `ValueError` for what there is not, or a name that is missing or too much.
pub(crate) fn to_drop(what: &str, name: Option<String>) -> PyResult<Drop> {
    match (what, name) {
        ("all", None) => Ok(Drop::All),
        ("data", None) => Ok(Drop::Data),
        ("predicate", Some(name)) => Ok(Drop::Predicate(name)),
        ("type", Some(name)) => Ok(Drop::Type(name)),
        (what, name) => {
            let fault = "it is drop(\"all\"), drop(\"data\"), drop(\"predicate\", name) or \
                         drop(\"type\", name)";
            let name = name.map(|name| format!(", {name:?}")).unwrap_or_default();
            Err(PyValueError::new_err(bounded(format_args!("{fault}, not drop({what:?}{name})"))))
        }
    }
}
