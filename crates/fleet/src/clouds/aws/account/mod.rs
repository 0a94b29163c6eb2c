//! AWS as a member of the fleet: `aws:<cluster>`, which answers with what a cluster's credentials see.
//!
//! ```text
//! instancetypes, namespace = region  the types that are offered
//! lookups, namespace = region        one object, named after where the credentials come from: how asking went
//! ```
//!
//! The field selector of the last two says who asks for what, each part optional:
//! - `types=m5.large+m6g.4xlarge`: of these, those that are offered; without it, all that are. A lookup needs none: it
//!   tells how the last list of types went for the same region and credentials, and waits for the first;
//! - `credentials=secret/<namespace>/<name>`: the keys of the Secret an object of the cluster names; `own`, or nothing:
//!   this machine's own login.
//!
//! Invariants:
//! - a Secret's bytes are read by name, used here, and wiped;
//! - endpoints and authorities are the cluster's own, read for each list; one that cannot be used is an error.
//!
//! Elsewhere: sending and signing (`client`), what a lookup means for a MachineSet (`checks::machineset_capacity`).

mod cluster;
mod examine;
mod principal;
mod role_trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::clouds::aws::client::{
    Aws, AwsError, BadEndpoint, Catalogue, Class, Endpoints, Found, InstanceType, LoginReach, OwnLogin, Principal,
    Region, Variables,
};
use crate::clouds::{Account, Asked, Listing, NoListing};
use crate::connect::send::STREAM_START_TIMEOUT;
use crate::connect::{Clock, Env, ServerClock};
use trueup_core::world::{Provider, Resource};
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_net::{Egress, EgressRefused, Identity, NamedBy, Proxies, Roots};

pub use examine::{End as ExaminedEnd, Examined, examine};
pub use principal::AwsSource;
pub use role_trial::{RoleTrial, RoleTried, try_role};

const fn kind(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "aws.cloud.trueup", version: "v1", kind, plural, namespaced: true }
}

const INSTANCE_TYPE: Resource = kind("InstanceType", "instancetypes");
const LOOKUP: Resource = kind("Lookup", "lookups");
const KINDS: [Resource; 2] = [INSTANCE_TYPE, LOOKUP];

/// How long a list counts as fresh. Instance types do not change; the role's permissions can.
const GOOD_FOR: Duration = Duration::from_secs(300);
/// How long a failure is kept: its cause may be being repaired.
const BAD_FOR: Duration = Duration::from_secs(30);
/// When to retry after a transient failure.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// How long one answer of AWS may take: a few types are described in less than one. Four tries with their waits end in
/// 4 × 6 + 3.5 = 27.5 s, before the list that waits for them is given up; otherwise the failure would never be reported.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(6);
const _: () = assert!(4 * ANSWER_TIMEOUT.as_millis() + 3_500 < STREAM_START_TIMEOUT.as_millis());

/// How long a lookup waits for the list of types it is about: as long as four tries and their waits may take.
const LIST_TIMEOUT: Duration = Duration::from_secs(29);

/// The way to AWS.
#[derive(Clone)]
pub enum AwsWay {
    Network,
    /// A pretended AWS in this process: tests and the demo.
    InProcess(HttpClient),
}

/// What was learned of AWS, kept over reconnections and shared between clusters with the same endpoints.
pub struct AwsCache {
    way: AwsWay,
    env: Variables,
    clock: Clock,
    /// The clock of AWS' servers, compared with every response.
    server_clock: ServerClock,
    egress: Egress,
    /// This machine's own login, which every cluster shares.
    own: Arc<OwnLogin>,
    catalogues: Mutex<Vec<(Setting, Identity, Arc<Catalogue>)>>,
}

/// What a client for AWS depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    endpoints: Endpoints,
    roots: Option<Roots>,
}

