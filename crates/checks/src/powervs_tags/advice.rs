//! Who has to do what, where no action of ours repairs a finding.

use super::context::CheckContext;
use super::explain::seen_from;
use super::judge::user_beside;
use super::kind::Kind;
use super::names::{POWERVS_CLUSTER, USER_TAGS};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use trueup_core::engine::State;
use trueup_core::engine::text::{ShellCommand, shell_word};
use trueup_core::world::Provider;

/// The remedy of a finding without actions; nothing for a match.
pub fn advice(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Option<String> {
    if ruling.state == State::Match {
        return None;
    }
    Some(match subject {
        ResolvedSubject::Resource { .. } | ResolvedSubject::Missing { .. } => resource(context, subject, ruling),
        ResolvedSubject::Tag { .. } => {
            format!("edit spec.tags, or the annotation {USER_TAGS}, of the IBMPowerVSCluster: {}", edit(context, subject))
        }
        ResolvedSubject::Unplaced { .. } => {
            "add the account to [clouds.ibm.<alias>] of the configuration, or to clouds/ibm of the snapshot".to_owned()
        }
        ResolvedSubject::FinalizerOnly { .. } => {
            "only the provider removes its finalizer: check that cluster-api-provider-ibmcloud runs, and its log for this cluster".to_owned()
        }
        ResolvedSubject::Members { .. } => {
            "run trueup with a context for every management cluster of the account, or correct management_clusters".to_owned()
        }
        ResolvedSubject::Clusters { .. } => "grant list on ibmpowervsclusters, then run trueup doctor".to_owned(),
        ResolvedSubject::Account { .. } => "run trueup doctor: it names the service that could not be read".to_owned(),
    })
}

fn resource(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> String {
    let search = || {
        let command = Provider::Ibm.search_command().unwrap_or_default();
        let ResolvedSubject::Resource { account, item, .. } = *subject else { return command.to_owned() };
        let found = context.resource(account, item);
        let query = found.crn.as_deref().map_or_else(|| format!("name:{:?}", found.id), |crn| format!("crn:{crn:?}"));
        format!("{command} {}", shell_word(&query))
    };
    match ruling.verdict {
        Verdict::Unknown if ruling.codes.contains(&Code::FleetIncomplete) => {
            "run trueup with a context for every management cluster of the account".to_owned()
        }
        Verdict::Unknown if ruling.codes.contains(&Code::AccountMismatch) => {
            "correct the account id of the file or of [clouds.ibm.<alias>], or the ids in the cluster's status".to_owned()
        }
        Verdict::Unknown => "run trueup doctor: it names what could not be read".to_owned(),
        Verdict::Reclaiming => {
            "IBM Cloud deletes it within 7 days; end that sooner with ibmcloud resource reclamation-delete".to_owned()
        }
        Verdict::Deleting => "IBM Cloud is deleting it; wait until it is gone".to_owned(),
        Verdict::Gone => format!("recreate it, or remove its id from the status: {}", edit(context, subject)),
        Verdict::TwoOwners => format!("decide who owns it and detach the other cluster's tags: {}", search()),
        Verdict::Locked => unlock(context, subject).unwrap_or_else(|| "unlock it in IBM Cloud, then plan again".to_owned()),
        Verdict::InUse => in_use(context, subject),
        Verdict::OtherOwner => format!("ask its owner, or point the cluster at another resource: {}", search()),
        Verdict::StaleOwner if ruling.codes.contains(&Code::NameTaken) => {
            "if the cluster was moved or restored, wait until the provider's status holds the id and then re-own it; if it is a new cluster, give it another name".to_owned()
        }
        Verdict::Adopted | Verdict::NameTaken => {
            "give the cluster's resource another name, or declare it with type: Reference".to_owned()
        }
        Verdict::Untagged | Verdict::HalfTagged => untagged(context, subject),
        Verdict::StaleOwner | Verdict::Orphan => format!("look at it in IBM Cloud: {}", search()),
        Verdict::Owned | Verdict::Reference | Verdict::Foreign | Verdict::TagInvalid | Verdict::FinalizerOnly => {
            format!("look at it in IBM Cloud: {}", search())
        }
    }
}

/// The command that unlocks an instance of the resource controller: only those can be locked.
fn unlock(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Option<String> {
    let ResolvedSubject::Resource { account, item, .. } = *subject else { return None };
    let resource = context.resource(account, item);
    let command = ShellCommand::new("ibmcloud resource service-instance-unlock")
        .operand(resource.name.as_deref().unwrap_or(&resource.id));
    Some(format!("unlock it, then plan again: {}", command.line()))
}

fn in_use(context: &CheckContext<'_>, subject: &ResolvedSubject) -> String {
    let ResolvedSubject::Resource { account, item, seen_from: Some(claimant) } = *subject else { return String::new() };
    let other = user_beside(context, account, item, claimant).map(|other| context.claimants[other].described());
    let other = other.unwrap_or_else(|| "another cluster".to_owned());
    format!("it stays while {other} uses it; have that cluster use another resource, or delete it later by hand")
}

fn untagged(context: &CheckContext<'_>, subject: &ResolvedSubject) -> String {
    let ResolvedSubject::Resource { account, item, .. } = *subject else { return String::new() };
    let kind = context.resource(account, item).kind;
    let claimant = seen_from(context, subject);
    if claimant.is_some_and(|claimant| claimant.fact.is_going()) {
        return "the cluster is being deleted and nothing proves that this is its own; delete it by hand if it is"
            .to_owned();
    }
    match kind {
        Some(Kind::DhcpServer) => "tag its network: a DHCP server has no tags of its own".to_owned(),
        Some(Kind::TgConnection) => "tag its gateway: a connection has no tags of its own".to_owned(),
        Some(_) | None => {
            "wait until the status holds its id, or give the cluster a shorter name if its owner tag is too long"
                .to_owned()
        }
    }
}

fn edit(context: &CheckContext<'_>, subject: &ResolvedSubject) -> String {
    let Some(claimant) = seen_from(context, subject) else { return String::new() };
    let (namespace, name) = (shell_word(claimant.namespace()), shell_word(claimant.name()));
    format!("kubectl edit {} -n {namespace} {name}", POWERVS_CLUSTER.plural)
}
