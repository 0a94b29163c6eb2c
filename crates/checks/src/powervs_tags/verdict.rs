//! The closed sets this check answers with.

trueup_core::named_enum! {
    /// Whose a resource is, or what keeps that from being said.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Verdict {
        Unknown = "unknown" => Unknown,
        Reclaiming = "reclaiming" => Blocked,
        Deleting = "deleting" => Blocked,
        Gone = "gone" => Error,
        TwoOwners = "two-owners" => Error,
        Reference = "reference" => Match,
        Owned = "owned" => Match,
        Locked = "locked" => Blocked,
        InUse = "in-use" => Blocked,
        OtherOwner = "other-owner" => Error,
        StaleOwner = "stale-owner" => Drift,
        Orphan = "orphan" => Extra,
        HalfTagged = "half-tagged" => Drift,
        Untagged = "untagged" => Missing,
        Adopted = "adopted" => Error,
        NameTaken = "name-taken" => Error,
        Foreign = "foreign" => Match,
        TagInvalid = "tag-invalid" => Error,
        FinalizerOnly = "finalizer-only" => Stale,
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        AccountMismatch = "account-mismatch",
        AdoptedByName = "adopted-by-name",
        Characters = "characters",
        CreatedBefore = "created-before",
        CreationUnknown = "creation-unknown",
        Empty = "empty",
        FleetIncomplete = "fleet-incomplete",
        FleetNotDeclared = "fleet-not-declared",
        Length = "length",
        Moved = "moved",
        NameTaken = "name-taken",
        NotHeldYet = "not-held-yet",
        NotJson = "not-json",
        OwnerMark = "owner-mark",
        OwnerTooLong = "owner-too-long",
        ReservedPrefix = "reserved-prefix",
        TaggedByOthers = "tagged-by-others",
        TaggedReference = "tagged-reference",
    }
}
