//! Who is asked about owners, when the config says from where an account is used.

use std::collections::BTreeSet;

use super::super::users::Users;
use super::now;
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, Gap, GapCause, Glob, Link, MemberRule, Provider, RiskClass,
    Served, World,
};

fn member(name: &str, source: ClusterSource, served: Served) -> Cluster {
    let (class, identity) = (RiskClass::Prod, ClusterIdentity::default());
    Cluster { name: ClusterName::new(name), class, source, hosted_by: None, link: Link::Idle, identity, served }
}

/// What it is called, from where each account is used, and who is asked.
type Case = (&'static str, &'static [&'static [&'static str]], &'static [&'static str]);

#[test]
fn a_cluster_that_may_not_use_an_account_keeps_nobody_in_doubt() {
    let silent = || Served::Unknown(Gap::new(GapCause::Unreachable, "connection refused"));
    let power = || {
        let kinds = [super::super::names::POWERVS_CLUSTER].map(|one| (one.group.to_owned(), one.plural.to_owned()));
        Served::Complete(kinds.into_iter().collect())
    };
    let cases: [Case; 4] = [
        ("no account", &[], &["mgmt-1", "edge"]),
        ("from everywhere", &[&[]], &["mgmt-1", "mgmt-2", "edge"]),
        ("from some", &[&["mgmt-*"]], &["mgmt-1", "mgmt-2"]),
        ("two accounts", &[&["mgmt-2"], &["edge"]], &["mgmt-2", "edge"]),
    ];
    for (case, accounts, expected) in cases {
        let mut world = World::default();
        for (index, used_from) in accounts.iter().enumerate() {
            let patterns = used_from.iter().map(|pattern| Glob::parse(pattern).unwrap()).collect();
            let used_from = MemberRule { patterns, ..MemberRule::default() };
            let source = ClusterSource::Cloud { provider: Provider::Ibm, account: index.to_string(), used_from };
            world.put_cluster(member(&format!("ibm:{index}"), source, silent()));
        }
        for (name, served) in [("mgmt-1", power()), ("mgmt-2", silent()), ("edge", power())] {
            world.put_cluster(member(name, ClusterSource::Kubeconfig { context: name.to_owned() }, served));
        }
        let view = world.view(now());
        let users = Users::of(view);
        let asked: BTreeSet<&str> =
            view.clusters().filter(|cluster| users.asks(cluster)).map(|cluster| cluster.name.as_str()).collect();
        assert_eq!(asked, expected.iter().copied().collect(), "case: {case}");
    }
}
