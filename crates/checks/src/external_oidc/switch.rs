//! Turning `spec.type` to OIDC, as an edit that a user reviews: what speaks against it is checked before.
//!
//! Invariants:
//! - it is offered only where the config asks for it, the providers are listed already, and never ticked;
//! - whatever would lock users out, or is not known, blocks it: a spec kube-apiserver refuses, no client certificates to
//!   recover with, no administrator left;
//! - the same edit takes `webhookTokenAuthenticator` away, and everything that vanishes with the OAuth server is sealed
//!   before it is sent.
//!
//! Elsewhere: whether the login of the sending user survives (the engine's gate for [`Stake::Login`]).

use serde_json::{Value, json};

use super::NAME;
use super::bound::{self, Bound};
use super::check::{Checked, Verdict};
use super::context::{CheckContext, config_maps, is_served};
use super::facts::Named;
use super::gates::{Gate, Gates};
use super::names::{
    ADMIN_CLIENT_CA, AUTHENTICATION, CLUSTER_ADMIN, CLUSTER_ROLE_BINDING, CONFIG_NAMESPACE, FEATURE_GATE, GROUP,
    IDENTITY, OAUTH_CLIENT, ROLE_BINDING_RESTRICTION, SINGLETON, USER,
};
use super::pem::latest_end;
use super::remedy::restarts;
use super::render::{filled, groups_expression, username_expression, username_prefix};
use super::settings::{Hands, Offer, Settings};
use super::spec::{AuthKind, AuthSpec, Provider};
use trueup_core::engine::{
    ActionDraft, Blocked, Change, Evidence, ExportedKind, FieldChange, GateName, Reason, Stake, Target, Undo,
    fields_diff,
};
use trueup_core::world::{CollectionId, Resource};

/// What ends to exist when the OAuth API server goes, though etcd keeps it; and what is not enforced any more.
pub const VANISHING: [Resource; 5] = [USER, GROUP, IDENTITY, OAUTH_CLIENT, ROLE_BINDING_RESTRICTION];

/// How many names a line lists before it says how many more there are.
const NAMES_MAX: usize = 8;

/// Whether the switch is offered on this cluster.
pub fn is_offered(settings: &Settings, context: &CheckContext<'_>) -> bool {
    let asked = settings.hands == Hands::On && settings.offer == Offer::Switch;
    let spec = context.authentication.seen.map(|authentication| &authentication.spec);
    asked && spec.is_some_and(|spec| !spec.is_oidc() && !spec.providers.is_empty())
}

/// The edit itself; nothing where it isn't offered.
pub fn draft(settings: &Settings, context: &CheckContext<'_>) -> Option<ActionDraft> {
    let authentication = context.authentication.seen.filter(|_| is_offered(settings, context))?;
    let export: Vec<Resource> = VANISHING.into_iter().filter(|kind| is_served(context.cluster, kind)).collect();
    let kinds = export
        .iter()
        .map(|kind| ExportedKind { api_version: kind.api_version(), kind: kind.kind.to_owned() })
        .collect();
    let patch = json!({ "spec": { "type": "OIDC", "webhookTokenAuthenticator": null } });
    let mut diff = format!("{}, and changes who can log in\n", restarts(context));
    diff.push_str(&fields_diff(&before(&authentication.spec), &patch));
    let words: Vec<&str> = export.iter().map(|kind| kind.plural).collect();
    diff.push_str(&format!("  sealed first: every object of {}\n", words.join(", ")));
    diff.push_str(&format!("  rollback: {}\n", way_back(context)));
    let all = |resource| CollectionId::all(context.name(), resource);
    let mut rests_on = vec![all(AUTHENTICATION), all(FEATURE_GATE), config_maps(context.name(), CONFIG_NAMESPACE)];
    rests_on.extend(bound::collections(context));
    let target = Target {
        cluster: context.name().clone(),
        resource: AUTHENTICATION,
        namespace: None,
        name: SINGLETON.to_owned(),
        uid: Some(authentication.meta.uid.clone()),
        version: Some(authentication.meta.version.clone()),
        cloud: None,
    };
    let change = Change::Patch(FieldChange { patch: patch.as_object().cloned().unwrap_or_default(), export: kinds });
    Some(ActionDraft {
        selected: false,
        stake: Stake::Login,
        diff,
        undo: Undo::RestoreFromBackup,
        rests_on,
        blocked_by: looked_at(context).into_iter().filter_map(|look| look.blocked).collect(),
        ..ActionDraft::new(NAME, target, change, Reason::Differs)
    })
}

/// What a person should know before.
pub fn evidence(settings: &Settings, context: &CheckContext<'_>) -> Vec<Evidence> {
    if !is_offered(settings, context) {
        return Vec::new();
    }
    let line = |message: String, object: String, field: &str| Evidence {
        message,
        object,
        field: field.to_owned(),
        resource_version: String::new(),
    };
    let authentication = || format!("{} Authentication {SINGLETON}", context.name());
    let mut lines: Vec<Evidence> =
        looked_at(context).into_iter().map(|look| line(look.message, look.object, look.field)).collect();
    let back = format!("rollback from OIDC: {}", way_back(context));
    lines.push(line(back, authentication(), "spec.type"));
    lines
}

