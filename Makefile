# Everything that is done with this repository; the work itself is in tools/.
.DEFAULT_GOAL := help
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))  # every target
PYTHON_VENV := .venv/bin/python

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Install what the other targets need (.venv, Debian packages); they do it themselves
	@tools/setup.sh

build: setup  ## Compile the core, the extension, the command and the C++ tests where sources changed
	@tools/build.sh

demo: build  ## Run the toy example under depyf.prepare_debug and show what it made
	@$(PYTHON_VENV) tools/demo.py

test: build  ## Everything that must hold
	@tools/test.sh

test-long: build  ## The tests that `make test` leaves out for their time
	@$(PYTHON_VENV) -m pytest -m long

lint: build  ## Formatting, style, types, the figures of `make house`; all of it, clang-tidy included
	@tools/lint.sh --all

docs: setup  ## The documents as a site that needs no network: build/site/index.html
	@tools/docs/build.sh
	@echo "Open build/site/index.html"

docs-test: docs build  ## Run each block of the documents, follow Start from a fresh clone, open each page in Chromium
	@$(PYTHON_VENV) tools/docs/check_site.py -o build/site-pictures
	@$(PYTHON_VENV) -m pytest -q -m "long or not long" tests/docs

docs-renew: build  ## Write the outputs of a run into the documents; PAGES="docs/start.md"
	@$(PYTHON_VENV) tools/docs/run_pages.py --renew $(PAGES)

house: setup  ## Figures of the source with their goals, and the worst places; WORST=5
	@$(PYTHON_VENV) tools/house/house.py --worst $(or $(WORST),5)

format: setup  ## Format all C++ and Python
	@tools/format.sh

bench: build  ## Measure the speed of the core, as the wheels contain it; the first time, 6 minutes to compile it with a profile
	@tools/bench.sh

bench-branches: build  ## Simulated branch mispredictions of the core, which take most of its time; FUNCTIONS=20
	@tools/build.sh release >/dev/null
	@$(PYTHON_VENV) bench/branches.py build/release/depyf-decompile --functions $(or $(FUNCTIONS),0)

bench-call: build  ## What running from dumped files costs a cached call, for each backend
	@for backend in eager aot_eager inductor; do $(PYTHON_VENV) bench/cached_call.py $$backend; done

bench-memory: build  ## Peak memory with depyf, as a multiple of plain torch.compile
	@$(PYTHON_VENV) bench/memory.py 2>/dev/null
	@$(PYTHON_VENV) bench/block_memory.py 2>/dev/null

bench-proof: build  ## What proving costs, as a multiple of decompiling
	@$(PYTHON_VENV) bench/proof.py

bench-report: build  ## What reading a TORCH_TRACE log costs, in time and memory, by its size
	@tools/build.sh release >/dev/null
	@$(PYTHON_VENV) bench/report.py

bench-size: build  ## How large a dump is by the layers of a transformer, 6 to 48; 5 minutes
	@TORCHINDUCTOR_CACHE_DIR="$$(mktemp -d)" $(PYTHON_VENV) bench/dump_size.py

bench-printing: build  ## What the printers of depyf.printing save of the compile time under a block; 6 minutes
	$(PYTHON_VENV) bench/printing.py

bench-page: build  ## How long a page of the report takes to open and to answer a hover; PAGE=report.html
	@$(PYTHON_VENV) bench/page.py $(or $(PAGE),report.html)

screenshots: build  ## Renew the pictures of the page's views that the tests compare; look at them before they are committed
	@DEPYF_RENEW_SCREENSHOTS=1 $(PYTHON_VENV) -m pytest -q tests/report/test_screenshots.py

links: build  ## Links of four programs' logs against those that depyf saw in the process
	@$(PYTHON_VENV) tools/links.py

bench-small: build  ## What prepare_debug costs eight small programs on aot_eager
	@$(PYTHON_VENV) bench/small_programs.py

prove: build  ## Try the prover at length: mutants, random pairs, standard libraries
	@tools/prove.sh

