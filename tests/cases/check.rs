//! What a case asks of an answer, and what every answer must keep.
//!
//! Whatever a case expects: its settings are valid unless it says otherwise, no answer has code
//! 500, only an answer that accepts, under the action `mutate`, has a changed object, and a
//! changed object that is sent again stays as it is.

use odigos_karpenter_host::{AdmissionResponse, Review, SettingsAnswer};
use serde_json::Value;

use crate::Guest;
use crate::case::{Case, Expect, Pattern, Request};

/// What is wrong with the guest's answers to a case; nothing where it passes.
pub fn check(case: &Case, guest: &dyn Guest) -> Vec<String> {
    let mut check = Check { case, guest, problems: Vec::new() };
    if let Err(problem) = check.run() {
        check.problems.push(problem);
    }
    check.problems
}

struct Check<'a> {
    case: &'a Case,
    guest: &'a dyn Guest,
    problems: Vec<String>,
}

// === impl Check ===

impl Check<'_> {
    /// Fails where the rest can't be checked.
    fn run(&mut self) -> Result<(), String> {
        let expect = &self.case.expect;
        self.settings()?;
        match &self.case.request {
            Some(request) => self.request(request),
            None if expect.is_about_an_answer() => {
                Err("there is no request, so nothing to be expected of an answer".to_owned())
            }
            None if expect.settings_valid.is_none() => Err("expects nothing".to_owned()),
            None => Ok(()),
        }
    }

    fn settings(&mut self) -> Result<(), String> {
        let payload = self.case.settings.to_string();
        let answer = self.guest.call("validate_settings", payload.as_bytes(), &self.case.cluster)?;
        let answer: SettingsAnswer = serde_json::from_slice(&answer)
            .map_err(|error| format!("validate_settings answers something else: {error}"))?;
        let expect = &self.case.expect;
        let expected = expect.settings_valid.unwrap_or(true);
        self.hold(answer.valid == expected, || format!("settings valid: expected {expected}, got {answer:?}"));
        if expect.settings_valid.is_some() {
            self.matches("message of the settings", &expect.message, answer.message);
        }
        Ok(())
    }

    fn request(&mut self, request: &Request) -> Result<(), String> {
        let expect = &self.case.expect;
        let response = self.ask(request)?;
        let line = || serde_json::to_string(&response).unwrap_or_default();

        if let Some(expected) = expect.allowed {
            self.hold(response.allowed == expected, || format!("allowed: expected {expected}, got {}", line()));
        }
        let status = response.status.clone().unwrap_or_default();
        if expect.settings_valid.is_none() {
            self.matches("message", &expect.message, status.message);
        }
        let warnings = response.warnings.clone().unwrap_or_default();
        if let Some(Pattern(pattern)) = &expect.warning {
            self.hold(warnings.iter().any(|text| pattern.is_match(text)), || {
                format!("warning: expected {:?}, got {warnings:?}", pattern.as_str())
            });
        }
        if let Some(expected) = expect.no_warning {
            self.hold(warnings.is_empty() == expected, || format!("noWarning: expected {expected}, got {warnings:?}"));
        }
        self.object(request, &response)
    }

    /// Checks what becomes of the object.
    fn object(&mut self, request: &Request, response: &AdmissionResponse) -> Result<(), String> {
        let expect = &self.case.expect;
        let patch = response.patch_operations().map_err(|error| error.to_string())?;
        let operations = serde_json::to_value(patch).map_err(|error| error.to_string())?;
        let unchanged = response.patch.is_none();
        if let Some(expected) = expect.unchanged {
            self.hold(unchanged == expected, || format!("unchanged: expected {expected}, got the patch {operations}"));
        }
        for operation in operations.as_array().into_iter().flatten() {
            let path = operation["path"].as_str().unwrap_or_default();
            let below = |pointers: &Vec<String>| pointers.iter().any(|it| is_below(path, it));
            self.hold(expect.only_below.as_ref().is_none_or(below), || {
                format!("onlyBelow {:?}: got {operation}", expect.only_below)
            });
        }
        let Some(object) = &request.object else {
            return if expect.after.is_some() {
                Err("there is no object to be expected after".to_owned())
            } else {
                Ok(())
            };
        };
        let after = response.patched(object).map_err(|error| error.to_string())?;
        for (pointer, expected) in expect.after.iter().flatten() {
            let expected = Some(expected).filter(|value| !value.is_null());
            let got = after.pointer(pointer);
            self.hold(got == expected, || {
                let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
                format!("after {pointer}: expected {}, got {}", text(expected), text(got))
            });
        }
        if !unchanged {
            let again = self.ask(&request.with_object(after))?;
            self.hold(again.allowed && again.patch.is_none(), || {
                let again = serde_json::to_string(&again).unwrap_or_default();
                format!("sent again, it does not stay: {again}")
            });
        }
        Ok(())
    }

    /// Sends a request, and holds the answer to what every answer must keep.
    fn ask(&mut self, request: &Request) -> Result<AdmissionResponse, String> {
        let review = Review::from_value(&request.admission_request()).map_err(|error| error.to_string())?;
        let payload = review.payload(&self.case.settings);
        let answer = self.guest.call("validate", &payload, &self.case.cluster)?;
        let response = AdmissionResponse::from_guest(&review, &answer);
        let raw: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let mutates = raw.get("mutated_object").is_some_and(|it| !it.is_null());

        let code = response.status.as_ref().and_then(|status| status.code);
        self.hold(code != Some(500), || format!("code 500: {raw}"));
        self.hold(response.allowed || !mutates, || format!("rejected with a mutated_object: {raw}"));
        self.hold(self.may_mutate(request.kind()) || !mutates, || {
            format!("a mutated_object though the action is not mutate: {raw}")
        });
        Ok(response)
    }

    /// Whether the action is `mutate`: the kind's own, else the general one. A kind that is never
    /// rejected has another default than the rest, but it mutates where they do.
    fn may_mutate(&self, kind: &str) -> bool {
        let action = |pointer: &str| self.case.settings.pointer(pointer).and_then(Value::as_str);
        let own = match kind {
            "NodePool" | "Provisioner" => action("/nodePools/action"),
            "NodeClaim" | "Machine" => action("/nodeClaims/action"),
            "Node" => action("/nodes/action"),
            "Pod" => action("/pods/action"),
            _ => None,
        };
        own.or_else(|| action("/action")).is_none_or(|it| it == "mutate")
    }

    fn matches(&mut self, what: &str, pattern: &Option<Pattern>, text: Option<String>) {
        if let Some(Pattern(pattern)) = pattern {
            let text = text.unwrap_or_default();
            self.hold(pattern.is_match(&text), || format!("{what}: expected {:?}, got {text:?}", pattern.as_str()));
        }
    }

    fn hold(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }
}

