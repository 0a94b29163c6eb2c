//! Thin clients of the clouds: sign, page, retry reads, classify errors.
//!
//! Always true:
//! - no business rules: what should be there, and what may go, is judged elsewhere;
//! - a read may be repeated; a write goes out once, and asks for the token of its intent;
//! - keys and tokens live in types that can't be printed.
//!
//! Not here: what an account's resources mean (`domains`), when to write (`engine::executor`).

pub mod ibm;
mod wire;

pub use wire::{ProxySettings, Web, WebError, Wire, WireError};
