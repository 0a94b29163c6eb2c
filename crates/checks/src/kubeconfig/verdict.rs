//! The closed sets this check answers with.

trueup_core::named_enum! {
    /// What a kubeconfig is, the worst first: of all that hold, the first is the verdict and the others are codes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Verdict {
        Unknown = "unknown" => Unknown,
        Missing = "missing" => Missing,
        Unreadable = "unreadable" => Error,
        ExecRefused = "exec-refused" => Error,
        WrongCluster = "wrong-cluster" => Drift,
        Expired = "expired" => Stale,
        NotYetValid = "not-yet-valid" => Stale,
        EndpointDrift = "endpoint-drift" => Drift,
        CaDrift = "ca-drift" => Drift,
        Contract = "contract" => Drift,
        RefreshStalled = "refresh-stalled" => Stale,
        BehindSource = "behind-source" => Drift,
        SourceInvalid = "source-invalid" => Error,
        SourceMissing = "source-missing" => Error,
        Waiting = "waiting" => Stale,
        Expiring = "expiring" => Stale,
        CaRotating = "ca-rotating" => Drift,
        Opaque = "opaque" => Unknown,
        Fresh = "fresh" => Match,
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        Anonymous = "anonymous",
        Base64Twice = "base64-twice",
        BasicAuth = "basic-auth",
        Context = "context",
        EndpointDiffers = "endpoint-differs",
        Exec = "exec",
        ExecInOtherUser = "exec-in-other-user",
        ExecUser = "exec-user",
        ExpectationsDisagree = "expectations-disagree",
        ExtraKeyDisagrees = "extra-key-disagrees",
        InClusterEndpoint = "in-cluster-endpoint",
        Insecure = "insecure",
        Key = "key",
        Label = "label",
        NoExpiry = "no-expiry",
        Overdue = "overdue",
        Owner = "owner",
        OwnerMissing = "owner-missing",
        PastHalfLife = "past-half-life",
        PlaneName = "plane-name",
        SourceDrift = "source-drift",
        SourceUnproven = "source-unproven",
        StageApply = "stage-apply",
        StageControlPlane = "stage-control-plane",
        StageCopy = "stage-copy",
        StageOutputs = "stage-outputs",
        StageWorkspace = "stage-workspace",
        TokenMalformed = "token-malformed",
        Twin = "twin",
        Type = "type",
        Unparseable = "unparseable",
    }
}
