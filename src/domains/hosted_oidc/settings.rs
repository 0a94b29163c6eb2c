//! This check's own table in the config.

use crate::engine::glob::Glob;

/// `[domains.hosted-oidc]`
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub copies: Copies,
    /// Names worth a look although nothing marks them. Never deletable by that alone.
    pub name_patterns: Vec<Glob>,
}

/// Who writes missing and stale copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Copies {
    /// The hosted cluster config operator; we only show what it should be doing.
    #[default]
    Observe,
    /// We do, where the plan is approved.
    Manage,
}
