//! Edge cases by their number in the reference: those of judging here, and where the others are.
//!
//! `tests/tidy.rs` fails when a number is missing or a test it names does not exist.
//!
//! | number | test |
//! | --- | --- |
//! | 1 | `edge_1_two_owners_are_a_conflict_and_nobody_deletes` |
//! | 2 | `edge_2_a_recreated_cluster_neither_adopts_nor_deletes` |
//! | 3 | `edge_3_of_clusters_with_one_name_only_the_uid_tells` |
//! | 4 | `edge_4_our_uid_under_another_name_is_not_ours` |
//! | 5 | `edge_5_after_a_move_the_new_uid_is_offered_where_the_status_holds_the_id` |
//! | 6 | `edge_6_a_crash_between_create_and_tag_leaves_a_name_that_proves_nothing` |
//! | 7 | `edge_7_a_half_attached_pair_is_sent_again_whole` |
//! | 8, 9 | `tags_compare_without_case_and_without_the_space_after_the_colon` |
//! | 10, 12 | `each_tag_that_would_be_refused_is_a_finding_of_its_own_and_is_never_sent` |
//! | 11 | `references_get_user_tags_unless_that_is_switched_off`, `a_reference_loses_what_we_attached_and_nothing_of_others` |
//! | 13 | `nothing_leaves_for_another_account_or_for_a_wildcard` |
//! | 14 | `a_gateway_of_others_loses_our_connections_and_then_our_tags` |
//! | 15, 17, 20 | `a_holder_of_foreign_things_stays_and_names_them` |
//! | 16 | `edge_16_a_connection_the_user_made_again_is_known_by_its_network` |
//! | 18 | `in_a_workspace_of_others_our_network_goes_after_its_server` |
//! | 19 | `edge_19_a_dhcp_server_in_error_has_no_network_and_is_judged_by_its_workspace` |
//! | 21 | `edge_21_an_unreferenced_group_alone_is_not_deleted` |
//! | 22 | `edge_22_a_balancer_that_is_being_updated_is_still_a_step_and_a_failed_one_too` |
//! | 23 | `edge_23_a_vpc_is_not_asked_to_go_before_its_subnet_reads_as_gone` |
//! | 24 | `edge_24_what_is_being_reclaimed_has_no_action_and_keeps_nothing_waiting` |
//! | 25 | `edge_25_an_instance_of_object_storage_goes_with_its_keys` |
//! | 26 | `edge_26_a_locked_workspace_is_said_and_never_tried` |
//! | 27 | `an_id_beats_a_name` |
//! | 28 | `edge_28_an_empty_listing_that_was_cut_short_is_not_gone`, `what_search_does_not_know_yet_has_its_tags_looked_up` |
//! | 29 | `edge_29_what_the_index_still_has_and_no_list_does_is_gone` |
//! | 30 | `every_region_is_asked_at_its_own_endpoint` |
//! | 31 | `a_crn_names_its_account_and_its_end`, `an_account_that_does_not_fit_leaves_everything_open` |
//! | 32 | `tags_in_an_account_the_clusters_ids_do_not_lie_in_are_not_its_pointing` |
//! | 33 | `a_token_that_ends_in_mid_run_is_replaced`, `a_wait_is_read_in_seconds_and_as_a_date_of_the_services_clock` |
//! | 34 | `what_was_made_before_there_were_tags_goes_by_the_older_flag_alone` |
//! | 35 | `what_the_provider_would_not_do_is_not_done_or_is_blocked` |
//! | 36 | `what_depends_on_something_that_stays_is_not_touched`, `create_and_teardown_leave_nothing_of_the_cluster_and_everything_of_others` |
//! | 37 | `edge_37_a_delete_that_another_deleter_was_first_with_is_not_a_failure` |
//! | 38 | `an_answer_that_quotes_the_key_or_token_is_not_printed` |

use serde_json::json;

use super::*;

const VPC: &str = "vpc/vpc@clusters/demo";

#[test]
fn edge_1_two_owners_are_a_conflict_and_nobody_deletes() {
    let given = newer().going().tags("vpc", &[owner("demo"), uuid(UID), uuid(OTHER)]);
    assert_eq!(given.about(VPC), "two-owners");
}

#[test]
fn edge_2_a_recreated_cluster_neither_adopts_nor_deletes() {
    let given = newer().going().tags("vpc", &[owner("demo"), uuid(DEAD)]).set("status.vpc", json!(null));
    assert_eq!(given.about(VPC), "stale-owner name-taken");
}

#[test]
fn edge_3_of_clusters_with_one_name_only_the_uid_tells() {
    let mut twin = newer_cluster("demo", OTHER);
    (twin["metadata"]["namespace"], twin["status"]) = (json!("others"), json!({}));
    let given = newer().going().cluster_object(twin.clone());
    let judged = given.judged();
    assert_eq!(judged.about(VPC), "owned → delete selected cluster-deleted");
    assert_eq!(judged.about("vpc/vpc@others/demo"), "other-owner");
    let far = newer().going().cluster("mgmt-2").object_in("mgmt-2", twin);
    assert_eq!(far.about("vpc/vpc@others/demo"), "other-owner", "in another management cluster too");
}

#[test]
fn edge_4_our_uid_under_another_name_is_not_ours() {
    assert_eq!(newer().going().tags("vpc", &[owner("renamed"), uuid(UID)]).about(VPC), "other-owner");
}

