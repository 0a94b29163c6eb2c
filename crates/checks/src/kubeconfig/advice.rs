//! Who has to do what, where no action repairs a kubeconfig.

use super::ruling::Ruling;
use super::subjects::Sort;
use super::verdict::Verdict;

/// The remedy of a kubeconfig in a Secret.
pub fn advice(sort: Sort, ruling: &Ruling<'_>) -> &'static str {
    let renewer = match sort {
        Sort::Capi => "check that the controller of its control plane runs: it renews the Secret",
        Sort::Hosted => "check that HyperShift's operator runs: it renews the Secret",
        Sort::User => "write the kubeconfig again: its provider makes it once",
    };
    match ruling.verdict() {
        Verdict::Unknown => "run trueup doctor: it names what could not be read",
        Verdict::Missing => "check that the controller of its control plane runs: it creates the Secret",
        Verdict::Waiting => "wait until the cluster is created",
        Verdict::Unreadable | Verdict::Contract => {
            "correct the Secret, or delete it so that its controller creates it again"
        }
        Verdict::ExecRefused => "replace commands and files in it by a token or a certificate",
        Verdict::WrongCluster | Verdict::SourceInvalid | Verdict::SourceMissing => {
            "have the provider write the source Secret again"
        }
        Verdict::NotYetValid => "check the clocks of this machine and of the signer",
        Verdict::Expired | Verdict::Expiring | Verdict::RefreshStalled => renewer,
        Verdict::EndpointDrift | Verdict::CaDrift => "have it written again for the cluster's endpoint and authority",
        Verdict::CaRotating => "wait until the rotation has ended, then have it written again",
        Verdict::BehindSource => "check that the controller that copies it runs",
        Verdict::Opaque => "test it with trueup plan --probe: only the API server knows",
        Verdict::Fresh => "",
    }
}

/// The remedy of a context of the user's own files.
pub fn advice_of_context(ruling: &Ruling<'_>) -> &'static str {
    match ruling.verdict() {
        Verdict::Expired | Verdict::Expiring | Verdict::RefreshStalled => "log in again with this context",
        Verdict::Opaque => "connect with this context: only the API server knows",
        Verdict::NotYetValid => "check the clocks of this machine and of the signer",
        Verdict::Unknown
        | Verdict::Missing
        | Verdict::Waiting
        | Verdict::Unreadable
        | Verdict::Contract
        | Verdict::ExecRefused
        | Verdict::WrongCluster
        | Verdict::SourceInvalid
        | Verdict::SourceMissing
        | Verdict::EndpointDrift
        | Verdict::CaDrift
        | Verdict::CaRotating
        | Verdict::BehindSource => "correct the kubeconfig file, or log in again",
        Verdict::Fresh => "",
    }
}