/// What was there before, as far as the edit touches it.
fn before(spec: &AuthSpec) -> Value {
    let webhook = spec.webhook.as_ref().map(|name| json!({ "kubeConfig": { "name": name } }));
    json!({ "spec": { "type": spec.kind.as_str(), "webhookTokenAuthenticator": webhook } })
}

/// What a locked-out administrator does, with the client certificate that still works.
fn way_back(context: &CheckContext<'_>) -> String {
    let kind = match context.kind() {
        Ok(AuthKind::None) => "None",
        Ok(AuthKind::IntegratedOAuth | AuthKind::Oidc | AuthKind::Other(_)) | Err(_) => "IntegratedOAuth",
    };
    format!(
        "trueup undo, or with a client-certificate kubeconfig: oc patch authentication.config/cluster --type=merge \
         -p '{{\"spec\":{{\"type\":\"{kind}\"}}}}'; users, groups and clients come back with the OAuth server"
    )
}

/// One thing that was looked at, and what it means for the switch.
struct Look {
    message: String,
    object: String,
    field: &'static str,
    blocked: Option<Blocked>,
}

/// Everything that is checked before the switch.
fn looked_at(context: &CheckContext<'_>) -> Vec<Look> {
    let mut looks = vec![spec(context), certificates(context)];
    looks.extend(subjects(context));
    looks.extend(restrictions(context));
    looks
}

fn look(message: String, object: String, field: &'static str, blocked: Option<(GateName, &str)>) -> Look {
    let blocked = blocked.map(|(gate, why)| Blocked { gate, why: why.to_owned() });
    Look { message, object, field, blocked }
}

/// What the spec would come to with type OIDC.
fn spec(context: &CheckContext<'_>) -> Look {
    let object = format!("{} Authentication {SINGLETON}", context.name());
    let field = "spec.oidcProviders";
    let gate_is_off = context.gates.as_ref().is_ok_and(|gates| !gates.on(Gate::ExternalOidc));
    if gate_is_off {
        let why = "the feature gate ExternalOIDC is off, so the API server refuses type OIDC";
        return look(why.to_owned(), object, field, Some((GateName::OperatorOwned, why)));
    }
    let checked = match context.checked_as_oidc() {
        Ok(checked) => checked,
        Err(gap) => {
            let message = format!("what the spec would come to with type OIDC is not known: {gap}");
            return Look {
                blocked: Some(Blocked { gate: GateName::NotComplete, why: message.clone() }),
                message,
                object,
                field,
            };
        }
    };
    let Checked { verdict, problems, warnings, unknowns, .. } = &checked;
    let first = problems.first().map(|problem| format!(": {}: {}", problem.path, problem.why)).unwrap_or_default();
    let warned: Vec<&str> = warnings.iter().map(|warning| warning.code.as_str()).collect();
    let message = match verdict {
        Verdict::Valid if warned.is_empty() => "with type OIDC the spec is valid".to_owned(),
        Verdict::Valid => format!("with type OIDC the spec is valid, with warnings: {}", warned.join(", ")),
        Verdict::Unknown => format!("what the spec would come to is not known: {}", unknowns.join("; ")),
        Verdict::Lockout | Verdict::Invalid | Verdict::KasWouldRefuse => {
            format!("with type OIDC the spec is {}{first}", verdict.as_str())
        }
    };
    let gate = match verdict {
        Verdict::Valid => None,
        Verdict::Unknown => Some(GateName::NotComplete),
        Verdict::Lockout | Verdict::Invalid | Verdict::KasWouldRefuse => Some(GateName::OperatorOwned),
    };
    let blocked = gate.map(|gate| Blocked { gate, why: format!("{message}; fix the providers first") });
    Look { message, object, field, blocked }
}

/// Whether administrators can authenticate by certificate while no token is accepted.
fn certificates(context: &CheckContext<'_>) -> Look {
    let object = format!("{} ConfigMap {CONFIG_NAMESPACE}/{ADMIN_CLIENT_CA}", context.name());
    let field = "data";
    let absent = "kube-apiserver trusts no CA for administrators' client certificates, so a failed switch locks every user \
                  out; keep an admin kubeconfig with a client certificate first";
    match context.bundle(CONFIG_NAMESPACE, ADMIN_CLIENT_CA).known() {
        Err(gap) => {
            let message = format!("whether there are client certificates for administrators is not known: {gap}");
            Look {
                blocked: Some(Blocked { gate: GateName::NotComplete, why: message.clone() }),
                message,
                object,
                field,
            }
        }
        Ok(None) => look(absent.to_owned(), object, field, Some((GateName::Access, absent))),
        Ok(Some(bundle)) => match bundle.text.as_deref().and_then(latest_end).filter(|end| *end > context.view.now) {
            None => look(absent.to_owned(), object, field, Some((GateName::Access, absent))),
            Some(end) => {
                let message = format!("administrators' client certificates are trusted until {end}; have one at hand");
                look(message, object, field, None)
            }
        },
    }
}

