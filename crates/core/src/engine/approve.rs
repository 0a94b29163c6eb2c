//! Approval: the one way from an admitted plan to a plan that may be applied.
//!
//! Invariants:
//! - an [`ApprovedPlan`] is made by [`approve`] alone, from an [`Admission`];
//! - an action that is blocked or was not admitted is in none of them;
//! - answers are compared byte by byte, so that names that only look alike differ.
//!
//! Elsewhere: what may be approved at all (`admission`), asking (`cli`, `console`), what changed since (`executor`).

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::admission::{Admission, places};
use super::mark::Provenance;
use super::plan::{Action, Plan, TargetRecord};
use super::recheck::RecheckResult;
use super::tier::Tier;

/// How much of an id's hex stands for it where little is at stake, and on screens.
pub const SHORT_ID: usize = 8;

const ID_PREFIX: &str = "sha256:";

/// Which actions of a plan are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// The selected ones that no gate blocks.
    Selected,
    /// The selected ones that no gate blocks, without these (`--exclude`), by their ids or groups.
    Except(BTreeSet<String>),
    /// These, by their ids or groups (`--only`).
    Only(BTreeSet<String>),
}

/// What one cluster asks for before anything is written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterQuestion {
    pub cluster: String,
    /// The highest among its chosen actions.
    pub tier: Tier,
    pub deletions: usize,
    /// The ids of its chosen actions, in the plan's order.
    pub actions: Vec<String>,
    pub asks: Asks,
    /// Where the plan was made: a prompt says so when it was elsewhere.
    pub provenance: Provenance,
}

/// The word that has to be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    Enter,
    Deletions(usize),
    ClusterName(String),
    ClusterNameAndId { cluster: String, short_id: String },
}

/// What a person or a script answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// A line for each cluster.
    Typed(BTreeMap<String, String>),
    /// `--expect` and every `--confirm-cluster`.
    Flags { expect: Option<String>, confirmed: BTreeSet<String> },
    /// The words of Approval objects, a line for each cluster. They were given for everything that was chosen, before it
    /// was judged again.
    Objects(BTreeMap<String, String>),
    /// A rule of the configuration, which approves up to this tier, and never T4 or a foreign plan.
    Rule { tier_max: Tier },
}

/// A plan that was admitted and accepted exactly as shown.
///
/// No `Clone`, `Default` or `Deserialize`: each would be a second way to make one.
#[must_use = "an approval that is not applied was asked for in vain"]
#[derive(Debug)]
pub struct ApprovedPlan {
    admission: Admission,
    how: How,
    /// By cluster.
    typed: BTreeMap<String, String>,
    approved_at: Timestamp,
}

/// Which way the approval came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Typed,
    Flags,
    Objects,
    Rule,
}

/// Why a plan is not approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("plan was edited: its content is not the one its id names; run trueup plan --out FILE")]
    Altered,
    #[error("expired-plan: plan expired at {since}; run trueup plan --out FILE")]
    Expired { since: Timestamp },
    #[error("expired-plan: plan was created at {created_at}, which is in the future; check the clock")]
    NotYet { created_at: Timestamp },
    #[error("expired-plan: plan is valid for {valid_for:#}, at most {most:#} is allowed; run trueup plan --out FILE")]
    ValidTooLong { valid_for: SignedDuration, most: SignedDuration },
    #[error("plan was not made with this state folder, or was edited; review it and pass --foreign-plan")]
    Foreign,
    #[error("plan was made by version {made_by}, this is {here}; run trueup plan --out FILE")]
    OtherEngine { made_by: String, here: String },
    #[error("--expect names {expected}, and this plan is {found}")]
    OtherId { expected: String, found: String },
    #[error("without a terminal, --expect has to name the plan: --expect {enough}")]
    NotExpected { enough: String },
    #[error("{cluster} has a {tier} action, which asks for the whole id: --expect {whole}")]
    ShortId { cluster: String, tier: Tier, whole: String },
    #[error("{cluster} has a T4 action, which asks for --confirm-cluster {cluster}")]
    NotConfirmed { cluster: String },
    #[error("{cluster}: not approved: the answer is not the word that was asked for; nothing was sent")]
    WrongAnswer { cluster: String },
    #[error("{cluster} has a {tier} action, and the rule approves up to {tier_max}; approve it with an Approval")]
    BeyondRule { cluster: String, tier: Tier, tier_max: Tier },
    #[error("plan has no action {action}")]
    NoSuchAction { action: String },
    #[error("{action} is blocked by {gate}: {why}")]
    Blocked { action: String, gate: &'static str, why: String },
    #[error("{action}: its cluster or account {cluster} is not a target of the plan")]
    NoTarget { action: String, cluster: String },
    /// Every chosen action was refused: a line each.
    #[error("{}; run trueup plan --out FILE", .refused.join("; "))]
    NothingAdmitted { refused: Vec<String>, class: RefusalClass },
}

