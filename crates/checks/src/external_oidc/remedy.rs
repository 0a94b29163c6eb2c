//! What could be done about a ruling, as data: which object, which change, which proofs, what stands in the way.
//!
//! Invariants:
//! - everything here but the switch to OIDC is some operator's work, and stays blocked until the config hands it over;
//! - a delete follows from a verdict that only complete lists give, and names those lists;
//! - nothing is written that would keep kube-apiserver from starting, or every user from logging in.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::NAME;
use super::availability::Availability;
use super::check;
use super::conditions::cause;
use super::console::{is_named, wanted_authority, wanted_secret};
use super::context::{CheckContext, config_maps, secret_marks};
use super::facts::{BundleOwner, OperatorComplaint};
use super::names::{
    AUTH_CONFIG, AUTH_CONFIG_KEY, AUTHENTICATION, AUTHENTICATION_OPERATOR, CA_KEY, CONFIG_MAP, CONFIG_NAMESPACE,
    CONSOLE_NAMESPACE, CONSOLE_OPERATOR, CONSOLE_SECRET, CUSTOM_RESOURCE_DEFINITION, FEATURE_GATE, KAS_NAMESPACE,
    KUBE_API_SERVER, MANAGED_NAMESPACE, OAUTH_API_NAMESPACE, RESTRICTIONS_CRD, ROLE_BINDING_RESTRICTION, SECRET,
    by_name,
};
use super::oauth::{OauthCopy, webhook_copy_id};
use super::ruling::Ruling;
use super::settings::{CrdRemoval, Hands, Settings};
use super::stack::{PARTS, Part};
use super::subjects::ResolvedSubject;
use super::switch;
use super::verdict::{Code, Verdict};
use trueup_core::engine::{
    ActionDraft, ApplyChange, Blocked, CONSEQUENCE, Change, Dependency, GateName, Reason, Stake, Target, Undo,
};
use trueup_core::world::{CollectionId, Meta, Resource};

/// The actions a ruling calls for.
pub fn actions(
    settings: &Settings,
    context: &CheckContext<'_>,
    subject: &ResolvedSubject,
    ruling: &Ruling,
) -> Vec<ActionDraft> {
    let hands = Hand { settings, context, subject };
    let action = match (subject, ruling.verdict) {
        (ResolvedSubject::AuthConfig, Verdict::Missing | Verdict::Drift) => hands.write_auth_config(),
        (ResolvedSubject::AuthConfig, Verdict::Extra) => hands.delete_file(MANAGED_NAMESPACE, Operator::Authentication),
        (ResolvedSubject::KasCopy, Verdict::Missing | Verdict::Drift) => hands.write_kas_copy(),
        (ResolvedSubject::KasCopy, Verdict::Extra) => hands.delete_file(KAS_NAMESPACE, Operator::KubeApiServer),
        (ResolvedSubject::Part(part), Verdict::Leftover) => hands.delete_part(part),
        (ResolvedSubject::Restrictions, Verdict::Removable) if hands.removes_definitions() => hands.delete_definition(),
        (ResolvedSubject::OauthCopy(copy), Verdict::Leftover) => hands.delete_oauth_copy(*copy),
        (ResolvedSubject::ConsoleCa { name }, Verdict::Missing | Verdict::Drift) => hands.copy_authority(name),
        (ResolvedSubject::ConsoleCa { name }, Verdict::Leftover) => hands.delete_authority(name),
        (ResolvedSubject::ConsoleSecret, Verdict::Leftover) => hands.delete_console_secret(),
        (ResolvedSubject::Authentication, _) => switch::draft(settings, context),
        // Everything else is right, not known, or not ours to mend.
        (
            ResolvedSubject::AuthConfig
            | ResolvedSubject::Rollout
            | ResolvedSubject::ObservedConfig
            | ResolvedSubject::KasCopy
            | ResolvedSubject::Part(_)
            | ResolvedSubject::Restrictions
            | ResolvedSubject::ConsoleCa { .. }
            | ResolvedSubject::ConsoleSecret
            | ResolvedSubject::OauthCopy(_)
            | ResolvedSubject::Namespace(_)
            | ResolvedSubject::Operator(_)
            | ResolvedSubject::Client { .. },
            _,
        ) => None,
    };
    // What undo put back is not ticked again.
    let is_restored = ruling.codes.contains(&Code::Restored.as_str());
    let action = action.map(|draft| ActionDraft { selected: draft.selected && !is_restored, ..draft });
    action.into_iter().collect()
}

