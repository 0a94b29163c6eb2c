//! What the loop has done for it aside: connecting, and asking a cluster who it is and what it serves.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;

use crate::connect::{Connection, Connector, LinkEvent, discovery, identity};
use crate::observe::Epoch;
use trueup_core::world::{ClusterIdentity, ClusterName, Gap, GapCause, Served};

/// What a person can do about a login that a connected server refuses.
const LOGIN_HINT: &str = "log in again, then reconnect";

/// Something that was done aside.
pub(super) struct Done {
    pub cluster: ClusterName,
    pub epoch: Epoch,
    pub what: What,
}

pub(super) enum What {
    Connected(Box<Opened>),
    NotConnected(LinkEvent),
    Discovered(Served),
}

/// A connection over which a first answer has come.
pub(super) struct Opened {
    pub connection: Connection,
    pub identity: ClusterIdentity,
    pub served: Served,
}

/// Connects, and reads identity and discovery.
pub(super) async fn connect(cluster: ClusterName, epoch: Epoch, connector: Arc<dyn Connector>) -> Done {
    let opened = AssertUnwindSafe(open(connector.as_ref())).catch_unwind().await;
    let what = match opened {
        Ok(Ok(opened)) => What::Connected(Box::new(opened)),
        Ok(Err(event)) => What::NotConnected(event),
        Err(_) => What::NotConnected(LinkEvent::Failing(broken_down())),
    };
    Done { cluster, epoch, what }
}

/// Asks again what a cluster serves.
pub(super) async fn rediscover(cluster: ClusterName, epoch: Epoch, client: kube::Client) -> Done {
    let served = AssertUnwindSafe(discovery::read(&client)).catch_unwind().await;
    Done { cluster, epoch, what: What::Discovered(served.unwrap_or_else(|_| Served::Unknown(broken_down()))) }
}

async fn open(connector: &dyn Connector) -> Result<Opened, LinkEvent> {
    let connection = connector.connect().await.map_err(|error| error.event())?;
    let (identity, served) = futures::join!(identity::read(&connection.client), discovery::read(&connection.client));
    if let Served::Unknown(gap) = &served {
        match gap.cause {
            GapCause::Unauthorized => return Err(unauthorized(gap.clone())),
            GapCause::Unreachable => return Err(LinkEvent::Failing(gap.clone())),
            // The server answered. What it may not tell or can't tell is found out collection by collection.
            GapCause::NotObserved
            | GapCause::Forbidden
            | GapCause::Discovery
            | GapCause::CutShort
            | GapCause::Silent
            | GapCause::Unreadable
            | GapCause::NotRecorded
            | GapCause::OverBudget => {}
        }
    }
    Ok(Opened { connection, identity: identity.identity, served })
}

pub(super) fn unauthorized(gap: Gap) -> LinkEvent {
    LinkEvent::Unauthorized { gap, hint: LOGIN_HINT.to_owned() }
}

fn broken_down() -> Gap {
    Gap::new(GapCause::Unreachable, "connecting broke down, which is a bug")
}
