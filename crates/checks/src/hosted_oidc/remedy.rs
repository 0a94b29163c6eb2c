//! What could be done about a ruling, as data: which object, which change, which proofs, what stands in the way.

use std::collections::BTreeMap;

pub mod leftovers;

use self::leftovers::Location;
use super::NAME;
use super::conditions::speaking_of_copy;
use super::context::{CheckContext, copies_id, sources_id};
use super::facts::Copy;
use super::names::{
    AUTHENTICATION, CONTROL_PLANE, COPIES_NAMESPACE, CopyKind, HOSTED_CLUSTER, MANAGED_LABEL, OIDC_LABEL,
};
use super::ownership::{OidcMark, foreign_content, oidc_mark, proofs};
use super::ruling::Ruling;
use super::settings::{Copies, Settings};
use super::subjects::ResolvedSubject;
use super::verdict::{Code, Verdict};
use trueup_core::engine::{
    ActionDraft, ApplyChange, Blocked, Change, CopySource, Copying, GateName, MetadataChange, Reason, SourceBinding,
    Stake, Target, Undo,
};
use trueup_core::world::CollectionId;

/// The actions a ruling on a subject calls for.
pub fn of_subject(settings: &Settings, name: &str, place: &ResolvedSubject<'_>, ruling: &Ruling) -> Vec<ActionDraft> {
    let leftover = |context: &CheckContext<'_>, location: Location| {
        leftovers::delete(settings, context, location, name, place.proofs(name), ruling).into_iter().collect()
    };
    match place {
        ResolvedSubject::Copy { context, kind } => {
            let copy = context.copies(*kind).get(&context.copy_key(name)).present();
            actions(settings, context, *kind, name, copy, ruling)
        }
        ResolvedSubject::ConsoleMirror { context } => leftover(context, Location::Console),
        ResolvedSubject::ControlPlaneNamespace { context, kind } => leftover(context, Location::ControlPlane(*kind)),
        ResolvedSubject::Collection { .. } | ResolvedSubject::HostedCluster { .. } => Vec::new(),
    }
}

/// The actions a ruling on a copy calls for. `copy` is the object when it is there.
pub(super) fn actions(
    settings: &Settings,
    context: &CheckContext<'_>,
    kind: CopyKind,
    name: &str,
    copy: Option<&Copy>,
    ruling: &Ruling,
) -> Vec<ActionDraft> {
    let subject = Subject { context, kind, name, copy, ruling };
    // What was put back on purpose, or may still be in use, is not ticked.
    let is_doubtful = ruling.has(Code::Restored) || ruling.has(Code::ClientStale);
    match (ruling.verdict, copy) {
        (Verdict::OrphanCertain, Some(copy)) => vec![subject.delete(copy, !is_doubtful)],
        (Verdict::OrphanProbable, Some(copy)) => vec![subject.delete(copy, false)],
        (Verdict::Referenced, Some(_)) if ruling.codes.contains(&Code::Unlabelled) => vec![subject.label()],
        (Verdict::MissingCopy, _) if ruling.codes.contains(&Code::UserProvided) => Vec::new(),
        (Verdict::MissingCopy, _) => subject.copy_again(settings, Reason::Missing).into_iter().collect(),
        (Verdict::StaleCopy, _) => subject.copy_again(settings, Reason::Differs).into_iter().collect(),
        (
            Verdict::OrphanCertain
            | Verdict::OrphanProbable
            | Verdict::Referenced
            | Verdict::Terminating
            | Verdict::Protected
            | Verdict::Unknown
            | Verdict::SourceMissing
            | Verdict::Pending
            | Verdict::Foreign
            | Verdict::Moot
            | Verdict::Leftover
            | Verdict::Valid
            | Verdict::Invalid
            | Verdict::KasWouldRefuse
            | Verdict::Degraded,
            _,
        ) => Vec::new(),
    }
}

struct Subject<'s, 'a> {
    context: &'s CheckContext<'a>,
    kind: CopyKind,
    name: &'s str,
    copy: Option<&'s Copy>,
    ruling: &'s Ruling,
}

