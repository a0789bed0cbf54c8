# Errand. `make` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

BIN       := bin
PROGRAMS  := errand worker gateway robot shim
UTTERANCE ?= 안방으로 가서 청정하고 복귀해줘
# Handed on in the environment and as it was given: neither make nor the shell reads any of it.
override UTTERANCE := $(value UTTERANCE)
override PLAN := $(value PLAN)
export UTTERANCE PLAN

# Where each program's main package is.
errand_PKG  := ./starter
worker_PKG  := ./worker
gateway_PKG := ./deviceio/cmd/gateway
robot_PKG   := ./deviceio/cmd/robot
shim_PKG    := ./deviceio/cmd/shim

.PHONY: help build temporal demo dev clean $(PROGRAMS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(PROGRAMS) ## compile errand, worker, gateway, robot and shim into bin/

# Always asked: the Go tool itself knows what changed, and does nothing if nothing did.
$(PROGRAMS):
	@echo "compiling $@ (a minute the first time)"
	@go build -o $(BIN)/$@ $($@_PKG)

# A Temporal is needed only where there is none: TEMPORAL_ADDRESS names one, and the temporal CLI brings one.
temporal: ## compile the Temporal server into bin/, unless there is one
	@if [ -n "$$TEMPORAL_ADDRESS" ]; then echo "using Temporal at $$TEMPORAL_ADDRESS"; \
	elif command -v temporal >/dev/null; then echo "using the temporal CLI: $$(command -v temporal)"; \
	else $(MAKE) --no-print-directory --silent $(BIN)/temporal-dev; fi

$(BIN)/temporal-dev: $(filter-out %_test.go,$(wildcard devserver/*.go)) devserver/go.mod devserver/go.sum
	@echo "compiling the Temporal server; 2–5 minutes the first time"
	@go build -C devserver -ldflags="-s -w" -tags disable_grpc_modules -o ../$@ .
	@touch $@

demo: build temporal ## start everything, carry out one utterance (UTTERANCE=…) or plan (PLAN=file.json), take it down
	@if [ -n "$$PLAN" ]; then exec $(BIN)/errand dev --fresh --free-ports --plan="$$PLAN"; \
	else exec $(BIN)/errand dev --fresh --free-ports --run="$$UTTERANCE"; fi

dev: build temporal ## start everything on the well-known ports and leave it running
	@exec $(BIN)/errand dev

clean: ## remove bin/ and .errand/
	rm -rf $(BIN) .errand

# ---- tests ----------------------------------------------------------------------------------------------------------

RACE        := $(BIN)/race
# Where the tests find the programs: absolute, since each package's tests run in its own folder.
export ERRAND_TEST_BIN      := $(CURDIR)/$(RACE)
export ERRAND_TEST_TEMPORAL := $(CURDIR)/$(BIN)/temporal-dev
# A program with the race detector sleeps for a second at its end, each command line too.
export GORACE := atexit_sleep_ms=0
DEVSERVER_TAGS := disable_grpc_modules
# With -race comes a check of unsafe pointers, which costs as much again in SQLite, and we have none to check there.
WITH_RACE := -race -gcflags=all=-d=checkptr=0

.PHONY: test explore test-programs lint tools replay-record kill cases consents faults soak mutate bench-gateway outbox-kill shim-kill fuzz hostile

# The pure packages have no concurrency, and many long random histories: they are tested without the race detector, and so
# is the nested module, for which the whole Temporal server would be compiled again. Of the rest, ./tests takes longest, and
# begins first. Tests that run processes wait more than they work: four at once keep two cores busy.
test: test-programs $(BIN)/devserver.test ## every test, on a real Temporal server and real processes; with the race detector where there is concurrency
	@echo "compiling the tests (a few minutes the first time), then running them"
	cd devserver && ../$(BIN)/devserver.test
	go test -timeout 15m ./plan/...
	go test $(WITH_RACE) -timeout 30m -parallel 4 ./tests $$(go list ./... | grep -v '^errand/plan' | grep -v '^errand/tests$$')

# Linked once: the whole server is in it.
$(BIN)/devserver.test: $(wildcard devserver/*.go) devserver/go.mod devserver/go.sum
	@echo "compiling the tests of the Temporal server"
	@go test -C devserver -tags $(DEVSERVER_TAGS) -c -o ../$@ .

# Wider than make test, where a bug in two things at once may hide: .ci/run does it too.
explore: ## everything that can happen to plans of up to three steps, with two faults: four minutes on two cores
	go test -count=1 -timeout 1h -v -run TestEveryHistory ./plan/explore -args -wide

# The tests start and kill Temporal servers of their own, so they need ours even where another one is at hand.
test-programs: $(BIN)/temporal-dev
	@mkdir -p $(RACE)
	@for p in errand:$(errand_PKG) worker:$(worker_PKG) gateway:$(gateway_PKG) robot:$(robot_PKG) shim:$(shim_PKG); do \
	  echo "compiling $${p%%:*} with the race detector (a minute or two the first time)"; \
	  go build $(WITH_RACE) -o $(RACE)/$${p%%:*} $${p#*:} || exit 1; done

# Without the race detector: more trials in the same time. make test runs twenty with it.
SEED ?= 1
kill: TRIALS ?= 500
kill: build $(BIN)/temporal-dev ## the kill matrix at length: TRIALS=500 SEED=1
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10h -v -run TestKillMatrix ./tests -args -trials $(TRIALS) -seed $(SEED)

# Without the race detector, as above. make test runs one trial of each case with each of three crosses, with it. CASE=c05 TRIAL=7 runs one trial alone.
cases: TRIALS ?= 80
cases: build $(BIN)/temporal-dev ## event sequences that hurt users elsewhere, each in many ways: TRIALS=80 SEED=1
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10h -v -run TestCases ./tests -args -case-trials $(TRIALS) -case-seed $(SEED) $(if $(CASE),-case $(CASE)) $(if $(TRIAL),-trial $(TRIAL))

# Without the race detector, as above. make test runs eight histories with it.
consents: TRIALS ?= 500
consents: build $(BIN)/temporal-dev ## random histories of questions and answers: nothing happens without a person's live yes: TRIALS=500 SEED=1
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10h -v -run TestLaw16NoEffectWithoutConsent ./tests -args -consent-trials $(TRIALS) -consent-seed $(SEED) $(if $(TRIAL),-consent-trial $(TRIAL))

# Without the race detector, as above. make test runs each mode alone and six pairs with it.
PAIRS ?= 200
faults: build $(BIN)/temporal-dev ## every way a robot can go wrong, alone and in pairs: PAIRS=200 SEED=1
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10h -v -run TestFaultModes ./tests -args -pairs $(PAIRS) -pair-seed $(SEED)

# Without the race detector, as above. make test runs a short one with it.
SOAK_PLANS  ?= 200
SOAK_ROBOTS ?= 20
SOAK_FOR    ?= 10m
soak: build $(BIN)/temporal-dev ## many plans, many robots, everything goes wrong for a while: SOAK_PLANS=200 SOAK_ROBOTS=20 SOAK_FOR=10m SEED=1
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 10h -v -run TestSoak ./tests -args -soak-plans $(SOAK_PLANS) -soak-robots $(SOAK_ROBOTS) -soak-for $(SOAK_FOR) -soak-seed $(SEED)

# Without the race detector. The bounds are those of the test; the machine should do nothing else meanwhile. make test runs a small one.
LOAD_DEVICES ?= 10000
LOAD_ACTIVE  ?= 100
LOAD_FOR     ?= 60s
bench-gateway: build $(BIN)/temporal-dev ## what devices cost a gateway, and an event's way to history: LOAD_DEVICES=10000 LOAD_ACTIVE=100 LOAD_FOR=60s
	ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 1h -v -run TestGatewayUnderLoad ./tests -args -load-devices $(LOAD_DEVICES) -load-active $(LOAD_ACTIVE) -load-for $(LOAD_FOR) -load-bounds

# Without the race detector. Needs npm, once, and a network namespace; says so and skips where it has them not.
.PHONY: e2e-openclaw
e2e-openclaw: build $(BIN)/temporal-dev ## a real, unmodified OpenClaw node against a whole installation
	@ERRAND_TEST_BIN=$(CURDIR)/$(BIN) sh tests/openclaw/run.sh

HALF_OPEN ?= 10000
hostile: build $(BIN)/temporal-dev ## a client that means harm, with thousands of connections half open: HALF_OPEN=10000
	ulimit -n $$(ulimit -H -n) && ERRAND_TEST_BIN=$(CURDIR)/$(BIN) go test -count=1 -timeout 20m -v -run TestAHostileClientGetsNowhere ./tests -args -half-open $(HALF_OPEN)

KILLS ?= 500
outbox-kill: ## a device's outbox: kill -9 and power cuts at random moments under load: KILLS=500 SEED=1
	go test -count=1 -timeout 2h -v -run 'OutboxSurvives' ./deviceio/device -args -kills $(KILLS) -kill-seed $(SEED)

shim-kill: ## the shim beside a plain TaskManager: kill -9 at random moments, the robot's ledger as judge: KILLS=500 SEED=1
	go test -count=1 -timeout 2h -v -run 'ShimSurvivesKills' ./deviceio/shim -args -kills $(KILLS) -kill-seed $(SEED)

# One target at a time, on one core; what it finds of interest stays in Go's own cache, and a crash in testdata/fuzz.
FOR ?= 1m
FUZZ ?= deviceio/wire:FuzzParseFrame deviceio/wire:FuzzParseConnect deviceio/wire:FuzzParseTaskEvent deviceio/wire:FuzzParseAnswers \
	deviceio/wire:FuzzParseDeviceContext deviceio/device:FuzzParseHistory
fuzz: ## fuzz what devices send, and the outbox's file: FOR=1m each; FUZZ=package:Target for others
	@for t in $(FUZZ); do echo "$$t for $(FOR)"; \
	  go test -run '^$$' -fuzz "^$${t#*:}$$" -fuzztime $(FOR) -parallel 1 "./$${t%:*}" || exit 1; done

MUTANTS ?= 200
mutate: ## wrong code, one change at a time: do the tests notice? MUTANTS=200 SEED=1
	go -C tools run ./mutate -root .. -n $(MUTANTS) -seed $(SEED) plan catalog/value.go catalog/slice.go

replay-record: test-programs ## record the histories that the replay test holds the workflow against
	go test -count=1 -run HistoriesReplay ./tests -args -record $(CURDIR)/workflows/testdata/histories

lint: tools ## the linters, and the checker of workflow code
	$(BIN)/golangci-lint run ./...
	cd devserver && ../$(BIN)/golangci-lint run --fast-only --build-tags $(DEVSERVER_TAGS) ./...
	$(BIN)/workflowcheck -config workflows/workflowcheck.yaml ./workflows/...

tools: $(BIN)/golangci-lint

$(BIN)/golangci-lint: tools/go.mod tools/go.sum
	@echo "compiling the linters (a minute the first time)"
	@mkdir -p $(BIN)
	@go -C tools build -ldflags="-s -w" -o ../$(BIN)/ tool
	@touch $@