#[test]
fn edge_5_after_a_move_the_new_uid_is_offered_where_the_status_holds_the_id() {
    let re_own = "stale-owner → re-own offered moved +~cluster-uuid:11111111-1111-1111-1111-111111111111 +~owner:demo \
                  -~cluster-uuid:99999999-9999-9999-9999-999999999999";
    let moved = newer().tags("vpc", &[owner("demo"), uuid(DEAD)]);
    assert_eq!(moved.about(VPC), re_own);
    assert_eq!(moved.going().about(VPC), re_own, "and while it is being deleted");
}

#[test]
fn edge_6_a_crash_between_create_and_tag_leaves_a_name_that_proves_nothing() {
    let fresh = newer().set("status.vpc", json!(null)).tags::<&str>("vpc", &[]);
    assert_eq!(fresh.about(VPC), "foreign not-held-yet");
}

#[test]
fn edge_7_a_half_attached_pair_is_sent_again_whole() {
    let draft = |given: Given| given.judged().find(VPC).unwrap().explanation.remedy[0].change.to_json();
    assert_eq!(
        draft(newer().tags("vpc", &[owner("demo")])),
        json!({ "set": [uuid(UID), owner("demo")], "remove": [] })
    );
}

#[test]
fn edge_16_a_connection_the_user_made_again_is_known_by_its_network() {
    let again = newer().going().lacks("con-v").has(connection("con-9", "tg", "vpc", &crn("vpc", "vpc")));
    let judged = again.judged();
    assert_eq!(judged.about("tg-connection/con-v@clusters/demo"), "gone", "as it should be while the cluster goes");
    assert_eq!(judged.about("tg-connection/con-9@clusters/demo"), "owned → delete selected cluster-deleted");
    assert_eq!(judged.about("transit-gateway/tg@clusters/demo"), "owned → delete selected cluster-deleted");
}

#[test]
fn edge_19_a_dhcp_server_in_error_has_no_network_and_is_judged_by_its_workspace() {
    let broken = newer().going().of("dhcp", "state", json!("ERROR")).of("dhcp", "network", json!(null));
    assert_eq!(broken.about("dhcp-server/dhcp@clusters/demo"), "owned");
    let dying = newer().of("net", "state", json!("deleting")).judged();
    let server = dying.find("dhcp-server/dhcp@clusters/demo").unwrap();
    assert_eq!(server.judgement.verdict, "deleting");
    assert_eq!(server.explanation.summary, "the resource that contains it is being deleted", "its own state is ACTIVE");
    let several = newer().has(json!({ "kind": "dhcp-server", "id": "d2", "parent": "ws", "network": "theirs" }));
    assert_eq!(several.about("dhcp-server/d2@clusters/demo"), "no subject");
}

#[test]
fn edge_21_an_unreferenced_group_alone_is_not_deleted() {
    let default_group =
        newer().going().has(resource("security-group", "default")).of("default", "parent", json!("vpc"));
    assert_eq!(default_group.about("security-group/default@clusters/demo"), "no subject");
}

#[test]
fn edge_22_a_balancer_that_is_being_updated_is_still_a_step_and_a_failed_one_too() {
    for state in ["update_pending", "maintenance_pending", "failed"] {
        let given = newer().going().of("lb", "state", json!(state));
        assert_eq!(given.about("load-balancer/lb@clusters/demo"), "owned → delete selected cluster-deleted", "{state}");
    }
}

#[test]
fn edge_24_what_is_being_reclaimed_has_no_action_and_keeps_nothing_waiting() {
    let given = newer().going().of("ws", "state", json!("pending_reclamation"));
    let judged = given.judged();
    assert_eq!(judged.about("workspace/ws@clusters/demo"), "reclaiming");
    assert_eq!(judged.in_order(), ["con-p", "con-v", "tg", "lb", "sg", "sub", "vpc", "cos"]);
}

#[test]
fn edge_26_a_locked_workspace_is_said_and_never_tried() {
    let judged = newer().going().of("ws", "locked", json!(true)).judged();
    assert_eq!(judged.about("workspace/ws@clusters/demo"), "locked");
    assert_eq!(judged.about("network/net@clusters/demo"), "owned", "it goes with the workspace, when that goes");
}

#[test]
fn edge_28_an_empty_listing_that_was_cut_short_is_not_gone() {
    let given = ["ws", "net", "dhcp", "vpc", "sub", "sg", "lb", "tg", "con-v", "con-p", "cos"]
        .iter()
        .fold(newer().cut_short(), |given, id| given.lacks(id));
    let all = given.judged().short();
    assert!(all.iter().all(|line| line.ends_with(": unknown")) && all.len() == 12, "{all:#?}");
}

#[test]
fn names_and_tags_of_strangers_stay_on_one_line_of_a_diff() {
    let hostile = "x\n- vpc everything\u{1b}[2J";
    let given =
        newer().going().of("vpc", "name", json!(hostile)).has(resource("subnet", "s")).of("s", "parent", json!("vpc"));
    let given = given.of("s", "name", json!(hostile)).of("vpc", "tags", json!([owner("demo"), uuid(UID), hostile]));
    let judged = given.judged();
    let draft = &judged.find(VPC).unwrap().explanation.remedy[0];
    assert_eq!(draft.diff.lines().count(), 4, "{}", draft.diff);
    let why = &draft.blocked_by[0].why;
    assert!(!draft.diff.contains('\u{1b}') && !why.contains('\u{1b}') && !why.contains('\n'), "{why:?}");
}
