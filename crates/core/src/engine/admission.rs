//! Admission: what of a plan may be approved, before anybody is asked. Pure.
//!
//! Invariants:
//! - expiry, tier, gates, verdicts and the brake are computed again; what the file says is compared and never believed;
//! - an action that depends on a refused or excluded action is refused (gate `dependency`);
//! - a foreign plan is refused unless the user accepts it, and is T4 throughout then.
//!
//! Elsewhere: comparing one action (`recheck`), asking (`approve`), the same check before every wave (`executor`).

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::action::{Blocked, GateName};
use super::approve::{Chosen, ClusterQuestion, Refusal, RefusalClass, approval_tier, questions_for, reached};
use super::gate::{Group, over_brake};
use super::mark::Provenance;
use super::plan::{Action, PLAN_TTL, PLAN_TTL_MAX, Plan, TargetRecord};
use super::recheck::{Current, Difference, RecheckResult, preview_difference, recheck};
use super::tier::Tier;

/// What the user asks for.
#[derive(Debug, Clone)]
pub struct ApplyRequest {
    pub chosen: Chosen,
    pub provenance: Provenance,
    pub foreign: ForeignPlan,
    pub limits: PlanLimits,
    /// Actions of this plan that an earlier, broken-off run has sent, by this machine's journal. The executor reads their
    /// results; they are not judged again.
    pub sent_earlier: BTreeSet<String>,
}

/// Whether a plan without a valid mark may be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignPlan {
    Refuse,
    /// `--foreign-plan`.
    Accept,
}

/// How long plans may be valid (`[safety]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// `plan_ttl`: the default of `--valid-for`, and the most a foreign plan may claim.
    pub ttl: SignedDuration,
    /// `plan_ttl_max`: the most any plan may claim.
    pub ttl_max: SignedDuration,
}

/// A plan with what may be approved of it.
#[must_use = "an admission that is not approved changes nothing"]
#[derive(Debug)]
pub struct Admission {
    plan: Plan,
    provenance: Provenance,
    /// One for each action, in the plan's order.
    admitted: Vec<Admitted>,
}

/// Whether an action may be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    NotChosen,
    Applicable,
    /// Chosen, and not as the plan says. Never [`RecheckResult::Same`].
    Refused(RecheckResult),
}

impl Default for PlanLimits {
    fn default() -> Self {
        Self { ttl: PLAN_TTL, ttl_max: PLAN_TTL_MAX }
    }
}

/// Checks what can be checked without the live world: id, version and validity.
///
/// # Errors
/// The plan is not what its id says, of another version, expired, from the future, valid for too long, or foreign and not
/// accepted.
pub fn check_whole(
    plan: &Plan,
    provenance: Provenance,
    foreign: ForeignPlan,
    limits: PlanLimits,
    now: Timestamp,
) -> Result<(), Refusal> {
    plan.verify_id().map_err(|_| Refusal::Altered)?;
    let here = env!("CARGO_PKG_VERSION");
    if plan.engine != here {
        return Err(Refusal::OtherEngine { made_by: plan.engine.clone(), here: here.to_owned() });
    }
    if plan.created_at > now {
        return Err(Refusal::NotYet { created_at: plan.created_at });
    }
    if now >= plan.expires_at {
        return Err(Refusal::Expired { since: plan.expires_at });
    }
    let most = match provenance {
        Provenance::Here => limits.ttl_max,
        Provenance::Foreign => limits.ttl.min(limits.ttl_max),
    };
    let valid_for = plan.expires_at.duration_since(plan.created_at);
    if valid_for > most {
        return Err(Refusal::ValidTooLong { valid_for, most });
    }
    match (provenance, foreign) {
        (Provenance::Foreign, ForeignPlan::Refuse) => Err(Refusal::Foreign),
        (Provenance::Foreign, ForeignPlan::Accept) | (Provenance::Here, _) => Ok(()),
    }
}

/// Decides which chosen actions of a plan may be approved.
///
/// # Errors
/// The plan as a whole is refused ([`check_whole`]), or an action is named that does not exist or is blocked.
pub fn admit(plan: Plan, request: &ApplyRequest, current: Current<'_>, now: Timestamp) -> Result<Admission, Refusal> {
    let ApplyRequest { chosen, provenance, foreign, limits, sent_earlier } = request;
    check_whole(&plan, *provenance, *foreign, *limits, now)?;
    let places = places(&plan, chosen)?;
    let judged = |(place, action): (usize, &Action)| {
        if !places.contains(&place) {
            return Admitted::NotChosen;
        }
        if sent_earlier.contains(&action.id) {
            return Admitted::Applicable;
        }
        match recheck(&plan, action, current) {
            RecheckResult::Same => match (*provenance, preview_difference(action, current)) {
                (Provenance::Foreign, Some(field)) => {
                    Admitted::Refused(RecheckResult::Differs(Difference::Preview { field }))
                }
                (Provenance::Foreign, None) | (Provenance::Here, _) => Admitted::Applicable,
            },
            refused @ (RecheckResult::Differs(_) | RecheckResult::Blocked(_) | RecheckResult::Stricter { .. }) => {
                Admitted::Refused(refused)
            }
        }
    };
    let mut admitted: Vec<Admitted> = plan.actions.iter().enumerate().map(judged).collect();
    pull_brake(&plan, current, sent_earlier, &mut admitted);
    refuse_dependents(&plan, &mut admitted);
    Ok(Admission { plan, provenance: *provenance, admitted })
}

