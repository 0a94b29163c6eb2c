//! The port through which the loop gets its connections, and its plain implementations.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::classify;
use super::env::Env;
use super::exec::Credential;
use super::guest::GuestError;
use super::kubeconfig::{Access, Impersonation, KubeconfigError};
use super::link::LinkEvent;
use super::plugins::PluginPolicy;
use super::transport::{self, Clock, Connection, IdleConnections, Login, LoginError, OpenError, ServerClock, TlsTrust};
use crate::clouds::AccountPort;
use trueup_core::world::{Gap, GapCause};

/// Makes connections to one cluster, as often as needed.
pub trait Connector: Send + Sync {
    /// Makes a connection. What was learned before (a plugin's credential) is kept for the next call.
    ///
    /// Dropping the future is safe at any point.
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>>;

    /// The port that writes to the cloud account it connects to; nothing for a cluster.
    fn account_port(&self) -> Option<Arc<dyn AccountPort>> {
        None
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Guest(#[from] GuestError),
}

impl LinkError {
    /// The event for the link's state machine.
    pub fn event(&self) -> LinkEvent {
        match self {
            Self::Kubeconfig(error) => broken_settings(error),
            Self::Open(error) => open_event(error),
            Self::Guest(error) => error.event(),
        }
    }
}

/// The event for a connection that could not be prepared.
pub(super) fn open_event(error: &OpenError) -> LinkEvent {
    match error {
        OpenError::Tls(error) => broken_settings(error),
        OpenError::Proxy(error) => broken_settings(error),
        OpenError::Impersonation(error) => broken_settings(error),
        OpenError::Egress(error) => broken_settings(error),
        OpenError::Login(error) => login_event(error),
    }
}

fn login_event(error: &LoginError) -> LinkEvent {
    LinkEvent::Unauthorized { gap: classify::login(error), hint: classify::login_hint(error) }
}

/// The event for settings that only a person can fix.
pub(super) fn broken_settings(error: &impl std::error::Error) -> LinkEvent {
    LinkEvent::Hopeless(Gap::new(GapCause::Unreachable, error.to_string()))
}

/// Connects to a context of the user's kubeconfig.
#[derive(Debug)]
pub struct KubeconfigConnector {
    access: Access,
    login: Arc<Login>,
    acting_as: Impersonation,
    env: Env,
}

impl KubeconfigConnector {
    /// A connector for what [`super::Kubeconfig::access`] gave. When the file changes, make a new one.
    pub fn new(access: Access, acting_as: Impersonation, env: Env, plugins: &PluginPolicy, clock: Clock) -> Self {
        let login = Arc::new(Login::new(&access.bearer, &env, plugins, clock));
        Self { access, login, acting_as, env }
    }

    /// The same, begun with a credential its plugin gave a person.
    ///
    /// # Errors
    /// The token can't be sent.
    pub fn logged_in(
        access: Access,
        acting_as: Impersonation,
        env: Env,
        plugins: &PluginPolicy,
        clock: Clock,
        credential: Credential,
    ) -> Result<Self, Arc<LoginError>> {
        let login = Arc::new(Login::new(&access.bearer, &env, plugins, clock).begun_with(credential)?);
        Ok(Self { access, login, acting_as, env })
    }
}

impl Connector for KubeconfigConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        Box::pin(async { Ok(transport::open(&self.access, &self.login, &self.acting_as, &self.env, None).await?) })
    }
}

/// Hands out a client that is already there: the demo and tests.
pub struct FixedConnector(pub kube::Client);

impl Connector for FixedConnector {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let connection = Connection {
            client: self.0.clone(),
            tls: TlsTrust::InProcess,
            server: "in process".to_owned(),
            proxy: None,
            clock: ServerClock::default(),
            idle: IdleConnections::default(),
        };
        Box::pin(std::future::ready(Ok(connection)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::kubeconfig::{Kubeconfig, Trust};
    use crate::connect::testing::{answering, still};

    fn connector(cluster: &str, user: &str) -> Result<KubeconfigConnector, LinkError> {
        let text = format!(
            "{{contexts: [{{name: x, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, cluster: {cluster}}}], \
             users: [{{name: u, user: {user}}}]}}"
        );
        let access = Kubeconfig::parse(&text, "the text", Trust::UsersOwn)?.access("x")?;
        Ok(KubeconfigConnector::new(access, Impersonation::default(), Env::default(), &PluginPolicy::Any, still()))
    }

    #[tokio::test]
    async fn what_only_a_person_can_fix_is_not_retried() {
        let server = "{server: 'http://127.0.0.1:1'}";
        let missing = "{exec: {command: no-such-plugin, apiVersion: client.authentication.k8s.io/v1}}";
        let cases = [
            ("broken kubeconfig", "{}", "{}", "hopeless"),
            ("broken authority", "{server: 'https://h', certificate-authority: /nowhere}", "{}", "hopeless"),
            ("broken server name", "{server: 'https://h', tls-server-name: 'a b'}", "{}", "hopeless"),
            ("missing plugin", server, missing, "unauthorized: install no-such-plugin, or add its folder to PATH"),
            ("fine", server, "{}", "connected"),
        ];
        for (case, cluster, user, expected) in cases {
            let outcome = match connector(cluster, user) {
                Ok(connector) => connector.connect().await,
                Err(error) => Err(error),
            };
            let actual = match outcome.map_err(|error| error.event()) {
                Ok(_) => "connected".to_owned(),
                Err(LinkEvent::Hopeless(_)) => "hopeless".to_owned(),
                Err(LinkEvent::Unauthorized { hint, .. }) => format!("unauthorized: {hint}"),
                Err(other) => format!("{other:?}"),
            };
            assert_eq!(actual, expected, "case: {case}");
        }
    }

    #[tokio::test]
    async fn a_client_that_is_there_is_handed_out_as_in_process() {
        let connection = FixedConnector(answering(vec![])).connect().await.unwrap();
        assert_eq!((connection.tls, connection.proxy), (TlsTrust::InProcess, None));
    }
}