/// How the caller reacts to a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalClass {
    /// Exit code 4.
    Stale,
    /// Exit code 3.
    Safety,
    /// Exit code 1.
    Usage,
}

impl Refusal {
    pub fn class(&self) -> RefusalClass {
        match self {
            Self::Altered
            | Self::Expired { .. }
            | Self::NotYet { .. }
            | Self::ValidTooLong { .. }
            | Self::OtherEngine { .. }
            | Self::OtherId { .. } => RefusalClass::Stale,
            Self::NotExpected { .. } | Self::NoSuchAction { .. } => RefusalClass::Usage,
            Self::Foreign
            | Self::ShortId { .. }
            | Self::NotConfirmed { .. }
            | Self::WrongAnswer { .. }
            | Self::BeyondRule { .. }
            | Self::Blocked { .. }
            | Self::NoTarget { .. } => RefusalClass::Safety,
            Self::NothingAdmitted { class, .. } => *class,
        }
    }
}

/// What approval would ask for, cluster by cluster, in the order of their names, for a plan that was made here.
///
/// # Errors
/// An action is named that does not exist or is blocked.
pub fn questions(plan: &Plan, chosen: &Chosen) -> Result<Vec<ClusterQuestion>, Refusal> {
    Ok(questions_for(plan, &places(plan, chosen)?, Provenance::Here))
}

/// Approves the admitted actions of a plan.
///
/// # Guarantees
/// Nothing is approved that was not admitted.
///
/// # Errors
/// The plan expired meanwhile; every chosen action was refused; an answer is missing or wrong.
pub fn approve(admission: Admission, answers: &Answers, now: Timestamp) -> Result<ApprovedPlan, Refusal> {
    let plan = admission.plan();
    if now >= plan.expires_at {
        return Err(Refusal::Expired { since: plan.expires_at });
    }
    let questions = admission.questions();
    if let Some(class) = admission.refusal_class().filter(|_| questions.is_empty()) {
        return Err(Refusal::NothingAdmitted { refused: admission.refusal_lines(), class });
    }
    let asked = match answers {
        Answers::Objects(_) => admission.chosen_questions(),
        Answers::Typed(_) | Answers::Flags { .. } | Answers::Rule { .. } => questions,
    };
    let how = check_answers(plan, &asked, answers)?;
    let typed = match answers {
        Answers::Typed(lines) => {
            lines.iter().map(|(cluster, line)| (cluster.clone(), line.trim().to_owned())).collect()
        }
        Answers::Flags { .. } | Answers::Objects(_) | Answers::Rule { .. } => BTreeMap::new(),
    };
    Ok(ApprovedPlan { admission, how, typed, approved_at: now })
}

