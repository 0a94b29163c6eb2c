//! The engine: findings become a plan, and a plan says exactly what would be done and what speaks against it.
//!
//! Pure so far. Acting (approval, executor, journal, vault) is not here yet.

mod action;
mod finding;
pub mod glob;

pub use action::{ActionDraft, Blocked, GateName, Reason, SourceBinding, Stake, Target, Undo, Verb};
pub use finding::{DomainName, Evidence, Explanation, Judgement, State, SubjectId};
