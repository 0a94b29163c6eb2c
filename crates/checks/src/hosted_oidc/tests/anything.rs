//! Worlds nobody thought of. Each is judged by the check and by [`GeneratedWorld::oracle`], a second reading of the rules that
//! knows only what was put into the world; and what is judged step by step is judged again from nothing.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::HostedOidc;
use super::super::names::CopyKind;
use super::super::subjects::subject;
use super::*;
use crate::Check;
use trueup_core::engine::SubjectId;
use trueup_core::world::ClusterName;

/// Two free names, and one per kind that the platform owns.
const NAMES: [&str; 3] = ["a", "b", "p"];

/// Everything a random world consists of. A throw of zeros is the dull world.
#[derive(Debug, Clone)]
struct GeneratedWorld {
    copies: BTreeMap<(CopyKind, &'static str), CopyRecipe>,
    sources: BTreeMap<(CopyKind, &'static str), SourceRecipe>,
    plane: Option<HostedRecipe>,
    cluster: Option<HostedRecipe>,
    guest: Option<AuthRecipe>,
    /// The client id the console uses.
    current: Option<&'static str>,
    /// Guest configs and the control plane's other configuration, with what they name.
    referrers: Vec<(&'static str, CopyKind, &'static str)>,
    mirrored: bool,
    aro: bool,
    home: Home,
    gaps: BTreeSet<(&'static str, &'static str)>,
    neighbours: Neighbours,
}

#[derive(Debug, Clone)]
struct CopyRecipe {
    oidc: Option<&'static str>,
    managed: bool,
    value: Option<&'static str>,
    extra_key: bool,
    owned: bool,
    other_type: bool,
    terminating: bool,
}

#[derive(Debug, Clone)]
struct SourceRecipe {
    value: Option<&'static str>,
    marked: bool,
    /// Carries the annotation of sources that a HostedCluster refers to.
    referenced: bool,
    stub: bool,
}

#[derive(Debug, Clone)]
struct HostedRecipe {
    auth: AuthRecipe,
    deleting: bool,
    paused: bool,
    restored: bool,
}

#[derive(Debug, Clone)]
struct AuthRecipe {
    kind: Option<&'static str>,
    ca: Option<&'static str>,
    secret: Option<&'static str>,
    claims: Option<(CopyKind, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Home {
    Configured,
    ByInfraId,
    NotFound,
}

/// Another guest and another management cluster, which may claim the same infraIDs.
#[derive(Debug, Clone)]
struct Neighbours {
    guest: bool,
    manager: Option<&'static str>,
    second_in_mgmt: bool,
}

const GAPS: &[(&str, &str)] = &[
    ("guest-a", "v1/secrets@openshift-config"),
    ("guest-a", "v1/configmaps@openshift-config"),
    ("guest-a", "config.openshift.io/v1/authentications"),
    ("guest-a", "config.openshift.io/v1/proxies"),
    ("guest-a", "config.openshift.io/v1/images"),
    ("guest-a", "config.openshift.io/v1/apiservers"),
    ("guest-a", "config.openshift.io/v1/oauths"),
    ("mgmt", "hypershift.openshift.io/v1beta1/hostedclusters"),
    ("mgmt", "hypershift.openshift.io/v1beta1/hostedcontrolplanes"),
    ("mgmt", "v1/secrets@clusters-guest-a"),
    ("mgmt", "v1/configmaps@clusters-guest-a"),
];

/// Reads choices from bytes; when they run out, the dull choice.
struct RandomBytes<'b>(std::slice::Iter<'b, u8>);

impl RandomBytes<'_> {
    fn byte(&mut self) -> usize {
        self.0.next().copied().map_or(0, usize::from)
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.byte() % sides == sides - 1
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.byte() % choices.len()]
    }

    fn name(&mut self) -> Option<&'static str> {
        self.pick(&[None, Some("a"), Some("b"), Some("p")])
    }

    fn auth(&mut self) -> AuthRecipe {
        let kind = self.pick(&[Some("OIDC"), Some("OIDC"), Some("IntegratedOAuth"), None]);
        let claimed = self.pick(&[None, None, None, Some(CopyKind::Secret), Some(CopyKind::ConfigMap)]);
        let (ca, secret) = (self.name(), self.name());
        AuthRecipe { kind, ca, secret, claims: claimed.and_then(|kind| Some((kind, self.name()?))) }
    }

