//! Every sentence this check says in one line.

use super::claimant::Claimant;
use super::context::CheckContext;
use super::explain::seen_from;
use super::facts::Course;
use super::kind::Kind;
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::tags::Fault;
use super::verdict::{Code, Verdict};

/// One line about a subject.
pub fn summary(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> String {
    match subject {
        ResolvedSubject::Resource { account, item, seen_from: claimant } => {
            let said = resource_message(context, subject, ruling);
            match (context.resource(*account, *item).kind, ruling.verdict) {
                (Some(kind @ (Kind::TgConnection | Kind::DhcpServer)), Verdict::Owned | Verdict::Foreign)
                    if claimant.is_some() =>
                {
                    let by = if kind == Kind::TgConnection { "its gateway and where it leads" } else { "its network" };
                    format!("{said} (by {by})")
                }
                (_, _) => said,
            }
        }
        ResolvedSubject::Missing { account, .. } => {
            match (&ruling.gap, ruling.codes.contains(&Code::AccountMismatch)) {
                (_, true) => mismatch(),
                (Some(gap), false) => format!("whether it is still there is not known: {gap}"),
                (None, false) if seen_from(context, subject).is_some_and(|one| one.fact.is_going()) => {
                    "gone, as its cluster is being deleted".to_owned()
                }
                (None, false) => {
                    format!(
                        "the status holds this id, and account {} has no such resource",
                        context.accounts[*account].account
                    )
                }
            }
        }
        ResolvedSubject::Tag { claimant, fault } => fault_message(&context.claimants[*claimant].faults[*fault]),
        ResolvedSubject::Unplaced { claimant } => {
            format!("the resources of {} are in no account that was read", context.claimants[*claimant].key)
        }
        ResolvedSubject::FinalizerOnly { claimant } => {
            let one = &context.claimants[*claimant];
            let held: Vec<&str> = one.fact.finalizers.iter().map(|held| &**held).collect();
            format!(
                "nothing of {} is left; only metadata.finalizers ({}) keeps it, which the provider removes",
                one.key,
                held.join(", ")
            )
        }
        ResolvedSubject::Members { gap, .. } => {
            format!("not every management cluster of the account was read: {gap}")
        }
        ResolvedSubject::Clusters { gap } => format!("which clusters there are is not known completely: {gap}"),
        ResolvedSubject::Account { gap, .. } => format!("what is in the account is not known completely: {gap}"),
    }
}

fn resource_message(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> String {
    let ResolvedSubject::Resource { account, item, .. } = subject else { return String::new() };
    let resource = context.resource(*account, *item);
    let claimant = seen_from(context, subject);
    let whose = claimant.map_or_else(|| "no cluster".to_owned(), |one| one.key.to_string());
    match ruling.verdict {
        Verdict::Unknown if ruling.codes.contains(&Code::AccountMismatch) => mismatch(),
        Verdict::Unknown => {
            let gap = ruling.gap.as_ref().map_or_else(String::new, ToString::to_string);
            format!("unknown whether its owner exists: {gap}")
        }
        Verdict::Reclaiming => "deleted; IBM Cloud keeps it for up to 7 days".to_owned(),
        Verdict::Deleting if resource.course() == Course::Stays => {
            "the resource that contains it is being deleted".to_owned()
        }
        Verdict::Deleting => format!("deleting ({})", resource.state),
        Verdict::Gone => "gone".to_owned(),
        Verdict::TwoOwners => "tagged by several clusters; never deleted".to_owned(),
        Verdict::Reference => format!("used by {whose}, not created by it"),
        Verdict::Owned => owned_message(claimant, &whose),
        Verdict::Locked => format!("locked; blocks deletion of {whose}"),
        Verdict::InUse => format!("tagged for {whose}, which is being deleted; another cluster uses it"),
        Verdict::OtherOwner => "carries the tags of another owner".to_owned(),
        Verdict::StaleOwner if ruling.codes.contains(&Code::NameTaken) => {
            format!("{whose} would get this name, and it is tagged with the uid of a cluster that is gone")
        }
        Verdict::StaleOwner => format!("carries the name of {whose} and the uid of a cluster that is gone"),
        Verdict::Orphan => "its owner is gone, and no cluster points at it".to_owned(),
        Verdict::HalfTagged => format!("carries one of the two tags of {whose}"),
        Verdict::Untagged => format!("made for {whose}, and not tagged"),
        Verdict::Adopted if ruling.codes.contains(&Code::CreatedBefore) => {
            format!("{whose} adopted it: it is older than the cluster; choose another name or take it over on purpose")
        }
        Verdict::Adopted if ruling.codes.contains(&Code::OwnerMark) => {
            format!(
                "{whose} adopted it: it carries another owner's mark; choose another name or take it over on purpose"
            )
        }
        Verdict::Adopted => {
            format!("{whose} found it by its name; choose another name or take it over on purpose")
        }
        Verdict::NameTaken => {
            format!("the provider would take it for {whose}'s own, and it is not; choose another name")
        }
        Verdict::Foreign if ruling.codes.contains(&Code::NotHeldYet) => {
            format!("matches {whose} by name; the provider may just have made it")
        }
        Verdict::Foreign if ruling.codes.contains(&Code::AdoptedByName) => {
            format!("{whose} found it by its name; nothing proves that it made it")
        }
        Verdict::Foreign => format!("matches {whose} by name only"),
        Verdict::TagInvalid | Verdict::FinalizerOnly => String::new(),
    }
}

fn owned_message(claimant: Option<&Claimant<'_>>, whose: &str) -> String {
    let Some(one) = claimant.filter(|one| one.fact.is_going()) else { return format!("{whose}'s own") };
    if one.is_torn_down() {
        format!("{whose}'s own, and the cluster is being deleted")
    } else if one.fact.owner.is_none() {
        format!("{whose}'s own; it is being deleted without an owner reference, so nothing is taken down")
    } else {
        format!("{whose}'s own; it is being deleted and is paused, so nothing is taken down")
    }
}

fn mismatch() -> String {
    "its account is not the one it should be in; nothing is concluded".to_owned()
}

/// What is wrong with a tag.
pub fn fault_message(fault: &Fault) -> String {
    let message: Vec<&str> = fault.codes.iter().map(|code| code_message(*code)).collect();
    format!("the tag {} is never sent: {}", fault.tag, message.join("; "))
}

fn code_message(code: Code) -> &'static str {
    match code {
        Code::Characters => "IBM Cloud takes letters, digits, spaces and _ - . : alone, and no colon in a key",
        Code::Empty => "its key is empty",
        Code::Length => "it is longer than 128 characters",
        Code::NotJson => "the annotation is not the JSON it should be",
        Code::OwnerTooLong => "the cluster's name is too long for it",
        Code::ReservedPrefix => "prefix is reserved for ownership tags",
        Code::AccountMismatch
        | Code::AdoptedByName
        | Code::CreatedBefore
        | Code::CreationUnknown
        | Code::FleetIncomplete
        | Code::FleetNotDeclared
        | Code::Moved
        | Code::NameTaken
        | Code::NotHeldYet
        | Code::OwnerMark
        | Code::TaggedByOthers
        | Code::TaggedReference => code.as_str(),
    }
}

/// The state of a resource in a word, for its column.
pub fn state_text(state: &str, course: Course) -> String {
    match course {
        Course::Stays | Course::Deleting => state.to_owned(),
        Course::Reclaiming => "reclaiming".to_owned(),
    }
}
