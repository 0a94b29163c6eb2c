//! The small rule of these histories, as a check of the product.
//!
//! An object that carries a proof of ours, is not being deleted and that no referrer of any cluster names is superfluous;
//! an object that asks for the mark lacks it until it is set; a Secret that asks to be a copy is behind while its value
//! differs from the source of its cluster.
//!
//! Invariants: the check is trusting. Incomplete lists, missing proofs and empty sets are left to the gates, so that a gate
//! that fails to shut shows as a delete.
//! Elsewhere: the independent truth about the same objects (`truth`, `forbidden`).

use std::collections::BTreeSet;

use serde_json::Value;
use trueup_checks::{CheckDescription, CheckRules, ContextCache, Ruled, Touched};
use trueup_core::engine::{
    ActionDraft, Change, CheckName, CopySource, Copying, Dependency, Explanation, Judgement, MetadataChange, Reason,
    SourceBinding, Stake, State, SubjectId, Target as DraftTarget, Undo, UpdateChange, Verb, empty_set,
};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterName, CollectionId, Digest, Fact, Interest, Interner, Key, Meta, Misfit, RawObject,
    Resource, Uid, View,
};

use super::world::{APPS, CONFIG, COPIED, MADE_BY, MARK, OURS, OWNER_LABEL, SOURCE, SOURCES, Site, Target, WANTS};

pub const NAME: CheckName = CheckName("histories");
const SECRETS: Resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/// The check.
#[derive(Debug, Clone, Default)]
pub struct RuleCheck {
    /// A target whose remedy depends on a finding that does not exist.
    pub waits: Option<Target>,
}

/// A Secret or ConfigMap that may be superfluous.
#[derive(Debug, PartialEq)]
pub struct Candidate {
    meta: Meta,
    /// The made-by annotation is ours.
    is_made_here: bool,
    value: Option<Digest>,
}

/// A ConfigMap that names candidates.
#[derive(Debug, PartialEq)]
struct Referrer {
    names: Vec<Target>,
}

/// The Secret that copies are made of.
#[derive(Debug, PartialEq)]
pub struct CopyOrigin {
    meta: Meta,
    value: Option<Digest>,
}

/// The one decision about a subject, from which judgement and explanation follow.
pub enum Ruling<'v> {
    /// Nothing to do.
    Kept(&'v Candidate),
    Superfluous(&'v Candidate),
    Unmarked(&'v Candidate),
    Behind(&'v Candidate, &'v CopyOrigin),
    /// A referrer names it, and it does not exist or is being deleted.
    Missing,
    /// Not every list of this kind or of the referrers could be read.
    Unread,
}

impl Fact for Candidate {
    const DIGESTED_KEYS: &'static [&'static str] = &[COPIED];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            is_made_here: raw.meta.annotation(MADE_BY) == Some(OURS),
            value: raw.entry(COPIED).and_then(|entry| entry.digest),
        })
    }
}

impl Fact for Referrer {
    const DIGESTED_KEYS: &'static [&'static str] = &["refs"];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let text = raw.entry("refs").and_then(|entry| entry.text.as_deref()).unwrap_or_default();
        Ok(Self { names: text.split_whitespace().filter_map(Target::parse).collect() })
    }
}

impl Fact for CopyOrigin {
    const DIGESTED_KEYS: &'static [&'static str] = &[COPIED];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let value = raw.entry(COPIED).and_then(|entry| entry.digest);
        Ok(Self { meta: Meta::project(&raw.meta, pool), value })
    }
}

impl Candidate {
    /// The independent proofs that it is ours.
    fn proofs(&self) -> Vec<String> {
        let label = (self.meta.label(OWNER_LABEL) == Some(OURS)).then(|| "the owner label".to_owned());
        label.into_iter().chain(self.is_made_here.then(|| "the made-by annotation".to_owned())).collect()
    }
}

