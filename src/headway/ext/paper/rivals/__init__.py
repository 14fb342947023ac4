"""Small versions of the systems that the paper compares itself with or names, by the equations of their own papers.

Read ``rival.py`` first: it says what every translator has. Then each file is one system:

- ``recurrent.py``: an RNN encoder-decoder with additive attention (Bahdanau et al., 2015).
- ``convolutional.py``: ConvS2S, gated convolutions with attention in each layer (Gehring et al., 2017).
- ``bytenet.py``: ByteNet, dilated convolutions unfolded over an encoder (Kalchbrenner et al., 2017).
- ``neural_gpu.py``: the Extended Neural GPU, convolutions that update an image step by step (Kaiser & Bengio, 2016).
- ``self_attentive.py``: the structured self-attentive embedding, which classifies sentences (Lin et al., 2017).
- ``memory_network.py`` and ``stories.py``: end-to-end memory networks, which do not translate but answer
  questions about generated stories (Sukhbaatar et al., 2015).

``rival_training.py`` trains one of the translators, or the Transformer, with the package's own trainer, and translates.
``classifying.py`` trains the self-attentive classifier on the batches of a Transformer's.
"""
