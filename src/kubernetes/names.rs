//! The syntax of names, as the API server checks it
//! (Kubernetes, `staging/src/k8s.io/apimachinery/pkg/util/validation`).

/// A DNS label: at most 63 of `a-z`, `0-9` and `-`, with a letter or digit at either end.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_bounded(text, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), |c| c == '-')
}

/// A DNS subdomain: labels joined by dots, at most 253 characters.
pub fn is_dns_subdomain(text: &str) -> bool {
    let label = |label| is_bounded(label, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), |c| c == '-');
    text.len() <= 253 && text.split('.').all(label)
}

/// The key of a label or a taint: a name, with or without a DNS subdomain and a slash before it.
pub fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_name(name),
        None => is_name(text),
    }
}

/// The value of a label: empty, or a name.
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

fn is_name(text: &str) -> bool {
    text.len() <= 63 && is_bounded(text, |c| c.is_ascii_alphanumeric(), |c| matches!(c, '-' | '_' | '.'))
}

/// Whether all characters are `outer` or `inner`, with `outer` ones at either end.
fn is_bounded(text: &str, outer: fn(char) -> bool, inner: fn(char) -> bool) -> bool {
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(|c| outer(c) || inner(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("team", true)]
    #[case("example.com/Team_a.b", true)]
    #[case("a", true)]
    #[case("", false)]
    #[case("/a", false)]
    #[case("a/", false)]
    #[case("a/b/c", false)]
    #[case("Example.com/a", false)]
    #[case("-a", false)]
    #[case("a b", false)]
    #[case("é", false)]
    #[case(&"x".repeat(64), false)]
    fn qualified_names(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_qualified_name(text), expected);
    }

    #[rstest]
    #[case("odigos-system", true)]
    #[case("a.b", false)]
    #[case("", false)]
    fn dns_labels(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_dns_label(text), expected);
    }
}
