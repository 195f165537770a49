//! Answers an AdmissionReview with a Kubewarden policy, as a policy server would.
//!
//! Kubewarden's own tool for that is `kwctl run`, which no package registry carries. This crate
//! embeds the same engine, speaks waPC to the policy in the same way, and makes the answer of
//! the policy into the AdmissionResponse that the API server would get.
//!
//! - [`Policy`]: a compiled module; each question goes to a fresh instance of it.
//! - [`HostCapabilities`]: what answers a policy that asks its host for something.
//! - [`Review`]: what is asked, the request of an AdmissionReview.
//! - [`AdmissionResponse`]: what is answered.
//! - [`KubernetesAccess`]: the cluster as far as it is granted, played back by a [`Replay`].
//! - [`Metadata`]: what a module says of itself; [`ArtifactHubPackage`]: the same for Artifact Hub.
//! - [`PolicyResource`]: a ClusterAdmissionPolicy or AdmissionPolicy in a YAML file, with the
//!   settings and what it makes of an answer.
//! - [`pretty`]: an answer for people.
#![forbid(unsafe_code)]

mod access;
mod admit;
mod artifacthub;
mod engine;
mod error;
mod host_call;
mod kubernetes;
mod metadata;
mod policy_file;
pub mod pretty;
mod replay;
mod response;
mod review;
mod section;

pub use access::{Access, KubernetesAccess};
pub use artifacthub::ArtifactHubPackage;
pub use engine::{Policy, SettingsAnswer};
pub use error::Error;
pub use host_call::{HostCall, HostCapabilities, NoCapabilities};
pub use kubernetes::{ContextAwareResource, KubernetesRequest, ResourceAttributes, SubjectAccessReview};
pub use metadata::{ExecutionMode, METADATA_SECTION, Metadata, Operation, PolicyType, ProtocolVersion, Rule};
pub use policy_file::{Mode, PolicyResource, read_policy_file};
pub use replay::{Exchange, Replay, read_exchanges};
pub use response::{AdmissionResponse, Cause, Details, PatchType, Status};
pub use review::{GroupVersionKind, GroupVersionResource, Review, UserInfo};

/// What can fail here, with [`Error`] as the default reason.
pub type Result<T, E = Error> = std::result::Result<T, E>;
