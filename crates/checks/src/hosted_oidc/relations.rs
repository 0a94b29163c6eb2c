//! The chain of a copy: HostedCluster, control plane, source, copy, and what in the guest uses it.

use super::context::CheckContext;
use super::names::{COPIES_NAMESPACE, CopyKind, SINGLETON};
use super::outline::last_write;
use super::refs::Ref;
use crate::relations::{RelatedObject, Relation, RelationStanding, Relations};
use trueup_core::world::{Observation, Writer};

/// The references of a copy in a guest's `openshift-config`.
pub fn of_copy(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Relations {
    let Ok(by) = &context.home else { return Relations::default() };
    let word = kind.resource().kind;
    let (host, guest) = (by.cluster.as_str(), context.guest.name.as_str());
    let own = RelatedObject::new(guest, word, Some(COPIES_NAMESPACE), name);
    let cluster = RelatedObject::new(host, "HostedCluster", Some(by.namespace.as_str()), by.name.as_str());
    let at_user = RelatedObject::new(host, word, Some(by.namespace.as_str()), name);
    let hosted = context.hosted_cluster.seen.map(|cluster| &cluster.hosted.authentication);
    let absent = context.hosted_cluster.is_proven_absent();
    let named =
        hosted.map(|wanted| wanted.providers.find(kind, name).or_else(|| wanted.claims_sources.find(kind, name)));
    let written = last_write(context.view, by).cloned();
    let mut links = vec![naming(cluster, at_user, named, absent, written)];
    if let (Some(key), Some((_, namespace))) = (&context.control_plane_key, context.source_namespace()) {
        let key_namespace = key.namespace.as_ref().map(|namespace| namespace.as_str());
        let plane = RelatedObject::new(host, "HostedControlPlane", key_namespace, key.name.as_str());
        let source = RelatedObject::new(host, word, Some(namespace), name);
        let wanted = context.control_plane.seen.map(|plane| &plane.hosted.authentication);
        let absent = context.control_plane.is_proven_absent();
        let named =
            wanted.map(|wanted| wanted.providers.find(kind, name).or_else(|| wanted.claims_sources.find(kind, name)));
        links.push(naming(plane, source.clone(), named, absent, None));
        links.push(copied(context, kind, name, source, own));
    }
    Relations { links, ..users(context, kind, name) }
}

/// Whether an object names another: known only when it was read. A broken one says who wrote last what it names.
fn naming(
    from: RelatedObject,
    to: RelatedObject,
    named: Option<Option<&Ref>>,
    is_absent: bool,
    written: Option<Writer>,
) -> Relation {
    let (standing, note) = match named {
        Some(Some(found)) => (RelationStanding::Holds, found.field.to_string()),
        Some(None) => (RelationStanding::Broken, "does not name it".to_owned()),
        None if is_absent => (RelationStanding::Broken, "does not exist".to_owned()),
        None => (RelationStanding::Unknown, "not read".to_owned()),
    };
    let written = written.filter(|_| standing == RelationStanding::Broken);
    Relation { from, verb: "names".to_owned(), to, standing, note, written }
}

fn copied(context: &CheckContext<'_>, kind: CopyKind, name: &str, from: RelatedObject, to: RelatedObject) -> Relation {
    let copy = context.copies(kind).get(&context.copy_key(name));
    let (standing, note) = match (context.source_content(kind, name), copy) {
        (Observation::ProvenAbsent(_), _) => (RelationStanding::Broken, "the source does not exist".to_owned()),
        (Observation::Unknown(gap), _) => (RelationStanding::Unknown, gap.to_string()),
        (Observation::Present(_), Observation::ProvenAbsent(_)) => {
            (RelationStanding::Broken, "the copy does not exist".to_owned())
        }
        (Observation::Present(_), Observation::Unknown(gap)) => (RelationStanding::Unknown, gap.to_string()),
        (Observation::Present(source), Observation::Present(copy)) if source.value == copy.value(kind) => {
            (RelationStanding::Holds, "same data".to_owned())
        }
        (Observation::Present(_), Observation::Present(_)) => (RelationStanding::Broken, "different data".to_owned()),
    };
    Relation { from, verb: "copied".to_owned(), to, standing, note, written: None }
}

/// What in the guest refers to it, which kinds do not, and which could not be read.
fn users(context: &CheckContext<'_>, kind: CopyKind, name: &str) -> Relations {
    let guest = context.guest.name.as_str();
    let mut found = Relations::default();
    let mut sort = |kind_name: &'static str, is_read: bool, names_it: bool| match (is_read, names_it) {
        (_, true) => found.used_by.push(RelatedObject::new(guest, kind_name, None, SINGLETON)),
        (true, false) => found.searched.push(kind_name.to_owned()),
        (false, false) => found.unread.push(kind_name.to_owned()),
    };
    let guest_spec = context.authentication.seen.map(|seen| &seen.spec);
    let names_it = guest_spec
        .is_some_and(|spec| [&spec.providers, &spec.claims_sources].iter().any(|refs| refs.contains(kind, name)));
    sort("Authentication", guest_spec.is_some() || context.authentication.is_proven_absent(), names_it);
    for (resource, config) in context.configs(kind) {
        let names_it = config.seen.is_some_and(|config| config.refs.contains(kind, name));
        sort(resource.kind, config.seen.is_some() || config.is_proven_absent(), names_it);
    }
    found
}
