//! One resource of an account, in the shape in which a recorded account holds it (`clouds/ibm/<alias>.yaml`).
//!
//! Invariant: what a service does not say is left out, never made up; tags are lower case and sorted.

use serde::Serialize;
use trueup_core::world::IbmResourceKind;

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IbmResource {
    pub kind: IbmResourceKind,
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crn: Option<String>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    pub tags: Vec<String>,
    /// The VPC of a subnet, group or load balancer, the workspace of a network or DHCP server, the gateway of a
    /// connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_type: Option<String>,
    /// The network a DHCP server serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What a connection connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_id: Option<String>,
    pub locked: bool,
}

impl IbmResource {
    pub(super) fn new(kind: IbmResourceKind, id: String, name: String) -> Self {
        Self {
            kind,
            id,
            crn: None,
            name,
            state: None,
            created_at: None,
            tags: Vec::new(),
            parent: None,
            network_type: None,
            network: None,
            network_id: None,
            locked: false,
        }
    }

    /// Takes tags over in the form in which they are compared: the platform folds upper case.
    pub(super) fn set_tags(&mut self, tags: impl IntoIterator<Item = String>) {
        self.tags = tags.into_iter().map(|tag| tag.trim().to_lowercase()).collect();
        self.tags.sort_unstable();
        self.tags.dedup();
    }
}
