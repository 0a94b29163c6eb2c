//! What becomes of claims: username, groups, uid, extra.

use super::super::check::Inputs;
use super::super::gates::{Gate, Gates};
use super::super::problem::{Code, Refuser, WarningCode};
use super::super::render::{filled, username_expression, username_prefix};
use super::super::spec::{ClaimOrExpression, PrefixPolicy, Provider};
use super::{Findings, Length, Wants};
use trueup_cel::{Program, Scope, Text};

/// The expressions that matter to later rules.
#[derive(Default)]
pub(super) struct Compiled {
    pub username: Option<Program>,
    pub extra: Vec<Program>,
}

/// Claim names have this limit everywhere but in required claims.
const CLAIM_CHARS_MAX: usize = 256;

pub(super) fn validate(findings: &mut Findings, gates: &Gates, provider: &Provider, at: &str) -> Compiled {
    let at = format!("{at}.claimMappings");
    let username = username(findings, gates, provider, &format!("{at}.username"));
    groups(findings, gates, provider, &format!("{at}.groups"));
    let mut extra = Vec::new();
    if gates.on(Gate::UidAndExtra) {
        uid(findings, provider.mappings.uid.as_ref(), &format!("{at}.uid"));
        extra = self::extra(findings, provider, &format!("{at}.extra"));
    }
    Compiled { username, extra }
}

fn username(findings: &mut Findings, gates: &Gates, provider: &Provider, at: &str) -> Option<Program> {
    let username = &provider.mappings.username;
    let claim = username.claim.as_deref();
    let expression = username.expression.as_deref().filter(|_| gates.on(Gate::UpstreamParity));
    // Before expressions the CRD wants neither field, and the operator wants the claim.
    let refuser = if gates.on(Gate::UpstreamParity) { Refuser::Schema } else { Refuser::Operator };
    either(findings, Code::UsernameClaimOrExpression, (claim, expression), refuser, at);
    findings.limit(&format!("{at}.claim"), claim, CLAIM_CHARS_MAX);
    prefix(findings, provider, filled(expression).is_some(), at);
    let path = format!("{at}.expression");
    let program = findings.compile(&path, expression, Scope::Claims, Wants::Anything)?;
    warn_of_refusals(findings, &program, Wanted::Text, &path);
    Some(program)
}

/// Exactly one of claim and expression is given, and it is not empty.
fn either(findings: &mut Findings, code: Code, given: (Option<&str>, Option<&str>), refuser: Refuser, at: &str) {
    let why = match given {
        (None | Some(""), None | Some("")) => "there is neither a claim nor an expression",
        (Some(_), Some(_)) => "there are both a claim and an expression",
        (Some(_), None) | (None, Some(_)) => return,
    };
    findings.problem(code, refuser, at, given.0.unwrap_or_default(), why);
}

fn prefix(findings: &mut Findings, provider: &Provider, has_expression: bool, at: &str) {
    let username = &provider.mappings.username;
    let mut problem = |code, field: &str, value: &str, why: &str| {
        findings.problem(code, Refuser::Schema, format!("{at}.{field}"), value, why);
    };
    match (&username.policy, username.prefix.as_deref()) {
        (PrefixPolicy::Prefix, prefix) => {
            if has_expression {
                let why = "an expression gives the whole name";
                problem(Code::UsernamePrefixWithExpression, "prefixPolicy", "Prefix", why);
            }
            if filled(prefix).is_none() {
                let why = "the policy is Prefix and there is none";
                problem(Code::UsernamePrefixMissing, "prefix.prefixString", "", why);
            }
        }
        (PrefixPolicy::NoOpinion | PrefixPolicy::NoPrefix, Some(prefix)) => {
            let why = "a prefix is only used with the policy Prefix";
            problem(Code::UsernamePrefixWithoutPolicy, "prefix.prefixString", prefix, why);
        }
        (PrefixPolicy::NoOpinion | PrefixPolicy::NoPrefix, None) => {}
        (PrefixPolicy::Other(policy), _) => {
            problem(Code::UsernamePrefixPolicyUnknown, "prefixPolicy", policy, "there is no such policy");
        }
    }
}

fn groups(findings: &mut Findings, gates: &Gates, provider: &Provider, at: &str) {
    let groups = &provider.mappings.groups;
    findings.limit(&format!("{at}.claim"), groups.claim.as_deref(), CLAIM_CHARS_MAX);
    let Some(expression) = groups.expression.as_deref().filter(|_| gates.on(Gate::UpstreamParity)) else {
        return;
    };
    let path = format!("{at}.expression");
    if expression.is_empty() {
        findings.problem(Code::CelCompile, Refuser::Schema, &path, "", "the expression is empty");
    }
    if let Some(claim) = filled(groups.claim.as_deref()) {
        findings.problem(
            Code::GroupsClaimAndExpression,
            Refuser::Schema,
            at,
            claim,
            "there are both a claim and an expression",
        );
    }
    if let Some(prefix) = filled(groups.prefix.as_deref()).filter(|_| !expression.is_empty()) {
        findings.problem(
            Code::GroupsPrefixWithExpression,
            Refuser::Schema,
            format!("{at}.prefix"),
            prefix,
            "an expression gives the whole names",
        );
    }
    if let Some(program) = findings.compile(&path, Some(expression), Scope::Claims, Wants::Anything) {
        warn_of_refusals(findings, &program, Wanted::Texts, &path);
    }
}

