//! What a policy resource makes of the policy's answer (`admission_response_handler.rs` of
//! Kubewarden's policy-evaluator).

use crate::response::{Cause, Details, Status};
use crate::{AdmissionResponse, Mode, PolicyResource};

// === impl PolicyResource ===

impl PolicyResource {
    /// What the API server gets of a policy's answer, after `mode`, `mutating` and `message`.
    pub fn admit(&self, answer: AdmissionResponse) -> AdmissionResponse {
        if self.mode == Mode::Monitor {
            return AdmissionResponse { allowed: true, patch_type: None, patch: None, status: None, ..answer };
        }
        let mut answer = answer;
        if !self.mutating && answer.patch.is_some() {
            let message = format!(
                "policy {} attempted to mutate the request, but it is configured not to \
                 (mutating: false)",
                self.name
            );
            answer = AdmissionResponse {
                allowed: false,
                // A validating webhook must not answer with a patch.
                patch_type: None,
                patch: None,
                status: Some(Status { message: Some(message), ..Status::default() }),
                ..answer
            };
        }
        if let (false, Some(message)) = (answer.allowed, &self.message) {
            let status = answer.status.take().unwrap_or_default();
            answer.status = Some(Status {
                message: Some(message.clone()),
                details: Some(Details { causes: vec![Cause { message: status.message.unwrap_or_default() }] }),
                ..status
            });
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::PatchType;

    fn policy() -> PolicyResource {
        PolicyResource { name: "p".to_owned(), ..PolicyResource::of_module("file://p.wasm", json!({})) }
    }

    fn mutation() -> AdmissionResponse {
        AdmissionResponse {
            allowed: true,
            patch_type: Some(PatchType::JsonPatch),
            patch: Some("W10=".to_owned()),
            warnings: Some(vec!["w".to_owned()]),
            ..AdmissionResponse::default()
        }
    }

    fn rejection() -> AdmissionResponse {
        AdmissionResponse {
            status: Some(Status { message: Some("no".to_owned()), code: Some(400), details: None }),
            warnings: Some(vec!["w".to_owned()]),
            ..AdmissionResponse::default()
        }
    }

    #[rstest]
    #[case::mutation(mutation())]
    #[case::rejection(rejection())]
    fn a_module_by_itself_is_taken_at_its_word(#[case] answer: AdmissionResponse) {
        assert_eq!(policy().admit(answer.clone()), answer);
    }

    #[test]
    fn a_policy_that_may_not_mutate_is_stopped() {
        let policy = PolicyResource { mutating: false, ..policy() };
        let admitted = policy.admit(mutation());
        assert!(!admitted.allowed);
        assert_eq!((admitted.patch_type, admitted.patch), (None, None));
        assert_eq!(admitted.warnings, mutation().warnings);
        let message = admitted.status.unwrap().message.unwrap();
        assert!(message.contains("policy p attempted to mutate"), "{message}");
        assert_eq!(policy.admit(rejection()), rejection());
    }

    #[rstest]
    #[case::mutation(mutation())]
    #[case::rejection(rejection())]
    fn monitor_lets_only_warnings_through(#[case] answer: AdmissionResponse) {
        let policy =
            PolicyResource { mutating: false, mode: Mode::Monitor, message: Some("ignored".to_owned()), ..policy() };
        let expected =
            AdmissionResponse { allowed: true, warnings: Some(vec!["w".to_owned()]), ..AdmissionResponse::default() };
        assert_eq!(policy.admit(answer), expected);
    }

    #[test]
    fn a_message_replaces_the_policys() {
        let policy = PolicyResource { message: Some("Ask us.".to_owned()), ..policy() };
        let status = policy.admit(rejection()).status.unwrap();
        assert_eq!(
            serde_json::to_value(&status).unwrap(),
            json!({"message": "Ask us.", "code": 400, "details": {"causes": [{"message": "no"}]}})
        );
        assert_eq!(policy.admit(mutation()), mutation());
    }
}
