# hexgraph: what one does with it. Needs Rust, Python 3.11 or later, and make.

PYTHON ?= python3
CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR

VENV := .venv
BIN := $(VENV)/bin
WHEELS := $(CARGO_TARGET_DIR)/wheels

# Programs that lint uses, built once for all trees.
TOOLS ?= $(HOME)/.cache/hexgraph/tools
ABOUT := $(TOOLS)/bin/cargo-about
DENY := $(TOOLS)/bin/cargo-deny
ABOUT_VERSION := 0.9.3
DENY_VERSION := 0.20.2
THIRD_PARTY := licenses/THIRD-PARTY.txt
WRITE_LICENSES := $(ABOUT) generate --fail --locked --manifest-path crates/python/Cargo.toml licenses/third-party.hbs

.PHONY: help demo wheel install test torture plain oracles hostile interleavings fuzz lint conformance conformance-long test-networkx bench licenses check-licenses clean

help: ## List these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-17s %s\n", $$1, $$2 }'

demo: install ## Build, install into .venv, and take the tour over the sample
	$(BIN)/python -m hexgraph demo

test: dev ## Run all tests: Rust, Python, notebooks, clients in JavaScript, Go and Java
	HEXGRAPH_TWIN_SECONDS=$${HEXGRAPH_TWIN_SECONDS:-60} cargo test --locked --workspace
	cargo test --locked -p hexgraph --test lean
	$(BIN)/python -m pytest
	$(BIN)/python tests/clients/run_js.py $(BIN)/hexgraph
	$(BIN)/python tests/clients/run_go.py $(BIN)/hexgraph
	$(BIN)/python tests/clients/run_java.py $(BIN)/hexgraph

torture: ## Kill writers a thousand times, and check long histories of clients at once
	HEXGRAPH_TORTURE_ROUNDS=$${HEXGRAPH_TORTURE_ROUNDS:-1000} \
	HEXGRAPH_ISOLATION_SECONDS=$${HEXGRAPH_ISOLATION_SECONDS:-120} \
	cargo test --locked -p hexgraph-server --test it -- torture isolation --nocapture --test-threads=1

plain: dev ## Compare answers on a larger graph, changed all the time, with those of plain arrays
	HEXGRAPH_PLAIN=$${HEXGRAPH_PLAIN:-30000,6,100} $(BIN)/pytest python/tests/test_plain.py

oracles: dev ## Compare Cypher with Ladybug, its two executors, and expressions with plain Python
	HEXGRAPH_EXPRESSIONS=$${HEXGRAPH_EXPRESSIONS:-100000} $(BIN)/pytest -s python/tests/test_cypher_expressions.py
	HEXGRAPH_EXECUTORS_SECONDS=$${HEXGRAPH_EXECUTORS_SECONDS:-120} $(BIN)/pytest -s python/tests/test_cypher_executors.py
	HEXGRAPH_LADYBUG_SECONDS=$${HEXGRAPH_LADYBUG_SECONDS:-900} $(BIN)/pytest -s python/tests/test_cypher_ladybug.py

hostile: ## Do to a server what strangers try, in earnest
	HEXGRAPH_HOSTILE_SECONDS=$${HEXGRAPH_HOSTILE_SECONDS:-20} \
	cargo test --locked --release -p hexgraph-server --test it -- hostile --nocapture --test-threads=1

interleavings: ## Try out thousands of interleavings of commits, snapshots and syncs
	cargo test --locked -p hexgraph-store --features shuttle --lib interleavings

# What cargo-fuzz passes, as far as a stable compiler takes it: coverage and checks of arithmetic, no sanitizer of addresses.
FUZZ_SECONDS ?= 20
FUZZ_TARGETS := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
FUZZ_DIR := $(CARGO_TARGET_DIR)/fuzz
FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_COVERAGE := level=4 inline-8bit-counters pc-table trace-compares
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cdebug-assertions -Coverflow-checks \
	$(addprefix -Cllvm-args=-sanitizer-coverage-,$(FUZZ_COVERAGE))

