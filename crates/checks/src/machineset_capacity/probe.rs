//! Trying the annotator's role on request: which sets have one to try, and what a refusal means for them.
//!
//! Invariants: a role is tried for the ServiceAccount and audience of the annotator's own token, in the set's region, and
//! never by default.

use super::credentials::Credentials;
use super::facts::TokenMount;
use super::process_environment::{Said, Seen, SeenPod};
use super::region::partition;
use super::ruling::Ruling;
use super::subjects::Subject;
use super::verdict::{Code, Verdict};
use crate::contract::{Probe, RoleProbe};
use trueup_core::engine::Judged;

/// The role of the annotator of a set, where its token is one that can be requested.
pub fn find(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<Probe> {
    let Credentials::Role { role, token: Some(TokenMount::Token { audience }), .. } = &ruling.credentials else {
        return None;
    };
    let region = ruling.machine.as_ref()?.region.value;
    let Said::Known(Seen { pod: Some(SeenPod { service_account: Some((account, _)), .. }), .. }) =
        &subject.context.environment(subject.sort).said
    else {
        return None;
    };
    partition(region)?;
    Some(Probe::Role(RoleProbe {
        cluster: subject.context.cluster.name.clone(),
        namespace: account.namespace.as_ref()?.to_string(),
        service_account: account.name.to_string(),
        audience: Some(audience.to_string()).filter(|audience| !audience.is_empty()),
        role: role.clone(),
        region: region.to_owned(),
    }))
}

/// Rule 7 for a set whose role was tried and refused: `denied`. The annotations that rules 8 and 9 ask for stay on offer, not
/// selected.
pub fn apply_refusal(judged: &mut Judged) {
    let is_later_rule = Verdict::parse(judged.judgement.verdict).is_some_and(|verdict| match verdict {
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::InvalidSpec
        | Verdict::InstanceTypeEmpty
        | Verdict::RegionInvalid
        | Verdict::CredentialsPartial
        | Verdict::CredentialsNone
        | Verdict::SecretMissing
        | Verdict::SecretInvalid => false,
        Verdict::TokenUnreadable
        | Verdict::Denied
        | Verdict::Transient
        | Verdict::InstanceTypeUnknown
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match
        | Verdict::Unknown => true,
    });
    if !is_later_rule {
        return;
    }
    (judged.judgement.verdict, judged.judgement.state) = (Verdict::Denied.as_str(), Verdict::Denied.state());
    if judged.explanation.remedy.is_empty() {
        return;
    }
    judged.explanation.remedy.iter_mut().for_each(|action| action.selected = false);
    judged.judgement.codes.push(Code::FromCatalogue.as_str());
}