/// Whether answers are what the questions of a plan ask for. Approves nothing.
///
/// # Errors
/// An answer is missing or wrong.
pub fn check_answers(plan: &Plan, questions: &[ClusterQuestion], answers: &Answers) -> Result<How, Refusal> {
    match answers {
        Answers::Typed(lines) => check_typed(questions, lines).map(|()| How::Typed),
        Answers::Flags { expect, confirmed } => {
            check_flags(plan, questions, expect.as_deref(), confirmed).map(|()| How::Flags)
        }
        Answers::Objects(lines) => check_typed(questions, lines).map(|()| How::Objects),
        Answers::Rule { tier_max } => check_rule(questions, *tier_max).map(|()| How::Rule),
    }
}

/// The hex of a plan's id, cut to what people read.
pub fn short_id(id: &str) -> &str {
    let hex = hex_of(id);
    hex.get(..SHORT_ID).unwrap_or(hex)
}

impl ApprovedPlan {
    pub fn plan(&self) -> &Plan {
        self.admission.plan()
    }

    pub fn how(&self) -> How {
        self.how
    }

    /// What was typed to approve the actions of a cluster; nothing where a key press was enough.
    pub fn typed(&self, cluster: &str) -> Option<&str> {
        self.typed.get(cluster).map(String::as_str).filter(|typed| !typed.is_empty())
    }

    pub fn approved_at(&self) -> Timestamp {
        self.approved_at
    }

    /// The approved actions, in the plan's order.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.admission.applicable()
    }

    /// The chosen actions that were not admitted, with the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&Action, &RecheckResult)> {
        self.admission.refused()
    }

    /// The tier an action was approved at.
    pub fn tier(&self, action: &Action) -> Tier {
        self.admission.tier(action)
    }

    /// The clusters that are written to.
    pub fn targets(&self) -> Vec<&TargetRecord> {
        let named: BTreeSet<&str> = self.actions().map(|action| action.cluster.as_str()).collect();
        self.plan().targets.iter().filter(|target| named.contains(target.cluster.as_str())).collect()
    }

    /// The clusters that are written to, and those that something is copied from.
    pub fn reached(&self) -> Vec<&TargetRecord> {
        reached(self.plan(), self.actions())
    }
}

/// The clusters that actions write to or copy from.
pub(super) fn reached<'p>(plan: &'p Plan, actions: impl Iterator<Item = &'p Action>) -> Vec<&'p TargetRecord> {
    let named: BTreeSet<&str> = actions
        .flat_map(|action| {
            let source = action.change.copying().and_then(|copying| copying.source.cluster.as_deref());
            [Some(action.cluster.as_str()), source]
        })
        .flatten()
        .collect();
    plan.targets.iter().filter(|target| named.contains(target.cluster.as_str())).collect()
}

impl Chosen {
    /// The actions that are meant. A blocked action is among them only when it is named itself, and not by its group.
    pub fn actions<'p>(&'p self, plan: &'p Plan) -> impl Iterator<Item = &'p Action> {
        plan.actions.iter().filter(move |action| {
            let runs = action.selected && action.blocked_by.is_empty();
            let is_grouped = |ids: &BTreeSet<String>| action.group.as_ref().is_some_and(|group| ids.contains(group));
            match self {
                Self::Selected => runs,
                Self::Except(ids) => runs && !ids.contains(&action.id) && !is_grouped(ids),
                Self::Only(ids) => ids.contains(&action.id) || (is_grouped(ids) && action.blocked_by.is_empty()),
            }
        })
    }
}

impl ClusterQuestion {
    /// Whether a typed line is the word that was asked for.
    pub fn accepts(&self, line: &str) -> bool {
        line == self.asks.word()
    }
}

impl Asks {
    /// What a tier asks for.
    pub fn of(tier: Tier, cluster: &str, deletions: usize, plan_id: &str) -> Self {
        let cluster = cluster.to_owned();
        match tier {
            Tier::T0 | Tier::T1 => Self::Enter,
            Tier::T2 => Self::Deletions(deletions),
            Tier::T3 => Self::ClusterName(cluster),
            Tier::T4 => Self::ClusterNameAndId { cluster, short_id: short_id(plan_id).to_owned() },
        }
    }

