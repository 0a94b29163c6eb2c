//! The section of `trueup doctor` about AWS: which credentials are used, each step with its result, what to change.

use super::account::{Examined, ExaminedEnd};
use super::client::Went;
use crate::clouds::Examination;

const NAME: &str = "aws";

fn good(message: String) -> Examination {
    Examination { name: NAME, message, remedy: None }
}

fn bad(message: String, remedy: impl Into<String>) -> Examination {
    Examination { name: NAME, message, remedy: Some(remedy.into()) }
}

/// The lines for what was found.
pub(super) fn lines(examined: Examined) -> Vec<Examination> {
    let Examined { steps, end } = examined;
    let is_shown = |went: Went| match went {
        Went::Past | Went::Taken => true,
        // The end says the same, with what to change.
        Went::Refused => false,
    };
    let mut lines: Vec<Examination> =
        steps.into_iter().filter(|step| is_shown(step.went)).map(|step| good(step.message)).collect();
    let end = match end {
        // Without AWS credentials one line is enough.
        ExaminedEnd::Nothing => {
            lines.clear();
            good("no AWS login on this machine; the credentials Secret of each MachineSet is used".to_owned())
        }
        ExaminedEnd::Failed(error) => bad(format!("{}: {}", error.class.as_str(), error.message), error.remedy),
        ExaminedEnd::Known { caller, role, region } => identity(&caller, role.as_deref(), &region),
    };
    lines.push(end);
    lines
}