impl Subject<'_, '_> {
    fn delete(&self, copy: &Copy, selected: bool) -> ActionDraft {
        let blocked = foreign_content(self.kind, copy).map(|why| Blocked { gate: GateName::Ownership, why });
        ActionDraft {
            ownership: proofs(self.context, self.kind, self.name, copy),
            diff: described(self.kind, self.name, copy).iter().map(|line| format!("- {line}\n")).collect(),
            undo: Undo::RestoreFromBackup,
            blocked_by: blocked.into_iter().collect(),
            ..self.draft(Change::Delete, Reason::NoReferrer, Stake::DeleteWithBackup, selected)
        }
    }

    /// Adds the OIDC label, so that the copy will be a certain orphan once nothing names it any more.
    fn label(&self) -> ActionDraft {
        ActionDraft {
            ownership: self.copy.map_or_else(Vec::new, |copy| proofs(self.context, self.kind, self.name, copy)),
            diff: format!("  metadata:\n    labels:\n+     {OIDC_LABEL}: \"true\"\n"),
            undo: Undo::RemoveWhatWasAdded,
            ..self.draft(
                Change::Label(MetadataChange::setting([(OIDC_LABEL, "true")])),
                Reason::NotLabelled,
                Stake::Ownership,
                false,
            )
        }
    }

    /// Writes the copy the way HyperShift would, with both labels.
    fn copy_again(&self, settings: &Settings, reason: Reason) -> Option<ActionDraft> {
        let content = self.context.source_content(self.kind, self.name).present()?;
        let length = content.value.map_or(0, |value| value.length);
        let diff = match self.copy {
            None => self.created(length),
            Some(copy) => self.changed(copy, length),
        };
        Some(ActionDraft {
            source: Some(SourceBinding { uid: content.uid.clone(), version: content.version.clone() }),
            diff,
            undo: if self.copy.is_some() { Undo::RestoreFromBackup } else { Undo::DeleteWhatWasCreated },
            blocked_by: self.operator_owned(settings).into_iter().collect(),
            ..self.draft(self.copied_change(content.text.as_deref()), reason, Stake::Ownership, true)
        })
    }

