//! Who has to do what, where no action of ours repairs a set of machines.

use super::credentials::Credentials;
use super::names::SECRET;
use super::ruling::{Ruling, Why};
use super::verdict::Verdict;

/// The remedy; nothing where the summary ends with it.
pub fn to_fix(ruling: &Ruling<'_>) -> Option<String> {
    let place = |field: fn(&super::machine::Machine<'_>) -> String| ruling.machine.as_ref().map(field);
    Some(match ruling.verdict {
        Verdict::InvalidSpec => "correct spec.template.spec".to_owned(),
        Verdict::InstanceTypeEmpty => {
            let field = place(|machine| machine.instance_type.field.clone());
            format!("set {} to an instance type", field.unwrap_or_else(|| "the instance type".to_owned()))
        }
        Verdict::SecretMissing => match &ruling.credentials {
            Credentials::SecretMissing { key } => format!("create {} {key}, or name another one", SECRET.kind),
            _other_login => return None,
        },
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
        | Verdict::CredentialsPartial
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
