//! What can be typed.

use super::registry::{KeysCommand, NamespacesCommand};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// An embedded graph engine that answers DQL.
#[derive(Parser)]
#[command(name = "hexgraph", version, about, arg_required_else_help = true)]
pub(super) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Answer queries over HTTP and gRPC until interrupted
    Serve(Box<ServeArguments>),
    /// Print the answer to a query, or write it to a file: as JSON, a table, CSV, lines of JSON, Arrow or Parquet
    Query(QueryArguments),
    /// Change data by N-Quads, JSON, or a request in DQL, and print the uids of new nodes
    Mutate(MutateArguments),
    /// Delete nodes with all values and edges, those to them, too, and print how many are gone
    Delete(DeleteArguments),
    /// Print the answer to a GraphQL request, or set the GraphQL schema
    Graphql(GraphqlArguments),
    /// Print what is in a database: types, predicates with their coverage, edges between types
    Info {
        /// The directory of the database
        path: PathBuf,
    },
    /// Print the schema
    Schema {
        /// The directory of the database
        path: PathBuf,
    },
    /// Run a graph algorithm, and print the nodes with the greatest numbers
    Algo(AlgoArguments),
    /// Load triples or a table into a database, which is created where it is missing
    Load(Box<LoadArguments>),
    /// Print how a file would be read as a table: its separator, header and encoding, its columns with their types, its first rows
    Sniff(Box<SniffArguments>),
    /// Write the data of a database as triples, and its schema beside them
    Export {
        /// The directory of the database
        path: PathBuf,
        /// Where to: .rdf or .jsonl, perhaps before .gz or .zst, the schema goes to .schema beside it; or a new folder .parquet
        file: PathBuf,
        /// `dgraph` writes a new folder with the three files that Dgraph's bulk and live loaders take
        #[arg(long, value_parser = ["dgraph"])]
        format: Option<String>,
        /// The namespace that is exported
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        namespace: u64,
    },
    /// Bring back what lies in a Dgraph cluster, or in an export of one, as a new database
    Import {
        /// The cluster, dgraph://USER:PASSWORD@HOST:PORT, or the folder of an export
        source: String,
        /// The directory of the database, which is created
        path: PathBuf,
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
    /// Make, list and revoke the keys that clients name to a server
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Make, list and drop namespaces: graphs beside each other in one database
    #[command(subcommand)]
    Namespaces(NamespacesCommand),
    /// Read every block of a database and its log, and compare the checksums
    Check {
        /// The directory of a database, or a snapshot file
        path: PathBuf,
    },
}

/// Whether requests without a key are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AnonymousRequests {
    /// As long as there is no key.
    Auto,
    /// Never.
    Off,
}

