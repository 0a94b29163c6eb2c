//! The section of `trueup doctor` about an IBM Cloud account: key, account, and each service by its lists.

use super::client;
use crate::clouds::{BadAccount, Examination};

const NAME: &str = "account";

/// Reads the account's inventory once.
pub(super) async fn account(alias: &str, client: Result<client::Account, BadAccount>) -> Vec<Examination> {
    let bad = |message: String, remedy: String| Examination { name: NAME, message, remedy: Some(remedy) };
    let client = match client {
        Ok(client) => client,
        Err(BadAccount { cause, remedy }) => return vec![bad(format!("{alias}: {cause}"), remedy)],
    };
    let inventory = match client.read_inventory().await {
        Ok(inventory) => inventory,
        Err(error) => return vec![bad(format!("{alias}: {error}"), error.remedy())],
    };
    let (id, count, calls) = (&inventory.account, inventory.resources.len(), inventory.calls);
    let message = format!("{alias} is account {id}: {count} resources in {calls} calls");
    let mut lines = vec![Examination { name: NAME, message, remedy: None }];
    let missing = inventory.missing.iter().map(|missing| {
        bad(format!("{alias}: {} cannot be read: {}", missing.what, missing.error), missing.error.remedy())
    });
    lines.extend(missing);
    lines
}
