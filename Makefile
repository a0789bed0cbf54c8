# Errand. `make` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

BIN       := bin
PROGRAMS  := errand worker gateway robot
UTTERANCE ?= 안방으로 가서 청정하고 복귀해줘
# Handed on in the environment: whatever is said, the shell reads none of it.
export UTTERANCE PLAN

# Where each program's main package is.
errand_PKG  := ./starter
worker_PKG  := ./worker
gateway_PKG := ./deviceio/cmd/gateway
robot_PKG   := ./deviceio/cmd/robot

.PHONY: help build temporal demo dev clean $(PROGRAMS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(PROGRAMS) ## compile errand, worker, gateway and robot into bin/

# Always asked: the Go tool itself knows what changed, and does nothing if nothing did.
$(PROGRAMS):
	@echo "compiling $@ (a minute the first time)"
	@go build -o $(BIN)/$@ $($@_PKG)

# A Temporal is needed only where there is none: TEMPORAL_ADDRESS names one, and the temporal CLI brings one.
temporal: ## compile the Temporal server into bin/, unless there is one
	@if [ -n "$$TEMPORAL_ADDRESS" ]; then echo "using Temporal at $$TEMPORAL_ADDRESS"; \
	elif command -v temporal >/dev/null; then echo "using the temporal CLI: $$(command -v temporal)"; \
	else $(MAKE) --no-print-directory $(BIN)/temporal-dev; fi

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

RACE := $(BIN)/race
.PHONY: test test-programs lint tools replay-record

# The programs under test are built with the race detector; the Temporal server is the real one, built or found.
test-programs: temporal ## compile the programs under test, with the race detector, into bin/race
	@mkdir -p $(RACE)
	@for p in errand:./starter worker:./worker gateway:./deviceio/cmd/gateway robot:./deviceio/cmd/robot; do \
	  echo "compiling $${p%%:*} with the race detector (two minutes the first time)"; \
	  go build -race -o $(RACE)/$${p%%:*} $${p#*:} || exit 1; done
