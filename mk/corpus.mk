# corpus.mk -- tagging data from the sample corpus: word, part of speech (pos), base chunk
# (chunk), named entity (ner), for training, development and test.  See corpus/README.md.

CORPUS_SRC := corpus/sample.mrg corpus/sample.entities corpus/documents.txt
CORPUS     := $(foreach task,pos chunk ner,$(foreach split,train dev test,\
                $(BUILD)/corpus/$(split).$(task).txt))
CORPUS_RUN  = @mkdir -p $(@D) && $(BUILD)/trellis columns -d corpus/documents.txt -s $*

corpus: $(CORPUS)

$(CORPUS): $(CORPUS_SRC) $(BUILD)/trellis

$(BUILD)/corpus/%.pos.txt:
	$(CORPUS_RUN) --no-chunks -o $@ corpus/sample.mrg

$(BUILD)/corpus/%.chunk.txt:
	$(CORPUS_RUN) -o $@ corpus/sample.mrg

$(BUILD)/corpus/%.ner.txt:
	$(CORPUS_RUN) -e corpus/sample.entities -o $@ corpus/sample.mrg

.PHONY: corpus
