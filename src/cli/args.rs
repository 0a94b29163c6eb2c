//! The command line as clap reads it.
//!
//! Invariants: every command takes the same options for where to look and how to print.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::help;
use crate::config::parse_duration;

/// Compares what should exist in a fleet of clusters with what does, and explains every difference.
#[derive(Debug, Parser)]
#[command(name = "trueup", version, after_help = help::TRUEUP)]
pub struct Cli {
    #[command(flatten, next_help_heading = "Common options")]
    pub globals: Globals,
    /// Without a command: the console on a terminal, the table of `trueup plan` elsewhere.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command: which clusters, which identity, how to print.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Read a snapshot folder or archive (.tar, .tar.gz, .tar.zst) instead of live clusters
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
    /// The context of the cluster that a controller runs in
    #[arg(long, global = true, value_name = "CONTEXT")]
    pub hub: Option<String>,
    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER")]
    pub act_as: Option<String>,
    /// Act as a member of this group; may be given several times
    #[arg(long = "as-group", global = true, value_name = "GROUP", requires = "act_as")]
    pub act_as_groups: Vec<String>,
    /// How long the response to a read may take to begin: 5s, 1m; 0 for trueup's own limits
    #[arg(long, global = true, value_name = "DURATION", value_parser = request_timeout)]
    pub request_timeout: Option<Duration>,
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
    /// Record this session of the console to a new file, for `trueup replay`
    #[arg(long, global = true, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// List every match, and log debug lines
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
    /// List findings and the actions that fix them
    #[command(after_help = help::PLAN)]
    Plan(PlanArgs),
    /// Show one finding in full: expected, actual, evidence, remedy
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// Print a saved plan, check its id and mark, and report whether it can still be applied
    #[command(after_help = help::SHOW)]
    Show(ShowArgs),
    /// Apply a saved plan: exactly what it shows, or nothing
    #[command(after_help = help::APPLY)]
    Apply(ApplyArgs),
    /// Plan the inverse of an applied plan, then ask for the same approval
    #[command(after_help = help::UNDO)]
    Undo(UndoArgs),
    /// List what was applied, by whom, and with which result
    #[command(after_help = help::HISTORY)]
    History(HistoryArgs),
    /// Check config, clusters, permissions and terminal
    #[command(after_help = help::DOCTOR)]
    Doctor,
    /// Print the least roles for the enabled checks, as YAML
    #[command(after_help = help::RBAC)]
    Rbac(RbacArgs),
    /// List, show and answer the Proposals of a controller
    #[command(after_help = help::PROPOSALS)]
    Proposals(ProposalsArgs),
    /// Write a redacted snapshot of what the checks read, for --from
    #[command(after_help = help::GATHER)]
    Gather(GatherArgs),
    /// Render a cluster's external OIDC configuration, and test a token against it
    Oidc(OidcArgs),
    /// Start an embedded fleet; nothing outside the process is touched
    #[command(after_help = help::DEMO)]
    Demo(DemoArgs),
    /// Watch the fleet, propose what is to be done and apply what was approved: the controller, in a cluster
    #[command(after_help = help::RUN)]
    Run(RunArgs),
    /// Open a recorded session of the console, or check that it replays to the recorded frames
    Replay(ReplayArgs),
    /// Describe a kubeconfig or a bearer token; never prints the secret part
    #[command(after_help = help::TOKEN)]
    Token(TokenArgs),
    /// Serve findings, explanations and plans to an MCP client on stdin and stdout; no tool can approve or apply
    #[command(after_help = help::MCP)]
    Mcp(McpArgs),
    /// List the keys of the console
    Keys(PageArgs),
    /// List the themes of the console, with a sample of each
    Themes(PageArgs),
    /// Print the JSON Schema of what trueup reads and writes
    #[command(after_help = help::SCHEMA)]
    Schema(SchemaArgs),
    /// Print version, commit and build
    Version(VersionArgs),
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page of a command, or write those of all commands
    #[command(after_help = help::MAN)]
    Man(ManArgs),
}

