"""From trained real numbers to the integers of a model."""