impl Admission {
    /// Admits the chosen actions as the plan says, for tests of what follows an approval.
    ///
    /// # Errors
    /// The plan expired, or an action is named that does not exist or is blocked.
    #[cfg(any(test, feature = "testing"))]
    pub fn as_planned(plan: Plan, chosen: &Chosen, now: Timestamp) -> Result<Self, Refusal> {
        let limits = PlanLimits::default();
        check_whole(&plan, Provenance::Here, ForeignPlan::Refuse, limits, now)?;
        let places = places(&plan, chosen)?;
        let one = |place: usize| if places.contains(&place) { Admitted::Applicable } else { Admitted::NotChosen };
        let admitted = (0..plan.actions.len()).map(one).collect();
        Ok(Self { plan, provenance: Provenance::Here, admitted })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// Every action of the plan and whether it may be approved, in the plan's order.
    pub fn actions(&self) -> impl Iterator<Item = (&Action, &Admitted)> {
        self.plan.actions.iter().zip(&self.admitted)
    }

    /// The chosen actions that may be approved.
    pub fn applicable(&self) -> impl Iterator<Item = &Action> {
        self.actions().filter(|(_, admitted)| **admitted == Admitted::Applicable).map(|(action, _)| action)
    }

    /// The chosen actions that may not, with the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&Action, &RecheckResult)> {
        self.actions().filter_map(|(action, admitted)| match admitted {
            Admitted::Refused(why) => Some((action, why)),
            Admitted::NotChosen | Admitted::Applicable => None,
        })
    }

    /// Why each refused action cannot be applied, a line each.
    pub fn refusal_lines(&self) -> Vec<String> {
        self.refused()
            .map(|(action, why)| format!("{} refused: {}", action.id, why.message().unwrap_or_default()))
            .collect()
    }

    /// What approval asks for, cluster by cluster.
    pub fn questions(&self) -> Vec<ClusterQuestion> {
        let places = (0..self.admitted.len()).filter(|place| self.admitted[*place] == Admitted::Applicable);
        questions_for(&self.plan, &places.collect(), self.provenance)
    }

    /// What approval would have asked for before the chosen actions were judged again.
    pub(super) fn chosen_questions(&self) -> Vec<ClusterQuestion> {
        let places = (0..self.admitted.len()).filter(|place| self.admitted[*place] != Admitted::NotChosen);
        questions_for(&self.plan, &places.collect(), self.provenance)
    }

    /// The tier an action is approved at.
    pub fn tier(&self, action: &Action) -> Tier {
        approval_tier(action, self.provenance)
    }

    /// The clusters that the applicable actions write to or copy from.
    pub fn reached(&self) -> Vec<&TargetRecord> {
        reached(&self.plan, self.applicable())
    }

    /// How the caller reacts when nothing is applicable: stale when every chosen action is, else refused for safety. Nothing
    /// when nothing was refused.
    pub fn refusal_class(&self) -> Option<RefusalClass> {
        let mut refused = self.refused().peekable();
        refused.peek()?;
        let is_stale = |(_, why): (&Action, &RecheckResult)| why.is_stale();
        Some(if refused.all(is_stale) { RefusalClass::Stale } else { RefusalClass::Safety })
    }
}

/// Where the chosen actions stand in the plan.
///
/// A delete that only the brake blocks can be named: the brake is counted again, over the chosen deletes.
///
/// # Errors
/// An action is named that does not exist or is blocked, or an action has no target record.
pub(super) fn places(plan: &Plan, chosen: &Chosen) -> Result<BTreeSet<usize>, Refusal> {
    let runs = |place: &usize| plan.actions[*place].selected && plan.actions[*place].blocked_by.is_empty();
    let places: BTreeSet<usize> = match chosen {
        Chosen::Selected => (0..plan.actions.len()).filter(runs).collect(),
        Chosen::Except(ids) => {
            let mut excluded = BTreeSet::new();
            for id in ids {
                match members_of(plan, id) {
                    members if members.is_empty() => {
                        excluded.insert(place_of(plan, id)?);
                    }
                    members => excluded.extend(members),
                }
            }
            (0..plan.actions.len()).filter(runs).filter(|place| !excluded.contains(place)).collect()
        }
        Chosen::Only(ids) => {
            let mut only = BTreeSet::new();
            for id in ids {
                only.extend(open_places(plan, id)?);
            }
            only
        }
    };
    let has_target = |action: &Action| plan.targets.iter().any(|target| target.cluster == action.cluster);
    match places.iter().map(|place| &plan.actions[*place]).find(|action| !has_target(action)) {
        Some(action) => Err(Refusal::NoTarget { action: action.id.clone(), cluster: action.cluster.clone() }),
        None => Ok(places),
    }
}