/// The effective identity beside the expected role: a call may succeed as another principal.
fn identity(caller: &str, role: Option<&str>, region: &str) -> Examination {
    if caller.is_empty() {
        return bad(format!("STS in {region} returned no caller identity"), "check the connection to STS");
    }
    let name = |arn: &str| arn.split('/').nth(1).map(str::to_owned);
    let meant = role.and_then(|role| role.rsplit('/').next().map(str::to_owned));
    match (meant, name(caller)) {
        (Some(meant), Some(actual)) if meant != actual => bad(
            format!("STS in {region} returned {caller}, expected role {}", role.unwrap_or_default()),
            "find what else provides credentials to this process",
        ),
        _ => good(format!("STS in {region} returned {caller}")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::clouds::aws::account::{AwsCache, AwsWay, examine};
    use crate::connect::Env;
    use trueup_net::http::HttpClient;
    use trueup_sim::aws::SimAws;

    const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";
    const NOW: &str = "2026-11-16T10:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    async fn shown(env: &[(&str, &str)]) -> Vec<String> {
        let sim = SimAws::new(now);
        sim.trust(ROLE, "https://issuer", "openshift", "me");
        sim.add_user("ann", "AKIASIM", "canary-secret");
        let home = tempfile::tempdir().unwrap();
        let token = sim.mint_token("https://issuer", "openshift", "me", "2026-11-16T11:00:00Z".parse().unwrap());
        std::fs::write(home.path().join("token"), &token).unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let keys = "[mine]\naws_access_key_id = AKIASIM\naws_secret_access_key = canary-secret\n";
        std::fs::write(home.path().join(".aws/credentials"), keys).unwrap();
        let folder = home.path().to_str().unwrap();
        let placed = |value: &str| value.replace("$HOME", folder);
        let env: Vec<(String, String)> = env.iter().map(|(name, value)| ((*name).to_owned(), placed(value))).collect();
        let env = Env::new(env.into_iter().chain([("HOME".to_owned(), folder.to_owned())]));
        let way = AwsWay::InProcess(HttpClient::in_process(sim.service()));
        let checks = lines(examine(&AwsCache::new(way, &env, Arc::new(now))).await);
        let line = |line: Examination| match line.remedy {
            None => format!("ok {}", line.message),
            Some(remedy) => format!("!! {}; {remedy}", line.message),
        };
        let lines: Vec<String> = checks.into_iter().map(|check| line(check).replace(folder, "$HOME")).collect();
        assert!(!lines.concat().contains("canary") && !lines.concat().contains(&token), "{lines:?}");
        lines
    }

    type Case = (&'static str, Vec<(&'static str, &'static str)>, &'static [&'static str]);

    #[tokio::test]
    async fn the_login_of_this_machine_is_reported_with_its_source_and_what_to_change() {
        let cases: [Case; 4] = [
            (
                "the user's own profile, shown as such",
                vec![("AWS_PROFILE", "mine"), ("AWS_REGION", "eu-west-1")],
                &[
                    "ok environment: no web identity variables",
                    "ok this machine: your own profile \"mine\"",
                    "ok STS in eu-west-1 returned arn:aws:iam::123456789012:user/ann",
                ],
            ),
            (
                "keys of the environment",
                vec![("AWS_ACCESS_KEY_ID", "AKIASIM"), ("AWS_SECRET_ACCESS_KEY", "canary-secret")],
                &[
                    "ok environment: no web identity variables",
                    "ok this machine: access keys of the environment",
                    "ok STS in us-east-1 returned arn:aws:iam::123456789012:user/ann",
                ],
            ),
            (
                "a profile that does not exist",
                vec![("AWS_PROFILE", "mien")],
                &[
                    "ok environment: no web identity variables",
                    "ok this machine: your own profile \"mien\"",
                    "!! denied: there is no profile \"mien\" in ~/.aws/config or ~/.aws/credentials; did you mean \"mine\"? \
                     correct AWS_PROFILE",
                ],
            ),
            (
                "EKS Pod Identity without its token",
                vec![
                    ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
                    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"),
                    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "$HOME/none"),
                ],
                &[
                    "ok environment: no web identity variables",
                    "ok this machine: the credentials of this container (ECS, EKS Pod Identity)",
                    "!! denied: the credentials of this container (ECS, EKS Pod Identity): they cannot be asked for; check \
                     AWS_CONTAINER_CREDENTIALS_FULL_URI and AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                ],
            ),
        ];
        for (case, env, expected) in cases {
            assert_eq!(shown(&env).await, expected, "case: {case}");
        }
    }

    #[tokio::test]
    async fn each_step_is_reported_with_its_result_and_what_to_change() {
        let role = ("AWS_ROLE_ARN", ROLE);
        let cases: [Case; 4] = [
            (
                "nothing",
                vec![],
                &["ok no AWS login on this machine; the credentials Secret of each MachineSet is used"],
            ),
            (
                "IRSA",
                vec![role, ("AWS_WEB_IDENTITY_TOKEN_FILE", "$HOME/token")],
                &[
                    "ok environment: web identity of arn:aws:iam::123456789012:role/annotator",
                    "ok STS in us-east-1 returned arn:aws:sts::123456789012:assumed-role/annotator/trueup",
                ],
            ),
            (
                "the role set by hand",
                vec![role],
                &["!! denied: AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing; AWS_ROLE_ARN is set by \
                   hand, so the EKS webhook injected nothing: take it out of the pod's spec and annotate the \
                   ServiceAccount with eks.amazonaws.com/role-arn, or set both"],
            ),
            (
                "no token there",
                vec![role, ("AWS_WEB_IDENTITY_TOKEN_FILE", "$HOME/none")],
                &[
                    "ok environment: web identity of arn:aws:iam::123456789012:role/annotator",
                    "!! token-unreadable: the web identity token $HOME/none: the file does not exist on this machine; mount the \
                     service account token there, or run where it is mounted",
                ],
            ),
        ];
        for (case, env, expected) in cases {
            assert_eq!(shown(&env).await, expected, "case: {case}");
        }
    }

    #[test]
    fn a_call_that_succeeds_as_another_principal_is_reported() {
        let wrong = identity("arn:aws:sts::1:assumed-role/node-role/i-1", Some(ROLE), "us-east-1");
        assert!(wrong.remedy.is_some(), "{}", wrong.message);
        let right = identity("arn:aws:sts::1:assumed-role/annotator/x", Some(ROLE), "us-east-1");
        assert!(right.remedy.is_none(), "{}", right.message);
    }
}
