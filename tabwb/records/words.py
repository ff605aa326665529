"""The sentences that tabwb shows in public, in one place so that they are the same everywhere."""

RESEARCH_ONLY = (
    "tabwb is an instrument for research. It is not a medical device. It does not diagnose aphasia "
    "or any other condition, does not measure its severity, and must not be used to decide about a "
    "person's care."
)
"""Shown on the README's first screen, at the first opening, on every report and export."""

MODEL_CAUTION = (
    "These figures describe text. A lesion here is a change of numbers in a model and says nothing "
    "about where damage in a brain would act."
)
"""Shown beside every result of a model."""

RULES_CAUTION = "a text rule; not compared with expert raters"
"""Shown with every verdict of a rule-based judge."""