impl RuleCheck {
    fn ruling<'v>(&self, subject: &SubjectId, view: View<'v>) -> Option<Ruling<'v>> {
        let resource = resource_of(subject.kind);
        if subject.is_whole_list() {
            let is_read = candidates(&subject.cluster, resource, view).is_complete() && is_every_referrer_read(view);
            return (!is_read).then_some(Ruling::Unread);
        }
        let target = target_of(subject)?;
        let is_named = references(view).any(|named| *named == target);
        let held = candidates(&subject.cluster, resource, view).get(&Key::new(Some(CONFIG), &subject.name)).present();
        let Some(candidate) = held else { return is_named.then_some(Ruling::Missing) };
        if candidate.meta.is_terminating() && is_named {
            return Some(Ruling::Missing);
        }
        if candidate.meta.is_terminating() || candidate.proofs().is_empty() {
            return Some(Ruling::Kept(candidate));
        }
        Some(match candidate.meta.label(WANTS) {
            Some("copy") => match copy_origin(&subject.cluster, view) {
                Some(origin) if origin.value != candidate.value => Ruling::Behind(candidate, origin),
                Some(_) | None => Ruling::Kept(candidate),
            },
            Some("mark") if candidate.meta.label(MARK).is_none() => Ruling::Unmarked(candidate),
            Some("mark") => Ruling::Kept(candidate),
            Some(_) | None if is_named => Ruling::Kept(candidate),
            Some(_) | None => Ruling::Superfluous(candidate),
        })
    }

    fn draft(&self, subject: &SubjectId, candidate: &Candidate, change: Change, view: View<'_>) -> ActionDraft {
        let resource = resource_of(subject.kind);
        let mut rests_on = vec![candidates_id(&subject.cluster, resource)];
        let verb = change.verb();
        match verb {
            Verb::Delete => rests_on.extend(view.clusters().map(|cluster| referrers_id(&cluster.name))),
            Verb::Update => rests_on.push(origin_id(&subject.cluster)),
            _ => {}
        }
        let waits = self.waits.as_ref().filter(|waits| target_of(subject).as_ref() == Some(*waits));
        let awaited = |_| Dependency { finding: SubjectId { name: "absent".to_owned(), ..subject.clone() }, order: 0 };
        let emptied = || view.clusters().find_map(|cluster| no_referrers(&cluster.name, view));
        ActionDraft {
            domain: NAME,
            restores: None,
            group: None,
            memory: None,
            managed_by: None,
            target: DraftTarget {
                cluster: subject.cluster.clone(),
                resource,
                namespace: Some(CONFIG.to_owned()),
                name: subject.name.clone(),
                uid: Some(candidate.meta.uid.clone()),
                version: Some(candidate.meta.version.clone()),
                cloud: None,
            },
            judged: None,
            source: None,
            selected: true,
            reason: match verb {
                Verb::Delete => Reason::NoReferrer,
                Verb::Update => Reason::Stale,
                _ => Reason::NotLabelled,
            },
            ownership: candidate.proofs(),
            stake: if verb == Verb::Delete { Stake::DeleteWithBackup } else { Stake::Reversible },
            diff: String::new(),
            change,
            undo: match verb {
                Verb::Delete | Verb::Update => Undo::RestoreFromBackup,
                _ => Undo::RemoveWhatWasAdded,
            },
            depends_on: waits.map(awaited).into_iter().collect(),
            rests_on,
            blocked_by: if verb == Verb::Delete { emptied().into_iter().collect() } else { Vec::new() },
        }
    }

    fn remedy(&self, subject: &SubjectId, ruling: &Ruling<'_>, view: View<'_>) -> Vec<ActionDraft> {
        let draft = match ruling {
            Ruling::Superfluous(candidate) => self.draft(subject, candidate, Change::Delete, view),
            Ruling::Unmarked(candidate) => {
                self.draft(subject, candidate, Change::Label(MetadataChange::setting([(MARK, "yes")])), view)
            }
            Ruling::Behind(candidate, origin) => {
                let Meta { uid, version, .. } = &origin.meta;
                let source = Some(SourceBinding { uid: uid.clone(), version: version.clone() });
                ActionDraft { source, ..self.draft(subject, candidate, copy_change(), view) }
            }
            Ruling::Kept(_) | Ruling::Missing | Ruling::Unread => return Vec::new(),
        };
        vec![draft]
    }
}

impl Ruling<'_> {
    fn candidate(&self) -> Option<&Candidate> {
        match self {
            Self::Kept(candidate)
            | Self::Superfluous(candidate)
            | Self::Unmarked(candidate)
            | Self::Behind(candidate, _) => Some(candidate),
            Self::Missing | Self::Unread => None,
        }
    }

    fn verdict(&self) -> (State, &'static str) {
        match self {
            Self::Kept(_) => (State::Match, "kept"),
            Self::Superfluous(_) => (State::Extra, "superfluous"),
            Self::Unmarked(_) => (State::Drift, "unmarked"),
            Self::Behind(..) => (State::Stale, "behind"),
            Self::Missing => (State::Missing, "missing"),
            Self::Unread => (State::Unknown, "unread"),
        }
    }
}

impl CheckRules for RuleCheck {
    type Fleet<'a> = ();
    type Context<'a> = ();
    type Subject<'a> = ();
    type Ruling<'a> = Ruling<'a>;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = CheckDescription::named(NAME.0);

    fn interests_of(&self, cluster: &Cluster, _: View<'_>) -> Vec<Interest> {
        let name = &cluster.name;
        vec![
            candidates_id(name, SECRETS).interest::<Candidate>(),
            candidates_id(name, CONFIG_MAPS).interest::<Candidate>(),
            referrers_id(name).interest::<Referrer>(),
            origin_id(name).interest::<CopyOrigin>(),
        ]
    }

    fn fleet<'a>(&'a self, _: View<'a>) {}