    /// The line that is the right answer.
    pub fn word(&self) -> String {
        match self {
            Self::Enter => String::new(),
            Self::Deletions(count) => count.to_string(),
            Self::ClusterName(cluster) => cluster.clone(),
            Self::ClusterNameAndId { cluster, short_id } => format!("{cluster} {short_id}"),
        }
    }
}

impl Answers {
    /// The answer of a script that gave these flags.
    pub fn flags(expect: Option<String>, confirmed: impl IntoIterator<Item = String>) -> Self {
        Self::Flags { expect, confirmed: confirmed.into_iter().collect() }
    }
}

pub(super) fn questions_for(plan: &Plan, places: &BTreeSet<usize>, provenance: Provenance) -> Vec<ClusterQuestion> {
    let mut by_cluster: BTreeMap<&str, Vec<&Action>> = BTreeMap::new();
    for action in places.iter().map(|place| &plan.actions[*place]) {
        by_cluster.entry(&action.cluster).or_default().push(action);
    }
    by_cluster.into_iter().map(|(cluster, actions)| question(plan, cluster, &actions, provenance)).collect()
}

fn question(plan: &Plan, cluster: &str, actions: &[&Action], provenance: Provenance) -> ClusterQuestion {
    let tier = actions.iter().map(|action| approval_tier(action, provenance)).max().unwrap_or(Tier::T0);
    let deletions = actions.iter().filter(|action| action.is_delete()).count();
    let asks = Asks::of(tier, cluster, deletions, &plan.id);
    let ids = actions.iter().map(|action| action.id.clone()).collect();
    ClusterQuestion { cluster: cluster.to_owned(), tier, deletions, actions: ids, asks, provenance }
}

/// The tier an action is approved at: a foreign plan is T4 throughout.
pub(super) fn approval_tier(action: &Action, provenance: Provenance) -> Tier {
    match provenance {
        Provenance::Here => action.tier,
        Provenance::Foreign => Tier::T4,
    }
}

fn check_typed(questions: &[ClusterQuestion], lines: &BTreeMap<String, String>) -> Result<(), Refusal> {
    for question in questions {
        if !lines.get(&question.cluster).is_some_and(|line| question.accepts(line)) {
            return Err(Refusal::WrongAnswer { cluster: question.cluster.clone() });
        }
    }
    Ok(())
}

/// A rule approves what was made here, up to its tier and at most T3.
fn check_rule(questions: &[ClusterQuestion], tier_max: Tier) -> Result<(), Refusal> {
    let tier_max = tier_max.min(Tier::T3);
    match questions.iter().find(|question| question.tier > tier_max || question.provenance == Provenance::Foreign) {
        Some(ClusterQuestion { cluster, tier, .. }) => {
            Err(Refusal::BeyondRule { cluster: cluster.clone(), tier: *tier, tier_max })
        }
        None => Ok(()),
    }
}

fn check_flags(
    plan: &Plan,
    questions: &[ClusterQuestion],
    expect: Option<&str>,
    confirmed: &BTreeSet<String>,
) -> Result<(), Refusal> {
    let Some(highest) = questions.iter().max_by_key(|question| question.tier) else { return Ok(()) };
    let whole = highest.tier >= Tier::T3;
    let Some(expect) = expect else {
        let enough = if whole { plan.id.clone() } else { short_id(&plan.id).to_owned() };
        return Err(Refusal::NotExpected { enough });
    };
    let (said, hex) = (hex_of(expect), hex_of(&plan.id));
    if said.len() < SHORT_ID || !hex.starts_with(said) {
        return Err(Refusal::OtherId { expected: expect.to_owned(), found: plan.id.clone() });
    }
    if whole && said != hex {
        let (cluster, tier) = (highest.cluster.clone(), highest.tier);
        return Err(Refusal::ShortId { cluster, tier, whole: plan.id.clone() });
    }
    let unconfirmed =
        questions.iter().find(|question| question.tier == Tier::T4 && !confirmed.contains(&question.cluster));
    match unconfirmed {
        Some(question) => Err(Refusal::NotConfirmed { cluster: question.cluster.clone() }),
        None => Ok(()),
    }
}

