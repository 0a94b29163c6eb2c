//! Tables, as requested by `kubectl get`.
//!
//! Invariants: every kind has at least NAME and AGE; a custom resource has the columns of its definition.
//!
//! Elsewhere: choosing the form (`media`).

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{PrinterColumn, ResourceKind};
use super::list::{Page, list_meta};
use super::media::{self, Include};
use super::meta;
use super::store;

pub fn of_page(kind: &ResourceKind, page: &Page, include: Include, now: Timestamp) -> Bytes {
    let rows = page.items.iter().map(|item| row(kind, &item.value, include, now)).collect();
    store::to_bytes(&table(kind, list_meta(page), rows))
}

pub fn of_one(kind: &ResourceKind, object: &Value, include: Include, now: Timestamp) -> Bytes {
    let head = json!({ "resourceVersion": meta::resource_version(object) });
    store::to_bytes(&table(kind, head, vec![row(kind, object, include, now)]))
}

/// A bookmark as a table: one row with only the version.
pub fn bookmark(object: &Value) -> Value {
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object["metadata"],
        "columnDefinitions": [],
        "rows": [{ "cells": [], "object": media::metadata_only(object) }],
    })
}

fn table(kind: &ResourceKind, metadata: Value, rows: Vec<Value>) -> Value {
    let mut columns = vec![column("Name", "string", "name", 0)];
    for (name, priority) in built_in_columns(kind) {
        columns.push(column(name, "string", "", *priority));
    }
    for printed in &kind.columns {
        columns.push(column(&printed.name, &printed.kind, "", printed.priority));
    }
    if shows_age(kind) {
        columns.push(column("Age", "string", "", 0));
    }
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn column(name: &str, kind: &str, format: &str, priority: i64) -> Value {
    json!({ "name": name, "type": kind, "format": format, "description": "", "priority": priority })
}

fn row(kind: &ResourceKind, object: &Value, include: Include, now: Timestamp) -> Value {
    let mut cells = vec![Value::from(meta::name(object))];
    cells.extend(built_in_columns(kind).iter().map(|(name, _)| built_in_cell(name, object, now)));
    cells.extend(kind.columns.iter().map(|printed| printed_cell(printed, object, now)));
    if shows_age(kind) {
        cells.push(age(meta::text(object, "creationTimestamp"), now).into());
    }
    match include {
        Include::None => json!({ "cells": cells }),
        Include::Metadata => json!({ "cells": cells, "object": media::metadata_only(object) }),
        Include::Object => json!({ "cells": cells, "object": object }),
    }
}

/// A custom resource with its own columns has an AGE column only if it defines one; kinds with a CREATED AT column need
/// none.
fn shows_age(kind: &ResourceKind) -> bool {
    kind.columns.is_empty() && !built_in_columns(kind).iter().any(|(name, _)| *name == "Created At")
}

fn built_in_columns(kind: &ResourceKind) -> &'static [(&'static str, i64)] {
    match (&*kind.of.group, &*kind.of.resource) {
        ("", "configmaps") => &[("Data", 0)],
        ("", "secrets") => &[("Type", 0), ("Data", 0)],
        ("", "namespaces") => &[("Status", 0)],
        ("", "serviceaccounts") => &[("Secrets", 0)],
        ("", "pods") => &[("Ready", 0), ("Status", 0), ("Restarts", 0)],
        ("", "nodes") => &[("Status", 0), ("Version", 0)],
        ("", "services") => &[("Type", 0), ("Cluster-IP", 0), ("Port(s)", 0)],
        ("", "events") => &[("Reason", 0), ("Object", 0), ("Message", 0)],
        ("apps", "deployments") => &[("Ready", 0), ("Up-to-date", 0), ("Available", 0)],
        ("apiextensions.k8s.io", "customresourcedefinitions") => &[("Created At", 0)],
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => &[("Created At", 0)],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => &[("Role", 0)],
        _ => &[],
    }
}

