//! The rules, from top to bottom: the first that holds gives the verdict.
//!
//! Always true:
//! - what isn't known completely is `unknown`;
//! - annotations are expected only where cpu, memory and architecture of the type are known.

use std::collections::BTreeSet;

use super::catalogue::{Failure, Offer, Question};
use super::compare::{Line, lines, verdict};
use super::context::ContextCache;
use super::credentials::Credentials;
use super::expected::Expected;
use super::facts::{Pausing, Provider};
use super::machine::{Fault, Machine, NoMachine, find};
use super::names::{CLUSTER, MACHINE_API};
use super::region::partition;
use super::subjects::Subject;
use super::verdict::{Code, Verdict};
use trueup_core::world::{ClusterName, Gap, Key, Life, ObjectName};

/// A verdict with what it rests on.
#[derive(Debug)]
pub struct Ruling<'a> {
    pub verdict: Verdict,
    pub codes: BTreeSet<Code>,
    /// Why it is this verdict, where the rest does not say.
    pub why: Why,
    pub machine: Option<Machine<'a>>,
    pub credentials: Credentials,
    /// The account that offers the type, or says that it does not.
    pub asked: Option<&'a ClusterName>,
    /// Who AWS says is asking, and the account that knows it.
    pub identity: Option<(&'a ClusterName, &'a str)>,
    pub expected: Option<Expected>,
    pub lines: Vec<Line<'a>>,
}

/// The reason of a verdict that ends the rules early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The verdict and what is compared say it all.
    Nothing,
    Gap(Gap),
    Deleting,
    Paused(PausedBy),
    Authority(String),
    Platform(String),
    Fault(Fault),
    Failure(Failure),
}

impl Why {
    /// What is wrong with the spec, where that is the reason.
    pub fn fault(&self) -> Option<&Fault> {
        if let Self::Fault(fault) = self { Some(fault) } else { None }
    }

    /// What failed on the way to AWS, where that is the reason.
    pub fn failure(&self) -> Option<&Failure> {
        if let Self::Failure(failure) = self { Some(failure) } else { None }
    }
}

/// What says that controllers shall leave it alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PausedBy {
    Itself(Pausing),
    Cluster(Key),
}

impl<'a> Ruling<'a> {
    fn new() -> Self {
        Self {
            verdict: Verdict::Match,
            codes: BTreeSet::new(),
            why: Why::Nothing,
            machine: None,
            credentials: Credentials::NotJudged,
            asked: None,
            identity: None,
            expected: None,
            lines: Vec::new(),
        }
    }

    fn end(mut self, verdict: Verdict, code: Option<Code>, why: Why) -> Self {
        self.verdict = verdict;
        self.codes.extend(code);
        self.why = why;
        self
    }

    /// The codes as plans spell them, sorted.
    pub fn codes(&self) -> Vec<&'static str> {
        self.codes.iter().map(|code| code.as_str()).collect()
    }
}

/// Judges one set of machines.
pub fn rule<'a>(subject: &Subject<'a>, contexts: &ContextCache<'a>) -> Ruling<'a> {
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
    let whose = subject.context.surroundings.whose();
    let (cluster, login) = (subject.context.cluster.name.clone(), ruling.credentials.login(whose).unwrap_or_default());
    let catalogue = contexts.catalogue(&Question { cluster, region: region.to_owned(), login });
    ruling.identity = catalogue.identity();
    looked_up(ruling, subject, catalogue.find(instance_type))
}

/// Rule 1.
fn left_alone(subject: &Subject<'_>) -> Option<(Verdict, Option<Code>, Why)> {
    let pool = subject.pool;
    if pool.life == Life::Terminating {
        return Some((Verdict::Skipped, Some(Code::Deleting), Why::Deleting));
    }
    if let Some(pausing) = pool.pausing {
        return Some((Verdict::Skipped, Some(Code::Paused), Why::Paused(PausedBy::Itself(pausing))));
    }
    if let Provider::Template { cluster, .. } = &pool.provider
        && !cluster.is_empty()
    {
        let key = Key { namespace: subject.namespace().cloned(), name: ObjectName::new(cluster.as_ref()) };
        match subject.context.clusters.get(&key).known() {
            Ok(Some(found)) if found.paused => {
                return Some((Verdict::Skipped, Some(Code::Paused), Why::Paused(PausedBy::Cluster(key))));
            }
            Err(gap) => {
                let says = format!("whether {} {key} is paused is not known: {gap}", CLUSTER.kind);
                return Some((Verdict::Unknown, None, Why::Gap(Gap::new(gap.cause, says))));
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
