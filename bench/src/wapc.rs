//! The host's side of waPC, as far as a policy that is measured needs it.
//!
//! The functions and their meaning are those of the crate `wasmtime-provider`, which Kubewarden
//! embeds. There is no cluster behind them: a host call fails, as in this project's own host.

use wasmtime::{Caller, Error, Extern, Linker, Memory, Result, format_err};
use wasmtime_wasi::p1::WasiP1Ctx;

/// The module that waPC's functions are imported from.
const NAMESPACE: &str = "wapc";

/// What a guest reads of its host when a host call has failed.
const NO_CAPABILITY: &str = "the meter has no capabilities";

/// What one instance exchanges with its host.
pub(crate) struct Exchange {
    pub(crate) wasi: WasiP1Ctx,
    pub(crate) operation: &'static str,
    pub(crate) payload: Vec<u8>,
    pub(crate) response: Option<Vec<u8>>,
    pub(crate) error: Option<String>,
}

/// Defines all that waPC's hosts offer.
pub(crate) fn add_to_linker(linker: &mut Linker<Exchange>) -> Result<()> {
    linker.func_wrap(NAMESPACE, "__guest_request", guest_request)?;
    linker.func_wrap(NAMESPACE, "__guest_response", |mut caller: Caller<'_, Exchange>, at: u32, length: u32| {
        let response = read(&mut caller, at, length)?;
        caller.data_mut().response = Some(response);
        Ok::<_, Error>(())
    })?;
    linker.func_wrap(NAMESPACE, "__guest_error", |mut caller: Caller<'_, Exchange>, at: u32, length: u32| {
        let message = read(&mut caller, at, length)?;
        caller.data_mut().error = Some(String::from_utf8_lossy(&message).into_owned());
        Ok::<_, Error>(())
    })?;
    linker.func_wrap(NAMESPACE, "__console_log", |_: u32, _: u32| ())?;
    linker
        .func_wrap(NAMESPACE, "__host_call", |_: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| 0_u32)?;
    linker.func_wrap(NAMESPACE, "__host_response_len", || 0_u32)?;
    linker.func_wrap(NAMESPACE, "__host_response", |_: u32| ())?;
    linker.func_wrap(NAMESPACE, "__host_error_len", || NO_CAPABILITY.len() as u32)?;
    linker.func_wrap(NAMESPACE, "__host_error", |mut caller: Caller<'_, Exchange>, at: u32| {
        memory(&mut caller)?.write(&mut caller, at as usize, NO_CAPABILITY.as_bytes())?;
        Ok::<_, Error>(())
    })?;
    Ok(())
}

/// Copies operation and payload into the guest. The copy is the host's, so it takes no fuel.
fn guest_request(mut caller: Caller<'_, Exchange>, operation_at: u32, payload_at: u32) -> Result<()> {
    let (memory, exchange) = memory(&mut caller)?.data_and_store_mut(&mut caller);
    for (at, bytes) in [(operation_at, exchange.operation.as_bytes()), (payload_at, &exchange.payload)] {
        let at = at as usize;
        memory
            .get_mut(at..at + bytes.len())
            .ok_or_else(|| format_err!("the guest's buffer is outside of its memory"))?
            .copy_from_slice(bytes);
    }
    Ok(())
}

fn read(caller: &mut Caller<'_, Exchange>, at: u32, length: u32) -> Result<Vec<u8>> {
    let (at, length) = (at as usize, length as usize);
    let bytes = memory(caller)?.data(&*caller).get(at..at + length);
    bytes.map(<[u8]>::to_vec).ok_or_else(|| format_err!("the guest's answer is outside of its memory"))
}

fn memory(caller: &mut Caller<'_, Exchange>) -> Result<Memory> {
    caller
        .get_export("memory")
        .and_then(Extern::into_memory)
        .ok_or_else(|| format_err!("the guest does not export its memory"))
}
