//! The closed sets this check answers with.

use super::check;
trueup_core::named_enum! {
    /// What a subject is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Verdict {
        // Authentication/cluster
        Valid = "valid" => Match,
        Lockout = "lockout" => Error,
        Invalid = "invalid" => Error,
        KasWouldRefuse = "kas-would-refuse" => Error,
        // what is compared
        Match = "match" => Match,
        Missing = "missing" => Missing,
        Drift = "drift" => Drift,
        Extra = "extra" => Extra,
        Leftover = "leftover" => Extra,
        Unrenderable = "unrenderable" => Blocked,
        // the rollout
        Available = "available" => Match,
        RollingOut = "rolling-out" => Stale,
        NotAvailable = "not-available" => Blocked,
        OauthIncomplete = "oauth-incomplete" => Error,
        // what runs
        NotReady = "not-ready" => Error,
        NamespaceTerminating = "namespace-terminating" => Error,
        Degraded = "degraded" => Error,
        // the RoleBindingRestrictions
        Keep = "keep" => Match,
        BlocksOidc = "blocks-oidc" => Blocked,
        Removable = "removable" => Match,
        Unknown = "unknown" => Unknown,
    }
}

impl From<check::Verdict> for Verdict {
    fn from(verdict: check::Verdict) -> Self {
        match verdict {
            check::Verdict::Valid => Self::Valid,
            check::Verdict::Lockout => Self::Lockout,
            check::Verdict::Invalid => Self::Invalid,
            check::Verdict::KasWouldRefuse => Self::KasWouldRefuse,
            check::Verdict::Unknown => Self::Unknown,
        }
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing of a subject that is not the Authentication, whose codes are in `problem`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        AdmissionPlugins = "admission-plugins",
        AuthenticationConfigArg = "authentication-config-arg",
        Degraded = "degraded",
        OauthMetadata = "oauth-metadata",
        Progressing = "progressing",
        Restored = "restored",
        RevisionConfigMissing = "revision-config-missing",
        ScaledToZero = "scaled-to-zero",
        StillOnOidc = "still-on-oidc",
        Unavailable = "unavailable",
        WebhookArg = "webhook-arg",
    }
}
