//! Findings the user accepts until a date: still shown, counted as match.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::glob::Glob;

/// One rule. It holds through the whole of its last day, in UTC.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AcceptRule {
    /// Over the whole finding id.
    pub finding: Glob,
    pub reason: String,
    pub until: Date,
}

impl AcceptRule {
    /// Whether the rule covers this finding at this moment.
    pub fn covers(&self, finding: &str, now: Timestamp) -> bool {
        TimeZone::UTC.to_datetime(now).date() <= self.until && self.finding.matches(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acceptance_ends_with_its_last_day() {
        let rule = AcceptRule {
            finding: Glob::parse("hosted-oidc/guest-a/*").unwrap(),
            reason: "kept for the audit".to_owned(),
            until: "2026-12-31".parse().unwrap(),
        };
        let cases = [
            ("the day before", "hosted-oidc/guest-a/x", "2026-12-30T00:00:00Z", true),
            ("its last second", "hosted-oidc/guest-a/x", "2026-12-31T23:59:59Z", true),
            ("the day after", "hosted-oidc/guest-a/x", "2027-01-01T00:00:00Z", false),
            ("another finding", "hosted-oidc/guest-b/x", "2026-12-30T00:00:00Z", false),
        ];
        for (case, finding, now, expected) in cases {
            assert_eq!(rule.covers(finding, now.parse().unwrap()), expected, "case: {case}");
        }
    }
}