#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// Only these objects: KIND, KIND/NAME or KIND.GROUP/NAME, as kubectl spells them
    #[arg(value_name = "OBJECT")]
    pub objects: Vec<String>,
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
    /// All namespaces, whatever --namespace says (the default)
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
    /// Only findings with these fields: metadata.name, metadata.namespace, kind, cluster, domain, state, verdict
    #[arg(long, value_name = "FIELDS")]
    pub field_selector: Option<String>,
    /// Not supported: labels of objects are not kept; use --field-selector
    #[arg(long, short = 'l', value_name = "LABELS")]
    pub selector: Option<String>,
    /// Leave matches out
    #[arg(long)]
    pub changes_only: bool,
    /// How long a verdict must hold before its delete is offered (live clusters; default 5s)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub settle: Option<Duration>,
    /// Keep running and print changes
    #[arg(long, conflicts_with_all = ["from", "out"])]
    pub watch: bool,
    /// Also test each kubeconfig, discovery document and annotator role with one request
    #[arg(long)]
    pub probe: bool,
    /// How many deletes a plan may have; above the configured brake, each is T4
    #[arg(long, value_name = "N")]
    pub max_deletes: Option<u64>,
    /// Also select the actions of findings with this verdict (a pattern); may be given several times
    #[arg(long = "select", value_name = "VERDICT")]
    pub select: Vec<String>,
    /// How long the plan can be applied (default 15m, at most 7d)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub valid_for: Option<Duration>,
    /// Fail with 4 unless this saved plan, which may have expired, holds every action that would run
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub within: Option<PathBuf>,
    /// Also write the plan to a file that only you can read
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    Table,
    /// The table with more columns, and nothing cut
    Wide,
    /// The plan file
    Json,
    /// The same document as YAML
    Yaml,
    /// The object of each finding that does not match, as kubectl spells it
    Name,
    /// For a change ticket
    Markdown,
    /// One row per finding
    Csv,
    /// A test suite per check, a test case per finding
    Junit,
    /// A result per finding that does not match
    Sarif,
    /// Numbers of findings and actions
    Openmetrics,
    /// One page for a browser
    Html,
}

#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Where /healthz, /readyz and /metrics are served
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:8080")]
    pub listen: std::net::SocketAddr,
    /// The namespace of Proposals, Approvals and Leases (default: that of the pod or context)
    #[arg(long, short = 'n', value_name = "NAME")]
    pub namespace: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The id of the finding or a unique part of it, KIND/NAME, or an action of --plan
    pub finding: String,
    /// The namespace of KIND/NAME
    #[arg(long, short = 'n', value_name = "NAME")]
    pub namespace: Option<String>,
    /// KIND/NAME in any namespace, whatever --namespace says
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
    /// Show actual and expected with KUBECTL_EXTERNAL_DIFF, or diff -u -N
    #[arg(long, conflicts_with = "format")]
    pub diff: bool,
    /// Explain a finding or an action of this saved plan instead of the fleet
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
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
pub struct ShowArgs {
    /// A saved plan
    pub file: PathBuf,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = PlanFormat::Table, value_name = "FORMAT")]
    pub format: PlanFormat,
    /// Show what each action changes with KUBECTL_EXTERNAL_DIFF, or diff -u -N
    #[arg(long, conflicts_with = "format")]
    pub diff: bool,
}

#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// A plan that `trueup plan --out` wrote
    pub file: PathBuf,
    /// Only this action; may be given several times
    #[arg(long = "only", value_name = "ACTION", num_args = 1..)]
    pub only: Vec<String>,
    /// Without this action; may be given several times
    #[arg(long = "exclude", value_name = "ACTION", num_args = 1..)]
    pub exclude: Vec<String>,
    /// Accept a plan that has no valid mark of this state folder; every action is T4
    #[arg(long)]
    pub foreign_plan: bool,
    #[command(flatten)]
    pub consent: ConsentArgs,
}

#[derive(Debug, Clone, Args)]
pub struct UndoArgs {
    /// The first characters of a plan's id; with /ACTION, only that action
    pub entry: String,
    /// Write the plan to a file that only you can read, for `trueup apply`, and send nothing
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub consent: ConsentArgs,
}

/// Approval, execution and output of a plan.
#[derive(Debug, Clone, Args)]
pub struct ConsentArgs {
    /// The plan's id: 8 characters for T1 and T2, the whole from T3; needed without a terminal
    #[arg(long, value_name = "ID")]
    pub expect: Option<String>,
    /// Confirm the T4 actions of this cluster; may be given several times
    #[arg(long = "confirm-cluster", value_name = "NAME")]
    pub confirm_clusters: Vec<String>,
    /// What to do when an object refers to a deleted one
    #[arg(long, value_enum, default_value_t = NewReference::Report, value_name = "WHAT")]
    pub on_new_reference: NewReference,
    /// When to scan for new references again, after the last delete (default 30s)
    #[arg(long = "look-back", value_name = "DURATION", value_parser = duration)]
    pub scan_references: Option<Duration>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = ApplyFormat::Table, value_name = "FORMAT")]
    pub format: ApplyFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewReference {
    /// Restore the deleted object from its backup
    Restore,
    /// Report the reference
    Report,
}

