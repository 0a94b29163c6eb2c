//! What could be done about a ruling, as data: the copy that is behind, the label or the owner that is missing, and what
//! stands in the way.
//!
//! Invariants: no value and no digest is in a draft. It names the source by uid and version, and says lengths, kinds
//! and times.

use super::NAME;
use super::facts::{CapiCluster, CaptPlane, Held, Holder, Mutability};
use super::judge::pair_of;
use super::names::{CAPT_PLANE, CLUSTER, CLUSTER_LABEL, KUBECONFIG, RELATIVE, SECRET, SECRET_TYPE, TOKEN_FILE, VALUE};
use super::owner::Ownership;
use super::owner_repair::{self, OwnerRepair};
use super::ruling::Ruling;
use super::source::{Source, SourceProof};
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use crate::kinds::secret_marks;
use trueup_core::engine::{
    ActionDraft, Blocked, Change, CopySource, Copying, CreateChange, GateName, Labels, MetadataChange, OwnerReference,
    Reason, SourceBinding, Stake, Target, Undo, UpdateChange,
};
use trueup_core::world::{DeletionState, Key, Uid};

/// The actions a ruling calls for.
pub fn actions<'a>(subject: &Subject<'a>, ruling: &Ruling<'a>) -> Vec<ActionDraft> {
    match subject.sort {
        Sort::Capi => {}
        Sort::User | Sort::Hosted => return Vec::new(),
    }
    let draft = Draft { subject, ruling, cluster: subject.cluster() };
    let mut actions = Vec::new();
    if let (true, Source::Good { key, holder, .. }) = (ruling.has(Verdict::BehindSource), &ruling.source) {
        match ruling.target {
            Some(target) => actions.push(draft.update(target, key, holder)),
            None => actions.extend(draft.create(key, holder)),
        }
    }
    let relabels =
        actions.iter().any(|action| action.change.content().is_some_and(|content| !content.labels.is_empty()));
    match ruling.target {
        Some(target) if ruling.codes.contains(&Code::Label) && !relabels => actions.push(draft.label(target)),
        Some(_) | None => {}
    }
    let owned = ruling.target.filter(|_| owner_repair::is_wanted(ruling));
    let repair = owned.and_then(|target| Some((target, owner_repair::find(subject, ruling, target)?)));
    actions.extend(repair.map(|(target, repair)| draft.re_own(target, repair)));
    actions
}

struct Draft<'s, 'a> {
    subject: &'s Subject<'a>,
    ruling: &'s Ruling<'a>,
    cluster: &'s str,
}

