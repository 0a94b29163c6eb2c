//! What can be wrong with an Authentication, and who would refuse it.
//!
//! Invariants: code that decides looks at the code and the refuser, never at the sentence.

use std::fmt;

trueup_core::named_enum! {
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
        UnknownField = "unknown-field",
        TypeEmpty = "type-empty",
    }
}

impl Code {
    /// What to do about it where this value stands.
    pub fn remedy(self, value: &str) -> &'static str {
        match self {
            Self::ProviderCount => "keep one",
            Self::IssuerUrlInvalid => {
                "write it exactly as the provider's tokens carry it in `iss`: https, no query, no fragment, no user"
            }
            Self::IssuerIsServiceAccountIssuer => {
                "use another issuer URL, or wait until the old service account issuer has expired"
            }
            Self::AudiencesEmpty => "list the client ids the tokens are made for",
            Self::AudienceDuplicate => "list it once",
            Self::DiscoveryUrlInvalid => {
                "write the whole https URL of the discovery document, without query, fragment or user"
            }
            Self::DiscoveryUrlEqualsIssuer => "leave it out: the issuer's own document is the default",
            Self::CaConfigmapMissing => "create it with the key ca-bundle.crt",
            Self::CaKeyMissing => "put the bundle under data, key ca-bundle.crt (binaryData is not read)",
            Self::CaInvalid => "put PEM certificates into its key ca-bundle.crt",
            Self::UsernameClaimOrExpression | Self::UidClaimOrExpression => "set exactly one of claim and expression",
            Self::UsernamePrefixMissing => "set prefix.prefixString, or the policy NoPrefix",
            Self::UsernamePrefixWithoutPolicy => "set prefixPolicy to Prefix, or remove the prefix",
            Self::UsernamePrefixWithExpression | Self::GroupsPrefixWithExpression => {
                "write the prefix into the expression"
            }
            Self::UsernamePrefixPolicyUnknown => "use Prefix, NoPrefix, or leave it out",
            Self::GroupsClaimAndExpression | Self::UserRuleDuplicate => "keep one of them",
            Self::ExtraKeyMissing => "name one like example.org/team",
            Self::ExtraKeyInvalid => "use a key of your own domain in lower case, like example.org/team",
            Self::ExtraKeyDuplicate => "use each key once",
            Self::ExtraExpressionMissing => "write one, as in `claims.department`",
            Self::ClaimRuleBodyMissing => "give the rule the body of its type, and no other",
            Self::ClaimRuleTypeUnknown => "use RequiredClaim or CEL",
            Self::ClaimRuleDuplicate => "keep one of them; neither the CRD nor the operator notices",
            Self::UserRuleExpressionMissing => "write an expression on user, or leave the rule out",
            Self::CelCompile if value.is_empty() => "leave it out, or write one",
            Self::CelCompile => "correct the expression",
            Self::CelNotBool => "compare the value, as in `claims.x == true`",
            Self::EmailVerifiedMissing => "add a CEL claim rule like `claims.?email_verified.orValue(true) == true`",
            Self::TooLong => "shorten it",
            Self::TooMany => "remove some",
            Self::MessageMissing => "say what a refused user should know",
            Self::UnknownField => "correct its name, or remove it",
            Self::TypeEmpty => "set spec.configuration.authentication.type to OIDC or IntegratedOAuth",
            Self::NoProviders => "add a provider, or set spec.type back to IntegratedOAuth",
        }
    }
}

trueup_core::named_enum! {
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
        UnknownField = "unknown-field",
    }
}

trueup_core::named_enum! {
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
    pub refuser: Refuser,
}

impl Problem {
    pub fn remedy(&self) -> &'static str {
        self.code.remedy(&self.value)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, value, why, refuser } = self;
        write!(f, "{}: {path}", code.as_str())?;
        if !value.is_empty() {
            write!(f, " = {value:?}")?;
        }
        write!(f, ": {why}; {} (refused by {})", self.remedy(), refuser.as_str())
    }
}

/// One thing worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub code: WarningCode,
    pub path: String,
    pub value: String,
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, path, value, message } = self;
        write!(f, "{}: {path}", code.as_str())?;
        if !value.is_empty() {
            write!(f, " = {value:?}")?;
        }
        write!(f, ": {message}")
    }
}
