//! What was learned of AWS: sessions and instance types, each by principal and region.
//!
//! Invariants:
//! - nothing learned with one principal is shown to another: what EC2 offers can differ by account;
//! - nothing learned in one region, a failure least of all, is said of another: keys of one partition are none in the next;
//! - of a region only types are asked for that are not known yet; a miss is asked for once, and then waits its time;
//! - what failed is not tried again before its time, however often it is requested.
//!
//! A catalogue stands on one [`Aws`], so its endpoints are part of every key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex as Turn;

use super::api::Aws;
use super::ec2::{InstanceType, Offers};
use super::endpoint::Service;
use super::error::{AwsError, Class};
use super::own_login::{OwnKeys, OwnLogin};
use super::partition::Region;
use super::sts::{Keys, Session, WebIdentity};
use trueup_net::Identity;

/// How long an instance type is what it was: AWS doesn't change what a type is.
const KNOWN_HOLDS: Duration = Duration::from_secs(24 * 3600);
/// How long a type that wasn't offered counts as not offered. New ones come a few times a month.
const ABSENT_HOLDS: Duration = Duration::from_secs(600);

/// Who asks.
#[derive(Clone)]
pub enum Principal {
    WebIdentity(WebIdentity),
    /// Keys of a Secret, which is bound by its uid and version.
    SecretKeys {
        uid: String,
        version: String,
        keys: Keys,
    },
    /// This machine's own login.
    Own(Arc<OwnLogin>),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PrincipalKey {
    WebIdentity(WebIdentity),
    SecretKeys { uid: String, version: String },
    Own,
}

impl Principal {
    /// Whether two are the same keys or the same way to some.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    fn key(&self) -> PrincipalKey {
        match self {
            Self::WebIdentity(identity) => PrincipalKey::WebIdentity(identity.clone()),
            Self::SecretKeys { uid, version, keys: _ } => {
                PrincipalKey::SecretKeys { uid: uid.clone(), version: version.clone() }
            }
            Self::Own(_) => PrincipalKey::Own,
        }
    }

    /// Whose identity requests carry.
    pub fn identity(&self) -> Identity {
        match self {
            Self::WebIdentity(_) | Self::Own(_) => Identity::Own,
            Self::SecretKeys { .. } => Identity::OfCluster,
        }
    }

    /// The endpoint that the user's profile names for all services.
    pub async fn endpoint_url(&self) -> Option<String> {
        match self {
            Self::WebIdentity(_) | Self::SecretKeys { .. } => None,
            Self::Own(login) => login.endpoint_url().await,
        }
    }

    /// Whether refused keys are worth reading again here; those of a Secret are read again by those who read it.
    fn is_reread(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::WebIdentity(_) | Self::SecretKeys { .. } => false,
        }
    }
}

/// What a region says to the wanted types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Each wanted type, with what is offered of it.
    pub types: BTreeMap<String, Option<InstanceType>>,
    /// Who AWS says this is. Empty when it wouldn't.
    pub caller: String,
    /// How people call the login.
    pub via: String,
}

/// What is known.
pub struct Catalogue {
    aws: Aws,
    sessions: Slots<(PrincipalKey, Region), SessionSlot>,
    regions: Slots<(PrincipalKey, Region), RegionSlot>,
}

/// One slot a key, and one turn at each slot.
type Slots<K, V> = Mutex<BTreeMap<K, Arc<Turn<V>>>>;

#[derive(Default)]
struct SessionSlot {
    held: Option<Held>,
    failed: Option<Failed>,
}

#[derive(Clone)]
struct Held {
    keys: Keys,
    caller: String,
    via: String,
}

struct Failed {
    error: AwsError,
    until: Timestamp,
}

#[derive(Default)]
struct RegionSlot {
    types: BTreeMap<String, (Option<InstanceType>, Timestamp)>,
    /// Until when everything that is offered is among the types.
    whole: Option<Timestamp>,
    failed: Option<Failed>,
}

/// What is to be asked for.
enum Missing {
    Nothing,
    Names(BTreeSet<String>),
    All,
}

impl Catalogue {
    pub fn new(aws: Aws) -> Self {
        Self { aws, sessions: Mutex::default(), regions: Mutex::default() }
    }

    pub(in super::super) fn aws(&self) -> &Aws {
        &self.aws
    }

    /// Looks types up, asking AWS only for what is not known.
    ///
    /// # Errors
    /// No keys, or no whole answer; the same one for as long as it holds.
    pub async fn find(
        &self,
        principal: &Principal,
        region: &Region,
        wanted: &BTreeSet<String>,
    ) -> Result<Found, AwsError> {
        self.find_wanted(principal, region, Some(wanted)).await
    }

