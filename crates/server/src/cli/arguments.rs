//! What can be typed.

use super::registry::{KeysCommand, NamespacesCommand};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// An embedded graph engine that answers DQL.
#[derive(Parser)]
#[command(name = "hexgraph", version, about, arg_required_else_help = true)]
pub(super) struct Arguments {
    /// A file of settings in TOML, as `port = 8080`; a variable such as HEXGRAPH_PORT has
    /// precedence over the file, and an option over both. `hexgraph config` prints what is in force
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Serve queries over HTTP and gRPC until interrupted
    Serve(Box<ServeArguments>),
    /// Open the console for a database in the browser: a server for this browser alone, until
    /// Ctrl-C
    Console(ConsoleArguments),
    /// Serve a database to language models by the Model Context Protocol, over standard input and
    /// output or HTTP
    Mcp(Box<McpArguments>),
    /// Print the settings of `serve` that are in force, the source of each, and what is wrong with
    /// them
    Config(Box<ServeArguments>),
    /// Run a query, and print its result or write it to a file: JSON, a table, CSV, lines of JSON,
    /// Arrow or Parquet
    Query(QueryArguments),
    /// Run a read-only query in Cypher, and print its rows or write them to a file
    Cypher(CypherArguments),
    /// Type queries and commands at a prompt, or run those of a file: `hexgraph shell DATABASE <
    /// FILE`
    Shell(ShellArguments),
    /// Change data by N-Quads, JSON, or a request in DQL, and print the uids of new nodes
    Mutate(MutateArguments),
    /// Delete nodes with all their values, outgoing and incoming edges, and print the counts
    Delete(DeleteArguments),
    /// Run a GraphQL request and print the response, or set the GraphQL schema
    Graphql(GraphqlArguments),
    /// Describe a database: types, predicates with their coverage, edges between types
    Info {
        /// The directory of the database
        path: PathBuf,
    },
    /// Print the schema
    Schema {
        /// The directory of the database
        path: PathBuf,
    },
    /// Print the grammar of DQL for the schema, for language models with constrained decoding
    Grammar {
        /// The directory of the database
        path: PathBuf,
        /// The language of the grammar: gbnf for llama.cpp, lark for outlines, guidance and
        /// llguidance
        #[arg(long, value_parser = ["gbnf", "lark"])]
        format: String,
    },
    /// Run a graph algorithm, and print the nodes with the greatest numbers
    Algo(AlgoArguments),
    /// Load triples or a table into a database, which is created if missing
    Load(Box<LoadArguments>),
    /// Print how a file would be read as a table: separator, header, encoding, columns with their
    /// types, first rows
    Sniff(Box<SniffArguments>),
    /// Write the data of a database as triples, with its schema in a second file
    Export {
        /// The directory of the database
        path: PathBuf,
        /// The path to write: .rdf or .jsonl, optionally with .gz or .zst, and the schema to a
        /// .schema file; or a new .parquet folder
        file: PathBuf,
        /// `dgraph` writes a new folder with the three files of Dgraph's bulk and live loaders
        #[arg(long, value_parser = ["dgraph"])]
        format: Option<String>,
        /// The namespace to export
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        namespace: u64,
    },
    /// Create a database from a Dgraph cluster, or from an export of one
    Import {
        /// The cluster, dgraph://USER:PASSWORD@HOST:PORT, or the folder of an export
        source: String,
        /// The directory of the database, which is created
        path: PathBuf,
    },
    /// Take a tour of the language over a bundled sample of films
    Demo,
    /// Compact a database: merge all changes into its columns and write a snapshot
    Compact {
        /// The directory of the database
        path: PathBuf,
    },
    /// Copy a database, which may be in use, to another directory
    Backup {
        /// The directory of the database
        path: PathBuf,
        /// The target: a directory that is new, empty or a database
        to: PathBuf,
    },
    /// Create, list and revoke the keys by which clients authenticate
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Create, list and drop namespaces: isolated graphs in one database
    #[command(subcommand)]
    Namespaces(NamespacesCommand),
    /// Read every block of a database and its log, and verify the checksums
    Check {
        /// The directory of a database, or a snapshot file
        path: PathBuf,
    },
    /// Check whether a server is healthy: the exit status is 0 if it is, otherwise 1
    Health {
        /// The URL of the server; default: http://127.0.0.1:8080, or the port in HEXGRAPH_PORT
        url: Option<String>,
    },
}

