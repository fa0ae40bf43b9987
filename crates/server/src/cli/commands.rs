//! What the commands do.

use super::access::{access_list, certificates, secret_variables, security};
use super::algo::{algo, dql};
use super::arguments::{
    AlgoArguments, Arguments, Command, LoadArguments, LogFormatArgument, PortArgument,
    ServeArguments,
};
use super::console::console;
use super::given::{duration, log_options, read_text, report_recovery, set_memory, span_options};
use super::health::health;
use super::interrupt::Interrupt;
use super::mcp::mcp;
use super::output::print;
use super::quote::{Done, Failure};
use super::registry;
use super::requests::{cypher, delete, graphql, mutate, query};
use super::settings::{LayeredSettings, in_force};
use super::shell::shell;
use super::tables::{is_table, load_files, loaded_files, print_report, sniff_file};
use crate::http::{
    AdmissionOptions, AuditOptions, ConnectionOptions, GrpcPort, Level, LogFormat, LogOptions,
    ServeOptions, Server, ServiceManager, SocketFileOptions, SubscribeOptions,
    default_password_warning, log, set_log_format,
};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use hexgraph::db::graphql::GraphqlOptions;
use hexgraph::db::{
    Checked, Database, Limits, LoadOptions, OpenOptions, Source, byte_count, check, guarded,
};
use hexgraph_base::types::{Error, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command that the arguments name, the program's own name first. Returns the status
/// with which the process is to end: 0 for success, 1 for a failure, 2 for wrong arguments.
pub fn run(arguments: impl IntoIterator<Item = OsString>, interrupt: Interrupt) -> u8 {
    let mut program = Arguments::command();
    let words = arguments.into_iter().collect();
    let settings = match LayeredSettings::read(&program, words, |name| std::env::var_os(name)) {
        Ok(settings) => settings,
        Err(error) => {
            eprintln!("error: {error}");
            return 2;
        }
    };
    let matches = program.try_get_matches_from_mut(&settings.words);
    let parsed = matches.and_then(|it| Ok((Arguments::from_arg_matches(&it)?, it)));
    let (Arguments { command, .. }, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Nobody can be reported that nothing can be printed.
            let _ = error.print();
            settings.notes_of(&error).iter().for_each(|note| eprintln!("{note}"));
            return error.exit_code() as u8;
        }
    };
    let logged = match &command {
        Command::Serve(arguments) => Some(&arguments.log),
        Command::Mcp(arguments) => Some(&arguments.log),
        _ => None,
    };
    if let Some(logged) = logged {
        set_log_format(match logged.log_format {
            LogFormatArgument::Text => LogFormat::Text,
            LogFormatArgument::Json => LogFormat::Json,
        });
    }
    settings.warnings.iter().for_each(|warning| log(Level::Warning, warning, &[]));
    let done = guarded(|| Ok(run_command(command, interrupt, (&matches, &settings))));
    match done.map_err(Failure::from).flatten() {
        Ok(()) => 0,
        Err(failure) => {
            let notes = settings.notes(&failure.to_string()).join("\n");
            log(Level::Error, format!("{failure}\n{notes}").trim_end(), &[]);
            1
        }
    }
}

/// Prints the settings of `serve`, and reads them as `serve` would.
fn print_config(
    arguments: &ServeArguments,
    matches: &ArgMatches,
    settings: &LayeredSettings,
) -> Done {
    let program = Arguments::command();
    if let Some(("config", matches)) = matches.subcommand() {
        let command = program.find_subcommand("config").expect("it was parsed");
        let mut text = in_force(command, matches, settings);
        secret_variables().for_each(|name| text += &format!("# {name} is set: ***\n"));
        print(text.as_bytes())?;
    }
    serve_options(arguments)?;
    open_options(arguments)?;
    Ok(())
}

