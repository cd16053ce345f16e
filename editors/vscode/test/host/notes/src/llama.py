"""Llamas and their carrots."""


def ration_llamas(weights):
    """Return the number of carrots for each llama, by its weight in stones."""
    return [round(weight / 6.35) for weight in weights]
