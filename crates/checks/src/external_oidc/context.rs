//! One cluster that runs its own control plane, with everything its judgements look at.
//!
//! Invariants: what was seen in a list that isn't complete may be used to keep an object, never to condemn it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use super::availability::{self, Availability};
use super::check::{self, CaBundle, CandidateSpec, Checked, Inputs, Provenance, References};
use super::facts::{
    Bundle, ClientSecret, ConfigFile, FeatureGates, Infrastructure, KubeApiServer, Mark, OperatorStatus, Release,
    Topology,
};
use super::gates::{Gate, Gates};
use super::judge::{rule, with_restoration};
use super::names::{
    AUTH_CONFIG, AUTHENTICATION, CLUSTER_VERSION, CONFIG_MAP, CONFIG_NAMESPACE, CONSOLE_NAMESPACE, CONSOLE_OPERATOR,
    CUSTOM_RESOURCE_DEFINITION, FEATURE_GATE, INFRASTRUCTURE, KAS_NAMESPACE, KUBE_API_SERVER, MANAGED_NAMESPACE,
    OAUTH_API_NAMESPACE, RESTRICTIONS_CRD, ROLE_BINDING_RESTRICTION, SECRET, SINGLETON, VERSION_NAME, by_name,
};
use super::remedy::Operator;
use super::ruling::Ruling;
use super::spec::{AuthKind, AuthSpec, Authentication};
use super::stack::Part;
use super::subjects::ResolvedSubject;
use trueup_core::world::{
    Cluster, ClusterName, CollectionId, Fact, Gap, GapCause, Key, Observation, Reading, Resource, Served, Sighting,
    View,
};

/// A cluster and where to look.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub cluster: &'a Cluster,
    pub authentication: Sighting<'a, Authentication>,
    pub kube_api_server: Sighting<'a, KubeApiServer>,
    /// The gates that are on, or why that is not known.
    pub gates: Result<Gates, Gap>,
    /// `4.20.3`, when the cluster says.
    pub release: Option<&'a str>,
    availability: OnceCell<Availability>,
    checked: OnceCell<Result<Checked, Gap>>,
    rulings: RefCell<BTreeMap<ResolvedSubject, Option<Ruling>>>,
}

/// How sure it is that a cluster runs its own control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A guest, or not observed yet.
    NotOurs,
    Standalone,
}

/// Whether a cluster may be looked at at all: hosted guests are another check's.
pub fn standing(view: View<'_>, cluster: &Cluster) -> Standing {
    if cluster.hosted_by.is_some() {
        return Standing::NotOurs;
    }
    let id = CollectionId::all(&cluster.name, INFRASTRUCTURE);
    let infrastructure: Sighting<'_, Infrastructure> = view.read(&id).sight(&Key::new(None, SINGLETON));
    let topology = infrastructure.seen.map(|infrastructure| infrastructure.topology);
    let not_looked = infrastructure.gap.is_some_and(|gap| gap.cause == GapCause::NotObserved);
    match (topology, &cluster.served) {
        (Some(Topology::External), _) => Standing::NotOurs,
        (Some(Topology::Own), _) | (None, Served::Recorded(_)) => Standing::Standalone,
        (None, Served::Complete(_) | Served::Unknown(_)) if not_looked => Standing::NotOurs,
        (None, Served::Complete(_) | Served::Unknown(_)) => Standing::Standalone,
    }
}