fn run_command(
    command: Command,
    interrupt: Interrupt,
    (matches, settings): (&ArgMatches, &LayeredSettings),
) -> Done {
    match command {
        Command::Config(arguments) => print_config(&arguments, matches, settings),
        Command::Serve(arguments) => serve(&arguments, interrupt),
        Command::Console(arguments) => console(&arguments, interrupt),
        Command::Mcp(arguments) => mcp(&arguments, interrupt),
        Command::Query(arguments) => query(&arguments, interrupt),
        Command::Cypher(arguments) => cypher(&arguments, interrupt),
        Command::Shell(arguments) => shell(&arguments, interrupt),
        Command::Mutate(arguments) => mutate(&arguments, interrupt),
        Command::Delete(arguments) => delete(&arguments, interrupt),
        Command::Graphql(arguments) => graphql(&arguments, interrupt),
        Command::Algo(arguments) => run_algorithm(&arguments, interrupt),
        Command::Load(arguments) => load(&arguments, interrupt),
        Command::Sniff(arguments) => Ok(sniff_file(&arguments, interrupt)?),
        Command::Export { path, file, format, namespace } => {
            Ok(export((&path, namespace), &file, format.is_some(), interrupt)?)
        }
        Command::Import { .. } => {
            let position = "import is in the Python package, because it uses pydgraph";
            Err(Error::query(format!("{position}: pip install 'hexgraph[dgraph]'")).into())
        }
        Command::Schema { path } => Ok(print_schema(&path)?),
        Command::Grammar { path, format } => Ok(print_grammar(&path, &format)?),
        Command::Info { .. } => {
            let position = "info is in the Python package: python -m hexgraph info";
            Err(Error::query(position).into())
        }
        Command::Demo => {
            Err(Error::query("the demo is in the Python package: python -m hexgraph demo").into())
        }
        Command::Compact { path } => {
            let database = Database::open(&path, OpenOptions::default())?;
            database.compact_with(&interrupt.control())?;
            Ok(database.close()?)
        }
        Command::Backup { path, to } => {
            let options = OpenOptions { read_only: true, ..OpenOptions::default() };
            Database::open(&path, options)?.save(&to)?;
            Ok(print(format!("{}: backed up to {}\n", path.display(), to.display()).as_bytes())?)
        }
        Command::Keys(command) => Ok(registry::keys(&command)?),
        Command::Namespaces(command) => Ok(registry::namespaces(&command)?),
        Command::Check { path } => Ok(check_path(&path)?),
        Command::Health { url } => health(url.as_deref()),
    }
}

fn run_algorithm(arguments: &AlgoArguments, interrupt: Interrupt) -> Done {
    let text = dql(arguments)?;
    let about = Failure::about(&text);
    let table = algo(arguments, interrupt).map_err(about)?;
    Ok(print(table.as_bytes())?)
}

fn print_schema(path: &Path) -> Result<()> {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    print(Database::open(path, options)?.schema_text()?.as_bytes())
}

fn print_grammar(path: &Path, format: &str) -> Result<()> {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    print(Database::open(path, options)?.grammar(format.parse()?)?.as_bytes())
}

fn check_path(path: &Path) -> Result<()> {
    let Checked { commits, log_bytes, tail } = check(path)?;
    let mut text = format!("{}: every block agrees with its checksum", path.display());
    if 0 < commits {
        text += &format!("; {commits} commits in {log_bytes} bytes of log");
    }
    if 0 < tail {
        text += &format!("; behind them {tail} bytes of a commit that was not acknowledged");
    }
    print(format!("{text}\n").as_bytes())
}

