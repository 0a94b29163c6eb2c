//! Who has to do what, where no action of ours repairs a set of machines.

use super::credentials::{Credentials, Half};
use super::names::{ROLE_ARN, SECRET, TOKEN_FILE};
use super::ruling::{Ruling, Why};
use super::subjects::Subject;
use super::verdict::Verdict;
use trueup_core::engine::text::ShellCommand;

/// The remedy; nothing where the summary ends with it.
pub fn to_fix(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Option<String> {
    let place = |field: fn(&super::machine::Machine<'_>) -> String| ruling.machine.as_ref().map(field);
    Some(match ruling.verdict {
        Verdict::CredentialsPartial => return unset(subject, &ruling.credentials),
        Verdict::InvalidSpec => "correct spec.template.spec".to_owned(),
        Verdict::InstanceTypeEmpty => {
            let field = place(|machine| machine.instance_type.field.clone());
            format!("set {} to an instance type", field.unwrap_or_else(|| "the instance type".to_owned()))
        }
        Verdict::SecretMissing => {
            let Credentials::SecretMissing { key } = &ruling.credentials else { return None };
            format!("create {} {key}, or name another one", SECRET.kind)
        }
        Verdict::InstanceTypeUnknown => {
            "use an instance type that the region offers, or set the capacity annotations by hand".to_owned()
        }
        Verdict::Transient => "wait: the request is repeated".to_owned(),
        Verdict::Unknown => match &ruling.why {
            Why::Failure(failure) if !failure.remedy.is_empty() => return None,
            Why::Nothing => "add an AWS account of this region to the configuration, then run trueup doctor".to_owned(),
            Why::Failure(_)
            | Why::Gap(_)
            | Why::Deleting
            | Why::Paused(_)
            | Why::Authority(_)
            | Why::Platform(_)
            | Why::Fault(_) => "run trueup doctor: it names what could not be read".to_owned(),
        },
        Verdict::RegionInvalid
        | Verdict::CredentialsNone
        | Verdict::SecretInvalid
        | Verdict::TokenUnreadable
        | Verdict::Denied
        | Verdict::Skipped
        | Verdict::NotAws
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match => return None,
    })
}

/// The command that takes half a pair of variables out of the annotator: with none set, the EKS webhook sets both.
fn unset(subject: &Subject<'_>, credentials: &Credentials) -> Option<String> {
    let Credentials::Half(half) = credentials else { return None };
    let annotator = subject.context.environment(subject.sort).annotator.as_ref()?;
    let variable = match half {
        Half::RoleAlone => ROLE_ARN,
        Half::TokenFileAlone => TOKEN_FILE,
    };
    let command = ShellCommand::new("oc")
        .option("--context", subject.context.cluster.name.as_str())
        .option("-n", &annotator.namespace)
        .words("set env")
        .operand(&format!("deploy/{}", annotator.deployment))
        .operand(&format!("{variable}-"));
    Some(command.line().to_string())
}