    fn hosted(&mut self) -> Option<HostedRecipe> {
        let absent = self.one_in(10);
        let (deleting, paused, restored) = (self.one_in(12), self.one_in(12), self.one_in(12));
        let hosted = HostedRecipe { auth: self.auth(), deleting, paused, restored };
        (!absent).then_some(hosted)
    }

    fn copy(&mut self) -> Option<CopyRecipe> {
        let present = self.pick(&[false, true, true]);
        let copy = CopyRecipe {
            oidc: self.pick(&[None, Some("true"), Some("true"), Some("false")]),
            managed: self.pick(&[false, true]),
            value: self.pick(&[Some("x"), Some("x"), Some("y"), Some(""), None]),
            extra_key: self.one_in(6),
            owned: self.one_in(8),
            other_type: self.one_in(8),
            terminating: self.one_in(12),
        };
        present.then_some(copy)
    }

    fn source(&mut self) -> Option<SourceRecipe> {
        let present = self.pick(&[false, true, true, true]);
        let value = self.pick(&[Some("x"), Some("x"), Some("y"), Some(""), None]);
        let (marked, referenced, stub) = (self.one_in(3), self.one_in(3), self.one_in(4));
        let source = SourceRecipe { value, marked, referenced, stub };
        present.then_some(source)
    }

    fn recipe(mut self) -> GeneratedWorld {
        let mut recipe = GeneratedWorld {
            copies: BTreeMap::new(),
            sources: BTreeMap::new(),
            plane: self.hosted(),
            cluster: self.hosted(),
            guest: None,
            current: self.pick(&[None, None, Some("id"), Some("other")]),
            referrers: Vec::new(),
            mirrored: self.one_in(2),
            aro: self.one_in(3),
            home: self.pick(&[Home::Configured, Home::Configured, Home::ByInfraId, Home::NotFound]),
            gaps: BTreeSet::new(),
            neighbours: Neighbours {
                guest: self.one_in(2),
                manager: self.pick(&[None, Some("b-infra"), Some("b-infra"), Some("guest-a-infra"), Some("c-infra")]),
                second_in_mgmt: self.one_in(4),
            },
        };
        let guest = self.auth();
        recipe.guest = (!self.one_in(6)).then_some(guest);
        for kind in CopyKind::ALL {
            for name in NAMES {
                recipe.copies.extend(self.copy().map(|copy| ((kind, name), copy)));
                recipe.sources.extend(self.source().map(|source| ((kind, name), source)));
            }
        }
        for (place, kind) in PLACES {
            let name = if self.one_in(5) { self.name() } else { None };
            recipe.referrers.extend(name.map(|name| (*place, *kind, name)));
        }
        for gap in GAPS {
            if self.one_in(12) {
                recipe.gaps.insert(*gap);
            }
        }
        // Else guest-a would simply be the neighbour's: the oracle knows its own control plane alone.
        if recipe.cluster.is_none() && recipe.home == Home::ByInfraId {
            recipe.neighbours.manager = None;
        }
        recipe
    }
}

const PLACES: &[(&str, CopyKind)] = &[
    ("Proxy", CopyKind::ConfigMap),
    ("Image", CopyKind::ConfigMap),
    ("APIServer", CopyKind::ConfigMap),
    ("APIServer", CopyKind::Secret),
    ("OAuth", CopyKind::ConfigMap),
    ("OAuth", CopyKind::Secret),
    ("plane", CopyKind::ConfigMap),
    ("plane", CopyKind::Secret),
];