fn uid(findings: &mut Findings, uid: Option<&ClaimOrExpression>, at: &str) {
    let Some(ClaimOrExpression { claim, expression }) = uid else { return };
    either(findings, Code::UidClaimOrExpression, (claim.as_deref(), expression.as_deref()), Refuser::Schema, at);
    findings.limit(&format!("{at}.claim"), claim.as_deref(), CLAIM_CHARS_MAX);
    let path = format!("{at}.expression");
    if let Some(program) = findings.compile(&path, expression.as_deref(), Scope::Claims, Wants::Anything) {
        warn_of_refusals(findings, &program, Wanted::Text, &path);
    }
}

fn extra(findings: &mut Findings, provider: &Provider, at: &str) -> Vec<Program> {
    findings.count_limit(at, provider.mappings.extra.len(), 32);
    let mut programs = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, extra) in provider.mappings.extra.iter().enumerate() {
        let key = extra.key.as_deref().unwrap_or_default();
        extra_key(findings, key, &seen, &format!("{at}[{index}].key"));
        seen.push(key);
        let path = format!("{at}[{index}].valueExpression");
        if filled(extra.expression.as_deref()).is_none() {
            findings.problem(
                Code::ExtraExpressionMissing,
                Refuser::Schema,
                &path,
                "",
                "there is no expression for the value",
            );
        }
        let program = findings.compile(&path, extra.expression.as_deref(), Scope::Claims, Wants::Anything);
        if let Some(program) = &program {
            warn_of_refusals(findings, program, Wanted::Texts, &path);
        }
        programs.extend(program);
    }
    programs
}

fn extra_key(findings: &mut Findings, key: &str, seen: &[&str], path: &str) {
    if key.is_empty() {
        return findings.problem(Code::ExtraKeyMissing, Refuser::Schema, path, key, "there is no key");
    }
    if seen.contains(&key) {
        findings.problem(Code::ExtraKeyDuplicate, Refuser::Schema, path, key, "the key is used before");
    }
    if findings.limit(path, Some(key), 510) == Length::TooLong {
        return;
    }
    if let Some((refuser, why)) = key_fault(key) {
        findings.problem(Code::ExtraKeyInvalid, refuser, path, key, why);
    }
}

/// Who refuses an extra key, and why.
fn key_fault(key: &str) -> Option<(Refuser, &'static str)> {
    let Some((domain, rest)) = key.split_once('/') else {
        return Some((Refuser::Schema, "it is not a domain and path with a / between"));
    };
    // The CRD looks for one good character; kube-apiserver wants every one to be good, and counts the comma as such.
    let listed = |letter: char| letter.is_ascii_alphanumeric() || "/-._~%!$&'()*+;=:".contains(letter);
    let schema = if !is_domain(domain) {
        Some("the part before the / is not a lower-case domain name")
    } else if domain.len() > 253 {
        Some("its domain has more than 253 characters")
    } else if is_reserved(domain) {
        Some("its domain is reserved for Kubernetes and OpenShift")
    } else if !rest.chars().any(listed) {
        Some("there is no path behind the /")
    } else if rest.chars().nth(256).is_some() {
        Some("its path has more than 256 characters")
    } else {
        None
    };
    if let Some(why) = schema {
        return Some((Refuser::Schema, why));
    }
    if !rest.chars().all(|letter| listed(letter) || letter == ',') {
        return Some((Refuser::KubeApiserver, "its path holds characters that cannot stand in a URL's path"));
    }
    let lower = key.chars().all(|letter| !letter.is_ascii_uppercase());
    if lower { None } else { Some((Refuser::KubeApiserver, "it holds upper case letters")) }
}

fn is_domain(domain: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        let ends = bytes.first().is_some_and(|byte| fits(*byte)) && bytes.last().is_some_and(|byte| fits(*byte));
        ends && bytes.iter().all(|byte| fits(*byte) || *byte == b'-')
    })
}

fn is_reserved(domain: &str) -> bool {
    ["kubernetes.io", "k8s.io", "openshift.io"]
        .iter()
        .any(|reserved| domain.strip_suffix(reserved).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

/// What a mapping has to give at login.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Text,
    Texts,
}

/// Mappings compile whatever they give; a login is refused when it is something else.
fn warn_of_refusals(findings: &mut Findings, program: &Program, wanted: Wanted, path: &str) {
    let (possible, wants) = match wanted {
        Wanted::Text => (program.text() != Text::Never, "a text"),
        Wanted::Texts => (program.texts() != Text::Never, "a text or a list of texts that kube-apiserver can read"),
    };
    if !possible {
        let hint = if program.result() == "list(string)" { "; append `.map(x, x)`" } else { "" };
        let message =
            format!("every login would be refused: a login needs {wants}, and this gives {}{hint}", program.result());
        findings.warn(WarningCode::LoginImpossible, path, program.source(), &message);
    }
}

/// Warns when the default prefix would give every user another name than they have now.
pub(super) fn warn_of_renaming(findings: &mut Findings, inputs: &Inputs<'_>, provider: &Provider, at: &str) {
    let username = &provider.mappings.username;
    let defaulted = username.policy == PrefixPolicy::NoOpinion && username.claim.as_deref() != Some("email");
    if !defaulted
        || username_expression(provider, inputs.gates).is_some()
        || filled(username.claim.as_deref()).is_none()
    {
        return;
    }
    let Some(present) = inputs.present.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok()) else {
        return;
    };
    let Some(now) = present.pointer("/jwt/0/claimMappings/username") else { return };
    let before = now.get("prefix").and_then(serde_json::Value::as_str);
    let after = username_prefix(username, provider.issuer_url());
    if before != Some(after.as_str()) {
        let message = format!(
            "every user gets the new name prefix {after:?} instead of {:?}, and RBAC bindings stop matching",
            before.unwrap_or_default()
        );
        let path = format!("{at}.claimMappings.username.prefixPolicy");
        findings.warn(WarningCode::DefaultPrefixRenamesUsers, path, "", &message);
    }
}
