//! CustomResourceDefinitions: creating one makes its kind served.
//!
//! Invariants: a definition is established with the write that creates it; removing it removes its objects.
//!
//! Elsewhere: validating the definition or, with it, its objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Server;
use super::call::Call;
use super::kinds::{Content, GroupResource, PrinterColumn, ResourceKind, Scope};
use super::meta;

impl Server {
    /// Serves the kinds of a definition, and marks it established. Other kinds are not changed.
    pub(super) fn before_definition_change(&mut self, call: &Call<'_>, object: &mut Value) {
        if call.kind.rules.content == Content::Definition {
            self.serve_definition(object, &meta::api_time(call.now));
        }
    }

    pub(super) fn serve_definition(&mut self, definition: &mut Value, now: &str) {
        for kind in kinds_of(definition) {
            self.register(kind);
        }
        establish(definition, now);
    }

    pub(super) fn after_definition_removed(&mut self, call: &Call<'_>, definition: &Value) {
        if call.kind.rules.content != Content::Definition {
            return;
        }
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let spec = &definition["spec"];
        let of = GroupResource::new(&text(&spec["group"]), &text(&spec["names"]["plural"]));
        let collections: Vec<_> =
            self.registry.iter().filter(|served| served.kind.of == of).map(|served| served.collection).collect();
        for collection in collections {
            let keys: Vec<String> =
                self.store.collection(collection).range("").map(|(key, _)| key.to_string()).collect();
            for key in keys {
                self.store.remove(collection, &key);
            }
        }
        self.registry.withdraw(&of);
    }
}

/// One kind for each served version.
fn kinds_of(definition: &Value) -> Vec<ResourceKind> {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let list = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<String>>();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"].as_bool().unwrap_or(false));
    served
        .map(|version| {
            let api_version = format!("{}/{}", text(&spec["group"]), text(&version["name"]));
            let mut kind = ResourceKind::custom(&api_version, &text(&names["kind"]), &text(&names["plural"]));
            kind.scope = if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
            kind.status = version["subresources"]["status"].is_object();
            kind.short_names = list(&names["shortNames"]);
            kind.categories = list(&names["categories"]);
            if let Some(singular) = names["singular"].as_str().filter(|name| !name.is_empty()) {
                kind.singular = singular.into();
            }
            let schema = &version["schema"]["openAPIV3Schema"];
            kind.schema = Some(Arc::new(schema.clone()));
            kind.columns = version["additionalPrinterColumns"].as_array().into_iter().flatten().map(printed).collect();
            kind
        })
        .collect()
}

fn printed(column: &Value) -> PrinterColumn {
    let text = |field: &str| column[field].as_str().unwrap_or("").to_owned();
    PrinterColumn {
        name: text("name"),
        kind: text("type"),
        path: text("jsonPath"),
        priority: column["priority"].as_i64().unwrap_or(0),
    }
}

fn establish(definition: &mut Value, now: &str) {
    let condition = |kind: &str, reason: &str, message: &str| json!({ "type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message });
    if definition["status"]["conditions"].is_array() {
        return;
    }
    let names = definition["spec"]["names"].clone();
    let stored = definition["spec"]["versions"].as_array().into_iter().flatten();
    let stored: Vec<Value> = stored.filter(|version| version["storage"] == true).map(|v| v["name"].clone()).collect();
    definition["status"] = json!({
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "acceptedNames": names,
        "storedVersions": stored,
    });
}
