//! Sets of members: every place that could hold a reference or an owner, and whether each of them was read.
//!
//! Invariants: "no member holds it" is concluded from a complete set alone, and a member that was not asked makes the set
//! incomplete. Whether the set is declared is a second question, which only the platform or the configuration answers.
//! Elsewhere: which collections of a member a rule needs (the checks).

use std::collections::BTreeMap;
use std::fmt;

use super::cluster::{Cluster, ClusterIdentity, ClusterSource, Link, Served};
use super::glob::Glob;
use super::ids::ClusterName;
use super::known::{Gap, GapCause};
use super::view::View;

/// Which clusters belong to a set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberRule {
    /// Names and globs. Empty: every cluster of the run.
    pub patterns: Vec<Glob>,
    pub declaration: Declaration,
    /// Contexts of the kubeconfig that this run does not open.
    pub not_opened: Vec<String>,
}

/// Whether the members are known to be all there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Declaration {
    /// By the platform, or by the configuration.
    Declared,
    #[default]
    NotDeclared,
}

/// The members of a set in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSet {
    /// Those that were read, each identity once, sorted.
    pub read: Vec<ClusterName>,
    /// Those that were not, sorted by name. None: the set is complete.
    pub missing: Vec<MissingMember>,
    pub declaration: Declaration,
}

/// A member that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingMember {
    /// Its name, or the glob that matches nothing.
    pub name: String,
    pub why: NotRead,
}

/// Why a member was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    /// The rule names it, and this run has no cluster of that name.
    NotInRun,
    /// A glob matches the context, and this run does not open it.
    NotOpened,
    /// The glob matches no cluster and no context.
    NoMatch,
    /// It is part of the run: late, unreachable, forbidden, or not listed completely.
    Incomplete(Gap),
}

impl MemberRule {
    /// Every cluster of the run, and no others exist.
    pub fn declared() -> Self {
        Self { declaration: Declaration::Declared, ..Self::default() }
    }

    /// Whether a cluster of the run belongs to the set.
    pub fn covers(&self, member: &Cluster) -> bool {
        let is_matched = || self.patterns.iter().any(|pattern| pattern.matches(member.name.as_str()));
        is_cluster(member) && (self.patterns.is_empty() || is_matched())
    }

    /// The members of the set. `gap` says why the collections that the caller needs of a member are not known; a kind that
    /// complete discovery does not serve has none.
    pub fn resolve(&self, view: View<'_>, gap: impl Fn(&Cluster) -> Option<Gap>) -> MemberSet {
        let mut missing: Vec<MissingMember> = self.patterns.iter().flat_map(|one| self.absent(one, view)).collect();
        let mut read: Vec<ClusterName> = Vec::new();
        let mut by_identity: BTreeMap<ClusterIdentity, Vec<(&ClusterName, Option<Gap>)>> = BTreeMap::new();
        for member in view.clusters().filter(|member| self.covers(member)) {
            let why = not_read(member).or_else(|| gap(member));
            let identity = ClusterIdentity::of(member);
            match (identity.is_known(), why) {
                (true, why) => by_identity.entry(identity).or_default().push((&member.name, why)),
                (false, None) => read.push(member.name.clone()),
                (false, Some(gap)) => missing.push(MissingMember::incomplete(&member.name, gap)),
            }
        }
        // Contexts with one identity are one member: it was read when one of them was.
        for contexts in by_identity.into_values() {
            match contexts.iter().find(|(_, why)| why.is_none()) {
                Some((name, _)) => read.push((*name).clone()),
                None => missing.extend(
                    contexts.into_iter().filter_map(|(name, why)| why.map(|gap| MissingMember::incomplete(name, gap))),
                ),
            }
        }
        read.sort();
        missing.sort_by(|one, other| one.name.cmp(&other.name));
        missing.dedup();
        let declaration = self.declaration;
        MemberSet { read, missing, declaration }
    }

