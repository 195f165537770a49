//! Runs a policy as its host does, and counts what that takes.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wasmtime::{Config, Engine, InstancePre, Linker, Module, Store};
use wasmtime_wasi::{Deterministic, WasiCtxBuilder};

use crate::wapc::{self, Exchange};

/// The functions that a host calls before the first request, in this order, where they are
/// exported: WASI's of a library, WASI's of a program, waPC's. Hosts that embed `wasmtime-provider`
/// leave out the first, which is a few instructions.
const STARTERS: [&str; 3] = ["_initialize", "_start", "wapc_init"];

/// The lock file of this workspace, which says what is compiled in.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");

/// A policy that is ready to be measured.
pub struct Meter {
    engine: Engine,
    module: InstancePre<Exchange>,
    size: usize,
}

/// What one request took. Fuel is counted by Wasmtime: about one unit for each WebAssembly
/// instruction that is executed, and for each byte that is copied. It is the same on every machine.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The fuel of instantiation and of all functions that are called before the request.
    pub start_up_fuel: u64,
    /// The fuel of the guest call.
    pub call_fuel: u64,
    /// The linear memory at the end, in bytes. It never shrinks, so it is the most there was.
    pub peak_memory: usize,
    /// What the guest answered.
    pub answer: Value,
}

/// Why something can't be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The module can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The module can't be compiled or instantiated, or it trapped.
    #[error("the module can't be run: {0:#}")]
    Engine(#[from] wasmtime::Error),
    /// The guest answered with an error, or not at all.
    #[error("the guest failed: {0}")]
    Guest(String),
    /// The guest's answer is no JSON.
    #[error("the guest's answer is no JSON: {0}")]
    Answer(#[from] serde_json::Error),
}

/// The version of the Wasmtime that counts.
pub fn wasmtime_version() -> &'static str {
    let package = LOCK_FILE.split_once("name = \"wasmtime\"\nversion = \"");
    package.and_then(|(_, rest)| rest.split('"').next()).unwrap_or("of an unknown version")
}

// === impl Meter ===

impl Meter {
    /// Compiles the module in a file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] where the file can't be read, [`Error::Engine`] where it holds no waPC
    /// guest.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let module = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Ok(Self::from_bytes(&module)?)
    }

    fn from_bytes(bytes: &[u8]) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.consume_fuel(true);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p1::add_to_linker_sync(&mut linker, |exchange: &mut Exchange| &mut exchange.wasi)?;
        wapc::add_to_linker(&mut linker)?;
        let module = linker.instantiate_pre(&Module::new(&engine, bytes)?)?;
        Ok(Self { engine, module, size: bytes.len() })
    }

    /// The size of the module, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Starts an instance and asks it to validate what is in the payload.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] where the guest traps, [`Error::Guest`] and [`Error::Answer`] where it
    /// does not answer with JSON.
    pub fn measure(&self, payload: &[u8]) -> Result<Measurement, Error> {
        let mut wasi = WasiCtxBuilder::new();
        // Hash tables with the same seed take the same fuel each time.
        wasi.insecure_random_seed(0).secure_random(zeros()).insecure_random(zeros());
        let exchange = Exchange {
            wasi: wasi.build_p1(),
            operation: "validate",
            payload: payload.to_vec(),
            response: None,
            error: None,
        };
        let mut store = Store::new(&self.engine, exchange);
        store.set_fuel(u64::MAX)?;
        let instance = self.module.instantiate(&mut store)?;
        for starter in STARTERS {
            if let Some(starter) = instance.get_func(&mut store, starter) {
                starter.typed::<(), ()>(&store)?.call(&mut store, ())?;
            }
        }
        let start_up_fuel = u64::MAX - store.get_fuel()?;

        let call = instance.get_typed_func::<(u32, u32), u32>(&mut store, "__guest_call")?;
        let operation_length = store.data().operation.len() as u32;
        let succeeded = call.call(&mut store, (operation_length, payload.len() as u32))?;
        let call_fuel = u64::MAX - start_up_fuel - store.get_fuel()?;

        let memory = instance.get_memory(&mut store, "memory");
        let peak_memory = memory.map_or(0, |memory| memory.data_size(&store));
        let exchange = store.into_data();
        let answer = match exchange.response {
            Some(answer) if succeeded == 1 => serde_json::from_slice(&answer)?,
            _ => return Err(Error::Guest(exchange.error.unwrap_or_else(|| "it said nothing".to_owned()))),
        };
        Ok(Measurement { start_up_fuel, call_fuel, peak_memory, answer })
    }
}