/// Output of apply and undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ApplyFormat {
    /// One line per action, when it ends
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
    /// Show one applied plan, with every action
    Show {
        /// The first characters of the plan's id; with /ACTION, only that action
        entry: String,
    },
    /// Verify the checksum and order of every record
    Verify {
        /// Compare with this hash, as syslog has it, instead of the published one
        #[arg(long, value_name = "HASH")]
        published: Option<String>,
    },
    /// Print every record as a line of JSON, without the names of backups
    Export,
}

#[derive(Debug, Clone, Args)]
pub struct OidcArgs {
    #[command(subcommand)]
    pub what: OidcWhat,
}

#[derive(Debug, Clone, Subcommand)]
pub enum OidcWhat {
    /// Print the exact bytes of auth-config.json, or the problems of the Authentication
    Render {
        /// The cluster, if there are several
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// Judge the Authentication or HostedCluster in this file instead of the cluster's
        #[arg(short = 'f', long = "file", value_name = "FILE")]
        file: Option<PathBuf>,
        /// Also fetch the provider's discovery document, once, from here (live clusters)
        #[arg(long)]
        probe: bool,
    },
    /// Seal users, groups, identities, OAuth clients and role bindings of a live cluster
    Backup {
        /// Where the sealed files are written; existing files are not replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The cluster, if there are several
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
    },
    /// Compare issuer, audience, mappings and CA of every cluster, and mark what differs from most
    Matrix {
        /// Also show who a token with these claims would be on each cluster; - for stdin
        #[arg(long, value_name = "FILE")]
        claims: Option<PathBuf>,
        /// How to print
        #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
        format: ExplainFormat,
    },
    /// Show the user of a token with these claims, or the rule that refuses it; no signature is checked
    Login {
        /// A file with claims as JSON, or with a token; - for stdin
        #[arg(long, value_name = "FILE")]
        claims: PathBuf,
        /// Also send the token to the cluster's API server (SelfSubjectReview) and compare its answer
        #[arg(long)]
        review: bool,
        /// The cluster, if there are several
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// Judge the Authentication or HostedCluster in this file instead of the cluster's
        #[arg(short = 'f', long = "file", value_name = "FILE")]
        file: Option<PathBuf>,
        /// How to print
        #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
        format: ExplainFormat,
    },
}

#[derive(Debug, Clone, Args)]
pub struct RbacArgs {
    /// Only this check; may be given several times
    #[arg(long = "check", value_name = "NAME", num_args = 1..)]
    pub checks: Vec<String>,
    /// What the roles are for
    #[arg(long, value_enum, default_value_t = RbacMode::Observe, value_name = "MODE")]
    pub mode: RbacMode,
    /// The roles of guests instead, for kubeconfigs that are not their administrator's
    #[arg(long, conflicts_with = "belt")]
    pub guest: bool,
    /// An admission policy that limits what the user may delete, instead of roles
    #[arg(long)]
    pub belt: bool,
    /// The user that the roles are bound to, as the API server of the cluster knows it
    #[arg(long, value_name = "NAME", default_value = "system:serviceaccount:trueup:trueup")]
    pub user: String,
}

/// What roles are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RbacMode {
    /// Read what the checks read
    Observe,
    /// Read, and write the controller's own objects
    Propose,
    /// Also write what remedies and their undo write
    Apply,
}

impl RbacMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Propose => "propose",
            Self::Apply => "apply",
        }
    }
}