impl<'a> CheckContext<'a> {
    /// The context of a cluster, or nothing when this check does not apply there.
    pub fn of(view: View<'a>, name: &ClusterName) -> Option<Self> {
        let cluster = view.cluster(name)?;
        if standing(view, cluster) == Standing::NotOurs {
            return None;
        }
        let authentication: Sighting<'a, Authentication> = singleton(view, name, AUTHENTICATION);
        let kube_api_server: Sighting<'a, KubeApiServer> = singleton(view, name, KUBE_API_SERVER);
        let seen = authentication.seen.is_some() || kube_api_server.seen.is_some();
        let applies = match &cluster.served {
            // The kinds may be installed without their operators.
            Served::Complete(_) => {
                let served = !cluster.served.lacks(&AUTHENTICATION) && !cluster.served.lacks(&KUBE_API_SERVER);
                let empty = authentication.is_proven_absent() && kube_api_server.is_proven_absent();
                served && !empty
            }
            Served::Recorded(_) | Served::Unknown(_) => seen,
        };
        if !applies {
            return None;
        }
        // A kind that a server does not have can't have an object.
        let version: Sighting<'a, Release> = if is_served(cluster, &CLUSTER_VERSION) {
            view.read(&CollectionId::all(name, CLUSTER_VERSION)).sight(&Key::new(None, VERSION_NAME))
        } else {
            Sighting::ABSENT
        };
        let release = version.seen.and_then(|version| version.name.as_deref());
        let served = is_served(cluster, &FEATURE_GATE);
        let listed = if served { singleton(view, name, FEATURE_GATE) } else { Sighting::ABSENT };
        let gates = gates(&listed, &version);
        Some(Self {
            view,
            cluster,
            authentication,
            kube_api_server,
            gates,
            release,
            availability: OnceCell::new(),
            checked: OnceCell::new(),
            rulings: RefCell::default(),
        })
    }

    /// The one ruling on a subject, made when first needed.
    pub fn ruling(&self, subject: &ResolvedSubject) -> Option<Ruling> {
        if let Some(ruling) = self.rulings.borrow().get(subject) {
            return ruling.clone();
        }
        let ruling = rule(self, subject).map(|ruling| with_restoration(self, subject, ruling));
        self.rulings.borrow_mut().insert(subject.clone(), ruling.clone());
        ruling
    }

    pub fn name(&self) -> &'a ClusterName {
        &self.cluster.name
    }

    /// `spec.type`, or why it isn't known.
    pub fn kind(&self) -> Result<&'a AuthKind, Gap> {
        let authentication = self.authentication.known()?;
        let absent = || Gap::new(GapCause::NotObserved, "Authentication/cluster does not exist");
        authentication.map(|authentication| &authentication.spec.kind).ok_or_else(absent)
    }

    /// Whether the oauth-apiserver authenticates in kube-apiserver's stead.
    pub fn claims_sourcing(&self) -> Result<bool, Gap> {
        self.gates.as_ref().map(|gates| gates.on(Gate::ExternalClaims)).map_err(Clone::clone)
    }

    /// Whether external OIDC is what this cluster's API servers do now.
    pub fn availability(&self) -> &Availability {
        self.availability.get_or_init(|| availability::assess(self))
    }

    /// What the Authentication comes to, or why that is not known.
    pub fn checked(&self) -> Result<&Checked, Gap> {
        self.checked.get_or_init(|| self.check()).as_ref().map_err(Clone::clone)
    }

    fn check(&self) -> Result<Checked, Gap> {
        self.kind()?;
        self.check_candidate(&self.stored()?)
    }

    /// The Authentication of the cluster, as a spec to judge.
    fn stored(&self) -> Result<CandidateSpec, Gap> {
        let Authentication { meta, spec, unknown_fields, .. } = self.authentication.seen.ok_or_else(not_seen)?;
        let (spec, unknown_fields) = (spec.clone(), unknown_fields.clone());
        Ok(CandidateSpec { spec, unknown_fields, provenance: Provenance::of(&meta.version) })
    }

    /// What the Authentication would come to with type OIDC, and without the webhook that would stand in its way.
    pub fn checked_as_oidc(&self) -> Result<Checked, Gap> {
        let stored = self.stored()?;
        let spec = AuthSpec { kind: AuthKind::Oidc, webhook: None, ..stored.spec };
        self.check_candidate(&CandidateSpec { spec, ..stored })
    }

    /// What another spec would come to in this cluster, with its CAs, Secrets, gates and issuers.
    pub fn check_candidate(&self, candidate: &CandidateSpec) -> Result<Checked, Gap> {
        let clients = self.authentication.seen.map_or(&[][..], |authentication| &authentication.clients);
        let CandidateSpec { spec, unknown_fields, provenance } = candidate;
        let oidc = spec.is_oidc();
        let gates = match &self.gates {
            Ok(gates) => gates.clone(),
            Err(gap) if oidc => return Err(gap.clone()),
            Err(_) => Gates::default(),
        };
        let ca = |name: &str| match self.bundle(CONFIG_NAMESPACE, name).known() {
            Err(_) => CaBundle::Unknown,
            Ok(None) => CaBundle::Absent,
            Ok(Some(bundle)) => match bundle.text.as_deref() {
                None | Some("") => CaBundle::KeyMissing,
                Some(text) => CaBundle::Text(text),
            },
        };
        let secret = |name: &str| match self.secret_mark(CONFIG_NAMESPACE, name).known() {
            Err(_) => check::Presence::Unknown,
            Ok(None) => check::Presence::Absent,
            Ok(Some(_)) => check::Presence::Present,
        };
        let issuers = self.kube_api_server.known().map(|seen| seen.map_or(&[][..], |kas| &kas.issuers));
        let present = self.auth_config(MANAGED_NAMESPACE);
        Ok(check::check(&Inputs {
            authentication: spec,
            provenance: *provenance,
            unknown_fields,
            references: References::OpenshiftConfig,
            clients,
            gates: &gates,
            ca: &ca,
            secret: &secret,
            service_account_issuers: issuers.ok(),
            present: present.seen.and_then(|file| file.auth_config.as_deref()),
            now: self.view.now,
        }))
    }

    /// A resource of the OAuth stack.
    pub fn part(&self, part: &Part) -> Sighting<'a, Mark> {
        self.view.read(&part.collection(self.name())).sight(&part.key())
    }

    /// The definition of RoleBindingRestrictions.
    pub fn restrictions_definition(&self) -> Sighting<'a, Mark> {
        let id = by_name(self.name(), CUSTOM_RESOURCE_DEFINITION, RESTRICTIONS_CRD);
        self.view.read(&id).sight(&Key::new(None, RESTRICTIONS_CRD))
    }

    pub fn restrictions(&self) -> Reading<'a, Mark> {
        self.view.read(&CollectionId::all(self.name(), ROLE_BINDING_RESTRICTION).metadata())
    }

    /// The ConfigMap `auth-config` of a namespace.
    pub fn auth_config(&self, namespace: &str) -> Sighting<'a, ConfigFile> {
        self.config_file(namespace, AUTH_CONFIG)
    }

    pub fn config_file(&self, namespace: &str, name: &str) -> Sighting<'a, ConfigFile> {
        self.view.read(&config_maps(self.name(), namespace)).sight(&Key::new(Some(namespace), name))
    }

    /// A ConfigMap that may hold a CA bundle.
    pub fn bundle(&self, namespace: &str, name: &str) -> Sighting<'a, Bundle> {
        self.bundles(namespace).sight(&Key::new(Some(namespace), name))
    }

    pub fn bundles(&self, namespace: &str) -> Reading<'a, Bundle> {
        self.view.read(&config_maps(self.name(), namespace))
    }

    /// A Secret by its metadata.
    pub fn secret_mark(&self, namespace: &str, name: &str) -> Sighting<'a, Mark> {
        self.view.read(&secret_marks(self.name(), namespace)).sight(&Key::new(Some(namespace), name))
    }

    /// A client secret, read by name. Nothing certain while what was read is older than what the list shows.
    pub fn client_secret(&self, namespace: &str, name: &str) -> Result<Option<&'a ClientSecret>, Gap> {
        let Some(mark) = self.secret_mark(namespace, name).known()? else { return Ok(None) };
        let id = CollectionId::object(self.name(), SECRET, Some(namespace), name);
        match self.view.read::<ClientSecret>(&id).get(&Key::new(Some(namespace), name)) {
            Observation::Present(secret) if secret.version == mark.meta.version => Ok(Some(secret)),
            Observation::Present(_) => Err(Gap::new(GapCause::NotObserved, "it has changed and is being read again")),
            Observation::ProvenAbsent(_) => Err(Gap::new(GapCause::NotObserved, "it went away while it was read")),
            Observation::Unknown(gap) => Err(gap),
        }
    }

    /// Whether the cluster has a console at all. A folder does not say, and counts as having one.
    pub fn has_console(&self) -> bool {
        is_served(self.cluster, &CONSOLE_OPERATOR)
    }

    /// What an operator says of itself.
    pub fn operator_status(&self, operator: Operator) -> Option<&'a OperatorStatus> {
        let reading = self.view.read::<OperatorStatus>(&CollectionId::all(self.name(), operator.resource()));
        reading.get(&Key::new(None, SINGLETON)).present()
    }
}

