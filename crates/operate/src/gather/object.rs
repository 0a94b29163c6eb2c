//! One object as a gathered snapshot holds it.
//!
//! Invariants: of a Secret, every value is a placeholder unless it is public (certificates, the address of a connection
//! Secret) or was rebuilt without what is secret in it (kubeconfigs, tokens, AWS profiles); of other objects, what looks
//! like a credential is a placeholder. Managed fields and the last-applied annotation are left out.
//!
//! Elsewhere: what counts as a credential (`trueup_core::redact`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::kubeconfig::{is_certificates, redacted, token};
use super::placeholder::Placeholders;
use trueup_checks::kubeconfig::content::Server;
use trueup_core::redact::{CredentialValues, masked};
use trueup_core::world::Resource;

/// The key of a bare token in Secrets of Cluster API.
const TOKEN_FILE: &str = "token-file";
/// The key of an address in connection Secrets.
const ENDPOINT: &str = "cluster_endpoint";
/// The key of a shared credentials file of AWS.
const PROFILES: &str = "credentials";
/// What of a profile is no secret.
const PROFILE_SHOWN: [&str; 4] = ["role_arn", "web_identity_token_file", "sts_regional_endpoints", "region"];

/// Redacts an object. Items of lists and answers with metadata alone get their kind.
///
/// # Errors
/// It is not an object with a name.
pub fn redact(text: &str, resource: &Resource, placeholders: &mut Placeholders) -> Result<Value, String> {
    let read = serde_json::from_str::<Value>(text).ok();
    let named = read.filter(|object| object.pointer("/metadata/name").is_some_and(Value::is_string));
    let mut object = named.ok_or("the response is not an object with a name")?;
    object["apiVersion"] = resource.api_version().into();
    object["kind"] = resource.kind.into();
    if resource.kind == "Secret" && resource.group.is_empty() {
        return Ok(secret(object, placeholders));
    }
    let original = object.clone();
    let mut shown = masked(object, CredentialValues::Masked).object;
    distinguish(&mut shown, &original, placeholders);
    Ok(shown)
}

/// Replaces the lengths that stand for masked texts, which say nothing about equality.
fn distinguish(shown: &mut Value, original: &Value, placeholders: &mut Placeholders) {
    match (shown, original) {
        (Value::Object(shown), Value::Object(original)) => {
            let pairs = shown.iter_mut().filter_map(|(key, shown)| Some((shown, original.get(key)?)));
            pairs.for_each(|(shown, original)| distinguish(shown, original, placeholders));
        }
        (Value::Array(shown), Value::Array(original)) => {
            let pairs = shown.iter_mut().zip(original);
            pairs.for_each(|(shown, original)| distinguish(shown, original, placeholders));
        }
        (Value::String(shown), Value::String(original)) if shown != original => {
            *shown = placeholders.of(original.as_bytes());
        }
        _ => {}
    }
}

fn secret(mut object: Value, placeholders: &mut Placeholders) -> Value {
    let mut data = Map::new();
    for (key, value) in take(&mut object, "data") {
        let bytes = decoded(&value);
        data.insert(key.clone(), STANDARD.encode(self::value(&key, &bytes, placeholders)).into());
    }
    for (key, value) in take(&mut object, "stringData") {
        data.insert(key.clone(), STANDARD.encode(self::value(&key, value.as_bytes(), placeholders)).into());
    }
    let mut shown = masked(object, CredentialValues::Masked).object;
    if !data.is_empty() {
        shown["data"] = Value::Object(data);
    }
    shown
}

/// Takes the texts of a map out of an object.
fn take(object: &mut Value, field: &str) -> Vec<(String, Zeroizing<String>)> {
    let taken = object.as_object_mut().and_then(|fields| fields.remove(field));
    let Some(Value::Object(pairs)) = taken else { return Vec::new() };
    let text = |value: Value| if let Value::String(text) = value { text } else { value.to_string() };
    pairs.into_iter().map(|(key, value)| (key, Zeroizing::new(text(value)))).collect()
}

