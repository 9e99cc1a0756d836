# experiments.mk -- the papers' tables: one target each, a page in docs/results.  Corpora are read from
# TRELLIS_DATA (default ../shared/data).  ARGS=--keep does not train again what is there.

EXPERIMENTS := mest nota piecewise factorial skip-chain log-z speed crfcfg ptcfg treemest parser-ablation self-training partial calibration scheme templates templates-cv shrink defaults translation-words translation boosting

$(EXPERIMENTS:%=experiment-%): experiment-%: all corpus
	@BUILD=$(BUILD) experiments/$*.sh $(ARGS)

experiment-log-z: $(BUILD)/bench/log_z

experiments: $(EXPERIMENTS:%=experiment-%)

.PHONY: experiments $(EXPERIMENTS:%=experiment-%)
