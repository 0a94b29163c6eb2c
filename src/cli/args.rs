//! The command line as clap reads it.
//!
//! Always true: every command takes the same options for where to look and how to print.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::parse_duration;

/// Lays what should exist in a fleet of clusters beside what does, and explains every difference.
#[derive(Debug, Parser)]
#[command(name = "trueup", version)]
pub struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    /// Without a command: the console on a terminal, the table of `trueup plan` elsewhere.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Where to look, who to be, how to print.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Read a snapshot folder instead of live clusters
    #[arg(long, global = true, value_name = "DIR", conflicts_with_all = ["contexts", "all_contexts"])]
    pub from: Option<PathBuf>,
    /// A context of the kubeconfig; may be given several times
    #[arg(long = "context", global = true, value_name = "NAME")]
    pub contexts: Vec<String>,
    /// Every context of the kubeconfig
    #[arg(long, global = true, conflicts_with = "contexts")]
    pub all_contexts: bool,
    /// The kubeconfig file, instead of KUBECONFIG or ~/.kube/config
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub act_as: Option<String>,
    /// Act as a member of this group; may be given several times
    #[arg(long = "as-group", global = true, value_name = "GROUP", requires = "act_as")]
    pub act_as_groups: Vec<String>,
    /// The config file, instead of trueup/config.toml in the user's config folder
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = ColorWhen::Auto, value_name = "WHEN")]
    pub color: ColorWhen,
    /// Show times in UTC
    #[arg(long, global = true)]
    pub utc: bool,
    /// Offer writes to clusters whose certificate is not verified
    #[arg(long, global = true)]
    pub allow_insecure_writes: bool,
    /// Offer no writes at all
    #[arg(long, global = true)]
    pub read_only: bool,
    /// Write a log to this file; nothing is ever logged to the terminal
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Show more: matches one by one, and debug lines in the log
    #[arg(short = 'v', long, global = true)]
    pub verbose: bool,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Findings and the actions that would settle them
    Plan(PlanArgs),
    /// One finding in full: expected, actual, evidence, remedy
    Explain(ExplainArgs),
    /// Apply a saved plan: exactly what it shows, or nothing
    Apply(ApplyArgs),
    /// Plan the inverse of what was applied, then ask for the same approval
    Undo(UndoArgs),
    /// What was applied, by whom, and what came of it
    History(HistoryArgs),
    /// Whether config, clusters, permissions and terminal are fit for work
    Doctor,
    /// External OIDC: what a cluster's Authentication becomes, and who a token would be
    Oidc(OidcArgs),
    /// An embedded fleet to look at; nothing outside the process is touched
    Demo(DemoArgs),
    /// What a kubeconfig or a bearer token says of itself; never prints the secret part
    Token(TokenArgs),
    /// Which key does what in the console
    Keys(PageArgs),
    /// The console's themes, with a sample of each
    Themes(PageArgs),
    /// A completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// The manual page
    Man,
}

#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = PlanFormat::Table, value_name = "FORMAT")]
    pub format: PlanFormat,
    /// Only this check (a pattern); may be given several times
    #[arg(long = "domain", value_name = "NAME")]
    pub domains: Vec<String>,
    /// Only this cluster (a pattern); may be given several times
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// Only this namespace (a pattern); may be given several times
    #[arg(long = "namespace", short = 'n', value_name = "NAME")]
    pub namespaces: Vec<String>,
    /// Leave matches out
    #[arg(long)]
    pub changes_only: bool,
    /// How long a verdict has to hold before its delete is offered (live clusters; default 5s)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub settle: Option<Duration>,
    /// Go on and print what changes
    #[arg(long, conflicts_with_all = ["from", "out"])]
    pub watch: bool,
    /// Also try what can be tried, one request each: kubeconfigs that lead where they should, discovery documents
    #[arg(long)]
    pub probe: bool,
    /// How many deletes a plan may hold; more than the brake allows makes each of them T4
    #[arg(long, value_name = "N")]
    pub max_deletes: Option<u64>,
    /// Also write the plan to a file that only you can read
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    Table,
    Json,
    /// For a change ticket
    Markdown,
    /// One row a finding
    Csv,
}

#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The finding's id, or a part of it that no other finding has
    pub finding: String,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
    pub format: ExplainFormat,
}

/// How a finding is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    Table,
    Json,
}