/// The bytes of a value of `data`; of one that is not base64, its text.
fn decoded(text: &str) -> Zeroizing<Vec<u8>> {
    let folded: Zeroizing<String> = Zeroizing::new(text.split_ascii_whitespace().collect());
    Zeroizing::new(STANDARD.decode(folded.as_bytes()).unwrap_or_else(|_| text.as_bytes().to_vec()))
}

/// What stands for a value of a Secret.
fn value(key: &str, bytes: &[u8], placeholders: &mut Placeholders) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).ok();
    let unpacked = text.and_then(|text| STANDARD.decode(text.trim()).ok()).map(Zeroizing::new);
    let is_public = |bytes: &[u8]| is_certificates(bytes) || (key == ENDPOINT && is_address(bytes));
    if is_public(bytes) || unpacked.as_ref().is_some_and(|bytes| is_public(bytes)) {
        return bytes.to_vec();
    }
    let rebuilt = match (key, text) {
        (TOKEN_FILE, Some(text)) => Some(token(text.trim(), placeholders)),
        (PROFILES, Some(text)) if text.lines().any(|line| line.trim_start().starts_with('[')) => {
            Some(profiles(text, placeholders))
        }
        _ => redacted(bytes, placeholders),
    };
    rebuilt.unwrap_or_else(|| placeholders.of(bytes)).into_bytes()
}

/// Whether bytes are an address and nothing more.
fn is_address(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).map(str::trim).unwrap_or_default();
    text.contains(['.', ':']) && !text.contains(['@', '?', '#']) && Server::parse(text).is_some()
}

