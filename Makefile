# The commands of this project. `make` alone lists them.

SWIFT ?= swift
# Options of the tests: --filter REGEX and --skip REGEX.
TEST_FLAGS ?=
export SWIFT

.DEFAULT_GOAL := help
.PHONY: help demo build test test-build test-nightly flaky test-release test-sanitizers hostile stress exhaustive fuzz bench format lint docs picture release dist install uninstall sqlite gdb

help: ## List these commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The products of the demo: the command, the example's server, and the libraries of its manifests.
DEMO = backplane bookshelf-server Bookshelf BooksAPIv1 BooksAPIv2 Clock Turnstile1 Turnstile2 CatalogueScreens LoansScreens
demo: ## Build what the demo needs, without other packages, and run the example application. Build folder: .build-plain.
	@for product in $(DEMO); do .ci/build plain --product $$product || exit 1; done
	@.build-plain/debug/backplane demo

build: sqlite ## Build everything with the engines AsyncHTTPClient and SQLite. Build folder: .build.
	.ci/build engines

test: test-build ## Build everything and run the test suite.
	.ci/test $(TEST_FLAGS)

test-build: sqlite
	BACKPLANE_DEVELOPMENT=tests .ci/build engines --build-tests

test-nightly: sqlite gdb ## Run all slow tests: packages that tests compile, random inputs, kills, sanitizers, a release build.
	$(NIGHTLY) .ci/test $(TEST_FLAGS)
	$(MAKE) hostile stress exhaustive fuzz test-release test-sanitizers flaky

flaky: test-build ## Look for flaky tests: run the suite REPEAT=20 times, half of them beside a busy loop on each processor.
	REPEAT=$(or $(REPEAT),20) .ci/flaky

# The suites of the boundary, calls and swaps. They are split over several processes, because each loaded generation makes the next one slower,
# especially under AddressSanitizer.
PARTS = '^BackplaneTests\.' 'BackplaneHostTests\.[A-G]' 'BackplaneHostTests\.(?![A-G])' 'BackplaneChangeTests\.Swap[A-O]' 'BackplaneChangeTests\.(?!Swap[A-O])'

# Without the last option, the optimiser of Swift 6.3.1 crashes on some tests (docs/reference/production.md).
RELEASE_TESTS = -c release --scratch-path .build-release-tests -Xswiftc -enable-testing \
	-Xswiftc -Xllvm -Xswiftc -simplifycfg-sink-common=false
PART = BACKPLANE_DEVELOPMENT=tests SWIFT_BACKTRACE=enable=no $(SWIFT) test --no-parallel --filter "$$part"
test-release: sqlite ## Run the suites of SDK and host in a release build. Build folder: .build-release-tests.
	for part in $(PARTS); do $(PART) $(RELEASE_TESTS) || exit 1; done

# Generations are never unloaded, which AddressSanitizer would report as leaks. The sanitizers do not handle SIGSEGV, because tests cause it.
test-sanitizers: sqlite ## Run the suites of SDK and host under ThreadSanitizer and AddressSanitizer. Build folders: .build-tsan, .build-asan.
	@mkdir -p .build-tsan
	clang -O1 -Wall -Wextra -shared -fPIC -o .build-tsan/order.so Tests/Sanitizers/order.c
	for part in $(PARTS); do \
		LD_PRELOAD=$(CURDIR)/.build-tsan/order.so TSAN_OPTIONS='handle_segv=0 report_thread_leaks=0' $(PART) --scratch-path .build-tsan \
			--sanitize=thread -Xlinker --dynamic-list=$(CURDIR)/Tests/Sanitizers/thread.list || exit 1; \
	done
	for part in $(PARTS); do \
		ASAN_OPTIONS='detect_leaks=0 handle_segv=0' $(PART) --scratch-path .build-asan --sanitize=address || exit 1; \
	done

# The program is in the package only with BACKPLANE_DEVELOPMENT=1.
hostile: sqlite ## Load faulty libraries, and show what a host reports for each and what `backplane validate` finds.
	BACKPLANE_DEVELOPMENT=1 .ci/build engines
	@.build/debug/hostile

NIGHTLY = BACKPLANE_DEVELOPMENT=1 .ci/build engines --build-tests && BACKPLANE_NIGHTLY=1
stress: sqlite ## Stress-test leases for minutes (SECONDS=120 for each test).
	$(NIGHTLY) BACKPLANE_STRESS_SECONDS=$(or $(SECONDS),120) .ci/test --filter LeaseTrialTests

exhaustive: sqlite ## Explore every sequence of events in all small graphs of operations. Build folder: .build-release-tests.
	BACKPLANE_NIGHTLY=1 BACKPLANE_EXHAUSTIVE=1 $(SWIFT) test $(RELEASE_TESTS) --filter ExhaustiveTests

fuzz: sqlite ## Fuzz manifests from bytes to plan, definitions from bytes to requests (INPUTS=100000).
	$(NIGHTLY) BACKPLANE_FUZZ=$(or $(INPUTS),100000) .ci/test --filter 'tampered|DefinitionFuzzTests'

