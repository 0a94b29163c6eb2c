use super::*;
use crate::decode::{DataSort, Digester, Reader};

const TRACKED: &[TrackedField] = &[
    TrackedField { name: "value", path: &["data", "value"] },
    TrackedField { name: "zones", path: &["spec", "zones"] },
];

fn read(object: &serde_json::Value, sort: DataSort) -> Tracked {
    let digester = Digester::new(&[0; 32]);
    let reader =
        Reader { digester: &digester, sort, digested: &["value"], reduced: &[], api_version: "v1", kind: "Secret" };
    let text = object.to_string();
    let raw = reader.object(&text).unwrap();
    *Tracked::of(&raw, TRACKED, &mut Interner::default()).unwrap()
}

#[test]
fn values_are_shown_without_their_content() {
    let data = |value: &str| serde_json::json!({ "metadata": { "name": "x" }, "data": { "value": value } });
    let spec =
        |zones: serde_json::Value| serde_json::json!({ "metadata": { "name": "x" }, "spec": { "zones": zones } });
    let secret = read(&data("aHVzaC1odXNo"), DataSort::Secret);
    assert_eq!(secret.fields[0].0.to_string(), "<9 bytes>");
    assert!(!format!("{secret:?}").contains("hush"));
    let other = read(&data("c2hodC1zaGh0"), DataSort::Secret);
    assert_ne!(secret.fields[0].0, other.fields[0].0, "as long, another content");
    let cases = [
        ("a list", serde_json::json!(["a", "b"]), "2"),
        ("a map", serde_json::json!({ "a": 1 }), "1"),
        ("a text", serde_json::json!("eu-de"), "eu-de"),
        ("a number", serde_json::json!(16), "16"),
        ("a switch", serde_json::json!(false), "false"),
        ("null", serde_json::Value::Null, "unset"),
        ("an empty text", serde_json::json!(""), "unset"),
    ];
    for (case, zones, expected) in cases {
        assert_eq!(read(&spec(zones), DataSort::Other).fields[1].0.to_string(), expected, "case: {case}");
    }
}

#[test]
fn managed_fields_that_cannot_be_read_are_no_writer() {
    for managed in ["3", r#""text""#, r#"[{"manager": 3}]"#, r#"[{"manager":"cli","fieldsV1":"no"}]"#, "[null]"] {
        let text = format!(r#"{{"metadata":{{"name":"x","managedFields":{managed}}},"spec":{{"zones":[1]}}}}"#);
        let object = serde_json::from_str(&text).unwrap();
        assert_eq!(read(&object, DataSort::Other).fields[1].1, None, "managedFields: {managed}");
    }
}
