//! The ARN of a role, checked before it is sent anywhere.

use std::fmt;

/// A role's ARN.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleArn(Box<str>);

/// Text that is no role's ARN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the role is not an ARN of the form arn:<partition>:iam::<account>:role/<name>")]
pub struct BadArn;

impl RoleArn {
    /// Takes `arn:<partition>:iam::<12 digits>:role/<path and name>`, with blanks around it forgiven.
    ///
    /// # Errors
    /// It has another form.
    pub fn parse(text: &str) -> Result<Self, BadArn> {
        let text = text.trim();
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [arn, partition, service, region, account, resource] = parts[..] else { return Err(BadArn) };
        let account_fits = account.len() == 12 && account.bytes().all(|digit| digit.is_ascii_digit());
        let role = resource.strip_prefix("role/").unwrap_or_default();
        let fits = arn == "arn"
            && (partition == "aws" || partition.starts_with("aws-"))
            && service == "iam"
            && region.is_empty()
            && account_fits
            && !role.is_empty()
            && !role.contains(char::is_whitespace);
        if fits { Ok(Self(text.into())) } else { Err(BadArn) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the role, without its path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The account, twelve digits.
    pub fn account(&self) -> &str {
        self.0.split(':').nth(4).unwrap_or_default()
    }

    /// As in [`super::Partition::as_str`].
    pub fn partition(&self) -> &str {
        self.0.split(':').nth(1).unwrap_or_default()
    }
}

impl fmt::Display for RoleArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