fn serve(arguments: &ServeArguments, interrupt: Interrupt) -> Done {
    // A setting that is wrong is reported before anything is opened and loaded.
    let serving = serve_options(arguments)?;
    let database = open_served(arguments)?;
    let schema = arguments.schema.as_deref().map(read_text).transpose()?;
    let about_schema = Failure::about(schema.as_deref().unwrap_or_default());
    match (&arguments.load, &schema) {
        (Some(file), _) => {
            load_file(&database, file, schema.as_deref(), LoadOptions::default(), interrupt)
                .map_err(about_schema)?;
        }
        (None, Some(schema)) => {
            database.alter_with(schema, &interrupt.control()).map_err(about_schema)?;
        }
        (None, None) => {}
    }
    let lambda_url = arguments.graphql_lambda_url.clone();
    let remote_timeout = duration("--graphql-remote-timeout", arguments.graphql_remote_timeout)?;
    database.set_graphql_options(GraphqlOptions {
        debug: arguments.graphql_debug,
        links_hidden: arguments.graphql_link_hidden,
        extensions: !arguments.graphql_no_extensions,
        audience_optional: arguments.graphql_audience_optional,
        lambda_url,
        remote_timeout,
        ..GraphqlOptions::default()
    });
    if let Some(file) = &arguments.graphql_schema {
        database.set_graphql_schema(&read_text(file)?)?;
    }
    let signals = interrupt.listen();
    let service_manager = ServiceManager::of_environment().map(Arc::new);
    let serving = ServeOptions { service_manager, ..serving };
    let mut server = Server::start(database.clone(), serving)?;
    if let Some(warning) = default_password_warning(&database)? {
        let message = format!("{warning}: set another one at /admin by resetPassword");
        log(Level::Warning, &message, &[]);
    }
    let by = if arguments.tls_cert.is_some() { "gRPC over TLS" } else { "gRPC" };
    let grpc = server.grpc_address().map_or(String::new(), |at| format!(" and by {by} at {at}"));
    let file = server.socket_path().filter(|_| server.address().is_some());
    let file = file.map_or(String::new(), |path| format!(" and at the file {}", path.display()));
    let metrics = server.metrics_address();
    let metrics = metrics.map_or(String::new(), |at| format!(", with metrics at {at}"));
    let url = server.url();
    let line = format!("hexgraph answers at {url}{grpc}{file}{metrics} (Ctrl-C stops it)\n");
    print(line.as_bytes())?;
    if let Some(end) = server.ended() {
        signals.wait(Some(end), None);
    }
    server.stop();
    Ok(database.close()?)
}

/// Reads from the arguments where the server listens and who may use it.
fn serve_options(arguments: &ServeArguments) -> Result<ServeOptions> {
    let subscriptions = SubscribeOptions {
        total: arguments.graphql_subscriptions,
        per_connection: arguments.graphql_subscriptions_per_connection,
        ..SubscribeOptions::default()
    };
    let (host, port) = (arguments.host, arguments.port.number());
    let grpc = arguments.grpc_port.map(PortArgument::number);
    let grpc = grpc.map_or(GrpcPort::Beside, |port| port.map_or(GrpcPort::Off, GrpcPort::At));
    let mode = arguments.unix_socket_mode;
    let socket_file = arguments.unix_socket.clone().map(|path| SocketFileOptions { path, mode });
    let security = security(arguments, |name| std::env::var_os(name))?;
    let exports = arguments.export.clone();
    let (admission, connections) = load_options(arguments)?;
    let certificates = certificates(arguments)?;
    let bytes_max = byte_count("--audit-log-size", &arguments.audit_log_size)?;
    let audit = arguments.audit_log.clone();
    let audit = audit.map(|path| AuditOptions { bytes_max, ..AuditOptions::new(path) });
    Ok(ServeOptions {
        host,
        port,
        grpc,
        socket_file,
        metrics_address: arguments.metrics_address,
        logs: served_log_options(arguments)?,
        spans: span_options(&arguments.log)?,
        admission,
        connections,
        subscriptions,
        security,
        access: access_list(arguments)?,
        audit,
        exports,
        certificates,
        service_manager: None,
        mounted: None,
    })
}

/// Reads from the arguments which requests are logged. The limit `slow` says it as well, where
/// there is no option of its own.
fn served_log_options(arguments: &ServeArguments) -> Result<LogOptions> {
    let of_limit = arguments.limits.iter().rev().find_map(|limit| limit.strip_prefix("slow="));
    let options = log_options(&arguments.log)?;
    match (options.slow, of_limit) {
        (None, Some(text)) => {
            let mut limits = Limits::default();
            limits.set("slow", text)?;
            Ok(LogOptions { slow: Some(limits.slow), ..options })
        }
        _ => Ok(options),
    }
}

