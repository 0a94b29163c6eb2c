//! A HostedCluster: whether the authentication it asks for can work, judged as an Authentication is.
//!
//! Invariants:
//! - the guest is not needed: a HostedCluster is judged while its guest cannot be reached;
//! - CAs and client secrets are looked for in the HostedCluster's own namespace, as HyperShift does.
//!
//! Elsewhere: the rules of an Authentication (`external_oidc`).

use jiff::Timestamp;

use super::context::{Found, find_control_plane};
use super::facts::{AuthBlock, Bundle, ControlPlane, Hosted, HostedCluster, SpeakingCondition};
use super::names::{CONFIG_MAP, DEFAULT_ISSUER, HOSTED_CLUSTER};
use super::ruling::Ruling;
use super::verdict::{Code, Verdict};
use crate::external_oidc::{
    AuthSpec, CaBundle, CandidateSpec, Checked, ClientStatus, Gates, Inputs, Presence, Problem, References, Refuser,
    SpecCode, SpecVerdict, Warning, check,
};
use crate::kinds::{SecretMark, secret_marks};
use trueup_core::world::{
    ClusterName, CollectionId, DeletionState, Gap, GapCause, HostedBy, Key, Reading, Sighting, View,
};

/// A HostedCluster with what its judgement looks at.
pub struct HostedContext<'a> {
    view: View<'a>,
    pub by: HostedBy,
    pub cluster: &'a HostedCluster,
    pub control_plane: Sighting<'a, ControlPlane>,
}

impl<'a> HostedContext<'a> {
    /// The context of a HostedCluster that was seen.
    pub fn of(view: View<'a>, by: HostedBy) -> Option<Self> {
        let (hosted_cluster, control_plane, _): Found<'a> = find_control_plane(view, &by);
        let cluster = hosted_cluster.seen?;
        Some(Self { view, by, cluster, control_plane })
    }

    /// The HostedCluster that a guest belongs to, or why it is not known.
    ///
    /// # Errors
    /// The guest's HostedCluster is not known, or was not seen.
    pub fn of_guest(view: View<'a>, guest: &ClusterName) -> Option<Result<Self, Gap>> {
        let context = super::context::CheckContext::of(view, guest)?;
        let not_seen = || Gap::new(GapCause::NotObserved, "its HostedCluster was not seen");
        Some(context.home.and_then(|by| Self::of(view, by).ok_or_else(not_seen)))
    }