impl Setting {
    /// The setting for requests with this identity, and a sentence for each endpoint of the cluster that may not receive it.
    fn cleared(self, identity: Identity, egress: &Egress) -> (Self, Vec<String>) {
        let (endpoints, refused) = self.endpoints.cleared(identity, egress);
        // Authorities of the cluster vouch for its own endpoints alone, unless the requests carry its own credentials.
        let trusts_cluster = identity != Identity::Own || endpoints.all_named_by(NamedBy::Cluster);
        let roots = self.roots.filter(|_| trusts_cluster);
        (Self { endpoints, roots }, refused.iter().map(EgressRefused::to_string).collect())
    }
}

/// One cluster's view of AWS.
pub struct AwsAccount {
    cluster: String,
    client: kube::Client,
    cache: Arc<AwsCache>,
    /// How the last list of types went, by region and credentials.
    outcomes: Mutex<BTreeMap<(String, String), Outcome>>,
    outcome_changed: Notify,
}

/// How asking went.
type Outcome = Result<Asker, AwsError>;

/// Who asked, and who AWS says that is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asker {
    via: String,
    caller: String,
}

impl AwsCache {
    pub fn new(way: AwsWay, env: &Env, clock: Clock) -> Self {
        let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        let (env, egress) = (Variables::new(env.iter().filter_map(text)), Egress::default());
        let own = own_login(&way, &env, &clock, &egress);
        let server_clock = ServerClock::default();
        Self { way, env, clock, server_clock, egress, own, catalogues: Mutex::default() }
    }

    /// The same, with what the configuration allows.
    #[must_use]
    pub fn with_egress(self, egress: Egress) -> Self {
        let own = own_login(&self.way, &self.env, &self.clock, &egress);
        Self { egress, own, ..self }
    }

    /// The catalogue for requests with this identity: what may be connected to depends on it.
    fn catalogue(&self, setting: Setting, identity: Identity) -> Result<Arc<Catalogue>, AwsError> {
        let mut held = self.catalogues.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(known, for_identity, _): &&(Setting, Identity, _)| *known == setting && *for_identity == identity;
        if let Some((_, _, catalogue)) = held.iter().find(same) {
            return Ok(catalogue.clone());
        }
        let http = match &self.way {
            AwsWay::InProcess(http) => http.clone().within(ANSWER_TIMEOUT),
            AwsWay::Network => {
                let permit = setting.endpoints.permit(identity, &self.egress);
                let permit =
                    permit.map_err(|error| principal::broken("egress", error.to_string(), "allow it in [egress]"))?;
                let settings = HttpSettings {
                    extra_roots: setting.roots.clone(),
                    proxies: Proxies::of(|name| self.env.get(name)),
                    answer_timeout: ANSWER_TIMEOUT,
                    ..HttpSettings::new(permit)
                };
                HttpClient::new(settings)
                    .map_err(|error| principal::broken("proxy", error.to_string(), "correct it"))?
            }
        };
        let http = http.observed_by(self.server_clock.observer(self.clock.clone()));
        let aws = Aws::new(http, setting.endpoints.clone(), self.clock.clone());
        let catalogue = Arc::new(Catalogue::new(aws));
        held.push((setting, identity, catalogue.clone()));
        Ok(catalogue)
    }
}

/// A lookup that worked: what is offered, and to whom.
struct Looked {
    types: Vec<InstanceType>,
    asker: Asker,
}

impl AwsAccount {
    /// The account that `cluster` sees through its own objects, read with `client`.
    pub fn new(cluster: &str, client: kube::Client, cache: Arc<AwsCache>) -> Self {
        let (outcomes, outcome_changed) = (Mutex::default(), Notify::new());
        Self { cluster: cluster.to_owned(), client, cache, outcomes, outcome_changed }
    }

    /// Looks up, and remembers how that went for those who ask.
    async fn look_up_and_tell(&self, asked: &Asked) -> Result<Looked, AwsError> {
        let looked = self.look_up(asked).await;
        let outcome = looked.as_ref().map(|looked| looked.asker.clone()).map_err(Clone::clone);
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(key(asked), outcome);
        self.outcome_changed.notify_waiters();
        looked
    }