/// A shared credentials file with the same profiles and settings.
fn profiles(text: &str, placeholders: &mut Placeholders) -> String {
    let line = |line: &str| {
        let line = line.trim();
        if line.starts_with('[') {
            return Some(line.to_owned());
        }
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';']))?;
        let (name, value) = (name.trim(), value.trim());
        let shown = if PROFILE_SHOWN.contains(&name.to_ascii_lowercase().as_str()) || value.is_empty() {
            value.to_owned()
        } else {
            placeholders.short(value.as_bytes())
        };
        Some(format!("{name} = {shown}"))
    };
    let lines: Vec<String> = text.trim_start_matches('\u{feff}').lines().filter_map(line).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use trueup_core::decode::Digester;

    const SECRET: Resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
    const MAP: Resource =
        Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    const CANARY: &str = "s3cretc4nary-q7Hx2Lw9ZbT4mVfK0sYdR8nGpC3uJ6eA5";

    fn redact_all(objects: &[Value], resource: &Resource) -> Vec<Value> {
        let mut placeholders = Placeholders::new(Digester::new(&[7; 32]));
        objects.iter().map(|one| redact(&one.to_string(), resource, &mut placeholders).unwrap()).collect()
    }

    fn text_of(object: &Value, key: &str) -> String {
        let value = object["data"][key].as_str().unwrap_or_default();
        String::from_utf8(STANDARD.decode(value).unwrap()).unwrap()
    }

    #[test]
    fn no_value_of_a_secret_is_written_and_equal_values_stay_equal() {
        let one = json!({
            "metadata": {
                "name": "s", "namespace": "n", "uid": "u-1", "resourceVersion": "7", "managedFields": [ { "manager": "x" } ],
                "labels": { "hypershift.openshift.io/managed": "true", "note": CANARY },
                "annotations": { "kubectl.kubernetes.io/last-applied-configuration": CANARY, "team": CANARY },
                "ownerReferences": [ { "apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-0" } ],
            },
            "type": "Opaque",
            "data": { "clientSecret": STANDARD.encode(CANARY), "empty": "", "ca.crt": STANDARD.encode(CERTIFICATE), "odd": "not base64 !" },
            "stringData": { "plain": CANARY },
        });
        let mut two = one.clone();
        two["metadata"]["name"] = "t".into();
        two["data"]["clientSecret"] = STANDARD.encode(format!("{CANARY}2")).into();
        let [one, two] = redact_all(&[one, two], &SECRET).try_into().unwrap();
        for object in [&one, &two] {
            let text = object.to_string();
            for hidden in [CANARY.to_owned(), STANDARD.encode(CANARY), "not base64".to_owned()] {
                assert!(!text.contains(&hidden), "{text}");
            }
        }
        assert_eq!((one["kind"].as_str(), one["apiVersion"].as_str()), (Some("Secret"), Some("v1")));
        assert_eq!(one["metadata"]["labels"]["hypershift.openshift.io/managed"], "true");
        assert_eq!(one["metadata"]["ownerReferences"][0]["name"], "o");
        assert_eq!(text_of(&one, "clientSecret").len(), CANARY.len());
        assert_eq!(text_of(&one, "plain"), text_of(&one, "clientSecret"));
        assert_ne!(text_of(&one, "clientSecret"), text_of(&two, "clientSecret"));
        assert_eq!((text_of(&one, "empty").as_str(), text_of(&one, "ca.crt").as_str()), ("", CERTIFICATE));
    }

    #[test]
    fn metadata_alone_stays_without_data() {
        let mark =
            json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": { "name": "s" } });
        let [mark] = redact_all(&[mark], &SECRET).try_into().unwrap();
        assert_eq!(mark, json!({ "kind": "Secret", "apiVersion": "v1", "metadata": { "name": "s" } }));
    }

    #[test]
    fn a_login_keeps_its_sort() {
        let keys = format!("[default]\naws_access_key_id = {CANARY}\naws_secret_access_key={CANARY}\n# {CANARY}\n");
        let role = "[default]\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /var/run/token\n";
        let data =
            |text: &str| json!({ "metadata": { "name": "s" }, "data": { "credentials": STANDARD.encode(text) } });
        let [keys, role_shown] = redact_all(&[data(&keys), data(role)], &SECRET).try_into().unwrap();
        let expected = "[default]\naws_access_key_id = redacted-1\naws_secret_access_key = redacted-1\n";
        assert_eq!(text_of(&keys, "credentials"), expected);
        assert_eq!(text_of(&role_shown, "credentials"), role);
    }

    #[test]
    fn the_address_and_authority_of_a_connection_stay() {
        let (endpoint, packed) = ("https://api.example:6443", STANDARD.encode(CERTIFICATE));
        let data =
            |key: &str, text: &str| json!({ "metadata": { "name": "s" }, "data": { key: STANDARD.encode(text) } });
        let cases = [
            (ENDPOINT, endpoint, true),
            ("other", endpoint, false),
            (ENDPOINT, "https://user:word@api.example", false),
            ("cluster_certificate_authority_data", &packed, true),
        ];
        for (key, text, is_kept) in cases {
            let [shown] = redact_all(&[data(key, text)], &SECRET).try_into().unwrap();
            assert_eq!(text_of(&shown, key) == text, is_kept, "{key}: {text}");
        }
    }

    #[test]
    fn what_looks_like_a_credential_elsewhere_is_distinguished_and_not_written() {
        let map = |text: &str| json!({ "metadata": { "name": "c" }, "data": { "password": text, "note": "kept" } });
        let [one, same, other] =
            redact_all(&[map(CANARY), map(CANARY), map("another-password")], &MAP).try_into().unwrap();
        assert!(one == same && one != other && one["data"]["note"] == "kept");
        assert!(!one.to_string().contains(CANARY));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "[]", "{}", r#"{"metadata":{"name":7}}"#] {
            assert!(redact(text, &MAP, &mut Placeholders::new(Digester::new(&[7; 32]))).is_err(), "{text}");
        }
    }
}