/// Whether requests without a key are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AnonymousRequests {
    /// Until a key exists.
    Auto,
    /// Never.
    Off,
}

/// The format of the log on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormatArgument {
    /// For people.
    Text,
    /// An object on each line.
    Json,
}

/// The arguments of `algo`.
#[derive(Args)]
pub(super) struct AlgoArguments {
    /// The algorithm, such as pagerank; docs/algorithms.md lists them
    pub name: String,
    /// The directory of the database
    pub path: PathBuf,
    /// A predicate whose edges are followed, ~NAME for the reversed edges; repeat it for a union
    #[arg(long, required = true, value_name = "PREDICATE")]
    pub on: Vec<String>,
    /// The number of rows to print
    #[arg(long, default_value_t = 10, value_name = "NUMBER")]
    pub top: usize,
    /// The nodes of the graph, as a root of DQL such as 'type(Person)'; default: all endpoints of
    /// the edges
    #[arg(long, value_name = "ROOT")]
    pub nodes: Option<String>,
    /// The facet with the weight of an edge
    #[arg(long, value_name = "FACET")]
    pub weight: Option<String>,
    /// The direction of the edges: out, in or both
    #[arg(long)]
    pub direction: Option<String>,
    /// An argument of the algorithm, such as damping=0.9 or source=0x1
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

/// The arguments of `console`.
#[derive(Args)]
pub(super) struct ConsoleArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// Allow changes; without it the database is opened read-only, and may be in use
    #[arg(long)]
    pub write: bool,
    /// Print the URL, and open no browser
    #[arg(long)]
    pub no_browser: bool,
    /// The port at 127.0.0.1; default: any free port
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}

/// The arguments of `mcp`.
#[derive(Args)]
pub(super) struct McpArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// Allow changes by the tool `mutate`; without it the database is opened read-only, and may be
    /// in use
    #[arg(long)]
    pub write: bool,
    /// The namespace to serve
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// The memory limit of the entire process, like 2GB or 512MiB; default: two thirds of what it
    /// may have
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<String>,
    /// Serve over HTTP at this address instead of standard input and output, with a key; default:
    /// 127.0.0.1:8090
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:8090")]
    pub http: Option<SocketAddr>,
    /// A file with keys for clients over HTTP, one on each line; without one, and without keys of
    /// the database, a key is made and printed
    #[arg(long, value_name = "FILE", requires = "http")]
    pub client_key_file: Vec<PathBuf>,
    /// A name of this server, which may be repeated: the header Host must contain it, an address or
    /// `localhost`
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// An origin whose web pages may send requests, as `https://app.example.org`, which may be
    /// repeated; `*` for all, without credentials. Other pages are refused
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,
    /// Also serve /metrics, and nothing else, at this address without a key, such as
    /// 127.0.0.1:9100
    #[arg(long, value_name = "ADDRESS:PORT", requires = "http")]
    pub metrics_address: Option<SocketAddr>,
    /// Which requests are logged, and how
    #[command(flatten)]
    pub log: LogArguments,
}

/// What is logged to standard error.
#[derive(Args)]
pub(super) struct LogArguments {
    /// The format of the log on standard error: `text`, or `json` for an object on each line
    #[arg(long, value_enum, default_value = "text")]
    pub log_format: LogFormatArgument,
    /// Log requests that last at least this long, like 250ms: id, route, status and time
    #[arg(long, value_name = "DURATION")]
    pub log_slow_queries: Option<String>,
    /// Log the texts of requests, without passwords, keys and tokens; of all requests, unless there
    /// is --log-slow-queries
    #[arg(long)]
    pub log_queries: bool,
    /// Send a span of each request to an OpenTelemetry collector by OTLP over HTTP, as
    /// http://localhost:4318. Without it the variables OTEL_EXPORTER_OTLP_ENDPOINT and
    /// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT count. OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and
    /// OTEL_EXPORTER_OTLP_HEADERS are read, too
    #[arg(long, value_name = "URL")]
    pub otlp_endpoint: Option<String>,
}

