# The commands of this project. `make` alone lists them.

SWIFT ?= swift

.DEFAULT_GOAL := help
.PHONY: help test test-plain build

help: ## Lists these commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Builds everything, debug.
	$(SWIFT) build

test: ## Builds everything and runs the whole suite.
	$(SWIFT) test

test-plain: ## The same without the engines: fetches no package. Its build folder is .build-plain.
	@rm -f Package.resolved     # left by a build with engines, it would have their packages fetched
	$(SWIFT) test --disable-default-traits --scratch-path .build-plain
