//! The steps of a login to AWS, in order: ServiceAccount, its variables or a Secret, STS, EC2.
//!
//! Invariants: what was not tried from here is not judged: the role of a pod is taken on by the pod alone.
//! Elsewhere: where the login is found (`credentials`), what the account answered (`catalogue`).

use super::credentials::{Credentials, Half, SecretSort};
use super::facts::TokenMount;
use super::names::{ROLE_ARN, SECRET, TOKEN_FILE};
use super::process_environment::{Said, Seen};
use super::ruling::Ruling;
use super::subjects::Subject;
use super::verdict::Verdict;
use crate::Step;
use trueup_core::engine::State;
use trueup_core::world::Key;

/// The links; none where the login is not judged.
pub fn login_chain(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<Step> {
    let mut links = match &ruling.credentials {
        Credentials::NotJudged { .. } => return Vec::new(),
        Credentials::NotKnown(gap) => vec![Step::judged("login", State::Unknown, gap.to_string())],
        Credentials::Role { role, token_file, token } => {
            let mut links = account_link(subject);
            links.push(set(ROLE_ARN, role));
            links.push(token_link(token_file, token.as_ref()));
            links
        }
        Credentials::Half(half) => {
            let seen = seen(subject);
            let mut links = account_link(subject);
            let role = seen.and_then(|seen| seen.role.as_deref()).unwrap_or_default();
            let token = seen.and_then(|seen| seen.token_file.as_deref()).unwrap_or_default();
            links.extend(match half {
                Half::RoleAlone => [set(ROLE_ARN, role), not_set(TOKEN_FILE)],
                Half::TokenFileAlone => [not_set(ROLE_ARN), set(TOKEN_FILE, token)],
            });
            links
        }
        Credentials::Secret { key, sort: SecretSort::Keys } => {
            vec![secret(key, State::Match, "access key"), ec2(ruling)]
        }
        Credentials::Secret { key, sort: SecretSort::WebIdentity } => {
            vec![secret(key, State::Match, "role and token file")]
        }
        Credentials::SecretMissing { key } => vec![secret(key, State::Error, "does not exist")],
        Credentials::SecretInvalid { key } => vec![secret(key, State::Error, "holds no usable login")],
        Credentials::None { .. } => {
            let mut links = account_link(subject);
            links.push(not_set(ROLE_ARN));
            links.push(Step::not_judged(TOKEN_FILE));
            links
        }
    };
    let has_keys = matches!(ruling.credentials, Credentials::Secret { sort: SecretSort::Keys, .. });
    if !has_keys {
        links.extend(["STS", "EC2"].map(Step::not_judged));
    }
    links
}

fn seen<'s>(subject: &'s Subject<'_>) -> Option<&'s Seen> {
    match &subject.context.environment(subject.sort).said {
        Said::Known(seen) => Some(seen),
        Said::Nothing | Said::NotKnown(_) => None,
    }
}

/// The ServiceAccount of the annotator's pod; nothing in a recording.
fn account_link(subject: &Subject<'_>) -> Vec<Step> {
    let account = seen(subject).and_then(|seen| seen.pod.as_ref()?.service_account.as_ref());
    let link = |(key, _): &(Key, String)| Step::judged("ServiceAccount", State::Match, key.to_string());
    account.map(link).into_iter().collect()
}

fn set(variable: &str, value: &str) -> Step {
    Step::judged(variable, State::Match, value)
}

fn not_set(variable: &str) -> Step {
    Step::judged(variable, State::Error, "").with_value("not set")
}

fn token_link(token_file: &str, token: Option<&TokenMount>) -> Step {
    match token {
        Some(TokenMount::NotMounted) => Step::judged(TOKEN_FILE, State::Error, token_file).with_value("not mounted"),
        Some(TokenMount::NotAToken) => {
            Step::judged(TOKEN_FILE, State::Error, token_file).with_value("not a ServiceAccount token")
        }
        None | Some(TokenMount::NotNamed | TokenMount::Token { .. }) => set(TOKEN_FILE, token_file),
    }
}

fn secret(key: &Key, state: State, value: &str) -> Step {
    let step = Step::judged(format!("{} {key}", SECRET.kind), state, "");
    step.with_value(if state == State::Match { String::new() } else { value.to_owned() })
}

/// What EC2 answered to the keys of a set.
fn ec2(ruling: &Ruling<'_>) -> Step {
    match (ruling.why.failure(), ruling.asked) {
        (Some(failure), _) => {
            let state = if failure.verdict == Verdict::Transient { State::Unknown } else { State::Error };
            Step::judged("EC2", state, failure.message.as_str()).with_value(failure.code.as_str())
        }
        (None, Some(by)) => Step::judged("EC2", State::Match, by.to_string()),
        (None, None) => Step::not_judged("EC2"),
    }
}
