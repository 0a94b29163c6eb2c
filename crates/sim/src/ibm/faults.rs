//! Things that go wrong on demand.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Method;

/// A part of the account's API.
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

/// One thing that goes wrong.
#[derive(Debug, Clone)]
pub struct IbmFault {
    pub part: IbmPart,
    pub method: Option<Method>,
    /// Only paths that hold this.
    pub path_has: String,
    /// How many requests it spares first.
    pub spared: u32,
    /// How many requests it hits; nothing means all.
    pub left: Option<u32>,
    pub effect: IbmEffect,
}

/// How a request goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IbmEffect {
    /// Refused with this status and the part's own kind of error body.
    Refused {
        status: u16,
        retry_after: Option<String>,
    },
    /// A proxy's web page in place of an answer.
    Page {
        status: u16,
    },
    /// A successful status and half of a JSON text.
    HalfJson,
    /// The next page is the first one, for ever.
    PageLoop,
    /// The connection breaks before the request is looked at.
    LostBefore,
    /// The request is carried out, and the answer is lost.
    LostAfter,
    /// The request is carried out, and a gateway says that it was too slow.
    GatewayTimeout,
    Silence,
    /// Refused in words that repeat all that was sent: token, key, body, in one form, wherever words stand. With a status of
    /// success the words are inside a result.
    Echo {
        status: u16,
        form: IbmEcho,
    },
}

/// How an echo writes what it repeats.
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

    /// Whether it hits this request; counts down when it would.
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
