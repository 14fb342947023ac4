"""Packages of Argos Translate, which LibreTranslate serves."""
