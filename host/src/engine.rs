//! The policy's module in the engine that Kubewarden embeds: waPC over Wasmtime.
//!
//! A policy server compiles a module once, when it starts, and gives every request an instance
//! of its own, so nothing that a policy remembers outlives a request
//! (`evaluation_environment.rs` of Kubewarden's policy-server). So does this.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wapc::WapcHost;
use wasmtime_provider::{WasmtimeEngineProviderBuilder, WasmtimeEngineProviderPre};

use crate::{AdmissionResponse, Error, HostCall, HostCapabilities, NoCapabilities, ProtocolVersion, Result, Review};

/// A policy, compiled and ready to be asked.
pub struct Policy {
    module: WasmtimeEngineProviderPre,
    capabilities: Arc<dyn HostCapabilities>,
}

/// What a policy says of its settings: `SettingsValidationResponse` of Kubewarden's policy SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SettingsAnswer {
    /// Whether the policy can work with them.
    pub valid: bool,
    /// Why not.
    pub message: Option<String>,
}

// === impl Policy ===

impl Policy {
    /// Compiles the module in a file. What comes of it is kept in Wasmtime's cache, as kwctl does,
    /// so that the next time is quick; where there can be no cache, there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] where the file can't be read, [`Error::Engine`] as in
    /// [`Policy::from_bytes`].
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let module = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let module = WasmtimeEngineProviderBuilder::new().module_bytes(&module).enable_cache(None).build_pre()?;
        Ok(Self { module, capabilities: Arc::new(NoCapabilities) })
    }

    /// Compiles a module.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] where the bytes are no WebAssembly, or the module imports what waPC and
    /// WASI don't have.
    pub fn from_bytes(module: &[u8]) -> Result<Self> {
        let module = WasmtimeEngineProviderBuilder::new().module_bytes(module).build_pre()?;
        Ok(Self { module, capabilities: Arc::new(NoCapabilities) })
    }

    /// The same policy on a host that answers its calls. Nothing is compiled anew; the policies
    /// that the constructors make are refused every call.
    pub fn with_capabilities(&self, capabilities: Arc<dyn HostCapabilities>) -> Self {
        Self { module: self.module.clone(), capabilities }
    }

    /// Calls a guest operation on a fresh instance.
    ///
    /// # Errors
    ///
    /// [`Error::Guest`] where the guest returns an error, traps, or fails while it starts.
    pub fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>> {
        let engine = self.module.rehydrate(None)?;
        let capabilities = Arc::clone(&self.capabilities);
        let host_calls = move |_instance: u64, binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
            Ok(capabilities.call(&HostCall { binding, namespace, operation, payload })?)
        };
        let instance = WapcHost::new(Box::new(engine), Some(Box::new(host_calls)))?;
        Ok(instance.call(operation, payload)?)
    }

    /// Asks the policy how it speaks to its host.
    ///
    /// # Errors
    ///
    /// As [`Policy::call`], and [`Error::Answer`] where the policy answers something else.
    pub fn protocol_version(&self) -> Result<ProtocolVersion> {
        self.ask("protocol_version", b"")
    }

    /// Asks the policy whether it can work with these settings.
    ///
    /// # Errors
    ///
    /// As [`Policy::call`], and [`Error::Answer`] where the policy answers something else.
    pub fn validate_settings(&self, settings: &Value) -> Result<SettingsAnswer> {
        self.ask("validate_settings", settings.to_string().as_bytes())
    }

    fn ask<T: DeserializeOwned>(&self, operation: &'static str, payload: &[u8]) -> Result<T> {
        let answer = self.call(operation, payload)?;
        serde_json::from_slice(&answer).map_err(|source| Error::Answer { operation, source })
    }

    /// Asks the policy about a request, an AdmissionReview or a bare AdmissionRequest. A policy
    /// that fails is answered for with code 500, as a policy server does.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] where `request` is no such thing.
    pub fn evaluate(&self, request: &Value, settings: &Value) -> Result<AdmissionResponse> {
        Ok(self.answer(&Review::from_value(request)?, settings))
    }

    /// As [`Policy::evaluate`], for a request that has been read already.
    pub fn answer(&self, review: &Review, settings: &Value) -> AdmissionResponse {
        match self.call("validate", &review.payload(settings)) {
            Ok(answer) => AdmissionResponse::from_guest(review, &answer),
            Err(error) => AdmissionResponse::internal_error(review, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// A guest in the text format whose `__guest_call` has this body. Its memory holds `data` at
    /// 0; 4096 is free for the operation, 8192 for the payload, and 16384 for anything.
    fn guest(data: &str, body: &str) -> Policy {
        let data = data.replace('\\', "\\5c").replace('"', "\\22");
        let text = format!(
            r#"(module
                (import "wapc" "__guest_request" (func $request (param i32 i32)))
                (import "wapc" "__guest_response" (func $response (param i32 i32)))
                (import "wapc" "__guest_error" (func $error (param i32 i32)))
                (import "wapc" "__host_call"
                  (func $host (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
                (import "wapc" "__host_response_len" (func $host_response_len (result i32)))
                (import "wapc" "__host_response" (func $host_response (param i32)))
                (import "wapc" "__host_error_len" (func $host_error_len (result i32)))
                (import "wapc" "__host_error" (func $host_error (param i32)))
                (memory (export "memory") 4)
                (data (i32.const 0) "{data}")
                (func (export "__guest_call")
                  (param $operation i32) (param $payload i32) (result i32)
                  {body}))"#
        );
        Policy::from_bytes(text.as_bytes()).unwrap()
    }

    fn answering(answer: &str) -> Policy {
        let length = answer.len();
        guest(answer, &format!("(call $response (i32.const 0) (i32.const {length})) (i32.const 1)"))
    }

    fn failing(message: &str) -> Policy {
        let length = message.len();
        guest(message, &format!("(call $error (i32.const 0) (i32.const {length})) (i32.const 0)"))
    }

    fn request() -> Value {
        json!({
            "uid": "u-1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "userInfo": {},
            "object": {"a": 1},
        })
    }

    #[test]
    fn the_guest_gets_the_payload() {
        let echo = guest(
            "",
            "(call $request (i32.const 4096) (i32.const 8192))
             (call $response (i32.const 8192) (local.get $payload))
             (i32.const 1)",
        );
        assert_eq!(echo.call("any", b"some bytes").unwrap(), b"some bytes");
    }

    #[test]
    fn the_guest_gets_the_operation() {
        let echo = guest(
            "",
            "(call $request (i32.const 4096) (i32.const 8192))
             (call $response (i32.const 4096) (local.get $operation))
             (i32.const 1)",
        );
        assert_eq!(echo.call("validate", b"{}").unwrap(), b"validate");
    }

    #[test]
    fn no_instance_remembers_another() {
        let counter = guest(
            "0",
            "(i32.store8 (i32.const 0) (i32.add (i32.load8_u (i32.const 0)) (i32.const 1)))
             (call $response (i32.const 0) (i32.const 1))
             (i32.const 1)",
        );
        assert_eq!(counter.call("count", b"").unwrap(), b"1");
        assert_eq!(counter.call("count", b"").unwrap(), b"1");
    }

    /// Makes the host call `kube/warden/get` with the payload that it got, and returns what comes
    /// of it: the answer, or the error.
    fn asking() -> Policy {
        guest(
            "kubewardenget",
            "(call $request (i32.const 4096) (i32.const 8192))
             (if (call $host (i32.const 0) (i32.const 4) (i32.const 4) (i32.const 6) (i32.const 10)
                   (i32.const 3) (i32.const 8192) (local.get $payload))
               (then
                 (call $host_response (i32.const 16384))
                 (call $response (i32.const 16384) (call $host_response_len)))
               (else
                 (call $host_error (i32.const 16384))
                 (call $response (i32.const 16384) (call $host_error_len))))
             (i32.const 1)",
        )
    }

    #[test]
    fn the_host_offers_nothing() {
        assert_eq!(asking().call("ask", b"").unwrap(), b"this host has no capability kube/warden/get");
    }

    #[test]
    fn capabilities_answer() {
        let echo = |call: &HostCall<'_>| Ok(format!("{call} {:?}", call.payload).into_bytes());
        let policy = asking().with_capabilities(Arc::new(echo));
        assert_eq!(policy.call("ask", b"ab").unwrap(), b"kube/warden/get [97, 98]");
    }

    #[test]
    fn the_guest_is_told_why_a_call_fails() {
        let refusing = |call: &HostCall<'_>| Err(format!("not {}", call.operation));
        assert_eq!(asking().with_capabilities(Arc::new(refusing)).call("ask", b"").unwrap(), b"not get");
    }

    #[rstest]
    #[case::valid(r#"{"valid": true}"#, true, None)]
    #[case::invalid(r#"{"valid": false, "message": "a \"b\""}"#, false, Some("a \"b\""))]
    fn settings(#[case] answer: &str, #[case] valid: bool, #[case] message: Option<&str>) {
        let expected = SettingsAnswer { valid, message: message.map(str::to_owned) };
        assert_eq!(answering(answer).validate_settings(&json!({})).unwrap(), expected);
    }

    #[test]
    fn the_protocol() {
        assert_eq!(answering(r#""v1""#).protocol_version().unwrap(), ProtocolVersion::V1);
        let error = answering(r#""v2""#).protocol_version().unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
    }

    #[test]
    fn settings_whose_answer_can_not_be_read() {
        let error = answering("[]").validate_settings(&json!({})).unwrap_err();
        assert!(matches!(error, Error::Answer { .. }), "{error}");
    }

    #[test]
    fn a_review_is_answered() {
        let policy = answering(r#"{"accepted": true, "mutated_object": {"a": 2}}"#);
        let response = policy.evaluate(&json!({"request": request()}), &json!({})).unwrap();
        assert_eq!(response.uid, "u-1");
        assert_eq!(response.patched(&json!({"a": 1})).unwrap(), json!({"a": 2}));
    }

    #[rstest]
    #[case::error(failing("told so"), "internal server error: Guest call failure: told so")]
    #[case::trap(guest("", "(unreachable)"), "internal server error: Guest call failure: ")]
    #[case::silence(guest("", "(i32.const 1)"), "internal server error: Guest call failure: ")]
    fn a_guest_that_fails_is_code_500(#[case] policy: Policy, #[case] beginning: &str) {
        let response = policy.evaluate(&request(), &json!({})).unwrap();
        assert!(!response.allowed);
        let status = response.status.unwrap();
        assert_eq!(status.code, Some(500));
        let message = status.message.unwrap();
        assert!(message.starts_with(beginning), "{message}");
    }

    #[rstest]
    #[case::not_wasm(b"kind: Pod".as_slice())]
    #[case::unknown_import(br#"(module (import "env" "f" (func)))"#.as_slice())]
    fn what_can_not_be_loaded(#[case] bytes: &[u8]) {
        assert!(matches!(Policy::from_bytes(bytes), Err(Error::Engine(_))));
    }

    #[test]
    fn a_module_without_wapc_can_not_be_called() {
        let policy = Policy::from_bytes(b"(module)").unwrap();
        assert!(matches!(policy.call("validate", b""), Err(Error::Guest(_))));
    }

    #[test]
    fn a_file_that_is_not_there() {
        let error = Policy::from_path("no/such.wasm").err().unwrap().to_string();
        assert!(error.starts_with("cannot read no/such.wasm: "), "{error}");
    }

    #[test]
    fn threads_can_share_a_policy() {
        fn shared<T: Send + Sync>() {}
        shared::<Policy>();
    }
}