/// Reads from the arguments how the database is opened.
fn open_options(arguments: &ServeArguments) -> Result<OpenOptions> {
    let ServeArguments { read_only, no_map, .. } = *arguments;
    let mut options = OpenOptions { read_only, no_map, ..OpenOptions::default() };
    set_memory(&mut options, arguments.memory.as_deref())?;
    options.transactions.per_client = arguments.txn_per_client;
    options.transactions.history = byte_count("--history", &arguments.history)?;
    options.transactions.idle = duration("--txn-timeout", arguments.txn_timeout)?;
    options.set_sync(&arguments.sync)?;
    options.set_checkpoint(&arguments.checkpoint)?;
    for limit in &arguments.limits {
        let Some((name, value)) = limit.split_once('=') else {
            return Err(Error::query(format!("--limit {limit}: write it as name=value")));
        };
        options.limits.set(name, value)?;
    }
    Ok(options)
}

/// Opens the database that is to be served.
fn open_served(arguments: &ServeArguments) -> Result<Database> {
    let options = open_options(arguments)?;
    let database = match &arguments.path {
        Some(path) => Database::open(path, options)?,
        None => Database::in_memory_with(options),
    };
    report_recovery(database.recovery()?);
    Ok(database)
}

/// Reads the limits of load from the arguments.
fn load_options(arguments: &ServeArguments) -> Result<(AdmissionOptions, ConnectionOptions)> {
    let pair = |option: &str, setting: &'_ str| match setting.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Error::query(format!("{option} {setting}: write it as name=value"))),
    };
    let (mut admission, mut connections) = Default::default();
    for setting in &arguments.admission {
        let (name, value) = pair("--admission", setting)?;
        AdmissionOptions::set(&mut admission, &name, &value)?;
    }
    for setting in &arguments.connections {
        let (name, value) = pair("--connection", setting)?;
        ConnectionOptions::set(&mut connections, &name, &value)?;
    }
    Ok((admission, connections))
}

fn export(
    (path, namespace): (&Path, u64),
    file: &Path,
    for_loaders: bool,
    interrupt: Interrupt,
) -> Result<()> {
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let database = Database::open(path, options)?.namespace(namespace)?;
    let control = interrupt.control();
    let report = match for_loaders {
        true => database.export_for_loaders_with(file, &control)?,
        false => database.export_as_with(file, &control)?,
    };
    let (file, schema) = (file.display(), report.schema.display());
    let graphql = report.graphql_schema.map(|path| format!("; {}", path.display()));
    let schemas = format!("{schema}{}", graphql.unwrap_or_default());
    print(format!("{file}: {} triples; {schemas}\n", report.triples).as_bytes())
}

fn load(arguments: &LoadArguments, interrupt: Interrupt) -> Done {
    let files = loaded_files(arguments)?;
    let new = NewFolders::before(&arguments.path);
    let database = Database::open(&arguments.path, OpenOptions::default())?;
    let database = database.namespace(arguments.namespace)?;
    let done = load_files(&database, files, arguments, interrupt);
    if done.is_err() {
        // Nothing is in it, and whoever loads again may mean another folder.
        drop(database);
        new.remove();
        return done;
    }
    Ok(database.close()?)
}

/// The folders that opening a database has created.
struct NewFolders {
    /// The folders, the innermost one first.
    paths: Vec<PathBuf>,
}

impl NewFolders {
    fn before(path: &Path) -> NewFolders {
        let missing = path.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
        NewFolders { paths: missing.map(Path::to_owned).collect() }
    }

    /// Removes them; of those around the database only what is empty.
    fn remove(&self) {
        let Some((database, around)) = self.paths.split_first() else { return };
        // The load has failed, and says why: that something is left is the lesser trouble.
        if fs::remove_dir_all(database).is_ok() {
            let _ = around.iter().try_for_each(fs::remove_dir);
        }
    }
}

fn load_file(
    database: &Database,
    file: &Path,
    schema: Option<&str>,
    options: LoadOptions,
    interrupt: Interrupt,
) -> Result<()> {
    if is_table(file) {
        let advice = "--load takes triples: `hexgraph load` takes tables";
        return Err(Error::query(format!("{}: {advice}", file.display())));
    }
    let source = Source::File(file.to_owned());
    let report = database.load_with(source, schema, options, &interrupt.control())?;
    print_report(&file.display().to_string(), &report)
}
