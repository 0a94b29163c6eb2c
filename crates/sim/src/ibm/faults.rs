//! Faults on demand.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Method;

/// A service of the account's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IbmPart {
    Iam,
    Tagging,
    Search,
    Instances,
    Vpc,
    Transit,
    Power,
    Storage,
}

/// One fault.
#[derive(Debug, Clone)]
pub struct IbmFault {
    pub part: IbmPart,
    pub method: Option<Method>,
    /// Only paths that contain this.
    pub path_has: String,
    /// Matching requests that pass first.
    pub spared: u32,
    /// Number of affected requests; none is unlimited.
    pub left: Option<u32>,
    pub effect: IbmEffect,
}

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IbmEffect {
    /// Refused with this status and the service's error body.
    Refused {
        status: u16,
        retry_after: Option<String>,
    },
    /// A proxy's HTML page.
    Page {
        status: u16,
    },
    /// A success status and truncated JSON.
    HalfJson,
    /// Every next page is the first one.
    PageLoop,
    /// The connection breaks before the request is handled.
    LostBefore,
    /// The request is executed and the response is lost.
    LostAfter,
    /// The request is executed and a gateway reports a timeout.
    GatewayTimeout,
    Silence,
    /// Refused with messages that repeat everything that was sent: token, key, body, in one encoding, in every text field.
    /// With a success status the messages are inside a result.
    Echo {
        status: u16,
        form: IbmEcho,
    },
}

/// Encoding of the repeated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IbmEcho {
    Plain,
    Base64,
    Base64Url,
    Hex,
    Percent,
}

impl IbmEcho {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Base64, Self::Base64Url, Self::Hex, Self::Percent];

    pub(super) fn write(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Base64 => STANDARD.encode(text),
            Self::Base64Url => URL_SAFE_NO_PAD.encode(text),
            Self::Hex => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
            Self::Percent => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
        }
    }
}

impl IbmFault {
    pub fn new(part: IbmPart, effect: IbmEffect) -> Self {
        Self { part, method: None, path_has: String::new(), spared: 0, left: None, effect }
    }

    #[must_use]
    pub fn once(mut self) -> Self {
        self.left = Some(1);
        self
    }

    #[must_use]
    pub fn on(mut self, method: Method, path_has: &str) -> Self {
        (self.method, self.path_has) = (Some(method), path_has.to_owned());
        self
    }

    /// Whether the fault affects this request; decrements its counts.
    pub(super) fn hits(&mut self, part: IbmPart, method: &Method, path: &str) -> bool {
        let meant = self.part == part
            && self.method.as_ref().is_none_or(|own| own == method)
            && path.contains(&self.path_has)
            && self.left != Some(0);
        if !meant {
            return false;
        }
        if self.spared > 0 {
            self.spared -= 1;
            return false;
        }
        self.left = self.left.map(|left| left - 1);
        true
    }
}