/// Whose work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    Authentication,
    KubeApiServer,
    Console,
}

impl Operator {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "the authentication operator",
            Self::KubeApiServer => "kube-apiserver's operator",
            Self::Console => "the console operator",
        }
    }

    pub fn resource(self) -> Resource {
        match self {
            Self::Authentication => AUTHENTICATION_OPERATOR,
            Self::KubeApiServer => KUBE_API_SERVER,
            Self::Console => CONSOLE_OPERATOR,
        }
    }

    /// What it complains of, the gravest first.
    pub fn complaints<'a>(self, context: &CheckContext<'a>) -> &'a [OperatorComplaint] {
        match self {
            Self::KubeApiServer => context.kube_api_server.seen.map_or(&[], |kas| &kas.complaints),
            Self::Authentication | Self::Console => {
                context.operator_status(self).map_or(&[], |status| &status.complaints)
            }
        }
    }
}

/// The line that says how many API servers a new revision restarts.
pub fn restarts(context: &CheckContext<'_>) -> String {
    let servers = match context.kube_api_server.seen.map(|kas| kas.nodes.len()) {
        None | Some(0) => "the API servers (how many is not known)".to_owned(),
        Some(1) => "1 API server".to_owned(),
        Some(nodes) => format!("{nodes} API servers"),
    };
    format!("{CONSEQUENCE}restarts {servers}, one node after another")
}

struct Hand<'s, 'a> {
    settings: &'s Settings,
    context: &'s CheckContext<'a>,
    subject: &'s ResolvedSubject,
}

impl Hand<'_, '_> {
    fn write_auth_config(&self) -> Option<ActionDraft> {
        let wanted = self.context.checked().ok()?.rendered.as_ref()?;
        Some(self.write_file(MANAGED_NAMESPACE, wanted, Operator::Authentication))
    }

    fn write_kas_copy(&self) -> Option<ActionDraft> {
        let wanted = self.context.auth_config(MANAGED_NAMESPACE).seen?.auth_config.as_deref()?;
        Some(self.write_file(KAS_NAMESPACE, wanted, Operator::KubeApiServer))
    }

    fn write_file(&self, namespace: &'static str, wanted: &str, operator: Operator) -> ActionDraft {
        let held = self.context.auth_config(namespace).seen;
        let before = held.and_then(|file| file.auth_config.as_deref());
        let target = self.target(CONFIG_MAP, Some(namespace), AUTH_CONFIG, held.map(|file| &file.meta));
        let mut draft = self.write(target, AUTH_CONFIG_KEY, before.map(pretty).as_deref(), &pretty(wanted), operator);
        draft.change = applied(AUTH_CONFIG_KEY, wanted);
        draft.blocked_by.extend(self.harmful());
        self.restarting(draft)
    }

    /// A new auth-config is a new revision on every control plane node, and decides who can log in.
    fn restarting(&self, draft: ActionDraft) -> ActionDraft {
        let diff = format!("{}, and changes who can log in\n{}", restarts(self.context), draft.diff);
        ActionDraft { stake: draft.stake.max(Stake::Ownership), diff, ..draft }
    }

    fn removes_definitions(&self) -> bool {
        self.settings.hands == Hands::On && self.settings.crd_removal == CrdRemoval::Offered
    }

