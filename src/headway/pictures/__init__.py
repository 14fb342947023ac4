"""Attention maps and their pictures, on paper and on a page; the model's forward stays as it is."""

from headway.pictures.maps import AttentionMap, AttentionMaps, attention_maps, sentence_maps

__all__ = ["AttentionMap", "AttentionMaps", "attention_maps", "sentence_maps"]
