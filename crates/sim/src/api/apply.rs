//! Server-side apply: merges a manager's fields and checks them against those of other managers.
//!
//! Invariants:
//! - without force, a field that another manager owns with another value is a conflict and nothing is written;
//! - a field the manager applied before and omits now is removed, unless another manager owns it;
//! - applying the present value makes a shared owner, never a conflict.
//!
//! Elsewhere: comparing and merging (`compare`). The rules are those of `sigs.k8s.io/structured-merge-diff/v6/merge`
//! and, for kubectl's annotation, of `k8s.io/apimachinery/pkg/util/managedfields`.

use serde_json::Value;

use super::call::{Call, match_name, match_namespace};
use super::compare::{self, Comparison};
use super::content;
use super::crud::Ownership;
use super::fields::FieldSet;
use super::managed::{self, Entry, Managed, Operation, UNOWNED, Writer};
use super::meta;
use super::shape::Shape;
use super::status::{Cause, Refused, Status};
use super::store::Stored;
use super::{Reply, Server};

/// The annotation in which client-side apply stores the last applied object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The default field manager of kubectl's server-side apply.
const KUBECTL: &str = "kubectl";

impl Server {
    pub(super) fn apply(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        let existing = self.store.collection(call.collection).get(&call.key()).cloned();
        let config = read_config(call)?;
        let (mut object, managed) = merged(call, existing.as_deref(), &config)?;
        keep_last_applied(&call.writer(), &config, &mut object);
        content::settle(&call.kind, &mut object).map_err(Status::bad_request)?;
        if existing.is_none() && !meta::uid(&object).is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {}, and no existing object was found",
                meta::uid(&object)
            );
            return Err(Status::conflict(&call.kind.of, &call.target.name, &why));
        }
        match_namespace(call, &mut object)?;
        match_name(call, &object)?;
        match existing {
            Some(existing) => self.replace(call, &existing, object, managed),
            None if call.is_status() => Err(call.not_found()),
            None => {
                self.rbac.check_create(call)?;
                // A create by apply may name any version: it is not checked. A dry run shows it.
                if !call.request.is_dry_run() {
                    meta::of_mut(&mut object).remove("resourceVersion");
                }
                let created = self.create_object(call, object, Ownership::Applied(managed))?;
                call.reply_value(201, &created)
            }
        }
    }
}

