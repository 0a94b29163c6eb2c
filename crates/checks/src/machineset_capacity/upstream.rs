//! What upstream's annotator reports about the same set of machines: its events, shown beside our cause and never written.
//!
//! Who looks at events finds the same two reasons whatever went wrong. Having both on one screen says which of them is
//! about what.
//!
//! Invariants: its own words, for MachineSets those of the release that takes on roles, for MachineDeployments those of
//! the release that knows Cluster API (`docs/facts/irsa-machineset.md` section 7).

use super::credentials::{Credentials, Half};
use super::facts::Provider;
use super::machine::Fault;
use super::names::TEMPLATE;
use super::ruling::Ruling;
use super::subjects::{Sort, Subject};
use super::verdict::{Code, Verdict};
use trueup_core::world::Namespace;

/// The one text for whatever goes wrong while a type is looked up.
const TYPE_UNKNOWN: &str =
    "Warning FailedUpdate: Failed to set autoscaling from zero annotations, instance type unknown";

/// A MachineDeployment's region that is nowhere to be found.
const REGION_UNKNOWN: &str = "unable to determine AWS region from AWSCluster or annotation …";

/// The events it writes, one a line; a sentence of ours where it does something else without a word.
pub fn message(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<String> {
    match subject.sort {
        Sort::MachineApi => of_machine_set(subject, ruling),
        Sort::Deployment => of_deployment(ruling),
        // It looks at MachineDeployments alone.
        Sort::CapiSet => Vec::new(),
    }
}

/// The sentences of its errors about these credentials, word for word.
pub fn sentences(subject: &Subject<'_>, credentials: &Credentials) -> Vec<String> {
    const NOTHING: &str = "neither IRSA environment variables nor credentialsSecret specified";
    match credentials {
        Credentials::Half(_) => vec![half(credentials).to_owned()],
        Credentials::None { .. } => {
            let client = format!("no AWS credentials configured: {NOTHING}");
            let controller = format!("no AWS credentials configured for machineSet {}: {NOTHING}", subject.key.name);
            match subject.sort {
                Sort::MachineApi => vec![controller, client],
                Sort::Deployment | Sort::CapiSet => vec![client],
            }
        }
        Credentials::SecretMissing { key } => {
            vec![format!("aws credentials secret {key}: Secret \"{}\" not found not found", key.name)]
        }
        Credentials::NotJudged { .. }
        | Credentials::NotKnown(_)
        | Credentials::Role { .. }
        | Credentials::Secret { .. }
        | Credentials::SecretInvalid { .. } => Vec::new(),
    }
}

fn of_machine_set(subject: &Subject<'_>, ruling: &Ruling<'_>) -> Vec<String> {
    let failed = |why: String| vec![format!("Warning ReconcileError: {why}")];
    let client = |why: &str| failed(format!("error creating aws client: {why}"));
    let name = subject.key.name.as_str();
    let nothing_configured = || {
        failed(format!(
            "no AWS credentials configured for machineSet {name}: neither IRSA environment variables nor \
             credentialsSecret specified"
        ))
    };
    let region = ruling.machine.as_ref().map_or("", |machine| machine.region.value);
    match ruling.verdict {
        Verdict::InvalidSpec => match ruling.why.fault() {
            Some(Fault::Unreadable) => {
                failed("failed to get providerConfig: error unmarshalling providerSpec: …".to_owned())
            }
            // It reads nothing as a spec without a type, a region and a Secret.
            Some(
                Fault::Absent
                | Fault::Unnamed(_)
                | Fault::Dangling { .. }
                | Fault::Regionless { .. }
                | Fault::OddTemplate { .. },
            )
            | None => nothing_configured(),
        },
        Verdict::RegionInvalid => client(&format!("region {region} is not a valid region")),
        Verdict::CredentialsPartial if !secret(subject).is_empty() => client(half(&ruling.credentials)),
        // The question whether there is anything at all comes first there, and hides the half.
        Verdict::CredentialsPartial | Verdict::CredentialsNone => nothing_configured(),
        Verdict::SecretMissing => client(&format!("aws credentials secret {}: … not found", secret(subject))),
        Verdict::SecretInvalid => {
            client("failed to create shared credentials file from Secret: invalid secret for aws credentials")
        }
        Verdict::Denied if is_about_region(ruling, "region-not-opted-in") => {
            client(&format!("region {region} is not opted in"))
        }
        Verdict::Denied if is_about_region(ruling, "region-unknown") => {
            client(&format!("region {region} is not a valid region"))
        }
        Verdict::InstanceTypeUnknown => not_described(ruling),
        Verdict::InstanceTypeEmpty | Verdict::TokenUnreadable | Verdict::Denied | Verdict::Transient => {
            vec![TYPE_UNKNOWN.to_owned()]
        }
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match
        | Verdict::Unknown => Vec::new(),
    }
}

/// Each fault of a spec gives two events, with two reasons.
fn of_deployment(ruling: &Ruling<'_>) -> Vec<String> {
    let twice = |what: &str, why: String| {
        vec![format!("Warning FailedUpdate: Failed to {what}: {why}"), format!("Warning ReconcileError: {why}")]
    };
    match ruling.verdict {
        Verdict::InvalidSpec => match ruling.why.fault() {
            Some(Fault::Unnamed(kind)) if *kind == TEMPLATE.kind => {
                twice("resolve AWSMachineTemplate", "infrastructureRef.name is empty".to_owned())
            }
            Some(Fault::Dangling { kind, key }) if *kind == TEMPLATE.kind => {
                twice("resolve AWSMachineTemplate", format!("failed to fetch AWSMachineTemplate {key}: …"))
            }
            Some(Fault::OddTemplate { .. }) => twice("extract instance type", "…".to_owned()),
            Some(
                Fault::Absent
                | Fault::Unreadable
                | Fault::Unnamed(_)
                | Fault::Dangling { .. }
                | Fault::Regionless { .. },
            )
            | None => twice("resolve AWS region", REGION_UNKNOWN.to_owned()),
        },
        Verdict::InstanceTypeEmpty => {
            twice("extract instance type", "instanceType is empty in AWSMachineTemplate".to_owned())
        }
        Verdict::RegionInvalid => {
            let is_empty = ruling.machine.as_ref().is_some_and(|machine| machine.region.value.is_empty());
            if is_empty {
                twice("resolve AWS region", REGION_UNKNOWN.to_owned())
            } else {
                vec![TYPE_UNKNOWN.to_owned()]
            }
        }
        Verdict::CredentialsPartial | Verdict::CredentialsNone => {
            vec![
                "nothing of the login: it takes whatever else its SDK finds, which may be the node's own role"
                    .to_owned(),
            ]
        }
        Verdict::InstanceTypeUnknown => not_described(ruling),
        Verdict::TokenUnreadable | Verdict::Denied | Verdict::Transient => vec![TYPE_UNKNOWN.to_owned()],
        // Its kinds name no Secret.
        Verdict::SecretMissing
        | Verdict::SecretInvalid
        | Verdict::Skipped
        | Verdict::NotAws
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match
        | Verdict::Unknown => Vec::new(),
    }
}

/// A type that is offered and not described is annotated with a guess.
fn not_described(ruling: &Ruling<'_>) -> Vec<String> {
    let has = |code: Code| ruling.codes.contains(&code);
    let guess = match (has(Code::CapacityZero), has(Code::ArchitectureUnknown)) {
        (false, false) => return vec![TYPE_UNKNOWN.to_owned()],
        (true, false) => "\"0\"",
        (false, true) => "the architecture amd64",
        (true, true) => "\"0\" and the architecture amd64",
    };
    vec![format!("nothing: it writes {guess}, and takes that for an answer")]
}

/// The Secret it names, as `namespace/name`; empty where it names none.
fn secret(subject: &Subject<'_>) -> String {
    let namespace = subject.namespace().map_or("", Namespace::as_str);
    match &subject.pool.provider {
        Provider::Inline { secret, .. } if !secret.is_empty() => format!("{namespace}/{secret}"),
        Provider::Inline { .. }
        | Provider::Absent
        | Provider::Unreadable
        | Provider::Foreign { .. }
        | Provider::Template { .. } => String::new(),
    }
}

fn half(credentials: &Credentials) -> &'static str {
    match credentials {
        Credentials::Half(Half::RoleAlone) => "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing",
        Credentials::Half(Half::TokenFileAlone) => "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing",
        Credentials::NotJudged { .. }
        | Credentials::NotKnown(_)
        | Credentials::Role { .. }
        | Credentials::Secret { .. }
        | Credentials::SecretMissing { .. }
        | Credentials::SecretInvalid { .. }
        | Credentials::None { .. } => "",
    }
}

fn is_about_region(ruling: &Ruling<'_>, code: &str) -> bool {
    ruling.why.failure().is_some_and(|failure| failure.code == code)
}
