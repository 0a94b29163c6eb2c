//! IBM Cloud: the accounts that `[clouds.ibm.<alias>]` names.
//!
//! - [`client`]: tokens, lists, tags and deletes over HTTP. `account`: an account as a member of the fleet.
//! - `port`: reads and writes of single resources, for the executor. `examine`: the section of `trueup doctor`.

mod account;
pub mod client;
mod examine;
mod port;

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use zeroize::Zeroizing;

use super::{AccountSettings, BadAccount, CloudProvider, Examination, KeySource, OpenedAccount, Registration};
use crate::connect::{Clock, Env};
use client::{ApiKey, BadEndpoint, COMPUTE_TOKEN_FILES, Credential, Endpoints, IbmService};
use trueup_core::files;
use trueup_core::world::Provider;
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_net::{Egress, Proxies};

pub use account::IbmAccount;

/// A key is 44 characters; the JSON file of IBM Cloud around it has a few hundred.
const KEY_BYTES_MAX: u64 = 64 << 10;
/// Where IBM's own clients look for another path of the compute resource token.
const TOKEN_FILE_VARIABLE: &str = "CR_TOKEN_FILENAME";

pub(super) const REGISTRATION: Registration = Registration {
    provider: Provider::Ibm,
    footprint: None,
    build: |env, clock, egress| Box::new(IbmCloud { env: env.clone(), clock, egress: egress.clone() }),
};

/// IBM Cloud over the network.
struct IbmCloud {
    env: Env,
    clock: Clock,
    egress: Egress,
}

impl CloudProvider for IbmCloud {
    fn provider(&self) -> Provider {
        Provider::Ibm
    }

    fn open(&self, settings: &AccountSettings) -> Option<OpenedAccount> {
        let (client, problem) = match self.client(settings) {
            Ok(client) => (Some(Arc::new(client)), None),
            Err(problem) => (None, Some(problem)),
        };
        Some(OpenedAccount { account: Arc::new(IbmAccount::new(&settings.alias, client)), problem })
    }

    fn examine<'a>(&'a self, accounts: &'a [AccountSettings]) -> BoxFuture<'a, Vec<Examination>> {
        async move {
            let mut lines = Vec::new();
            for settings in accounts {
                lines.extend(examine::account(&settings.alias, self.client(settings)).await);
            }
            lines
        }
        .boxed()
    }
}

impl IbmCloud {
    /// A client for one account.
    fn client(&self, settings: &AccountSettings) -> Result<client::Account, BadAccount> {
        let bad = |cause: String, remedy: &str| BadAccount { cause, remedy: remedy.to_owned() };
        let credential = self.credential(settings)?;
        let bad_endpoint = |error: BadEndpoint| bad(error.to_string(), "write it as https://host");
        let variable = |name: &str| self.env.text(name).map(str::to_owned);
        let mut endpoints = Endpoints::from_variables(variable).map_err(bad_endpoint)?;
        for (name, url) in &settings.endpoints {
            let Some(service) = IbmService::parse(name) else {
                let known = IbmService::ALL.map(IbmService::as_str).join(", ");
                return Err(bad(format!("endpoints: unknown service {name:?}"), &format!("use one of {known}")));
            };
            endpoints = endpoints.with(service, url).map_err(bad_endpoint)?;
        }
        let proxies = Proxies::of(|name| self.env.text(name));
        let permit = endpoints.permit(&self.egress).map_err(|error| bad(error.to_string(), "correct the endpoints"))?;
        let http = HttpClient::new(HttpSettings { proxies, ..HttpSettings::new(permit) })
            .map_err(|error| bad(error.to_string(), "correct it"))?;
        let account = client::Account::with_clock(http, endpoints, credential, self.clock.clone());
        Ok(account.with_recent_tag_writes(settings.recent_tag_writes.clone()))
    }

    fn credential(&self, settings: &AccountSettings) -> Result<Credential, BadAccount> {
        let bad = |cause: String, remedy: &str| BadAccount { cause, remedy: remedy.to_owned() };
        let text = match &settings.key {
            Some(KeySource::File(path)) => files::read_text(path, KEY_BYTES_MAX).map_err(|error| {
                let cause = format!("api_key_file {} cannot be read: {}", path.display(), error.kind());
                bad(cause, "write the key to it with mode 600")
            })?,
            Some(KeySource::Env(name)) => match self.env.text(name) {
                Some(value) => Zeroizing::new(value.to_owned()),
                None => return Err(bad(format!("{name} is not set"), "export the API key in it")),
            },
            Some(KeySource::TokenFile(path)) => return Ok(Credential::TokenFile(path.clone())),
            Some(KeySource::TrustedProfile(profile)) => {
                let own = self.env.text(TOKEN_FILE_VARIABLE).map(PathBuf::from);
                let token_files = own.into_iter().chain(COMPUTE_TOKEN_FILES.map(PathBuf::from)).collect();
                return Ok(Credential::TrustedProfile { profile: profile.clone(), token_files });
            }
            None => {
                let cause = "none of api_key_file, api_key_env, iam_token_file and trusted_profile is set".to_owned();
                return Err(bad(cause, "set one of them"));
            }
        };
        let key = ApiKey::parse(&text).map_err(|error| bad(error.to_string(), "check the source of the key"))?;
        Ok(Credential::Key(key))
    }
}