impl Expect {
    fn is_about_an_answer(&self) -> bool {
        self.allowed.is_some()
            || self.unchanged.is_some()
            || self.after.is_some()
            || self.only_below.is_some()
            || self.warning.is_some()
            || self.no_warning.is_some()
            || (self.message.is_some() && self.settings_valid.is_none())
    }
}

fn is_below(path: &str, pointer: &str) -> bool {
    path.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::case;
    use crate::cluster::Cluster;

    /// A guest that puts its `add` into the object, and gives these answers. It warns of what the
    /// cluster has under `node-7`.
    struct Fake {
        settings: Value,
        add: Value,
        answer: Value,
    }

    impl Guest for Fake {
        fn call(&self, operation: &str, payload: &[u8], cluster: &Cluster) -> Result<Vec<u8>, String> {
            if operation == "validate_settings" {
                return Ok(self.settings.to_string().into_bytes());
            }
            let payload: Value = serde_json::from_slice(payload).unwrap();
            let mut answer = self.answer.clone();
            if let Ok(found) = cluster.answer(br#"{"name":"node-7"}"#) {
                answer["warnings"] = json!([String::from_utf8(found).unwrap()]);
            }
            if let Some(added) = self.add.as_object() {
                let mut object = payload["request"]["object"].clone();
                for (key, value) in added {
                    let before = object[key].as_i64();
                    // A number is counted up, so that the guest is not idempotent.
                    object[key] = before.map_or(value.clone(), |count| json!(count + 1));
                }
                answer["mutated_object"] = object;
            }
            Ok(answer.to_string().into_bytes())
        }
    }

    fn problems(rest_of_case: &str, add: Value, answer: Value) -> String {
        let text = format!("name: n\nrequest: {{object: {{kind: Pod}}}}\n{rest_of_case}");
        let cases = case::parse(&text).unwrap();
        let guest = Fake { settings: json!({"valid": true}), add, answer };
        check(&cases[0], &guest).join("\n")
    }

    #[rstest]
    #[case::allowed("expect: {allowed: true}", json!(null), json!({"accepted": true}), "")]
    #[case::not_allowed("expect: {allowed: true}", json!(null), json!({"accepted": false}), "allowed:")]
    #[case::message("expect: {allowed: false, message: '^a.c$'}", json!(null), json!({"accepted": false, "message": "abc"}), "")]
    #[case::other_message("expect: {message: b}", json!(null), json!({"accepted": false, "message": "a"}), "message:")]
    #[case::no_message("expect: {message: b}", json!(null), json!({"accepted": false}), "message:")]
    #[case::warning("expect: {warning: b}", json!(null), json!({"accepted": true, "warnings": ["a", "b"]}), "")]
    #[case::other_warning("expect: {warning: b}", json!(null), json!({"accepted": true, "warnings": ["a"]}), "warning:")]
    #[case::no_warning("expect: {noWarning: true}", json!(null), json!({"accepted": true, "warnings": []}), "")]
    #[case::a_warning("expect: {noWarning: true}", json!(null), json!({"accepted": true, "warnings": ["a"]}), "noWarning:")]
    #[case::unchanged("expect: {unchanged: true}", json!({"kind": "Pod"}), json!({"accepted": true}), "")]
    #[case::changed("expect: {unchanged: true}", json!({"a": "b"}), json!({"accepted": true}), "unchanged:")]
    #[case::after("expect: {after: {/a: {b: 1}, /c: null}}", json!({"a": {"b": 1}}), json!({"accepted": true}), "")]
    #[case::after_without_a_patch("expect: {after: {/kind: Pod}}", json!(null), json!({"accepted": true}), "")]
    #[case::other_after("expect: {after: {/a: {b: 1}}}", json!({"a": {"b": "1"}}), json!({"accepted": true}), "after /a:")]
    #[case::null_after("expect: {after: {/a: null}}", json!({"a": null}), json!({"accepted": true}), "after /a:")]
    #[case::below("expect: {onlyBelow: [/a]}", json!({"a": "x"}), json!({"accepted": true}), "")]
    #[case::beside("expect: {onlyBelow: [/a]}", json!({"ab": "x"}), json!({"accepted": true}), "onlyBelow")]
    #[case::never_done("expect: {allowed: true}", json!({"a": 1}), json!({"accepted": true}), "sent again")]
    #[case::failure("expect: {allowed: false}", json!(null), json!({"accepted": false, "code": 500}), "code 500")]
    #[case::rejected_and_changed("expect: {allowed: false}", json!({"a": "b"}), json!({"accepted": false}), "rejected with")]
    #[case::warned_and_changed("settings: {action: warn}\nexpect: {}", json!({"kind": "Pod"}), json!({"accepted": true}), "though the action")]
    #[case::pods_mutate("settings: {action: warn, pods: {action: mutate}}\nexpect: {}", json!({"a": "b"}), json!({"accepted": true}), "")]
    #[case::cluster("cluster: {node-7: {a: 1}}\nexpect: {warning: '\"a\":1'}", json!(null), json!({"accepted": true}), "")]
    #[case::other_cluster("cluster: {node-8: {a: 1}}\nexpect: {warning: a}", json!(null), json!({"accepted": true}), "warning:")]
    #[case::settings("expect: {settingsValid: false}", json!(null), json!({"accepted": true}), "settings valid:")]
    #[case::settings_message("expect: {settingsValid: true, message: a}", json!(null), json!({"accepted": true}), "message of the settings:")]
    fn a_problem_is_seen(
        #[case] rest_of_case: &str,
        #[case] add: Value,
        #[case] answer: Value,
        #[case] expected: &str,
    ) {
        let problems = problems(rest_of_case, add, answer);
        if expected.is_empty() {
            assert_eq!(problems, "");
        } else {
            assert!(problems.contains(expected), "{problems:?}");
        }
    }

    #[rstest]
    #[case::invalid("{name: n, request: {object: {}}, expect: {allowed: true}}", "settings valid:")]
    #[case::as_expected("{name: n, expect: {settingsValid: false, message: bad}}", "")]
    #[case::no_request("{name: n, expect: {settingsValid: false, allowed: true}}", "there is no request")]
    #[case::nothing("{name: n, expect: {}}", "expects nothing")]
    fn invalid_settings(#[case] text: &str, #[case] expected: &str) {
        let guest = Fake {
            settings: json!({"valid": false, "message": "bad"}),
            add: json!(null),
            answer: json!({"accepted": true}),
        };
        let problems = check(&case::parse(text).unwrap()[0], &guest).join("\n");
        assert!(problems.contains(expected), "{problems:?}");
        assert_eq!(problems.is_empty(), expected.is_empty(), "{problems:?}");
    }
}
