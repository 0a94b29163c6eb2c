//! `trueup oidc login --review`: what the API server says of the token, beside what the mappings make of it.
//!
//! Invariants: an identity that was not reviewed is never called equal; no part of the token is printed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::context::Context;
use super::super::error::CliError;
use trueup_checks::external_oidc::{Answer, Identity};
use trueup_core::world::{Cluster, ClusterSource};
use trueup_net::SecretText;
use trueup_operate::{Fleet, Reviewed, ReviewedUser};

/// The group that the API server gives to every user.
const EVERYONE: &str = "system:authenticated";
const COLUMN: usize = 36;

/// The error for claims, which no API server takes.
pub fn no_token() -> CliError {
    let hint = "name a file with a token, or leave out --review";
    CliError::usage("--review", "the file has claims, and an API server takes a token", hint)
}

/// Whom to ask: the context, or why no API server is asked.
pub fn context_of(cluster: &Cluster) -> Result<String, String> {
    match &cluster.source {
        ClusterSource::Kubeconfig { context } => Ok(context.clone()),
        ClusterSource::Hosted { .. } => {
            Err(format!("not sent: no context of the kubeconfig leads to {}", cluster.name))
        }
        ClusterSource::Snapshot | ClusterSource::Cloud { .. } | ClusterSource::Local => {
            Err("not sent: a snapshot has no API server".to_owned())
        }
    }
}

/// Sends the token, if there is one to send.
pub async fn ask(fleet: &Fleet, to: Result<String, String>, sent: Option<SecretText>) -> Option<Reviewed> {
    let token = sent?;
    Some(match to {
        Ok(context) => fleet.session().review_token(&context, token).await,
        Err(why) => Reviewed::Unknown(why),
    })
}

/// The review as JSON.
#[derive(Serialize)]
pub struct ReviewJson {
    accepted: Option<bool>,
    #[serde(flatten)]
    user: Option<UserJson>,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    differs: Vec<&'static str>,
}

#[derive(Serialize)]
struct UserJson {
    username: String,
    uid: String,
    groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
}

pub fn json(answer: &Answer, reviewed: &Reviewed) -> ReviewJson {
    let (accepted, user, message) = match reviewed {
        Reviewed::User(user) => {
            let ReviewedUser { username, uid, groups, extra } = user.clone();
            (Some(true), Some(UserJson { username, uid, groups, extra }), String::new())
        }
        Reviewed::Refused => (Some(false), None, REFUSED.to_owned()),
        Reviewed::Unknown(why) => (None, None, why.clone()),
    };
    ReviewJson { accepted, user, message, differs: differences(answer, reviewed) }
}

const REFUSED: &str = "the API server does not take the token (401)";

/// What differs between the simulated and the reviewed identity. Nothing where one of them is not known.
pub fn differences(answer: &Answer, reviewed: &Reviewed) -> Vec<&'static str> {
    match (answer, reviewed) {
        (Answer::Accepted(identity), Reviewed::User(user)) => {
            let Identity { username, uid, groups, extra, .. } = identity;
            let own: BTreeSet<&String> = user.groups.iter().filter(|group| *group != EVERYONE).collect();
            let fields = [
                ("username", *username == user.username),
                ("uid", *uid == user.uid),
                ("groups", groups.iter().collect::<BTreeSet<_>>() == own),
                ("extra", *extra == user.extra),
            ];
            fields.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
        }
        (Answer::Accepted(_), Reviewed::Refused) | (Answer::Refused(_), Reviewed::User(_)) => vec!["accepted"],
        (Answer::Refused(_), Reviewed::Refused) | (Answer::NotVerifiable(_), _) | (_, Reviewed::Unknown(_)) => {
            Vec::new()
        }
    }
}

/// Whether both accept the token as the same user.
pub fn agrees(answer: &Answer, reviewed: &Reviewed) -> bool {
    matches!(reviewed, Reviewed::User(_)) && differences(answer, reviewed).is_empty()
}

