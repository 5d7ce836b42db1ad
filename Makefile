# A thin front of meson; the targets are listed in the README.
BUILD ?= build
all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
	@ln -sfn $(BUILD)/carol carol
$(BUILD)/build.ninja:
	@meson setup $(BUILD) >/dev/null
.PHONY: all
