//! What is wrong with an Authentication: by the CRD, by the operator, by kube-apiserver.
//!
//! Invariants:
//! - every problem that applies is found, not the first alone;
//! - a field whose gate is off is not looked at: the CRD of that feature set does not have it;
//! - what can't be decided here is said, and never counted as right or wrong.
//!
//! Elsewhere: the verdict (`check`), what becomes of the spec (`render`).

mod clients;
mod issuer;
mod mappings;
mod rules;
mod sources;

use super::check::{Inputs, Provenance};
use super::gates::Gate;
use super::problem::{Code, Problem, Refuser, Warning, WarningCode};
use trueup_cel::{CHARS_MAX as EXPRESSION_CHARS_MAX, CelError, Program, Scope};

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Findings {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
    pub unknowns: Vec<Unknown>,
}

/// Something that could not be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub about: About,
    pub message: String,
}

/// What hangs on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Whether the operator writes anything.
    Writing,
    /// Whether kube-apiserver starts with it.
    Starting,
    /// Whether anybody can log in. It is said, and changes no verdict.
    LoggingIn,
}

/// Where providers stand in the object.
pub const PROVIDERS: &str = "spec.oidcProviders";

/// Looks at every rule. Providers are judged with type OIDC alone.
pub fn validate(inputs: &Inputs<'_>) -> Findings {
    let mut findings = Findings::default();
    let spec = inputs.authentication;
    unknown_fields(&mut findings, inputs);
    if !spec.is_oidc() {
        return findings;
    }
    match spec.providers.len() {
        0 => findings.problem(
            Code::NoProviders,
            Refuser::Nobody,
            PROVIDERS,
            "",
            "with type OIDC and no provider the OAuth server is removed and no token is accepted",
        ),
        1 => {}
        count => findings.problem(
            Code::ProviderCount,
            Refuser::Schema,
            PROVIDERS,
            &count.to_string(),
            "there may be one provider",
        ),
    }
    for (index, provider) in spec.providers.iter().enumerate() {
        let at = format!("{PROVIDERS}[{index}]");
        issuer::validate(&mut findings, inputs, provider, &at);
        let compiled = mappings::validate(&mut findings, inputs.gates, provider, &at);
        rules::validate(&mut findings, inputs.gates, provider, &at, compiled);
        clients::validate(&mut findings, inputs, provider, &at);
        sources::validate(&mut findings, inputs, provider, &at);
        mappings::warn_of_renaming(&mut findings, inputs, provider, &at);
    }
    if let Some(secret) = spec.webhook.as_deref().filter(|_| !inputs.gates.on(Gate::ExternalClaims)) {
        findings.warn(
            WarningCode::WebhookAuthenticatorSet,
            "spec.webhookTokenAuthenticator.kubeConfig.name",
            secret,
            "older releases refuse it with type OIDC; set spec.webhookTokenAuthenticator to null in the same edit",
        );
    }
    findings
}

/// Fields that no CRD has: refused from a file, and dropped or newer than this program in a stored object.
fn unknown_fields(findings: &mut Findings, inputs: &Inputs<'_>) {
    let is_judged = |path: &str| inputs.authentication.is_oidc() || !path.starts_with("oidcProviders");
    for field in inputs.unknown_fields.iter().filter(|field| is_judged(&field.path)) {
        let path = format!("spec.{}", field.path);
        let meant = field.nearest.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
        match inputs.provenance {
            Provenance::File => {
                let why = format!("no Authentication has this field{meant}");
                findings.problem(Code::UnknownField, Refuser::Schema, path, "", why);
            }
            Provenance::Stored => {
                let message = format!("this program does not know the field and ignores it{meant}");
                findings.warn(WarningCode::UnknownField, path, "", &message);
            }
        }
    }
}

/// Values longer than this are cut in problems: CA bundles and long expressions say nothing more to a person.
const VALUE_CHARS_MAX: usize = 120;

impl Findings {
    fn problem(&mut self, code: Code, refuser: Refuser, path: impl Into<String>, value: &str, why: impl Into<String>) {
        let mut shown: String = value.chars().take(VALUE_CHARS_MAX).collect();
        if shown.len() < value.len() {
            shown.push_str("...");
        }
        self.problems.push(Problem { code, path: path.into(), value: shown, why: why.into(), refuser });
    }

    fn warn(&mut self, code: WarningCode, path: impl Into<String>, value: &str, message: &str) {
        self.warnings.push(Warning { code, path: path.into(), value: value.to_owned(), message: message.to_owned() });
    }

    fn unknown(&mut self, about: About, message: impl Into<String>) {
        self.unknowns.push(Unknown { about, message: message.into() });
    }

    /// Finds a text that is longer than its field allows; lengths count characters, as the API server does.
    fn limit(&mut self, path: &str, value: Option<&str>, chars_max: usize) -> Length {
        let Some(value) = value.filter(|value| value.chars().nth(chars_max).is_some()) else {
            return Length::Fits;
        };
        self.problem(
            Code::TooLong,
            Refuser::Schema,
            path,
            value,
            format!("it has {} characters, and {chars_max} are allowed", value.chars().count()),
        );
        Length::TooLong
    }

    fn count_limit(&mut self, path: &str, count: usize, items_max: usize) {
        if count > items_max {
            self.problem(Code::TooMany, Refuser::Schema, path, &count.to_string(), format!("{items_max} are allowed"));
        }
    }

    /// Compiles an expression that fits its field; what is wrong with it becomes a problem.
    fn compile(&mut self, path: &str, expression: Option<&str>, scope: Scope, wants: Wants) -> Option<Program> {
        let expression = expression.filter(|expression| !expression.is_empty())?;
        if self.limit(path, Some(expression), EXPRESSION_CHARS_MAX) == Length::TooLong {
            return None;
        }
        let program = match Program::compile(expression, scope) {
            Ok(program) => program,
            Err(CelError::NotVerifiable(why)) => {
                self.unknown(About::Writing, format!("{path}: the expression is not verifiable here: {why}"));
                return None;
            }
            Err(CelError::Wrong(why)) => {
                self.problem(
                    Code::CelCompile,
                    Refuser::Operator,
                    path,
                    expression,
                    format!("the expression does not compile: {why}"),
                );
                return None;
            }
        };
        if wants == Wants::Bool && !program.is_bool() {
            self.problem(
                Code::CelNotBool,
                Refuser::Operator,
                path,
                expression,
                format!("a rule has to be a bool before any claim is known, and this is {}", program.result()),
            );
        }
        Some(program)
    }
}

/// What an expression has to give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Anything,
    Bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Fits,
    TooLong,
}

#[cfg(test)]
mod tests;
