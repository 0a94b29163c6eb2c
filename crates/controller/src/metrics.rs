//! What a replica tells about itself, as OpenMetrics text.
//!
//! Invariants: labels are names of clusters and checks of the fleet, and words of this program: their number is bounded by
//! the configuration. Names of objects are labels of credentials alone, at most [`CREDENTIALS_MAX`]. No message is a label.
//!
//! Elsewhere: serving it (`serve`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::api::Phase;
use crate::shard::ShardId;
use trueup_core::engine::State;

/// The media type of the text.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Findings that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingCount {
    pub cluster: String,
    pub check: &'static str,
    pub state: State,
}

/// Proposals that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProposalCount {
    pub phase: Phase,
    pub check: String,
}

/// The most credentials that are listed: those that end first.
pub const CREDENTIALS_MAX: usize = 1_000;

/// A cluster this replica acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterState {
    pub cluster: String,
    pub link: &'static str,
    /// When the server confirmed the oldest of the complete lists. Nothing where no list is complete.
    pub confirmed_at: Option<Timestamp>,
}

/// The object that holds a credential or a certificate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CredentialPlace {
    pub cluster: String,
    pub namespace: String,
    pub name: String,
}

/// What a replica says of itself.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    is_ready: bool,
    findings: BTreeMap<FindingCount, u64>,
    proposals: BTreeMap<ProposalCount, u64>,
    /// By check, verb and outcome.
    actions: BTreeMap<(String, &'static str, &'static str), u64>,
    clusters: Vec<ClusterState>,
    /// When each credential ends.
    credentials: BTreeMap<CredentialPlace, Timestamp>,
    lag: Duration,
    shards: u32,
    held: BTreeSet<ShardId>,
}

impl Metrics {
    fn lock(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fleet was listed once.
    pub fn ready(&self) {
        self.lock().is_ready = true;
    }

    pub fn is_ready(&self) -> bool {
        self.lock().is_ready
    }

    pub fn findings(&self, counts: BTreeMap<FindingCount, u64>) {
        self.lock().findings = counts;
    }

    /// A cluster without a complete list keeps the time of its last one, so that its age grows.
    pub fn clusters(&self, mut clusters: Vec<ClusterState>) {
        let mut values = self.lock();
        for state in clusters.iter_mut().filter(|state| state.confirmed_at.is_none()) {
            let before = values.clusters.iter().find(|before| before.cluster == state.cluster);
            state.confirmed_at = before.and_then(|before| before.confirmed_at);
        }
        values.clusters = clusters;
    }

    pub fn credentials(&self, ends: BTreeMap<CredentialPlace, Timestamp>) {
        let mut soonest: Vec<_> = ends.into_iter().collect();
        soonest.sort_by_key(|(_, until)| *until);
        soonest.truncate(CREDENTIALS_MAX);
        self.lock().credentials = soonest.into_iter().collect();
    }

    pub fn proposals(&self, counts: BTreeMap<ProposalCount, u64>) {
        self.lock().proposals = counts;
    }

    pub fn shards(&self, count: NonZeroU32, held: &BTreeSet<ShardId>) {
        let mut values = self.lock();
        values.shards = count.get();
        values.held = held.clone();
    }

    /// How long a plan was due before it was made.
    pub fn lag(&self, lag: Duration) {
        self.lock().lag = lag;
    }

    /// An action ended.
    pub fn action(&self, check: &str, verb: &'static str, outcome: &'static str) {
        *self.lock().actions.entry((check.to_owned(), verb, outcome)).or_default() += 1;
    }

    /// The text of all of it, with ages as of `now`.
    pub fn render(&self, now: Timestamp) -> String {
        let values = self.lock();
        let mut text = Text::default();
        text.family("trueup_findings", "gauge", "Findings by cluster, check and state.");
        for (FindingCount { cluster, check, state }, count) in &values.findings {
            let labels = [("cluster", cluster.as_str()), ("check", check), ("state", state.as_str())];
            text.sample("trueup_findings", &labels, *count);
        }
        text.family("trueup_proposals", "gauge", "Proposals by phase and check.");
        for (ProposalCount { phase, check }, count) in &values.proposals {
            text.sample("trueup_proposals", &[("phase", phase.as_str()), ("check", check)], *count);
        }
        text.family("trueup_actions", "counter", "Actions that ended, by check, verb and outcome.");
        for ((check, verb, outcome), count) in &values.actions {
            let labels = [("check", check.as_str()), ("verb", verb), ("outcome", outcome)];
            text.sample("trueup_actions_total", &labels, *count);
        }
        text.family("trueup_cluster_link", "gauge", "State of the connection to a cluster.");
        for ClusterState { cluster, link, confirmed_at: _ } in &values.clusters {
            text.sample("trueup_cluster_link", &[("cluster", cluster), ("state", link)], 1);
        }
        text.family("trueup_cluster_age_seconds", "gauge", "How old the oldest complete list of a cluster is.");
        for ClusterState { cluster, link: _, confirmed_at } in &values.clusters {
            if let Some(at) = confirmed_at {
                text.sample("trueup_cluster_age_seconds", &[("cluster", cluster)], seconds(*at, now).max(0));
            }
        }
        text.family(
            "trueup_credential_expiry_seconds",
            "gauge",
            "Seconds until a credential ends; negative afterwards.",
        );
        for (CredentialPlace { cluster, namespace, name }, until) in &values.credentials {
            let labels = [("cluster", cluster.as_str()), ("namespace", namespace), ("name", name)];
            text.sample("trueup_credential_expiry_seconds", &labels, seconds(now, *until));
        }
        text.family("trueup_loop_lag_seconds", "gauge", "How long a plan was due before it was made.");
        text.sample("trueup_loop_lag_seconds", &[], values.lag.as_secs());
        text.family("trueup_shard_held", "gauge", "Whether this replica holds the shard.");
        for shard in (0..values.shards).map(ShardId) {
            let is_held = u64::from(values.held.contains(&shard));
            text.sample("trueup_shard_held", &[("shard", &shard.to_string())], is_held);
        }
        text.0.push_str("# EOF\n");
        text.0
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _fits = write!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _fits = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// Whole seconds from one time to another.
fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.duration_since(from).as_secs()
}

/// A label's value as OpenMetrics writes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-19T10:00:00Z";
    const BEFORE: &str = "2026-11-19T09:00:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn state(link: &'static str, confirmed_at: Option<&str>) -> ClusterState {
        ClusterState { cluster: "guest-a".to_owned(), link, confirmed_at: confirmed_at.map(at) }
    }

