//! The part of `trueup doctor` that asks accounts with IBM Cloud: key, account, and each service by its lists.

use super::context::Context;
use super::doctor::Check;
use crate::config::Config;
use trueup_core::world::Provider;
use trueup_operate::{Settings, account_client};

const NAME: &str = "account";

pub async fn checks(context: &Context, config: Option<&Config>) -> Vec<Check> {
    let mut named = config.map(|config| config.settings.clouds.clone()).unwrap_or_default();
    named.retain(|account| account.provider == Provider::Ibm);
    let session = context.session(Settings::default());
    let mut checks = Vec::new();
    for named in &named {
        let alias = &named.alias;
        let account = match account_client(&session, named) {
            Ok(account) => account,
            Err(error) => {
                checks.push(Check::unfit(NAME, format!("{alias}: {}", error.cause()), error.advice()));
                continue;
            }
        };
        let inventory = match account.read_inventory().await {
            Ok(inventory) => inventory,
            Err(error) => {
                checks.push(Check::unfit(NAME, format!("{alias}: {error}"), error.remedy()));
                continue;
            }
        };
        let (count, calls) = (inventory.resources.len(), inventory.calls);
        checks.push(Check::fit(
            NAME,
            format!("{alias} is account {}: {count} resources in {calls} calls", inventory.account),
        ));
        for missing in &inventory.missing {
            let says = format!("{alias}: {} can't be read: {}", missing.what, missing.error);
            checks.push(Check::unfit(NAME, says, missing.error.remedy()));
        }
    }
    checks
}
