"""The studies of ALTA: what Transformers learn of parity and SCAN, and which programs a training set determines."""
