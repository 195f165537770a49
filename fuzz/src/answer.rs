//! What every answer must keep.

use kubewarden_policy_sdk::response::ValidationResponse;
use kubewarden_policy_sdk::settings::SettingsValidationResponse;

/// The API server cuts what is longer. The policy keeps to fewer, unless words of its own are more.
const MOST_OF_A_WARNING: usize = 256;
/// The most bytes of a rejection.
const MOST_OF_A_MESSAGE: usize = 4096;

/// Reads an answer to a request as the host does, and holds it to what every one must keep.
///
/// # Panics
///
/// Where it does not keep it.
pub fn read(answer: &[u8]) -> ValidationResponse {
    let response: ValidationResponse = match serde_json::from_slice(answer) {
        Ok(response) => response,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(answer)),
    };
    assert_eq!(response.accepted, response.message.is_none(), "a message in an acceptance, or none in a rejection");
    assert!(response.mutated_object.is_none() || response.accepted, "a changed object in a rejection");
    assert!(response.code.is_none(), "a code");
    assert!(response.message.iter().all(|message| message.len() <= MOST_OF_A_MESSAGE), "a long message");
    for warning in response.warnings.iter().flatten() {
        assert!(warning.chars().count() <= MOST_OF_A_WARNING, "a long warning: {warning}");
        assert!(!warning.contains(char::is_control), "a warning of several lines: {warning}");
    }
    response
}

/// Reads an answer to settings: whether they are valid.
///
/// # Panics
///
/// Where it can't be read, or does not say why they are not.
pub fn read_settings(answer: &[u8]) -> bool {
    let response: SettingsValidationResponse = match serde_json::from_slice(answer) {
        Ok(response) => response,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(answer)),
    };
    assert_eq!(response.valid, response.message.is_none(), "valid with, or invalid without a message");
    response.valid
}