#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// A plan that `trueup plan --out` wrote
    pub file: PathBuf,
    /// Only this action; may be given several times
    #[arg(long = "only", value_name = "ACTION", num_args = 1..)]
    pub only: Vec<String>,
    #[command(flatten)]
    pub consent: ConsentArgs,
}

#[derive(Debug, Clone, Args)]
pub struct UndoArgs {
    /// The beginning of a plan's id; with /ACTION behind it, that action alone
    pub entry: String,
    /// Write the plan to a file that only you can read, for `trueup apply`, and send nothing
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub consent: ConsentArgs,
}

/// How a plan is approved, carried out and told.
#[derive(Debug, Clone, Args)]
pub struct ConsentArgs {
    /// The plan's id: 8 characters for T1 and T2, the whole from T3; needed without a terminal
    #[arg(long, value_name = "ID")]
    pub expect: Option<String>,
    /// A cluster whose T4 actions are meant; may be given several times
    #[arg(long = "confirm-cluster", value_name = "NAME")]
    pub confirm_clusters: Vec<String>,
    /// What to do when something refers to what was just deleted
    #[arg(long, value_enum, default_value_t = NewReference::Report, value_name = "WHAT")]
    pub on_new_reference: NewReference,
    /// How long after the last delete to look for new references once more (default 30s)
    #[arg(long = "look-back", value_name = "DURATION", value_parser = duration)]
    pub scan_references: Option<Duration>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = ApplyFormat::Table, value_name = "FORMAT")]
    pub format: ApplyFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewReference {
    /// Bring it back from its backup
    Restore,
    /// Say so
    Report,
}

/// How a run is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ApplyFormat {
    /// A line an action, as it ends
    Table,
    /// One object at the end
    Json,
}

#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// Without one: the list, newest first.
    #[command(subcommand)]
    pub what: Option<HistoryWhat>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum HistoryWhat {
    /// One plan that was applied, with every action
    Show {
        /// The beginning of the plan's id; with /ACTION behind it, that action alone
        entry: String,
    },
    /// Whether every record is the one that was written, in its place
    Verify,
    /// Every record as a line of JSON, without what leads to a backup
    Export,
}

#[derive(Debug, Clone, Args)]
pub struct OidcArgs {
    #[command(subcommand)]
    pub what: OidcWhat,
}

#[derive(Debug, Clone, Subcommand)]
pub enum OidcWhat {
    /// The exact bytes of auth-config.json, or what is wrong with the Authentication
    Render {
        /// Which cluster, where there are several
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// Also fetch the provider's discovery document, once, from here (live clusters)
        #[arg(long)]
        probe: bool,
    },
    /// Who a token with these claims would be, or which rule refuses it; no signature is checked
    Login {
        /// A file with claims as JSON, or with a token; - for stdin
        #[arg(long, value_name = "FILE")]
        claims: PathBuf,
        /// Which cluster, where there are several
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// How to print
        #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
        format: ExplainFormat,
    },
}

#[derive(Debug, Clone, Args)]
pub struct TokenArgs {
    /// A kubeconfig or a token; stdin without one, or with -
    pub file: Option<PathBuf>,
    /// Judge it at this time instead of now: 2026-11-16T10:00:00Z
    #[arg(long, value_name = "TIME")]
    pub now: Option<jiff::Timestamp>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = TokenFormat::Table, value_name = "FORMAT")]
    pub format: TokenFormat,
}

/// How a token is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenFormat {
    Table,
    Json,
}

#[derive(Debug, Clone, Args)]
pub struct PageArgs {
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = PageFormat::Table, value_name = "FORMAT")]
    pub format: PageFormat,
}

/// How a page of reference is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    Table,
    /// As it stands in the docs
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Also serve the demo's Kubernetes APIs here, and write a kubeconfig
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<std::net::SocketAddr>,
    /// Serve only, on free ports unless --listen says where; the first line of stdout is the kubeconfig's path
    #[arg(long)]
    pub headless: bool,
    /// The same seed gives the same story
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// So many guest clusters more
    #[arg(long, value_name = "N")]
    pub clusters: Option<usize>,
    /// So many ordinary objects more, spread over the guests
    #[arg(long, value_name = "N")]
    pub objects: Option<usize>,
}

impl Default for PlanArgs {
    fn default() -> Self {
        Self {
            format: PlanFormat::Table,
            domains: Vec::new(),
            clusters: Vec::new(),
            namespaces: Vec::new(),
            changes_only: false,
            settle: None,
            watch: false,
            probe: false,
            max_deletes: None,
            out: None,
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}