    /// Only once no revision needs it: its removal makes a new revision.
    fn delete_oauth_copy(&self, copy: OauthCopy) -> Option<ActionDraft> {
        if *self.context.availability() != Availability::Available {
            return None;
        }
        let meta = self.context.oauth_copy(copy).seen?;
        let (resource, collection) = match copy {
            OauthCopy::Webhook => (SECRET, webhook_copy_id(self.context.name())),
            OauthCopy::Metadata => (CONFIG_MAP, config_maps(self.context.name(), KAS_NAMESPACE)),
        };
        let target = self.target(resource, Some(KAS_NAMESPACE), copy.name(), Some(meta));
        let operator = Operator::KubeApiServer;
        let proofs = vec![
            format!("{} calls its copy in {KAS_NAMESPACE} {}", operator.as_str(), copy.name()),
            format!("namespace {KAS_NAMESPACE} is reserved for the platform"),
        ];
        let mut rests_on = self.availability_rests_on();
        rests_on.push(collection);
        let draft = self.delete(target, Reason::OidcAvailable, proofs, rests_on, operator, meta);
        let diff = format!("{}\n{}", restarts(self.context), draft.diff);
        Some(ActionDraft { stake: Stake::Ownership, diff, ..draft })
    }

    fn copy_authority(&self, name: &str) -> Option<ActionDraft> {
        let wanted = self.context.bundle(CONFIG_NAMESPACE, name).seen?.text.as_deref()?;
        let held = self.context.bundle(CONSOLE_NAMESPACE, name).seen;
        let before = held.and_then(|bundle| bundle.text.as_deref());
        let target = self.target(CONFIG_MAP, Some(CONSOLE_NAMESPACE), name, held.map(|bundle| &bundle.meta));
        Some(self.write(target, CA_KEY, before, wanted, Operator::Console))
    }

    fn delete_file(&self, namespace: &'static str, operator: Operator) -> Option<ActionDraft> {
        let file = self.context.auth_config(namespace).seen?;
        let target = self.target(CONFIG_MAP, Some(namespace), AUTH_CONFIG, Some(&file.meta));
        let proofs = vec![
            format!("{} calls what it writes in {namespace} {AUTH_CONFIG}", operator.as_str()),
            format!("namespace {namespace} is reserved for the platform"),
        ];
        let rests_on = vec![config_maps(self.context.name(), namespace), self.all(AUTHENTICATION)];
        Some(self.restarting(self.delete(target, Reason::OidcNotWanted, proofs, rests_on, operator, &file.meta)))
    }

    fn delete_part(&self, part: &'static Part) -> Option<ActionDraft> {
        let mark = self.context.part(part).seen?;
        let target = self.target(part.resource, part.namespace, part.name, Some(&mark.meta));
        let mut rests_on = self.availability_rests_on();
        rests_on.push(part.collection(self.context.name()));
        let draft =
            self.delete(target, Reason::OidcAvailable, part.proofs(), rests_on, Operator::Authentication, &mark.meta);
        Some(ActionDraft { depends_on: self.before(part), ..draft })
    }

