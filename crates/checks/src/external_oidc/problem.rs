//! What can be wrong with an Authentication, and who would refuse it.
//!
//! Invariants: code that decides looks at the code and the refuser, never at the sentence.

use std::fmt;

named_enum! {
    /// What is wrong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Code {
        ProviderCount = "provider-count",
        IssuerUrlInvalid = "issuer-url-invalid",
        IssuerIsServiceAccountIssuer = "issuer-is-service-account-issuer",
        AudiencesEmpty = "audiences-empty",
        AudienceDuplicate = "audience-duplicate",
        DiscoveryUrlInvalid = "discovery-url-invalid",
        DiscoveryUrlEqualsIssuer = "discovery-url-equals-issuer",
        CaConfigmapMissing = "ca-configmap-missing",
        CaKeyMissing = "ca-key-missing",
        CaInvalid = "ca-invalid",
        UsernameClaimOrExpression = "username-claim-or-expression",
        UsernamePrefixMissing = "username-prefix-missing",
        UsernamePrefixWithoutPolicy = "username-prefix-without-policy",
        UsernamePrefixWithExpression = "username-prefix-with-expression",
        UsernamePrefixPolicyUnknown = "username-prefix-policy-unknown",
        GroupsClaimAndExpression = "groups-claim-and-expression",
        GroupsPrefixWithExpression = "groups-prefix-with-expression",
        UidClaimOrExpression = "uid-claim-or-expression",
        ExtraKeyMissing = "extra-key-missing",
        ExtraKeyInvalid = "extra-key-invalid",
        ExtraKeyDuplicate = "extra-key-duplicate",
        ExtraExpressionMissing = "extra-expression-missing",
        ClaimRuleBodyMissing = "claim-rule-body-missing",
        ClaimRuleTypeUnknown = "claim-rule-type-unknown",
        ClaimRuleDuplicate = "claim-rule-duplicate",
        UserRuleExpressionMissing = "user-rule-expression-missing",
        UserRuleDuplicate = "user-rule-duplicate",
        CelCompile = "cel-compile",
        CelNotBool = "cel-not-bool",
        EmailVerifiedMissing = "email-verified-missing",
        TooLong = "too-long",
        TooMany = "too-many",
        MessageMissing = "message-missing",
        NoProviders = "no-providers",
    }
}

impl Code {
    /// Every code, for tables that must miss none.
    pub const ALL: [Self; 34] = [
        Self::ProviderCount,
        Self::IssuerUrlInvalid,
        Self::IssuerIsServiceAccountIssuer,
        Self::AudiencesEmpty,
        Self::AudienceDuplicate,
        Self::DiscoveryUrlInvalid,
        Self::DiscoveryUrlEqualsIssuer,
        Self::CaConfigmapMissing,
        Self::CaKeyMissing,
        Self::CaInvalid,
        Self::UsernameClaimOrExpression,
        Self::UsernamePrefixMissing,
        Self::UsernamePrefixWithoutPolicy,
        Self::UsernamePrefixWithExpression,
        Self::UsernamePrefixPolicyUnknown,
        Self::GroupsClaimAndExpression,
        Self::GroupsPrefixWithExpression,
        Self::UidClaimOrExpression,
        Self::ExtraKeyMissing,
        Self::ExtraKeyInvalid,
        Self::ExtraKeyDuplicate,
        Self::ExtraExpressionMissing,
        Self::ClaimRuleBodyMissing,
        Self::ClaimRuleTypeUnknown,
        Self::ClaimRuleDuplicate,
        Self::UserRuleExpressionMissing,
        Self::UserRuleDuplicate,
        Self::CelCompile,
        Self::CelNotBool,
        Self::EmailVerifiedMissing,
        Self::TooLong,
        Self::TooMany,
        Self::MessageMissing,
        Self::NoProviders,
    ];
}

named_enum! {
    /// What is worth knowing beside any verdict.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum WarningCode {
        ClientUnknownComponent = "client-unknown-component",
        ClientSecretMissing = "client-secret-missing",
        WebhookAuthenticatorSet = "webhook-authenticator-set",
        DefaultPrefixRenamesUsers = "default-prefix-renames-users",
        LoginImpossible = "login-impossible",
        DiscoveryUnreachable = "discovery-unreachable",
        IssuerMismatch = "issuer-mismatch",
    }
}

named_enum! {
    /// Who says no.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Refuser {
        /// The API server, by the schema of the CRD.
        Schema = "the API server (CRD)",
        /// The authentication operator, which then writes nothing.
        Operator = "the authentication operator",
        /// kube-apiserver, which does not start with it.
        KubeApiserver = "kube-apiserver, which would not start",
        /// Accepted everywhere, and then no token is accepted.
        Nobody = "nobody",
    }
}

/// One thing that is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    /// `spec.oidcProviders[0].issuer.issuerURL`.
    pub path: String,
    /// What stands there; empty when nothing does.
    pub value: String,
    /// Why it is wrong, in a sentence.
    pub why: String,
    pub remedy: String,
    pub refuser: Refuser,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, value, why, remedy, refuser } = self;
        write!(f, "{}: {path}", code.as_str())?;
        if !value.is_empty() {
            write!(f, " = {value:?}")?;
        }
        write!(f, ": {why}; {remedy} (refused by {})", refuser.as_str())
    }
}

/// One thing worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    pub path: String,
    pub value: String,
    pub says: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, value, says } = self;
        write!(f, "{}: {path}", code.as_str())?;
        if !value.is_empty() {
            write!(f, " = {value:?}")?;
        }
        write!(f, ": {says}")
    }
}
