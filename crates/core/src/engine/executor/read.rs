//! Reading an object, a few times if reads fail.

use std::time::Duration;

use super::ports::{ClusterPort, ExecutorClock, Reading};
use crate::engine::ObjectRef;

/// How often an object is read when reads fail, with this pause between.
const READS_MAX: u32 = 3;
const READ_PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn read(port: &dyn ClusterPort, clock: &dyn ExecutorClock, object: &ObjectRef) -> Reading {
    let mut reading = port.read(object).await;
    for _ in 1..READS_MAX {
        match reading {
            Reading::Unknown(_) => {
                clock.sleep(READ_PAUSE).await;
                reading = port.read(object).await;
            }
            Reading::Present(_) | Reading::Absent => break,
        }
    }
    reading
}
