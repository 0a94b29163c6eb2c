//! The core of trueup: what is known, and what follows from it.
//!
//! - [`world`]: ids, facts, collections that know whether they are complete, change sets.
//! - [`decode`]: objects as JSON become facts; secret bytes end here.
//! - [`kubeconfig`]: a kubeconfig as it is written.
//! - [`files`]: the user's own files, read within limits.
//! - [`named_enum`]: enums with the names that plans, screens and settings use.
//! - [`redact`]: what of an object may be shown.
//! - [`words`]: constant texts that are also read from files.
//! - [`engine`]: findings become a plan with gates, tiers and an id; an approved plan is applied, journalled and can be
//!   undone. Everything but the executor, the journal and the vault is pure.

#[macro_use]
mod named_enum;

pub mod decode;
pub mod engine;
pub mod files;
pub mod kubeconfig;
pub mod redact;
pub mod words;
pub mod world;