    /// What a pattern promises and the run does not have.
    fn absent(&self, pattern: &Glob, view: View<'_>) -> Vec<MissingMember> {
        let is_glob = pattern.is_glob();
        let contexts = self.not_opened.iter().filter(|context| is_glob && pattern.matches(context));
        let mut absent: Vec<MissingMember> =
            contexts.map(|name| MissingMember { name: name.clone(), why: NotRead::NotOpened }).collect();
        let is_there = view.clusters().any(|member| is_cluster(member) && pattern.matches(member.name.as_str()));
        if !is_there && absent.is_empty() {
            let why = if is_glob { NotRead::NoMatch } else { NotRead::NotInRun };
            absent.push(MissingMember { name: pattern.to_string(), why });
        }
        absent
    }
}

impl MissingMember {
    fn incomplete(name: &ClusterName, gap: Gap) -> Self {
        Self { name: name.to_string(), why: NotRead::Incomplete(gap) }
    }
}

impl MemberSet {
    /// Why nothing can be concluded from absence in the set; nothing when it is complete.
    pub fn gap(&self) -> Option<Gap> {
        let first = self.missing.first()?;
        let cause = match &first.why {
            NotRead::Incomplete(gap) => gap.cause,
            NotRead::NotInRun | NotRead::NotOpened | NotRead::NoMatch => GapCause::NotObserved,
        };
        let all: Vec<String> = self.missing.iter().map(ToString::to_string).collect();
        Some(Gap::new(cause, all.join("; ")))
    }

    pub fn is_declared(&self) -> bool {
        self.declaration == Declaration::Declared
    }
}

impl fmt::Display for MissingMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInRun => f.write_str("not part of this run"),
            Self::NotOpened => f.write_str("this run does not open the context"),
            Self::NoMatch => f.write_str("matches no cluster and no context"),
            Self::Incomplete(gap) => write!(f, "{gap}"),
        }
    }
}

/// Whether a member of the fleet is a cluster: neither an account nor the user's own files.
fn is_cluster(member: &Cluster) -> bool {
    match &member.source {
        ClusterSource::Kubeconfig { .. } | ClusterSource::Hosted { .. } | ClusterSource::Snapshot => true,
        ClusterSource::Cloud { .. } | ClusterSource::Local => false,
    }
}

