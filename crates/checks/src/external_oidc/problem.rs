//! What can be wrong with an Authentication, and who would refuse it.
//!
//! Invariants: code that decides looks at the code and the refuser, never at the sentence.

use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    ProviderCount,
    IssuerUrlInvalid,
    IssuerIsServiceAccountIssuer,
    AudiencesEmpty,
    AudienceDuplicate,
    DiscoveryUrlInvalid,
    DiscoveryUrlEqualsIssuer,
    CaConfigmapMissing,
    CaKeyMissing,
    CaInvalid,
    UsernameClaimOrExpression,
    UsernamePrefixMissing,
    UsernamePrefixWithoutPolicy,
    UsernamePrefixWithExpression,
    UsernamePrefixPolicyUnknown,
    GroupsClaimAndExpression,
    GroupsPrefixWithExpression,
    UidClaimOrExpression,
    ExtraKeyMissing,
    ExtraKeyInvalid,
    ExtraKeyDuplicate,
    ExtraExpressionMissing,
    ClaimRuleBodyMissing,
    ClaimRuleTypeUnknown,
    ClaimRuleDuplicate,
    UserRuleExpressionMissing,
    UserRuleDuplicate,
    CelCompile,
    CelNotBool,
    EmailVerifiedMissing,
    TooLong,
    TooMany,
    MessageMissing,
    NoProviders,
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

    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderCount => "provider-count",
            Self::IssuerUrlInvalid => "issuer-url-invalid",
            Self::IssuerIsServiceAccountIssuer => "issuer-is-service-account-issuer",
            Self::AudiencesEmpty => "audiences-empty",
            Self::AudienceDuplicate => "audience-duplicate",
            Self::DiscoveryUrlInvalid => "discovery-url-invalid",
            Self::DiscoveryUrlEqualsIssuer => "discovery-url-equals-issuer",
            Self::CaConfigmapMissing => "ca-configmap-missing",
            Self::CaKeyMissing => "ca-key-missing",
            Self::CaInvalid => "ca-invalid",
            Self::UsernameClaimOrExpression => "username-claim-or-expression",
            Self::UsernamePrefixMissing => "username-prefix-missing",
            Self::UsernamePrefixWithoutPolicy => "username-prefix-without-policy",
            Self::UsernamePrefixWithExpression => "username-prefix-with-expression",
            Self::UsernamePrefixPolicyUnknown => "username-prefix-policy-unknown",
            Self::GroupsClaimAndExpression => "groups-claim-and-expression",
            Self::GroupsPrefixWithExpression => "groups-prefix-with-expression",
            Self::UidClaimOrExpression => "uid-claim-or-expression",
            Self::ExtraKeyMissing => "extra-key-missing",
            Self::ExtraKeyInvalid => "extra-key-invalid",
            Self::ExtraKeyDuplicate => "extra-key-duplicate",
            Self::ExtraExpressionMissing => "extra-expression-missing",
            Self::ClaimRuleBodyMissing => "claim-rule-body-missing",
            Self::ClaimRuleTypeUnknown => "claim-rule-type-unknown",
            Self::ClaimRuleDuplicate => "claim-rule-duplicate",
            Self::UserRuleExpressionMissing => "user-rule-expression-missing",
            Self::UserRuleDuplicate => "user-rule-duplicate",
            Self::CelCompile => "cel-compile",
            Self::CelNotBool => "cel-not-bool",
            Self::EmailVerifiedMissing => "email-verified-missing",
            Self::TooLong => "too-long",
            Self::TooMany => "too-many",
            Self::MessageMissing => "message-missing",
            Self::NoProviders => "no-providers",
        }
    }
}

/// What is worth knowing beside any verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WarningCode {
    ClientUnknownComponent,
    ClientSecretMissing,
    WebhookAuthenticatorSet,
    DefaultPrefixRenamesUsers,
    LoginImpossible,
    DiscoveryUnreachable,
    IssuerMismatch,
}

impl WarningCode {
    /// As plans spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClientUnknownComponent => "client-unknown-component",
            Self::ClientSecretMissing => "client-secret-missing",
            Self::WebhookAuthenticatorSet => "webhook-authenticator-set",
            Self::DefaultPrefixRenamesUsers => "default-prefix-renames-users",
            Self::LoginImpossible => "login-impossible",
            Self::DiscoveryUnreachable => "discovery-unreachable",
            Self::IssuerMismatch => "issuer-mismatch",
        }
    }
}

/// Who says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refuser {
    /// The API server, by the schema of the CRD.
    Schema,
    /// The authentication operator, which then writes nothing.
    Operator,
    /// kube-apiserver, which does not start with it.
    KubeApiserver,
    /// Accepted everywhere, and then no token is accepted.
    Nobody,
}

impl Refuser {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "the API server (CRD)",
            Self::Operator => "the authentication operator",
            Self::KubeApiserver => "kube-apiserver, which would not start",
            Self::Nobody => "nobody",
        }
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
