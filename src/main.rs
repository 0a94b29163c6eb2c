//! The binary. Everything else is in the library, where tests and benches can reach it.

fn main() -> std::process::ExitCode {
    trueup::cli::run()
}
