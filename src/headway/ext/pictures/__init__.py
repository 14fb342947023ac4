"""Attention maps of a model, and pictures of them in files and on a page."""

from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.sentences import attention_maps, sentence_maps

__all__ = ["AttentionMap", "AttentionMaps", "attention_maps", "sentence_maps"]