    #[test]
    fn the_age_of_a_cluster_grows_while_no_list_of_it_is_complete() {
        let metrics = Metrics::default();
        metrics.clusters(vec![state("degraded", None)]);
        assert!(!metrics.render(at(NOW)).contains("trueup_cluster_age_seconds{"), "its age is not known");
        metrics.clusters(vec![state("live", Some(BEFORE))]);
        metrics.clusters(vec![state("degraded", None)]);
        assert!(metrics.render(at(NOW)).contains("trueup_cluster_age_seconds{cluster=\"guest-a\"} 3600"));
    }

    #[test]
    fn of_many_credentials_those_that_end_first_are_listed() {
        let metrics = Metrics::default();
        let end = |number: usize| {
            let (cluster, namespace, name) = ("mgmt".to_owned(), "workloads".to_owned(), format!("c-{number}"));
            let until = at(NOW) + Duration::from_secs(number as u64);
            (CredentialPlace { cluster, namespace, name }, until)
        };
        metrics.credentials((0..CREDENTIALS_MAX + 10).map(end).collect());
        let text = metrics.render(at(NOW));
        let listed: Vec<&str> =
            text.lines().filter(|line| line.starts_with("trueup_credential_expiry_seconds{")).collect();
        assert_eq!(listed.len(), CREDENTIALS_MAX);
        assert!(
            listed.iter().all(|line| !line.contains(&format!("c-{CREDENTIALS_MAX}\""))),
            "the last ones are left out"
        );
    }

    #[test]
    fn the_text_is_open_metrics_with_escaped_labels() {
        let metrics = Metrics::default();
        let finding = FindingCount { cluster: "a\"b\\c\n".to_owned(), check: "hosted-oidc", state: State::Extra };
        metrics.findings([(finding, 3)].into());
        metrics.proposals([(ProposalCount { phase: Phase::Proposed, check: "hosted-oidc".to_owned() }, 1)].into());
        metrics.action("hosted-oidc", "delete", "gone");
        metrics.action("hosted-oidc", "delete", "gone");
        metrics.clusters(vec![state("live", Some("2026-11-19T09:59:00Z"))]);
        let place = |name: &str| CredentialPlace {
            cluster: "mgmt".to_owned(),
            namespace: "workloads".to_owned(),
            name: name.to_owned(),
        };
        metrics.credentials([(place("soon"), at("2026-11-19T10:05:00Z")), (place("gone"), at(BEFORE))].into());
        metrics.shards(NonZeroU32::new(2).unwrap(), &[ShardId(1)].into());
        let text = metrics.render(at(NOW));
        for line in [
            r#"trueup_findings{cluster="a\"b\\c\n",check="hosted-oidc",state="extra"} 3"#,
            r#"trueup_proposals{phase="Proposed",check="hosted-oidc"} 1"#,
            r#"trueup_actions_total{check="hosted-oidc",verb="delete",outcome="gone"} 2"#,
            r#"trueup_cluster_link{cluster="guest-a",state="live"} 1"#,
            r#"trueup_cluster_age_seconds{cluster="guest-a"} 60"#,
            r#"trueup_credential_expiry_seconds{cluster="mgmt",namespace="workloads",name="soon"} 300"#,
            r#"trueup_credential_expiry_seconds{cluster="mgmt",namespace="workloads",name="gone"} -3600"#,
            "trueup_loop_lag_seconds 0",
            r#"trueup_shard_held{shard="0"} 0"#,
            r#"trueup_shard_held{shard="1"} 1"#,
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn alerts_and_dashboard_use_metrics_that_exist() {
        let text = Metrics::default().render(at(NOW));
        let families: BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
        let shipped = [
            include_str!("../../../deploy/monitoring/alerts.yaml"),
            include_str!("../../../deploy/monitoring/dashboard.json"),
        ];
        let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        for file in shipped {
            let words = file.split(|letter| !is_of_name(letter)).filter(|word| word.starts_with("trueup_"));
            for word in words {
                assert!(families.contains(word.strip_suffix("_total").unwrap_or(word)), "{word}");
            }
        }
    }
}
