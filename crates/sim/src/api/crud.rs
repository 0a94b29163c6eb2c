//! Reading one object and creating it.
//!
//! Invariants: checks run in the order of kube-apiserver, so that the same one of several errors is reported.
//!
//! Elsewhere: replacing (`update`), patches (`patch`), deletes (`delete`). The order is that of
//! `registry/generic/registry/store.go` and `endpoints/handlers/create.go` in `k8s.io/apiserver` v0.36.3.

use std::sync::Arc;

use serde_json::Value;

use super::call::{Call, kind_of, match_namespace, refuse_if_any};
use super::content;
use super::kinds::{Content, Generation, GroupResource};
use super::managed::Managed;
use super::meta;
use super::status::{Cause, Refused, Status};
use super::store::{self, Stored};
use super::update::next_managed;
use super::validate;
use super::{Reply, Server};

/// Attempts at a generated name; the same limit as in kube-apiserver.
const NAME_ATTEMPTS_MAX: usize = 8;

/// Owners of a new object's fields.
pub enum Ownership {
    /// The writer owns all fields it set.
    Writer,
    /// An apply has computed them.
    Applied(Managed),
}

impl Server {
    pub(super) fn get(&self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        self.check_not_ahead(call.request.query.get("resourceVersion").unwrap_or(""), Status::unexpected)?;
        let collection = self.store.collection(call.collection);
        let key = call.key();
        let found = match call.lag {
            0 => collection.get(&key),
            lag => collection.get_at(&key, self.lagging(lag, collection.forgotten())),
        };
        call.reply(200, found.ok_or_else(|| call.not_found())?)
    }

    pub(super) fn create(&mut self, call: &Call<'_>) -> Result<Reply, Refused> {
        call.form()?;
        call.check_options("CreateOptions")?;
        let mut object = content::decode(&call.kind, call.request)?;
        for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            meta::of_mut(&mut object).remove(field);
        }
        match_namespace(call, &mut object)?;
        let stored = self.create_object(call, object, Ownership::Writer)?;
        call.reply_value(201, &stored)
    }

    /// Creates an object, with a generated name if requested.
    pub(super) fn create_object(
        &mut self,
        call: &Call<'_>,
        object: Value,
        ownership: Ownership,
    ) -> Result<Value, Refused> {
        self.admit_create(call, &object)?;
        let generated = meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
        let attempts = if generated { NAME_ATTEMPTS_MAX } else { 1 };
        let mut taken = String::new();
        for _ in 0..attempts {
            let mut candidate = object.clone();
            if generated {
                let name = self.minter.name(meta::text(&object, "generateName"));
                meta::set_text(&mut candidate, "name", &name);
            }
            let name = meta::name(&candidate).to_owned();
            self.complete_new(call, &mut candidate);
            refuse_if_any(&kind_of(call, &candidate), &name, &validate::on_create(&call.kind, &candidate))?;
            if !call.request.is_dry_run() && !matches!(meta::resource_version(&candidate), "" | "0") {
                return Err(Status::unexpected("resourceVersion should not be set on objects to be created"));
            }
            let key = store::key(call.namespace(), &name);
            match self.store.collection(call.collection).get(&key) {
                None => return self.commit_new(call, key, candidate, ownership),
                Some(existing) if !generated => return Err(already_exists(call, &name, existing)),
                Some(_) => taken = name,
            }
        }
        Err(Status::generated_name_taken(&call.kind.of, &taken))
    }

    fn complete_new(&mut self, call: &Call<'_>, object: &mut Value) {
        content::fill_defaults(&call.kind, object);
        if call.kind.status && call.kind.rules.content != Content::Namespace {
            object.as_object_mut().map(|map| map.remove("status"));
        }
        match call.kind.rules.generation {
            Generation::Absent => meta::set_generation(object, 0),
            Generation::Spec | Generation::Content => meta::set_generation(object, 1),
        }
        meta::set_text(object, "uid", &self.minter.uid());
        meta::set_text(object, "creationTimestamp", &meta::api_time(call.now));
    }

    fn commit_new(
        &mut self,
        call: &Call<'_>,
        key: String,
        mut object: Value,
        ownership: Ownership,
    ) -> Result<Value, Refused> {
        let managed = match ownership {
            Ownership::Writer => next_managed(call, None, &mut object),
            Ownership::Applied(managed) => managed,
        };
        managed.write_into(&mut object);
        if call.request.is_dry_run() {
            return Ok(object);
        }
        self.before_definition_change(call, &mut object);
        let stored = self.store.put(call.collection, key.into(), object, managed);
        Ok(stored.value.clone())
    }

    /// The namespace must exist and not be terminating.
    fn admit_create(&self, call: &Call<'_>, object: &Value) -> Result<(), Refused> {
        let namespace = call.namespace();
        if namespace.is_empty() {
            return Ok(());
        }
        let Some(found) = self.namespace_object(namespace) else {
            return Err(Status::not_found(&GroupResource::new("", "namespaces"), namespace));
        };
        if found.value["status"]["phase"] != "Terminating" {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
        let names = [meta::name(object), meta::text(object, "generateName"), "Unknown"];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let mut refused = Status::forbidden(&call.kind.of, name, &why);
        if let Some(details) = &mut refused.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating",
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".into(),
            });
        }
        Err(refused)
    }

    pub(super) fn namespace_object(&self, name: &str) -> Option<&Arc<Stored>> {
        let namespaces = self.registry.find("", "v1", "namespaces")?;
        self.store.collection(namespaces.collection).get(name)
    }
}

fn already_exists(call: &Call<'_>, name: &str, existing: &Stored) -> Refused {
    let mut refused = Status::already_exists(&call.kind.of, name);
    if meta::is_deleting(&existing.value) {
        refused.message = format!("object is being deleted: {}", refused.message);
    }
    refused
}
