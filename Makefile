# Aldebaran: `make` lists what can be done.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

ALDEBARAN_TOOLS ?= .tools
export ALDEBARAN_TOOLS
$(if $(word 2,$(ALDEBARAN_TOOLS)),$(error ALDEBARAN_TOOLS: name a folder without a space))
# They lead PySpark to another Spark and its settings, and libpq to another server, as
# services/backbone/inherited.py says of all that is passed on.
unexport SPARK_HOME SPARK_CONF_DIR PYSPARK_SUBMIT_ARGS SPARK_REMOTE SPARK_API_MODE
unexport SPARK_CONNECT_MODE_ENABLED SPARK_DIST_CLASSPATH HADOOP_CONF_DIR YARN_CONF_DIR
unexport $(filter PG%,$(.VARIABLES))
# Packages that lie elsewhere are none of the environment's; recipes name our own folders themselves.
unexport PYTHONPATH PYTHONHOME
# The first Python on PATH that says of itself that it will do; name another by BASE_PYTHON.
BASE_PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
  if $$each services/machine/installation/prerequisites.py python 2>/dev/null; then \
    echo $$each; exit; fi; done; echo python3)
VENV := $(ALDEBARAN_TOOLS)/venv
PYTHON := $(VENV)/bin/python
VENV_STAMP := $(VENV)/.requirements-dev.lock
# After an upgrade of the system's Python the environment finds its packages no more.
VENV_WORKS := $(shell if $(PYTHON) -I -c 'import pip' 2>/dev/null; then echo yes; fi)
CHART_VENV := $(ALDEBARAN_TOOLS)/chart

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use

.PHONY: run
run: setup ## Set up what is needed and run Aldebaran with simulated events; Ctrl-C ends it
	@exec $(PYTHON) -m services.machine run

.PHONY: clean-state
clean-state: $(VENV_STAMP) ## Remove all state (ALDEBARAN_HOME); refuses while something uses it
	@$(PYTHON) -m services.machine clean-state

##@ Check

.PHONY: check
check: $(VENV_STAMP) ## Lint, format, types, import laws, tidy test; the chart, where `make chart-tools` was run
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=.:spark-apps $(VENV)/bin/lint-imports
	$(VENV)/bin/pytest -q tests/tidy tests/chart/test_written.py tests/chart/test_tools.py -k "not schemas"

.PHONY: test
test: classes ## Run the tests but the long ones, with real Kafka, Postgres and Spark; TEST="-x --at-once 1" are options
	@$(PYTHON) -m tests.parts $(TEST)

.PHONY: fuzz
fuzz: $(VENV_STAMP) ## Simulate random histories of delivery under faults until Ctrl-C or a broken promise
	@$(PYTHON) -m tests.simulation fuzz

.PHONY: docs
docs: $(VENV_STAMP) ## Write what is made of the code into docs (promises, metrics, alarms, settings, the chart's README and renderings)
	@$(PYTHON) -m tests.promises
	@$(PYTHON) -m tests.metrics
	@$(PYTHON) -m tests.alarms
	@PYTHONPATH=.:spark-apps $(PYTHON) -m tests.settings
	@$(PYTHON) -m tests.chart.topics
	@PYTHONPATH=.:spark-apps $(PYTHON) -m tests.chart.watches
	@$(PYTHON) -m tests.chart.manual
	@test ! -x $(ALDEBARAN_TOOLS)/bin/helm || $(PYTHON) -m tests.chart.goldens

.PHONY: pictures
pictures: setup ## Draw every page of the console into docs/pictures, by Chromium
	@$(PYTHON) -m tests.pictures

.PHONY: format
format: $(VENV_STAMP) ## Rewrite code in the project's format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

##@ Set up

.PHONY: setup
setup: prerequisites $(VENV_STAMP) ## Make the Python environment and fetch the jars
	@$(PYTHON) -m services.machine jars

.PHONY: classes
classes: setup ## Let Java archive Kafka's and Spark's classes, once (50 s): later starts take much less time
	@$(PYTHON) -m services.machine classes

.PHONY: prerequisites
prerequisites: ## Say what is missing on this machine, and the command that installs it
	@command -v $(BASE_PYTHON) > /dev/null || \
	  { echo "setup: Python 3.11 to 3.14 is needed: install it with your system's packages" >&2; exit 1; }
	@$(BASE_PYTHON) services/machine/installation/prerequisites.py

