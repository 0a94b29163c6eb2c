//! All tests that need a real kube-apiserver, in one binary: one server is started for most of them, and one is linked.
//!
//! Not here: starting it and speaking with it (`tests/support/`), its own source (`kube-testserver/`).

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/pty.rs"]
mod pty;

mod act;
mod approvals;
mod clients;
mod conformance;
mod console;
mod controller;
mod copies;
mod desk;
mod encodings;
mod external_oidc;
mod fleet;
mod formats;
mod ibm;
mod in_cluster;
mod killed;
mod kubeconfig;
mod machinesets;
mod manifests;
mod mcp;
mod moto;
mod moving;
mod observed;
mod oidc;
mod plan;
mod proposals;
mod renewal;
mod roles;
mod secrecy;
mod server;
mod speed;
mod stages;
mod switching;
mod watched;
