//! Lists of a real kube-apiserver in protobuf and in JSON: the same objects.

use http_body_util::BodyExt as _;
use serde_json::json;
use trueup_core::decode::{DataSort, Digester, Reader, is_protobuf, list, protobuf_list};
use trueup_core::world::{ManagedBy, RawMeta, RawObject};

use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

/// Everything a projection can see of an object.
fn seen(raw: &RawObject<'_>) -> String {
    let RawObject { api_version: _, kind: _, meta, data, fields: _ } = raw;
    let RawMeta {
        name,
        namespace,
        uid,
        resource_version,
        creation_timestamp,
        deletion_timestamp,
        generation,
        labels,
        annotations,
        owners,
        finalizers,
        managed_fields,
    } = meta;
    let digests: Vec<_> = data.iter().map(|entry| entry.digest.map(|digest| digest.0)).collect();
    let fields = (raw.field::<Option<String>>("type").unwrap(), raw.field::<Option<bool>>("immutable").unwrap());
    format!(
        "{name} {namespace} {uid} {resource_version} {creation_timestamp:?} {deletion_timestamp:?} {generation:?} \
         {labels:?} {annotations:?} {owners:?} {finalizers:?} {data:?} {digests:?} {fields:?} {} {:?}",
        managed_fields.is_some(),
        ManagedBy::of(raw),
    )
}

async fn body(admin: &Connection, path: &str, accept: &str) -> Vec<u8> {
    let request = Request::get(path).header("accept", accept);
    let answer = admin.forward(request.to_http("").unwrap()).await.unwrap();
    assert_eq!(answer.status(), 200, "{path} as {accept}");
    answer.into_body().collect().await.unwrap().to_bytes().to_vec()
}

fn read(reader: Reader<'_>, body: &[u8]) -> (String, String, Vec<String>) {
    let mut all = Vec::new();
    let head = match is_protobuf(body) {
        true => protobuf_list(reader, body, &mut |raw| all.push(seen(raw))).unwrap(),
        false => list(reader, body, &mut |raw| all.push(seen(raw))).unwrap(),
    };
    (head.kind, head.resource_version, all)
}

#[tokio::test]
async fn secrets_config_maps_and_metadata_read_the_same_in_protobuf_as_in_json() {
    let Some(server) = RealServer::shared() else { return };
    let admin = server.connect(User::Admin);
    let namespace = admin.fresh_namespace().await;
    let metadata = json!({
        "name": "one", "labels": { "app.kubernetes.io/managed-by": "Helm", "a": "" }, "finalizers": ["example.com/keep"],
        "annotations": { "meta.helm.sh/release-name": "shop", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "example.com/odd", "immutable": true, "metadata": metadata,
        "data": { "clientSecret": "AP+A", "empty": "", "long": "eHh4".repeat(1_000) },
    });
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
        "data": { "ca-bundle.crt": "PEM – ü\n", "x": "" }, "binaryData": { "clientSecret": "AP+A" },
    });
    let kinds =
        [("secrets", "Secret", DataSort::Secret, secret), ("configmaps", "ConfigMap", DataSort::ConfigMap, config_map)];
    let digester = Digester::new(&[1; 32]);
    for (plural, kind, sort, object) in kinds {
        let path = format!("/api/v1/namespaces/{namespace}/{plural}");
        let created = admin.send(&Request::post(&path, object)).await.unwrap();
        assert_eq!(created.status, 201, "{}", created.body);
        let reader = Reader {
            digester: &digester,
            sort,
            digested: &["clientSecret", "ca-bundle.crt"],
            reduced: &[],
            api_version: "v1",
            kind,
        };
        for form in ["", ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"] {
            let protobuf = body(&admin, &path, &format!("application/vnd.kubernetes.protobuf{form}")).await;
            let json = body(&admin, &path, &format!("application/json{form}")).await;
            assert!(is_protobuf(&protobuf) && !is_protobuf(&json), "{kind}{form}");
            let (from_protobuf, from_json) = (read(reader, &protobuf), read(reader, &json));
            assert!(from_json.2.iter().any(|object| object.starts_with("one ")), "{from_json:?}");
            assert_eq!(from_protobuf, from_json, "{kind}{form}");
        }
    }
}