.PHONY: lock
lock: $(VENV_STAMP) ## Pin Python packages again (versions and hashes) after a change of *.in
	for name in requirements requirements-spark requirements-service requirements-dev docker/sbom tests/chart/tools; do \
	  $(VENV)/bin/uv pip compile -q --generate-hashes --no-emit-index-url --no-emit-find-links \
	    --no-header --universal --python-version 3.11 $$name.in -o $$name.lock; \
	done

$(VENV_STAMP): requirements-dev.lock $(if $(VENV_WORKS),,anew) | prerequisites
	@$(BASE_PYTHON) services/machine/installation/packages.py $(VENV) $<

.PHONY: anew
anew:

.PHONY: test-long
test-long: classes ## Run the tests that `make test` leaves out: each takes minutes, and proves more of what a shorter one proves
	@$(PYTHON) -m tests.parts -m long $(TEST)

.PHONY: matrix
matrix: setup ## Try every fault on every channel; writes docs/reports/matrix.md (about 20 minutes)
	MATRIX_REPORT=docs/reports/matrix.md $(VENV)/bin/pytest -m matrix tests/matrix

.PHONY: chaos
chaos: setup ## Kill, stop, cut off, fill up, slow down each part under load; writes docs/reports/chaos.md (half an hour to an hour)
	CHAOS_REPORT=docs/reports/chaos.md $(VENV)/bin/pytest -m chaos tests/chaos $(CHAOS)

##@ Measure

.PHONY: size
size: $(VENV_STAMP) ## Cores, disks, network and yearly cost of a rate: make size RATE=250000; SIZE="--help"
	@$(PYTHON) -m tests.bench.sizing --rate $(or $(RATE),10000) $(SIZE)

.PHONY: bench
bench: setup ## Measure watching (beside Apache Flink) and delivering; writes docs/reports/bench.md (some 40 minutes)
	PYTHONPATH=.:spark-apps $(PYTHON) -m tests.bench $(BENCH)

##@ Kubernetes

.PHONY: chart-tools
chart-tools: prerequisites ## Install Helm and the chart's checkers into ALDEBARAN_TOOLS, by pip and Go
	@$(BASE_PYTHON) services/machine/installation/packages.py $(CHART_VENV) tests/chart/tools.lock
	@export GOBIN=$(abspath $(ALDEBARAN_TOOLS))/bin GOTOOLCHAIN=local GONOSUMDB='github.com/helm-unittest/*'; \
	grep -v '^#' tests/chart/tools.sum | while read -r tool module sum; do \
	  name=$$GOBIN/$$(basename $${tool%@*}); \
	  test -x $$name || $(CHART_VENV)/bin/go install $$tool; \
	  go=$(CHART_VENV)/bin/go; $$go version -m $$name | grep -q "$$module	.*	$$sum$$" || \
	    { rm -f $$name; echo "chart-tools: $$tool is not what tests/chart/tools.sum says" >&2; exit 1; }; \
	done

.PHONY: chart-check
chart-check: $(VENV_STAMP) ## Lint and render the chart, hold what it makes against Kubernetes' schemas and our rules
	@$(VENV)/bin/pytest -q tests/chart

# What cluster-test puts on the nodes: the second version's ledger is changed, its auditors are not.
CLUSTER_IMAGES := service:dev spark:dev broker:dev postgres:dev postgres:15 service:next spark:next

.PHONY: cluster-images
cluster-images: ## Build the images for cluster-test; LOAD="kind load docker-image" brings each to the nodes
	for image in service spark broker postgres; do \
	  docker build $(DOCKER_BUILD) -t aldebaran/$$image:dev -f docker/$$image.Dockerfile .; \
	done
	docker build $(DOCKER_BUILD) -t aldebaran/service:next -f tests/cluster/next.Dockerfile tests/cluster
	docker build $(DOCKER_BUILD) -t aldebaran/postgres:15 -f tests/cluster/operated.Dockerfile tests/cluster
	docker tag aldebaran/spark:dev aldebaran/spark:next
	$(if $(LOAD),for image in $(CLUSTER_IMAGES); do $(LOAD) aldebaran/$$image; done)

.PHONY: cluster-addons
cluster-addons: $(VENV_STAMP) ## Build others' programs from source, install them where kubectl points: ADDONS="metrics-server keda spark-operator"
	@$(PYTHON) -m tests.cluster.addons build $(ADDONS)
	@$(PYTHON) -m tests.cluster.addons install $(ADDONS)

.PHONY: cluster-test
cluster-test: $(VENV_STAMP) ## Install the chart where kubectl points, kill, upgrade, roll back; writes docs/reports/cluster.md
	CLUSTER_REPORT=docs/reports/cluster.md $(VENV)/bin/pytest -m cluster tests/cluster $(CLUSTER)
