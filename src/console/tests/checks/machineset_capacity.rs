//! The list and the detail as the console draws them, at the two sizes that count.

use serde_json::json;

use super::{Console, SIZES};
use trueup_checks::machineset_capacity::testing::*;

/// One of each sort.
fn fleet() -> Given {
    let typed = |name: &str, of: &str| machine_set(name, of);
    let both = |cpus: u64, memory: u64| {
        let mut all = machine(cpus, memory, 0);
        all.as_object_mut().unwrap().extend(capacity(cpus, memory, "amd64").as_object().unwrap().clone());
        all
    };
    let keys = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
    given()
        .environment(json!({}))
        .secret(keys)
        .object(typed("bare", "m6g.4xlarge"))
        .object(typed("stale", "m6i.8xlarge"))
        .annotate("MachineSet", "stale", both(16, 65_536))
        .object(typed("torn", "m6i.8xlarge"))
        .annotate("MachineSet", "torn", both(32, 131_072))
        .annotate("MachineSet", "torn", capacity(16, 65_536, "amd64"))
        .object(typed("odd", "m6h.8xlarge"))
        .object(typed("paused", "m6i.8xlarge"))
        .set("MachineSet", "paused", "spec.paused", json!(true))
}

#[test]
fn the_list_says_what_machines_have_beside_what_is_said_of_them() {
    for (width, height) in SIZES {
        let mut console = Console::open(&fleet());
        console.keys("1");
        insta::assert_snapshot!(format!("list_{width}x{height}"), console.screen((width, height)));
    }
}

#[test]
fn the_detail_shows_the_way_from_the_spec_to_the_annotations() {
    for (width, height) in SIZES {
        let mut console = Console::open(&fleet());
        console.keys("1 down enter");
        insta::assert_snapshot!(format!("detail_{width}x{height}"), console.screen((width, height)));
    }
}