/// Why a cluster as a whole was not read: not connected, its identity is unknown, or its discovery is not complete.
fn not_read(member: &Cluster) -> Option<Gap> {
    let unread = |message: &str| Some(Gap::new(GapCause::NotObserved, message));
    let is_recorded = match &member.link {
        Link::Idle | Link::Connecting => return unread("not connected"),
        Link::AuthExpired { gap, .. } | Link::Failed { gap } => return Some(gap.clone()),
        Link::Listing { .. } | Link::Live { .. } | Link::Degraded { .. } => false,
        Link::Recorded => true,
    };
    if !is_recorded && !ClusterIdentity::of(member).is_known() {
        return unread("its identity is not known");
    }
    match &member.served {
        Served::Unknown(gap) => Some(gap.clone()),
        Served::Complete(_) | Served::Recorded(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Kinds, RiskClass, World};

    fn cluster(name: &str, identity: &str, link: Link) -> Cluster {
        Cluster {
            name: ClusterName::new(name),
            class: RiskClass::Prod,
            source: ClusterSource::Kubeconfig { context: name.to_owned() },
            hosted_by: None,
            link,
            identity: ClusterIdentity {
                kube_system_uid: identity.to_owned(),
                ca_sha256: identity.to_owned(),
                account: String::new(),
            },
            served: Served::Complete(Kinds::default()),
        }
    }

    fn live() -> Link {
        Link::Live { since: jiff::Timestamp::UNIX_EPOCH }
    }

    fn failed() -> Link {
        Link::Failed { gap: Gap::new(GapCause::Unreachable, "connection refused") }
    }

    fn resolved(patterns: &[&str], not_opened: &[&str], clusters: Vec<Cluster>) -> (Vec<String>, Vec<String>) {
        let mut world = World::default();
        clusters.into_iter().for_each(|cluster| drop(world.put_cluster(cluster)));
        let rule = MemberRule {
            patterns: patterns.iter().map(|text| Glob::parse(text).unwrap()).collect(),
            not_opened: not_opened.iter().map(|text| (*text).to_owned()).collect(),
            ..MemberRule::default()
        };
        let gap = |member: &Cluster| {
            (member.name.as_str() == "late").then(|| Gap::new(GapCause::NotObserved, "not listed yet"))
        };
        let set = rule.resolve(world.view(jiff::Timestamp::UNIX_EPOCH), gap);
        assert_eq!(set.gap().is_none(), set.missing.is_empty());
        let missing = set.missing.iter().map(ToString::to_string).collect();
        (set.read.iter().map(ToString::to_string).collect(), missing)
    }

    /// Case, patterns, contexts that are not opened, clusters of the run, those read, those missing.
    type Case = (
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
        Vec<Cluster>,
        &'static [&'static str],
        &'static [&'static str],
    );

    #[test]
    fn a_set_is_complete_only_when_every_member_was_read() {
        let a = || cluster("mgmt-a", "a", live());
        let b = || cluster("mgmt-b", "b", live());
        let no_identity = Cluster { identity: ClusterIdentity::default(), ..a() };
        let no_discovery =
            Cluster { served: Served::Unknown(Gap::new(GapCause::Discovery, "discovery failed")), ..a() };
        let local = Cluster { source: ClusterSource::Local, ..cluster("mgmt-local", "", Link::Idle) };
        let cases: [Case; 15] = [
            ("every cluster of the run", &[], &["other"], vec![a(), b()], &["mgmt-a", "mgmt-b"], &[]),
            ("named and read", &["mgmt-a", "mgmt-b"], &[], vec![a(), b()], &["mgmt-a", "mgmt-b"], &[]),
            (
                "named and not in the run",
                &["mgmt-a", "mgmt-b"],
                &["mgmt-a"],
                vec![b()],
                &["mgmt-b"],
                &["mgmt-a: not part of this run"],
            ),
            (
                "a context of the glob is not opened",
                &["mgmt-*"],
                &["mgmt-a", "edge"],
                vec![b()],
                &["mgmt-b"],
                &["mgmt-a: this run does not open the context"],
            ),
            (
                "a glob without a match",
                &["mgmt-*", "edge-?"],
                &[],
                vec![b()],
                &["mgmt-b"],
                &["edge-?: matches no cluster and no context"],
            ),
            (
                "another cluster is no member",
                &["mgmt-a"],
                &[],
                vec![a(), cluster("edge", "e", failed())],
                &["mgmt-a"],
                &[],
            ),
            (
                "unreachable",
                &["mgmt-*"],
                &[],
                vec![a(), cluster("mgmt-b", "", failed())],
                &["mgmt-a"],
                &["mgmt-b: connection refused"],
            ),
            (
                "not connected",
                &[],
                &[],
                vec![cluster("mgmt-a", "a", Link::Connecting)],
                &[],
                &["mgmt-a: not connected"],
            ),
            (
                "its list is late",
                &[],
                &[],
                vec![a(), cluster("late", "l", live())],
                &["mgmt-a"],
                &["late: not listed yet"],
            ),
            ("its identity is not known", &[], &[], vec![no_identity], &[], &["mgmt-a: its identity is not known"]),
            ("its discovery failed", &[], &[], vec![no_discovery], &[], &["mgmt-a: discovery failed"]),
            ("a recording has no identity", &[], &[], vec![cluster("mgmt-a", "", Link::Recorded)], &["mgmt-a"], &[]),
            (
                "two contexts of one cluster",
                &["mgmt-*"],
                &[],
                vec![a(), cluster("mgmt-x", "a", live())],
                &["mgmt-a"],
                &[],
            ),
            (
                "one of two contexts was read",
                &["mgmt-*", "late"],
                &[],
                vec![a(), cluster("late", "a", live())],
                &["mgmt-a"],
                &[],
            ),
            ("the user's own files are no cluster", &[], &[], vec![a(), local], &["mgmt-a"], &[]),
        ];
        for (case, patterns, not_opened, clusters, read, missing) in cases {
            let found = resolved(patterns, not_opened, clusters);
            let expected = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            assert_eq!(found, (expected(read), expected(missing)), "case: {case}");
        }
    }
}
