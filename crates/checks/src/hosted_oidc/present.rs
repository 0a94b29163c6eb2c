//! How this check is shown: by its name and its verdicts alone.

use crate::present::CheckDescription;

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "Hosted OIDC",
    short: "HOSTED",
    message: "copies of OIDC settings that HyperShift left in its guests",
    columns: &[],
    verdict_width: 16,
    forms: &[],
};
