//! What a policy asks of its host: the host calls of waPC.

use std::fmt;

/// A host call, as the guest makes it.
///
/// Kubewarden's are those of the binding `kubewarden`; namespace and operation together name a
/// capability, such as `kubernetes/get_resource` (`callback.rs` of Kubewarden's policy-evaluator).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostCall<'a> {
    /// Whose words the rest are.
    pub binding: &'a str,
    /// What the operation belongs to.
    pub namespace: &'a str,
    /// What is asked for.
    pub operation: &'a str,
    /// The arguments; JSON in Kubewarden's calls.
    pub payload: &'a [u8],
}

/// What answers host calls. A function from the call to the answer is one.
pub trait HostCapabilities: Send + Sync {
    /// Returns the bytes of the answer, JSON in Kubewarden's calls.
    ///
    /// # Errors
    ///
    /// What the guest is told: its call fails with these words.
    fn call(&self, call: &HostCall<'_>) -> Result<Vec<u8>, String>;
}

/// Refuses every call: there is no cluster to look into, and nowhere to log to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoCapabilities;

// === impl HostCall ===

/// `kubewarden/kubernetes/get_resource`.
impl fmt::Display for HostCall<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.binding, self.namespace, self.operation)
    }
}

// === impl HostCapabilities ===

impl<F> HostCapabilities for F
where
    F: Fn(&HostCall<'_>) -> Result<Vec<u8>, String> + Send + Sync,
{
    fn call(&self, call: &HostCall<'_>) -> Result<Vec<u8>, String> {
        self(call)
    }
}

impl HostCapabilities for NoCapabilities {
    fn call(&self, call: &HostCall<'_>) -> Result<Vec<u8>, String> {
        Err(format!("this host has no capability {call}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: HostCall<'_> =
        HostCall { binding: "kubewarden", namespace: "kubernetes", operation: "can_i", payload: b"{}" };

    #[test]
    fn a_refusal_names_the_call() {
        let refusal = "this host has no capability kubewarden/kubernetes/can_i";
        assert_eq!(NoCapabilities.call(&CALL), Err(refusal.to_owned()));
    }

    #[test]
    fn a_function_answers() {
        let echo = |call: &HostCall<'_>| Ok(call.payload.to_vec());
        assert_eq!(HostCapabilities::call(&echo, &CALL), Ok(b"{}".to_vec()));
    }
}
