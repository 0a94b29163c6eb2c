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
        OtherOwner = "other-owner" => Error,
        StaleOwner = "stale-owner" => Drift,
        Orphan = "orphan" => Extra,
        HalfTagged = "half-tagged" => Drift,
        Untagged = "untagged" => Missing,
        Foreign = "foreign" => Match,
        TagInvalid = "tag-invalid" => Error,
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        AccountMismatch = "account-mismatch",
        AdoptedByName = "adopted-by-name",
        Characters = "characters",
        Empty = "empty",
        Length = "length",
        NotJson = "not-json",
        OwnerTooLong = "owner-too-long",
        ReservedPrefix = "reserved-prefix",
        TaggedReference = "tagged-reference",
    }
}
