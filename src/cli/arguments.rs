//! What can be typed.

use clap::Args;
use clap::Parser;
use clap::Subcommand;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// An embedded graph engine that answers DQL.
#[derive(Parser)]
#[command(name = "hexgraph", version, about, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Subcommand)]
pub enum Command {
    /// Answer queries over HTTP until interrupted
    Serve(ServeArguments),
    /// Print the answer to a query as JSON
    Query(QueryArguments),
    /// Load triples or a table into a database, which is created where it is missing
    Load(LoadArguments),
    /// Write the data of a database as triples, and its schema beside them
    Export {
        /// The directory of the database
        path: PathBuf,
        /// Where to: .rdf or .jsonl, perhaps before .gz or .zst, the schema goes to .schema beside it; or a new folder .parquet
        file: PathBuf,
    },
    /// Take a tour of the language over a bundled sample of films
    Demo,
    /// Fold all changes of a database into its columns and write a snapshot
    Compact {
        /// The directory of the database
        path: PathBuf,
    },
    /// Copy a database, which may be in use, to another directory
    Backup {
        /// The directory of the database
        path: PathBuf,
        /// Where to: a directory that is new, empty or a database
        to: PathBuf,
    },
    /// Read every block of a database and its log, and compare the checksums
    Check {
        /// The directory of a database, or a snapshot file
        path: PathBuf,
    },
}

/// The arguments of `serve`.
#[derive(Args)]
pub struct ServeArguments {
    /// The directory of the database; without it everything is in memory
    pub path: Option<PathBuf>,
    /// The port; 0 for any that is free
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// The address to listen at; 0.0.0.0 lets other machines in
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub host: IpAddr,
    /// Triples to load first (.rdf, .rdf.gz or .rdf.zst)
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// The GraphQL schema to set first; POST /graphql answers by it
    #[arg(long, value_name = "FILE")]
    pub graphql_schema: Option<PathBuf>,
    /// Tell in answers why a GraphQL mutation was refused
    #[arg(long)]
    pub graphql_debug: bool,
    /// Leave `extensions` out of answers to GraphQL requests: how much was read, and how long it took
    #[arg(long)]
    pub graphql_no_extensions: bool,
    /// Where `@lambda` fields of GraphQL schemas are carried out, and what `@lambdaOnMutate` tells
    #[arg(long, value_name = "URL")]
    pub graphql_lambda_url: Option<String>,
    /// How long a request of `@custom(http:)` or `@lambda` may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub graphql_remote_timeout: f64,
    /// How many GraphQL subscriptions there may be in all
    #[arg(long, default_value_t = 10_000, value_name = "NUMBER")]
    pub graphql_subscriptions: usize,
    /// How many GraphQL subscriptions a connection may have
    #[arg(long, default_value_t = 100, value_name = "NUMBER")]
    pub graphql_subscriptions_per_connection: usize,
    /// Who may alter and administer beside this machine, as `name=value`: whitelist=ADDRESSES lets in addresses,
    /// networks (10.0.0.0/8), ranges (10.0.0.1:10.0.0.9) and names, with commas between; token=SECRET has all name it in
    /// the header X-Dgraph-AuthToken. admin-key=SECRET and client-key=SECRET, each as often as there are keys: all
    /// requests name one in the header X-Auth-Token, and only who has an admin-key administers
    #[arg(long, value_name = "NAME=VALUE")]
    pub security: Vec<String>,
    /// The folder that exports and backups go to which are asked for at /admin; without it there are none
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Discard a transaction that nobody used for that long
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub txn_timeout: f64,
    /// Leave the database as it is
    #[arg(long, requires = "path", conflicts_with_all = ["load", "schema", "graphql_schema"])]
    pub read_only: bool,
    /// When a commit counts as done: `always`, when it is on the disk; `every=100ms`, when the
    /// system has it, which puts it on the disk that often; `never`, when the system has it
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub sync: String,
    /// How long the log gets before a snapshot takes its place
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    pub checkpoint: String,
    /// What a single request may use, as `name=value`: timeout=30s, memory=1GiB, result=100MiB,
    /// text, edges, levels, normalize, frontier; slow=250ms prints queries that take longer
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limits: Vec<String>,
}

/// The arguments of `query`.
#[derive(Args)]
pub struct QueryArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The query in DQL; `-` reads it from the standard input
    pub query: String,
    /// The value of a variable, as `name=value`
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// Print the steps that it took, not the answer
    #[arg(long)]
    pub explain: bool,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
}

/// The arguments of `load`.
#[derive(Args)]
pub struct LoadArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// Triples (.rdf or .jsonl, perhaps packed: .gz, .zst), tables (.parquet, .csv, .tsv), folders
    /// or patterns of these, or the folder that an export to .parquet made; all load at once
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Leave out lines and cells that can't be stored, and report them
    #[arg(long)]
    pub skip_errors: bool,
    /// Keep to about so much memory, as 512MiB, beside the largest predicate: the rest goes to
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
pub struct TableArguments {
    /// Rows are edges of this predicate
    #[arg(long, value_name = "PREDICATE")]
    pub edges: Option<String>,
    /// The column that names the node where an edge starts
    #[arg(long, value_name = "COLUMN", default_value = "source", requires = "edges")]
    pub source: String,
    /// The column that names the node where an edge ends
    #[arg(long, value_name = "COLUMN", default_value = "target", requires = "edges")]
    pub target: String,
    /// A column that is a facet of the edges, `column` or `column=key`
    #[arg(long, value_name = "COLUMN", requires = "edges")]
    pub facet: Vec<String>,
    /// The column that names the node of a row
    #[arg(long, value_name = "COLUMN", default_value = "id", conflicts_with = "edges")]
    pub id: String,
    /// Each row is a new node
    #[arg(long, conflicts_with_all = ["edges", "id"])]
    pub no_id: bool,
    /// The type of all nodes
    #[arg(long = "type", value_name = "NAME", conflicts_with = "edges")]
    pub node_type: Option<String>,
    /// The predicate of a column, `column=predicate`; `column=` leaves it out
    #[arg(long = "column", value_name = "COLUMN=PREDICATE", conflicts_with = "edges")]
    pub columns: Vec<String>,
    /// The predicate that keeps ids; two, `one,two`, for sources and targets
    #[arg(long, value_name = "PREDICATE", default_value = "xid")]
    pub xid: String,
    /// Ids are uids
    #[arg(long, conflicts_with = "xid")]
    pub uid: bool,
    /// The type of a column of a CSV file, `column=type`
    #[arg(long = "cast", value_name = "COLUMN=TYPE")]
    pub types: Vec<String>,
}
