//! `GET /metrics`, also as `GET /debug/prometheus_metrics`: what the server counts, and what the
//! database does now.

use crate::http::app::App;
use crate::http::message::reply::Reply;
use crate::http::metrics::MetricsText;
use crate::http::route::Bare;
use hexgraph::db::{Activity, Runs};
use hexgraph_base::budget::anonymous_memory;

/// The paths of metrics.
pub(in crate::http) const PATHS: [&str; 2] = ["/metrics", "/debug/prometheus_metrics"];

/// Answers `/metrics`. It counts over all namespaces, so where there are users it is for those who
/// administer them all.
pub(in crate::http) fn answer(app: &App, request: &Bare<'_>) -> Reply {
    let database = app.database_at(request.headers, request.client);
    match database.check_superadmin() {
        Ok(()) => of_all(app),
        Err(error) => Reply::error(&error),
    }
}

/// All metrics, for any caller.
pub(in crate::http) fn of_all(app: &App) -> Reply {
    let activity = match app.unguarded.activity() {
        Ok(activity) => activity,
        Err(error) => return Reply::error(&error),
    };
    let mut now = MetricsText::new();
    add_server(&mut now, app);
    add_database(&mut now, &activity);
    add_memory(&mut now, app, &activity);
    match app.metrics.write(now) {
        Ok(text) => Reply::of_type(MetricsText::TYPE, text),
        Err(error) => Reply::internal_error(&error.to_string()),
    }
}

fn add_server(now: &mut MetricsText, app: &App) {
    let (fast, slow) = app.admission.loads();
    let running = [("fast", fast.running as u64), ("slow", slow.running as u64)];
    let waiting = [("fast", fast.waiting as u64), ("slow", slow.waiting as u64)];
    let names = ("admission_running", "Requests that compute now, by the pool of admission");
    now.gauges(names, "pool", running);
    let names = ("admission_waiting", "Requests that wait for admission, by pool");
    now.gauges(names, "pool", waiting);
    now.gauge("subscriptions", "Open GraphQL subscriptions", app.feeds.count() as u64);
    let uptime = app.started.elapsed().as_secs_f64();
    now.seconds("uptime", "Time since the server started", uptime);
}

fn add_database(now: &mut MetricsText, activity: &Activity) {
    let Activity { namespaces, versions, transactions, log_bytes, .. } = *activity;
    now.gauge("namespaces", "Open namespaces", namespaces);
    now.gauge("versions", "Versions in memory: the newest and those still read", versions);
    now.gauge("transactions_open", "Open transactions", transactions);
    now.bytes("log", "Bytes of the log of commits since the newest snapshot", log_bytes);
    add_runs(now, "compactions", "Compactions of columns", activity.compactions);
    add_runs(now, "checkpoints", "Snapshots that replaced a log", activity.checkpoints);
}

fn add_runs(now: &mut MetricsText, name: &str, what: &str, runs: Runs) {
    let Runs { running, done, failed, time } = runs;
    now.gauge(&format!("{name}_running"), &format!("{what} that are running"), running);
    now.counter(name, &format!("{what} that succeeded"), done);
    now.counter(&format!("{name}_failed"), &format!("{what} that failed or were stopped"), failed);
    let help = format!("{what}: wall time of all that have ended");
    now.seconds_counter(&format!("{name}_duration"), &help, time.as_secs_f64());
}

fn add_memory(now: &mut MetricsText, app: &App, activity: &Activity) {
    let budget = app.unguarded.budget();
    let parts = [
        ("process", anonymous_memory().unwrap_or(0)),
        ("reserved", budget.reserved()),
        ("reserved_peak", budget.peak()),
        ("cached_graphs", activity.cached_graph_bytes),
    ];
    let help = "Memory by part: the anonymous memory of the process, what requests have reserved now and at most, and the compact graphs of algorithms";
    now.bytes_by(("memory", help), "part", parts);
    now.bytes("memory_limit", "The setting `memory`", budget.bound());
    now.gauge("cached_graphs", "Compact graphs in the cache", activity.cached_graphs);
}