fn built_in_cell(column: &str, object: &Value, now: Timestamp) -> Value {
    let count = |field: &str| object[field].as_object().map_or(0, |map| map.len());
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    match (column, object["kind"].as_str().unwrap_or("")) {
        ("Data", _) => (count("data") + count("binaryData")).into(),
        ("Secrets", _) => object["secrets"].as_array().map_or(0, Vec::len).into(),
        ("Type", "Service") => object["spec"]["type"].as_str().unwrap_or("ClusterIP").into(),
        ("Type", _) => object["type"].clone(),
        ("Cluster-IP", _) => object["spec"]["clusterIP"].as_str().unwrap_or("<none>").into(),
        ("Port(s)", _) => ports(&object["spec"]["ports"]).into(),
        ("Status", "Namespace" | "Pod") if meta::is_deleting(object) => "Terminating".into(),
        ("Status", "Namespace" | "Pod") => object["status"]["phase"].as_str().unwrap_or("Unknown").into(),
        ("Status", _) => if is_ready(object) { "Ready" } else { "NotReady" }.into(),
        ("Version", _) => object["status"]["nodeInfo"]["kubeletVersion"].as_str().unwrap_or("").into(),
        ("Ready", kind) => ready_of(kind, object).into(),
        ("Restarts", _) => 0.into(),
        ("Up-to-date", _) => number(&object["status"]["updatedReplicas"]).into(),
        ("Available", _) => number(&object["status"]["availableReplicas"]).into(),
        ("Reason" | "Message", _) => object[column.to_lowercase()].as_str().unwrap_or("").into(),
        ("Object", _) => {
            let about = &object["involvedObject"];
            let kind = about["kind"].as_str().unwrap_or("").to_lowercase();
            format!("{kind}/{}", about["name"].as_str().unwrap_or("")).into()
        }
        ("Role", _) => {
            let role = &object["roleRef"];
            let text = |field: &str| role[field].as_str().unwrap_or("");
            format!("{}/{}", text("kind"), text("name")).into()
        }
        ("Created At", _) => meta::text(object, "creationTimestamp").into(),
        _ => age("", now).into(),
    }
}

fn ready_of(kind: &str, object: &Value) -> String {
    let list = |value: &Value| value.as_array().map_or(0, Vec::len);
    if kind == "Deployment" {
        let wanted = object["spec"]["replicas"].as_i64().unwrap_or(1);
        return format!("{}/{wanted}", object["status"]["readyReplicas"].as_i64().unwrap_or(0));
    }
    let statuses = object["status"]["containerStatuses"].as_array();
    let ready = statuses.into_iter().flatten().filter(|status| status["ready"] == true).count();
    format!("{ready}/{}", list(&object["spec"]["containers"]))
}

fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn ports(ports: &Value) -> String {
    let shown = ports
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| format!("{}/{}", port["port"], port["protocol"].as_str().unwrap_or("TCP")));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "<none>".into() } else { shown.join(",") }
}

fn printed_cell(column: &PrinterColumn, object: &Value, now: Timestamp) -> Value {
    let found = json_path(object, &column.path);
    match (column.kind.as_str(), found) {
        (_, None) => Value::Null,
        ("date", Some(Value::String(time))) => age(time, now).into(),
        ("string", Some(Value::String(text))) => text.clone().into(),
        ("string", Some(other)) => other.to_string().into(),
        (_, Some(other)) => other.clone(),
    }
}

/// The subset of JSONPath that printer columns use: `.a.b`, `.a[0]`, `.a\.b` and `.a[?(@.type=="X")].status`.
fn json_path<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut value = object;
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[?(@.") {
            let (test, tail) = after.split_once(")]")?;
            let (field, wanted) = test.split_once("==")?;
            let wanted = wanted.trim().trim_matches(|c| c == '"' || c == '\'');
            value = value.as_array()?.iter().find(|item| item[field.trim()].as_str() == Some(wanted))?;
            rest = tail;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (index, tail) = after.split_once(']')?;
            value = match index.parse::<usize>() {
                Ok(index) => value.get(index)?,
                Err(_) => value.get(index.trim_matches(|c| c == '"' || c == '\''))?,
            };
            rest = tail;
        } else {
            let after = rest.strip_prefix('.').unwrap_or(rest);
            let mut name = String::new();
            let mut escaped = false;
            let mut end = after.len();
            for (at, c) in after.char_indices() {
                match c {
                    '\\' if !escaped => escaped = true,
                    '.' | '[' if !escaped => {
                        end = at;
                        break;
                    }
                    c => {
                        name.push(c);
                        escaped = false;
                    }
                }
            }
            value = value.get(&name)?;
            rest = &after[end..];
        }
    }
    Some(value)
}

/// An age as in kubectl: at most two units, coarser with time.
pub fn age(since: &str, now: Timestamp) -> String {
    let Ok(since) = since.parse::<Timestamp>() else {
        return "<unknown>".into();
    };
    let seconds = now.as_second() - since.as_second();
    if seconds < -1 {
        return "<invalid>".into();
    }
    let seconds = seconds.max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => two(days, "d", hours % 24, "h"),
        () if years < 2 => format!("{days}d"),
        () if years < 8 => two(years, "y", days % 365, "d"),
        () => format!("{years}y"),
    }
}