    fn context<'a>(&'a self, _: &ClusterName, _: View<'a>, (): &()) -> Option<()> {
        Some(())
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        let view = contexts.view;
        let held = |resource: Resource| {
            candidates(cluster, resource, view).iter().map(move |(key, _)| (resource.kind, key.name.to_string()))
        };
        let site = Site::of(cluster.as_str());
        let named = references(view).filter(|named| named.site == site).map(|named| (named.kind(), named.name.clone()));
        let lists = [SECRETS, CONFIG_MAPS].map(|resource| (resource.kind, "*".to_owned()));
        let all = held(SECRETS).chain(held(CONFIG_MAPS)).chain(named).chain(lists);
        let subjects = all.map(|(kind, name)| subject(cluster, kind, name));
        subjects.filter(|subject| self.ruling(subject, view).is_some()).collect()
    }

    /// A reference may be to any cluster, and the worlds are small.
    fn touched(&self, _: &ChangeSet, view: View<'_>) -> Touched {
        Touched { clusters: view.clusters().map(|cluster| cluster.name.clone()).collect(), ..Touched::default() }
    }

    fn resolve<'a>(&'a self, _: &SubjectId, _: &ContextCache<'a, Self>) -> Option<()> {
        Some(())
    }

    fn rule<'a>(&'a self, id: &SubjectId, (): &(), contexts: &ContextCache<'a, Self>) -> Option<Ruling<'a>> {
        self.ruling(id, contexts.view)
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (state, verdict) = ruled.ruling.verdict();
        let proofs = ruled.ruling.candidate().map_or(0, |candidate| candidate.proofs().len());
        let ownership_proofs = u8::try_from(proofs).expect("at most two");
        Judgement { state, verdict, codes: Vec::new(), ownership_proofs, until: None }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        let Ruled { id, contexts, subject: (), ruling } = ruled;
        Explanation {
            uid: ruling.candidate().map(|candidate: &Candidate| -> Uid { candidate.meta.uid.clone() }),
            created: None,
            summary: ruling.verdict().1.to_owned(),
            expected: Value::Null,
            actual: Value::Null,
            evidence: Vec::new(),
            remedy: contexts.check.remedy(id, ruling, contexts.view),
        }
    }
}

/// The referrers of one cluster.
pub fn referrers_id(cluster: &ClusterName) -> CollectionId {
    CollectionId::namespaced(cluster, CONFIG_MAPS, APPS)
}

fn candidates_id(cluster: &ClusterName, resource: Resource) -> CollectionId {
    CollectionId::namespaced(cluster, resource, CONFIG)
}

fn origin_id(cluster: &ClusterName) -> CollectionId {
    CollectionId::object(cluster, SECRETS, Some(SOURCES), SOURCE)
}

fn candidates<'v>(
    cluster: &ClusterName,
    resource: Resource,
    view: View<'v>,
) -> trueup_core::world::Reading<'v, Candidate> {
    view.read(&candidates_id(cluster, resource))
}

fn copy_origin<'v>(cluster: &ClusterName, view: View<'v>) -> Option<&'v CopyOrigin> {
    view.read(&origin_id(cluster)).get(&Key::new(Some(SOURCES), SOURCE)).present()
}

/// Everything any referrer names.
fn references<'v>(view: View<'v>) -> impl Iterator<Item = &'v Target> {
    view.clusters()
        .flat_map(move |cluster| view.read::<Referrer>(&referrers_id(&cluster.name)).iter())
        .flat_map(|(_, referrer)| &referrer.names)
}

fn is_every_referrer_read(view: View<'_>) -> bool {
    view.clusters().all(|cluster| view.read::<Referrer>(&referrers_id(&cluster.name)).is_complete())
}

/// Every cluster has a referrer that is never removed: a complete list without one is not believed.
fn no_referrers(cluster: &ClusterName, view: View<'_>) -> Option<trueup_core::engine::Blocked> {
    let reading = view.read::<Referrer>(&referrers_id(cluster));
    if reading.is_complete() { empty_set(reading.iter().count(), "the list of referrers") } else { None }
}

fn resource_of(kind: &str) -> Resource {
    if kind == SECRETS.kind { SECRETS } else { CONFIG_MAPS }
}

fn subject(cluster: &ClusterName, kind: &'static str, name: String) -> SubjectId {
    let (api_version, namespace) = ("v1", Some(CONFIG.to_owned()));
    SubjectId { domain: NAME, cluster: cluster.clone(), api_version, kind, namespace, name, cloud: None }
}

/// The target a subject is about; nothing for a name that says another kind.
fn target_of(subject: &SubjectId) -> Option<Target> {
    let target = Target { site: Site::of(subject.cluster.as_str()), name: subject.name.clone() };
    (target.kind() == subject.kind).then_some(target)
}

fn copy_change() -> Change {
    let source = CopySource {
        cluster: None,
        api_version: "v1".to_owned(),
        kind: SECRETS.kind.to_owned(),
        namespace: SOURCES.to_owned(),
        name: SOURCE.to_owned(),
    };
    let copy = Copying { source, keys: [(COPIED.to_owned(), COPIED.to_owned())].into(), remove: Vec::new() };
    Change::Update(UpdateChange { copy, labels: [(MARK.to_owned(), Some("yes".to_owned()))].into() })
}