    /// The leftovers of the same side whose turn comes right before.
    fn before(&self, part: &Part) -> Vec<Dependency> {
        let is_leftover = |other: &&'static Part| {
            self.context.ruling(&ResolvedSubject::Part(other)).is_some_and(|ruling| ruling.verdict == Verdict::Leftover)
        };
        let comes_before = |other: &&'static Part| other.side() == part.side() && other.turn < part.turn;
        let earlier: Vec<&'static Part> = PARTS.iter().filter(comes_before).filter(is_leftover).collect();
        let last = earlier.iter().map(|part| part.turn).max();
        let subject = |part: &'static Part| ResolvedSubject::Part(part).subject(self.context.name());
        let waits_for = earlier.into_iter().filter(|part| Some(part.turn) == last);
        waits_for.map(|part| Dependency { finding: subject(part), order: 0 }).collect()
    }

    fn delete_definition(&self) -> Option<ActionDraft> {
        let mark = self.context.restrictions_definition().seen?;
        let target = self.target(CUSTOM_RESOURCE_DEFINITION, None, RESTRICTIONS_CRD, Some(&mark.meta));
        let proofs = vec![
            "it is the definition OpenShift ships under this name".to_owned(),
            "the API group authorization.openshift.io is the platform's".to_owned(),
        ];
        let mut rests_on = self.availability_rests_on();
        rests_on.push(by_name(self.context.name(), CUSTOM_RESOURCE_DEFINITION, RESTRICTIONS_CRD));
        rests_on.push(self.all(ROLE_BINDING_RESTRICTION).metadata());
        let draft = self.delete(target, Reason::OidcAvailable, proofs, rests_on, Operator::Authentication, &mark.meta);
        Some(ActionDraft { selected: false, stake: Stake::Irreversible, ..draft })
    }

    fn delete_authority(&self, name: &str) -> Option<ActionDraft> {
        let bundle = self.context.bundle(CONSOLE_NAMESPACE, name).seen?;
        let target = self.target(CONFIG_MAP, Some(CONSOLE_NAMESPACE), name, Some(&bundle.meta));
        let mut proofs = Vec::new();
        if bundle.holds_ca_alone() {
            proofs.push(format!("it holds {CA_KEY} alone, as the console operator's copies do"));
        }
        if is_named(self.context, name) {
            proofs.push("a provider of Authentication/cluster names a CA like it".to_owned());
        }
        if bundle.owner == BundleOwner::Console {
            proofs.push("its owner is the console operator's configuration".to_owned());
        }
        if self.context.bundle(CONFIG_NAMESPACE, name).seen.is_some() {
            proofs.push(format!("a bundle of this name is in {CONFIG_NAMESPACE}"));
        }
        let wanted = wanted_authority(self.context) == Some(name);
        let mut rests_on = vec![config_maps(self.context.name(), CONSOLE_NAMESPACE), self.all(AUTHENTICATION)];
        rests_on.extend(wanted.then(|| config_maps(self.context.name(), CONFIG_NAMESPACE)));
        let reason = if wanted { Reason::SourceRemoved } else { Reason::NoReferrer };
        Some(self.delete(target, reason, proofs, rests_on, Operator::Console, &bundle.meta))
    }

    /// The console's pods mount it, so it is never selected by default.
    fn delete_console_secret(&self) -> Option<ActionDraft> {
        let mark = self.context.secret_mark(CONSOLE_NAMESPACE, CONSOLE_SECRET).seen?;
        let target = self.target(SECRET, Some(CONSOLE_NAMESPACE), CONSOLE_SECRET, Some(&mark.meta));
        let proofs = vec![
            "the console operator calls its client secret so".to_owned(),
            format!("namespace {CONSOLE_NAMESPACE} is reserved for the platform"),
        ];
        let mut rests_on = vec![secret_marks(self.context.name(), CONSOLE_NAMESPACE), self.all(AUTHENTICATION)];
        rests_on.extend(wanted_secret(self.context).map(|_| secret_marks(self.context.name(), CONFIG_NAMESPACE)));
        let draft = self.delete(target, Reason::NoReferrer, proofs, rests_on, Operator::Console, &mark.meta);
        Some(ActionDraft { selected: false, ..draft })
    }

    /// A server-side apply of one key. Other keys stay as they are.
    fn write(&self, target: Target, key: &str, before: Option<&str>, after: &str, operator: Operator) -> ActionDraft {
        let is_new = target.uid.is_none();
        ActionDraft {
            reason: if is_new { Reason::Missing } else { Reason::Differs },
            diff: text_diff(key, before, after),
            undo: if is_new { Undo::DeleteWhatWasCreated } else { Undo::RestoreFromBackup },
            rests_on: vec![self.all(AUTHENTICATION)],
            ..self.draft(applied(key, after), target, Stake::Reversible, operator)
        }
    }

    fn delete(
        &self,
        target: Target,
        reason: Reason,
        ownership: Vec<String>,
        rests_on: Vec<CollectionId>,
        operator: Operator,
        meta: &Meta,
    ) -> ActionDraft {
        let diff = described(&target);
        let draft = self.draft(Change::Delete, target, Stake::DeleteWithBackup, operator);
        let mut blocked_by = draft.blocked_by.clone();
        if meta.is_terminating() {
            blocked_by.push(Blocked { gate: GateName::Deleting, why: "already being deleted".to_owned() });
        }
        ActionDraft { reason, ownership, diff, undo: Undo::RestoreFromBackup, rests_on, blocked_by, ..draft }
    }

    fn draft(&self, change: Change, target: Target, stake: Stake, operator: Operator) -> ActionDraft {
        let blocked_by = self.operator_owned(operator).into_iter().collect();
        ActionDraft { stake, blocked_by, ..ActionDraft::new(NAME, target, change, Reason::Missing) }
    }

    fn operator_owned(&self, operator: Operator) -> Option<Blocked> {
        match self.settings.hands {
            Hands::On => None,
            Hands::Off => {
                let who = operator.as_str();
                let because = cause(self.context, self.subject);
                let why = format!("{who} looks after this (hand it over with manage = true); {because}");
                Some(Blocked { gate: GateName::OperatorOwned, why })
            }
        }
    }

    /// What is never proposed, whatever the settings.
    fn harmful(&self) -> Option<Blocked> {
        let why = match self.context.checked().ok()?.verdict {
            check::Verdict::Valid => return None,
            check::Verdict::Lockout => "without a provider no token would be accepted; add one first",
            check::Verdict::KasWouldRefuse => {
                "kube-apiserver would not start with it; fix Authentication/cluster first"
            }
            check::Verdict::Invalid => "the Authentication is invalid; fix it first",
            check::Verdict::Unknown => "whether kube-apiserver would start with it is not known",
        };
        Some(Blocked { gate: GateName::OperatorOwned, why: why.to_owned() })
    }

    /// What the answer "OIDC is available" was read from.
    fn availability_rests_on(&self) -> Vec<CollectionId> {
        let claims = self.context.claims_sourcing() == Ok(true);
        let files = if claims { OAUTH_API_NAMESPACE } else { KAS_NAMESPACE };
        vec![
            self.all(AUTHENTICATION),
            self.all(FEATURE_GATE),
            self.all(KUBE_API_SERVER),
            config_maps(self.context.name(), files),
        ]
    }

    fn all(&self, resource: Resource) -> CollectionId {
        CollectionId::all(self.context.name(), resource)
    }

    fn target(&self, resource: Resource, namespace: Option<&str>, name: &str, meta: Option<&Meta>) -> Target {
        Target {
            cluster: self.context.name().clone(),
            resource,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            uid: meta.map(|meta| meta.uid.clone()),
            version: meta.map(|meta| meta.version.clone()),
            cloud: None,
        }
    }
}

/// The object as a person reads it.
fn described(target: &Target) -> String {
    let mut lines = vec![
        format!("apiVersion: {}", target.resource.api_version()),
        format!("kind: {}", target.resource.kind),
        "metadata:".to_owned(),
    ];
    lines.extend(target.namespace.as_ref().map(|namespace| format!("  namespace: {namespace}")));
    lines.push(format!("  name: {}", target.name));
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

/// One key of a ConfigMap, before and after, line by line.
fn text_diff(key: &str, before: Option<&str>, after: &str) -> String {
    let sign = if before.is_some() { ' ' } else { '+' };
    let mut diff = format!("  data:\n{sign}   {key}: |\n");
    let before = before.unwrap_or_default();
    for change in TextDiff::from_lines(before, after).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        diff.push_str(&format!("{sign}     {}\n", change.value().trim_end_matches('\n')));
    }
    diff
}

/// JSON as people read it; what is none as it is.
fn pretty(json: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(json);
    value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.to_owned())
}

/// New text under one key.
fn applied(key: &str, text: &str) -> Change {
    Change::Apply(ApplyChange { data: [(key.to_owned(), text.to_owned())].into(), ..ApplyChange::default() })
}
