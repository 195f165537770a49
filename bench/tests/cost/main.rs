//! What requests cost `policy.wasm`, and the floors beside it. All three are built by `make`.

mod budget;
mod linear;
mod long;

use std::path::Path;
use std::sync::LazyLock;

use odigos_karpenter_bench::meter::Meter;
use odigos_karpenter_bench::report::Floors;

static POLICY: LazyLock<Meter> = LazyLock::new(|| meter("../policy.wasm"));

static FLOORS: LazyLock<Floors> =
    LazyLock::new(|| Floors { skip: meter("floors/skip.wasm"), value: meter("floors/value.wasm") });

fn meter(path: &str) -> Meter {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    assert!(path.exists(), "there is no {}: run `make policy.wasm floors` first", path.display());
    Meter::from_path(&path).unwrap()
}