/// The arguments of `algo`.
#[derive(Args)]
pub(super) struct AlgoArguments {
    /// The algorithm, such as pagerank; docs/algorithms.md has them all
    pub name: String,
    /// The directory of the database
    pub path: PathBuf,
    /// A predicate whose edges are followed, ~NAME for them turned round; several for their union
    #[arg(long, required = true, value_name = "PREDICATE")]
    pub on: Vec<String>,
    /// How many rows are printed
    #[arg(long, default_value_t = 10, value_name = "NUMBER")]
    pub top: usize,
    /// The nodes of the graph, as a root of DQL such as 'type(Person)'; else all that the edges join
    #[arg(long, value_name = "ROOT")]
    pub nodes: Option<String>,
    /// The facet that edges weigh
    #[arg(long, value_name = "FACET")]
    pub weight: Option<String>,
    /// How edges are taken: out, in or both
    #[arg(long)]
    pub direction: Option<String>,
    /// An argument of the algorithm, such as damping=0.9 or source=0x1
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

/// The arguments of `serve`.
#[derive(Args)]
pub(super) struct ServeArguments {
    /// The directory of the database; without it everything is in memory
    pub path: Option<PathBuf>,
    /// The port; 0 for any that is free, `off` for none, where there is a --unix-socket
    #[arg(long, value_name = "PORT", value_parser = port, default_value = "8080")]
    pub port: PortArgument,
    /// The port for gRPC, which Dgraph's clients and gRPC-Web speak: a number, 0 for any that is free, or `off`; without it
    /// 1000 above that of HTTP
    #[arg(long, value_name = "PORT", value_parser = port)]
    pub grpc_port: Option<PortArgument>,
    /// Answer at this file, too, which programs on this machine connect to as a Unix domain socket, by HTTP and by gRPC. There
    /// is no TLS; who may is said by --unix-socket-mode
    #[arg(long, value_name = "FILE")]
    pub unix_socket: Option<PathBuf>,
    /// The permissions of that file, in octal: 600 for your user alone, 660 for your group, too
    #[arg(long, value_name = "MODE", value_parser = mode, default_value = "600", requires = "unix_socket")]
    pub unix_socket_mode: u32,
    /// The address to listen at; 0.0.0.0 lets other machines in
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub host: IpAddr,
    /// Speak TLS (https) on both ports by the certificate in this file: PEM, the server's own certificate first. It is read
    /// anew when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Have all clients show a certificate that an authority in this file has signed
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_client_ca: Option<PathBuf>,
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
    /// Let GraphQL mutations link nodes that the rules of `@auth` hide from their callers, as Dgraph does
    #[arg(long)]
    pub graphql_link_hidden: bool,
    /// Leave `extensions` out of answers to GraphQL requests: how much was read, and how long it took
    #[arg(long)]
    pub graphql_no_extensions: bool,
    /// Let tokens without `aud` pass although the schema names audiences, as Dgraph does
    #[arg(long)]
    pub graphql_audience_optional: bool,
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
    /// networks (10.0.0.0/8), ranges (10.0.0.1-10.0.0.9) and names, with commas between; token=SECRET has all name it in
    /// the header X-Dgraph-AuthToken. admin-key=SECRET and client-key=SECRET, each as often as there are keys: all
    /// requests name one in the header X-Auth-Token, and only who has an admin-key administers. anonymous=data lets who
    /// names neither key nor token nor user read and write, and not administer, wherever they come from; anonymous=none
    /// is `--anonymous off`, and anonymous=full is neither. Others on this machine can see what is typed here: files (below) and HEXGRAPH_ADMIN_KEY, HEXGRAPH_CLIENT_KEY and HEXGRAPH_TOKEN in
    /// the environment are for secrets
    #[arg(long, value_name = "NAME=VALUE")]
    pub security: Vec<String>,
    /// How much runs at once, as `name=value`: a request that has computed for quick=2ms needs one of the places
    /// slow=NUMBER (as many as there are cores), and is refused with status 503 where it would wait for longer than
    /// queue=1s; running=128 may be under way in all, those included that wait for the disk
    #[arg(long = "admission", value_name = "NAME=VALUE")]
    pub admission: Vec<String>,
    /// How connections are held, as `name=value`: most=NUMBER of them (as many as there are descriptors, up to
    /// 10,000), header=10s for the head of a request, body=5m for a whole body, stall=20s in which rate=256 bytes a
    /// second have to come or be taken, idle=75s without a request
    #[arg(long = "connection", value_name = "NAME=VALUE")]
    pub connections: Vec<String>,
    /// Whether requests without a key are answered: `auto` does as long as there is no key, neither here nor made by
    /// `hexgraph keys`; `off` never does
    #[arg(long, value_enum, default_value = "auto")]
    pub anonymous: AnonymousRequests,
    /// A file with keys of administrators, one a line
    #[arg(long, value_name = "FILE")]
    pub admin_key_file: Vec<PathBuf>,
    /// A file with keys of clients, one a line
    #[arg(long, value_name = "FILE")]
    pub client_key_file: Vec<PathBuf>,
    /// A file with the token
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Append a line of JSON for each request to this file: who asked what, from where, and what became of it, without
    /// passwords and values
    #[arg(long, value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// The length from which the audit log gives way to a new one; ten are kept
    #[arg(long, value_name = "BYTES", default_value = "100MiB", requires = "audit_log")]
    pub audit_log_size: String,
    /// Users with rights to predicates, as `name=value` with `;` between: secret-file=FILE holds the secret, of 32 bytes or
    /// more, that tokens are signed with; access-ttl=6h and refresh-ttl=30d say how long they hold, jwt-alg=HS256 how they
    /// are signed. Requests name a token in the header X-Service-AccessToken. The first user is groot with the password
    /// `password`: as long as that is so, only this machine can connect
    #[arg(long, value_name = "SETTINGS")]
    pub acl: Option<String>,
    /// A file with the password that the first user gets
    #[arg(long, value_name = "FILE", requires = "acl")]
    pub acl_initial_password_file: Option<PathBuf>,
    /// Let others than this machine connect although the first user has the password that everybody knows
    #[arg(long, requires = "acl")]
    pub acl_allow_default_password: bool,
    /// A name of this server, as often as it has some: requests name it in the header Host, where an address and
    /// `localhost` always do
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// An origin whose pages may ask, as `https://app.example.org`, as often as there are some; `*` for all, without
    /// credentials. No other page of a browser may
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Let GraphQL mutations, /assign and /admin/shutdown be asked for by GET, too
    #[arg(long)]
    pub allow_get_changes: bool,
    /// The folder that exports and backups go to which are asked for at /admin; without it there are none
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Discard a transaction that nobody used for that long
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub txn_timeout: f64,
    /// How many transactions a client (an address) may have open at once
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    pub txn_per_client: usize,
    /// The memory that the whole process may have, like 2GB or 512MiB, its data included: requests
    /// that need more than is left are refused with status 503. Without it two thirds of the least
    /// of the machine's memory, its control group's limit, and `ulimit -v` and `-d`
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<String>,
    /// How much of replaced versions is kept for clients that come back to a moment which an
    /// earlier query saw; older moments are told as too old
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    pub history: String,
    /// Leave the database as it is
    #[arg(long, requires = "path", conflicts_with_all = ["load", "schema", "graphql_schema"])]
    pub read_only: bool,
    /// Read the snapshot into memory instead of mapping it: safe where another program may shorten the file
    #[arg(long)]
    pub no_map: bool,
    /// When a commit counts as done: `always`, when it is on the disk; `every=100ms`, when the
    /// system has it, which puts it on the disk that often; `never`, when the system has it
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub sync: String,
    /// How long the log gets before a snapshot takes its place
    #[arg(long, value_name = "BYTES", default_value = "64MiB")]
    pub checkpoint: String,
    /// What a single request may use, as `name=value`: timeout=60s, memory=1GiB (a quarter of
    /// --memory, where nothing is said), result=1GiB, body=64MiB, text=16MiB, edges, levels,
    /// normalize, frontier, uids; slow=250ms prints queries that take longer
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
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "expected permissions in octal, as 600 or 660".to_owned())
}

