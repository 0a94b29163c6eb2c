//! Responses and errors in the XML of each service.

/// An HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AwsAnswer {
    pub status: u16,
    pub body: String,
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub status: u16,
    pub code: &'static str,
    pub message: String,
}

impl Refused {
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub fn answer(&self, service: &str) -> AwsAnswer {
        let (code, message) = (self.code, escaped(&self.message));
        let body = if service == "ec2" {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}</Code>\
                 <Message>{message}</Message></Error></Errors><RequestID>{REQUEST}</RequestID></Response>"
            )
        } else {
            format!(
                "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type>\
                 <Code>{code}</Code><Message>{message}</Message></Error><RequestId>{REQUEST}</RequestId></ErrorResponse>"
            )
        };
        AwsAnswer { status: self.status, body }
    }
}

/// The constant request id of every response.
const REQUEST: &str = "00000000-0000-4000-8000-000000000001";

/// `<name>text</name>`.
pub(super) fn tag(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escaped(text))
}

pub(super) fn good(action: &str, service: &str, inside: &str) -> AwsAnswer {
    let (namespace, body) = if service == "ec2" {
        ("http://ec2.amazonaws.com/doc/2016-11-15/", format!("<requestId>{REQUEST}</requestId>{inside}"))
    } else {
        let result = format!("<{action}Result>{inside}</{action}Result>");
        let metadata = format!("<ResponseMetadata><RequestId>{REQUEST}</RequestId></ResponseMetadata>");
        ("https://sts.amazonaws.com/doc/2011-06-15/", format!("{result}{metadata}"))
    };
    let body =
        format!("<?xml version=\"1.0\"?>\n<{action}Response xmlns=\"{namespace}\">\n{body}\n</{action}Response>");
    AwsAnswer { status: 200, body }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