fn place_of(plan: &Plan, id: &str) -> Result<usize, Refusal> {
    let place = plan.actions.iter().position(|action| action.id == id);
    place.ok_or_else(|| Refusal::NoSuchAction { action: id.to_owned() })
}

/// Where the actions of a group stand; empty when no group has the name.
fn members_of(plan: &Plan, group: &str) -> Vec<usize> {
    let is_member = |(_, action): &(usize, &Action)| action.group.as_deref() == Some(group);
    plan.actions.iter().enumerate().filter(is_member).map(|(place, _)| place).collect()
}

/// Where the action of this id stands, or those of a group that are not blocked.
///
/// # Errors
/// Nothing has the name, or all that it names is blocked.
fn open_places(plan: &Plan, name: &str) -> Result<Vec<usize>, Refusal> {
    let members = members_of(plan, name);
    let open: Vec<usize> = members.iter().copied().filter(|place| plan.actions[*place].blocked_by.is_empty()).collect();
    match members.first() {
        None => open_place(plan, name).map(|place| vec![place]),
        Some(first) if open.is_empty() => open_place(plan, &plan.actions[*first].id).map(|place| vec![place]),
        Some(_) => Ok(open),
    }
}

fn open_place(plan: &Plan, id: &str) -> Result<usize, Refusal> {
    let place = place_of(plan, id)?;
    match plan.actions[place].blocked_by.iter().find(|blocked| blocked.gate != GateName::Brake) {
        None => Ok(place),
        Some(blocked) => {
            Err(Refusal::Blocked { action: id.to_owned(), gate: blocked.gate.as_str(), why: blocked.why.clone() })
        }
    }
}

/// Counts the brake over the chosen deletes, by what a plan built now knows of them. A delete that the plan shows as T4 is
/// approved as T4: that is what `--max-deletes` makes of it.
fn pull_brake(plan: &Plan, current: Current<'_>, sent_earlier: &BTreeSet<String>, admitted: &mut [Admitted]) {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for (place, action) in plan.actions.iter().enumerate() {
        let counts =
            admitted[place] == Admitted::Applicable && action.is_delete() && !sent_earlier.contains(&action.id);
        let Some(cluster) = current.names.get(&action.cluster).filter(|_| counts) else { continue };
        let Some(now) = current.fresh.offered(action, cluster).filter(|now| !now.reason.is_one_intent()) else {
            continue;
        };
        groups.extend(current.fresh.groups.get(&now.id).map(|group| (place, group.clone())));
    }
    let mut counts: BTreeMap<Group, u64> = BTreeMap::new();
    for group in groups.values() {
        *counts.entry(group.clone()).or_default() += 1;
    }
    let over = over_brake(&counts, &current.fresh.managed);
    for (place, group) in groups {
        if let Some(blocked) = over.get(&group).filter(|_| plan.actions[place].tier < Tier::T4) {
            admitted[place] = Admitted::Refused(RecheckResult::Blocked(vec![blocked.clone()]));
        }
    }
}

/// Refuses what depends on an action that is not applicable, until nothing changes.
fn refuse_dependents(plan: &Plan, admitted: &mut [Admitted]) {
    let places: BTreeMap<&str, usize> = plan.actions.iter().map(|action| action.id.as_str()).zip(0..).collect();
    loop {
        let mut is_settled = true;
        for (place, action) in plan.actions.iter().enumerate() {
            if admitted[place] != Admitted::Applicable {
                continue;
            }
            let applicable =
                |id: &String| places.get(id.as_str()).is_some_and(|place| admitted[*place] == Admitted::Applicable);
            let Some(missing) = action.depends_on.iter().find(|id| !applicable(id)) else { continue };
            let excluded = places.get(missing.as_str()).is_none_or(|place| admitted[*place] == Admitted::NotChosen);
            let what = if excluded { "is not selected" } else { "is refused" };
            let why = format!("it depends on {missing}, which {what}");
            let blocked = Blocked { gate: GateName::Dependency, why };
            admitted[place] = Admitted::Refused(RecheckResult::Blocked(vec![blocked]));
            is_settled = false;
        }
        if is_settled {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