    /// Looks up everything a region offers: megabytes, where [`Self::find`] needs kilobytes.
    ///
    /// # Errors
    /// As for [`Self::find`].
    pub async fn find_all(&self, principal: &Principal, region: &Region) -> Result<Found, AwsError> {
        self.find_wanted(principal, region, None).await
    }

    async fn find_wanted(
        &self,
        principal: &Principal,
        region: &Region,
        wanted: Option<&BTreeSet<String>>,
    ) -> Result<Found, AwsError> {
        let slot = entry(&self.regions, (principal.key(), region.clone()));
        // Held across the calls on purpose: requests for the same content wait for the same response.
        let mut slot = slot.lock().await;
        let now = self.aws.now();
        slot.types.retain(|_, (_, until)| *until > now);
        slot.failed.take_if(|failed| failed.until <= now);
        slot.whole.take_if(|until| *until <= now);
        let missing = slot.missing(wanted);
        if let Some(failed) = slot.failed.as_ref().filter(|_| !matches!(missing, Missing::Nothing)) {
            return Err(failed.error.clone());
        }
        let mut held = self.session(principal, region).await?;
        if !matches!(missing, Missing::Nothing) {
            match self.ask(principal, &mut held, region, &missing).await {
                Ok(answers) => {
                    slot.types.extend(answers);
                    if matches!(missing, Missing::All) {
                        slot.whole = Some(later(now, KNOWN_HOLDS));
                    }
                }
                Err(error) => {
                    slot.failed = Some(Failed { error: error.clone(), until: error.holds_until(now) });
                    return Err(error);
                }
            }
        }
        let known = |name: &String| (name.clone(), slot.types.get(name).and_then(|(one, _)| one.clone()));
        let types = match wanted {
            Some(wanted) => wanted.iter().map(known).collect(),
            None => slot.types.keys().map(known).collect(),
        };
        Ok(Found { types, caller: held.caller, via: held.via })
    }

    /// Whose keys these are, by AWS's word.
    ///
    /// # Errors
    /// There are no keys.
    pub async fn caller(&self, principal: &Principal, region: &Region) -> Result<String, AwsError> {
        Ok(self.session(principal, region).await?.caller)
    }

    /// The keys of a principal, for a question of another service.
    ///
    /// # Errors
    /// There are none.
    pub(in super::super) async fn keys(&self, principal: &Principal, region: &Region) -> Result<Keys, AwsError> {
        Ok(self.session(principal, region).await?.keys)
    }

    /// Asks EC2, with new keys when the old ones have ended or were replaced on the way.
    async fn ask(
        &self,
        principal: &Principal,
        held: &mut Held,
        region: &Region,
        missing: &Missing,
    ) -> Result<BTreeMap<String, (Option<InstanceType>, Timestamp)>, AwsError> {
        let mut answer = self.describe(&held.keys, region, missing).await;
        let is_over = |error: &AwsError| error.keys_are_old() || (principal.is_reread() && error.refuses_keys());
        if answer.as_ref().is_err_and(is_over) {
            self.forget(principal, region, &held.keys).await;
            let renewed = self.session(principal, region).await?;
            if renewed.keys != held.keys {
                *held = renewed;
                answer = self.describe(&held.keys, region, missing).await;
            }
        }
        let offers = match answer {
            Ok(offers) => offers,
            Err(error) => return Err(self.by_region(error, &held.keys, region).await),
        };
        let now = self.aws.now();
        let found = offers.found.into_iter().map(|(name, one)| (name, (Some(one), later(now, KNOWN_HOLDS))));
        let absent = offers.absent.into_iter().map(|name| (name, (None, later(now, ABSENT_HOLDS))));
        Ok(found.chain(absent).collect())
    }

    async fn describe(&self, keys: &Keys, region: &Region, missing: &Missing) -> Result<Offers, AwsError> {
        match missing {
            Missing::Nothing => Ok(Offers::default()),
            Missing::Names(names) => self.aws.instance_types(keys, region, names).await,
            Missing::All => self.aws.all_instance_types(keys, region).await,
        }
    }

