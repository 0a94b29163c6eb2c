//! LIST: select, page, render.
//!
//! Invariants:
//! - all pages of one list show one version of the state;
//! - items are shared with the store and serialised once, however many lists carry them;
//! - items come in key order, which is the order of the real storage.
//!
//! Elsewhere: tokens (`paging`), selectors (`selector`), tables (`table`).

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::call::{Call, refuse_if_any};
use super::field_error::{FieldError, quoted};
use super::kinds::{GroupResource, ResourceKind};
use super::media::{self, Form};
use super::meta;
use super::paging::{At, Token};
use super::request::Query;
use super::selector::{FieldSelector, LabelSelector};
use super::status::{Refused, Status};
use super::store::{Collection, Stored};
use super::{Reply, Server, in_version, store, table};

/// Selection of a list or watch.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub labels: LabelSelector,
    pub fields: FieldSelector,
    /// `namespace/`, or empty for all.
    pub prefix: String,
}

impl Selection {
    pub fn of(call: &Call<'_>) -> Result<Self, Refused> {
        let query = &call.request.query;
        let labels = LabelSelector::parse(query.get("labelSelector").unwrap_or("")).map_err(Status::bad_request)?;
        let mut fields = FieldSelector::parse(query.get("fieldSelector").unwrap_or("")).map_err(Status::bad_request)?;
        for field in fields.fields() {
            check_field(&call.kind, field)?;
        }
        if fields.exact("metadata.name").is_none() && !call.target.name.is_empty() {
            fields.require("metadata.name", &call.target.name);
        }
        let prefix = match call.namespace() {
            "" => String::new(),
            namespace => format!("{namespace}/"),
        };
        Ok(Self { labels, fields, prefix })
    }

    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub fn picks(&self, object: &Value) -> bool {
        self.is_everything() || self.labels.matches(meta::string_map(object, "labels")) && self.fields.matches(object)
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    pub items: Vec<Arc<Stored>>,
    pub version: u64,
    pub continue_token: Option<String>,
    pub remaining: Option<usize>,
}

impl Server {
    pub(super) fn list(&self, call: &Call<'_>) -> Result<Reply, Refused> {
        let form = call.form()?;
        let page = self.select(call)?;
        Ok(Reply::json(200, render(call, form, &page)))
    }

    pub(super) fn select(&self, call: &Call<'_>) -> Result<Page, Refused> {
        let query = &call.request.query;
        check_options(query)?;
        let selection = Selection::of(call)?;
        let limit = match query.get("limit").unwrap_or("") {
            "" => None,
            text => {
                let why = || format!("strconv.ParseInt: parsing {}: invalid syntax", quoted(text));
                let limit = text.parse::<i64>().map_err(|_| Status::bad_request(why()))?;
                usize::try_from(limit).ok().filter(|limit| *limit > 0)
            }
        };
        let collection = self.store.collection(call.collection);
        let (state, version, start) = self.state_for(call, collection, &selection.prefix, limit)?;
        Ok(take_page(&state, version, &start, &selection, limit))
    }

    /// The state a list reads, its version, and the key it starts at.
    fn state_for<'a>(
        &'a self,
        call: &Call<'_>,
        collection: &'a Collection,
        prefix: &str,
        limit: Option<usize>,
    ) -> Result<(Cow<'a, Collection>, u64, String), Refused> {
        let query = &call.request.query;
        let newest = self.store.version();
        let asked = query.get("resourceVersion").unwrap_or("");
        if let Some(token) = query.get("continue").filter(|token| !token.is_empty()) {
            let token =
                Token::decode(token).map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
            if !matches!(asked, "" | "0") {
                return Err(Status::bad_request("specifying resource version is not allowed when using continue"));
            }
            let start = format!("{prefix}{}", token.start.strip_prefix('/').unwrap_or(&token.start));
            return match token.at {
                At::Newest => Ok((Cow::Borrowed(collection), newest, start)),
                At::Version(version) => {
                    let state = at_version(collection, version, newest);
                    let again = Token { at: At::Newest, ..token };
                    let state = state.ok_or_else(|| Status::continue_expired(again.encode()))?;
                    Ok((state, version, start))
                }
            };
        }
        let version =
            self.check_not_ahead(asked, |why| Status::bad_request(format!("invalid resource version: {why}")))?;
        let is_exact = match query.get("resourceVersionMatch").unwrap_or("") {
            "Exact" => true,
            "" => limit.is_some() && version > 0,
            _ => false,
        };
        let version = match (is_exact, call.lag) {
            (true, _) => version,
            (false, 0) => return Ok((Cow::Borrowed(collection), newest, prefix.to_owned())),
            (false, lag) => self.lagging(lag, collection.forgotten()),
        };
        let expired = || Status::expired("The resourceVersion for the provided list is too old.");
        let state = at_version(collection, version, newest).ok_or_else(expired)?;
        Ok((state, version, prefix.to_owned()))
    }

    /// Parses a requested version; one from the future is a timeout. `refuse` builds the error for an invalid version.
    pub(super) fn check_not_ahead(&self, asked: &str, refuse: impl FnOnce(String) -> Refused) -> Result<u64, Refused> {
        if asked.is_empty() {
            return Ok(0);
        }
        let version = asked.parse::<u64>().map_err(|_| {
            let value = quoted(asked);
            let detail = format!("strconv.ParseUint: parsing {value}: invalid syntax");
            refuse(FieldError::invalid("resourceVersion", &value, &detail).sentence())
        })?;
        let newest = self.store.version();
        if version > newest { Err(Status::version_too_large(version, newest)) } else { Ok(version) }
    }

