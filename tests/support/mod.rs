//! What tests share that talk to a server: requests as plain values, a real kube-apiserver, its custom kinds.
//!
//! Always true:
//! - no request is sent twice: there is no retry layer between a test and the server;
//! - a machine without the real server skips such tests with one line on stderr, unless `TRUEUP_REAL=required`.
//!
//! Not here: the tests themselves (`tests/real/`), the server's own source (`tests/real/kube-testserver/`).
//!
//! All tests that need the real server live in one test binary, `tests/real/main.rs`: one server is started for most of
//! them, and one binary is linked.

pub mod canaries;
pub mod crds;
pub mod front;
pub mod http;
pub mod killed;
pub mod real;
