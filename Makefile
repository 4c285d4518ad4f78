# The commands of this project. `make` alone lists them.

SWIFT ?= swift
# Options of `swift build`, and of the tests: --filter REGEX and --skip REGEX.
BUILD_FLAGS ?=
TEST_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-build test-plain flaky test-sanitizers hostile attack stress fuzz bench format lint docs build release install uninstall sqlite picture

help: ## Lists these commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Builds everything and takes you through the example application.
	@.build/debug/backplane demo

test: test-build ## Builds everything and runs the whole suite, in two processes side by side.
	SWIFT_BACKTRACE=enable=no .ci/test $(TEST_FLAGS)

# Of the command's tests those that stand under `#if !Engines`: all others enter commands that come with the engines.
test-plain: ## Runs it without the engines, in one process: fetches no package. Its build folder is .build-plain.
	@rm -f Package.resolved     # left by a build with engines, it would have their packages fetched
	$(SWIFT) test --disable-default-traits --scratch-path .build-plain $(BUILD_FLAGS) --no-parallel \
		--skip '^BackplaneCommandTests\.' $(TEST_FLAGS)

flaky: test-build ## Looks for tests that fail now and then: runs them REPEAT=10 and all WHOLE=3 times beside a busy loop on each processor.
	SWIFT_BACKTRACE=enable=no REPEAT=$(or $(REPEAT),10) WHOLE=$(or $(WHOLE),3) .ci/flaky

test-build: sqlite
	$(SWIFT) build --build-tests $(BUILD_FLAGS)

# The suites of the boundary, of calls and of swaps. Generations are never unloaded, which AddressSanitizer would call a leak; and each that a
# process has loaded makes the next more expensive there, so that no process runs them all.
SANITIZED = --disable-default-traits --no-parallel
ADDRESS_PARTS = 'Backplane(Boundary)?Tests' 'BackplaneHostTests\.[A-G]' 'BackplaneHostTests\.[H-R]' 'BackplaneHostTests\.Swap[A-O]' 'BackplaneHostTests\.(?![A-R]|Swap[A-O])'
test-sanitizers: ## Runs the suites of the SDK and the host under ThreadSanitizer and AddressSanitizer. Build folders: .build-tsan, .build-asan.
	@rm -f Package.resolved
	@mkdir -p .build-tsan
	clang -O1 -Wall -Wextra -shared -fPIC -o .build-tsan/order.so Tests/Sanitizers/order.c
	LD_PRELOAD=$(CURDIR)/.build-tsan/order.so SWIFT_BACKTRACE=enable=no $(SWIFT) test --scratch-path .build-tsan --sanitize=thread \
		-Xlinker --dynamic-list=$(CURDIR)/Tests/Sanitizers/thread.list $(SANITIZED) --filter 'Backplane(Host)?Tests'
	for part in $(ADDRESS_PARTS); do \
		ASAN_OPTIONS=detect_leaks=0 SWIFT_BACKTRACE=enable=no $(SWIFT) test --scratch-path .build-asan --sanitize=address $(SANITIZED) --filter "$$part" || exit 1; \
	done

hostile: build ## Shows what becomes of libraries that do wrong: what a host says of each, and what `backplane validate` finds.
	@.build/debug/hostile

attack: build ## Attacks hosts: damaged libraries, hostile manifests, kills, rude clients and more. SECONDS=30 for less, SEED=N again.
	@.build/debug/attack $(ATTACKS) $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) --json .build/attack.json

stress: ## Tries for minutes, SECONDS=120 each, to catch a call in a binding that was given up. Its build folder is .build-plain.
	@rm -f Package.resolved
	BACKPLANE_STRESS_SECONDS=$(or $(SECONDS),120) $(SWIFT) test --disable-default-traits --scratch-path .build-plain --filter "Lease(Model|Trial)Tests"

fuzz: ## Tampers with manifests, INPUTS=100000 times, all the way from bytes to a plan. Its build folder is .build-plain.
	@rm -f Package.resolved
	BACKPLANE_FUZZ=$(or $(INPUTS),100000) $(SWIFT) test --disable-default-traits --scratch-path .build-plain --filter ManifestFuzzTests

bench: sqlite ## Builds a release of everything and measures what Backplane costs. Its build folder is .build-release.
	$(SWIFT) build -c release --scratch-path .build-release
	@.build-release/release/backplane bench

picture: build ## Records a run of `backplane dev` and draws it: docs/pictures/dev.svg, which the README shows.
	docs/pictures/dev.sh

build: sqlite ## Builds everything, debug. The first time takes some minutes.
	$(SWIFT) build

release: sqlite ## Builds a release of the command `backplane`. Its build folder is .build-release.
	$(SWIFT) build -c release --product backplane --scratch-path .build-release

format: ## Formats the sources as .swift-format says.
	$(SWIFT) format --in-place --parallel --recursive Sources Plugins Tests

lint: build ## Checks the formatting, and the doc comments of public symbols.
	@.ci/lint

docs: build ## Builds the API reference with the toolchain's DocC. It is in .build/documentation.
	@.ci/docs

PREFIX ?= /usr/local
# A folder with a command that is built already: nothing is built then, which whoever installs as another user will want.
BUILT ?=
COMPLETIONS = bash:share/bash-completion/completions/backplane zsh:share/zsh/site-functions/_backplane fish:share/fish/vendor_completions.d/backplane.fish

install: $(if $(BUILT),,release) ## Puts a release of `backplane` and its completions below PREFIX, which is /usr/local; BUILT=.build-release/release builds none.
	@command='$(or $(BUILT),.build-release/release)/backplane'; top='$(DESTDIR)$(PREFIX)'; \
	install -D -m 755 "$$command" "$$top/bin/backplane" && echo "installed $$top/bin/backplane" || exit 1; \
	for entry in $(COMPLETIONS); do \
		script=$$("$$command" --generate-completion-script "$${entry%%:*}") && install -d "$$top/$$(dirname "$${entry#*:}")" \
			&& printf '%s\n' "$$script" > "$$top/$${entry#*:}" && chmod 644 "$$top/$${entry#*:}" \
			&& echo "installed $$top/$${entry#*:}" || exit 1; \
	done

uninstall: ## Removes what `make install` put below PREFIX.
	@for file in bin/backplane $(foreach entry,$(COMPLETIONS),$(lastword $(subst :, ,$(entry)))); do \
		rm -f -v '$(DESTDIR)$(PREFIX)'/"$$file"; \
	done

# GRDB compiles against the system's SQLite.
sqlite:
	@if ! printf '#include <sqlite3.h>\n' | clang -E - >/dev/null 2>&1; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "installing libsqlite3-dev, which has the header sqlite3.h"; \
			apt-get update -q && apt-get install -y -q libsqlite3-dev; \
		else \
			echo "The header sqlite3.h is missing. Install it: sudo apt-get install libsqlite3-dev" >&2; \
			exit 1; \
		fi; \
	fi