    /// How the last list of types went; waits for the first.
    async fn outcome(&self, asked: &Asked) -> Option<Outcome> {
        let deadline = Instant::now() + LIST_TIMEOUT;
        loop {
            // Listening starts before looking, so that what comes in between is not missed.
            let changed = self.outcome_changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let held = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).get(&key(asked)).cloned();
            if held.is_some() || timeout_at(deadline, changed).await.is_err() {
                return held;
            }
        }
    }

    async fn look_up(&self, asked: &Asked) -> Result<Looked, AwsError> {
        let name = asked.namespace.as_deref().unwrap_or_default();
        let region = Region::parse(name).ok_or_else(|| {
            principal::broken(
                "region-invalid",
                "the region does not exist in any partition".to_owned(),
                "correct the region",
            )
        })?;
        let secret = asked.fields.get("credentials").map(String::as_str).unwrap_or_default();
        let source = AwsSource::parse(secret)?;
        let principal = principal::of(&self.cache, &self.client, &source).await?;
        let setting = cluster::setting(&self.client, &self.cache.env).await?;
        let endpoints = with_profile(setting.endpoints, &principal).await?;
        let setting = Setting { endpoints, ..setting };
        let (setting, not_used) = setting.cleared(principal.identity(), &self.cache.egress);
        let catalogue = self.cache.catalogue(setting, principal.identity())?;
        let mut found = find(&catalogue, &principal, &region, asked).await;
        if found.as_ref().is_err_and(AwsError::refuses_keys) && source != AwsSource::Own {
            // The keys may have been replaced while they were on their way.
            let again = principal::of(&self.cache, &self.client, &source).await?;
            if !again.is_same(&principal) && again.identity() == principal.identity() {
                found = find(&catalogue, &again, &region, asked).await;
            }
        }
        let with_note = |text: String| [vec![text], not_used.clone()].concat().join("; ");
        let Found { types, caller, via } =
            found.map_err(|error| AwsError { message: with_note(error.message), ..error })?;
        tracing::info!(cluster = %self.cluster, region = name, login = via, "looked up instance types");
        let asker = Asker { via: with_note(via), caller };
        Ok(Looked { types: types.into_values().flatten().collect(), asker })
    }

    async fn instance_types(&self, asked: &Asked) -> Result<Listing, NoListing> {
        let looked = self.look_up_and_tell(asked).await.map_err(|error| no_listing(&error))?;
        let namespace = asked.namespace.as_deref().unwrap_or_default();
        let items = looked.types.iter().map(|one| type_object(namespace, one)).collect();
        Ok(Listing { items, cut_short: None, fresh_for: GOOD_FOR })
    }

    /// How asking went. That it failed is content here, and no failure of the list; that no types were requested is an
    /// empty one.
    async fn lookups(&self, asked: &Asked) -> Listing {
        let outcome = if asked.fields.contains_key("types") {
            Some(self.look_up_and_tell(asked).await.map(|looked| looked.asker))
        } else {
            self.outcome(asked).await
        };
        let (outcome, fresh_for) = match outcome {
            None => return Listing { items: Vec::new(), cut_short: None, fresh_for: BAD_FOR },
            Some(Ok(Asker { via, caller })) => {
                (json!({ "class": "ok", "code": "", "says": via, "identity": caller }), GOOD_FOR)
            }
            Some(Err(error)) => {
                let AwsError { class, code, message, remedy } = error;
                let outcome = json!({
                    "class": class.as_str(), "code": code, "says": message, "remedy": remedy, "identity": "",
                });
                (outcome, BAD_FOR)
            }
        };
        let source = asked.fields.get("credentials").map_or("own", String::as_str);
        let item = json!({
            "apiVersion": api_version(),
            "kind": LOOKUP.kind,
            "metadata": { "name": source, "namespace": asked.namespace },
            "outcome": outcome,
        });
        Listing { items: vec![item], cut_short: None, fresh_for }
    }
}

impl Account for AwsAccount {
    fn server(&self) -> String {
        format!("AWS, as cluster {} sees it", self.cluster)
    }

