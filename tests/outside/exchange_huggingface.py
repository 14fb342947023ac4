"""Compare an export in transformers or Optimum, in an environment without Headway, with Headway.

    .venv/bin/python tests/outside/exchange_huggingface.py ask MODEL LINES ANSWERS.json
    .venv/bin/headway export MODEL --to huggingface OUT
    THEIR_PYTHON tests/outside/exchange_huggingface.py compare OUT ANSWERS.json
    optimum-cli export onnx --task text2text-generation-with-past --model OUT ONNX
    THEIR_PYTHON tests/outside/exchange_huggingface.py compare ONNX ANSWERS.json onnx

`ask` translates the lines greedily with Headway and keeps texts, ids and log-probabilities. `compare` runs
in an environment that has `transformers` (tried: 4.57.6 and 5.23.0) or, with `onnx`, `optimum-onnx` (tried:
0.1.0 with transformers 4.57.6), from raw text to raw text, and ends with 1 if a text differs or a
log-probability does by more than 1e-4 (2e-4 for ONNX).
"""

import json
import sys
from pathlib import Path

import torch

COUNT = 500
BATCH = 25


def ask(model, lines, answers):
    """Translate with Headway."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from headway.config import SearchConfig
    from headway.translation import Translator
    from headway.translation.batching import pad_right
    from support.pieces import cut, find

    translator = Translator.load(model, "cpu")
    texts = [line for line in Path(lines).read_text("utf-8").split("\n") if line.strip()][:COUNT]
    search = SearchConfig(beam=1, precision="fp32")
    found = []
    for text in texts:
        [[best]] = find(translator, cut(translator, text), search)
        [source] = translator.tokenizer.encode_source([text.strip()])
        ids, real = pad_right([source], 0)
        target = torch.tensor([best.tokens])
        with torch.inference_mode():
            log_p = translator.model(ids, target, real)[0].log_softmax(-1)
        said = log_p.gather(1, target[0][:, None])[:, 0].tolist()
        shown = translator.tokenizer.decode(best.tokens)
        limit = translator.token_search.max_target_length(source, search)
        found.append(
            {
                "text": text,
                "translation": shown,
                "limit": limit,
                "target": best.tokens,
                "log_p": said,
            }
        )
    Path(answers).write_text(json.dumps(found), encoding="utf-8")


def compare(out, answers, kind="torch"):
    """Translate with the other program, and compare."""
    import transformers

    known = json.loads(Path(answers).read_text("utf-8"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    if kind == "onnx":
        from optimum.onnxruntime import ORTModelForSeq2SeqLM

        model = ORTModelForSeq2SeqLM.from_pretrained(out)
    else:
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(out).eval()
    same, largest = 0, 0.0
    for at in range(0, len(known), BATCH):
        part = known[at : at + BATCH]
        texts = [case["text"].strip() for case in part]
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        longest = batch.input_ids.shape[1] + 50
        answer = model.generate(**batch, num_beams=1, max_new_tokens=longest)
        # Headway limits each line by itself; generate has one limit for all.
        ended = [row[1 : case["limit"]] for case, row in zip(part, answer.tolist(), strict=True)]
        shown = tokenizer.batch_decode(ended, skip_special_tokens=True)
        same += sum(case["translation"] == text for case, text in zip(part, shown, strict=True))
        width = max(len(case["target"]) for case in part)
        pad = model.config.pad_token_id
        target = torch.tensor([c["target"] + [pad] * (width - len(c["target"])) for c in part])
        before = torch.nn.functional.pad(target[:, :-1], (1, 0), value=pad)
        with torch.no_grad():
            log_p = model(**batch, decoder_input_ids=before).logits.log_softmax(-1)
        log_p = log_p.gather(2, target[..., None])[..., 0]
        for case, row in zip(part, log_p.tolist(), strict=True):
            pairs = zip(case["log_p"], row, strict=False)
            largest = max(largest, *(abs(a - b) for a, b in pairs))
    print(f"transformers {transformers.__version__} {kind}: {same} of {len(known)} texts the same,")
    print(f"largest difference of a log-probability {largest:.1e}")
    return int(same < len(known) or largest > (2e-4 if kind == "onnx" else 1e-4))


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1] == "ask":
        ask(*sys.argv[2:])
    else:
        sys.exit(compare(*sys.argv[2:]))