fn read_config(call: &Call<'_>) -> Result<Value, Refused> {
    let body = &call.request.body;
    let config: Value = serde_json::from_slice(body)
        .map_err(|error| error.to_string())
        .or_else(|_| content::parse_yaml(body))
        .map_err(|why| Status::bad_request(format!("error decoding YAML: {why}")))?;
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or("");
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !config.is_object() || api_version != call.kind.api_version() || *kind != *call.kind.kind {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        return Err(Status::bad_request(format!("invalid object type: {group}/{version}, Kind={kind}")));
    }
    if config["metadata"].get("managedFields").is_some_and(|list| !list.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    Ok(config)
}

/// Returns the object after the apply and its field owners.
fn merged(call: &Call<'_>, existing: Option<&Stored>, config: &Value) -> Result<(Value, Managed), Refused> {
    let shape = Shape::of(&call.kind);
    let writer = call.writer();
    let reset = call.reset_fields();
    let mut live = existing.map_or_else(|| managed::nothing(true), |existing| existing.value.clone());
    meta::of_mut(&mut live).remove("managedFields");
    let mut managed = owners_before(call, existing, &live);
    let last = managed.find(&writer, Operation::Apply).cloned();

    let mut config = config.clone();
    meta::of_mut(&mut config).remove("creationTimestamp");
    let said = compare::field_set(&config, shape).without_subtrees(&reset);
    managed.remove(&writer, Operation::Apply);
    let merged = compare::merge(&live, &config, shape);
    let merged = match &last {
        Some(last) => pruned(&merged, &last.fields, &managed, &said, shape),
        None => merged,
    };

    let changes = managed::changes(&live, &merged, shape, &reset);
    let is_forced = call.request.query.is_set("force");
    if !is_forced {
        let allowed = claimed_by_kubectl(&writer, &live, shape);
        refuse_conflicts(&managed, &changes, &allowed)?;
    }
    managed.take(&changes);
    let set = said.difference(&UNOWNED);
    let last_time = last.and_then(|last| last.time);
    if !set.is_empty() {
        let time = if live == merged { last_time } else { Some(writer.time.clone()) };
        managed.add(own_entry(&writer, set, time));
    }
    Ok((merged, managed))
}

/// Fields that client-side apply set and the object still has: kubectl may take them over.
fn claimed_by_kubectl(writer: &Writer, live: &Value, shape: Shape<'_>) -> FieldSet {
    let said = meta::string_map(live, "annotations").and_then(|all| all.get(LAST_APPLIED)).and_then(Value::as_str);
    let said: Option<Value> = said.and_then(|text| serde_json::from_str(text).ok());
    match said {
        Some(said) if writer.manager == KUBECTL && said["apiVersion"] == *writer.api_version => {
            let changed = compare::compare(&said, live, shape);
            let set = compare::field_set(&said, shape);
            set.difference(&changed.modified).difference(&changed.added).difference(&changed.removed)
        }
        Some(_) | None => FieldSet::default(),
    }
}

/// Updates the annotation of client-side apply where it exists and kubectl applies.
fn keep_last_applied(writer: &Writer, config: &Value, object: &mut Value) {
    let has_one = meta::string_map(object, "annotations").is_some_and(|all| all.contains_key(LAST_APPLIED));
    if writer.manager != KUBECTL || !has_one {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = meta::of_mut(&mut config).get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    if meta::string_map(&config, "annotations").is_some_and(serde_json::Map::is_empty) {
        meta::of_mut(&mut config).remove("annotations");
    }
    meta::of_mut(object)["annotations"][LAST_APPLIED] = format!("{config}\n").into();
}

fn own_entry(writer: &Writer, fields: FieldSet, time: Option<String>) -> Entry {
    Entry {
        manager: writer.manager.clone(),
        operation: Operation::Apply,
        api_version: writer.api_version.clone(),
        subresource: writer.subresource.clone(),
        time,
        fields,
    }
}

/// Returns the owners before the apply. Fields without an owner belong to `before-first-apply`.
fn owners_before(call: &Call<'_>, existing: Option<&Stored>, live: &Value) -> Managed {
    let Some(existing) = existing else {
        return Managed::default();
    };
    if !existing.managed.is_empty() {
        return existing.managed.clone();
    }
    let mut managed = Managed::default();
    let writer = Writer { manager: "before-first-apply".into(), ..call.writer() };
    let nothing = managed::nothing(call.kind.rules.custom);
    let changes = managed::changes(&nothing, live, Shape::of(&call.kind), &call.reset_fields());
    managed.record_update(&changes, &writer);
    managed
}

/// Removes fields that the manager applied last time, omits this time, and no other manager owns.
fn pruned(merged: &Value, last: &FieldSet, others: &Managed, own: &FieldSet, shape: Shape<'_>) -> Value {
    let named = |set: &FieldSet| compare::with_named_parents(set, shape);
    let cut = |set: &FieldSet| compare::without(merged, set, shape).unwrap_or_else(|| managed::nothing(true));
    let all = named(&compare::field_set(merged, shape));
    let mut owned = own.clone();
    others.entries().iter().for_each(|entry| owned.union(&entry.fields));

    let bare = cut(&named(last));
    let mut keep = named(&compare::field_set(&bare, shape));
    keep.union(&named(&owned));
    let with_owned = cut(&all.difference(&keep));
    let kept = named(&compare::field_set(&with_owned, shape));
    cut(&all.difference(&kept).intersection(&named(last)))
}

fn refuse_conflicts(managed: &Managed, changes: &Comparison, allowed: &FieldSet) -> Result<(), Refused> {
    let mut touched = changes.modified.clone();
    touched.union(&changes.added);
    let mut conflicts: Vec<(&Entry, Vec<String>)> = Vec::new();
    for entry in managed.entries() {
        let paths = entry.fields.intersection(&touched).difference(allowed).paths();
        if !paths.is_empty() {
            conflicts.push((entry, paths));
        }
    }
    if conflicts.is_empty() {
        return Ok(());
    }
    conflicts.sort_by(|(a, _), (b, _)| {
        (&a.manager, a.operation, &a.api_version).cmp(&(&b.manager, b.operation, &b.api_version))
    });
    let causes: Vec<Cause> = conflicts
        .iter()
        .flat_map(|(entry, paths)| paths.iter().map(|path| (entry.describe(), path)))
        .map(|(owner, path)| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {owner}"),
            field: path.clone(),
        })
        .collect();
    let message = match conflicts.as_slice() {
        [(entry, paths)] if paths.len() == 1 => {
            format!("Apply failed with 1 conflict: conflict with {}: {}", entry.describe(), paths[0])
        }
        several => {
            let lines = several.iter().flat_map(|(entry, paths)| {
                let head = format!("conflicts with {}:", entry.describe());
                std::iter::once(head).chain(paths.iter().map(|path| format!("- {path}")))
            });
            format!("Apply failed with {} conflicts: {}", causes.len(), lines.collect::<Vec<_>>().join("\n"))
        }
    };
    Err(Status::apply_conflict(causes, message))
}
