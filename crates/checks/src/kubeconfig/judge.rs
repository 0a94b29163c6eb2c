//! The rules. Everything that holds is collected; the worst of it is the verdict.
//!
//! Invariants:
//! - what isn't known completely is `unknown`, and what is seen beside it is still said;
//! - a target is called behind its source only when the source is good, is this cluster's, and would be taken now;
//! - nothing here looks at a secret: it compares lengths, digests and what was kept of the content.

use jiff::Timestamp;

use super::Kubeconfigs;
use super::content::{Content, Credential, Current, ExecElsewhere, Packing, Pair, Token};
use super::creation::{self, COPY_GRACE, Creation};
use super::expected::{CaComparison, EndpointComparison, Expected};
use super::facts::{Extras, Held, Holder};
use super::freshness::{Assessment, HalfLife, Renewal, Standing, assess};
use super::names::{CLUSTER_LABEL, SECRET_TYPE};
use super::owner::{Ownership, ownership};
use super::ruling::Ruling;
use super::source::{Source, SourceFault, SourceProof, find as find_source};
use super::stages;
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::ContextCache;

/// Judges one kubeconfig.
pub fn rule<'a>(subject: &Subject<'a>, contexts: &ContextCache<'a, Kubeconfigs>) -> Ruling<'a> {
    let context = &subject.context;
    let expected = match subject.sort {
        Sort::Capi | Sort::User => Expected::of(context, &subject.cluster_key, &subject.owners),
        Sort::Hosted => Expected::nothing(),
    };
    let sight = context.secrets.read::<Holder>(&subject.key);
    let mut ruling = Ruling::new(expected);
    ruling.target = sight.seen;
    ruling.unknown(sight.gap.clone());
    ruling.unknown(ruling.expected.gap.clone());
    if ruling.expected.disagree() {
        ruling.codes.insert(Code::ExpectationsDisagree);
    }
    match sight.seen {
        Some(holder) => present(&mut ruling, subject, holder, contexts.view.now),
        None if sight.is_proven_absent() => drop(ruling.holds.insert(Verdict::Missing)),
        None => {}
    }
    if let Sort::Capi = subject.sort {
        beside_source(&mut ruling, subject, contexts);
        if subject.owners.is_renamed(&subject.cluster_key) {
            ruling.codes.insert(Code::PlaneName);
        }
        while_created(&mut ruling, subject, contexts.view.now);
        stuck_at(&mut ruling, subject, contexts.view.now);
    }
    ruling
}

/// A kubeconfig that is missing while its cluster is being created is waited for, for a time.
fn while_created(ruling: &mut Ruling<'_>, subject: &Subject<'_>, now: Timestamp) {
    let absent = [Verdict::Missing, Verdict::SourceMissing];
    if !absent.iter().any(|verdict| ruling.has(*verdict)) {
        return;
    }
    let until = match creation::find(&subject.owners, subject.context.settings, now) {
        Creation::Over => return,
        Creation::Overdue => {
            ruling.codes.insert(Code::Overdue);
            return;
        }
        Creation::UnderWay { until } => until,
    };
    let copied_by = match &ruling.source {
        Source::Good { holder, .. } => holder.meta.created().and_then(|at| at.checked_add(COPY_GRACE).ok()),
        Source::None
        | Source::NotKnown(_)
        | Source::Missing { .. }
        | Source::Invalid { .. }
        | Source::Another { .. }
        | Source::Stale { .. } => None,
    };
    // CAPT copies a good source within its next passes; after that the copy is what is stuck.
    if ruling.has(Verdict::BehindSource) {
        if copied_by.is_none_or(|by| now >= by) {
            return;
        }
        ruling.holds.remove(&Verdict::BehindSource);
        ruling.codes.remove(&Code::SourceUnproven);
        ruling.wake_at(copied_by);
    }
    for verdict in absent {
        ruling.holds.remove(&verdict);
    }
    ruling.holds.insert(Verdict::Waiting);
    ruling.wake_at(until);
}

/// Names the stage of CAPT's way that is not done.
fn stuck_at(ruling: &mut Ruling<'_>, subject: &Subject<'_>, now: Timestamp) {
    let begun = [Verdict::Missing, Verdict::SourceMissing, Verdict::Expired, Verdict::RefreshStalled];
    let is_waiting = ruling.has(Verdict::Waiting);
    if !is_waiting && !begun.iter().any(|verdict| ruling.has(*verdict)) {
        return;
    }
    let stages = stages::find(subject, ruling, now);
    if let Some(stage) = stages.stuck().filter(|_| is_waiting || stages.has_apply) {
        ruling.codes.insert(stage.code());
        ruling.stages = stages;
    }
}

