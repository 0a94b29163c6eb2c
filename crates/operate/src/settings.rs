//! What the configuration decides for every front end, as plain data.
//!
//! Invariants: a cluster that no rule matches is prod.
//! Elsewhere: reading the file (`config` of the program).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use trueup_core::engine::{AcceptRule, FreezeWindow, Glob, ManagedElsewhere, PlanLimits, PolicyRule};
use trueup_core::world::{ClusterName, Declaration, MemberRule, Namespace, Provider, RiskClass};
use trueup_fleet::budgets::Budgets;
use trueup_net::Egress;

/// Each live guest costs a few watches and some megabytes; 64 fit a laptop.
const LIVE_MAX: usize = 64;
/// Long enough for a quarter's audit.
const KEEP: Duration = Duration::from_secs(90 * 24 * 3600);
/// How long a verdict must hold when neither a flag nor the configuration sets it.
pub const SETTLE: Duration = Duration::from_secs(5);

/// The configuration of one process.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub clusters: ClusterRules,
    pub policy: Vec<PolicyRule>,
    pub safety: Safety,
    pub accept: Vec<AcceptRule>,
    pub clouds: Vec<CloudAccount>,
    /// `[egress]`: hosts that may receive more than the rules allow.
    pub egress: Egress,
    /// `[exec] allow`: the only credential plugins that run. Absent: no list.
    pub exec_allow: Option<Vec<String>>,
    /// `[budgets]`: how much a cluster may make this program read and keep.
    pub budgets: Budgets,
    /// `[journal] publish`: where the journal's last hash is published after each run.
    pub publish: Option<PublishTarget>,
}

/// The rules of `[[clusters]]` in the order of the file. The first that matches a name wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterRules(Vec<ClusterRule>);

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterRule {
    pub matches: Glob,
    pub class: Option<RiskClass>,
    /// Where to list when a cluster-wide list is forbidden.
    pub namespaces: Vec<Namespace>,
}

/// The settings of `[safety]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Safety {
    pub read_only: bool,
    /// A file whose presence stops all writes.
    pub kill_switch: Option<PathBuf>,
    pub freeze: Vec<FreezeWindow>,
    /// The age recipients of backups. Empty: the key in the state folder.
    pub recipients: Vec<String>,
    /// How many guests are kept live at once.
    pub live_max: usize,
    /// How long a verdict must hold before its delete is offered. Absent: [`SETTLE`].
    pub settle: Option<Duration>,
    /// How long finished plans stay in the journal, with their backups.
    pub keep: Duration,
    /// `plan_ttl` and `plan_ttl_max`: how long plans may be valid.
    pub plans: PlanLimits,
    /// What happens to objects that another tool manages.
    pub managed_elsewhere: ManagedElsewhere,
}

/// One account of `[clouds.<provider>.<alias>]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudAccount {
    pub provider: Provider,
    /// The user's name for it.
    pub alias: String,
    pub key: Option<CloudKey>,
    /// Endpoints to use instead of the public ones, by the name of the service.
    pub endpoints: BTreeMap<String, String>,
    /// Clusters whose objects may point into this account; empty: those of the run.
    pub management_clusters: Vec<Glob>,
    /// Whether no other cluster uses the account (`management_clusters_complete`).
    pub declaration: Declaration,
}

/// Where the journal's last hash is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishTarget {
    /// A line is appended to this file after each run.
    File(PathBuf),
    /// One key of a ConfigMap is replaced after each run.
    ConfigMap { context: String, namespace: String, name: String },
    /// A message is sent to the syslog daemon behind this socket after each run. It is written, never read back.
    Syslog { socket: PathBuf },
}

impl CloudAccount {
    /// The account's set of members, in a run that does not open these contexts.
    pub fn members(&self, not_opened: Vec<String>) -> MemberRule {
        let (patterns, declaration) = (self.management_clusters.clone(), self.declaration);
        MemberRule { patterns, declaration, not_opened }
    }
}

/// Where the credential of an account comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloudKey {
    /// A file with an API key.
    File(PathBuf),
    /// The name of an environment variable with an API key.
    Env(String),
    /// A file with an IAM access token, which another program keeps current.
    TokenFile(PathBuf),
    /// A trusted profile, by name or id, which this machine's compute resource token is exchanged for.
    TrustedProfile(String),
}

impl Settings {
    /// How long a verdict must hold before its delete is offered.
    pub fn settle(&self) -> Duration {
        self.safety.settle.unwrap_or(SETTLE)
    }
}

impl ClusterRules {
    pub fn new(rules: Vec<ClusterRule>) -> Self {
        Self(rules)
    }

    /// The class of a cluster: by its own rule, else by its management cluster's, else prod.
    pub fn class_of(&self, name: &ClusterName, hosted_by: Option<&ClusterName>) -> RiskClass {
        let class = |name: &ClusterName| self.rule_of(name).and_then(|rule| rule.class);
        class(name).or_else(|| hosted_by.and_then(class)).unwrap_or_default()
    }

    /// Where to list when a cluster-wide list is forbidden; empty when no rule names namespaces.
    pub fn namespaces_of(&self, name: &ClusterName) -> &[Namespace] {
        self.rule_of(name).map_or(&[], |rule| &rule.namespaces)
    }

    fn rule_of(&self, name: &ClusterName) -> Option<&ClusterRule> {
        self.0.iter().find(|rule| rule.matches.matches(name.as_str()))
    }
}

impl Default for Safety {
    fn default() -> Self {
        Self {
            read_only: false,
            kill_switch: None,
            freeze: Vec::new(),
            recipients: Vec::new(),
            live_max: LIVE_MAX,
            settle: None,
            keep: KEEP,
            plans: PlanLimits::default(),
            managed_elsewhere: ManagedElsewhere::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(matches: &str, class: Option<RiskClass>) -> ClusterRule {
        ClusterRule { matches: Glob::parse(matches).unwrap(), class, namespaces: vec![Namespace::new(matches)] }
    }

    #[test]
    fn the_class_is_the_clusters_own_then_its_hosts_then_prod() {
        let rules = ClusterRules::new(vec![
            rule("stage-prod-*", Some(RiskClass::Prod)),
            rule("stage-*", Some(RiskClass::Stage)),
            rule("named-only", None),
            rule("lab", Some(RiskClass::Dev)),
        ]);
        let cases = [
            ("first match wins", "stage-prod-1", None, RiskClass::Prod),
            ("own rule", "stage-1", None, RiskClass::Stage),
            ("own rule before the host's", "stage-1", Some("lab"), RiskClass::Stage),
            ("guest inherits", "guest", Some("lab"), RiskClass::Dev),
            ("a rule without a class inherits", "named-only", Some("lab"), RiskClass::Dev),
            ("unmatched guest of an unmatched host", "guest", Some("mgmt"), RiskClass::Prod),
            ("unmatched", "other", None, RiskClass::Prod),
        ];
        for (case, name, host, expected) in cases {
            let host = host.map(ClusterName::new);
            assert_eq!(rules.class_of(&ClusterName::new(name), host.as_ref()), expected, "case: {case}");
        }
        assert_eq!(rules.namespaces_of(&ClusterName::new("lab")), [Namespace::new("lab")]);
        assert_eq!(rules.namespaces_of(&ClusterName::new("other")), []);
    }
}
