# corpus.mk -- the sample corpus for training, development and test: trees (.mrg), and for taggers
# word, part of speech (pos), base chunk (chunk), named entity (ner).  See corpus/README.md.

CORPUS_SRC := corpus/sample.mrg corpus/sample.entities corpus/documents.txt
CORPUS     := $(foreach task,pos chunk ner,$(foreach split,train dev test,\
                $(BUILD)/corpus/$(split).$(task).txt))
CORPUS_RUN  = @mkdir -p $(@D) && $(BUILD)/trellis columns -d corpus/documents.txt -s $*

CORPUS_MRG := $(foreach split,train dev test,$(BUILD)/corpus/$(split).mrg)

corpus: $(CORPUS) $(CORPUS_MRG)

$(CORPUS) $(CORPUS_MRG): $(CORPUS_SRC) $(BUILD)/trellis

$(BUILD)/corpus/%.pos.txt:
	$(CORPUS_RUN) --no-chunks -o $@ corpus/sample.mrg

$(BUILD)/corpus/%.chunk.txt:
	$(CORPUS_RUN) -o $@ corpus/sample.mrg

$(BUILD)/corpus/%.ner.txt:
	$(CORPUS_RUN) -e corpus/sample.entities -o $@ corpus/sample.mrg

# The documents of a split, as ranges of trees.
$(BUILD)/corpus/%.mrg:
	@mkdir -p $(@D) && $(BUILD)/trellis trees -o $@ corpus/sample.mrg \
	  -r $$(awk '$$4 == "$*" { printf "%s%s-%s", n++ ? "," : "", $$2, $$3 }' corpus/documents.txt)

.PHONY: corpus
