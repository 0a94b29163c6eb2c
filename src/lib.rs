//! trueup lays what should exist in a fleet of clusters beside what does, explains every difference with
//! evidence, and repairs it only through a plan that was previewed, hashed and approved.
//!
//! This page is the map. Data goes one way, from the top of this list to the bottom, and no room reaches back;
//! `tests/tidy.rs` holds the arrows.
//!
//! - [`world`]: what is known, and how well. Ids, facts, collections that know whether they are complete. Pure.
//! - [`cloud`]: thin clients of AWS and IBM Cloud: sign, page, repeat, classify. IO.
//! - [`fleet`]: how to reach each cluster: kubeconfig contexts, HyperShift guests, snapshot folders. IO.
//! - [`observe`]: list, watch and decode into small facts; secret bytes end here. IO.
//! - [`domains`]: one folder a check: what is expected, what is there, why they differ. Pure.
//! - [`engine`]: findings become a plan with gates, tiers and an id; an approved plan is carried out, journalled and can
//!   be undone. Pure, but for the executor's requests, the journal of what was done and the vault of what was deleted.
//! - [`live`]: the loop that joins the rooms above and keeps judgements current.
//! - [`config`]: the user's file, with errors that name the line and the nearest known key.
//! - [`sim`]: a Kubernetes API in memory, behind the real client; faults on demand.
//! - [`demo`]: the fleet that `trueup demo` shows, a story told with `sim`.
//! - [`console`]: the interactive screen on the same engine: a pure core and one loop around it.
//! - [`cli`]: the commands, one file each, and their exit codes.

#![forbid(unsafe_code)]

pub mod cli;
pub mod cloud;
pub mod config;
pub mod console;
pub mod demo;
pub mod domains;
pub mod engine;
pub mod fleet;
pub mod live;
pub mod observe;
pub mod sim;
pub mod world;
