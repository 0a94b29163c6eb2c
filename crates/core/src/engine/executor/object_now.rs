//! Reads the object that a request of the journal was about.

use serde_json::Value;

use super::ports::{ClusterPort, Reading, Seen};
use crate::engine::journal::{FieldRecord, Sent};
use crate::engine::{ObjectNow, fields_at};

/// The object with the name of what was sent, as it is now.
pub async fn read_object_now(port: &dyn ClusterPort, sent: &Sent) -> ObjectNow {
    match port.read(&sent.target).await {
        Reading::Absent => ObjectNow::Absent,
        Reading::Unknown(why) => ObjectNow::Unknown(why),
        Reading::Present(seen) => {
            let Seen { uid, resource_version, deleting: _, labels, annotations, json } = *seen;
            let patched = |FieldRecord { after, .. }: &FieldRecord| {
                let object: Value = serde_json::from_slice(&json).unwrap_or_default();
                fields_at(&object, after)
            };
            let fields = sent.fields.as_ref().map(patched).unwrap_or_default();
            ObjectNow::Present { uid, resource_version, labels, annotations, fields }
        }
    }
}