fn real_name(kind: CopyKind, name: &'static str) -> &'static str {
    match (kind, name) {
        (CopyKind::Secret, "p") => "pull-secret",
        (CopyKind::ConfigMap, "p") => "user-ca-bundle",
        (CopyKind::Secret | CopyKind::ConfigMap, other) => other,
    }
}

impl AuthRecipe {
    fn block(&self) -> Value {
        let ca = self.ca.map(|name| real_name(CopyKind::ConfigMap, name)).unwrap_or_default();
        let secret = self.secret.map(|name| real_name(CopyKind::Secret, name)).unwrap_or_default();
        let claims = self.claims.map(|(kind, name)| match kind {
            CopyKind::ConfigMap => json!({ "tls": { "certificateAuthority": { "name": real_name(kind, name) } } }),
            CopyKind::Secret => json!({ "authentication": { "clientCredential": { "clientSecret": { "name": real_name(kind, name) } } } }),
        });
        json!({ "type": self.kind, "oidcProviders": [{
            "name": "idp",
            "issuer": { "issuerURL": "https://idp", "issuerCertificateAuthority": { "name": ca } },
            "oidcClients": [{ "componentNamespace": "n", "componentName": "console", "clientID": "id", "clientSecret": { "name": secret } }],
            "externalClaimsSources": claims.into_iter().collect::<Vec<_>>()
        }] })
    }

    fn is_oidc(&self) -> bool {
        self.kind == Some("OIDC")
    }

    fn copies(&self, kind: CopyKind, name: &str) -> bool {
        let named = match kind {
            CopyKind::ConfigMap => self.ca,
            CopyKind::Secret => self.secret,
        };
        named == Some(name)
    }

    fn names(&self, kind: CopyKind, name: &str) -> bool {
        self.copies(kind, name) || self.claims == Some((kind, name))
    }

    fn expects(&self, kind: CopyKind, name: &str) -> bool {
        self.is_oidc() && self.names(kind, name)
    }
}

impl GeneratedWorld {
    fn thing(kind: CopyKind, name: &'static str, value: Option<&str>) -> Thing {
        let (thing, key) = match kind {
            CopyKind::ConfigMap => (config_map(real_name(kind, name)), "ca-bundle.crt"),
            CopyKind::Secret => (secret(real_name(kind, name)), "clientSecret"),
        };
        let bare = thing.without_keys();
        value.map_or(bare.clone(), |value| bare.key(key, value))
    }

    fn given(&self) -> Given {
        let mut given = given().without("mgmt", "HostedCluster").without("mgmt", "HostedControlPlane");
        if let Some(hosted) = &self.cluster {
            given = given.object("mgmt", dressed(hosted_cluster("clusters", "guest-a"), hosted));
        }
        if let Some(hosted) = &self.plane {
            given = given.object("mgmt", self.dressed_plane(hosted));
        }
        given = match &self.guest {
            None => given.without("guest-a", "Authentication"),
            Some(guest) => {
                let clients: Vec<Value> =
                    self.current.iter().map(|id| json!({ "issuerURL": "https://idp", "clientID": id })).collect();
                let entry =
                    json!({ "componentNamespace": "n", "componentName": "console", "currentOIDCClients": clients });
                given.guest_authentication(guest.block()).clients_in_use(json!([entry]))
            }
        };
        for ((kind, name), copy) in &self.copies {
            given = given.has(copy.thing(*kind, name));
            if self.mirrored && *kind == CopyKind::ConfigMap {
                given = given.console(Self::thing(*kind, name, copy.value));
            }
        }
        for ((kind, name), source) in &self.sources {
            given = given.source(source.thing(*kind, name));
        }
        given = self.referring(given);
        for (cluster, entry) in &self.gaps {
            given = given.incomplete(cluster, entry);
        }
        self.neighbours.join(match self.home {
            Home::Configured => given,
            Home::ByInfraId => given.known_by_topology("guest-a", "guest-a-infra"),
            Home::NotFound => given.known_by_topology("guest-a", "nobody"),
        })
    }

    fn dressed_plane(&self, hosted: &HostedRecipe) -> Value {
        let mut plane = dressed(control_plane("clusters", "guest-a", "clusters-guest-a"), hosted);
        if self.aro {
            let config = json!({ "azureAuthenticationConfigType": "ManagedIdentities" });
            plane["spec"]["platform"] = json!({ "type": "Azure", "azure": { "azureAuthenticationConfig": config } });
        }
        for (_, kind, name) in self.referrers.iter().filter(|(place, _, _)| *place == "plane") {
            let name = json!({ "name": real_name(*kind, name) });
            match kind {
                CopyKind::ConfigMap => plane["spec"]["configuration"]["proxy"]["trustedCA"] = name,
                CopyKind::Secret => plane["spec"]["configuration"]["oauth"]["templates"]["login"] = name,
            }
        }
        plane
    }

    fn referring(&self, mut given: Given) -> Given {
        for (place, kind, name) in &self.referrers {
            let name = json!({ "name": real_name(*kind, name) });
            given = match (*place, kind) {
                ("Proxy", _) => given.set("guest-a", "Proxy", "spec.trustedCA", name),
                ("Image", _) => given.set("guest-a", "Image", "spec.additionalTrustedCA", name),
                ("APIServer", CopyKind::ConfigMap) => given.set("guest-a", "APIServer", "spec.clientCA", name),
                ("APIServer", CopyKind::Secret) => {
                    let certificates = json!([{ "servingCertificate": name }]);
                    given.set("guest-a", "APIServer", "spec.servingCerts.namedCertificates", certificates)
                }
                ("OAuth", CopyKind::ConfigMap) => {
                    given.set("guest-a", "OAuth", "spec.identityProviders", json!([{ "github": { "ca": name } }]))
                }
                ("OAuth", CopyKind::Secret) => given.set("guest-a", "OAuth", "spec.templates.login", name),
                _ => given,
            };
        }
        given
    }

    fn is_gap(&self, entry: &str) -> bool {
        self.gaps.iter().any(|(_, gap)| gap.contains(entry))
    }

    /// Whether the guest's HostedCluster is known.
    fn is_home_known(&self) -> bool {
        match self.home {
            Home::Configured => true,
            Home::NotFound => false,
            Home::ByInfraId => self.cluster.is_some() && self.neighbours.manager != Some("guest-a-infra"),
        }
    }

    /// The rules, read a second time. The answer as text, or nothing when the name is no subject.
    fn oracle(&self, kind: CopyKind, name: &'static str) -> Option<String> {
        let plane = self.plane.as_ref().filter(|_| self.is_home_known());
        let copy = self.copies.get(&(kind, name));
        let expected = plane.is_some_and(|plane| plane.auth.expects(kind, name));
        let plural = if kind == CopyKind::Secret { "v1/secrets" } else { "v1/configmaps" };
        let guest_gap = self.is_gap(&format!("{plural}@openshift-config"));
        let Some(copy) = copy else {
            let absent = if guest_gap { "unknown".to_owned() } else { self.oracle_expected(plane?, kind, name, None) };
            return expected.then_some(absent);
        };
        if copy.terminating {
            return Some("terminating".to_owned());
        }
        if name == "p" {
            return Some(if expected { "protected named-by-oidc" } else { "protected" }.to_owned());
        }
        if expected {
            return Some(self.oracle_expected(plane?, kind, name, Some(copy)));
        }
        let settled = self.plane.is_some() || !self.is_gap("hostedcontrolplanes");
        let sources_read = self.is_home_known() && settled;
        let is_stub = self.sources.get(&(kind, name)).is_some_and(|source| source.stub);
        if kind == CopyKind::Secret && sources_read && is_stub {
            return Some("protected day-2".to_owned());
        }
        let refers = |place: &str| place != "plane" || plane.is_some();
        if self.referrers.iter().any(|(place, of, named)| (*of, *named) == (kind, name) && refers(place)) {
            return Some("protected".to_owned());
        }
        let cluster = self.cluster.as_ref().filter(|_| self.is_home_known());
        let by_guest = self.guest.as_ref().is_some_and(|guest| guest.names(kind, name));
        let by_cluster = cluster.is_some_and(|cluster| cluster.auth.expects(kind, name));
        let unpropagated = by_cluster && plane.is_some_and(|plane| !plane.auth.names(kind, name));
        match (by_guest, unpropagated) {
            (true, true) => return Some("pending guest-still-refers not-propagated".to_owned()),
            (true, false) => return Some("pending guest-still-refers".to_owned()),
            (false, true) => return Some("pending not-propagated".to_owned()),
            (false, false) => {}
        }
        Some(self.oracle_candidate(kind, name, copy, guest_gap))
    }

    fn oracle_expected(
        &self,
        plane: &HostedRecipe,
        kind: CopyKind,
        name: &'static str,
        copy: Option<&CopyRecipe>,
    ) -> String {
        let plural = if kind == CopyKind::Secret { "v1/secrets" } else { "v1/configmaps" };
        let users_own =
            |copy: Option<_>| if copy.is_some() { "referenced" } else { "missing-copy user-provided" }.to_owned();
        if !plane.auth.copies(kind, name) {
            return users_own(copy);
        }
        if self.is_gap(&format!("{plural}@clusters-guest-a")) {
            return "unknown".to_owned();
        }
        let Some(source) = self.sources.get(&(kind, name)) else { return "source-missing".to_owned() };
        if kind == CopyKind::Secret && self.aro && source.stub {
            return users_own(copy);
        }
        let Some(copy) = copy else {
            return "missing-copy → apply selected missing proofs=0 blocked:operator-owned".to_owned();
        };
        let empty = source.value.unwrap_or_default().is_empty();
        let code = if empty { " empty-source" } else { "" };
        if source.value.unwrap_or_default() != copy.value.unwrap_or_default() {
            return format!("stale-copy{code} → apply selected differs proofs=0 blocked:operator-owned");
        }
        if copy.oidc.is_none() && copy.managed && copy.has_fingerprint(kind) {
            let proofs = 2 + usize::from(source.marked || source.referenced);
            return format!("referenced{code} unlabelled → label offered not-labelled proofs={proofs}");
        }
        format!("referenced{code}")
    }

    fn oracle_candidate(&self, kind: CopyKind, name: &'static str, copy: &CopyRecipe, guest_gap: bool) -> String {
        let certain = copy.oidc == Some("true");
        let probable = copy.oidc.is_none() && copy.managed && copy.has_fingerprint(kind);
        if !certain && !probable {
            return "foreign".to_owned();
        }
        let configs: &[&str] = match kind {
            CopyKind::Secret => &["apiservers", "oauths", "authentications", "hostedclusters", "hostedcontrolplanes"],
            CopyKind::ConfigMap => &[
                "apiservers",
                "oauths",
                "authentications",
                "hostedclusters",
                "hostedcontrolplanes",
                "proxies",
                "images",
            ],
        };
        let half = self.cluster.is_some() && self.plane.is_none();
        let stubs_gap = kind == CopyKind::Secret && self.is_gap("v1/secrets@clusters-guest-a");
        if guest_gap {
            return "unknown".to_owned();
        }
        if stubs_gap || !self.is_home_known() || configs.iter().any(|config| self.is_gap(config)) {
            return INCOMPLETE.to_owned();
        }
        if half {
            return "unknown".to_owned();
        }
        let hosted: Vec<&HostedRecipe> = self.cluster.iter().chain(&self.plane).collect();
        let any = |holds: fn(&HostedRecipe) -> bool| hosted.iter().any(|hosted| holds(hosted));
        let moot: Vec<&str> = [
            (any(|hosted| hosted.deleting), "deleting"),
            (hosted.len() < 2, "gone"),
            (any(|hosted| hosted.paused), "paused"),
            (any(|hosted| hosted.restored), "restored"),
        ]
        .into_iter()
        .filter_map(|(holds, code)| holds.then_some(code))
        .collect();
        if !moot.is_empty() {
            return format!("moot {}", moot.join(" "));
        }
        let oidc = self.plane.as_ref().is_some_and(|plane| plane.auth.is_oidc());
        let is_listed = |id: &str| oidc && id == "id";
        if self.guest.is_some() && self.current.is_some_and(|id| !is_listed(id)) {
            return "pending client-still-current".to_owned();
        }
        let marked = self.sources.get(&(kind, name)).is_some_and(|source| source.marked || source.referenced);
        let proofs =
            [certain, copy.managed, copy.has_fingerprint(kind), marked].into_iter().filter(|proof| *proof).count();
        let (verdict, ticked) = if certain { ("certain", "selected") } else { ("probable", "offered") };
        let blocked = if copy.extra_key || copy.owned { " blocked:ownership" } else { "" };
        format!("orphan-{verdict} → delete {ticked} no-referrer proofs={proofs}{blocked}")
    }
}

impl CopyRecipe {
    fn thing(&self, kind: CopyKind, name: &'static str) -> Thing {
        let mut thing = GeneratedWorld::thing(kind, name, self.value);
        thing = self
            .oidc
            .map_or(thing.clone(), |value| thing.label("hypershift.openshift.io/oidc-provider-managed", value));
        let change = |yes: bool, thing: Thing, with: fn(Thing) -> Thing| if yes { with(thing) } else { thing };
        thing = change(self.managed, thing, Thing::managed);
        thing = change(self.owned, thing, Thing::owned);
        thing = change(self.terminating, thing, Thing::terminating);
        thing = change(self.extra_key, thing, |thing| thing.key("more", "z"));
        change(self.other_type && kind == CopyKind::Secret, thing, |thing| thing.set("type", json!("other")))
    }

    fn has_fingerprint(&self, kind: CopyKind) -> bool {
        let other_type = self.other_type && kind == CopyKind::Secret;
        self.value.is_some() && !self.extra_key && !self.owned && !other_type
    }
}

impl SourceRecipe {
    fn thing(&self, kind: CopyKind, name: &'static str) -> Thing {
        let mut thing = GeneratedWorld::thing(kind, name, self.value);
        if self.marked {
            thing = thing.annotated("hypershift.openshift.io/cluster", "clusters/guest-a");
        }
        if self.referenced {
            thing = thing.annotated("referenced-resource.hypershift.openshift.io/guest-a", "true");
        }
        if self.stub {
            thing = thing.annotated("hypershift.openshift.io/hosted-cluster-sourced", "true");
        }
        thing
    }
}

impl Neighbours {
    /// A second guest that is known by its topology alone, and the HostedClusters that may be its.
    fn join(&self, mut given: Given) -> Given {
        let claiming = |infra: &str| {
            let mut cluster = hosted_cluster("clusters", "guest-b");
            cluster["spec"]["infraID"] = json!(infra);
            cluster
        };
        if let Some(infra) = self.manager {
            given = given.cluster("mgmt-2").object("mgmt-2", claiming(infra));
            given = given.object("mgmt-2", control_plane("clusters", "guest-b", "clusters-guest-b"));
            given = given.object("mgmt-2", secret("b").in_namespace("clusters-guest-b"));
        }
        if self.second_in_mgmt {
            given = given.object("mgmt", claiming("b-infra"));
            given = given.object("mgmt", control_plane("clusters", "guest-b", "clusters-guest-b"));
            given = given.object("mgmt", secret("b").in_namespace("clusters-guest-b"));
        }
        if self.guest {
            given = given.cluster("guest-b").known_by_topology("guest-b", "b-infra");
            given = given.object("guest-b", secret("b").oidc().in_namespace("openshift-config"));
        }
        given
    }
}

fn dressed(mut object: Value, hosted: &HostedRecipe) -> Value {
    object["spec"]["configuration"]["authentication"] = hosted.auth.block();
    if hosted.deleting {
        object["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:00:00Z");
    }
    if hosted.paused {
        object["spec"]["pausedUntil"] = json!("2027-01-01T00:00:00Z");
    }
    if hosted.restored {
        object["metadata"]["annotations"]["hypershift.openshift.io/restored-from-backup"] = json!("true");
    }
    object
}

/// Ids that may or may not be subjects, for "judge answers for subjects alone".
fn likely_ids() -> Vec<SubjectId> {
    let mut ids = Vec::new();
    for cluster in ["guest-a", "guest-b", "mgmt", "mgmt-2", "nowhere"].map(ClusterName::new) {
        for kind in CopyKind::ALL {
            for namespace in ["openshift-config", "openshift-console", "clusters-guest-a", "clusters-guest-b", "x"] {
                for name in ["a", "b", "pull-secret", "user-ca-bundle", "*", "z"] {
                    ids.push(subject(&cluster, kind, namespace, name));
                }
            }
        }
    }
    ids
}

const BYTES: std::ops::Range<usize> = 0..220;

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_answer_is_the_one_the_rules_give(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
        let recipe = RandomBytes(bytes.iter()).recipe();
        let judged = recipe.given().judged();
        for kind in CopyKind::ALL {
            for name in NAMES {
                let id = format!("{}/{}", kind.resource().kind, real_name(kind, name));
                let expected = recipe.oracle(kind, name).unwrap_or_else(|| "no subject".to_owned());
                prop_assert_eq!(judged.about(&id), expected, "{} of {:#?}", id, recipe);
            }
        }
    }

    #[test]
    fn nothing_is_deleted_that_is_named_or_not_completely_known(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
        let recipe = RandomBytes(bytes.iter()).recipe();
        let judged = recipe.given().judged();
        for kind in CopyKind::ALL {
            for name in NAMES {
                let id = format!("{}/{}", kind.resource().kind, real_name(kind, name));
                if !judged.about(&id).contains("delete") {
                    continue;
                }
                let (plane, cluster) = (recipe.plane.as_ref().unwrap(), recipe.cluster.as_ref().unwrap());
                prop_assert!(!plane.auth.expects(kind, name));
                prop_assert!(!cluster.auth.expects(kind, name) || plane.auth.names(kind, name));
                prop_assert!(!recipe.guest.iter().any(|auth| auth.names(kind, name)));
                prop_assert!(!recipe.referrers.iter().any(|(_, of, named)| (*of, *named) == (kind, name)));
                prop_assert!(recipe.is_home_known());
                let harmless = ["configmaps", "proxies", "images"];
                let needed = recipe.gaps.iter().filter(|(_, gap)| match kind {
                    CopyKind::Secret => !harmless.iter().any(|entry| gap.contains(entry)),
                    CopyKind::ConfigMap => !gap.contains("secrets") && !gap.contains("@clusters-guest-a"),
                });
                prop_assert_eq!(needed.count(), 0);
            }
        }
    }

    #[test]
    fn judge_answers_for_the_subjects_and_for_nothing_else(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
        let domain = HostedOidc::default();
        let world = RandomBytes(bytes.iter()).recipe().given().world();
        let view = world.view(now());
        let subjects = domain.subjects(view);
        // Judged::new checks the other direction, and that judge and explain agree.
        Judged::<Given>::new(&domain, &world, now());
        for id in likely_ids() {
            let listed = subjects.contains(&id);
            prop_assert_eq!(domain.judge(&id, view).is_some(), listed, "judge {}", &id);
            prop_assert_eq!(domain.explain(&id, view).is_some(), listed, "explain {}", &id);
        }
    }

    #[test]
    fn many_at_once_are_answered_like_each_alone(bytes in prop::collection::vec(any::<u8>(), BYTES)) {
        let domain = HostedOidc::default();
        let world = RandomBytes(bytes.iter()).recipe().given().world();
        let view = world.view(now());
        let ids: Vec<SubjectId> = domain.subjects(view).into_iter().chain(likely_ids()).collect();
        let pass = domain.pass(view);
        for id in &ids {
            let ruled = pass.rule(id);
            prop_assert_eq!(ruled.as_ref().map(|ruled| ruled.judgement()), domain.judge(id, view));
            prop_assert_eq!(ruled.as_ref().map(|ruled| ruled.explanation()), domain.explain(id, view));
        }
    }

    #[test]
    fn judging_what_a_change_touched_is_judging_everything(
        bytes in prop::collection::vec(any::<u8>(), BYTES),
        steps in prop::collection::vec(prop::collection::vec((0usize..220, any::<u8>()), 1..4), 1..4),
    ) {
        let mut bytes = bytes;
        bytes.resize(BYTES.end, 0);
        let first = RandomBytes(bytes.iter()).recipe().given();
        let mut follow = Follow::new(&first);
        follow.step(&first);
        for step in steps {
            for (place, byte) in step {
                bytes[place] = byte;
            }
            let given = RandomBytes(bytes.iter()).recipe().given();
            follow.step(&given);
            follow.forget_unwanted(&given);
            let fresh = given.world();
            let all = judge_everything(&given.check(), fresh.view(now()));
            prop_assert_eq!(follow.held(), all, "what was seen before leaks into the answer");
        }
    }
}