    /// The labels that are written: both, unless the user opted the object out.
    fn labels(&self) -> Vec<&'static str> {
        let opted_out = self.copy.is_some_and(|copy| oidc_mark(copy) == OidcMark::OptedOut);
        if opted_out { vec![MANAGED_LABEL] } else { vec![MANAGED_LABEL, OIDC_LABEL] }
    }

    fn created(&self, length: u32) -> String {
        let mut diff = format!("+ apiVersion: v1\n+ kind: {}\n+ metadata:\n", self.kind.resource().kind);
        diff.push_str(&format!("+   namespace: {COPIES_NAMESPACE}\n+   name: {}\n+   labels:\n", self.name));
        for label in self.labels() {
            diff.push_str(&format!("+     {label}: \"true\"\n"));
        }
        diff.push_str(&format!("+ data:\n+   {}: <{length} bytes>\n", self.kind.copied_key()));
        diff
    }

    fn changed(&self, copy: &Copy, length: u32) -> String {
        let mut diff = String::new();
        let absent = self.labels().into_iter().filter(|label| copy.meta.label(label) != Some("true"));
        let lines: String = absent.map(|label| format!("+     {label}: \"true\"\n")).collect();
        if !lines.is_empty() {
            diff.push_str(&format!("  metadata:\n    labels:\n{lines}"));
        }
        let key = self.kind.copied_key();
        diff.push_str("  data:\n");
        diff.push_str(
            &copy.value(self.kind).map_or_else(String::new, |value| format!("-   {key}: <{} bytes>\n", value.length)),
        );
        diff.push_str(&format!("+   {key}: <{length} bytes, different>\n"));
        diff
    }

    /// The exact new content of a CA; of a secret only which key is taken from where.
    fn copied_change(&self, text: Option<&str>) -> Change {
        let labels = self.labels().iter().map(|label| ((*label).to_owned(), Some("true".to_owned()))).collect();
        let key = self.kind.copied_key().to_owned();
        let (cluster, namespace) =
            self.context.source_namespace().map_or(("", ""), |(cluster, ns)| (cluster.as_str(), ns));
        let resource = self.kind.resource();
        let source = CopySource {
            cluster: Some(cluster.to_owned()),
            api_version: resource.api_version(),
            kind: resource.kind.to_owned(),
            namespace: namespace.to_owned(),
            name: self.name.to_owned(),
        };
        let data = match self.kind {
            CopyKind::ConfigMap => [(key.clone(), text.unwrap_or_default().to_owned())].into(),
            CopyKind::Secret => BTreeMap::new(),
        };
        let copy = Some(Copying { source, keys: [(key.clone(), key)].into(), remove: Vec::new() });
        Change::Apply(ApplyChange { copy, data, labels })
    }

    fn operator_owned(&self, settings: &Settings) -> Option<Blocked> {
        match settings.copies {
            Copies::Manage => None,
            Copies::Observe => Some(Blocked { gate: GateName::OperatorOwned, why: self.why_operator() }),
        }
    }

    fn why_operator(&self) -> String {
        let owner = "the hosted cluster config operator writes this copy (hand it over with copies = \"manage\")";
        match speaking_of_copy(self.context, self.name, self.ruling).first() {
            Some((_, complaint)) => format!("{owner}; {}", complaint.message),
            None => format!("{owner}; no condition says why"),
        }
    }

    fn draft(&self, change: Change, reason: Reason, stake: Stake, selected: bool) -> ActionDraft {
        let target = Target {
            cluster: self.context.guest.name.clone(),
            resource: self.kind.resource(),
            namespace: Some(COPIES_NAMESPACE.to_owned()),
            name: self.name.to_owned(),
            uid: self.copy.map(|copy| copy.meta.uid.clone()),
            version: self.copy.map(|copy| copy.meta.version.clone()),
            cloud: None,
        };
        ActionDraft { selected, stake, rests_on: self.rests_on(), ..ActionDraft::new(NAME, target, change, reason) }
    }

    fn rests_on(&self) -> Vec<CollectionId> {
        let mut ids = vec![copies_id(&self.context.guest.name, self.kind)];
        ids.extend(referrers(self.context, self.kind));
        ids
    }
}

/// Everything that could hold a reference to an object, or say that it is the user's own.
pub fn referrers(context: &CheckContext<'_>, kind: CopyKind) -> Vec<CollectionId> {
    let guest = &context.guest.name;
    let mut ids = vec![CollectionId::all(guest, AUTHENTICATION)];
    ids.extend(kind.referring_configs().iter().map(|config| CollectionId::all(guest, *config)));
    if let Ok(by) = &context.home {
        ids.push(HOSTED_CLUSTER.collection_at(&by.cluster, context.view));
        ids.push(CONTROL_PLANE.collection_at(&by.cluster, context.view));
    }
    // A day-2 stub protects the guest's Secret.
    if let (CopyKind::Secret, Some((cluster, namespace))) = (kind, context.source_namespace()) {
        ids.push(sources_id(cluster, kind, namespace));
    }
    ids
}

/// The object as a person reads it, secrets as lengths.
fn described(kind: CopyKind, name: &str, copy: &Copy) -> Vec<String> {
    let mut lines = vec![
        "apiVersion: v1".to_owned(),
        format!("kind: {}", kind.resource().kind),
        "metadata:".to_owned(),
        format!("  namespace: {COPIES_NAMESPACE}"),
        format!("  name: {name}"),
    ];
    let mut labels = copy.meta.shown_labels(kind.resource().kind).peekable();
    if labels.peek().is_some() {
        lines.push("  labels:".to_owned());
        lines.extend(labels.map(|(key, value)| format!("    {key}: \"{value}\"")));
    }
    if !copy.keys.is_empty() {
        lines.push("data:".to_owned());
        lines.extend(copy.keys.iter().map(|(key, length)| format!("  {key}: <{length} bytes>")));
    }
    lines
}