    /// A region that does not exist, and one the account hasn't enabled, fail like a broken network and like wrong keys. Asking
    /// the partition which regions there are tells them apart.
    async fn by_region(&self, error: AwsError, keys: &Keys, region: &Region) -> AwsError {
        let home = region.partition().home();
        let telling = matches!(
            error.code.as_str(),
            "name-lookup" | "AuthFailure" | "OptInRequired" | "UnrecognizedClientException" | "InvalidClientTokenId"
        );
        if !telling || *region == home || self.aws.endpoints().is_custom(Service::Ec2) {
            return error;
        }
        let Ok(regions) = self.aws.regions(keys, &home).await else { return error };
        match regions.iter().find(|one| one.name == region.as_str()) {
            None => {
                let message = format!("region {region} does not exist for this account");
                AwsError::new(Class::Denied, "region-unknown", message, "correct the region of the provider spec")
            }
            Some(state) if state.opt_in == "not-opted-in" => {
                let message = format!("the region {region} is not enabled for this account");
                AwsError::new(Class::Denied, "region-not-opted-in", message, "enable the region in the account")
            }
            Some(_) => error,
        }
    }

    async fn session(&self, principal: &Principal, region: &Region) -> Result<Held, AwsError> {
        let slot = entry(&self.sessions, (principal.key(), region.clone()));
        // Held across the calls on purpose, as above.
        let mut slot = slot.lock().await;
        let now = self.aws.now();
        if let Some(held) = slot.held.as_ref().filter(|held| held.keys.are_good_at(now)) {
            return Ok(held.clone());
        }
        slot.failed.take_if(|failed| failed.until <= now);
        if let Some(failed) = &slot.failed {
            return Err(failed.error.clone());
        }
        match self.log_in(principal, region).await {
            Ok(held) => {
                slot.held = Some(held.clone());
                Ok(held)
            }
            Err(error) => {
                slot.failed = Some(Failed { error: error.clone(), until: error.holds_until(now) });
                Err(error)
            }
        }
    }

    async fn log_in(&self, principal: &Principal, region: &Region) -> Result<Held, AwsError> {
        let (keys, assumed, via) = match principal {
            Principal::WebIdentity(identity) => {
                let session = self.exchange(identity, region).await?;
                (session.keys, session.assumed, format!("web identity of {}", identity.role))
            }
            Principal::SecretKeys { keys, .. } => (keys.clone(), String::new(), "access keys of the Secret".to_owned()),
            Principal::Own(login) => {
                let OwnKeys { keys, source } = login.keys().await?;
                (keys, String::new(), source)
            }
        };
        // Who the keys make one is worth a call: a role that silently is another one is the costliest mistake here. Asked
        // where STS is always on, because keys say nothing in a region that is not enabled.
        let custom = self.aws.endpoints().is_custom(Service::Sts);
        let place = if custom { region.clone() } else { region.partition().home() };
        match self.aws.caller(&keys, &place).await {
            Ok(caller) => Ok(Held { keys, caller: caller.arn, via }),
            // Keys that are no good are no good for EC2, either, which would say less about it.
            Err(error) if error.class == Class::Denied && error.code != "AccessDenied" => {
                self.drop_own(principal, &keys).await;
                Err(error)
            }
            Err(_) => Ok(Held { keys, caller: assumed, via }),
        }
    }

    /// Exchanges a token where the machines are. A region that has no server may be none at all: keys from the partition's
    /// home can ask which regions there are.
    async fn exchange(&self, identity: &WebIdentity, region: &Region) -> Result<Session, AwsError> {
        let home = region.partition().home();
        match self.aws.exchange(identity, region).await {
            Err(error) if error.code == "name-lookup" && home != *region => {
                self.aws.exchange(identity, &home).await.map_err(|_| error)
            }
            exchanged => exchanged,
        }
    }

    async fn forget(&self, principal: &Principal, region: &Region, keys: &Keys) {
        let slot = entry(&self.sessions, (principal.key(), region.clone()));
        slot.lock().await.held = None;
        self.drop_own(principal, keys).await;
    }

    /// Makes this machine's own login read its sources again.
    async fn drop_own(&self, principal: &Principal, keys: &Keys) {
        match principal {
            Principal::Own(login) => login.forget(keys).await,
            Principal::WebIdentity(_) | Principal::SecretKeys { .. } => {}
        }
    }
}

impl RegionSlot {
    /// What is not known of what is wanted; nothing wanted by name means everything.
    fn missing(&self, wanted: Option<&BTreeSet<String>>) -> Missing {
        match wanted {
            _ if self.whole.is_some() => Missing::Nothing,
            None => Missing::All,
            Some(wanted) => {
                let names: BTreeSet<String> =
                    wanted.iter().filter(|name| !self.types.contains_key(*name)).cloned().collect();
                if names.is_empty() { Missing::Nothing } else { Missing::Names(names) }
            }
        }
    }
}

fn entry<K: Ord, V: Default>(slots: &Slots<K, V>, key: K) -> Arc<Turn<V>> {
    slots.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

fn later(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}
