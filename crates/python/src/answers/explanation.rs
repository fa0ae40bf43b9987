//! How a query was answered.

use hexgraph::db::{ExplainedStep, Explanation, SlowQuery};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

/// The plan of a query: operators with their expected rows, and with their actual rows and times if
/// the query ran.
///
/// >>> import hexgraph
/// >>> db = hexgraph.connect()
/// >>> _ = db.alter("name: string @index(exact) .")
/// >>> _ = db.mutate(set='<1> <name> "Ada" .')
/// >>> plan = db.explain('{ q(func: eq(name, "Ada")) { name } }')
/// >>> [step["operator"] for step in plan.steps]
/// ['Project', 'IndexSeek', 'Project', 'Variable']
#[pyclass(frozen, name = "Explanation", module = "hexgraph")]
pub struct PyExplanation {
    explanation: Explanation,
}

impl PyExplanation {
    /// Wraps an explanation.
    pub fn new(explanation: Explanation) -> PyExplanation {
        PyExplanation { explanation }
    }
}

#[pymethods]
impl PyExplanation {
    /// The operators in the order in which they start, as dicts: "depth", "operator", "detail" (its
    /// arguments), "strategy", "estimate" (the expected rows, None without an index), "estimated"
    /// (True if the choice depends on an estimate), "fallback" (True if it runs only instead of
    /// another one), "alternatives" (dicts with "operator", "strategy" and "when"), "rows" (the
    /// actual ones), "threads", "seconds" with the operators inside it. The last three are None if
    /// the query did not run.
    ///
    /// >>> import hexgraph
    /// >>> db = hexgraph.connect()
    /// >>> _ = db.alter("name: string @index(exact) .")
    /// >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
    /// >>> root = db.explain('{ q(func: eq(name, "Ada")) { name } }', analyze=True).steps[1]
    /// >>> root["operator"], root["detail"], root["estimate"], root["rows"]
    /// ('IndexSeek', 'eq(name, "Ada")', 1, 1)
    /// >>> root = db.explain('{ q(func: has(name)) @filter(eq(name, "Ada")) { name } }').steps[1]
    /// >>> root["operator"], root["detail"], root["estimate"], root["rows"]
    /// ('HasScan', 'has(name)', 2, None)
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let steps = self.explanation.steps.iter().map(|step| step_dict(py, step));
        PyList::new(py, steps.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        self.explanation.to_string()
    }

    fn _repr_html_(&self) -> String {
        let text = self.explanation.to_string();
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // A page that is narrower moves it, and breaks no line: columns stand below each other.
        format!(r#"<pre style="white-space: pre; overflow-x: auto">{text}</pre>"#)
    }
}

fn step_dict<'py>(py: Python<'py>, step: &ExplainedStep) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("depth", step.depth)?;
    dict.set_item("operator", step.operator)?;
    dict.set_item("detail", &step.detail)?;
    dict.set_item("strategy", step.strategy)?;
    dict.set_item("estimate", step.estimate)?;
    dict.set_item("estimated", step.is_estimated)?;
    dict.set_item("fallback", step.is_fallback)?;
    let alternatives = step.alternatives.iter().map(|other| {
        let dict = PyDict::new(py);
        dict.set_item("operator", other.operator)?;
        dict.set_item("strategy", other.strategy)?;
        dict.set_item("when", &other.when)?;
        Ok(dict)
    });
    dict.set_item("alternatives", alternatives.collect::<PyResult<Vec<_>>>()?)?;
    dict.set_item("rows", step.actual.map(|actual| actual.rows))?;
    dict.set_item("threads", step.actual.map(|actual| actual.threads))?;
    dict.set_item("seconds", step.actual.map(|actual| actual.time.as_secs_f64()))?;
    Ok(dict)
}

/// Creates a dict that describes a slow query.
pub(crate) fn slow_dict<'py>(py: Python<'py>, query: &SlowQuery) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("text", &query.text)?;
    let variables = query.variables.iter().map(|(name, value)| (name.as_str(), value.text()));
    dict.set_item("variables", variables.collect::<BTreeMap<_, _>>())?;
    dict.set_item("seconds", query.latency.total().as_secs_f64())?;
    let at = query.at.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    dict.set_item("at", at)?;
    Ok(dict)
}
