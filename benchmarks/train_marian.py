"""Train with Hugging Face's ``MarianMTModel``, in fp32, in a plain loop.

Marian's ``<pad>`` is the last id and starts the decoder, so the ids need no change. Dropout is applied
where ``torch.nn.Transformer`` applies it; with ``paper_dropout`` neither to attention weights nor inside
the feed-forward.
"""

import torch
from torch import Tensor, nn
from train_torch import pad_rows
from transformers import MarianConfig, MarianMTModel
from worker import EOS, Facts, Ids, TrainingTask, Work, serve, training_work


def start(task: TrainingTask) -> tuple[Work, Facts]:
    """Build the model and its optimizer."""
    torch.set_num_threads(task["threads"])
    torch.manual_seed(1)
    shape, pad = task["shape"], task["vocab_size"] - 1
    inner = 0.0 if task.get("paper_dropout") else task["dropout"]
    config = MarianConfig(
        vocab_size=task["vocab_size"],
        d_model=shape["d_model"],
        encoder_layers=shape["layers"],
        decoder_layers=shape["layers"],
        encoder_ffn_dim=shape["d_ff"],
        decoder_ffn_dim=shape["d_ff"],
        encoder_attention_heads=shape["heads"],
        decoder_attention_heads=shape["heads"],
        activation_function="relu",
        dropout=task["dropout"],
        activation_dropout=inner,
        attention_dropout=inner,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        max_position_embeddings=512,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=EOS,
        bos_token_id=0,
        forced_eos_token_id=None,
    )
    model = MarianMTModel(config).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def ready(source: list[Ids], target: list[Ids]) -> tuple[Tensor, Tensor, Tensor]:
        labels = pad_rows(target, pad)
        return pad_rows(source, pad), nn.functional.pad(labels[:, :-1], (1, 0), value=pad), labels

    def step(batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        source, shifted, labels = batch
        optimizer.zero_grad()
        logits = model(
            input_ids=source,
            attention_mask=(source != pad).long(),
            decoder_input_ids=shifted,
            use_cache=False,
        ).logits
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1),
            labels.flatten(),
            ignore_index=pad,
            label_smoothing=task["smoothing"],
        )
        loss.backward()
        optimizer.step()
        return loss.detach()

    parameters = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return training_work(task, ready, step), {"parameters": parameters, "torch": torch.__version__}


if __name__ == "__main__":
    serve(start)
