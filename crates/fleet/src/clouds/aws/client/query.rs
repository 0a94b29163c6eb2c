//! One call of AWS's Query protocol: a form, signed or not, sent as often as its failure allows.
//!
//! Invariants:
//! - what AWS says about a failure is kept without the secrets that were sent;
//! - a call is sent again only for failures that may pass, and only so often.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use zeroize::Zeroizing;

use super::api::Aws;
use super::endpoint::Service;
use super::error::{AwsError, Class, Patience};
use super::partition::Region;
use super::sts::Keys;
use super::xml::{self, Met};
use trueup_net::SecretText;

const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";
/// Names the program in CloudTrail.
const USER_AGENT: &str = concat!("trueup/", env!("CARGO_PKG_VERSION"));
/// Which shape STS answers in does not matter for errors; EC2 has its own.
const ERROR_ROOTS: &[&str] = &["ErrorResponse", "Response"];

/// A call.
pub(super) struct Call<'c> {
    pub service: Service,
    pub action: &'static str,
    pub region: &'c Region,
    pub signer: Signer<'c>,
    /// The parameters beside action and version, in their order.
    pub parameters: Vec<(String, &'c str)>,
    /// The parameters that are secret.
    pub secrets: Vec<(&'static str, &'c SecretText)>,
}

/// Who signs a call.
#[derive(Clone, Copy)]
pub(super) enum Signer<'c> {
    /// The token inside it is proof enough.
    Unsigned,
    Keys(&'c Keys),
}

impl Call<'_> {
    fn version(&self) -> &'static str {
        match self.service {
            Service::Ec2 => "2016-11-15",
            Service::Sts => "2011-06-15",
            Service::Iam => "2010-05-08",
        }
    }

    fn form(&self) -> Zeroizing<String> {
        let mut form = Zeroizing::new(format!("Action={}&Version={}", self.action, self.version()));
        let open = self.parameters.iter().map(|(name, value)| (name.as_str(), *value));
        let secret = self.secrets.iter().map(|(name, value)| (*name, value.expose()));
        for (name, value) in open.chain(secret) {
            form.push('&');
            form.push_str(name);
            form.push('=');
            form.extend(utf8_percent_encode(value, UNRESERVED));
        }
        form
    }

    /// What people call it: `sts GetCallerIdentity`.
    fn what(&self) -> String {
        format!("{} {}", self.service.as_str(), self.action)
    }

    fn unreadable(&self, why: &str) -> AwsError {
        AwsError::unreadable(self.service, self.action, why)
    }
}

