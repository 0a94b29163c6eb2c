//! Cloud Object Storage: the list of an instance's buckets.

use http::Method;

use super::reply::IbmReply;
use super::request::IbmRequest;
use super::server::IbmServer;

impl IbmServer {
    pub(super) fn storage(&self, request: &IbmRequest) -> IbmReply {
        if request.method != Method::GET || request.path != "/" {
            let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist.</Message></Error>";
            return IbmReply::new(404, "application/xml", body.to_owned());
        }
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListAllMyBucketsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Owner><ID>{id}</ID><DisplayName>{id}</DisplayName></Owner><Buckets></Buckets></ListAllMyBucketsResult>",
            id = self.account()
        );
        IbmReply::new(200, "application/xml", body)
    }
}