/// The arguments of `query`.
#[derive(Args)]
pub(super) struct QueryArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The namespace that is asked
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// The query in DQL, or the name of a file that has it; `-`, or nothing where something is piped in, reads the standard input
    pub query: Option<String>,
    /// A file that has the query
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The value of a variable, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// How the answer is written: json (all blocks), or the rows of a block as table, csv, jsonl, arrow or parquet. Without it the
    /// end of the file's name says it, else it is json
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The file that is written, in place of one that is there; without it the answer is printed
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The block whose rows are written, where the query has several
    #[arg(long, value_name = "NAME")]
    pub block: Option<String>,
    /// Print the steps that it took, not the answer
    #[arg(long)]
    pub explain: bool,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// Read the snapshot into memory instead of mapping it: safe where another program may shorten the file
    #[arg(long)]
    pub no_map: bool,
}

/// The arguments of `mutate`.
#[derive(Args)]
pub(super) struct MutateArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// N-Quads, JSON, or a request in DQL: `{ set { ... } delete { ... } }` or `upsert { ... }`; or the name of a file that has it. `-`,
    /// or nothing where something is piped in, reads the standard input
    pub text: Option<String>,
    /// A file that has the text
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The N-Quads or the JSON are deleted, and not set
    #[arg(long)]
    pub delete: bool,
    /// A query in DQL whose variables the N-Quads or the JSON use, as in uid(v)
    #[arg(long, value_name = "DQL")]
    pub query: Option<String>,
    /// The value of a variable of that query, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE", requires = "query")]
    pub variables: Vec<String>,
    /// The namespace that is changed
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `delete`.
#[derive(Args)]
pub(super) struct DeleteArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// A query in DQL of one block, which selects the nodes; or the name of a file that has it; or uids: `0x1 0x2`
    #[arg(required = true, num_args = 1..)]
    pub nodes: Vec<String>,
    /// The value of a variable of the query, as `name=value`
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// The namespace that is changed
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `graphql`.
#[derive(Args)]
pub(super) struct GraphqlArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// The request, or the name of a file that has it; `-`, or nothing where something is piped in, reads the standard input
    pub text: Option<String>,
    /// A file that has the request
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The value of a variable, as `name=value`: JSON, or else a text
    #[arg(short = 'v', long = "var", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// A file of JSON that has the values of variables
    #[arg(long, value_name = "FILE")]
    pub variables_file: Option<PathBuf>,
    /// The name of the operation, where the request has several
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,
    /// A GraphQL schema that is set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Stop after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<f64>,
    /// The namespace that is asked
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
}

