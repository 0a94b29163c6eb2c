use proptest::prelude::*;

use super::*;
use crate::decode::{Digester, list};
use crate::world::ManagedBy;

/// A field with bytes.
fn bytes(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let mut length = value.len();
    let mut field = vec![number << 3 | 2];
    if number >= 16 {
        field = vec![(number << 3 | 2) | 0x80, number >> 4];
    }
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    [field, value.to_vec()].concat()
}

fn number(number: u8, mut value: u64) -> Vec<u8> {
    let mut field = vec![number << 3];
    while value >= 0x80 {
        field.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    field.push(u8::try_from(value).unwrap());
    field
}

fn pair(field: u8, key: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
    bytes(field, [bytes(1, key), bytes(2, value)].concat())
}

fn answer(kind: &str, items: &[Vec<u8>]) -> Vec<u8> {
    let head = [bytes(1, ""), bytes(2, "812"), bytes(3, "next"), number(4, 7)].concat();
    let items: Vec<Vec<u8>> = items.iter().map(|item| bytes(2, item)).collect();
    let list = [bytes(1, head), items.concat()].concat();
    let type_meta = [bytes(1, "v1"), bytes(2, kind)].concat();
    [b"k8s\0".to_vec(), bytes(1, type_meta), bytes(2, list), bytes(3, ""), bytes(4, "")].concat()
}

/// 2026-11-16T10:00:00Z.
const CREATED: u64 = 1_794_823_200;

fn metadata() -> Vec<u8> {
    let owner =
        [bytes(1, "Certificate"), bytes(3, "web"), bytes(4, "u-2"), bytes(5, "cert-manager.io/v1"), number(6, 1)];
    let managed = [
        bytes(1, "cert-manager-certificates-issuing"),
        bytes(2, "Apply"),
        bytes(7, bytes(1, r#"{"f:data":{"f:tls.crt":{}}}"#)),
        bytes(8, ""),
    ];
    [
        bytes(1, "web-tls"),
        bytes(2, ""),
        bytes(3, "shop"),
        bytes(5, "u-1"),
        bytes(6, "811"),
        number(7, 0),
        bytes(8, [number(1, CREATED), number(2, 0)].concat()),
        bytes(9, ""),
        pair(11, "app", "web"),
        pair(12, "kubectl.kubernetes.io/last-applied-configuration", "CANARY"),
        pair(12, "keep", ""),
        bytes(13, owner.concat()),
        bytes(14, "shop/keep"),
        bytes(17, managed.concat()),
    ]
    .concat()
}

const METADATA: &str = r#""metadata":{"name":"web-tls","namespace":"shop","uid":"u-1","resourceVersion":"811",
 "creationTimestamp":"2026-11-16T10:00:00Z","labels":{"app":"web"},
 "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"CANARY","keep":""},
 "ownerReferences":[{"apiVersion":"cert-manager.io/v1","kind":"Certificate","name":"web","uid":"u-2","controller":true}],
 "finalizers":["shop/keep"],
 "managedFields":[{"manager":"cert-manager-certificates-issuing","operation":"Apply","fieldsV1":{"f:data":{"f:tls.crt":{}}}}]}"#;

/// Everything a projection can see of an object.
fn seen(raw: &RawObject<'_>) -> String {
    let RawObject { api_version, kind, meta, data, fields: _ } = raw;
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
        managed_fields: _,
    } = meta;
    let lent: Vec<_> =
        data.iter().map(|entry| entry.bytes.as_ref().map(|bytes| bytes.reduce(<[u8]>::to_vec))).collect();
    let digests: Vec<_> = data.iter().map(|entry| entry.digest.map(|digest| digest.0)).collect();
    let fields = (raw.field::<Option<String>>("type").unwrap(), raw.field::<Option<bool>>("immutable").unwrap());
    format!(
        "{api_version} {kind} {name} {namespace} {uid} {resource_version} {creation_timestamp:?} {deletion_timestamp:?} \
         {generation:?} {labels:?} {annotations:?} {owners:?} {finalizers:?} {data:?} {lent:?} {digests:?} {fields:?} {:?}",
        ManagedBy::of(raw)
    )
}

fn reader<'r>(digester: &'r Digester, sort: DataSort, kind: &'r str) -> Reader<'r> {
    let (digested, reduced): (&[&str], &[&str]) = (&["tls.crt", "ca.crt", "blob"], &["tls.key"]);
    Reader { digester, sort, digested, reduced, api_version: "v1", kind }
}

fn read(reader: Reader<'_>, body: &[u8]) -> (ListHead, Vec<String>) {
    let mut all = Vec::new();
    let head = match is_protobuf(body) {
        true => protobuf_list(reader, body, &mut |raw| all.push(seen(raw))).unwrap(),
        false => list(reader, body, &mut |raw| all.push(seen(raw))).unwrap(),
    };
    (head, all)
}

#[test]
fn an_object_reads_the_same_from_protobuf_as_from_json() {
    let digester = Digester::new(&[1; 32]);
    let meta = bytes(1, metadata());
    let long = "x".repeat(300);
    let secret = [
        meta.clone(),
        pair(2, "tls.key", "KEY"),
        pair(2, "tls.crt", "CERT\n"),
        pair(2, "other", &long),
        pair(2, "empty", ""),
        bytes(3, "kubernetes.io/tls"),
        number(5, 1),
    ];
    let config_map = [meta.clone(), pair(2, "ca.crt", "PEM\n"), pair(2, "x", "y"), pair(3, "blob", [0, 159, 146, 150])];
    let of_secret = format!(
        r#""type":"kubernetes.io/tls","immutable":true,"data":{{"tls.key":"S0VZ","tls.crt":"Q0VSVAo=","other":"{}","empty":""}}"#,
        "eHh4".repeat(100)
    );
    let of_config_map = r#""data":{"ca.crt":"PEM\n","x":"y"},"binaryData":{"blob":"AJ+Slg=="}"#.to_owned();
    let cases = [
        ("Secret", DataSort::Secret, secret.concat(), of_secret),
        ("ConfigMap", DataSort::ConfigMap, config_map.concat(), of_config_map),
        ("PartialObjectMetadata", DataSort::Secret, meta, r#""other":1"#.to_owned()),
    ];
    for (kind, sort, message, json) in cases {
        let reader = reader(&digester, sort, kind);
        let list = format!("{kind}List");
        let text = format!(
            r#"{{"kind":"{list}","metadata":{{"resourceVersion":"812","continue":"next","remainingItemCount":7}},"items":[{{{METADATA},{json}}}]}}"#
        );
        assert_eq!(read(reader, &answer(&list, &[message])), read(reader, text.as_bytes()), "case: {kind}");
    }
}

#[test]
fn only_a_message_that_names_a_list_is_an_empty_list() {
    let digester = Digester::new(&[1; 32]);
    let reader = reader(&digester, DataSort::Secret, "Secret");
    let mut none = |raw: &RawObject<'_>| panic!("{raw:?}");
    let empty = protobuf_list(reader, &answer("SecretList", &[]), &mut none);
    assert_eq!(empty.map(|head| head.resource_version), Ok("812".to_owned()));
    let without_list = [b"k8s\0".to_vec(), bytes(1, bytes(2, "SecretList"))].concat();
    for (case, body) in [("no kind", answer("", &[])), ("a Status", answer("Status", &[])), ("no list", without_list)] {
        assert_eq!(protobuf_list(reader, &body, &mut none), Err(MalformedProtobuf), "case: {case}");
    }
}

proptest! {
    #[test]
    fn a_list_cut_short_anywhere_is_refused(end in 4_usize..1_000) {
        let digester = Digester::new(&[1; 32]);
        let secret = [bytes(1, metadata()), pair(2, "tls.crt", "CERT"), bytes(3, "Opaque")].concat();
        let list = [bytes(1, bytes(2, "812")), bytes(2, &secret), bytes(2, &secret)].concat();
        let body = [b"k8s\0".to_vec(), bytes(1, bytes(2, "SecretList")), bytes(2, list)].concat();
        let reader = reader(&digester, DataSort::Secret, "Secret");
        let whole = protobuf_list(reader, &body, &mut |_| {});
        prop_assert!(whole.is_ok());
        let cut = &body[..end.min(body.len() - 1)];
        let read = protobuf_list(reader, cut, &mut |_| {});
        prop_assert_eq!(read, Err(MalformedProtobuf));
    }
}
