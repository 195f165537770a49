//! What Kubernetes says of taints, tolerations, selectors, quantities and names.

pub mod label_selector;
pub mod names;
pub mod quantity;
pub mod requirement;
pub mod taint;
pub mod toleration;
