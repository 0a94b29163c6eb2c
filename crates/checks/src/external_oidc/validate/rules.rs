//! The rules a token and its user have to pass.

use super::super::gates::{Gate, Gates};
use super::super::problem::{Code, Refuser};
use super::super::render::filled;
use super::super::spec::{CelRule, ClaimRule, ClaimRuleKind, Provider, RequiredClaim};
use super::mappings::Compiled;
use super::{Findings, Wants};
use trueup_cel::{Program, Scope};

const MESSAGE_CHARS_MAX: usize = 256;

pub(super) fn validate(findings: &mut Findings, gates: &Gates, provider: &Provider, at: &str, mappings: Compiled) {
    let rules = claim_rules(findings, &provider.claim_rules, &format!("{at}.claimValidationRules"));
    if gates.on(Gate::UpstreamParity) {
        email_verified(findings, &mappings, &rules, &format!("{at}.claimMappings.username.expression"));
        if let Some(rules) = &provider.user_rules {
            user_rules(findings, rules, &format!("{at}.userValidationRules"));
        }
    }
}

fn claim_rules(findings: &mut Findings, rules: &[ClaimRule], at: &str) -> Vec<Program> {
    let mut programs = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let at = format!("{at}[{index}]");
        let (required, cel) = (rule.required.as_ref(), rule.cel.as_ref());
        match &rule.kind {
            ClaimRuleKind::RequiredClaim => {
                stray_body(findings, cel.is_some(), &format!("{at}.cel"));
                required_claim(findings, required, &rules[..index], &format!("{at}.requiredClaim"));
            }
            ClaimRuleKind::Cel => {
                stray_body(findings, required.is_some(), &format!("{at}.requiredClaim"));
                programs.extend(cel_rule(findings, cel, &rules[..index], &format!("{at}.cel")));
            }
            ClaimRuleKind::Other(kind) => findings.problem(
                Code::ClaimRuleTypeUnknown,
                Refuser::Schema,
                format!("{at}.type"),
                kind,
                "there is no such type of rule",
            ),
        }
    }
    programs
}

/// The CRD forbids the other type's body.
fn stray_body(findings: &mut Findings, is_there: bool, path: &str) {
    if is_there {
        body_missing(findings, path, "it belongs to the other type of rule");
    }
}

fn body_missing(findings: &mut Findings, path: &str, why: &str) {
    findings.problem(Code::ClaimRuleBodyMissing, Refuser::Schema, path, "", why);
}

fn required_claim(findings: &mut Findings, body: Option<&RequiredClaim>, before: &[ClaimRule], at: &str) {
    let Some(body) = body else {
        return body_missing(findings, at, "there is no requiredClaim");
    };
    for (field, value) in [("claim", &body.claim), ("requiredValue", &body.value)] {
        if filled(value.as_deref()).is_none() {
            body_missing(findings, &format!("{at}.{field}"), "it is empty");
        }
    }
    let same = |rule: &ClaimRule| {
        let required = rule.required.as_ref().filter(|_| rule.kind == ClaimRuleKind::RequiredClaim);
        required.is_some_and(|required| required.claim == body.claim)
    };
    if let Some(claim) = filled(body.claim.as_deref()).filter(|_| before.iter().any(same)) {
        duplicate(findings, &format!("{at}.claim"), claim, "a rule before requires the same claim");
    }
}

fn cel_rule(findings: &mut Findings, body: Option<&CelRule>, before: &[ClaimRule], at: &str) -> Option<Program> {
    let Some(body) = body else {
        body_missing(findings, at, "there is no cel");
        return None;
    };
    let path = format!("{at}.expression");
    if filled(body.expression.as_deref()).is_none() {
        body_missing(findings, &path, "it is empty");
    }
    message(findings, body.message.as_deref(), at);
    let same = |rule: &ClaimRule| {
        let cel = rule.cel.as_ref().filter(|_| rule.kind == ClaimRuleKind::Cel);
        cel.is_some_and(|cel| cel.expression == body.expression)
    };
    if let Some(expression) = filled(body.expression.as_deref()).filter(|_| before.iter().any(same)) {
        duplicate(findings, &path, expression, "a rule before has the same expression");
    }
    // A rule that is not a bool never runs, so it looks at nothing.
    let program = findings.compile(&path, body.expression.as_deref(), Scope::Claims, Wants::Bool);
    program.filter(Program::is_bool)
}

fn duplicate(findings: &mut Findings, path: &str, value: &str, why: &str) {
    findings.problem(Code::ClaimRuleDuplicate, Refuser::KubeApiserver, path, value, why);
}

fn message(findings: &mut Findings, message: Option<&str>, at: &str) {
    let path = format!("{at}.message");
    if filled(message).is_none() {
        findings.problem(Code::MessageMissing, Refuser::Schema, &path, "", "there is no message");
    }
    findings.limit(&path, message, MESSAGE_CHARS_MAX);
}

fn user_rules(findings: &mut Findings, rules: &[CelRule], at: &str) {
    let mut missing = |path: String, why| {
        findings.problem(Code::UserRuleExpressionMissing, Refuser::Schema, path, "", why);
    };
    if rules.is_empty() {
        missing(at.to_owned(), "the list is empty");
    }
    for (index, _) in rules.iter().enumerate().filter(|(_, rule)| filled(rule.expression.as_deref()).is_none()) {
        missing(format!("{at}[{index}].expression"), "there is no expression");
    }
    findings.count_limit(at, rules.len(), 64);
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("{at}[{index}].expression");
        message(findings, rule.message.as_deref(), &format!("{at}[{index}]"));
        let expression = filled(rule.expression.as_deref());
        if let Some(expression) =
            expression.filter(|_| rules[..index].iter().any(|one| one.expression == rule.expression))
        {
            findings.problem(
                Code::UserRuleDuplicate,
                Refuser::Schema,
                &path,
                expression,
                "a rule before has the same expression",
            );
        }
        findings.compile(&path, expression, Scope::User, Wants::Bool);
    }
}

/// A username from the e-mail address needs a check that the address was verified.
fn email_verified(findings: &mut Findings, mappings: &Compiled, rules: &[Program], path: &str) {
    let Some(username) = mappings.username.as_ref().filter(|username| username.selects("email")) else { return };
    let looked_at = [username].into_iter().chain(&mappings.extra).chain(rules);
    if !looked_at.into_iter().any(|program| program.selects("email_verified")) {
        findings.problem(
            Code::EmailVerifiedMissing,
            Refuser::Operator,
            path,
            username.source(),
            "it uses claims.email, and nothing looks at claims.email_verified",
        );
    }
}