/// The arguments of `serve`.
#[derive(Args)]
pub(super) struct ServeArguments {
    /// The directory of the database; without it the database is in memory
    pub path: Option<PathBuf>,
    /// The HTTP port; 0 for any free port, `off` for none, if there is a --unix-socket
    #[arg(long, value_name = "PORT", value_parser = port, default_value = "8080")]
    pub port: PortArgument,
    /// The port for gRPC and gRPC-Web, for Dgraph's clients: a number, 0 for any free port, or
    /// `off`; default: 1000 above the HTTP port
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub grpc_port: Option<PortArgument>,
    /// Also listen on this Unix domain socket, for HTTP and gRPC without TLS; --unix-socket-mode
    /// controls who may connect
    #[arg(long, value_name = "FILE")]
    pub unix_socket: Option<PathBuf>,
    /// The permissions of the socket, in octal: 600 for your user only, 660 for your group, too
    #[arg(long, value_name = "MODE", value_parser = mode, default_value = "600", requires = "unix_socket")]
    pub unix_socket_mode: u32,
    /// Also serve /metrics, and nothing else, at this address without a key, such as
    /// 127.0.0.1:9100
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics_address: Option<SocketAddr>,
    /// The address to listen on; 0.0.0.0 allows other machines
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub host: IpAddr,
    /// Use TLS (https) on both ports with the certificate chain in this PEM file, the server's own
    /// first. It is reloaded when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Require a client certificate signed by an authority in this file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,
    /// Triples to load first (.rdf, .rdf.gz or .rdf.zst)
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// The GraphQL schema to set first, for POST /graphql
    #[arg(long, value_name = "FILE")]
    pub graphql_schema: Option<PathBuf>,
    /// Include the reason in responses when a GraphQL mutation is refused
    #[arg(long)]
    pub graphql_debug: bool,
    /// Allow GraphQL mutations to link nodes that `@auth` rules hide from their callers, as Dgraph
    /// does
    #[arg(long)]
    pub graphql_link_hidden: bool,
    /// Omit `extensions` from GraphQL responses: how much was read, and how long it took
    #[arg(long)]
    pub graphql_no_extensions: bool,
    /// Accept tokens without `aud` although the schema names audiences, as Dgraph does
    #[arg(long)]
    pub graphql_audience_optional: bool,
    /// The server that resolves `@lambda` fields of GraphQL schemas, and receives the events of
    /// `@lambdaOnMutate`
    #[arg(long, value_name = "URL")]
    pub graphql_lambda_url: Option<String>,
    /// The timeout of a request of `@custom(http:)` or `@lambda`
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub graphql_remote_timeout: f64,
    /// The maximum number of GraphQL subscriptions in total
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    pub graphql_subscriptions: usize,
    /// The maximum number of GraphQL subscriptions of a connection
    #[arg(long, default_value_t = 100, value_name = "NUMBER")]
    pub graphql_subscriptions_per_connection: usize,
    /// Who may alter and administer in addition to this machine, as `name=value`.
    /// whitelist=ADDRESSES allows addresses, networks (10.0.0.0/8), ranges (10.0.0.1-10.0.0.9) and
    /// names, separated by commas. token=SECRET requires it in the header X-Dgraph-AuthToken.
    /// admin-key=SECRET and client-key=SECRET, which may be repeated: all requests must send a key
    /// in the header X-Auth-Token, and only an admin-key may administer. anonymous=data lets
    /// callers without a key, a token or a user read and write, and not administer, from any
    /// address; anonymous=none is `--anonymous off`, and anonymous=full adds no restriction.
    /// Command-line arguments are visible to other users of this machine: keep secrets in files
    /// (below) or in HEXGRAPH_ADMIN_KEY, HEXGRAPH_CLIENT_KEY and HEXGRAPH_TOKEN in the environment
    #[arg(long, value_name = "NAME=VALUE")]
    pub security: Vec<String>,
    /// Concurrency limits, as `name=value`. After quick=2ms of computing, a request needs one of
    /// slow=NUMBER workers (default: the number of cores). It is refused with status 503 if it
    /// would wait for longer than queue=1s. running=128 is the maximum number of unfinished
    /// requests, including those that wait for the disk
    #[arg(long = "admission", value_name = "NAME=VALUE")]
    pub admission: Vec<String>,
    /// Connection limits, as `name=value`: most=NUMBER of connections (default: the number of
    /// descriptors, up to 10,000), header=10s for the head of a request, body=5m for an entire
    /// body, stall=20s in which rate=256 bytes a second must be sent or read, idle=75s without a
    /// request
    #[arg(long = "connection", value_name = "NAME=VALUE")]
    pub connections: Vec<String>,
    /// Whether requests without a key are accepted: `auto` until there is a key, set here or
    /// created by `hexgraph keys`; `off` never
    #[arg(long, value_enum, default_value = "auto")]
    pub anonymous: AnonymousRequests,
    /// A file with admin keys, one on each line
    #[arg(long, value_name = "FILE")]
    pub admin_key_file: Vec<PathBuf>,
    /// A file with client keys, one on each line
    #[arg(long, value_name = "FILE")]
    pub client_key_file: Vec<PathBuf>,
    /// A file with the shared token of --security token=SECRET
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Which requests are logged, and how
    #[command(flatten)]
    pub log: LogArguments,
    /// Append a line of JSON for each request to this file: client, request and outcome, without
    /// passwords and values
    #[arg(long, value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// The size at which the audit log is rotated; ten files are retained
    #[arg(long, value_name = "BYTES", default_value = "100MiB", requires = "audit_log")]
    pub audit_log_size: String,
    /// Users with rights to predicates, as `name=value` separated by `;`. secret-file=FILE has the
    /// secret, of 32 bytes or more, that signs tokens. access-ttl=6h and refresh-ttl=30d are the
    /// lifetimes of tokens, jwt-alg=HS256 is the algorithm of their signature. Requests send a
    /// token in the header X-Service-AccessToken. The first user is groot with the password
    /// `password`: until it is changed, only this machine can connect
    #[arg(long, value_name = "SETTINGS")]
    pub acl: Option<String>,
    /// A file with the password of the first user
    #[arg(long, value_name = "FILE", requires = "acl")]
    pub acl_initial_password_file: Option<PathBuf>,
    /// Allow other machines to connect although the first user has the default password
    #[arg(long, requires = "acl")]
    pub acl_allow_default_password: bool,
    /// A name of this server, which may be repeated: the header Host must contain it, an address or
    /// `localhost`
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// An origin whose web pages may send requests, as `https://app.example.org`, which may be
    /// repeated; `*` for all, without credentials. Other pages are refused
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Allow GET for GraphQL mutations, /assign and /admin/shutdown, too
    #[arg(long)]
    pub allow_get_changes: bool,
    /// The folder for exports and backups requested at /admin; without it they are refused
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Discard a transaction after this time without use
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub txn_timeout: f64,
    /// The maximum number of open transactions of a client (an address)
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    pub txn_per_client: usize,
    /// The memory limit of the entire process, like 2GB or 512MiB, including its data. Requests
    /// that need more are refused with status 503. Default: two thirds of the least of the
    /// machine's memory, its control group's limit, and `ulimit -v` and `-d`
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<String>,
    /// The memory for old versions, which clients read by the timestamp of an earlier query; older
    /// timestamps are refused
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    pub history: String,
    /// Open read-only
    #[arg(long, requires = "path", conflicts_with_all = ["load", "schema", "graphql_schema"])]
    pub read_only: bool,
    /// Read the snapshot into memory instead of mapping it: safe where another program may shorten
    /// the file
    #[arg(long)]
    pub no_map: bool,
    /// When a commit returns: `always`, when it is on disk; `every=100ms`, when the system has it,
    /// which writes it to disk that often; `never`, when the system has it
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub sync: String,
    /// The size at which the log is replaced by a snapshot
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    pub checkpoint: String,
    /// Limits of a single request, as `name=value`: timeout=60s, memory=1GiB (default: a quarter of
    /// --memory), result=1GiB, body=64MiB, text=16MiB, edges, levels, normalize, frontier, uids;
    /// slow=250ms is --log-slow-queries 250ms, without which it counts
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limits: Vec<String>,
}

