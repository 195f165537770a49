//! The custom sections of a WebAssembly module: bytes under a name, which the engine passes over.

use std::borrow::Cow;

use wasm_encoder::{CustomSection, Module, RawSection};
use wasmparser::{BinaryReaderError, Encoding, Parser, Payload};

/// The first custom section of this name. A module in the text format, which the engine takes as
/// well, has none.
///
/// # Errors
///
/// Where the module can't be parsed.
pub(crate) fn read<'a>(module: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, BinaryReaderError> {
    if !module.starts_with(b"\0asm") {
        return Ok(None);
    }
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload?
            && section.name() == name
        {
            return Ok(Some(section.data()));
        }
    }
    Ok(None)
}

/// The module with one custom section of this name, at its end. The others stay as they are.
///
/// # Errors
///
/// Where this is no module in the binary format.
pub(crate) fn write(module: &[u8], name: &str, data: &[u8]) -> Result<Vec<u8>, String> {
    let mut written = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.map_err(|error| format!("is no WebAssembly module: {error}"))?;
        match &payload {
            Payload::Version { encoding: Encoding::Component, .. } => {
                return Err("is a WebAssembly component, and no module".to_owned());
            }
            Payload::CustomSection(section) if section.name() == name => continue,
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            written.section(&RawSection { id, data: &module[range] });
        }
    }
    written.section(&CustomSection { name: Cow::Borrowed(name), data: Cow::Borrowed(data) });
    Ok(written.finish())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use wasm_encoder::{CodeSection, Function, FunctionSection, TypeSection};

    use super::*;

    /// A module with a function, and these custom sections about it.
    fn module(before: Option<&str>, after: Option<&str>) -> Vec<u8> {
        let custom = |data: &str| CustomSection { name: "meta".into(), data: data.as_bytes().to_vec().into() };
        let mut module = Module::new();
        if let Some(data) = before {
            module.section(&custom(data));
        }
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut code = CodeSection::new();
        let mut body = Function::new([]);
        body.instructions().end();
        code.function(&body);
        module.section(&types).section(&functions).section(&code);
        module.section(&CustomSection { name: "name".into(), data: b"\0\x02\x01m".as_slice().into() });
        if let Some(data) = after {
            module.section(&custom(data));
        }
        module.finish()
    }

    #[rstest]
    #[case::none(None, None, None)]
    #[case::first(Some("a"), None, Some("a"))]
    #[case::last(None, Some("b"), Some("b"))]
    #[case::two(Some("a"), Some("b"), Some("a"))]
    fn what_is_there_is_replaced(
        #[case] before: Option<&str>,
        #[case] after: Option<&str>,
        #[case] read: Option<&str>,
    ) {
        let before = module(before, after);
        assert_eq!(super::read(&before, "meta").unwrap(), read.map(str::as_bytes));
        // Long enough for a length of several bytes.
        let long = "c".repeat(70_000);
        let written = write(&before, "meta", long.as_bytes()).unwrap();
        assert_eq!(written, module(None, Some(&long)));
        assert_eq!(super::read(&written, "meta").unwrap(), Some(long.as_bytes()));
    }

    #[rstest]
    #[case::text(b"(module)".as_slice(), "is no WebAssembly module")]
    #[case::empty(b"".as_slice(), "is no WebAssembly module")]
    #[case::cut_off(b"\0asm\x01\0\0\0\x01\x05".as_slice(), "is no WebAssembly module")]
    #[case::component(b"\0asm\x0d\0\x01\0".as_slice(), "is a WebAssembly component")]
    fn what_is_no_module(#[case] module: &[u8], #[case] reason: &str) {
        let error = write(module, "meta", b"").unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[test]
    fn a_module_in_the_text_format_has_none() {
        assert_eq!(super::read(b"(module)", "meta").unwrap(), None);
    }
}
