//! The binary as a shell sees it: an empty environment, stdout, stderr and exit code.

#![expect(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "../support/canaries.rs"]
mod canaries;
#[path = "../support/front.rs"]
mod front;
#[path = "../support/killed.rs"]
mod killed_support;
#[path = "../support/pty.rs"]
mod pty;

#[path = "../support/schema.rs"]
mod schema_support;

mod act_secrets;
mod after;
mod apply;
mod aws_secrets;
mod browser;
mod clock;
mod console_secrets;
mod doctor;
mod edited_plans;
mod external_oidc;
mod fixture;
mod formats;
mod front_ends;
mod history;
mod hostile;
mod input;
mod killed;
mod kubeconfig;
mod kubectl;
mod live;
mod live_secrets;
mod local;
mod machineset;
mod mcp;
mod oidc;
mod oidc_backup;
mod oidc_move;
mod plan;
mod powervs;
mod powervs_fleet;
mod powervs_leaked;
mod powervs_life;
mod powervs_members;
mod powervs_secrets;
mod powervs_stage;
mod prompt;
mod recordings;
mod reference;
mod requests;
mod schema;
mod secrets;
mod speed;
mod three_operators;
