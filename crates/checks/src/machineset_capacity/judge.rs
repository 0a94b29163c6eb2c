//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants:
//! - what isn't known completely is `unknown`;
//! - annotations are expected only where cpu, memory and architecture of the type are known.

use super::catalogue::{OWN_LOGIN, OWN_LOGIN_NONE, Offer, Question};
use super::compare::{lines, verdict};
use super::context::FleetCatalogue;
use super::credentials::Credentials;
use super::expected::Expected;
use super::facts::{Provider, TokenMount};
use super::machine::{NoMachine, find};
use super::names::{CLUSTER, MACHINE_API, SINGLETON};
use super::process_environment::{Said, SeenPod};
use super::region::partition;
use super::ruling::{PausedBy, Ruling, Why};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::kinds::Pause;
use trueup_core::engine::State;
use trueup_core::world::{DeletionState, Gap, Key, ObjectName};

/// Judges one set of machines.
pub fn rule<'a>(subject: &Subject<'a>, fleet: &FleetCatalogue<'a>) -> Ruling<'a> {
    let mut ruling = Ruling::new();
    if let Some((verdict, code, why)) = left_alone(subject) {
        return ruling.end(verdict, code, why);
    }
    let machine = match find(subject) {
        Ok(machine) => machine,
        Err(NoMachine::NotAws { platform }) => return ruling.end(Verdict::NotAws, None, Why::Platform(platform)),
        Err(NoMachine::Invalid(fault)) => return ruling.end(Verdict::InvalidSpec, None, Why::Fault(fault)),
        Err(NoMachine::NotKnown(gap)) => return ruling.end(Verdict::Unknown, None, Why::Gap(gap)),
    };
    let (instance_type, region) = (machine.instance_type.value, machine.region.value);
    ruling.machine = Some(machine);
    if instance_type.is_empty() {
        return ruling.end(Verdict::InstanceTypeEmpty, None, Why::Nothing);
    }
    if partition(region).is_none() {
        ruling.offered_region = offered_region(subject);
        return ruling.end(Verdict::RegionInvalid, None, Why::Nothing);
    }
    ruling.credentials = Credentials::of(subject);
    let (refused, code) = ruling.credentials.verdict();
    ruling.codes.extend(code);
    ruling.codes.extend(annotator_codes(subject, &ruling.credentials));
    if let Some(verdict) = refused {
        let why = match &ruling.credentials {
            Credentials::NotKnown(gap) => Why::Gap(gap.clone()),
            Credentials::NotJudged { .. }
            | Credentials::Role { .. }
            | Credentials::Half(_)
            | Credentials::Secret { .. }
            | Credentials::SecretMissing { .. }
            | Credentials::SecretInvalid { .. }
            | Credentials::None { .. } => Why::Nothing,
        };
        return from_catalogue(ruling.end(verdict, None, why), subject, fleet);
    }
    let (cluster, login) = (subject.context.cluster.name.clone(), ruling.credentials.login().unwrap_or_default());
    let is_own = login == OWN_LOGIN;
    let catalogue = fleet.catalogue(&Question { cluster, region: region.to_owned(), login });
    ruling.identity = catalogue.identity();
    match catalogue.find(instance_type) {
        Offer::Failed(failure) if is_own => {
            let code = if failure.code == OWN_LOGIN_NONE { Code::OwnLoginNone } else { Code::OwnLoginFailed };
            from_catalogue(ruling.end(Verdict::Unknown, Some(code), Why::Failure(failure)), subject, fleet)
        }
        Offer::Failed(failure) => {
            from_catalogue(ruling.end(failure.verdict, None, Why::Failure(failure)), subject, fleet)
        }
        offer @ (Offer::NoCatalogue | Offer::NotKnown(_) | Offer::NotOffered { .. } | Offer::Offered { .. }) => {
            looked_up(ruling, subject, offer)
        }
    }
}

/// The region of the cluster itself, where that is one: what a MachineSet without one probably means.
fn offered_region(subject: &Subject<'_>) -> Option<String> {
    match subject.sort {
        Sort::MachineApi => {}
        Sort::Deployment | Sort::CapiSet => return None,
    }
    let found = subject.context.infrastructure.get(&Key::new(None, SINGLETON)).seen?;
    partition(&found.aws_region).map(|_| found.aws_region.to_string())
}

