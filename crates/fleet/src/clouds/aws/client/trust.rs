//! The trust policy of a role beside the claims of a token: what has to agree, and what does.
//!
//! Invariant: nothing of a policy is believed to allow or deny; STS is the judge. Texts of both are shown on one line.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::api::Aws;
use super::arn::RoleArn;
use super::endpoint::Service;
use super::error::{AwsError, Class};
use super::partition::Partition;
use super::query::{self, Call, Signer};
use super::sts::Keys;
use super::token::Claims;
use super::xml::{self, Met};
use trueup_net::one_line;

const ACTION: &str = "sts:AssumeRoleWithWebIdentity";
/// The lines that are shown at most: a policy has 2,048 characters unless its quota was raised.
const LINES_MAX: usize = 20;
/// What the ARN of an OIDC provider has before its name.
const PROVIDER: &str = "oidc-provider/";

impl Aws {
    /// Reads the trust policy of a role, as JSON.
    ///
    /// # Errors
    /// The keys may not read it, or it is of another account.
    pub(in super::super) async fn trust_policy(&self, keys: &Keys, role: &RoleArn) -> Result<Value, AwsError> {
        let region = Partition::parse(role.partition()).unwrap_or(Partition::Aws).home();
        let (service, action) = (Service::Iam, "GetRole");
        let parameters = vec![("RoleName".to_owned(), role.name())];
        let call = Call { service, action, region: &region, signer: Signer::Keys(keys), parameters, secrets: vec![] };
        let body = self.call(&call).await?;
        let (mut arn, mut document) = (String::new(), String::new());
        query::read(&call, &body, "GetRoleResponse", |met| {
            let Met::Text { path, text } = met else { return };
            if xml::is(path, &["GetRoleResult", "Role", "AssumeRolePolicyDocument"]) {
                document = percent_decode_str(text).decode_utf8_lossy().into_owned();
            } else if xml::is(path, &["GetRoleResult", "Role", "Arn"]) {
                text.clone_into(&mut arn);
            }
        })?;
        if arn != role.as_str() {
            let message = format!("iam GetRole: the role {} of this machine's own account is another one", role.name());
            return Err(AwsError::new(Class::Denied, "other-account", message, "log in to the role's account"));
        }
        serde_json::from_str(&document).map_err(|_| AwsError::unreadable(service, action, "its policy is not JSON"))
    }
}

/// What the trust policy of a role has to say for a token with these claims.
pub(in super::super) fn needed(role: &RoleArn, claims: &Claims) -> String {
    let provider = provider_of(&claims.issuer);
    let arn = format!("arn:{}:iam::{}:{PROVIDER}{provider}", role.partition(), role.account());
    let text = format!(
        "the trust policy of {role} has to allow {ACTION} to {arn}, with {provider}:aud {} and {provider}:sub {}",
        claims.audiences.join(" or "),
        claims.subject
    );
    one_line(&text, 600)
}

/// Each condition of the policy beside the claim it is about.
pub(in super::super) fn beside(policy: &Value, claims: &Claims) -> Vec<String> {
    let statements = some_or_many(&policy["Statement"]);
    let allowing = statements.into_iter().filter(|one| one["Effect"] == "Allow" && names_action(&one["Action"]));
    let mut lines: Vec<String> = Vec::new();
    for statement in allowing {
        lines.extend(principal(&statement["Principal"], claims));
        lines.extend(conditions(&statement["Condition"], claims));
    }
    if lines.is_empty() {
        return vec![format!("trust policy: no statement allows {ACTION} to an OIDC provider")];
    }
    lines.truncate(LINES_MAX);
    lines
}

fn names_action(action: &Value) -> bool {
    texts(action).iter().any(|one| matches(one, ACTION))
}

fn principal(principal: &Value, claims: &Claims) -> Vec<String> {
    let expected = provider_of(&claims.issuer);
    let federated = texts(&principal["Federated"]).into_iter();
    let shown = federated.map(|arn| {
        let provider = arn.split_once(PROVIDER).map_or(arn.as_str(), |(_, name)| name).to_owned();
        compared("Principal.Federated", std::slice::from_ref(&arn), "iss", &claims.issuer, provider == expected)
    });
    shown.collect()
}

fn conditions(condition: &Value, claims: &Claims) -> Vec<String> {
    let mut lines = Vec::new();
    let operators = condition.as_object().into_iter().flatten();
    for (operator, keys) in operators {
        for (key, values) in keys.as_object().into_iter().flatten() {
            let (provider, claim) = key.rsplit_once(':').unwrap_or(("", key));
            let allowed = texts(values);
            let is_like = operator.contains("StringLike");
            let fits = |held: &str| allowed.iter().any(|one| if is_like { matches(one, held) } else { one == held });
            let of_issuer = provider == provider_of(&claims.issuer);
            let name = format!("{operator} {key}");
            lines.push(match claim {
                "aud" => {
                    let is_met = of_issuer && claims.audiences.iter().any(|one| fits(one));
                    compared(&name, &allowed, "aud", &claims.audiences.join(" and "), is_met)
                }
                "sub" => compared(&name, &allowed, "sub", &claims.subject, of_issuer && fits(&claims.subject)),
                _ => one_line(&format!("trust policy: {name} {}: not compared", allowed.join(" or ")), 400),
            });
        }
    }
    lines
}