/// What names the tokens of a provider can become.
#[derive(Debug, PartialEq, Eq)]
enum Names {
    /// All that begin so.
    Prefixed(String),
    /// Whatever the provider says.
    Any,
    None,
}

impl Names {
    fn of_users(provider: &Provider, gates: &Gates) -> Self {
        match username_expression(provider, gates) {
            Some(_) => Self::Any,
            None => Self::prefixed(username_prefix(&provider.mappings.username, provider.issuer_url())),
        }
    }

    fn of_groups(provider: &Provider, gates: &Gates) -> Self {
        match (groups_expression(provider, gates), filled(provider.mappings.groups.claim.as_deref())) {
            (Some(_), _) => Self::Any,
            (None, Some(_)) => Self::prefixed(provider.mappings.groups.prefix.clone().unwrap_or_default()),
            (None, None) => Self::None,
        }
    }

    fn prefixed(prefix: String) -> Self {
        if prefix.is_empty() { Self::Any } else { Self::Prefixed(prefix) }
    }

    fn hold(&self, name: &str) -> bool {
        match self {
            Self::Prefixed(prefix) => name.starts_with(prefix),
            Self::Any => true,
            Self::None => false,
        }
    }
}

/// Which users and groups of bindings no token can become, and whether any administrator is left.
fn subjects(context: &CheckContext<'_>) -> Vec<Look> {
    let object = || format!("{} {} and RoleBindings", context.name(), "ClusterRoleBindings");
    let field = "subjects";
    let provider = context.authentication.seen.and_then(|authentication| authentication.spec.providers.first());
    let (Some(provider), Ok(gates)) = (provider, &context.gates) else { return Vec::new() };
    if let [gap, ..] = bound::gaps(context).as_slice() {
        let message = format!("which users and groups stop matching is not known: {gap}");
        let blocked = Some(Blocked { gate: GateName::NotComplete, why: message.clone() });
        return vec![Look { message, object: object(), field, blocked }];
    }
    let (users, groups) = (Names::of_users(provider, gates), Names::of_groups(provider, gates));
    let can_be = |named: &Named| match named {
        Named::User(name) => users.hold(name),
        Named::Group(name) => groups.hold(name),
    };
    let all = bound::all(context);
    let mut stop: Vec<String> =
        all.iter().flat_map(|bound| people(bound)).filter(|named| !can_be(named)).map(Named::message).collect();
    stop.sort();
    stop.dedup();
    let stops = match stop.as_slice() {
        [] => "no binding names a user or group that stops matching for its name alone".to_owned(),
        names => format!("no token can become these any more, though bindings name them: {}", listed(names)),
    };
    let same = match (&users, &groups) {
        (Names::Prefixed(_), Names::Prefixed(_) | Names::None) => "",
        (Names::Any | Names::None, _) | (_, Names::Any) => "; the others match whom the provider calls so",
    };
    let mut looks = vec![look(format!("{stops}{same}"), object(), field, None)];
    let is_admin =
        |bound: &&Bound<'_>| bound.kind == CLUSTER_ROLE_BINDING.kind && *bound.binding.role == *CLUSTER_ADMIN;
    let mut admins: Vec<String> = all
        .iter()
        .filter(is_admin)
        .flat_map(|bound| people(bound))
        .filter(|named| can_be(named))
        .map(Named::message)
        .collect();
    admins.sort();
    admins.dedup();
    looks.push(match admins.as_slice() {
        [] => {
            let why = "no ClusterRoleBinding gives cluster-admin to a user or group that a token of the provider can \
                       become; bind one first";
            look(why.to_owned(), object(), field, Some((GateName::Access, why)))
        }
        names => look(format!("cluster-admin is bound to {}", listed(names)), object(), field, None),
    });
    looks
}

/// The users and groups that a binding names and Kubernetes does not keep for itself.
fn people<'a>(bound: &Bound<'a>) -> impl Iterator<Item = &'a Named> {
    bound.binding.named.iter().filter(|named| !named.name().starts_with("system:"))
}

fn listed(names: &[String]) -> String {
    let first = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// RoleBindingRestrictions that are not enforced from then on.
fn restrictions(context: &CheckContext<'_>) -> Option<Look> {
    let names: Vec<String> = context.restrictions().iter().map(|(key, _)| key.to_string()).collect();
    let object = format!("{} RoleBindingRestrictions", context.name());
    (!names.is_empty()).then(|| look(format!("no longer enforced: {}", listed(&names)), object, "", None))
}
