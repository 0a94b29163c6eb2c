//! The Secret a MachineSet names for AWS, by the sort of login it holds.
//!
//! Invariants: what is kept of a Secret is its sort. Its bytes are looked at once, while it is read.

use super::super::names::{ACCESS_KEY_ID, CREDENTIALS, SECRET_ACCESS_KEY};
use crate::kinds::SecretContent;
use trueup_core::world::{Fact, Interner, Misfit, RawObject, TrackedField, Uid};

/// What a Secret lets its holder do.
#[derive(Debug, PartialEq, Eq)]
pub struct Login {
    pub uid: Uid,
    pub sort: Sort,
}

/// The sorts of login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// An access key.
    Keys,
    /// A role, and a file with a token to take it on: the file is in the pod and not here.
    WebIdentity,
    Unusable,
}

impl Fact for Login {
    const TRACKED: &'static [TrackedField] = &[
        TrackedField { name: CREDENTIALS, path: &["data", CREDENTIALS] },
        TrackedField { name: ACCESS_KEY_ID, path: &["data", ACCESS_KEY_ID] },
        TrackedField { name: SECRET_ACCESS_KEY, path: &["data", SECRET_ACCESS_KEY] },
    ];
    const REDUCED_KEYS: &'static [&'static str] = &[CREDENTIALS, ACCESS_KEY_ID, SECRET_ACCESS_KEY];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let bytes = |key: &str| raw.entry(key).and_then(|entry| entry.bytes.as_ref());
        let profile = bytes(CREDENTIALS).map_or(Sort::Unusable, |text| text.reduce(default_profile));
        let is_filled =
            |key: &str| bytes(key).is_some_and(|value| value.reduce(|value| !value.trim_ascii().is_empty()));
        let sort = match profile {
            Sort::Unusable if is_filled(ACCESS_KEY_ID) && is_filled(SECRET_ACCESS_KEY) => Sort::Keys,
            sort @ (Sort::Keys | Sort::WebIdentity | Sort::Unusable) => sort,
        };
        Ok(Self { uid: Uid::parse(&raw.meta.uid), sort })
    }
}

/// What the profile `default` of a shared credentials file holds.
fn default_profile(text: &[u8]) -> Sort {
    let Ok(text) = std::str::from_utf8(text) else { return Sort::Unusable };
    let mut in_default = false;
    let (mut id, mut key, mut role, mut token) = (false, false, false, false);
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            in_default = name.split_once(']').is_some_and(|(name, _)| name.trim() == "default");
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| in_default && !line.starts_with(['#', ';'])) else {
            continue;
        };
        let is_filled = !value.trim().is_empty();
        match name.trim().to_ascii_lowercase().as_str() {
            ACCESS_KEY_ID => id = is_filled,
            SECRET_ACCESS_KEY => key = is_filled,
            "role_arn" => role = is_filled,
            "web_identity_token_file" => token = is_filled,
            _ => {}
        }
    }
    match (id && key, role && token) {
        // The same order in which AWS' own clients look.
        (true, _) => Sort::Keys,
        (false, true) => Sort::WebIdentity,
        (false, false) => Sort::Unusable,
    }
}

impl SecretContent for Login {
    fn uid(&self) -> &Uid {
        &self.uid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_profile_of_a_shared_file_says_what_sort_of_login_it_is() {
        let sts = "[default]\nsts_regional_endpoints = regional\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n";
        let cases = [
            ("keys", "[default]\naws_access_key_id = a\naws_secret_access_key = b\n", Sort::Keys),
            ("what an STS cluster has", sts, Sort::WebIdentity),
            ("line ends of another system", &sts.replace('\n', "\r\n"), Sort::WebIdentity),
            ("tabs", "[default]\n\taws_access_key_id\t=\ta\n\taws_secret_access_key\t=\tb", Sort::Keys),
            ("a byte order mark", "\u{feff}[default]\naws_access_key_id=a\naws_secret_access_key=b", Sort::Keys),
            ("upper case", "[ default ]\nAWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b", Sort::Keys),
            ("another profile", "[work]\naws_access_key_id = a\naws_secret_access_key = b\n", Sort::Unusable),
            ("half a key", "[default]\naws_access_key_id = a\n", Sort::Unusable),
            ("an empty half", "[default]\naws_access_key_id = a\naws_secret_access_key =\n", Sort::Unusable),
            ("a role without a token", "[default]\nrole_arn = arn:aws:iam::1:role/x\n", Sort::Unusable),
            (
                "keys after another profile",
                "[work]\n[default]\naws_access_key_id=a\naws_secret_access_key=b\n",
                Sort::Keys,
            ),
            (
                "keys of the next profile",
                "[default]\n[work]\naws_access_key_id=a\naws_secret_access_key=b\n",
                Sort::Unusable,
            ),
            ("keys in comments", "[default]\n#aws_access_key_id=a\n;aws_secret_access_key=b\n", Sort::Unusable),
            ("no profile at all", "aws_access_key_id=a\naws_secret_access_key=b\n", Sort::Unusable),
            ("nothing", "", Sort::Unusable),
        ];
        for (case, text, expected) in cases {
            assert_eq!(default_profile(text.as_bytes()), expected, "case: {case}");
        }
        assert_eq!(default_profile(&[0xff, 0xfe, b'[']), Sort::Unusable, "case: no text");
    }
}