/// The key of a Secret that holds the kubeconfig.
pub fn held(sort: Sort, holder: &Holder) -> &Held {
    match sort {
        Sort::Capi | Sort::User => &holder.value,
        Sort::Hosted => &holder.kubeconfig,
    }
}

/// What the current context of a Secret's kubeconfig leads to.
pub fn pair_of(sort: Sort, holder: &Holder) -> Option<&Pair> {
    let Held::Written { content: Ok(content), .. } = held(sort, holder) else { return None };
    match (&content.current, content.packing) {
        (Current::Pair(pair), Packing::Plain) => Some(pair),
        (Current::Pair(_), Packing::Twice) | (Current::Nothing(_), Packing::Plain | Packing::Twice) => None,
    }
}

fn present(ruling: &mut Ruling<'_>, subject: &Subject<'_>, holder: &Holder, now: Timestamp) {
    match held(subject.sort, holder) {
        Held::Absent | Held::Empty => ruling.contract(Code::Key),
        Held::Written { content: Err(_), .. } => drop(ruling.holds.insert(Verdict::Unreadable)),
        // No client decodes it twice, so that nothing in it counts.
        Held::Written { content: Ok(content), .. } if content.packing == Packing::Twice => {
            ruling.holds.insert(Verdict::Unreadable);
            ruling.codes.insert(Code::Base64Twice);
        }
        Held::Written { content: Ok(content), .. } => read(ruling, subject, content, now),
    }
    match subject.sort {
        Sort::Capi => {
            if *holder.secret_type != *SECRET_TYPE {
                ruling.contract(Code::Type);
            }
            if holder.meta.label(CLUSTER_LABEL) != Some(subject.cluster()) {
                ruling.contract(Code::Label);
            }
            if let Extras::Disagree(_) = holder.extras {
                ruling.contract(Code::ExtraKeyDisagrees);
            }
            owned(ruling, subject, holder);
        }
        Sort::Hosted => owned(ruling, subject, holder),
        Sort::User => {}
    }
}

fn owned(ruling: &mut Ruling<'_>, subject: &Subject<'_>, holder: &Holder) {
    ruling.ownership = ownership(subject, holder);
    match &ruling.ownership {
        Ownership::Fine => {}
        Ownership::Dead { .. } | Ownership::Another { .. } => ruling.contract(Code::Owner),
        Ownership::Missing => ruling.contract(Code::OwnerMissing),
        Ownership::NotKnown(gap) => ruling.unknown(Some(gap.clone())),
    }
}

/// What the kubeconfig itself says.
fn read(ruling: &mut Ruling<'_>, subject: &Subject<'_>, content: &Content, now: Timestamp) {
    if content.elsewhere == ExecElsewhere::Yes {
        ruling.codes.insert(Code::ExecInOtherUser);
    }
    let pair = match &content.current {
        Current::Pair(pair) => pair,
        Current::Nothing(_) => return ruling.contract(Code::Context),
    };
    where_it_leads(ruling, pair);
    match subject.sort {
        Sort::User => {
            if pair.credential == Credential::Exec {
                ruling.codes.insert(Code::ExecUser);
            }
        }
        Sort::Capi | Sort::Hosted => {
            if !pair.foreign.is_empty() {
                ruling.holds.insert(Verdict::ExecRefused);
            }
            let assessment = assess(&pair.credential, now);
            ruling.time = Some(assessment);
            ruling.wake_at(assessment.until);
            credential(ruling, &pair.credential, assessment);
        }
    }
}

fn where_it_leads(ruling: &mut Ruling<'_>, pair: &Pair) {
    ruling.endpoint = ruling.expected.endpoint_stand(pair);
    match ruling.endpoint {
        EndpointComparison::Same | EndpointComparison::NotJudged => {}
        EndpointComparison::Moved => drop(ruling.holds.insert(Verdict::EndpointDrift)),
        EndpointComparison::Differs => drop(ruling.codes.insert(Code::EndpointDiffers)),
        EndpointComparison::InCluster => drop(ruling.codes.insert(Code::InClusterEndpoint)),
    }
    ruling.ca = ruling.expected.ca_stand(pair);
    match ruling.ca {
        CaComparison::Same | CaComparison::NotJudged => {}
        CaComparison::Rotating => drop(ruling.holds.insert(Verdict::CaRotating)),
        CaComparison::Disjoint => drop(ruling.holds.insert(Verdict::CaDrift)),
        CaComparison::Insecure => drop(ruling.codes.insert(Code::Insecure)),
    }
}

