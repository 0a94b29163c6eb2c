//! Reading whole collections through an API that may fail or lie.
//!
//! Always true:
//! - a list counts only when its last page arrived and all pages are of one version;
//! - a list older than one that was read before is thrown away;
//! - an empty list of referrers is no list: every cluster has one that is never removed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use trueup_core::engine::{IdentityRecord, empty_set};
use trueup_sim::Request;

use super::ports::Hold;
use super::world::{APPS, CONFIG, Heard, MADE_BY, OURS, OWNER_LABEL, SOURCE, SOURCES, Target};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reads lists for one engine.
pub struct Lister {
    pub hold: Hold,
    /// The newest version seen of each collection.
    newest: BTreeMap<String, u64>,
    /// Whether everything read so far came from the newest state.
    pub honest: bool,
}

/// Why something was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    Failed(String),
    /// The answer is empty where it can't be.
    Empty(String),
}

#[derive(Debug, Clone, Deserialize)]
pub struct Item {
    pub metadata: ItemMeta,
    #[serde(default)]
    pub data: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemMeta {
    pub name: String,
    pub uid: String,
    pub resource_version: String,
    pub deletion_timestamp: Option<String>,
    #[serde(default)]
    pub labels: Value,
    #[serde(default)]
    pub annotations: Value,
}

#[derive(Deserialize)]
struct Page {
    metadata: PageMeta,
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    token: Option<String>,
}

impl Item {
    /// The independent proofs that it is ours.
    pub fn proofs(&self) -> Vec<String> {
        let label = (self.metadata.labels[OWNER_LABEL] == OURS).then(|| "the owner label".to_owned());
        let annotation = (self.metadata.annotations[MADE_BY] == OURS).then(|| "the made-by annotation".to_owned());
        label.into_iter().chain(annotation).collect()
    }
}

impl Unread {
    pub fn says(&self) -> &str {
        match self {
            Self::Failed(says) | Self::Empty(says) => says,
        }
    }
}

impl Lister {
    pub fn new(hold: Hold) -> Self {
        Self { hold, newest: BTreeMap::new(), honest: true }
    }

    /// Everything where candidates live.
    pub async fn candidates(&mut self, site: usize) -> Result<Vec<(Target, Item)>, Unread> {
        let mut all = Vec::new();
        for plural in ["secrets", "configmaps"] {
            let items = self.list(site, CONFIG, plural).await?;
            all.extend(items.into_iter().map(|item| (Target { site, name: item.metadata.name.clone() }, item)));
        }
        Ok(all)
    }

    /// Everything the referrers of a cluster name.
    pub async fn references(&mut self, site: usize) -> Result<BTreeSet<Target>, Unread> {
        let items = self.list(site, APPS, "configmaps").await?;
        if let Some(blocked) = empty_set(items.len(), "the list of referrers") {
            return Err(Unread::Empty(blocked.why));
        }
        let named = items.iter().filter_map(|item| item.data["refs"].as_str()).flat_map(str::split_whitespace);
        let target = |text: &str| {
            let (site, name) = text.split_once('/')?;
            Some(Target { site: site.parse().ok()?, name: name.to_owned() })
        };
        Ok(named.filter_map(target).collect())
    }

    /// What copies in a cluster are made of; nothing where it can't be read.
    pub async fn source(&mut self, site: usize) -> Option<Item> {
        let read = self.get(site, &format!("/api/v1/namespaces/{SOURCES}/secrets/{SOURCE}")).await;
        read.ok().and_then(|object| serde_json::from_value(object).ok())
    }

    /// Who a cluster is; nothing where it can't be read.
    pub async fn identity(&mut self, site: usize) -> IdentityRecord {
        let namespace = self.get(site, "/api/v1/namespaces/kube-system").await;
        let roots = self.get(site, "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt").await;
        let text = |read: Result<Value, String>, pointer: &str| {
            read.ok().and_then(|object| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned))
        };
        let kube_system_uid = text(namespace, "/metadata/uid").unwrap_or_default();
        // Any text that differs from cluster to cluster tells them apart here.
        let ca_sha256 = text(roots, "/data/ca.crt").map(|pem| pem.chars().skip(28).take(32).collect());
        IdentityRecord { kube_system_uid, ca_sha256: ca_sha256.unwrap_or_default(), ..IdentityRecord::default() }
    }

    async fn list(&mut self, site: usize, namespace: &str, plural: &str) -> Result<Vec<Item>, Unread> {
        let path = format!("/api/v1/namespaces/{namespace}/{plural}");
        let mut items = Vec::new();
        let mut next = format!("{path}?limit=5");
        loop {
            let bytes = self.ask(site, &next).await.map_err(Unread::Failed)?;
            let page: Page = serde_json::from_slice(&bytes).map_err(|_| Unread::Failed("no list came".to_owned()))?;
            items.extend(page.items);
            let Some(token) = page.metadata.token.filter(|token| !token.is_empty()) else {
                let version = page.metadata.resource_version.parse().unwrap_or(0);
                let newest = self.newest.entry(format!("{site}{path}")).or_default();
                if version < *newest {
                    return Err(Unread::Failed("the list is older than one that was seen".to_owned()));
                }
                *newest = version;
                return Ok(items);
            };
            next = format!("{path}?limit=5&continue={token}");
        }
    }

    async fn get(&mut self, site: usize, path: &str) -> Result<Value, String> {
        let bytes = self.ask(site, path).await?;
        serde_json::from_slice(&bytes).map_err(|_| "no object came".to_owned())
    }

    async fn ask(&mut self, site: usize, target: &str) -> Result<bytes::Bytes, String> {
        let Hold { shared, who } = self.hold.clone();
        let latency = shared.lock().weather.latency;
        if latency {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let heard = shared.lock().ask(who, site, &Request::get(target));
        match heard {
            Heard::Reply { reply, lied } => {
                self.honest &= !lied;
                if reply.status == 200 && !reply.cut { Ok(reply.body) } else { Err(format!("{}", reply.status)) }
            }
            Heard::Lost => Err("the connection broke".to_owned()),
            Heard::Silence => {
                tokio::time::sleep(PATIENCE).await;
                shared.lock().came_back(who);
                Err("no response in time".to_owned())
            }
            Heard::Dead => std::future::pending().await,
        }
    }
}
