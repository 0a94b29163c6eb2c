//! The minimum of OpenAPI that kubectl needs.
//!
//! Invariants: version 3 declares for every kind that the server validates fields, so that kubectl does not;
//! schemas are empty.
//!
//! Elsewhere: schemas. `kubectl explain` has no content.

use serde_json::{Map, Value, json};

use super::kinds::{ResourceKind, Storage};
use super::{Reply, Server, not_found_page, store};

pub fn v2() -> Reply {
    let body = json!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "v1.36.3" },
        "paths": {},
        "definitions": {},
    });
    Reply::json(200, store::to_bytes(&body))
}

pub fn v3(server: &Server, path: &str) -> Reply {
    let mut documents: Map<String, Value> = Map::new();
    for served in server.registry.iter() {
        let document = match &*served.kind.of.group {
            "" => format!("api/{}", served.kind.version),
            group => format!("apis/{group}/{}", served.kind.version),
        };
        let paths = documents.entry(document).or_insert_with(|| json!({}));
        if served.kind.rules.storage == Storage::Kept {
            paths[item_path(&served.kind)] = item(&served.kind);
        }
    }
    let body = if path.is_empty() {
        let paths = documents.keys().map(|document| {
            let url = format!("/openapi/v3/{document}?hash=00000000");
            (document.clone(), json!({ "serverRelativeURL": url }))
        });
        json!({ "paths": paths.collect::<Map<String, Value>>() })
    } else {
        let Some(paths) = documents.remove(path) else {
            return not_found_page();
        };
        json!({
            "openapi": "3.0.0",
            "info": { "title": "Kubernetes", "version": "v1.36.3" },
            "paths": paths,
            "components": { "schemas": {} },
        })
    };
    Reply::json(200, store::to_bytes(&body))
}

fn item_path(kind: &ResourceKind) -> String {
    let root = match &*kind.of.group {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    let scope = if kind.namespaced() { "/namespaces/{namespace}" } else { "" };
    format!("{root}{scope}/{}/{{name}}", kind.of.resource)
}

fn item(kind: &ResourceKind) -> Value {
    let parameter =
        |name: &str| json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } });
    let of = json!({ "group": &*kind.of.group, "version": &*kind.version, "kind": &*kind.kind });
    json!({
        "patch": {
            "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation"), parameter("force")],
            "responses": { "200": { "description": "OK" } },
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": of,
        },
    })
}