compat: build  ## What works with ten pairs of PyTorch and Python: docs/compatibility.md; KEEP=1 keeps the environments
	@$(PYTHON_VENV) tools/combinations/run.py

check-all: setup  ## gcc, clang, sanitizers, fuzzing, coverage, mutation scores; a table; CHECKS="clang fuzz"
	@$(PYTHON_VENV) tools/check_all.py $(CHECKS)

contract: build  ## 40 seeded changes that diff and check have to name, and REPETITIONS=100 of unchanged programs; 25 minutes
	$(PYTHON_VENV) tools/contract/measure.py --repetitions $(or $(REPETITIONS),100)

contract-versions: build  ## Whether contracts hold elsewhere; PYTHONS="'/path/python3.12' ..." with PyTorch, LOGS="folder ..." of TORCH_TRACE
	$(PYTHON_VENV) tools/contract/versions.py $(foreach python,$(PYTHONS),--python $(python)) $(foreach logs,$(LOGS),--logs $(logs))

plugin: setup  ## The pytest plugin in a project of its own, from an installed wheel
	tools/plugin.sh

wheel: setup  ## pip install . on each CPython at hand, without PyTorch
	@tools/wheel.sh

wheels: build  ## What a release consists of, into dist/, tried in fresh environments; TORCH="/path ..." of environments with PyTorch
	@tools/wheels/build.sh
	@tools/wheels/check.sh

aarch64: build  ## The core for 64-bit ARM: C++ tests and the command under qemu-user, and a wheel; MODULES=20
	@tools/aarch64.sh

drift: build  ## A future PyTorch, simulated: each private name damaged in five ways; 20 minutes
	@PYTHONPATH=python:tests $(PYTHON_VENV) -W ignore tests/torch/drift.py

fuzz:  ## Fuzz the loader and the whole pipeline; SECONDS_EACH=60
	@tools/fuzz.sh

artifacts: build  ## Functions compiled ahead of time on each backend: their guards on COUNT=1000 inputs each, results bit for bit
	@rm -rf .cache/artifacts && mkdir -p .cache/artifacts
	@for step in every run $(or $(COUNT),1000); do \
	  $(PYTHON_VENV) tests/torch/ahead_of_time.py .cache/artifacts $$step || exit 1; done

artifact-versions: build  ## The same for what other releases save; PYTHONS="/path/python ..." with PyTorch, of this Python's version
	@$(PYTHON_VENV) -W ignore tools/artifact_versions.py $(foreach python,$(PYTHONS),--python $(python))

soak: build  ## Random programs, plain and under prepare_debug, compared; SECONDS=1200 SEED=N BACKENDS="eager aot_eager" JOBS=2
	@$(PYTHON_VENV) tools/soak/soak.py --seconds $(or $(SECONDS),1200) $(if $(SEED),--seed $(SEED)) \
	  --backends $(or $(BACKENDS),eager aot_eager) --jobs $(or $(JOBS),2)

fuzz-structure: build  ## Mutants of the structure of .pyc files of all versions at hand; COUNT=80000 SEED=1 BUILD=dev (or asan)
	@[ "$(or $(BUILD),dev)" = dev ] || tools/build.sh $(BUILD)
	@$(PYTHON_VENV) tools/mutants/run.py --count $(or $(COUNT),80000) --seed $(or $(SEED),1) --build $(or $(BUILD),dev)

models: build  ## 36 small models of the transformers library, plain and under prepare_debug, compared; BACKEND=aot_eager
	@$(PYTHON_VENV) tools/soak/models.py --backend $(or $(BACKEND),aot_eager)

model-code: build  ## Code objects that Dynamo makes of 16 models of transformers: does each come back as a single function?
	@$(PYTHON_VENV) tools/soak/model_code.py

programs: build  ## Programs with transformers, timm and the like, plain and under depyf run: docs/programs.md; PROGRAMS="a b" AGAIN=1
	@$(PYTHON_VENV) tools/programs/run.py $(PROGRAMS)

costs: build  ## What docs/costs.md states, measured: all programs of tests/torch/test_*_costs.py
	@$(PYTHON_VENV) -m pytest -q -m "long or not long" tests/torch/test_*_costs.py