/// A port, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortArgument {
    /// `off`.
    Off,
    /// A number.
    At(u16),
}

impl PortArgument {
    /// The number of the port.
    pub(super) fn number(self) -> Option<u16> {
        match self {
            PortArgument::Off => None,
            PortArgument::At(port) => Some(port),
        }
    }
}

/// Reads a port.
fn port(text: &str) -> Result<PortArgument, String> {
    match text {
        "off" => Ok(PortArgument::Off),
        port => port
            .parse()
            .map(PortArgument::At)
            .map_err(|_| "expected a port from 0 to 65535, or off".to_owned()),
    }
}

/// Reads the permissions of a file.
fn mode(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0o").unwrap_or(text);
    let mode = u32::from_str_radix(digits, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "expected permissions in octal, as 600 or 660".to_owned())
}

/// The arguments of `query`.
#[derive(Args)]
pub(super) struct QueryArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The namespace to read
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// The query in DQL, or the name of its file; `-`, or nothing with piped input, reads standard
    /// input
    pub query: Option<String>,
    /// A file with the query
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The value of a variable, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// The format: json (all blocks), or the rows of one block as table, csv, markdown, jsonl,
    /// arrow or parquet. Default: by the file extension, otherwise json
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The file to write, replacing an existing one; default: standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The block to write, if the query has several
    #[arg(long, value_name = "NAME")]
    pub block: Option<String>,
    /// Print the plan instead of the result; the query does not run
    #[arg(long, conflicts_with = "profile")]
    pub explain: bool,
    /// Run the query, and print its plan with rows and times instead of the result
    #[arg(long)]
    pub profile: bool,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Read the snapshot into memory instead of mapping it: safe where another program may shorten
    /// the file
    #[arg(long)]
    pub no_map: bool,
}

