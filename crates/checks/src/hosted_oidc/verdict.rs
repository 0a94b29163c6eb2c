//! The closed sets this check answers with.

trueup_core::named_enum! {
    /// What a subject is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Verdict {
        Terminating = "terminating" => Blocked,
        Protected = "protected" => Match,
        Unknown = "unknown" => Unknown,
        SourceMissing = "source-missing" => Error,
        MissingCopy = "missing-copy" => Missing,
        StaleCopy = "stale-copy" => Drift,
        Referenced = "referenced" => Match,
        Pending = "pending" => Stale,
        Foreign = "foreign" => Match,
        Moot = "moot" => Blocked,
        OrphanCertain = "orphan-certain" => Extra,
        OrphanProbable = "orphan-probable" => Extra,
        Leftover = "leftover" => Extra,
        // the HostedCluster
        Valid = "valid" => Match,
        Invalid = "invalid" => Error,
        KasWouldRefuse = "kas-would-refuse" => Error,
        Degraded = "degraded" => Error,
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        ClientStale = "client-stale",
        ClientStillCurrent = "client-still-current",
        Day2 = "day-2",
        Deleting = "deleting",
        EmptySource = "empty-source",
        FleetIncomplete = "fleet-incomplete",
        Gone = "gone",
        GuestStillRefers = "guest-still-refers",
        NamePattern = "name-pattern",
        NamedByOidc = "named-by-oidc",
        NotPropagated = "not-propagated",
        Paused = "paused",
        Restored = "restored",
        Unlabelled = "unlabelled",
        UserProvided = "user-provided",
    }
}