bench-run-time: build  ## What depyf.profile costs a training step of 12 layers, and how much of the time has a line
	@TORCHINDUCTOR_CACHE_DIR="$$(mktemp -d)" $(PYTHON_VENV) bench/run_time.py 2>/dev/null

costs-peers: build  ## Ten questions about costs to depyf, tlparse, Perfetto's view and PyTorch's own tools; TLPARSE=tlparse
	@$(PYTHON_VENV) tools/costs/peers.py --tlparse $(or $(TLPARSE),tlparse)

numerics: build  ## depyf.numerics: 42 planted faults, 23 reported ones, 32 sound functions, 20 programs unharmed, cost; an hour; SEEDS=3
	@$(PYTHON_VENV) -W ignore tools/numerics/planted.py
	@$(PYTHON_VENV) -W ignore tools/numerics/reported.py
	@$(PYTHON_VENV) -W ignore tools/numerics/sound.py --seeds $(or $(SEEDS),3)
	@$(PYTHON_VENV) -W ignore tools/numerics/harmless.py
	@$(PYTHON_VENV) -W ignore tools/numerics/harmless.py --backend inductor
	@$(PYTHON_VENV) bench/numerics.py

numerics-peers: build  ## Ten planted faults under depyf.numerics, compiler_bisector and DebugMode: the table of docs/numerics.md
	@$(PYTHON_VENV) -W ignore tools/numerics/peers.py

tree-mutants: build  ## Single mutants of printed trees, which the gate of --prove must refuse; COUNT=10000 SEED=1
	@$(PYTHON_VENV) tools/prove/gate.py --mutants $(or $(COUNT),10000) --seed $(or $(SEED),1)

gate: build  ## How many code objects of standard libraries --prove proves, by version; SAMPLE=150 VERSIONS="3.8 3.12"
	@$(PYTHON_VENV) tools/prove/gate.py --sample $(or $(SAMPLE),150) $(if $(VERSIONS),--versions $(VERSIONS))

edits: build  ## 1,000 random wrong edits of cache entries, signals counted
	@DEPYF_WRONG_EDITS=1000 $(PYTHON_VENV) -m pytest tests/torch/test_wrong_edits.py -q -s

roundtrip: build  ## Decompile and compile back the standard library of the interpreters at hand; CORPUS=world: foreign code
	@tools/roundtrip.sh

prove-packages: build  ## Prove the source of all modules of 240 packages, 4 minutes a version; VERSION=3.12
	@$(PYTHON_VENV) tools/roundtrip/whole.py $(if $(VERSION),--versions $(VERSION))

random-programs: build  ## Random functions on the interpreters at hand, their text proved against their bytecode; MODULES=50 SEED=1
	@$(PYTHON_VENV) tools/roundtrip/random_programs.py --modules $(or $(MODULES),50) --seed $(or $(SEED),1)

aligned: build  ## How many statements --align lines puts on their line; VERSION=3.12 SAMPLE=0 (all of its standard library)
	@"$$(PYTHONPATH=tests $(PYTHON_VENV) -c 'import interpreters, sys; print(interpreters.interpreter(tuple(map(int, sys.argv[1].split(".")))))' \
	  $(or $(VERSION),3.12))" tools/roundtrip/aligned.py --sample $(or $(SAMPLE),0) --show 5

new-opcodes: setup  ## An exercise: which files two invented opcodes take, as the compiler demands them
	@$(PYTHON_VENV) tools/new_opcodes.py

lines:  ## The share of C++ in the lines of src, include and python/depyf
	@cpp=$$(git ls-files 'src/*.cpp' 'src/*.h' 'include/*.h' | xargs cat | wc -l); \
	  python=$$(git ls-files 'python/*.py' | xargs cat | wc -l); \
	  echo "C++ $$cpp, Python $$python: $$((1000 * cpp / (cpp + python))) per mille C++"

clean:  ## Remove what was built; .venv stays
	rm -rf build dist python/depyf/_core*.so