fn zeros() -> Deterministic {
    Deterministic::new(vec![0])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A guest in the text format with these functions, which answers `{}` from address 0.
    fn guest(functions: &str, call: &str) -> Meter {
        let text = format!(
            r#"(module
                (import "wapc" "__guest_request" (func $request (param i32 i32)))
                (import "wapc" "__guest_response" (func $response (param i32 i32)))
                (import "wapc" "__guest_error" (func $error (param i32 i32)))
                (memory (export "memory") 1)
                (data (i32.const 0) "{{}}")
                {functions}
                (func (export "__guest_call") (param i32 i32) (result i32) {call}))"#
        );
        Meter::from_bytes(text.as_bytes()).unwrap()
    }

    const ANSWER: &str = "(call $response (i32.const 0) (i32.const 2)) (i32.const 1)";

    fn measure(functions: &str, call: &str) -> Measurement {
        guest(functions, call).measure(b"payload").unwrap()
    }

    #[test]
    fn start_up_and_call_are_counted_apart() {
        let plain = measure("", ANSWER);
        assert_eq!((plain.start_up_fuel, plain.answer.clone()), (0, json!({})));
        let longer = measure("", &format!("(drop (i32.const 1)) {ANSWER}"));
        assert!(longer.start_up_fuel == 0 && longer.call_fuel > plain.call_fuel);
        let drops = "(drop (i32.const 1)) ".repeat(10);
        for starter in STARTERS {
            let started = measure(&format!(r#"(func (export "{starter}") {drops})"#), ANSWER);
            assert!(started.start_up_fuel >= 10, "{starter}: {}", started.start_up_fuel);
            assert_eq!(started.call_fuel, plain.call_fuel, "{starter}");
        }
    }

    #[test]
    fn memory_is_what_there_is_at_the_end() {
        let page = 65_536;
        assert_eq!(measure("", ANSWER).peak_memory, page);
        let grown = measure("", &format!("(drop (memory.grow (i32.const 3))) {ANSWER}"));
        assert_eq!(grown.peak_memory, 4 * page);
    }

    #[test]
    fn the_guest_gets_operation_and_payload() {
        let call = "(call $request (i32.const 100) (i32.const 200))
                    (i32.store8 (i32.const 108) (i32.const 34))
                    (i32.store8 (i32.const 99) (i32.const 34))
                    (call $response (i32.const 99) (i32.const 10)) (i32.const 1)";
        assert_eq!(measure("", call).answer, json!("validate"));
        let echo = "(call $request (i32.const 100) (i32.const 200))
                    (call $response (i32.const 200) (local.get 1)) (i32.const 1)";
        assert_eq!(guest("", echo).measure(br#"{"a": 1}"#).unwrap().answer, json!({"a": 1}));
    }

    #[test]
    fn guests_that_fail() {
        let failure = |call: &str| guest("", call).measure(b"").unwrap_err();
        let told = failure("(call $error (i32.const 0) (i32.const 2)) (i32.const 0)");
        assert_eq!(told.to_string(), "the guest failed: {}");
        assert!(matches!(failure("(i32.const 1)"), Error::Guest(_)));
        assert!(matches!(failure("unreachable"), Error::Engine(_)));
        assert!(matches!(failure("(call $response (i32.const 0) (i32.const 1)) (i32.const 1)"), Error::Answer(_)));
        assert!(matches!(failure("(call $response (i32.const -1) (i32.const 9)) (i32.const 1)"), Error::Engine(_)));
    }

    #[test]
    fn modules_that_can_not_be_loaded() {
        assert!(matches!(Meter::from_path("no/such.wasm"), Err(Error::Read { .. })));
        assert!(Meter::from_bytes(b"nonsense").is_err());
    }

    #[test]
    fn the_version_is_known() {
        assert!(wasmtime_version().starts_with("48."), "{}", wasmtime_version());
    }
}
