//! The question a person may ask of a cluster: who would I be with this token?
//!
//! Invariants: nothing that was typed is kept, and a signature is not checked; bindings that could not be read are said
//! to be missing, never that there are none.

use super::bound;
use super::context::CheckContext;
use super::login::{Answer, Identity, Refusal, Reserved, Token, login};

/// The answer, line by line.
pub fn answer(context: &CheckContext<'_>, typed: &str) -> Vec<String> {
    let Some(authentication) = context.authentication.seen else {
        return vec!["unknown: Authentication/cluster was not read".to_owned()];
    };
    let spec = &authentication.spec;
    if !spec.is_oidc() {
        let kind = spec.kind.as_str();
        return vec![format!("the type is {kind}: kube-apiserver takes no token of an OIDC provider")];
    }
    let gates = match &context.gates {
        Ok(gates) => gates,
        Err(gap) => return vec![format!("unknown: feature gates: {gap}")],
    };
    match Token::read(typed) {
        Err(bad) => vec![format!("this cannot be read: {bad}")],
        Ok(token) => match login(spec, gates, &token, context.view.now) {
            Answer::Accepted(identity) => {
                let mut lines = accepted(&identity);
                lines.extend(bindings(context, &identity));
                lines
            }
            Answer::Refused(Refusal { by, rule, message }) => {
                let mut lines = vec![format!("refused by {}: {message}", by.as_str())];
                lines.extend((!rule.is_empty()).then(|| format!("rule      {rule}")));
                lines
            }
            Answer::NotVerifiable(why) => vec![format!("not verifiable here: {why}")],
        },
    }
}

fn accepted(identity: &Identity) -> Vec<String> {
    let Identity { username, uid, groups, extra, assumed, reserved } = identity;
    let mut lines = vec![format!("username  {username}")];
    lines.extend((!uid.is_empty()).then(|| format!("uid       {uid}")));
    lines.extend((!groups.is_empty()).then(|| format!("groups    {}", groups.join(", "))));
    lines.extend(extra.iter().map(|(key, values)| format!("extra     {key} = {}", values.join(", "))));
    lines.extend((!assumed.is_empty()).then(|| format!("assumed   {}: not among the claims", assumed.join(", "))));
    lines.extend(reserved.iter().map(|name| match name {
        Reserved::Username(name) => format!("warning   the user name {name} is one Kubernetes keeps for itself"),
        Reserved::Group(name) => format!("warning   the group {name} is one Kubernetes keeps for itself"),
    }));
    lines
}

/// How many bindings are listed; for more, use `oc adm policy`.
const BINDINGS_MAX: usize = 20;

/// What the identity is bound to.
fn bindings(context: &CheckContext<'_>, identity: &Identity) -> Vec<String> {
    let found = bound::naming(context, &identity.username, &identity.groups);
    let gaps = bound::gaps(context);
    let mut lines: Vec<String> = found
        .iter()
        .take(BINDINGS_MAX)
        .map(|(bound, named)| format!("bound by  {} (as {})", bound.message(), named.message()))
        .collect();
    match found.len().saturating_sub(BINDINGS_MAX) {
        0 => {}
        more => lines.push(format!("          and {more} more")),
    }
    lines.extend(gaps.iter().map(|gap| format!("bindings  not all are known: {gap}")));
    if found.is_empty() && gaps.is_empty() {
        lines.push("bindings  no binding for user or groups; system:authenticated only".to_owned());
    }
    lines
}