/// The arguments of `load`.
#[derive(Args)]
pub(super) struct LoadArguments {
    /// The directory of the database
    pub path: PathBuf,
    /// Triples (.rdf, .json or .jsonl, perhaps packed: .gz, .zst), tables (.parquet, .arrow, .csv, .tsv, .txt, .edges; with --type,
    /// --no-id or --edges also .json and .jsonl), folders or patterns of these, the folder that an export to .parquet made, or a
    /// graph (.graphml); all load at once
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The namespace that is loaded into
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub namespace: u64,
    /// The schema to set first
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// The GraphQL schema to set when all is loaded
    #[arg(long, value_name = "FILE")]
    pub graphql_schema: Option<PathBuf>,
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
pub(super) struct TableArguments {
    /// Rows are edges of this predicate; the predicate of the edges of a graph, which is `edge` without
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
    /// Leave types alone: else those of the nodes where edges start get the predicate as a field
    #[arg(long, requires = "edges")]
    pub no_types: bool,
    /// The column that names the node of a row
    #[arg(long, value_name = "COLUMN", default_value = "id", conflicts_with = "edges")]
    pub id: String,
    /// Each row is a new node
    #[arg(long, conflicts_with_all = ["edges", "id"])]
    pub no_id: bool,
    /// The type of all nodes; once for each where there are several
    #[arg(long = "type", value_name = "NAME")]
    pub node_types: Vec<String>,
    /// A column whose cells name other nodes becomes an edge, `origin=Airport.faa` or `origin=from:Airport.faa`: the predicate, and
    /// type and predicate of what names the nodes
    #[arg(long = "link", value_name = "COLUMN=TARGET", conflicts_with = "edges")]
    pub links: Vec<String>,
    /// Put the type in front of the names of predicates, as in `Airport.city`
    #[arg(long, requires = "node_types", conflicts_with = "edges")]
    pub prefix: bool,
    /// What becomes of edges to names that no node has: make makes a node, skip leaves the edge out, raise refuses the load
    #[arg(long, value_name = "WHAT", default_value = "make")]
    pub missing: String,
    /// The predicate of a column, `column=predicate`; `column=` leaves it out
    #[arg(long = "column", value_name = "COLUMN=PREDICATE", conflicts_with = "edges")]
    pub columns: Vec<String>,
    /// The predicate that keeps ids; two, `one,two`, for sources and targets. Without it ids of nodes are kept in the
    /// predicate of their column, and edges find nodes by the one that is `@unique`; or by `xid`, where the database has that.
    /// Of triples, the predicate that keeps names such as `<alice>`, by which later loads find the nodes
    #[arg(long, visible_alias = "on", value_name = "PREDICATE")]
    pub xid: Option<String>,
    /// Ids are uids
    #[arg(long, conflicts_with = "xid")]
    pub uid: bool,
    /// The column that gets the path of the file of each row
    #[arg(long, value_name = "COLUMN")]
    pub filename: Option<String>,
    /// How text files are written
    #[command(flatten)]
    pub text: TextArguments,
}

/// How the text file of a table is written, where its beginning would mislead.
#[derive(Args)]
#[command(next_help_heading = "Text files")]
pub(super) struct TextArguments {
    /// The character between the cells of a CSV file, where its first lines would mislead
    #[arg(long, value_name = "LETTER")]
    pub separator: Option<char>,
    /// The encoding of a CSV file, where its beginning would mislead: utf-8, utf-16le, utf-16be or windows-1252
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Whether the first record of a CSV file has the names of the columns, `true` or `false`
    #[arg(long, value_name = "BOOL")]
    pub header: Option<bool>,
    /// The character around cells of a CSV file that have separators in them; empty where quotes are letters
    #[arg(long, value_name = "LETTER")]
    pub quote: Option<String>,
    /// The character that makes the next one a letter within quotes
    #[arg(long, value_name = "LETTER")]
    pub escape: Option<char>,
    /// The character with which lines begin that are comments; empty where none are
    #[arg(long, value_name = "LETTER")]
    pub comment: Option<String>,
    /// The number of lines before the first record of a CSV file
    #[arg(long, value_name = "LINES")]
    pub skip: Option<u64>,
    /// A text that is a missing value in each column; without it `n/a` and its like are in columns of numbers and times
    #[arg(long = "null-value", value_name = "TEXT")]
    pub null_values: Vec<String>,
    /// An empty cell in quotes is a missing value, and no empty text
    #[arg(long)]
    pub quoted_null: bool,
    /// What becomes of records with more or fewer cells than there are columns: error, skip or fill
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub ragged: String,
    /// What becomes of columns whose names no predicates can have: clean makes names of them, keep and error refuse them
    #[arg(long, value_name = "WHAT", default_value = "clean")]
    pub names: String,
    /// The type of a column of a CSV file, `column=type`
    #[arg(long = "cast", value_name = "COLUMN=TYPE")]
    pub types: Vec<String>,
    /// The names of the columns of a file that has none: `--columns id,name,born`
    #[arg(long = "columns", value_name = "NAMES", value_delimiter = ',')]
    pub column_names: Option<Vec<String>>,
}

/// The arguments of `sniff`.
#[derive(Args)]
pub(super) struct SniffArguments {
    /// The file: .csv, .tsv, .txt, .json, .jsonl, .parquet, .arrow and others that `load` takes as tables
    pub file: PathBuf,
    /// How many rows are printed
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    pub rows: usize,
    /// How the file is written
    #[command(flatten)]
    pub text: TextArguments,
}
