"""The systems that the paper names beside its own, each small and exact to its own paper.

Read ``rival.py`` first: it says what every rival has. Then each file is one system:

- ``recurrent.py``: an RNN encoder-decoder with additive attention (Bahdanau et al., 2015).
- ``convolutional.py``: ConvS2S, gated convolutions with attention in each layer (Gehring et al., 2017).
- ``bytenet.py``: ByteNet, dilated convolutions unfolded over an encoder (Kalchbrenner et al., 2017).

``training.py`` trains one of them, or the Transformer, with the package's own trainer, and translates.
"""
