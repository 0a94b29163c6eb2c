//! The list and the detail as the console draws them, at the two sizes that count.

use serde_json::json;

use super::{Console, SIZES};
use trueup_checks::kubeconfig::testing::*;

/// One of each sort.
fn fleet() -> Given {
    let mut given = given();
    let mut with = |name: &str, source: Config, target: Config| {
        let place = |config: Config| {
            config.server(&format!("https://{name}.gr7.us-west-2.eks.amazonaws.com")).authorities(&[name])
        };
        given = given
            .clone()
            .object(capi_cluster("team-b", name))
            .object(plane("team-b", name))
            .has(connection("team-b", name));
        given = given.clone().has(self::source(name, &place(source))).has(self::target("team-b", name, &place(target)));
    };
    with("shop", config().signed(minutes(-1)), config().signed(minutes(-18)));
    with("pay", config().signed(minutes(-11)), config().signed(minutes(-11)));
    with("stall", config().signed(minutes(-13)), config().signed(minutes(-13)));
    let moved = config().server("https://gone.example").certificate(days(-30), days(330));
    let status = json!({ "kubeconfig": { "name": "guest-admin-kubeconfig" } });
    given
        .object(plain_cluster("team-c", "old", "10.0.0.1", 6443))
        .has(target("team-c", "old", &moved))
        .object(hosted("clusters", "guest", status))
        .has(
            secret("clusters", "guest-admin-kubeconfig")
                .key("kubeconfig", &config().certificate(days(-400), days(-2)).text()),
        )
}

/// No detail is beside the list to the left of this.
const LIST_WIDTH: usize = 60;

/// What stands in the rows of a list, in their order.
fn rows(screen: &str) -> Vec<&'static str> {
    let names = ["old", "gue", "shop", "pay", "stall", "demo"];
    let row = |line: &str| {
        // After the cursor and the state.
        let list: String = line.chars().take(LIST_WIDTH).collect();
        let mut words = list.trim_start_matches([' ', '▸']).split_whitespace();
        let (state, name) = (words.next()?, words.next()?);
        let is_row = state.chars().count() == 1;
        names.into_iter().find(|known| is_row && name.starts_with(*known))
    };
    screen.lines().filter_map(row).collect()
}

#[test]
fn the_list_shows_what_is_left_and_the_soonest_of_a_state_first() {
    for size in SIZES {
        let mut console = Console::open(&fleet());
        console.keys("1 =");
        let screen = console.screen(size);
        assert_eq!(rows(&screen), ["old", "gue", "shop", "stall", "pay", "demo"], "{screen}");
        assert!(screen.contains("LEFT") && screen.contains("expired"), "{screen}");
    }
}

/// The journey "expiring kubeconfigs": which credential ends next, and what is wrong with it, by keys alone.
#[test]
fn credentials_are_listed_by_when_they_end_and_enter_opens_the_finding() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut console = Console::open(&fleet());
        console.keys("g x");
        let screen = console.screen((width, height));
        insta::assert_snapshot!(format!("expiry_{width}x{height}"), screen);
        console.keys("enter");
        let screen = console.screen((width, height));
        let row = screen.lines().find(|line| line.contains('▸')).unwrap_or_default();
        assert!(row.contains("guest-admin-kubeconfig") && row.contains("expired 2d ago"), "{screen}");
        // The last one ends latest: a match, which its list hides until it is asked for.
        console.keys("g x k k");
        console.keys("G k enter");
        let screen = console.screen((width, height));
        let row = screen.lines().find(|line| line.contains('▸')).unwrap_or_default();
        assert!(row.contains("demo-kubeconfig") && row.contains("fresh"), "{screen}");
    }
}

#[test]
fn the_runway_reads_the_same_in_ascii() {
    let mut console = Console::open(&fleet());
    console.console.model.signs = crate::console::theme::GlyphSet::Plain;
    console.keys("g x");
    let screen = console.screen((120, 40));
    assert!(screen.is_ascii(), "{screen}");
    assert!(screen.contains("====") && screen.contains(" ago"), "{screen}");
}
