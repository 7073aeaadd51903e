# All tasks of the project. A fresh machine with Python, make and git only needs `make demo` and `make test`.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RELEASE := dist

unexport PYTHONDONTWRITEBYTECODE  # tests start fleetc many times: it is compiled once

QUICK := tests/rules tests/emit tests/language tests/lower tests/test_golden.py tests/test_tidy.py \
  tests/analysis/test_signers.py

.PHONY: help demo demo-live quick test test-outer test-hosts test-all lint format render docs release bench lock clean

help: ## Show what each target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14
	@echo
	@echo "While you work: make quick, under 30 seconds on two cores."

$(INSTALLED): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(INSTALLED)

demo: $(INSTALLED) ## Install into .venv, compile the demo fleet, show what was written
	@$(BIN)/fleetc compile inventories/demo --output demo
	@echo
	@find demo -path demo/ansible/roles -prune -o -type f -print | sort
	@echo
	@echo "The flags for reviewers: demo/hosts/studio/gate/launch.flags"
	@echo "The page for people:     demo/FLEET.md"
	@echo "To see an error message: change a port or misspell a key in inventories/demo/fleet.toml and run make demo again"

demo-live: $(INSTALLED) ## Roll a fleet out on this machine, change it and watch it; KEEP=1 keeps it for you (root; sshd, gcc, libssl-dev, git)
	@rm -rf demo-live
	@$(BIN)/python -m tests.demo_live demo-live $(if $(KEEP),--keep)

quick: $(INSTALLED) ## Rules, language, lowering, formats and tidiness, without tests that start programs
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not process" $(QUICK)

test: announce $(INSTALLED) ## Lint, types and all tests except slow and outer ones and those on test hosts
	@$(MAKE) --no-print-directory --jobs 2 lint inner

.PHONY: announce inner
announce:
	@echo "Linter, types and import contracts, and meanwhile the tests in three processes: about six minutes on two cores."
	@echo "Not included: slow tests (make test-all), those that ask outside programs (make test-outer), and test hosts"
	@echo "(make test-hosts). While you work: make quick."

inner: $(INSTALLED)
	@$(BIN)/python -m pytest --collect-only -q >/dev/null || true  # each test file is compiled once, not in each process
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow and not outer and not hosts"

test-outer: $(INSTALLED) ## Tests that ask outside programs: other linters, browsers, Prometheus, Ansible with hosts behind sshd
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "outer and not slow"

test-hosts: $(INSTALLED) ## Deploy to real test hosts on three farms at once, except slow tests (root; network namespaces, systemd-nspawn, sshd, Docker)
	FLEETC_TEST_HOSTS=1 $(BIN)/python -m pytest -n 3 --dist loadfile -m "not slow" tests/hosts

test-all: $(INSTALLED) lint ## Everything, with new random cases each time
	FLEETC_TEST_HOSTS=1 $(BIN)/python -m pytest --hypothesis-profile=exploring

lint: $(INSTALLED) ## Linter, formatter, types and who imports whom, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

format: $(INSTALLED) ## Let the formatter and the linter fix what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

render: $(INSTALLED) ## Compile every example fleet into its committed tree, and update schemas, reference, pictures, goldens and stories
	$(BIN)/fleetc explain --schema spec > inventories/spec.schema.json
	$(BIN)/fleetc explain --schema review > inventories/review.schema.json
	$(BIN)/fleetc explain --all > compiler/REFERENCE.md
	$(BIN)/python compiler/docs/pictures.py
	git clean -qfdX inventories  # copies of playbooks that were renamed or removed since
	$(BIN)/python -m pytest -q --snapshot-update tests/test_golden.py tests/docs/test_stories.py

docs: $(INSTALLED) ## Build the documentation site from README, guide, stories, reference and help: site/html/index.html, which needs no network
	@rm -rf site
	@$(BIN)/python -m docs.pages site/pages
	@$(BIN)/python -m sphinx -q -W -c compiler/docs site/pages site/html
	@echo "The documentation: site/html/index.html"

release: $(INSTALLED) ## Build what a release publishes into dist/: the sdist, the wheel and their SHA-256; the same bytes each time
	@rm -rf $(RELEASE)
	SOURCE_DATE_EPOCH=1580601600 $(BIN)/python -m hatchling build -d $(RELEASE)
	cd $(RELEASE) && sha256sum *.tar.gz *.whl > SHA256SUMS

bench: $(INSTALLED) ## Measure a compile of 10,000 nodes against a plain template loop
	$(BIN)/python -m tests.bench compile --nodes 10000

lock: ## Update requirements.lock, and from it the packages that workflows install (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --output-file requirements.lock
	uv pip compile pyproject.toml --extra build --constraint requirements.lock --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --output-file templates/starter/requirements.txt

clean: ## Remove what these targets created
	rm -rf $(VENV) demo demo-live dist site
