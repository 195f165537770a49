//! What Kubernetes says of taints, tolerations, selectors, quantities and names.

pub mod label_selector;
pub mod names;
pub mod quantity;
pub mod requirement;
pub mod taint;
pub mod toleration;

/// Set by the kubelet on the pods that it runs from files.
pub const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";
