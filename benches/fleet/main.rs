//! The program that users run against fleets of growing size, served by another process.
//!
//! `cargo bench --bench fleet [-- --clusters 10,100,1000] [--objects 10000,100000] [--runs 3]` serves each fleet with `trueup
//! demo --headless`, and measures `trueup plan` over all of it, the start of the console, one change in one cluster, and a
//! storm of changes. Prints the medians and the exponent of growth between neighbouring sizes: 1.00 is linear.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark measures with the real clock and prints"
)]

mod console;
mod process;
mod server;

#[path = "../../tests/support/pty.rs"]
mod pty;

use clap::Parser;

use console::ConsoleCost;
use process::{Cost, plan};
use server::Server;

#[derive(Parser)]
struct Args {
    /// Guest clusters beside those of the demo, one fleet per number
    #[arg(long, value_delimiter = ',', default_values_t = [10, 100, 1_000])]
    clusters: Vec<usize>,
    /// Objects spread over the guests, one more fleet of the demo's own clusters per number
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    objects: Vec<usize>,
    /// Objects in each of the clusters
    #[arg(long, default_value_t = 0)]
    objects_per_cluster: usize,
    /// Runs of `plan` on each fleet
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Leave the console out
    #[arg(long)]
    plan_only: bool,
    /// Added by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

/// What one fleet costs.
struct Measured {
    size: usize,
    plan: Cost,
    console: Option<ConsoleCost>,
}

fn main() {
    let args = Args::parse();
    let of_clusters = |clusters: usize| Server::start(clusters, clusters * args.objects_per_cluster);
    let by_clusters: Vec<Measured> =
        args.clusters.iter().map(|size| measure(*size, of_clusters(*size), &args)).collect();
    show("clusters beside the demo's", &by_clusters);
    let by_objects: Vec<Measured> =
        args.objects.iter().map(|size| measure(*size, Server::start(0, *size), &args)).collect();
    show("objects in the demo's clusters", &by_objects);
}

fn measure(size: usize, server: Server, args: &Args) -> Measured {
    let plan = Cost::median((0..args.runs.max(1)).map(|_| plan(&server)).collect());
    let console = (!args.plan_only).then(|| console::measure(&server));
    Measured { size, plan, console }
}

fn show(what: &str, measured: &[Measured]) {
    println!(
        "\n| {what} | plan wall s | CPU s | peak MB | first frame ms | all rows s | console MB | one change CPU ms | storm CPU % |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for Measured { size, plan: Cost { wall, cpu, peak_mb }, console } in measured {
        let console = console.as_ref().map_or_else(|| "– | – | – | – | –".to_owned(), ConsoleCost::cells);
        println!("| {size} | {wall:.2} | {cpu:.2} | {peak_mb:.0} | {console} |");
    }
    for pair in measured.windows(2) {
        let [before, after] = pair else { continue };
        let times = after.size as f64 / before.size.max(1) as f64;
        let exponent = |figure: fn(&Cost) -> f64| (figure(&after.plan) / figure(&before.plan)).ln() / times.ln();
        println!(
            "{} to {} {what}: CPU ×{:.1}, exponents of CPU {:.2}, of peak memory {:.2}",
            before.size,
            after.size,
            after.plan.cpu / before.plan.cpu,
            exponent(|cost| cost.cpu),
            exponent(|cost| cost.peak_mb),
        );
    }
}
