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
    /// Load triples into a database, which is created where it is missing
    Load(LoadArguments),
    /// Take a tour of the language over a bundled sample of films
    Demo,
    /// Read every block of a database and compare its checksum
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
    /// Triples to load first (.rdf or .rdf.gz)
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Discard a transaction that nobody used for that long
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub txn_timeout: f64,
    /// Leave the database as it is
    #[arg(long, requires = "path", conflicts_with_all = ["load", "schema"])]
    pub read_only: bool,
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
    /// Triples (.rdf or .rdf.gz)
    pub file: PathBuf,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Leave out lines that can't be stored, and report them
    #[arg(long)]
    pub skip_errors: bool,
}