fn hex_of(id: &str) -> &str {
    id.strip_prefix(ID_PREFIX).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::gate::ReadOnly;
    use crate::engine::testing::{Given, delete, finding, given, label, now};
    use crate::engine::{ActionDraft, Stake, Undo};
    use crate::world::RiskClass;

    fn with(draft: ActionDraft, class: RiskClass) -> Given {
        given().finding(finding("a").draft(draft)).cluster(|cluster| cluster.class = class)
    }

    /// One plan a tier, each with one action in guest-a.
    fn plan_of(tier: Tier) -> Plan {
        let given = match tier {
            Tier::T0 => given(),
            Tier::T1 => with(label("guest-a", "a"), RiskClass::Dev),
            Tier::T2 => with(delete("guest-a", "a"), RiskClass::Dev),
            Tier::T3 => with(delete("guest-a", "a"), RiskClass::Prod),
            Tier::T4 => {
                let lasting = ActionDraft { stake: Stake::Irreversible, undo: Undo::None, ..delete("guest-a", "a") };
                with(lasting, RiskClass::Dev)
            }
        };
        let plan = given.plan();
        assert!(plan.actions.iter().all(|action| action.tier == tier), "{:?}", plan.actions);
        plan
    }

    fn typed(line: &str) -> Answers {
        Answers::Typed([("guest-a".to_owned(), line.to_owned())].into())
    }

    fn approved(plan: Plan, answers: &Answers, now: Timestamp) -> Result<ApprovedPlan, Refusal> {
        approve(Admission::as_planned(plan, &Chosen::Selected, now)?, answers, now)
    }

    #[test]
    fn each_tier_asks_for_its_own_word() {
        let short = |plan: &Plan| short_id(&plan.id).to_owned();
        let t4 = plan_of(Tier::T4);
        let t4_word = format!("guest-a {}", short(&t4));
        let cases = [
            ("T1", plan_of(Tier::T1), "", "yes"),
            ("T2", plan_of(Tier::T2), "1", ""),
            ("T2, another number", plan_of(Tier::T2), "1", "2"),
            ("T3", plan_of(Tier::T3), "guest-a", "guest-b"),
            ("T3, a letter that looks alike", plan_of(Tier::T3), "guest-a", "guest-а"),
            ("T4", t4.clone(), t4_word.as_str(), "guest-a"),
            ("T4, another id", t4, t4_word.as_str(), "guest-a 00000000"),
        ];
        for (case, plan, right, wrong) in cases {
            let refused = approved(plan.clone(), &typed(wrong), now()).unwrap_err();
            assert_eq!(refused, Refusal::WrongAnswer { cluster: "guest-a".to_owned() }, "case: {case}");
            let approved = approved(plan, &typed(right), now()).unwrap();
            assert_eq!(approved.actions().count(), 1, "case: {case}");
        }
    }

    #[test]
    fn a_plan_that_expires_between_admission_and_the_answer_is_not_approved() {
        let plan = plan_of(Tier::T1);
        let expires_at = plan.expires_at;
        let admitted = || Admission::as_planned(plan.clone(), &Chosen::Selected, now()).unwrap();
        let refused = approve(admitted(), &typed(""), expires_at).unwrap_err();
        assert_eq!(refused, Refusal::Expired { since: expires_at });
        let just_before = expires_at - SignedDuration::from_nanos(1);
        assert_eq!(approve(admitted(), &typed(""), just_before).unwrap().actions().count(), 1);
    }

    #[test]
    fn a_script_names_the_id_as_far_as_the_tier_asks() {
        let short = |plan: &Plan| short_id(&plan.id).to_owned();
        let whole = |plan: &Plan| plan.id.clone();
        type Expect = fn(&Plan) -> String;
        let cases: [(&str, Tier, Expect, &[&str], bool); 9] = [
            ("T2, eight characters", Tier::T2, short, &[], true),
            ("T2, the whole id", Tier::T2, whole, &[], true),
            ("T2, seven characters", Tier::T2, |plan| short_id(&plan.id)[..7].to_owned(), &[], false),
            ("T2, another id", Tier::T2, |_| "0123456789abcdef".to_owned(), &[], false),
            ("T3, eight characters", Tier::T3, short, &[], false),
            ("T3, the whole id", Tier::T3, whole, &[], true),
            ("T3, the whole hex", Tier::T3, |plan| hex_of(&plan.id).to_owned(), &[], true),
            ("T4, the cluster not confirmed", Tier::T4, whole, &["guest-b"], false),
            ("T4, confirmed", Tier::T4, whole, &["guest-a"], true),
        ];
        for (case, tier, expect, confirmed, passes) in cases {
            let plan = plan_of(tier);
            let answers = Answers::flags(Some(expect(&plan)), confirmed.iter().map(|name| (*name).to_owned()));
            let outcome = approved(plan, &answers, now());
            assert_eq!(outcome.is_ok(), passes, "case: {case}: {outcome:?}");
        }
        let silent = approved(plan_of(Tier::T2), &Answers::flags(None, []), now());
        assert!(matches!(silent, Err(Refusal::NotExpected { .. })), "{silent:?}");
    }

    #[test]
    fn a_plan_that_is_old_edited_or_of_another_version_is_not_approved() {
        let edited = |change: fn(&mut Plan)| {
            let mut plan = plan_of(Tier::T1);
            change(&mut plan);
            plan
        };
        let other_engine = || {
            let mut plan = edited(|plan| plan.engine = "0.0.1".to_owned());
            plan.id = plan.computed_id().unwrap();
            plan
        };
        let expires = plan_of(Tier::T1).expires_at;
        let cases = [
            ("expired", plan_of(Tier::T1), expires, Refusal::Expired { since: expires }),
            ("edited", edited(|plan| plan.actions[0].target.name.push('x')), now(), Refusal::Altered),
            (
                "another version",
                other_engine(),
                now(),
                Refusal::OtherEngine { made_by: "0.0.1".to_owned(), here: env!("CARGO_PKG_VERSION").to_owned() },
            ),
        ];
        for (case, plan, at, expected) in cases {
            assert_eq!(approved(plan, &typed(""), at).unwrap_err(), expected, "case: {case}");
        }
    }

    #[test]
    fn a_blocked_action_is_never_approved() {
        let blocked = given().finding(finding("a").deletes()).conditions(|c| c.read_only = ReadOnly::ByFlag).plan();
        let id = blocked.actions[0].id.clone();
        assert_eq!(questions(&blocked, &Chosen::Selected), Ok(Vec::new()));
        let only = questions(&blocked, &Chosen::Only([id].into()));
        assert!(matches!(only, Err(Refusal::Blocked { gate: "read-only", .. })), "{only:?}");
    }

    #[test]
    fn only_narrows_and_may_add_what_was_not_ticked() {
        let unticked = ActionDraft { selected: false, ..delete("guest-a", "b") };
        let plan = given().finding(finding("a").deletes()).finding(finding("b").draft(unticked)).plan();
        let of = |name: &str| plan.actions.iter().find(|action| action.target.name == name).unwrap().id.clone();
        let asked = |chosen: &Chosen| questions(&plan, chosen).map(|asked| asked[0].actions.clone());
        assert_eq!(asked(&Chosen::Selected), Ok(vec![of("a")]));
        assert_eq!(asked(&Chosen::Only([of("b")].into())), Ok(vec![of("b")]));
        let missing = questions(&plan, &Chosen::Only(["a99".to_owned()].into()));
        assert_eq!(missing, Err(Refusal::NoSuchAction { action: "a99".to_owned() }));
    }
}
