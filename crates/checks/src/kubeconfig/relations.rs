//! The references of a kubeconfig in a Secret: the cluster it leads to, and the Secret it is copied from.

use super::expected::{CaComparison, EndpointComparison};
use super::names::{CLUSTER, SECRET};
use super::ruling::Ruling;
use super::source::Source;
use super::subjects::{Sort, Subject};
use super::verdict::Verdict;
use crate::relations::{RelatedObject, Relation, RelationStanding, Relations};
use trueup_core::world::Key;

pub fn of(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Relations {
    let context = subject.context.cluster.name.as_str();
    let object = |kind: &str, key: &Key| {
        let namespace = key.namespace.as_ref().map(|namespace| namespace.as_str());
        RelatedObject::new(context, kind, namespace, key.name.as_str())
    };
    let own = object(SECRET.kind, &subject.key);
    let mut links = Vec::new();
    if let Some((key, standing, note)) = source(ruling) {
        let (from, to) = (object(SECRET.kind, key), own.clone());
        links.push(Relation { from, verb: "copied".to_owned(), to, standing, note, written: None });
    }
    if subject.sort != Sort::Hosted {
        let (standing, note) = leads_to(ruling);
        let to = object(CLUSTER.kind, &subject.cluster_key);
        links.push(Relation {
            from: own,
            verb: "leads to".to_owned(),
            to,
            standing,
            note: note.to_owned(),
            written: None,
        });
    }
    Relations { links, ..users(subject) }
}

/// The Cluster whose controllers read the kubeconfig. Of a HostedCluster's, its users are not known to trueup.
fn users(subject: &Subject<'_>) -> Relations {
    let mut found = Relations::default();
    if subject.sort == Sort::Hosted {
        return found;
    }
    let (cluster, kind) = (&subject.owners.cluster, CLUSTER.kind.to_owned());
    match (cluster.seen.is_some(), cluster.is_proven_absent()) {
        (true, _) => {
            let key = &subject.cluster_key;
            let namespace = key.namespace.as_ref().map(|namespace| namespace.as_str());
            let context = subject.context.cluster.name.as_str();
            found.used_by.push(RelatedObject::new(context, &kind, namespace, key.name.as_str()));
        }
        (false, true) => found.searched.push(kind),
        (false, false) => found.unread.push(kind),
    }
    found
}

fn source<'r>(ruling: &'r Ruling<'_>) -> Option<(&'r Key, RelationStanding, String)> {
    let broken = |note: &str| (RelationStanding::Broken, note.to_owned());
    let (key, (standing, note)) = match &ruling.source {
        Source::None | Source::NotKnown(_) => return None,
        Source::Missing { key } => (key, broken("the source does not exist")),
        Source::Invalid { key, .. } => (key, broken("the source is not usable")),
        Source::Another { key, who, .. } => (key, broken(&format!("belongs to {} in {}", who.key, who.context))),
        Source::Stale { key, .. } => (key, broken("the source has expired")),
        Source::Good { key, .. } if ruling.has(Verdict::BehindSource) => (key, broken("newer than the copy")),
        Source::Good { key, .. } => (key, (RelationStanding::Holds, "copied".to_owned())),
    };
    Some((key, standing, note))
}

fn leads_to(ruling: &Ruling<'_>) -> (RelationStanding, &'static str) {
    match (ruling.endpoint, ruling.ca) {
        (EndpointComparison::Moved, _) => (RelationStanding::Broken, "the cluster has another endpoint"),
        (_, CaComparison::Disjoint) => (RelationStanding::Broken, "the cluster has other authorities"),
        (EndpointComparison::NotJudged, _) => (RelationStanding::Unknown, "the cluster's endpoint is not known"),
        (EndpointComparison::Same | EndpointComparison::Differs | EndpointComparison::InCluster, _) => {
            (RelationStanding::Holds, "same endpoint")
        }
    }
}