#[derive(Debug, Clone, Args)]
pub struct ProposalsArgs {
    /// The controller's namespace
    #[arg(long, short = 'n', global = true, value_name = "NAME", default_value = "trueup")]
    pub namespace: String,
    #[command(subcommand)]
    pub what: ProposalsWhat,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ProposalsWhat {
    /// List them, those that wait for approval first
    List {
        /// How to print
        #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
        format: ExplainFormat,
    },
    /// Print the plan of one, as trueup show does, with its approvals and results
    Show {
        /// The name, or the first characters of the plan's id
        proposal: String,
        /// How to print
        #[arg(short = 'o', long = "output", value_enum, default_value_t = PlanFormat::Table, value_name = "FORMAT")]
        format: PlanFormat,
    },
    /// Approve one: its tier decides what is asked
    Approve {
        /// The name, or the first characters of the plan's id
        proposal: String,
        /// Only this action; may be given several times
        #[arg(long = "only", value_name = "ACTION", num_args = 1..)]
        only: Vec<String>,
        /// The plan's id: 8 characters for T1 and T2, the whole from T3; needed without a terminal
        #[arg(long, value_name = "ID")]
        expect: Option<String>,
        /// Confirm the T4 actions of this cluster
        #[arg(long = "confirm-cluster", value_name = "NAME")]
        confirm_clusters: Vec<String>,
    },
    /// Reject one; the controller does not apply it any more
    Reject {
        /// The name, or the first characters of the plan's id
        proposal: String,
        /// Why, for the readers of the Proposal
        #[arg(long, value_name = "TEXT", default_value = "")]
        reason: String,
    },
}

#[derive(Debug, Clone, Args)]
pub struct GatherArgs {
    /// Where the snapshot is written; a folder that is new or empty
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// A session recording, as --record writes it
    pub file: PathBuf,
    /// Replay every input without a terminal, and compare each frame with the recorded one
    #[arg(long)]
    pub check: bool,
    /// The same, and print every frame as text
    #[arg(long)]
    pub frames: bool,
}

#[derive(Debug, Clone, Args)]
pub struct TokenArgs {
    /// A kubeconfig or a token; stdin without one, or with -
    pub file: Option<PathBuf>,
    /// Check it at this time instead of now: 2026-11-16T10:00:00Z
    #[arg(long, value_name = "TIME")]
    pub now: Option<jiff::Timestamp>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = TokenFormat::Table, value_name = "FORMAT")]
    pub format: TokenFormat,
}

/// Output of `trueup token`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TokenFormat {
    Table,
    Json,
}

#[derive(Debug, Clone, Args)]
pub struct McpArgs {
    /// Let a tool write new plan files into this folder; without it no tool writes anything
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// How long a verdict must hold before its delete is offered (live clusters; default 5s)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub settle: Option<Duration>,
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
    /// As in the docs
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// The command, such as history verify; without one the program
    pub command: Vec<String>,
    /// Write a file for each command into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["command", "format"])]
    pub dir: Option<PathBuf>,
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = ManFormat::Roff, value_name = "FORMAT")]
    pub format: ManFormat,
}

/// How a manual is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ManFormat {
    /// For man
    Roff,
    /// All commands, as in the docs
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub struct VersionArgs {
    /// How to print
    #[arg(short = 'o', long = "output", value_enum, default_value_t = ExplainFormat::Table, value_name = "FORMAT")]
    pub format: ExplainFormat,
}

#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Of what
    #[arg(value_enum)]
    pub name: SchemaName,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// A plan, as plan -o json and --out write it
    Plan,
    /// A line of history export
    Journal,
    /// The fleet.yaml of a snapshot
    Fleet,
    /// The config.toml
    Config,
}

#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Also serve the demo's Kubernetes APIs here, and write a kubeconfig
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<std::net::SocketAddr>,
    /// Serve only, on free ports unless --listen says where; the first line of stdout is the kubeconfig's path
    #[arg(long)]
    pub headless: bool,
    /// Seed of the scenario
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of additional guest clusters
    #[arg(long, value_name = "N")]
    pub clusters: Option<usize>,
    /// Number of additional objects, spread over the guests
    #[arg(long, value_name = "N")]
    pub objects: Option<usize>,
}

impl Default for PlanArgs {
    fn default() -> Self {
        Self {
            format: PlanFormat::Table,
            domains: Vec::new(),
            clusters: Vec::new(),
            objects: Vec::new(),
            namespaces: Vec::new(),
            all_namespaces: false,
            field_selector: None,
            selector: None,
            changes_only: false,
            settle: None,
            watch: false,
            probe: false,
            max_deletes: None,
            select: Vec::new(),
            valid_for: None,
            within: None,
            out: None,
        }
    }
}

/// As kubectl reads it: `0` is no limit, and a number alone is seconds.
fn request_timeout(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).or_else(|_| duration(text))
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}
