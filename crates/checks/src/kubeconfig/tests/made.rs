//! Tokens, certificates and kubeconfigs for the tests. Each starts out as one that works.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DnType, Issuer, KeyPair, SignatureAlgorithm};
use serde_json::{Value, json};

use super::now;

/// `now`, so many minutes later.
pub fn minutes(minutes: i64) -> Timestamp {
    now().saturating_add(SignedDuration::from_mins(minutes)).unwrap()
}

pub fn days(days: i64) -> Timestamp {
    minutes(days * 24 * 60)
}

/// A token of EKS that was signed then.
pub fn eks(signed: Timestamp) -> String {
    let date = signed.strftime("%Y%m%dT%H%M%SZ").to_string();
    eks_of(&format!("https://sts.us-west-2.amazonaws.com/?{}", eks_query(&date)))
}

pub fn eks_query(date: &str) -> String {
    format!(
        "Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=ASIAR2TG44V6AS3ZZE7C%2F20261116%2Fus-west-2%2Fsts%2Faws4_request&X-Amz-Date={date}\
         &X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Security-Token=CANARY-session\
         &X-Amz-Signature=CANARYsignature"
    )
}

pub fn eks_of(url: &str) -> String {
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(url))
}

pub fn jwt(claims: Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signature = URL_SAFE_NO_PAD.encode("CANARY-signature");
    format!("{}.{}.{signature}", part(&json!({ "alg": "RS256" })), part(&claims))
}

/// A certificate with its key, both PEM.
#[derive(Clone)]
pub struct Made {
    pub pem: String,
    pub key: String,
}

/// A certificate that is its own issuer.
pub fn certificate(name: &str, from: Timestamp, until: Timestamp) -> Made {
    certificate_with(name, from, until, &rcgen::PKCS_ECDSA_P256_SHA256)
}

pub fn certificate_with(name: &str, from: Timestamp, until: Timestamp, algorithm: &'static SignatureAlgorithm) -> Made {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.not_before = rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(from.as_second() as u64);
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(until.as_second() as u64);
    let key = KeyPair::generate_for(algorithm).unwrap();
    let issuer = Issuer::from_params(&params, &key);
    let pem = params.signed_by(&key, &issuer).unwrap().pem();
    Made { pem, key: key.serialize_pem() }
}

/// A cluster's authority. The same name gives the same certificate within a run.
pub fn authority(name: &str) -> String {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};
    static MADE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(name.to_owned()).or_insert_with(|| certificate(name, days(-100), days(3000)).pem).clone()
}

/// A kubeconfig; what differs is said by its methods.
#[derive(Clone)]
pub struct Config(pub Value);

/// A kubeconfig for `demo` with a token that was just signed.
pub fn config() -> Config {
    let cluster = json!({
        "server": "https://DEMO.gr7.us-west-2.eks.amazonaws.com",
        "certificate-authority-data": STANDARD.encode(authority("demo"))
    });
    Config(json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "demo",
        "clusters": [{ "name": "demo", "cluster": cluster }],
        "contexts": [{ "name": "demo", "context": { "cluster": "demo", "user": "admin" } }],
        "users": [{ "name": "admin", "user": { "token": eks(minutes(-1)) } }]
    }))
}

impl Config {
    pub fn server(self, server: &str) -> Self {
        self.cluster("server", json!(server))
    }

    pub fn cluster(mut self, field: &str, value: Value) -> Self {
        self.0["clusters"][0]["cluster"][field] = value;
        self
    }

    pub fn authorities(self, names: &[&str]) -> Self {
        let pem: String = names.iter().map(|name| authority(name)).collect();
        self.cluster("certificate-authority-data", json!(STANDARD.encode(pem)))
    }

    pub fn signed(self, at: Timestamp) -> Self {
        self.token(&eks(at))
    }

    pub fn token(self, token: &str) -> Self {
        self.user(json!({ "token": token }))
    }

    pub fn certified(self, chain: &str, key: &str) -> Self {
        self.user(json!({
            "client-certificate-data": STANDARD.encode(chain), "client-key-data": STANDARD.encode(key)
        }))
    }

    /// A client certificate with these times.
    pub fn certificate(self, from: Timestamp, until: Timestamp) -> Self {
        let made = certificate("system:admin", from, until);
        self.certified(&made.pem, &made.key)
    }

    pub fn user(mut self, user: Value) -> Self {
        self.0["users"][0]["user"] = user;
        self
    }

    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.0[field] = value;
        self
    }

    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

/// A Secret; what differs is said by its methods.
#[derive(Clone)]
pub struct Secret(pub Value);

pub fn secret(namespace: &str, name: &str) -> Secret {
    Secret(json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "namespace": namespace, "name": name, "uid": format!("uid-{namespace}-{name}"), "resourceVersion": "100"
        },
        "data": {}
    }))
}

/// The Secret of a cluster as the contract wants it.
pub fn target(namespace: &str, cluster: &str, config: &Config) -> Secret {
    secret(namespace, &format!("{cluster}-kubeconfig"))
        .set("type", json!("cluster.x-k8s.io/secret"))
        .label("cluster.x-k8s.io/cluster-name", cluster)
        .key("value", &config.text())
}

/// CAPT's source for a cluster.
pub fn source(cluster: &str, config: &Config) -> Secret {
    secret("default", &format!("{cluster}-outputs-kubeconfig")).key("kubeconfig", &config.text())
}

impl Secret {
    pub fn key(mut self, key: &str, value: &str) -> Self {
        self.0["data"][key] = json!(STANDARD.encode(value));
        self
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][key] = json!(value);
        self
    }

    pub fn set(mut self, field: &str, value: Value) -> Self {
        *field.split('.').fold(&mut self.0, |place, part| &mut place[part]) = value;
        self
    }

    pub fn owned(self, api_version: &str, kind: &str, name: &str, uid: &str) -> Self {
        let owner = json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true });
        self.set("metadata.ownerReferences", json!([owner]))
    }
}