/// Both identities side by side; `!=` marks a line that differs.
pub fn table(context: &Context, answer: &Answer, reviewed: &Reviewed) -> String {
    let simulated = match answer {
        Answer::Accepted(Identity { username, uid, groups, extra, .. }) => {
            [username.clone(), uid.clone(), groups.join(", "), pairs(extra)]
        }
        Answer::Refused(refusal) => {
            [format!("refused by {}", refusal.by.as_str()), String::new(), String::new(), String::new()]
        }
        Answer::NotVerifiable(_) => ["unknown".to_owned(), String::new(), String::new(), String::new()],
    };
    let server = match reviewed {
        Reviewed::User(ReviewedUser { username, uid, groups, extra }) => {
            [username.clone(), uid.clone(), groups.join(", "), pairs(extra)]
        }
        Reviewed::Refused => [REFUSED.to_owned(), String::new(), String::new(), String::new()],
        Reviewed::Unknown(why) => [format!("unknown: {why}"), String::new(), String::new(), String::new()],
    };
    let differs = differences(answer, reviewed);
    let mut lines = vec![format!("   {:<10}{:<COLUMN$}  API SERVER\n", "", "SIMULATED")];
    for ((name, ours), theirs) in ["username", "uid", "groups", "extra"].into_iter().zip(simulated).zip(server) {
        let is_other = differs.contains(&name) || (name == "username" && differs.contains(&"accepted"));
        let (mark, safe) = (if is_other { "!=" } else { "  " }, |text: &str| context.terminal.safe(text));
        lines.push(
            format!("{mark} {name:<10}{:<COLUMN$}  {}\n", safe(&ours), safe(&theirs)).trim_end().to_owned() + "\n",
        );
    }
    lines.concat()
}

fn pairs(extra: &BTreeMap<String, Vec<String>>) -> String {
    let pair = |(key, values): (&String, &Vec<String>)| format!("{key} = {}", values.join(", "));
    extra.iter().map(pair).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_checks::external_oidc::{Refusal, RefusedBy};

    #[test]
    fn every_difference_is_named_and_an_unknown_review_never_agrees() {
        let extra = || BTreeMap::from([("k".to_owned(), vec!["v".to_owned()])]);
        let identity = Answer::Accepted(Identity {
            username: "jane".to_owned(),
            uid: "7".to_owned(),
            groups: vec!["a".to_owned(), "b".to_owned()],
            extra: extra(),
            assumed: Vec::new(),
            reserved: Vec::new(),
        });
        let refused = Answer::Refused(Refusal { by: RefusedBy::Issuer, rule: String::new(), message: String::new() });
        let same = ReviewedUser {
            username: "jane".to_owned(),
            uid: "7".to_owned(),
            groups: ["b", "a", EVERYONE].map(str::to_owned).to_vec(),
            extra: extra(),
        };
        let other = |change: fn(&mut ReviewedUser)| {
            let mut user = same.clone();
            change(&mut user);
            Reviewed::User(user)
        };
        let unknown = Reviewed::Unknown("timed out".to_owned());
        let cases: [(&str, &Answer, Reviewed, &[&str], bool); 9] = [
            ("the same", &identity, Reviewed::User(same.clone()), &[], true),
            ("another name", &identity, other(|user| user.username.clear()), &["username"], false),
            ("another uid", &identity, other(|user| user.uid.clear()), &["uid"], false),
            ("a group less", &identity, other(|user| drop(user.groups.remove(0))), &["groups"], false),
            ("no extra", &identity, other(|user| user.extra.clear()), &["extra"], false),
            ("refused there", &identity, Reviewed::Refused, &["accepted"], false),
            ("refused here", &refused, Reviewed::User(same.clone()), &["accepted"], false),
            ("refused by both", &refused, Reviewed::Refused, &[], false),
            ("not known", &identity, unknown, &[], false),
        ];
        for (case, answer, reviewed, expected, same) in cases {
            assert_eq!(differences(answer, &reviewed), expected, "case: {case}");
            assert_eq!(agrees(answer, &reviewed), same, "case: {case}");
        }
    }
}
