//! Exchanges between a policy and a cluster that were recorded, or written down, and are played
//! back: the file that `kwctl run` takes with `--replay-host-capabilities-interactions`.
//!
//! It is a YAML list (`callback_handler/proxy.rs` of kwctl). The request is YAML in a text:
//!
//! ```yaml
//! - type: Exchange
//!   request: |
//!     !KubernetesGetResource
//!     api_version: v1
//!     kind: ConfigMap
//!     name: effective-config
//!     namespace: odigos-system
//!     disable_cache: false
//!   response:
//!     type: Success
//!     payload: '{"apiVersion": "v1", "kind": "ConfigMap", "data": {}}'
//! - type: Exchange
//!   request: |
//!     !KubernetesListResourceAll
//!     api_version: karpenter.sh/v1alpha1
//!     kind: NodeOverlay
//!   response:
//!     type: Error
//!     message: nodeoverlays.karpenter.sh is forbidden
//! ```

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::{Error, KubernetesRequest, Result};

/// A question of the policy and what it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What is asked.
    pub request: KubernetesRequest,
    /// The bytes of the answer, or the error.
    pub response: Result<Vec<u8>, String>,
}

/// Answers with exchanges, in their order, each of them once.
#[derive(Debug, Default)]
pub struct Replay {
    left: Mutex<VecDeque<Exchange>>,
}

/// Reads a file of exchanges. kwctl reads the requests in it as they come up; here all of them have to
/// be such as a policy can make on this host, which has no other capabilities than `kubernetes`.
///
/// # Errors
///
/// [`Error::Read`] where the file can't be read, [`Error::Contents`] where it is not a list of
/// exchanges.
pub fn read_exchanges(path: impl AsRef<Path>) -> Result<Vec<Exchange>> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|reason| Error::Contents { path: path.to_owned(), reason })
}

fn parse(text: &str) -> Result<Vec<Exchange>, String> {
    let recorded: Vec<Recorded> =
        serde_yaml::from_str(text).map_err(|error| format!("is not a list of exchanges: {error}"))?;
    let exchange = |(index, recorded): (usize, Recorded)| {
        let request = serde_yaml::from_str(&recorded.request)
            .map_err(|error| format!("the request of exchange {} can't be read: {error}", index + 1))?;
        let response = match recorded.response {
            Response::Success { payload } => Ok(payload.into_bytes()),
            Response::Error { message } => Err(message),
        };
        Ok(Exchange { request, response })
    };
    recorded.into_iter().enumerate().map(exchange).collect()
}

#[derive(Deserialize)]
struct Recorded {
    request: String,
    response: Response,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Response {
    Success { payload: String },
    Error { message: String },
}

// === impl Replay ===

impl Replay {
    /// Starts with the first of these.
    pub fn new(exchanges: Vec<Exchange>) -> Self {
        Self { left: Mutex::new(exchanges.into()) }
    }

    /// The answer to the next question, if this is it. If it is not, it is spent all the same.
    ///
    /// # Errors
    ///
    /// The error that was recorded, or why there is no answer.
    pub fn answer(&self, request: &KubernetesRequest) -> Result<Vec<u8>, String> {
        let next = self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let exchange = next.ok_or_else(|| "the list of recorded responses is empty".to_owned())?;
        if exchange.request == *request {
            exchange.response
        } else {
            Err(format!(
                "Replay error: unexpected request. Was expecting {:?}, got {request:?} instead",
                exchange.request
            ))
        }
    }

    /// What nobody has asked.
    pub fn left(&self) -> Vec<KubernetesRequest> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.iter().map(|exchange| exchange.request.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TWO: &str = r#"
- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: Namespace
    name: shop
    namespace: null
    disable_cache: false
  response:
    type: Success
    payload: |
      {"kind": "Namespace"}
- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: v1
    kind: Namespace
    name: other
    disable_cache: false
    field_masks: [metadata.name]
  response: {type: Error, message: not found}
"#;

    #[test]
    fn questions_are_answered_in_their_order() {
        let exchanges = parse(TWO).unwrap();
        let replay = Replay::new(exchanges.clone());
        assert_eq!(replay.answer(&exchanges[0].request), Ok(b"{\"kind\": \"Namespace\"}\n".to_vec()));
        assert_eq!(replay.left(), [exchanges[1].request.clone()]);
        assert_eq!(replay.answer(&exchanges[1].request), Err("not found".to_owned()));
        assert_eq!(replay.left(), []);
        assert_eq!(replay.answer(&exchanges[1].request), Err("the list of recorded responses is empty".to_owned()));
    }

    #[test]
    fn another_question_spends_the_answer() {
        let exchanges = parse(TWO).unwrap();
        let replay = Replay::new(exchanges.clone());
        let error = replay.answer(&exchanges[1].request).unwrap_err();
        assert!(
            error.starts_with("Replay error: unexpected request. Was expecting KubernetesGetResource {"),
            "{error}"
        );
        assert!(error.contains("name: \"shop\"") && error.contains("name: \"other\""), "{error}");
        assert_eq!(replay.answer(&exchanges[1].request), Err("not found".to_owned()));
    }

    #[rstest]
    #[case::map("type: Exchange", "is not a list of exchanges")]
    #[case::no_response("[{type: Exchange, request: ''}]", "missing field `response`")]
    #[case::response("[{request: '', response: {type: Failure}}]", "unknown variant `Failure`")]
    #[case::request("[{request: 'kind: Pod', response: {type: Error, message: m}}]", "the request of exchange 1")]
    #[case::another_capability(
        "[{request: '!OciManifestDigest {image: busybox}', response: {type: Error, message: m}}]",
        "unknown variant `OciManifestDigest`"
    )]
    fn what_is_no_file_of_exchanges(#[case] text: &str, #[case] reason: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[rstest]
    #[case::list("[]")]
    #[case::file("")]
    fn nothing_was_recorded(#[case] text: &str) {
        assert_eq!(parse(text), Ok(Vec::new()));
    }
}