    fn clock(&self) -> ServerClock {
        self.cache.server_clock.clone()
    }

    fn kinds(&self) -> &'static [Resource] {
        &KINDS
    }

    fn list<'a>(&'a self, asked: &'a Asked) -> BoxFuture<'a, Result<Listing, NoListing>> {
        Box::pin(async move {
            match asked.plural.as_str() {
                "lookups" => Ok(self.lookups(asked).await),
                _ => self.instance_types(asked).await,
            }
        })
    }
}

fn own_login(way: &AwsWay, env: &Variables, clock: &Clock, egress: &Egress) -> Arc<OwnLogin> {
    let reach = match way {
        AwsWay::InProcess(http) => LoginReach::InProcess(http.clone()),
        AwsWay::Network => LoginReach::Network { proxies: Proxies::of(|name| env.get(name)), egress: egress.clone() },
    };
    Arc::new(OwnLogin::new(env, reach, clock.clone()))
}

/// The endpoints with that of the user's profile, where the profile asks.
async fn with_profile(endpoints: Endpoints, principal: &Principal) -> Result<Endpoints, AwsError> {
    let Some(url) = principal.endpoint_url().await else { return Ok(endpoints) };
    let bad =
        |error: BadEndpoint| principal::broken("endpoint", error.to_string(), "correct endpoint_url of the profile");
    endpoints.with_profile(&url).map_err(bad)
}

/// The endpoints for this machine's own questions: no cluster's.
async fn own_endpoints(cache: &AwsCache, principal: &Principal) -> Result<Endpoints, AwsError> {
    let endpoints = Endpoints::new([], &cache.env)
        .map_err(|error| principal::broken("endpoint", error.to_string(), "correct AWS_ENDPOINT_URL"))?;
    with_profile(endpoints, principal).await
}

/// Looks up the types a question names; everything a region offers where it names none.
async fn find(catalogue: &Catalogue, principal: &Principal, region: &Region, asked: &Asked) -> Result<Found, AwsError> {
    match asked.fields.get("types") {
        Some(names) => {
            let wanted: BTreeSet<String> =
                names.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            catalogue.find(principal, region, &wanted).await
        }
        None => catalogue.find_all(principal, region).await,
    }
}

/// What an outcome is remembered by.
fn key(asked: &Asked) -> (String, String) {
    let credentials = asked.fields.get("credentials").map_or("own", String::as_str);
    (asked.namespace.clone().unwrap_or_default(), credentials.to_owned())
}

fn api_version() -> String {
    format!("{}/v1", Provider::Aws.group())
}

fn type_object(namespace: &str, one: &InstanceType) -> Value {
    let InstanceType { name, vcpu, memory_mib, gpus, architectures } = one;
    let gpus: Vec<Value> = gpus
        .iter()
        .map(|gpu| {
            json!({
                "name": gpu.name, "manufacturer": gpu.manufacturer,
                "count": gpu.count, "logical_count": gpu.logical_count.unwrap_or(gpu.count),
            })
        })
        .collect();
    let content = json!({
        "name": name, "vcpu": vcpu, "memory_mib": memory_mib, "gpus": gpus, "architectures": architectures,
    });
    let metadata = json!({ "name": name, "namespace": namespace });
    json!({ "apiVersion": api_version(), "kind": INSTANCE_TYPE.kind, "metadata": metadata, "type": content })
}

/// A failure as the list of types tells it; the lookup beside it says more.
fn no_listing(error: &AwsError) -> NoListing {
    let (status, reason, retry_after) = match error.class {
        // Not 401: that would say that this member's login has ended, and nothing else would be asked of it.
        Class::TokenUnreadable => (StatusCode::UNPROCESSABLE_ENTITY, "TokenUnreadable", None),
        Class::Denied => (StatusCode::FORBIDDEN, "Denied", None),
        Class::Transient => (StatusCode::SERVICE_UNAVAILABLE, "Transient", Some(RETRY_AFTER)),
    };
    NoListing { status, reason, retry_after }
}
