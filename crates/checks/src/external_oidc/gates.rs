//! The feature gates that decide which fields of an Authentication count.
//!
//! Elsewhere: reading `FeatureGate/cluster` (`facts`).

use std::collections::BTreeSet;

trueup_core::named_enum! {
    /// A gate this check knows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Gate {
        ExternalOidc = "ExternalOIDC",
        /// uid and extra are mapped.
        UidAndExtra = "ExternalOIDCWithUIDAndExtraClaimMappings",
        /// Expressions for username and groups, and rules on the user.
        UpstreamParity = "ExternalOIDCWithUpstreamParity",
        /// The oauth-apiserver authenticates, and claims come from other sources too.
        ExternalClaims = "ExternalOIDCExternalClaimsSourcing",
    }
}

/// The gates that are on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gates(BTreeSet<Gate>);

impl Gates {
    pub fn of(gates: impl IntoIterator<Item = Gate>) -> Self {
        Self(gates.into_iter().collect())
    }

    pub fn on(&self, gate: Gate) -> bool {
        self.0.contains(&gate)
    }

    /// What is on by default in a release like `4.20.3`; a release that can't be read, or none, counts as the newest.
    pub fn of_release(release: Option<&str>) -> Self {
        let mut numbers = release.unwrap_or_default().split(['.', '-']).map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            return Self::newest();
        };
        match (major, minor) {
            (..=3, _) | (4, ..=19) => Self::default(),
            (4, 20..=22) => Self::of([Gate::ExternalOidc, Gate::UidAndExtra]),
            (4, 23..) | (5.., _) => Self::newest(),
        }
    }

    fn newest() -> Self {
        Self::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_release_has_the_gates_it_shipped_with() {
        let classic = Gates::of([Gate::ExternalOidc, Gate::UidAndExtra]);
        let newest = Gates::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity]);
        let cases = [
            ("before it existed", Some("4.17.9"), Gates::default()),
            ("tech preview only", Some("4.19.20"), Gates::default()),
            ("on by default", Some("4.20.0"), classic.clone()),
            ("a candidate", Some("4.22.0-rc.1"), classic),
            ("the next", Some("5.0.0"), newest.clone()),
            ("no number", Some("nightly"), newest.clone()),
            ("none", None, newest),
        ];
        for (case, release, expected) in cases {
            assert_eq!(Gates::of_release(release), expected, "case: {case}");
        }
    }

    #[test]
    fn a_gate_is_found_by_its_word_and_no_other() {
        for gate in Gate::ALL {
            assert_eq!(Gate::parse(gate.as_str()), Some(gate));
        }
        assert_eq!(Gate::parse("ExternalOIDCWithAdditionalClaimMappings"), None);
    }
}
