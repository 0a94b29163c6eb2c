//! What the tests of every check need: objects as a recording, and a world that has answered every interest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use zeroize::Zeroizing;

use super::Check;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, RecordedCluster, RecordedObject, fill};
use trueup_core::world::{ChangeSet, ClusterName, World};

/// A cluster that holds these objects.
pub fn recording(coverage: &Coverage, objects: &[Value]) -> RecordedCluster {
    let mut recording = RecordedCluster::new(coverage.clone());
    for object in objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let api_version = text(&object["apiVersion"]);
        recording.push(RecordedObject {
            group: api_version.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned()),
            kind: text(&object["kind"]),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
            json: Zeroizing::new(object.to_string()),
        });
    }
    recording
}

/// Answers what a check wants to see until it wants no more, and says what changed.
pub fn answer_all(
    check: &dyn Check,
    world: &mut World,
    recordings: &BTreeMap<ClusterName, RecordedCluster>,
    now: Timestamp,
) -> ChangeSet {
    let (mut changes, mut asked) = (ChangeSet::default(), Vec::new());
    loop {
        let wanted = check.interests(world.view(now));
        if wanted == asked {
            return changes;
        }
        changes.extend(fill(world, recordings, &wanted, &Digester::new(&[7; 32]), now));
        asked = wanted;
    }
}