/// What a credential says of itself, and what time does to it.
pub fn credential(ruling: &mut Ruling<'_>, credential: &Credential, assessment: Assessment) {
    match credential {
        Credential::Token(Token::Malformed(_)) => {
            ruling.holds.insert(Verdict::Unreadable);
            ruling.codes.insert(Code::TokenMalformed);
        }
        Credential::Basic => ruling.contract(Code::BasicAuth),
        Credential::Nothing => ruling.contract(Code::Anonymous),
        Credential::Token(Token::Eks(_) | Token::Jwt(_) | Token::Opaque)
        | Credential::Certificate(_)
        | Credential::Exec
        | Credential::AuthProvider
        | Credential::File => {}
    }
    let held = match assessment.standing {
        Standing::Valid | Standing::NotTimed => None,
        Standing::Expiring => Some(Verdict::Expiring),
        Standing::Expired => Some(Verdict::Expired),
        Standing::NotYetValid => Some(Verdict::NotYetValid),
        Standing::Opaque => Some(Verdict::Opaque),
        Standing::NoExpiry => {
            ruling.codes.insert(Code::NoExpiry);
            Some(Verdict::Opaque)
        }
    };
    ruling.holds.extend(held);
    if assessment.renewal == Renewal::Stalled {
        ruling.holds.insert(Verdict::RefreshStalled);
    }
    if assessment.half_life == HalfLife::Past {
        ruling.codes.insert(Code::PastHalfLife);
    }
}

/// Compares the target with the source it is copied from.
fn beside_source<'a>(ruling: &mut Ruling<'a>, subject: &Subject<'a>, contexts: &ContextCache<'a, Kubeconfigs>) {
    ruling.source = find_source(subject, &ruling.expected, contexts);
    match &ruling.source {
        Source::None | Source::Stale { .. } => {}
        Source::NotKnown(gap) => ruling.unknown(Some(gap.clone())),
        Source::Missing { .. } => drop(ruling.holds.insert(Verdict::SourceMissing)),
        Source::Another { is_twin, .. } => {
            ruling.holds.insert(Verdict::WrongCluster);
            ruling.codes.extend(is_twin.then_some(Code::Twin));
        }
        Source::Invalid { fault, .. } => {
            let code = match fault {
                SourceFault::Key => Code::Key,
                SourceFault::Unparseable => Code::Unparseable,
                SourceFault::Exec => Code::Exec,
                SourceFault::Drift => Code::SourceDrift,
            };
            ruling.holds.insert(Verdict::SourceInvalid);
            ruling.codes.insert(code);
        }
        Source::Good { .. } => {}
    }
    ruling.wake_at(ruling.source.until());
    let Source::Good { holder: source, proof, .. } = &ruling.source else { return };
    // Without an expected endpoint it is not known whether the source is its own.
    if ruling.expected.gap.is_none() && ruling.gap.is_none() && is_behind(ruling, source) {
        let code = match proof {
            SourceProof::Proven => None,
            SourceProof::Unproven { .. } => Some(Code::SourceUnproven),
        };
        ruling.codes.extend(code);
        ruling.holds.insert(Verdict::BehindSource);
    }
}

/// Whether the source has other bytes, and better ones.
fn is_behind(ruling: &Ruling<'_>, source: &Holder) -> bool {
    let Some(target) = ruling.target else { return ruling.has(Verdict::Missing) };
    let (Held::Written { value: theirs, .. }, Held::Written { value: ours, .. }) = (&source.kubeconfig, &target.value)
    else {
        return true;
    };
    theirs != ours && (is_unusable(ruling) || is_fresher(source, target))
}

/// Whether the target is not usable as it is.
fn is_unusable(ruling: &Ruling<'_>) -> bool {
    let hopeless = [
        Verdict::Unreadable,
        Verdict::ExecRefused,
        Verdict::Expired,
        Verdict::NotYetValid,
        Verdict::EndpointDrift,
        Verdict::CaDrift,
    ];
    let useless = [Code::Key, Code::Context, Code::BasicAuth, Code::Anonymous];
    hopeless.iter().any(|verdict| ruling.has(*verdict)) || useless.iter().any(|code| ruling.codes.contains(code))
}

/// Whether the source was issued later.
fn is_fresher(source: &Holder, target: &Holder) -> bool {
    let span = |sort: Sort, holder: &Holder| pair_of(sort, holder).map(|pair| pair.credential.span());
    let (Some(theirs), Some(ours)) = (span(Sort::Hosted, source), span(Sort::Capi, target)) else { return false };
    match (theirs.issued, ours.issued) {
        (Some(theirs), Some(ours)) => theirs > ours,
        (Some(_) | None, Some(_) | None) => theirs.until.zip(ours.until).is_some_and(|(theirs, ours)| theirs > ours),
    }
}