    /// The version of a replica `lag` writes behind.
    pub(super) fn lagging(&self, lag: u64, forgotten: u64) -> u64 {
        self.store.version().saturating_sub(lag).max(forgotten)
    }
}

fn at_version(collection: &Collection, version: u64, newest: u64) -> Option<Cow<'_, Collection>> {
    if version >= newest || version >= collection.forgotten() && !collection.changed_after(version) {
        return Some(Cow::Borrowed(collection));
    }
    collection.at(version).map(Cow::Owned)
}

fn take_page(state: &Collection, version: u64, start: &str, selection: &Selection, limit: Option<usize>) -> Page {
    let mut items = Vec::new();
    let mut rest = state.range_from(&selection.prefix, start);
    let mut last = None;
    for (key, item) in rest.by_ref() {
        if !selection.picks(&item.value) {
            continue;
        }
        items.push(item.clone());
        if Some(items.len()) == limit {
            last = Some(key);
            break;
        }
    }
    let left = rest.count();
    let continue_token = last.filter(|_| left > 0).map(|key| {
        let start = format!("{}\0", key.strip_prefix(&*selection.prefix).unwrap_or(key));
        Token { at: At::Version(version), start }.encode()
    });
    let remaining = continue_token.as_ref().filter(|_| selection.is_everything()).map(|_| left);
    Page { items, version, continue_token, remaining }
}

/// Renders a page; the items' serialised bytes are copied.
pub fn render(call: &Call<'_>, form: Form, page: &Page) -> Bytes {
    let api_version = call.kind.api_version();
    match form {
        Form::Object => {
            let mut metadata = list_meta(page);
            if call.kind.rules.custom && page.continue_token.is_none() {
                // Lists of custom resources have an explicit empty continue token.
                metadata["continue"] = "".into();
            }
            let head = json!({
                "kind": format!("{}List", call.kind.kind),
                "apiVersion": api_version,
                "metadata": metadata,
            });
            let items = page.items.iter().map(|item| match in_version(&item.value, &api_version) {
                Some(other) => store::to_bytes(&other),
                None if call.kind.rules.custom => item.json().clone(),
                None => item.untyped_json().clone(),
            });
            with_items(&head, items)
        }
        Form::Metadata => {
            let head = json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": list_meta(page),
            });
            if page.items.is_empty() {
                // In kube-apiserver this form has null without items, where the others have [].
                let mut empty = head;
                empty["items"] = Value::Null;
                return store::to_bytes(&empty);
            }
            with_items(&head, page.items.iter().map(|item| store::to_bytes(&media::metadata_only(&item.value))))
        }
        Form::Table(include) => table::of_page(&call.kind, page, include, call.now),
    }
}

pub fn list_meta(page: &Page) -> Value {
    let mut out = Map::new();
    out.insert("resourceVersion".into(), page.version.to_string().into());
    out.extend(page.continue_token.clone().map(|token| ("continue".into(), token.into())));
    out.extend(page.remaining.map(|count| ("remainingItemCount".into(), count.into())));
    Value::Object(out)
}

fn with_items(head: &Value, items: impl Iterator<Item = Bytes>) -> Bytes {
    let items: Vec<Bytes> = items.collect();
    let mut out = serde_json::to_vec(head).expect("a JSON value always serialises");
    out.reserve_exact(items.iter().map(|item| item.len() + 1).sum::<usize>() + 16);
    // The closing brace is replaced by the items.
    out.pop();
    out.extend_from_slice(b",\"items\":[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item);
    }
    out.extend_from_slice(b"]}");
    out.into()
}

fn check_options(query: &Query) -> Result<(), Refused> {
    let mut errors = Vec::new();
    let field = "resourceVersionMatch";
    let version = query.get("resourceVersion").unwrap_or("");
    match query.get(field).unwrap_or("") {
        "" => {}
        asked => {
            if version.is_empty() {
                let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(FieldError::forbidden(field, detail));
            }
            if !query.get("continue").unwrap_or("").is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.push(FieldError::forbidden(field, detail));
            }
            if !matches!(asked, "Exact" | "NotOlderThan") {
                errors.push(FieldError::not_supported(field, &quoted(asked), &["Exact", "NotOlderThan", ""]));
            }
            if asked == "Exact" && version == "0" {
                let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(FieldError::forbidden(field, detail));
            }
        }
    }
    if query.get("sendInitialEvents").is_some() {
        errors.push(FieldError::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    refuse_if_any(&GroupResource::new("meta.k8s.io", "ListOptions"), "", &errors)
}

/// Fields a kind can be selected by, in addition to name and namespace.
fn check_field(kind: &ResourceKind, field: &str) -> Result<(), Refused> {
    let further: &[&str] = match (&*kind.of.group, &*kind.of.resource) {
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "pods") => {
            &["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase", "status.podIP"]
        }
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        _ => &[],
    };
    if matches!(field, "metadata.name" | "metadata.namespace") || further.contains(&field) {
        return Ok(());
    }
    Err(Status::bad_request(if kind.rules.custom || !further.is_empty() {
        format!("field label not supported: {field}")
    } else {
        format!("{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", quoted(field))
    }))
}
