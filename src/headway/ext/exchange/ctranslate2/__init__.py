"""Model directories of CTranslate2."""
