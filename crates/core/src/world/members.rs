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
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MemberRule {
    /// Names and globs. Empty: every cluster of the run.
    pub patterns: Vec<Glob>,
    pub declaration: Declaration,
    /// Contexts of the kubeconfig that this run does not open.
    pub not_opened: Vec<String>,
}

/// Whether the members are known to be all there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// The set of members that the platform fixes, each with why it was not read.
    pub fn fixed(members: impl IntoIterator<Item = (String, Option<NotRead>)>) -> Self {
        let mut set = Self { read: Vec::new(), missing: Vec::new(), declaration: Declaration::Declared };
        for (name, why) in members {
            match why {
                Some(why) => set.missing.push(MissingMember { name, why }),
                None => set.read.push(ClusterName::new(name)),
            }
        }
        set.read.sort();
        set.missing.sort_by(|one, other| one.name.cmp(&other.name));
        set
    }

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
pub(super) fn not_read(member: &Cluster) -> Option<Gap> {
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

    /// What was read and what is missing, as texts.
    fn texts(read: &[&str], missing: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        (owned(read), owned(missing))
    }

    fn a() -> Cluster {
        cluster("mgmt-a", "a", live())
    }

    fn b() -> Cluster {
        cluster("mgmt-b", "b", live())
    }

    #[test]
    fn a_member_that_the_run_does_not_have_makes_the_set_incomplete() {
        let (both, only_b) = (["mgmt-a", "mgmt-b"], ["mgmt-b"]);
        let unopened = "mgmt-a: this run does not open the context";
        assert_eq!(resolved(&[], &["other"], vec![a(), b()]), texts(&both, &[]), "every cluster of the run");
        assert_eq!(resolved(&both, &[], vec![a(), b()]), texts(&both, &[]), "named and read");
        let found = resolved(&both, &["mgmt-a"], vec![b()]);
        assert_eq!(found, texts(&only_b, &["mgmt-a: not part of this run"]), "named and not in the run");
        let found = resolved(&["mgmt-*"], &["mgmt-a", "edge"], vec![b()]);
        assert_eq!(found, texts(&only_b, &[unopened]), "a context of the glob");
        let found = resolved(&["mgmt-*", "edge-?"], &[], vec![b()]);
        assert_eq!(found, texts(&only_b, &["edge-?: matches no cluster and no context"]), "a glob without a match");
    }

    #[test]
    fn a_member_that_was_not_read_makes_the_set_incomplete() {
        let no_identity = Cluster { identity: ClusterIdentity::default(), ..a() };
        let failed_discovery = Served::Unknown(Gap::new(GapCause::Discovery, "discovery failed"));
        let no_discovery = Cluster { served: failed_discovery, ..a() };
        let connecting = cluster("mgmt-a", "a", Link::Connecting);
        let cases = [
            ("unreachable", cluster("mgmt-a", "", failed()), "mgmt-a: connection refused"),
            ("not connected", connecting, "mgmt-a: not connected"),
            ("its list is late", cluster("late", "l", live()), "late: not listed yet"),
            ("its identity is not known", no_identity, "mgmt-a: its identity is not known"),
            ("its discovery failed", no_discovery, "mgmt-a: discovery failed"),
        ];
        for (case, member, missing) in cases {
            assert_eq!(resolved(&[], &[], vec![b(), member]), texts(&["mgmt-b"], &[missing]), "case: {case}");
        }
        let elsewhere = resolved(&["mgmt-a"], &[], vec![a(), cluster("edge", "e", failed())]);
        assert_eq!(elsewhere, texts(&["mgmt-a"], &[]), "another cluster is not a member");
        let recorded = resolved(&[], &[], vec![cluster("mgmt-a", "", Link::Recorded)]);
        assert_eq!(recorded, texts(&["mgmt-a"], &[]), "a recording has no identity");
    }

    #[test]
    fn a_set_that_the_platform_fixes_is_declared_and_complete_when_each_member_was_read() {
        let why = || Some(NotRead::Incomplete(Gap::new(GapCause::NotObserved, "not listed yet")));
        let set = MemberSet::fixed([("mgmt".to_owned(), Some(NotRead::NotInRun)), ("guest".to_owned(), why())]);
        let gap = set.gap().map(|gap| gap.message);
        assert_eq!(gap.as_deref(), Some("guest: not listed yet; mgmt: not part of this run"));
        let read = MemberSet::fixed([("mgmt".to_owned(), None), ("guest".to_owned(), None)]);
        assert_eq!((read.gap(), read.is_declared()), (None, true));
        assert_eq!(read.read, ["guest", "mgmt"].map(ClusterName::new));
    }

    #[test]
    fn contexts_with_one_identity_are_one_member() {
        let twice = resolved(&["mgmt-*"], &[], vec![a(), cluster("mgmt-x", "a", live())]);
        assert_eq!(twice, texts(&["mgmt-a"], &[]));
        let one_is_late = resolved(&["mgmt-*", "late"], &[], vec![a(), cluster("late", "a", live())]);
        assert_eq!(one_is_late, texts(&["mgmt-a"], &[]), "it was read through the other");
        let local = Cluster { source: ClusterSource::Local, ..cluster("mgmt-local", "", Link::Idle) };
        assert_eq!(
            resolved(&[], &[], vec![a(), local]),
            texts(&["mgmt-a"], &[]),
            "the user's own files are no cluster"
        );
    }
}
