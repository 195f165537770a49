//! The command line of the host.
#![forbid(unsafe_code)]

mod annotate;
mod arguments;
mod run;
mod scaffold;

use std::process::ExitCode;

use arguments::{Arguments, Command, Scaffold};

fn main() -> ExitCode {
    let ended = match Arguments::parse_or_exit().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Annotate(arguments) => annotate::annotate(&arguments).map_err(run::Failure::from),
        Command::Scaffold(Scaffold::Artifacthub(arguments)) => {
            scaffold::artifacthub(&arguments).map_err(run::Failure::from)
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}