impl<'a> Draft<'_, 'a> {
    fn update(&self, target: &Holder, key: &Key, source: &Holder) -> ActionDraft {
        let mut blocked_by = self.blocked(target, Touched::Data);
        blocked_by.extend(self.twin_gate());
        let labels = self.labels(target);
        // A blocked update blocks the label too.
        let relabels = !labels.is_empty() && target.mutability == Mutability::Mutable;
        let labels = if relabels { self.cluster_label() } else { Labels::new() };
        let change = Change::Update(UpdateChange { copy: self.copy(key, self.followers(target)), labels });
        ActionDraft {
            source: Some(SourceBinding { uid: source.meta.uid.clone(), version: source.meta.version.clone() }),
            ownership: self.proofs(target),
            diff: self.updated(target, source, relabels),
            undo: Undo::RestoreFromBackup,
            blocked_by,
            selected: self.is_proven(),
            ..self.draft(change, Reason::Stale, Some(target))
        }
    }

    /// A new Secret as the contract wants it, when there is an owner for it.
    fn create(&self, key: &Key, source: &Holder) -> Option<ActionDraft> {
        let owner = self.owner()?;
        let mut blocked_by = self.cluster_gates();
        blocked_by.extend(self.twin_gate());
        let change = Change::Create(CreateChange {
            copy: self.copy(key, Vec::new()),
            labels: self.cluster_label(),
            content_type: Some(SECRET_TYPE.to_owned()),
            owner: Some(owner),
        });
        Some(ActionDraft {
            source: Some(SourceBinding { uid: source.meta.uid.clone(), version: source.meta.version.clone() }),
            diff: self.created(source),
            undo: Undo::DeleteWhatWasCreated,
            blocked_by,
            selected: self.is_proven(),
            ..self.draft(change, Reason::Missing, None)
        })
    }

    fn label(&self, target: &Holder) -> ActionDraft {
        let held = target.meta.shown_label(SECRET.kind, CLUSTER_LABEL);
        let removed = held.map_or_else(String::new, |held| format!("-     {CLUSTER_LABEL}: \"{held}\"\n"));
        ActionDraft {
            ownership: self.proofs(target),
            diff: format!("  metadata:\n    labels:\n{removed}+     {CLUSTER_LABEL}: \"{}\"\n", self.cluster),
            undo: Undo::RemoveWhatWasAdded,
            blocked_by: self.blocked(target, Touched::Metadata),
            ..self.draft(
                Change::Label(MetadataChange::setting([(CLUSTER_LABEL, self.cluster)])),
                Reason::NotLabelled,
                Some(target),
            )
        }
    }

    /// A patch of the owner references.
    fn re_own(&self, target: &Holder, repair: OwnerRepair) -> ActionDraft {
        let OwnerRepair { change, reason, diff, judged } = repair;
        let mut draft = ActionDraft {
            ownership: self.proofs(target),
            diff,
            judged: Some(judged),
            stake: Stake::Ownership,
            undo: Undo::RestoreFromBackup,
            blocked_by: self.blocked(target, Touched::Metadata),
            ..self.draft(change, reason, Some(target))
        };
        draft.target.version = None;
        draft
    }

    /// Whether the source is known to be this cluster's.
    fn is_proven(&self) -> bool {
        match &self.ruling.source {
            Source::Good { proof, .. } => *proof == SourceProof::Proven,
            Source::None
            | Source::NotKnown(_)
            | Source::Missing { .. }
            | Source::Invalid { .. }
            | Source::Another { .. }
            | Source::Stale { .. } => false,
        }
    }

    /// An unproven source may be that of another cluster of the same name.
    fn twin_gate(&self) -> Option<Blocked> {
        let Source::Good { proof: SourceProof::Unproven { twin_gap: Some(gap) }, .. } = &self.ruling.source else {
            return None;
        };
        let why = format!("another cluster named {} cannot be ruled out: {gap}", self.cluster);
        Some(blocked(GateName::NotComplete, why))
    }

    /// Which key is taken from where, and which keys would disagree afterwards.
    fn copy(&self, source: &Key, remove: Vec<&str>) -> Copying {
        Copying {
            source: CopySource {
                cluster: Some(self.subject.context.cluster.name.to_string()),
                api_version: SECRET.api_version(),
                kind: SECRET.kind.to_owned(),
                namespace: source.namespace.as_ref().map(ToString::to_string).unwrap_or_default(),
                name: source.name.to_string(),
            },
            keys: [(VALUE.to_owned(), KUBECONFIG.to_owned())].into(),
            remove: remove.into_iter().map(str::to_owned).collect(),
        }
    }

    fn cluster_label(&self) -> Labels {
        [(CLUSTER_LABEL.to_owned(), Some(self.cluster.to_owned()))].into()
    }

    /// Keys that carry the old token beside `value`. The source has no such keys: without the old ones no client takes a
    /// token from them that `value` no longer has.
    fn followers(&self, target: &Holder) -> Vec<&'static str> {
        let all = [(RELATIVE, target.relative), (TOKEN_FILE, target.token_file)];
        all.into_iter().filter_map(|(key, length)| length.map(|_| key)).collect()
    }

    fn labels(&self, target: &Holder) -> Vec<&'static str> {
        if target.meta.label(CLUSTER_LABEL) == Some(self.cluster) { Vec::new() } else { vec![CLUSTER_LABEL] }
    }

    fn updated(&self, target: &Holder, source: &Holder, relabels: bool) -> String {
        let mut diff = String::new();
        if relabels {
            let held = target.meta.shown_label(SECRET.kind, CLUSTER_LABEL);
            let removed = held.map_or_else(String::new, |held| format!("-     {CLUSTER_LABEL}: \"{held}\"\n"));
            diff += &format!("  metadata:\n    labels:\n{removed}+     {CLUSTER_LABEL}: \"{}\"\n", self.cluster);
        }
        diff += "  data:\n";
        diff += &match &target.value {
            Held::Absent => String::new(),
            Held::Empty => format!("-   {VALUE}: <0 bytes>\n"),
            Held::Written { .. } => format!("-   {VALUE}: {}\n", described(self.subject.sort, target, &target.value)),
        };
        diff += &format!("+   {VALUE}: {}\n", described_source(source));
        let followers = [(RELATIVE, target.relative), (TOKEN_FILE, target.token_file)];
        for (key, length) in followers.into_iter().filter_map(|(key, length)| Some((key, length?))) {
            diff += &format!("-   {key}: <{length} bytes>\n");
        }
        diff
    }

    fn created(&self, source: &Holder) -> String {
        let (namespace, name) = (self.subject.namespace(), &self.subject.key.name);
        format!(
            "+ apiVersion: v1\n+ kind: Secret\n+ type: {SECRET_TYPE}\n+ metadata:\n+   namespace: {namespace}\n\
             +   name: {name}\n+   labels:\n+     {CLUSTER_LABEL}: \"{}\"\n+   ownerReferences:\n\
             +   - {} {}\n+ data:\n+   {VALUE}: {}\n",
            self.cluster,
            CAPT_PLANE.kind,
            self.cluster,
            described_source(source)
        )
    }

    /// The control plane that would own a new Secret.
    fn owner(&self) -> Option<OwnerReference> {
        owner_repair::controller(self.subject).filter(|owner| owner.kind == CAPT_PLANE.kind)
    }

    fn plane(&self) -> Option<&'a CaptPlane> {
        self.subject.owners.plane.seen
    }

    fn capi_cluster(&self) -> Option<&'a CapiCluster> {
        self.subject.owners.cluster.seen
    }

    fn blocked(&self, target: &Holder, touched: Touched) -> Vec<Blocked> {
        let mut gates = Vec::new();
        if touched == Touched::Data && target.mutability == Mutability::Immutable {
            gates.push(blocked(GateName::Immutable, "the Secret is immutable; delete it so that it is recreated"));
        }
        if *target.secret_type != *SECRET_TYPE {
            let why = format!(
                "its type is {}, which cannot be changed; delete it so that it is recreated as {SECRET_TYPE}",
                target.secret_type
            );
            gates.push(blocked(GateName::Type, why));
        }
        if let Ownership::Another { owner } = &self.ruling.ownership {
            gates.push(blocked(GateName::Ownership, format!("it is controlled by {owner}, which writes it itself")));
        }
        gates.extend(self.cluster_gates());
        if target.meta.is_terminating() && !gates.iter().any(|gate| gate.gate == GateName::Deleting) {
            gates.push(blocked(GateName::Deleting, "the Secret is being deleted"));
        }
        gates
    }

    /// What the cluster's own objects say against touching anything of it.
    fn cluster_gates(&self) -> Vec<Blocked> {
        let owners = [
            self.capi_cluster().map(|cluster| (CLUSTER.kind, cluster.pause, cluster.deletion_state)),
            self.plane().map(|plane| (CAPT_PLANE.kind, plane.pause, plane.deletion_state)),
        ];
        let owners: Vec<_> = owners.into_iter().flatten().collect();
        let mut gates = Vec::new();
        if let Some((kind, ..)) = owners.iter().find(|(_, pause, _)| pause.is_paused()) {
            gates.push(blocked(GateName::Paused, format!("the {kind} is paused: resume it first")));
        }
        if let Some((kind, ..)) =
            owners.iter().find(|(.., deletion_state)| *deletion_state == DeletionState::Terminating)
        {
            gates.push(blocked(GateName::Deleting, format!("the {kind} is being deleted")));
        }
        gates
    }

    /// Why the Secret is known to be this cluster's.
    fn proofs(&self, target: &Holder) -> Vec<String> {
        let mut proofs = Vec::new();
        if target.meta.label(CLUSTER_LABEL) == Some(self.cluster) {
            proofs.push(format!("label {CLUSTER_LABEL}={}", self.cluster));
        }
        if *target.secret_type == *SECRET_TYPE {
            proofs.push(format!("type {SECRET_TYPE}"));
        }
        if self.ruling.ownership == Ownership::Fine && !target.owners.is_empty() {
            proofs.push("owned by its own cluster's objects".to_owned());
        }
        proofs
    }

    fn draft(&self, change: Change, reason: Reason, target: Option<&Holder>) -> ActionDraft {
        let context = &self.subject.context.cluster.name;
        let namespace = self.subject.namespace();
        let target = Target {
            cluster: context.clone(),
            resource: SECRET,
            namespace: Some(namespace.as_str().to_owned()),
            name: self.subject.key.name.as_str().to_owned(),
            uid: target.map(|target| target.meta.uid.clone()).filter(|uid: &Uid| !uid.is_empty()),
            version: target.map(|target| target.meta.version.clone()),
            cloud: None,
        };
        let mut rests_on =
            vec![secret_marks(context, namespace.as_str()), CLUSTER.collection(self.subject.context.cluster)];
        // Another cluster of the same name may be a control plane alone.
        let is_about_twins = matches!(self.ruling.source, Source::Good { proof: SourceProof::Unproven { .. }, .. });
        if is_about_twins && self.subject.context.planes.is_served() {
            rests_on.push(CAPT_PLANE.collection(self.subject.context.cluster));
        }
        ActionDraft { rests_on, ..ActionDraft::new(NAME, target, change, reason) }
    }
}

/// What an action changes of a Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touched {
    Data,
    Metadata,
}

fn blocked(gate: GateName, why: impl Into<String>) -> Blocked {
    Blocked { gate, why: why.into() }
}

/// `<1840 bytes, EKS token, until at most 2026-11-16T10:12:00Z>`
pub fn described(sort: Sort, holder: &Holder, held: &Held) -> String {
    let Held::Written { value, .. } = held else { return "<0 bytes>".to_owned() };
    let length = value.length;
    let Some(credential) = pair_of(sort, holder).map(|pair| &pair.credential) else {
        return format!("<{length} bytes>");
    };
    let (kind, words) = (credential.kind(), credential.until_message());
    match credential.span().until {
        None => format!("<{length} bytes, {kind}>"),
        Some(until) => format!("<{length} bytes, {kind}, {words} {until}>"),
    }
}

fn described_source(source: &Holder) -> String {
    described(Sort::Hosted, source, &source.kubeconfig)
}
