//! Direct external OIDC: what `Authentication/cluster` asks for, what comes of it, and who a token would be.

mod cel;
mod check;
mod gates;
mod login;
mod pem;
mod problem;
mod render;
mod spec;
mod url;
mod validate;

pub use check::{CaBundle, Checked, Inputs, Presence, Verdict as SpecVerdict, check};
pub use gates::{Gate, Gates};
pub use login::{Answer, BadToken, Identity, Refusal, RefusedBy, Reserved, Token, login};
pub use problem::{Code as SpecCode, Problem, Refuser, Warning, WarningCode};
pub use spec::{AuthKind, AuthSpec, Authentication, ClientStatus, Component, CurrentClient, TrustedIssuer};