/// The arguments of `cypher`.
#[derive(Args)]
pub(super) struct CypherArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The query in Cypher, or the name of its file; `-`, or nothing with piped input, reads
    /// standard input
    pub query: Option<String>,
    /// A file with the query
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The value of a parameter, as `name=value`: JSON, otherwise a string
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// The format: json (columns and rows), or the rows as table, csv, markdown, jsonl, arrow or
    /// parquet. Default: by the file extension, otherwise json; a table for plans
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The file to write, replacing an existing one; default: standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the plan instead of the result; the query does not run
    #[arg(long, conflicts_with = "profile")]
    pub explain: bool,
    /// Run the query, and print its plan with rows and times instead of the result
    #[arg(long)]
    pub profile: bool,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// The namespace to read
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// Read the snapshot into memory instead of mapping it
    #[arg(long)]
    pub no_map: bool,
}

/// The arguments of `shell`.
#[derive(Args)]
pub(super) struct ShellArguments {
    /// The directory of the database; without it one in memory, which is gone at the end
    pub path: Option<PathBuf>,
    /// Create the database where there is none
    #[arg(long, requires = "path", conflicts_with = "read_only")]
    pub create: bool,
    /// Leave the database as it is; it may be in use by another process
    #[arg(long, requires = "path")]
    pub read_only: bool,
    /// Run this text, as often as there are some, and end: DQL, or commands such as '\\schema'
    #[arg(short = 'c', long = "command", value_name = "TEXT")]
    pub commands: Vec<String>,
    /// Go on after an error of -c or of a file; the exit status is 1 all the same
    #[arg(long = "continue")]
    pub goes_on: bool,
    /// How answers are written: table, json, csv, jsonl or markdown
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: String,
    /// The namespace at the start
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `mutate`.
#[derive(Args)]
pub(super) struct MutateArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// N-Quads, JSON, or a request in DQL: `{ set { ... } delete { ... } }` or `upsert { ... }`; or
    /// the name of its file. `-`, or nothing with piped input, reads standard input
    pub text: Option<String>,
    /// A file with the text
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Delete the N-Quads or the JSON instead of setting them
    #[arg(long)]
    pub delete: bool,
    /// A query in DQL whose variables the N-Quads or the JSON use, as in uid(v)
    #[arg(long, value_name = "DQL")]
    pub query: Option<String>,
    /// The value of a variable of that query, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE", requires = "query")]
    pub variables: Vec<String>,
    /// The namespace to change
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `delete`.
#[derive(Args)]
pub(super) struct DeleteArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// A DQL query of one block that selects the nodes, or the name of its file; or uids: `0x1 0x2`
    #[arg(required = true, num_args = 1..)]
    pub nodes: Vec<String>,
    /// The value of a variable of the query, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// The namespace to change
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `graphql`.
#[derive(Args)]
pub(super) struct GraphqlArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The request, or the name of its file; `-`, or nothing with piped input, reads standard input
    pub text: Option<String>,
    /// A file with the request
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The value of a variable, as `name=value`: JSON, otherwise a string
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// A JSON file with the values of variables
    #[arg(long, value_name = "FILE")]
    pub variables_file: Option<PathBuf>,
    /// The name of the operation, if the request has several
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,
    /// A GraphQL schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// The namespace to read
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `load`.
#[derive(Args)]
pub(super) struct LoadArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// Triples (.rdf, .json or .jsonl, optionally .gz or .zst), tables (.parquet, .arrow, .csv,
    /// .tsv, .txt, .edges; with --type, --no-id or --edges also .json and .jsonl), folders or
    /// patterns of these, a .parquet folder of an export, or a graph (.graphml); all are loaded in
    /// one commit
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The namespace to load into
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// The GraphQL schema to set after the load
    #[arg(long, value_name = "FILE")]
    pub graphql_schema: Option<PathBuf>,
    /// Leave out lines and cells that can't be stored, and report them
    #[arg(long)]
    pub skip_errors: bool,
    /// The memory limit, as 512MiB, in addition to the largest predicate: the rest is spilled to
    /// temporary files in the directory of the database
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<String>,
    /// What the columns of a table are
    #[command(flatten)]
    pub table: TableArguments,
}

