# A thin front of tools/ and meson.
#
#   make            set up the machine, build Carol and its fuzzers; leaves ./carol
#   make demo       a first campaign, a minute
#   make test       unit and system tests; SAN=1: the unit tests under ASan and UBSan
#   make soak       what draws lots, with other seeds each time: SECONDS=600 (or RUNS=N), SEED=N
#   make bench      the figures Carol must hold (bench/)
#   make bench-reduced  the benchmark of planted bugs in small: one target, the paper's schedulers and every rival; 7 minutes
#   make lint       layers, headers, references in the docs, scripts, static analysis, a build with clang
#   make install    PREFIX=/usr/local, DESTDIR=
#   make clean      the build directories; the fuzzers stay in the cache (see tools/engines.py)
#
# Also: make format-check, make format (clang-format-19), make tidy (clang-tidy-19, minutes),
# make mutants N=200 SEED=1 (small mistakes put into the code: do the tests see them?  An hour or so).
# BUILD=DIR builds elsewhere; CC=clang counts when that directory is new.

SHELL = /bin/bash -o pipefail
BUILD ?= build
PREFIX ?= /usr/local
MESON_FLAGS ?=
ifeq ($(origin CC),default)
setup_env =
else
setup_env = CC='$(CC)'
endif

ready: all
	@echo './carol is ready: ./carol doctor says what can run here, README.md has a first campaign'

all: build engines

setup:
	@tools/setup.sh || [ $$? = 3 ]

build: setup $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet | { grep -v '^ninja: no work to do' || true; }
	@[ "$$(readlink carol)" = "$(BUILD)/carol" ] || ln -sfn $(BUILD)/carol carol

engines: build
	@tools/engines.py --build $(BUILD) || [ $$? = 3 ]

$(BUILD)/build.ninja: | setup
	@echo 'compiling Carol in $(BUILD), a minute or so'
	@$(setup_env) meson setup $(BUILD) $(MESON_FLAGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

demo: all
	@tools/demo.sh

ifdef SAN
test: setup
	@tools/test.sh $(BUILD)-san --suite unit
else
test: all
	@tools/setup.sh test || [ $$? = 3 ]
	@tools/test.sh $(BUILD)
endif

soak: all
	@tools/soak.sh $(if $(SECONDS),--seconds $(SECONDS)) $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED)) $(BUILD)

bench: all
	@bench/run.sh $(BUILD)

bench-reduced: all
	@rm -rf $(BUILD)/bench-reduced
	@./carol bench run bench/suite/reduced.ini -o $(BUILD)/bench-reduced
	@./carol bench table $(BUILD)/bench-reduced
	@for form in json csv csv-bugs csv-tables; do ./carol bench table $(BUILD)/bench-reduced --$$form >$(BUILD)/bench-reduced/table.$$form; done
	@./carol bench table $(BUILD)/bench-reduced --html $(BUILD)/bench-reduced/table.html
	@./carol analyze arrival $(BUILD)/bench-reduced

lint: all
	@tools/setup.sh lint || [ $$? = 3 ]
	@tools/lint.sh $(BUILD)

format-check:
	@tools/lint.sh --format-check

format:
	@tools/lint.sh --format

tidy: build
	@tools/lint.sh --tidy $(BUILD)

N ?= 200
SEED ?= 1
mutants: setup
	@tools/mutants.py -n $(N) --seed $(SEED) $(MUTANTS_FLAGS)

install: all
	@tools/install.sh $(BUILD) '$(PREFIX)' '$(DESTDIR)'

clean:
	rm -rf $(BUILD) $(BUILD)-san carol

.PHONY: ready all setup build engines demo test soak bench bench-reduced lint format-check format tidy mutants install clean