    /// A CA bundle in its own namespace.
    pub fn ca_bundle(&self, name: &str) -> Sighting<'a, Bundle> {
        let namespace = self.by.namespace.as_str();
        self.view.read(&bundles_id(&self.by.cluster, namespace)).sight(&Key::new(Some(namespace), name))
    }

    pub fn view(&self) -> View<'a> {
        self.view
    }

    pub fn now(&self) -> Timestamp {
        self.view.now
    }

    pub fn key(&self) -> Key {
        Key { namespace: Some(self.by.namespace.clone()), name: self.by.name.clone() }
    }

    /// The HostedCluster and its control plane, as far as they were seen.
    fn both(&self) -> impl Iterator<Item = &'a Hosted> {
        [&self.cluster.hosted].into_iter().chain(self.control_plane.seen.map(|plane| &plane.hosted))
    }

    /// The type its authentication asks for, as people know it.
    pub fn kind(&self) -> &str {
        match &self.cluster.block {
            AuthBlock::Given(candidate) => candidate.spec.kind.as_str(),
            AuthBlock::Absent => "IntegratedOAuth",
            AuthBlock::TypeEmpty | AuthBlock::Unreadable(_) => "(empty)",
        }
    }

    /// The feature gates of its release.
    pub fn gates(&self) -> Gates {
        Gates::of_release(self.cluster.release.as_deref())
    }

    /// What its authentication comes to; nothing where it has none.
    pub fn checked(&self) -> Result<Option<Checked>, Gap> {
        match &self.cluster.block {
            AuthBlock::Absent => Ok(None),
            AuthBlock::TypeEmpty => Ok(Some(refused_without_type())),
            AuthBlock::Unreadable(why) => {
                let message = format!("spec.configuration.authentication cannot be read: {why}");
                Err(Gap::new(GapCause::Unreadable, message))
            }
            AuthBlock::Given(candidate) => Ok(Some(self.check_candidate(candidate))),
        }
    }

    /// What another authentication would come to in its place.
    pub fn check_candidate(&self, candidate: &CandidateSpec) -> Checked {
        self.check_with_issuer(candidate, &self.cluster.issuer_url)
    }

    /// The same, for a HostedCluster whose `spec.issuerURL` would be another.
    pub fn check_with_issuer(&self, candidate: &CandidateSpec, issuer_url: &str) -> Checked {
        let place = HostedPlace { view: self.view, by: &self.by };
        place.check(candidate, issuer_url, &self.cluster.clients, &self.gates())
    }

    /// The condition types that say that the configuration was refused.
    pub fn refusals(&self) -> Vec<SpeakingCondition> {
        let refusing = [SpeakingCondition::ValidConfiguration, SpeakingCondition::ValidHostedControlPlaneConfiguration];
        let own = |condition: &SpeakingCondition| says(&self.cluster.hosted, *condition);
        let of_plane =
            |plane: &ControlPlane| says(&plane.hosted, SpeakingCondition::ValidHostedControlPlaneConfiguration);
        let by_plane = self.control_plane.seen.is_some_and(of_plane);
        let is_plane = |condition: &SpeakingCondition| {
            *condition == SpeakingCondition::ValidHostedControlPlaneConfiguration && by_plane
        };
        refusing.into_iter().filter(|condition| own(condition) || is_plane(condition)).collect()
    }
}

fn says(hosted: &Hosted, condition: SpeakingCondition) -> bool {
    hosted.complaints.iter().any(|complaint| *complaint.condition == *condition.as_str())
}

/// What the authentication of a HostedCluster that does not exist yet would come to. Its release is the newest.
pub fn check_new(view: View<'_>, by: &HostedBy, candidate: &CandidateSpec, issuer_url: &str) -> Checked {
    HostedPlace { view, by }.check(candidate, issuer_url, &[], &Gates::of_release(None))
}

/// The namespace of a HostedCluster.
struct HostedPlace<'v, 'a> {
    view: View<'a>,
    by: &'v HostedBy,
}

impl<'a> HostedPlace<'_, 'a> {
    fn check(&self, candidate: &CandidateSpec, issuer_url: &str, clients: &[ClientStatus], gates: &Gates) -> Checked {
        let (cluster, namespace) = (&self.by.cluster, self.by.namespace.as_str());
        let bundles: Reading<'a, Bundle> = self.view.read(&bundles_id(cluster, namespace));
        let secrets: Reading<'a, SecretMark> = self.view.read(&secret_marks(cluster, namespace));
        let key = |name: &str| Key::new(Some(namespace), name);
        let ca = |name: &str| match bundles.sight(&key(name)).known() {
            Err(_) => CaBundle::Unknown,
            Ok(None) => CaBundle::Absent,
            Ok(Some(bundle)) => match bundle.text.as_deref() {
                None | Some("") => CaBundle::KeyMissing,
                Some(text) => CaBundle::Text(text),
            },
        };
        let secret = |name: &str| match secrets.sight(&key(name)).known() {
            Err(_) => Presence::Unknown,
            Ok(None) => Presence::Absent,
            Ok(Some(_)) => Presence::Present,
        };
        let issuer = if issuer_url.is_empty() { DEFAULT_ISSUER } else { issuer_url };
        // The block's own serviceAccountIssuer is ignored: spec.issuerURL replaces it.
        let spec = AuthSpec { service_account_issuer: Some(issuer.to_owned()), ..candidate.spec.clone() };
        let checked = check(&Inputs {
            authentication: &spec,
            provenance: candidate.provenance,
            unknown_fields: &candidate.unknown_fields,
            references: References::HostedCluster { namespace },
            clients,
            gates,
            ca: &ca,
            secret: &secret,
            service_account_issuers: Some(&[]),
            present: None,
            now: self.view.now,
        });
        of_hosted(checked)
    }
}

