//! The user's own login to a cluster, for actions that change who can log in.
//!
//! Invariants: of a credential only its kind is shown; a credential of unknown kind is assumed to end.

use crate::session::Session;
use trueup_checks::kubeconfig::content::{Jwt, Token};
use trueup_core::engine::{Conditions, Evidence, Judged, OwnLogin, Stake};
use trueup_core::files;
use trueup_core::world::{ClusterName, ClusterSource, View};
use trueup_fleet::connect::{Access, Bearer};

/// Tokens have a few kilobytes; a larger file is not a token.
const TOKEN_BYTES_MAX: u64 = 64 * 1024;

/// Reads how the user is logged in wherever an action would change who can log in.
pub fn look(session: &Session, judged: &[Judged], view: View<'_>, conditions: &mut Conditions) {
    let mut kubeconfig = None;
    for name in at_stake(judged) {
        let Some(ClusterSource::Kubeconfig { context: named }) = view.cluster(name).map(|cluster| &cluster.source)
        else {
            continue;
        };
        if conditions.logins.contains_key(name) {
            continue;
        }
        let read = kubeconfig.get_or_insert_with(|| session.read_kubeconfig());
        let access = read.as_ref().ok().and_then(|kubeconfig| kubeconfig.access(named).ok());
        conditions.logins.extend(access.map(|access| (name.clone(), login(&access))));
    }
}

/// Adds to every finding with such an action whether the user's login survives it.
pub fn tell(judged: &mut [Judged], conditions: &Conditions) {
    for Judged { subject, judgement: _, explanation } in judged {
        let is_at_stake = explanation.remedy.iter().any(|draft| draft.stake == Stake::Login);
        let Some(login) = conditions.logins.get(&subject.cluster).filter(|_| is_at_stake) else { continue };
        let message = match login.survives() {
            Ok(message) => message.to_owned(),
            Err(why) => format!("your own login may end: {why}"),
        };
        explanation.evidence.push(Evidence {
            message,
            object: format!("the kubeconfig's context {}", subject.cluster),
            field: String::new(),
            resource_version: String::new(),
        });
    }
}

/// Whether there is any such action.
pub fn is_at_stake(judged: &[Judged]) -> bool {
    at_stake(judged).next().is_some()
}

fn at_stake(judged: &[Judged]) -> impl Iterator<Item = &ClusterName> {
    let drafts = judged.iter().flat_map(|one| &one.explanation.remedy);
    drafts.filter(|draft| draft.stake == Stake::Login).map(|draft| &draft.target.cluster)
}

fn login(access: &Access) -> OwnLogin {
    let may_end = |why: &str| OwnLogin::MayEnd(why.to_owned());
    if access.certificate.is_some() {
        return OwnLogin::Certificate;
    }
    match &access.bearer {
        Bearer::Token(token) => of_token(token.expose()),
        Bearer::TokenFile(path) => {
            let text = files::read_text(path, TOKEN_BYTES_MAX).ok();
            text.map_or_else(
                || may_end("the token file of your kubeconfig cannot be read"),
                |text| of_token(text.trim()),
            )
        }
        Bearer::Exec(_) => may_end("it comes from a credential plugin, and what that gives is not known"),
        Bearer::Basic { .. } => may_end("it is a password"),
        Bearer::None => may_end("there is none"),
    }
}

/// The kind of a token. No signature is verified: the API server did that.
fn of_token(token: &str) -> OwnLogin {
    let may_end = |why: &str| OwnLogin::MayEnd(why.to_owned());
    match Token::parse(token) {
        Token::Jwt(Jwt { subject, .. }) if subject.starts_with("system:serviceaccount:") => OwnLogin::ServiceAccount,
        Token::Jwt(_) => may_end("it is a token of some provider, and whether the new one takes it is not known"),
        Token::Opaque if token.starts_with("sha256~") => may_end("it is a token of the OAuth server, which is removed"),
        Token::Opaque | Token::Eks(_) | Token::Malformed(_) => may_end("it is a token of a sort that is not known"),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;
    use trueup_fleet::connect::{Kubeconfig, Trust};

    fn jwt(claims: &str) -> String {
        format!("{}.{}.c2ln", URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#), URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn only_certificates_and_service_accounts_are_known_to_survive() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, jwt(r#"{"sub":"system:serviceaccount:a:b"}"#) + "\n").unwrap();
        let plugin = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never}}";
        let cases = [
            ("a certificate", "{client-certificate-data: YQ==, client-key-data: YQ==}".to_owned(), Ok("certificate")),
            (
                "a certificate beside a token",
                "{client-certificate-data: YQ==, client-key-data: YQ==, token: sha256~x}".to_owned(),
                Ok("certificate"),
            ),
            (
                "a service account",
                format!("{{token: {}}}", jwt(r#"{"sub":"system:serviceaccount:a:b"}"#)),
                Ok("service account"),
            ),
            ("its token in a file", format!("{{tokenFile: '{}'}}", file.display()), Ok("service account")),
            ("no file there", "{tokenFile: /nowhere/token}".to_owned(), Err("cannot be read")),
            ("the OAuth server's", "{token: sha256~canary}".to_owned(), Err("a token of the OAuth server")),
            (
                "a provider's",
                format!("{{token: {}}}", jwt(r#"{"sub":"jo","iss":"https://canary"}"#)),
                Err("of some provider"),
            ),
            ("anything", "{token: canary}".to_owned(), Err("a sort that is not known")),
            ("four parts", format!("{{token: {}.x}}", jwt(r#"{"sub":"system:serviceaccount:a:b"}"#)), Err("not known")),
            ("a plugin", plugin.to_owned(), Err("a credential plugin")),
            ("a password", "{username: jo, password: canary}".to_owned(), Err("a password")),
            ("nothing", "{}".to_owned(), Err("there is none")),
        ];
        for (case, user, expected) in cases {
            let text = format!(
                "{{contexts: [{{name: x, context: {{cluster: c, user: u}}}}], \
                 clusters: [{{name: c, cluster: {{server: 'https://h'}}}}], users: [{{name: u, user: {user}}}]}}"
            );
            let access = Kubeconfig::parse(&text, "the text", Trust::UsersOwn).unwrap().access("x").unwrap();
            let found = login(&access);
            match (found.survives(), expected) {
                (Ok(message), Ok(expected)) => assert!(message.contains(expected), "case: {case}: {message}"),
                (Err(why), Err(expected)) => {
                    assert!(why.contains(expected) && !why.contains("canary"), "case: {case}: {why}");
                }
                (found, expected) => panic!("case: {case}: {found:?}, and {expected:?} was expected"),
            }
        }
    }
}