impl Aws {
    /// Sends a call and returns the body of a good answer.
    ///
    /// # Errors
    /// No answer, or a refusal, after the tries its class allows.
    pub(super) async fn call(&self, call: &Call<'_>) -> Result<Bytes, AwsError> {
        let mut tries = 0;
        loop {
            let error = match self.call_once(call).await {
                Ok(body) => return Ok(body),
                Err(error) => error,
            };
            let wait: Option<Duration> = match error.patience() {
                Patience::None => None,
                Patience::Waits(waits) => waits.get(tries).copied(),
            };
            let Some(wait) = wait else { return Err(error) };
            tries += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn call_once(&self, call: &Call<'_>) -> Result<Bytes, AwsError> {
        let request = self.request(call)?;
        let host = request.uri().host().unwrap_or_default().to_owned();
        let answer = self.http.send(request).await;
        let answer = answer.map_err(|error| AwsError::unanswered(&call.what(), &host, &error))?;
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let (code, message) = refusal(&answer.body);
        let (code, message) = (concealed(code, call), concealed(message, call));
        Err(AwsError::answered(&call.what(), answer.status.as_u16(), &code, &message))
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<Bytes>, AwsError> {
        let url = self.endpoints.url(call.service, call.region);
        let form = call.form();
        let uri: Uri = url.parse().map_err(|_| unsayable(call, "the endpoint is not a URL"))?;
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        let mut request = Request::post(uri)
            .header(header::HOST, host)
            .header(header::CONTENT_TYPE, FORM)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT_ENCODING, "identity")
            .body(Bytes::copy_from_slice(form.as_bytes()))
            .map_err(|_| unsayable(call, "the endpoint cannot be put into a request"))?;
        match call.signer {
            Signer::Unsigned => Ok(request),
            Signer::Keys(keys) => {
                self.sign(call, keys, &mut request)?;
                Ok(request)
            }
        }
    }

    fn sign(&self, call: &Call<'_>, keys: &Keys, request: &mut Request<Bytes>) -> Result<(), AwsError> {
        let session = keys.session_token.as_ref().map(|token| token.expose().to_owned());
        let secret = keys.secret_access_key.expose().to_owned();
        let identity = Credentials::new(keys.access_key_id.clone(), secret, session, None, "trueup").into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(call.region.as_str())
            .name(call.service.as_str())
            .time(self.now().into())
            .settings(SigningSettings::default())
            .build()
            .expect("every part of the signature is given")
            .into();
        let instructions = {
            let headers = request.headers().iter();
            // Proxies may add and change user agents; what is not signed can't break the signature.
            let signed = headers.filter(|(name, _)| [header::HOST, header::CONTENT_TYPE].contains(name));
            let signed = signed.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
            let body = SignableBody::Bytes(request.body());
            let signable = SignableRequest::new("POST", request.uri().to_string(), signed, body);
            let signable = signable.map_err(|_| unsayable(call, "the endpoint cannot be signed"))?;
            let signed = sign(signable, &params).map_err(|_| unsayable(call, "the request cannot be signed"))?;
            signed.into_parts().0
        };
        let (headers, _) = instructions.into_parts();
        for made in headers {
            let value = HeaderValue::from_str(made.value()).map_err(|_| unsayable(call, "a key holds odd letters"))?;
            request.headers_mut().insert(made.name(), value);
        }
        Ok(())
    }
}

fn unsayable(call: &Call<'_>, why: &str) -> AwsError {
    let message = format!("{} {}: {why}", call.service.as_str(), call.action);
    AwsError::new(Class::Denied, "unsayable", message, "check the access key and the custom endpoint")
}

/// Code and message of a refusal; both empty when the body is something else (a proxy's page, say).
pub(super) fn refusal(body: &[u8]) -> (String, String) {
    let (mut code, mut message) = (String::new(), String::new());
    let read = xml::walk(body, ERROR_ROOTS, |met| {
        let Met::Text { path, text } = met else { return };
        let at = |name| xml::is(path, &["Error", name]) || xml::is(path, &["Errors", "Error", name]);
        if at("Code") {
            text.clone_into(&mut code);
        } else if at("Message") {
            text.clone_into(&mut message);
        }
    });
    if read.is_err() { (String::new(), String::new()) } else { (code, message) }
}

/// A text of an answer, or nothing where it shows what must not be shown: a server may echo what it was sent.
fn concealed(text: String, call: &Call<'_>) -> String {
    let mut hidden: Vec<&str> = call.secrets.iter().map(|(_, secret)| secret.expose()).collect();
    if let Signer::Keys(keys) = call.signer {
        hidden.push(&keys.access_key_id);
        hidden.push(keys.secret_access_key.expose());
        hidden.extend(keys.session_token.as_ref().map(SecretText::expose));
    }
    let echoes = |secret: &&str| secret.split('.').any(|part| part.len() >= 8 && text.contains(part));
    if hidden.iter().any(echoes) { String::new() } else { text }
}

/// Reads a good answer.
///
/// # Errors
/// It is not the answer to the call.
pub(super) fn read(call: &Call<'_>, body: &[u8], root: &str, meet: impl FnMut(Met<'_>)) -> Result<(), AwsError> {
    xml::walk(body, &[root], meet).map(|_| ()).map_err(|error| call.unreadable(&error.to_string()))
}