/// A hosted cluster without a provider is normal in managed services: its administrators use certificates. Fields have
/// the paths they have in a HostedCluster.
fn of_hosted(checked: Checked) -> Checked {
    let path = |text: String| text.replacen("spec.", "spec.configuration.authentication.", 1);
    let verdict = match checked.verdict {
        SpecVerdict::Lockout => SpecVerdict::Valid,
        verdict @ (SpecVerdict::Valid | SpecVerdict::Invalid | SpecVerdict::KasWouldRefuse | SpecVerdict::Unknown) => {
            verdict
        }
    };
    Checked {
        verdict,
        problems: checked.problems.into_iter().map(|one| Problem { path: path(one.path), ..one }).collect(),
        warnings: checked.warnings.into_iter().map(|one| Warning { path: path(one.path), ..one }).collect(),
        unknowns: checked.unknowns.into_iter().map(path).collect(),
        rendered: checked.rendered,
    }
}

fn refused_without_type() -> Checked {
    let problem = Problem {
        code: SpecCode::TypeEmpty,
        path: "spec.configuration.authentication.type".to_owned(),
        value: String::new(),
        why: "HyperShift refuses an authentication block without a type".to_owned(),
        refuser: Refuser::Operator,
    };
    let (warnings, unknowns) = (Vec::new(), Vec::new());
    Checked { verdict: SpecVerdict::Invalid, problems: vec![problem], warnings, unknowns, rendered: None }
}

/// The ConfigMaps of a HostedCluster's namespace: CA bundles are among them.
pub fn bundles_id(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, CONFIG_MAP, namespace)
}

/// Where every HostedCluster of a management cluster is.
pub fn all(view: View<'_>, cluster: &ClusterName) -> Vec<HostedBy> {
    let reading: Reading<'_, HostedCluster> = view.read(&HOSTED_CLUSTER.collection_at(cluster, view));
    reading.iter().filter_map(|(key, _)| hosted_by(cluster, key)).collect()
}

/// The place of the HostedCluster of this name.
pub fn hosted_by(cluster: &ClusterName, key: &Key) -> Option<HostedBy> {
    Some(HostedBy { cluster: cluster.clone(), namespace: key.namespace.clone()?, name: key.name.clone() })
}

/// Judges a HostedCluster.
pub fn rule(context: &HostedContext<'_>) -> Ruling {
    if context.both().any(|hosted| hosted.deletion_state == DeletionState::Terminating) {
        return Ruling::new(Verdict::Moot).with(Code::Deleting);
    }
    let checked = match context.checked() {
        Err(gap) => return Ruling::unknown(gap),
        Ok(None) => return degraded(context, Ruling::new(Verdict::Valid)),
        Ok(Some(checked)) => checked,
    };
    let problems = checked.problems.iter().map(|problem| problem.code.as_str());
    let spec_codes = problems.chain(checked.warnings.iter().map(|warning| warning.code.as_str())).collect();
    let ruling = match checked.verdict {
        SpecVerdict::Valid | SpecVerdict::Lockout => Ruling::new(Verdict::Valid),
        SpecVerdict::Invalid => Ruling::new(Verdict::Invalid),
        SpecVerdict::KasWouldRefuse => Ruling::new(Verdict::KasWouldRefuse),
        SpecVerdict::Unknown => Ruling::unknown(Gap::new(GapCause::NotObserved, checked.unknowns.join("; "))),
    };
    degraded(context, Ruling { spec_codes, ..ruling })
}

/// A configuration that looks right and that HyperShift refuses all the same.
fn degraded(context: &HostedContext<'_>, ruling: Ruling) -> Ruling {
    let refusals = context.refusals();
    if ruling.verdict != Verdict::Valid || refusals.is_empty() {
        return ruling;
    }
    let mut spec_codes = ruling.spec_codes.clone();
    spec_codes.extend(refusals.into_iter().map(SpeakingCondition::as_str));
    Ruling { verdict: Verdict::Degraded, spec_codes, ..ruling }
}