/// What is worth knowing of the annotator, whatever the verdict.
fn annotator_codes(subject: &Subject<'_>, credentials: &Credentials) -> Vec<Code> {
    let environment = subject.context.environment(subject.sort);
    if environment.unfound.is_some() {
        return vec![Code::AnnotatorUnknown];
    }
    let (Said::Known(seen), Credentials::Role { role, .. }) = (&environment.said, credentials) else {
        return Vec::new();
    };
    let Some(SeenPod { token, annotated_role, .. }) = &seen.pod else { return Vec::new() };
    let has_no_audience = matches!(token, TokenMount::Token { audience } if audience.is_empty());
    let differs = !annotated_role.is_empty() && **annotated_role != **role;
    let issuer = subject.context.issuer.get(&Key::new(None, SINGLETON)).seen;
    let is_internal = issuer.is_some_and(|issuer| issuer.url.is_empty());
    let all = [
        (has_no_audience, Code::AudienceDefault),
        (differs, Code::RoleAnnotationDiffers),
        (is_internal, Code::IssuerInternal),
    ];
    all.into_iter().filter_map(|(holds, code)| holds.then_some(code)).collect()
}

/// Whether the way to AWS ended with an error that has to be repaired, or with a login of this machine's own.
fn is_broken_login(ruling: &Ruling<'_>) -> bool {
    let is_own = ruling.codes.contains(&Code::OwnLoginNone) || ruling.codes.contains(&Code::OwnLoginFailed);
    is_own || ruling.verdict.state() == State::Error
}

/// Applies rules 8 and 9 to a type that another answer describes. The verdict stays.
fn from_catalogue<'a>(mut ruling: Ruling<'a>, subject: &Subject<'a>, fleet: &FleetCatalogue<'a>) -> Ruling<'a> {
    let Some(machine) = ruling.machine.as_ref().filter(|_| is_broken_login(&ruling)) else { return ruling };
    let Some((by, offered)) = fleet.described(machine.region.value, machine.instance_type.value) else { return ruling };
    let Ok((expected, codes)) = Expected::of(offered) else { return ruling };
    let lines = lines(subject.pool, &expected, subject.sort.families());
    let (asked, _) = verdict(&lines, subject.sort.families());
    if asked == Verdict::Match {
        return ruling;
    }
    ruling.codes.extend(codes);
    ruling.codes.insert(Code::FromCatalogue);
    ruling.asked = Some(&by.name);
    ruling.expected = Some(expected);
    ruling.lines = lines;
    ruling.from_catalogue = Some(asked);
    ruling
}

/// Rule 1.
fn left_alone(subject: &Subject<'_>) -> Option<(Verdict, Option<Code>, Why)> {
    let pool = subject.pool;
    if pool.deletion_state == DeletionState::Terminating {
        return Some((Verdict::Skipped, Some(Code::Deleting), Why::Deleting));
    }
    if let Some(pausing) = pool.pausing {
        return Some((Verdict::Skipped, Some(Code::Paused), Why::Paused(PausedBy::MachineSet(pausing))));
    }
    if let Provider::Template { cluster, .. } = &pool.provider
        && !cluster.is_empty()
    {
        let key = Key { namespace: subject.namespace().cloned(), name: ObjectName::new(cluster.as_ref()) };
        match subject.context.clusters.referenced(&key).known() {
            Ok(Some(found)) if found.pause == Pause::Spec => {
                return Some((Verdict::Skipped, Some(Code::Paused), Why::Paused(PausedBy::Cluster(key))));
            }
            Err(gap) => {
                let message = format!("whether {} {key} is paused is not known: {gap}", CLUSTER.kind);
                return Some((Verdict::Unknown, None, Why::Gap(Gap::new(gap.cause, message))));
            }
            Ok(Some(_) | None) => {}
        }
    }
    let elsewhere = !pool.authority.is_empty() && *pool.authority != *MACHINE_API;
    elsewhere.then(|| (Verdict::Skipped, Some(Code::AuthoritativeApi), Why::Authority(pool.authority.to_string())))
}

/// Rules 7 to 9.
fn looked_up<'a>(mut ruling: Ruling<'a>, subject: &Subject<'a>, offer: Offer<'a>) -> Ruling<'a> {
    let offered = match offer {
        Offer::Failed(failure) => return ruling.end(failure.verdict, None, Why::Failure(failure)),
        Offer::NoCatalogue => return ruling.end(Verdict::Unknown, Some(Code::NoCatalogue), Why::Nothing),
        Offer::NotKnown(gap) => return ruling.end(Verdict::Unknown, None, Why::Gap(gap)),
        Offer::NotOffered { by } => {
            ruling.asked = Some(&by.name);
            return ruling.end(Verdict::InstanceTypeUnknown, None, Why::Nothing);
        }
        Offer::Offered { by, offered } => {
            ruling.asked = Some(&by.name);
            offered
        }
    };
    let expected = match Expected::of(offered) {
        Ok((expected, codes)) => {
            ruling.codes.extend(codes);
            expected
        }
        Err(codes) => {
            ruling.codes.extend(codes);
            return ruling.end(Verdict::InstanceTypeUnknown, None, Why::Nothing);
        }
    };
    ruling.expected = Some(expected);
    ruling.lines = lines(subject.pool, &expected, subject.sort.families());
    let (verdict, code) = verdict(&ruling.lines, subject.sort.families());
    ruling.end(verdict, code, Why::Nothing)
}