/// Whether a live server has the kind. A folder answers for every kind, by what it says of itself.
pub fn is_served(cluster: &Cluster, resource: &Resource) -> bool {
    match &cluster.served {
        Served::Complete(_) => !cluster.served.lacks(resource),
        Served::Recorded(_) | Served::Unknown(_) => true,
    }
}

pub fn config_maps(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, CONFIG_MAP, namespace)
}

pub fn secret_marks(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, SECRET, namespace).metadata()
}

/// The namespaces whose ConfigMaps are read for the configuration of kube-apiserver.
pub const FILE_NAMESPACES: [&str; 3] = [MANAGED_NAMESPACE, KAS_NAMESPACE, OAUTH_API_NAMESPACE];
/// The namespaces whose ConfigMaps are read for CA bundles.
pub const BUNDLE_NAMESPACES: [&str; 2] = [CONFIG_NAMESPACE, CONSOLE_NAMESPACE];

fn singleton<'a, F: Fact>(view: View<'a>, cluster: &ClusterName, resource: Resource) -> Sighting<'a, F> {
    view.read(&CollectionId::all(cluster, resource)).sight(&Key::new(None, SINGLETON))
}

fn not_seen() -> Gap {
    Gap::new(GapCause::NotObserved, "Authentication/cluster was not seen")
}

/// The gates as the cluster lists them; without the object, as its release has them.
fn gates(listed: &Sighting<'_, FeatureGates>, version: &Sighting<'_, Release>) -> Result<Gates, Gap> {
    let release = version.seen.and_then(|version| version.name.as_deref());
    match listed.known()? {
        Some(listed) => Ok(listed.enabled(release).cloned().unwrap_or_else(|| Gates::of_release(release))),
        None => match (&version.seen, &version.gap) {
            (None, Some(gap)) => Err(gap.clone()),
            (Some(_), _) | (None, None) => Ok(Gates::of_release(release)),
        },
    }
}
