# Every target calls a program or a script of this repository; there is no logic here.
PYTHON ?= python3.11
GAME ?= court_piece
BOTS ?= 0
URL ?=
VOICE ?=
ROW ?=
PLACE ?=
LAN ?=
TLS ?=
UPGRADE ?=
GAMES ?= 500
TABLES ?= 2000
SEED ?= 1
MINUTES ?= 0
UV_VERSION = 0.13.9
LOCK = build/uv/bin/uv pip compile --quiet --generate-hashes --universal --no-emit-index-url --no-header --python-version 3.11 $(UPGRADE)

.DEFAULT_GOAL := help
.PHONY: help run demo web test browser screenshots check fix setup bench faults mutants documents lock

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

run: ## everything in one process on one port, a page to play on; LAN=1 for others in the same Wi-Fi, TLS=1 with it
	bash deploy/local/setup.sh
	bash web/build.sh --to-run
	.venv/bin/darbar up $(if $(LAN),--lan) $(if $(TLS),--tls)

demo: ## a whole game over real sockets, told and proven: GAME=court_piece BOTS=0 URL= VOICE=
	bash deploy/local/setup.sh
	.venv/bin/python -m darbar_client.demo --game $(GAME) --bots $(BOTS) --url "$(URL)" --voice "$(VOICE)"

web: ## the web client, checked and built into web/dist, where `make run` serves it
	bash web/build.sh --check

test: setup ## every test of behaviour, with real servers
	.venv/bin/pytest -n 2 --dist loadfile

browser: setup ## the web client in a real browser
	bash web/build.sh
	bash tests/browser/chromium.sh
	.venv/bin/pytest -rs tests/browser

screenshots: setup ## every screen at three sizes into docs/screens
	bash web/build.sh
	bash tests/browser/chromium.sh
	PYTHONPATH=tests/integration .venv/bin/python tests/browser/screenshots.py

check: setup ## format, lint, types, imports and the rules of the repository, in under a minute; no tests of behaviour
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo
	.venv/bin/pytest tests/repository

fix: setup ## let ruff format and mend what it can
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

setup: ## .venv with what development needs
	bash deploy/local/setup.sh --dev

bench: setup ## measure the targets: ROW=name for one of them
	.venv/bin/python -m bench.run --row "$(ROW)"

faults: setup ## hurt real processes under games, count what is lost: GAMES=500 TABLES=2000 SEED=1 MINUTES=0
	PYTHONPATH=tests/integration .venv/bin/python tests/faults/fault_run.py --games $(GAMES) --tables $(TABLES) --seed $(SEED) --minutes $(MINUTES)

mutants: setup ## break pure code in many small ways, and see that a test notices each: PLACE=name for one part
	.venv/bin/python tests/mutants/run.py $(PLACE)

documents: setup ## write anew what is made from the contracts: OpenAPI, AsyncAPI, their page, refusals, TypeScript
	.venv/bin/python tests/repository/write_documents.py

lock: ## requirements*.lock anew from requirements*.in: UPGRADE=--upgrade for newer versions
	$(PYTHON) -m venv build/uv
	build/uv/bin/pip install --quiet uv==$(UV_VERSION)
	$(LOCK) requirements.in --output-file requirements.lock
	$(LOCK) requirements-dev.in --output-file requirements-dev.lock
	$(LOCK) bench/peers.in --output-file bench/peers.lock