/// What the columns of a table are: its rows are nodes, or edges with `--edges`.
#[derive(Args)]
#[command(next_help_heading = "Tables")]
pub(super) struct TableArguments {
    /// The predicate of the edges: rows of a table become edges; for a graph the default is `edge`
    #[arg(long, value_name = "PREDICATE")]
    pub edges: Option<String>,
    /// The column with the source of an edge
    #[arg(long, value_name = "COLUMN", default_value = "source", requires = "edges")]
    pub source: String,
    /// The column with the target of an edge
    #[arg(long, value_name = "COLUMN", default_value = "target", requires = "edges")]
    pub target: String,
    /// A column that is a facet of the edges, `column` or `column=key`
    #[arg(long, value_name = "COLUMN", requires = "edges")]
    pub facet: Vec<String>,
    /// Do not change types; by default the types of the source nodes get the predicate as a field
    #[arg(long, requires = "edges")]
    pub no_types: bool,
    /// The column with the id of the node of a row
    #[arg(long, value_name = "COLUMN", default_value = "id", conflicts_with = "edges")]
    pub id: String,
    /// Each row is a new node
    #[arg(long, conflicts_with_all = ["edges", "id"])]
    pub no_id: bool,
    /// The type of all nodes; may be repeated
    #[arg(long = "type", value_name = "NAME")]
    pub node_types: Vec<String>,
    /// A column whose cells are ids of other nodes becomes an edge, `origin=Airport.faa` or
    /// `origin=from:Airport.faa`: the predicate of the edge, and the type and the predicate of the
    /// ids
    #[arg(long = "link", value_name = "COLUMN=TARGET", conflicts_with = "edges")]
    pub links: Vec<String>,
    /// Prefix the names of predicates with the type, as in `Airport.city`
    #[arg(long, requires = "node_types", conflicts_with = "edges")]
    pub prefix: bool,
    /// How to treat edges to ids that no node has: make creates a node, skip leaves the edge out,
    /// raise refuses the load
    #[arg(long, value_name = "WHAT", default_value = "make")]
    pub missing: String,
    /// The predicate of a column, `column=predicate`; `column=` leaves it out
    #[arg(long = "column", value_name = "COLUMN=PREDICATE", conflicts_with = "edges")]
    pub columns: Vec<String>,
    /// The predicate that stores ids; two, `one,two`, for sources and targets. Default: for nodes
    /// the predicate of the id column, for edges the one that is `@unique`; or an existing `xid`.
    /// For triples, the predicate that stores names such as `<alice>`, by which later loads find
    /// the nodes
    #[arg(long, visible_alias = "on", value_name = "PREDICATE")]
    pub xid: Option<String>,
    /// Ids are uids
    #[arg(long, conflicts_with = "xid")]
    pub uid: bool,
    /// The column that gets the path of the file of each row
    #[arg(long, value_name = "COLUMN")]
    pub filename: Option<String>,
    /// The format of text files
    #[command(flatten)]
    pub text: TextArguments,
}

