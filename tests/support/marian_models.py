"""Marian directories of random weights in the layout of the OPUS-MT models, written by transformers."""

import io
import json

import torch

from support.cases import read_rows
from support.toy_models import sentences, translate_words

LANGUAGES = (">>deu<<", ">>nld<<")
# Settings in which Marian models differ.
KINDS = read_rows(__file__, "KINDS")


def cutter(lines, kind, size):
    """Learn a sentencepiece model like those of OPUS-MT: normalized, without bytes."""
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type=kind,
        vocab_size=size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=3,
    )
    return SentencePieceProcessor(model_proto=model.getvalue())


def entries(*cutters):
    """Number the pieces as OPUS-MT does; the last piece of each model is left out."""
    names = ["</s>", "<unk>"]
    for cut in cutters:
        pieces = [cut.id_to_piece(i) for i in range(cut.vocab_size())]
        names += [p for p in pieces[:-1] if p not in names and p not in ("<s>", "<unk>")]
    names += [*LANGUAGES, "<pad>"]
    return {name: number for number, name in enumerate(names)}


def write_marian(directory, kind, seed=11):
    """Write a directory that `AutoModelForSeq2SeqLM` and `AutoTokenizer` load."""
    from transformers import MarianConfig, MarianMTModel

    settings = dict(KINDS[kind])
    bias, learned = settings.pop("bias", False), settings.pop("positions", False)
    subwords, separate = settings.pop("subwords", "unigram"), settings.pop("separate", False)
    source = sentences(400, 1)
    cutters = (
        cutter(source, subwords, 71),
        cutter([translate_words(line) for line in source], subwords, 83),
    )
    words = [entries(*cutters)] if not separate else [entries(cut) for cut in cutters]
    size = max(map(len, words))
    for numbers in words:  # transformers has one id of <pad> for both sides
        pad = numbers.pop("<pad>")
        numbers |= {f"<none{number}>": number for number in range(pad, size - 1)}
        numbers["<pad>"] = size - 1
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=size,
        decoder_vocab_size=size,
        d_model=24,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=3,
        decoder_attention_heads=3,
        encoder_ffn_dim=37,
        decoder_ffn_dim=37,
        max_position_embeddings=67,
        pad_token_id=size - 1,
        decoder_start_token_id=size - 1,
        eos_token_id=0,
        forced_eos_token_id=0,
        **{"activation_function": "relu", **settings},
    )
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "layer_norm" in name:
                value.add_(0.3 * torch.randn_like(value))
            elif "embed_positions" not in name:
                value.normal_(std=0.4)
        tables = model.get_input_embeddings().weight, model.get_output_embeddings().weight
        for table in (*tables, model.model.decoder.embed_tokens.weight):
            table[-1] = 0
        if bias:
            model.final_logits_bias.normal_()
        if learned:
            for side in (model.model.encoder, model.model.decoder):
                side.embed_positions.weight.normal_()
    model.generation_config.bad_words_ids = [[size - 1]]
    model.save_pretrained(directory)
    if learned:  # which transformers does not save
        keep_positions(directory, model)
    (directory / "source.spm").write_bytes(cutters[0].serialized_model_proto())
    (directory / "target.spm").write_bytes(cutters[1].serialized_model_proto())
    for name, numbers in zip(("vocab.json", "target_vocab.json"), words, strict=False):
        (directory / name).write_text(json.dumps(numbers), encoding="utf-8")
    about = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": "en",
        "target_lang": "de",
        "separate_vocabs": separate,
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return directory


def keep_positions(directory, model):
    """Add the position tables to a directory's weights."""
    from safetensors.torch import load_file, save_file

    file = directory / "model.safetensors"
    weights = load_file(file)
    for side in ("encoder", "decoder"):
        name = f"model.{side}.embed_positions.weight"
        weights[name] = model.state_dict()[name].clone()
    save_file(weights, file, metadata={"format": "pt"})


def to_old(directory):
    """Store the weights as older directories do: as a pickle, with every copy of a tied matrix."""
    from transformers import MarianMTModel

    model = MarianMTModel.from_pretrained(directory)
    torch.save(model.state_dict(), directory / "pytorch_model.bin")
    (directory / "model.safetensors").unlink()
