//! The door: everything is in the library, so that tests and benches can reach it.

fn main() -> std::process::ExitCode {
    trueup::cli::run()
}