/// The format of a text file, to override what is detected.
#[derive(Args)]
#[command(next_help_heading = "Text files")]
pub(super) struct TextArguments {
    /// The separator of a CSV file, if detection fails; empty to read each line as one text
    #[arg(long, value_name = "LETTER")]
    pub separator: Option<String>,
    /// The encoding of a CSV file, if detection fails: utf-8, utf-16le, utf-16be or windows-1252
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Whether the first record of a CSV file has the names of the columns, `true` or `false`
    #[arg(long, value_name = "BOOL")]
    pub header: Option<bool>,
    /// The quote character of a CSV file; empty if quotes are ordinary characters
    #[arg(long, value_name = "LETTER")]
    pub quote: Option<String>,
    /// The escape character within quotes
    #[arg(long, value_name = "LETTER")]
    pub escape: Option<char>,
    /// The first character of comment lines; empty if there are none
    #[arg(long, value_name = "LETTER")]
    pub comment: Option<String>,
    /// The number of lines before the first record of a CSV file
    #[arg(long, value_name = "LINES")]
    pub skip: Option<u64>,
    /// A string that is a missing value in each column; default: `n/a` and similar strings, in
    /// columns of numbers and times
    #[arg(long = "null-value", value_name = "TEXT")]
    pub null_values: Vec<String>,
    /// Read an empty cell in quotes as a missing value instead of an empty string
    #[arg(long)]
    pub quoted_null: bool,
    /// How to treat records with more or fewer cells than columns: error, skip or fill
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub ragged: String,
    /// How to treat column names that are not valid predicate names: clean changes them, keep and
    /// error refuse them
    #[arg(long, value_name = "WHAT", default_value = "clean")]
    pub names: String,
    /// The type of a column of a CSV file, `column=type`
    #[arg(long = "cast", value_name = "COLUMN=TYPE")]
    pub types: Vec<String>,
    /// The names of the columns of a file without a header: `--columns id,name,born`
    #[arg(long = "columns", value_name = "NAMES", value_delimiter = ',')]
    pub column_names: Option<Vec<String>>,
}

/// The arguments of `sniff`.
#[derive(Args)]
pub(super) struct SniffArguments {
    /// The file: .csv, .tsv, .txt, .json, .jsonl, .parquet, .arrow and others that `load` takes as
    /// tables
    pub file: PathBuf,
    /// The number of rows to print
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    pub rows: usize,
    /// The format of the file
    #[command(flatten)]
    pub text: TextArguments,
}
