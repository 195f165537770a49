//! How long a request takes in the embedded host: an instance is made, called and dropped. For
//! information; it depends on the machine.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use odigos_karpenter_bench::request::Request;
use odigos_karpenter_host::Policy;

fn main() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy.wasm");
    let policy = match Policy::from_path(&module) {
        Ok(policy) => policy,
        Err(error) => {
            eprintln!("{error}: run `make bench`, which builds it");
            std::process::exit(1);
        }
    };
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
        .configure_from_args();
    let mut group = criterion.benchmark_group("wall time");
    group.sample_size(20);
    for request in Request::all() {
        group.throughput(Throughput::Bytes(request.payload.len() as u64));
        group.bench_function(request.name, |bencher| {
            bencher.iter(|| policy.call("validate", black_box(&request.payload)));
        });
    }
    group.finish();
    criterion.final_summary();
}
