//! What a replica tells about itself, as OpenMetrics text.
//!
//! Invariants: labels are names of clusters and checks of the fleet, and words of this program: their number is bounded by
//! the configuration; no name of an object and no message is a label.
//!
//! Elsewhere: serving it (`serve`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// A cluster this replica acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterState {
    pub cluster: String,
    pub link: &'static str,
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

    pub fn clusters(&self, clusters: Vec<ClusterState>) {
        self.lock().clusters = clusters;
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

    /// The text of all of it.
    pub fn render(&self) -> String {
        let values = self.lock();
        let mut text = Text::default();
        text.family("trueup_findings", "gauge", "Findings by cluster, check and state.");
        for (FindingCount { cluster, check, state }, count) in &values.findings {
            let labels = [("cluster", cluster.as_str()), ("check", check), ("state", state.as_str())];
            text.sample("trueup_findings", &labels, count);
        }
        text.family("trueup_proposals", "gauge", "Proposals by phase and check.");
        for (ProposalCount { phase, check }, count) in &values.proposals {
            text.sample("trueup_proposals", &[("phase", phase.as_str()), ("check", check)], count);
        }
        text.family("trueup_actions", "counter", "Actions that ended, by check, verb and outcome.");
        for ((check, verb, outcome), count) in &values.actions {
            let labels = [("check", check.as_str()), ("verb", verb), ("outcome", outcome)];
            text.sample("trueup_actions_total", &labels, count);
        }
        text.family("trueup_cluster_link", "gauge", "State of the connection to a cluster.");
        for ClusterState { cluster, link } in &values.clusters {
            text.sample("trueup_cluster_link", &[("cluster", cluster), ("state", link)], &1);
        }
        text.family("trueup_loop_lag_seconds", "gauge", "How long a plan was due before it was made.");
        text.sample("trueup_loop_lag_seconds", &[], &values.lag.as_secs());
        text.family("trueup_shard_held", "gauge", "Whether this replica holds the shard.");
        for shard in (0..values.shards).map(ShardId) {
            let is_held = u64::from(values.held.contains(&shard));
            text.sample("trueup_shard_held", &[("shard", &shard.to_string())], &is_held);
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

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &u64) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _fits = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A label's value as OpenMetrics writes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_open_metrics_with_escaped_labels() {
        let metrics = Metrics::default();
        let finding = FindingCount { cluster: "a\"b\\c\n".to_owned(), check: "hosted-oidc", state: State::Extra };
        metrics.findings([(finding, 3)].into());
        metrics.proposals([(ProposalCount { phase: Phase::Proposed, check: "hosted-oidc".to_owned() }, 1)].into());
        metrics.action("hosted-oidc", "delete", "gone");
        metrics.action("hosted-oidc", "delete", "gone");
        metrics.clusters(vec![ClusterState { cluster: "guest-a".to_owned(), link: "live" }]);
        metrics.shards(NonZeroU32::new(2).unwrap(), &[ShardId(1)].into());
        let text = metrics.render();
        for line in [
            r#"trueup_findings{cluster="a\"b\\c\n",check="hosted-oidc",state="extra"} 3"#,
            r#"trueup_proposals{phase="Proposed",check="hosted-oidc"} 1"#,
            r#"trueup_actions_total{check="hosted-oidc",verb="delete",outcome="gone"} 2"#,
            r#"trueup_cluster_link{cluster="guest-a",state="live"} 1"#,
            "trueup_loop_lag_seconds 0",
            r#"trueup_shard_held{shard="0"} 0"#,
            r#"trueup_shard_held{shard="1"} 1"#,
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
