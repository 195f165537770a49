//! The command line of the host.
#![forbid(unsafe_code)]

mod arguments;
mod run;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments::Command::Run(arguments) = arguments::Arguments::parse_or_exit().command;
    match run::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}