fn compared(name: &str, allowed: &[String], claim: &str, held: &str, is_met: bool) -> String {
    let end = if is_met { "agrees" } else { "differs" };
    let held = if held.is_empty() { "none" } else { held };
    one_line(&format!("trust policy: {name} {}; the token has {claim} {held}: {end}", allowed.join(" or ")), 400)
}

/// The issuer as IAM names it: without its scheme.
fn provider_of(issuer: &str) -> &str {
    issuer.strip_prefix("https://").unwrap_or(issuer).trim_end_matches('/')
}

fn some_or_many(value: &Value) -> Vec<&Value> {
    match value.as_array() {
        Some(many) => many.iter().collect(),
        None => vec![value],
    }
}

fn texts(value: &Value) -> Vec<String> {
    some_or_many(value).into_iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// `*` stands for any text, `?` for one letter, as in IAM.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    // Where the last `*` was, and how much of the text it has taken so far.
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[from] => {
                at += 1;
                from += 1;
            }
            Some(_) | None => {
                let Some((held, taken)) = star else { return false };
                star = Some((held, taken + 1));
                at = held + 1;
                from = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims() -> Claims {
        Claims {
            audiences: vec!["sts.amazonaws.com".to_owned()],
            issuer: "https://oidc.example/c1".to_owned(),
            subject: "system:serviceaccount:tools:annotator".to_owned(),
            expires: None,
        }
    }

    #[test]
    fn each_condition_stands_beside_the_claim_it_is_about() {
        let statement = |conditions: Value| {
            json!({ "Statement": [
                { "Effect": "Allow", "Principal": { "Service": "ec2.amazonaws.com" }, "Action": "sts:AssumeRole" },
                { "Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
                  "Principal": { "Federated": "arn:aws:iam::1:oidc-provider/oidc.example/c1" }, "Condition": conditions },
            ] })
        };
        let provider = "trust policy: Principal.Federated arn:aws:iam::1:oidc-provider/oidc.example/c1; the token has iss \
                        https://oidc.example/c1: agrees";
        let sub = "the token has sub system:serviceaccount:tools:annotator";
        let cases: [(&str, Value, Vec<String>); 5] = [
            (
                "all agree",
                statement(json!({ "StringEquals": { "oidc.example/c1:aud": "sts.amazonaws.com" },
                    "StringLike": { "oidc.example/c1:sub": ["system:serviceaccount:x:*", "system:serviceaccount:to?ls:*"] } })),
                vec![
                    provider.to_owned(),
                    "trust policy: StringEquals oidc.example/c1:aud sts.amazonaws.com; the token has aud \
                     sts.amazonaws.com: agrees"
                        .to_owned(),
                    format!(
                        "trust policy: StringLike oidc.example/c1:sub system:serviceaccount:x:* or \
                             system:serviceaccount:to?ls:*; {sub}: agrees"
                    ),
                ],
            ),
            (
                "another subject",
                statement(json!({ "StringEquals": { "oidc.example/c1:sub": "system:serviceaccount:tools:*" } })),
                vec![
                    provider.to_owned(),
                    format!(
                        "trust policy: StringEquals oidc.example/c1:sub system:serviceaccount:tools:*; {sub}: differs"
                    ),
                ],
            ),
            (
                "another provider's condition",
                statement(json!({ "StringEquals": { "oidc.example/c2:aud": "sts.amazonaws.com" } })),
                vec![
                    provider.to_owned(),
                    "trust policy: StringEquals oidc.example/c2:aud sts.amazonaws.com; the token has aud \
                     sts.amazonaws.com: differs"
                        .to_owned(),
                ],
            ),
            (
                "a condition about something else",
                statement(json!({ "IpAddress": { "aws:SourceIp": "10.0.0.0/8" } })),
                vec![provider.to_owned(), "trust policy: IpAddress aws:SourceIp 10.0.0.0/8: not compared".to_owned()],
            ),
            (
                "no such statement",
                json!({ "Statement": { "Effect": "Allow", "Principal": { "AWS": "*" }, "Action": "sts:AssumeRole" } }),
                vec!["trust policy: no statement allows sts:AssumeRoleWithWebIdentity to an OIDC provider".to_owned()],
            ),
        ];
        for (case, policy, expected) in cases {
            assert_eq!(beside(&policy, &claims()), expected, "case: {case}");
        }
    }

    #[test]
    fn stars_and_question_marks_are_iams() {
        let cases = [
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("", "a", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
