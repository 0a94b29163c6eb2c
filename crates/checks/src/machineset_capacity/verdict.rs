//! The closed sets this check answers with.

trueup_core::named_enum! {
    /// What a set of machines is, in the order of the rules.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Verdict {
        Skipped = "skipped" => Match,
        NotAws = "not-aws" => Match,
        InvalidSpec = "invalid-spec" => Error,
        InstanceTypeEmpty = "instance-type-empty" => Error,
        RegionInvalid = "region-invalid" => Error,
        CredentialsPartial = "credentials-partial" => Error,
        CredentialsNone = "credentials-none" => Error,
        SecretMissing = "secret-missing" => Error,
        SecretInvalid = "secret-invalid" => Error,
        TokenUnreadable = "token-unreadable" => Error,
        Denied = "denied" => Error,
        Transient = "transient" => Unknown,
        InstanceTypeUnknown = "instance-type-unknown" => Error,
        Missing = "missing" => Missing,
        KeysDisagree = "keys-disagree" => Drift,
        Drift = "drift" => Drift,
        Match = "match" => Match,
        Unknown = "unknown" => Unknown,
    }
}

trueup_core::named_enum! {
    /// What else is worth knowing, sorted as plans spell it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        AnnotatorUnknown = "annotator-unknown",
        ArchitectureUnknown = "architecture-unknown",
        AudienceDefault = "audience-default",
        AuthoritativeApi = "authoritative-api",
        AwsRoleArnMissing = "aws-role-arn-missing",
        AwsWebIdentityTokenFileMissing = "aws-web-identity-token-file-missing",
        CapacityZero = "capacity-zero",
        Deleting = "deleting",
        FamilyAbsent = "family-absent",
        FractionalGpu = "fractional-gpu",
        FromCatalogue = "from-catalogue",
        GpuVendorUnknown = "gpu-vendor-unknown",
        IssuerInternal = "issuer-internal",
        NoCatalogue = "no-catalogue",
        OwnLoginFailed = "own-login-failed",
        OwnLoginNone = "own-login-none",
        Paused = "paused",
        PodIdentity = "pod-identity",
        RoleAnnotationDiffers = "role-annotation-differs",
        SecretWebIdentity = "secret-web-identity",
        TokenNotMounted = "token-not-mounted",
        TokenPath = "token-path",
    }
}
