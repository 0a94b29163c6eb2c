//! The engine: findings become a plan, which says exactly what would be done and which gates block it.
//!
//! - [`Judged`] findings with their action drafts, rules and [`Conditions`] go into [`build()`]; a [`Plan`] comes out.
//! - `gate/`: rules that block an action, one function each. `tier`: how much approval it asks for.
//! - `canonical`: the one spelling a plan's id is taken over. `change`: what an action's change says. `fields`: fields as
//!   a patch names them.
//!
//! - `admission`: what of a plan may be approved. `recheck`: judging an action again. `mark`: where a plan was made.
//! - `approve`: the one way to an [`ApprovedPlan`]. [`executor`]: applies it. `undo`: the plan that reverses it.
//! - `within`: whether a plan stays within one that was reviewed.
//! - `change_record`: what changed in a session, for news and the timeline.
//! - `selector`: objects as kubectl users select them.
//! - [`text`]: text from outside, made fit to be printed.
//! - `tombstones`: recent deletions, so that a reference to a deleted object is recognized.
//! - `tag_writes`: recent changes of tags, which a search index may not have yet.
//! - [`journal`]: intents and results. [`vault`]: sealed backups.
//!
//! Invariants: everything but `executor`, `journal`, `vault` and the key of `mark` is pure. The same input gives the same bytes, in
//! whatever order it came.

mod accept;
mod action;
mod admission;
mod approve;
mod build;
mod canonical;
mod change;
mod change_record;
pub mod executor;
mod exit;
mod fields;
mod finding;
mod gate;
mod in_order;
pub use crate::world::glob;
pub mod journal;
mod judged;
mod mark;
mod origin;
mod plan;
mod preview;
mod recheck;
mod recorded_change;
mod reference;
mod rests_on;
mod selector;
mod streamed;
mod tag_writes;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
mod tier;
mod tombstones;
mod undo;
pub mod vault;
mod within;
mod written;

pub use crate::world::glob::{EmptyGlob, Glob};
pub use accept::AcceptRule;
pub use action::{
    ActionDraft, Blocked, CloudTarget, Dependency, GateName, MemoryTarget, Reason, Restores, SourceBinding, Stake,
    Target, Undo, Verb,
};
pub use admission::{Admission, Admitted, ApplyRequest, ForeignPlan, PlanLimits, admit, check_whole};
pub use approve::{
    Answers, ApprovedPlan, Asks, Chosen, ClusterQuestion, How, Refusal, RefusalClass, SHORT_ID, approve, check_answers,
    questions, short_id,
};
pub use build::{Judged, Observed, PlanInput, PlanScope, build, build_streamed};
pub use canonical::{NotCanonical, canonical_digest, canonical_text};
pub use change::{
    ApplyChange, Change, ChangeError, ContentBackup, CopySource, Copying, CreateChange, ExportedKind, FieldChange,
    Labels, MetadataChange, ObjectBackup, OwnerReference, Remember, TagChange, UpdateChange, WrittenContent,
};
pub use change_record::{ChangeRecord, LinkState, LinkStates, ListsRead, RecordedChange, RecordedVerdict};
pub use exit::{InputReading, PlanExit, plan_exit};
pub use fields::{fields_at, fields_diff, has_fields};
pub use finding::{CheckName, CloudPlace, Evidence, Explanation, Judgement, SeenFrom, State, SubjectId};
pub use gate::{
    AccessAnswer, AccessAnswers, AccessQuestion, BackupCheck, BadWindow, Conditions, DELETES_MAX, FRESH_FOR,
    FreezeWindow, KillSwitch, ManagedElsewhere, OwnLogin, PolicyEffect, PolicyRule, ReadOnly, access_questions,
    empty_set, undo_access_questions,
};
pub use in_order::in_order;
pub use judged::{JudgedFields, judged_digest};
pub use mark::{MarkKey, MarkKeyError, Provenance};
pub use origin::{BadEntry, Origin};
pub use plan::{
    Acceptance, Action, ActionFault, ActionReadError, Finding, ObservationRecord, PLAN_SCHEMA, PLAN_TTL, PLAN_TTL_MAX,
    Plan, PlanReadError, Preconditions, SourcePrecondition, Summary, TargetRecord, TargetSource,
};
pub use preview::{CONSEQUENCE, consequences, source_line};
pub use recheck::{
    Current, Difference, FreshPlan, RecheckResult, build_fresh, recheck, scan_reference, undo_difference,
};
pub use reference::{CloudRef, ObjectRef, cloud_version};
pub use rests_on::{BadCollection, CollectionRef};
pub use selector::{BadPattern, BadSelector, FieldSelector, ObjectPattern, Requirement};
pub use streamed::{Explain, Explaining, Findings, Row, StreamedPlan, Unexplained};
pub use tag_writes::{TAG_WRITES_TIME, recent_tag_writes};
pub use tier::{NoSuchTier, Tier, tier};
pub use tombstones::{DELETED_BY_TRUEUP, TOMBSTONE_TIME, Tombstone, raise, tombstones};
pub use undo::{BackupSeen, Look, ObjectNow, OwnersSeen, UndoPlan, can_undo, reclaimable_days, undo};
pub use within::{ChangedField, NotReviewed, ReviewGap, not_reviewed};
