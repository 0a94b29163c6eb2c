//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Invariants:
//! - what isn't known completely is `unknown`;
//! - annotations are expected only where cpu, memory and architecture of the type are known.

use super::catalogue::{Offer, Question};
use super::compare::{lines, verdict};
use super::context::FleetCatalogue;
use super::credentials::Credentials;
use super::expected::Expected;
use super::facts::Provider;
use super::machine::{NoMachine, find};
use super::names::{CLUSTER, MACHINE_API};
use super::region::partition;
use super::ruling::{PausedBy, Ruling, Why};
use super::subjects::Subject;
use super::verdict::{Code, Verdict};
use crate::kinds::Pause;
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
        return ruling.end(Verdict::RegionInvalid, None, Why::Nothing);
    }
    ruling.credentials = Credentials::of(&subject.context, subject.namespace(), &subject.pool.provider);
    let (refused, code) = ruling.credentials.verdict();
    ruling.codes.extend(code);
    if let Some(verdict) = refused {
        let why = match &ruling.credentials {
            Credentials::NotKnown(gap) => Why::Gap(gap.clone()),
            Credentials::NotJudged
            | Credentials::Role { .. }
            | Credentials::Half(_)
            | Credentials::Secret { .. }
            | Credentials::SecretMissing { .. }
            | Credentials::SecretInvalid { .. }
            | Credentials::None { .. } => Why::Nothing,
        };
        return ruling.end(verdict, None, why);
    }
    let whose = subject.context.process_environment.whose();
    let (cluster, login) = (subject.context.cluster.name.clone(), ruling.credentials.login(whose).unwrap_or_default());
    let catalogue = fleet.catalogue(&Question { cluster, region: region.to_owned(), login });
    ruling.identity = catalogue.identity();
    looked_up(ruling, subject, catalogue.find(instance_type))
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