fuzz: ## Ask parsers and openers what a fuzzer makes up, each for FUZZ_SECONDS (20)
	CARGO_TARGET_DIR=$(FUZZ_DIR) RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --locked --profile fuzz --target $(FUZZ_HOST) --manifest-path fuzz/Cargo.toml
	for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target fuzz/artifacts/$$target; \
		$(FUZZ_DIR)/$(FUZZ_HOST)/fuzz/$$target -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -timeout=20 \
			-print_final_stats=1 -verbosity=0 -artifact_prefix=fuzz/artifacts/$$target/ fuzz/corpus/$$target || exit 1; \
	done

lint: dev check-licenses ## Check format and style of Rust and Python, the type stubs, licences, the version of Rust
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
	cargo clippy --locked -p hexgraph -- -D warnings
	cargo clippy --locked -p hexgraph-server -- -D warnings
	RUSTDOCFLAGS=-Dwarnings cargo doc --locked --workspace --exclude hexgraph-python --no-deps --document-private-items
	$(BIN)/ruff check python tests benches docs/site widget
	$(BIN)/ruff format --check python tests docs/site widget
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest hexgraph._native --mypy-config-file pyproject.toml

# Scanning the sources of all libraries takes minutes: what came out is kept as long as its inputs are the same.
LICENSES_KEY = $(shell cat Cargo.lock about.toml licenses/third-party.hbs | sha256sum | cut -c1-16)
SCANNED = $(TOOLS)/third-party-$(LICENSES_KEY).txt

check-licenses: $(ABOUT) $(DENY)
	$(DENY) --locked --all-features check --hide-inclusion-graph licenses bans sources
	test -f $(SCANNED) || { $(WRITE_LICENSES) --output-file $(SCANNED).new && mv $(SCANNED).new $(SCANNED); }
	diff -q $(SCANNED) $(THIRD_PARTY) || { echo "run 'make licenses', and commit $(THIRD_PARTY)"; exit 1; }
	$(PYTHON) tests/lint/rust_version.py

licenses: $(ABOUT) ## Collect the licences of all libraries in the wheel
	$(WRITE_LICENSES) --output-file $(SCANNED)
	cp $(SCANNED) $(THIRD_PARTY)

conformance: install ## Compare with recorded answers, where ../shared is there
	$(BIN)/python tests/conformance/run.py

conformance-long: install ## The same with the recordings that take minutes
	$(BIN)/python tests/conformance/run.py --long

test-networkx: dev ## Run networkx's own tests on hexgraph: up to 25 minutes
	$(BIN)/python tests/networkx/run.py

bench: ## Measure
	cargo bench --locked -p hexgraph-benches

SITE := $(CARGO_TARGET_DIR)/docs

.PHONY: docs docs-check widget

widget: ## Make the front end of the live view, which is committed: needs node and npm
	$(PYTHON) widget/make.py

docs: install $(VENV)/docs ## Build the site of the documentation
	$(BIN)/python docs/site/build.py $(SITE)

docs-check: docs $(VENV)/tools ## Check its links, anchors, navigation and spelling, and the types of its examples
	$(BIN)/python docs/site/check.py $(SITE)
	$(BIN)/python tests/lint/typed.py

wheel: $(VENV)/maturin ## Build the wheel
	rm -rf $(WHEELS)
	$(BIN)/maturin build --quiet --release --compression-level 9 --out $(WHEELS)

install: wheel ## Build, and install into .venv
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall $(WHEELS)/*.whl

dev: install $(VENV)/tools

clean: ## Remove what was built
	cargo clean
	rm -rf $(VENV)

$(VENV)/maturin: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'maturin>=1.14,<2'
	touch $@

$(ABOUT):
	cargo install --quiet --locked --root $(TOOLS) --version $(ABOUT_VERSION) --features cli cargo-about

$(DENY):
	cargo install --quiet --locked --debug --root $(TOOLS) --version $(DENY_VERSION) --no-default-features cargo-deny

# The extra is read from the wheel, so that the versions stand in one place.
$(VENV)/tools: pyproject.toml
	$(BIN)/python -m pip install --quiet "$$(ls $(WHEELS)/*.whl)[dev]"
	touch $@

$(VENV)/docs: pyproject.toml
	$(BIN)/python -m pip install --quiet "$$(ls $(WHEELS)/*.whl)[docs]"
	touch $@
