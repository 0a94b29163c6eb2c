use super::*;

const SECRET: &str = r#"{"metadata":{"name":"s","namespace":"n","uid":"u","resourceVersion":"7","labels":{"a":"b"},
 "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":\"CANARY\"}","keep":"me"},
 "managedFields":[{"manager":"kubectl","fieldsV1":{"f:data":{}}}]},
 "type":"Opaque","data":{"clientSecret":"Q0FOQVJZ","other":"Q0FOQVJZQ0FOQVJZ"},"surprise":"CANARY"}"#;

fn reader<'r>(digester: &'r Digester, sort: DataSort, kind: &'r str) -> Reader<'r> {
    Reader { digester, sort, digested: &["clientSecret", "ca-bundle.crt"], reduced: &[], api_version: "v1", kind }
}

#[test]
fn a_secret_keeps_names_lengths_and_named_digests_and_no_value() {
    let digester = Digester::new(&[1; 32]);
    let object = reader(&digester, DataSort::Secret, "Secret").object(SECRET).unwrap();
    let shape: Vec<_> =
        object.data.iter().map(|e| (e.key.as_ref(), e.length, e.digest.is_some(), e.text.is_some())).collect();
    assert_eq!(shape, [("clientSecret", 6, true, false), ("other", 12, false, false)]);
    assert_eq!(object.field::<String>("type").unwrap(), "Opaque");
    let printed = format!("{object:?}");
    assert!(!printed.contains("CANARY") && !printed.contains("Q0FOQVJZ"), "{printed}");
    assert_eq!(object.meta.annotations.len(), 1, "the last-applied annotation is dropped");
}

#[test]
fn only_the_keys_a_fact_reduces_are_lent_and_none_of_them_is_printed() {
    let digester = Digester::new(&[1; 32]);
    let reader = Reader { reduced: &["clientSecret", "plain"], ..reader(&digester, DataSort::Secret, "Secret") };
    let text = SECRET.replace(r#""surprise":"CANARY""#, r#""stringData":{"plain":"CANARY","odd":"CANARY"}"#);
    let object = reader.object(&text).unwrap();
    let lent: Vec<_> = object
        .data
        .iter()
        .map(|entry| (entry.key.as_ref(), entry.bytes.as_ref().map(|bytes| bytes.reduce(<[u8]>::to_vec))))
        .collect();
    let canary = Some(b"CANARY".to_vec());
    assert_eq!(lent, [("clientSecret", canary.clone()), ("odd", None), ("other", None), ("plain", canary)]);
    let printed = format!("{object:?}");
    assert!(!printed.contains("CANARY") && !printed.contains("67, 65, 78"), "{printed}");
    let folded = SECRET.replace("Q0FOQVJZ\",\"other", "Q0FO\\n  QVJZ\",\"other");
    assert_eq!(
        reader.object(&folded).unwrap().entry("clientSecret").unwrap().bytes,
        object.entry("clientSecret").unwrap().bytes
    );
    let broken = SECRET.replace("Q0FOQVJZ\",\"other", "!!\",\"other");
    assert_eq!(reader.object(&broken).unwrap().entry("clientSecret").unwrap().bytes, None);
    let metadata = r#"{"metadata":{"name":"c"},"data":{"plain":"text"}}"#;
    let config_map = Reader { sort: DataSort::ConfigMap, ..reader }.object(metadata).unwrap();
    assert_eq!(config_map.entry("plain").unwrap().bytes, None, "a ConfigMap has no secrets to lend");
}

#[test]
fn a_config_map_hands_on_the_text_of_named_keys_alone() {
    let digester = Digester::new(&[1; 32]);
    let text = r#"{"metadata":{"name":"c"},"data":{"ca-bundle.crt":"PEM\n","x":"y"},"binaryData":{"b":"AAAA"}}"#;
    let object = reader(&digester, DataSort::ConfigMap, "ConfigMap").object(text).unwrap();
    assert_eq!(object.entry("ca-bundle.crt").unwrap().text.as_deref(), Some("PEM\n"));
    assert_eq!(object.entry("x").unwrap().text, None);
    assert_eq!(object.entry("b").unwrap().length, 3);
}

#[test]
fn an_undecodable_secret_names_the_place_and_not_the_value() {
    let digester = Digester::new(&[1; 32]);
    let cases = [
        ("data is a string", r#"{"metadata":{"name":"s"},"data":"CANARY"}"#),
        ("a value is a number", r#"{"metadata":{"name":"s"},"data":{"clientSecret":12345678}}"#),
        ("a value is a map", r#"{"metadata":{"name":"s"},"data":{"clientSecret":{"CANARY":1}}}"#),
        ("cut in the middle", r#"{"metadata":{"name":"s"},"data":{"clientSecret":"CANA"#),
        ("html", "<html>CANARY</html>"),
    ];
    for (case, text) in cases {
        let error = reader(&digester, DataSort::Secret, "Secret").object(text).expect_err(case);
        assert!(!error.to_string().contains("CANARY") && !error.to_string().contains("12345678"), "{case}: {error}");
    }
}

#[test]
fn a_list_without_items_or_metadata_is_no_list() {
    let digester = Digester::new(&[1; 32]);
    let reader = reader(&digester, DataSort::Secret, "Secret");
    let cases = [
        ("null items", r#"{"metadata":{"resourceVersion":"5"},"items":null}"#, true),
        ("empty items", r#"{"items":[],"metadata":{"resourceVersion":"5"}}"#, true),
        ("no items", r#"{"metadata":{"resourceVersion":"5"}}"#, false),
        ("no metadata", r#"{"items":[]}"#, false),
        ("cut short", r#"{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}},"#, false),
        ("a status", r#"{"kind":"Status","metadata":{},"status":"Failure","code":403}"#, false),
    ];
    for (case, body, accepted) in cases {
        assert_eq!(list(reader, body.as_bytes(), &mut |_| {}).is_ok(), accepted, "fast: {case}");
        assert_eq!(items(body.as_bytes()).is_ok(), accepted, "slow: {case}");
    }
}

#[test]
fn list_items_take_their_kind_from_the_list() {
    let digester = Digester::new(&[1; 32]);
    let body = format!(r#"{{"kind":"SecretList","metadata":{{"resourceVersion":"9"}},"items":[{SECRET}]}}"#);
    let mut seen = Vec::new();
    let head = list(reader(&digester, DataSort::Secret, "Secret"), body.as_bytes(), &mut |object| {
        seen.push(object.describe())
    });
    assert_eq!(head.unwrap().resource_version, "9");
    assert_eq!(seen, ["Secret n/s"]);
}