# The products that the bench runs and loads.
BENCHED = benchmarks backplane Benchmark BenchmarkCrowd Bookshelf BooksAPIv2 Clock Turnstile1 Turnstile2 TurnstileInC1 TurnstileInC2
bench: sqlite ## Build a release and measure Backplane's costs (BENCH='swap --only gap', --quick, --json). Build folder: .build-release.
	@for product in $(BENCHED); do \
		BACKPLANE_DEVELOPMENT=1 $(SWIFT) build -c release --scratch-path .build-release --product $$product || exit 1; \
	done
	@.build-release/release/benchmarks bench $(BENCH)

picture: build ## Record `backplane dev` and the screens of the example in docs/pictures, for the README (needs chromium and tmux).
	python3 docs/pictures/diagrams.py
	docs/pictures/commands.sh
	docs/pictures/dev.sh
	docs/pictures/screens.sh

release: sqlite ## Build a release of the command `backplane`. Build folder: .build-release.
	$(SWIFT) build -c release --product backplane --scratch-path .build-release

format: ## Format the sources with the configuration in .swift-format.
	$(SWIFT) format --in-place --parallel --recursive Sources Plugins Tests

lint: build ## Check the formatting and the doc comments of public symbols.
	@.ci/lint

docs: build ## Build the API reference with the toolchain's DocC, in .build/documentation.
	@.ci/docs

# The templates of `backplane new`, which the command finds in its own folder or in ../share/backplane.
TEMPLATES = Sources/BackplaneTools/Templates/*.template
DIST ?= .build-release/dist
dist: release ## Copy a release of `backplane` and the libraries of the Swift runtime that it and PLUGINS need to DIST, for another machine.
	@install -d '$(DIST)/templates' && install -m 644 $(TEMPLATES) '$(DIST)/templates' && .ci/strip .build-release/release/backplane '$(DIST)'
	@$(if $(PLUGINS),install -m 755 $(PLUGINS) '$(DIST)')
	@runtime=$$(dirname "$$(ldd .build-release/release/backplane | awk '/libswiftCore/ { print $$3 }')"); \
	ldd .build-release/release/backplane $(PLUGINS) | awk -v folder="$$runtime/" 'index($$3, folder) == 1 { print $$3 }' | sort -u \
		| while read -r library; do install -m 755 "$$library" '$(DIST)' || exit 1; done
	@echo "$(DIST) runs wherever the C library is no older than this one's ($$(ldd --version | head -1)): docs/reference/production.md"

PREFIX ?= /usr/local
# The folder of an existing build. With it, `make install` builds nothing, which is useful for an installation as another user.
BUILT ?=
COMPLETIONS = bash:share/bash-completion/completions/backplane zsh:share/zsh/site-functions/_backplane fish:share/fish/vendor_completions.d/backplane.fish

install: $(if $(BUILT),,release) ## Install a release of `backplane` and its completions below PREFIX (/usr/local). BUILT=.build-release/release skips the build.
	@command='$(or $(BUILT),.build-release/release)/backplane'; top='$(DESTDIR)$(PREFIX)'; \
	.ci/strip "$$command" "$$top/bin" && echo "installed $$top/bin/backplane" || exit 1; \
	install -d "$$top/share/backplane/templates" && install -m 644 $(TEMPLATES) "$$top/share/backplane/templates" \
		&& echo "installed $$top/share/backplane" || exit 1; \
	for entry in $(COMPLETIONS); do \
		script=$$("$$command" --generate-completion-script "$${entry%%:*}") && install -d "$$top/$$(dirname "$${entry#*:}")" \
			&& printf '%s\n' "$$script" > "$$top/$${entry#*:}" && chmod 644 "$$top/$${entry#*:}" \
			&& echo "installed $$top/$${entry#*:}" || exit 1; \
	done

uninstall: ## Remove what `make install` installed below PREFIX.
	@rm -r -f -v '$(DESTDIR)$(PREFIX)/share/backplane'
	@for file in bin/backplane bin/backplane.debug $(foreach entry,$(COMPLETIONS),$(lastword $(subst :, ,$(entry)))); do \
		rm -f -v '$(DESTDIR)$(PREFIX)'/"$$file"; \
	done

# GRDB compiles against the system's SQLite.
sqlite:
	@if ! printf '#include <sqlite3.h>\n' | clang -E - >/dev/null 2>&1; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "installing libsqlite3-dev for the header sqlite3.h"; \
			apt-get update -q && apt-get install -y -q libsqlite3-dev; \
		else \
			echo "The header sqlite3.h is missing. Install it: sudo apt-get install libsqlite3-dev" >&2; \
			exit 1; \
		fi; \
	fi

# A test sets breakpoints in plugins.
gdb:
	@if ! command -v gdb >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "installing gdb for the test of breakpoints"; \
			apt-get update -q && apt-get install -y -q gdb; \
		else \
			echo "gdb is missing, and the test of breakpoints will fail. Install it: sudo apt-get install gdb" >&2; \
		fi; \
	fi
