"""Names of the facts that are stored with an administration under a lesion."""

from __future__ import annotations

from typing import Final

PARAMETERS: Final = "lesion_parameters"
"""How many parameters the lesion takes."""
DRAWS: Final = "lesion_draws"
"""The version of the random draws."""
UNITS: Final = "lesion_units"
"""The units taken by list or localizer."""
UNITS_HASH: Final = "lesion_units_sha256"
"""The hash of these units."""
LANES: Final = "lesion_lanes"
"""How many conditions of a sweep shared the batch."""
PARENT_PARTS: Final = "parent_parts"
"""Whether a checkpoint has the parts of the model of its sweep: :data:`SAME` or :data:`OTHER`."""
SAME, OTHER = "the same", "others"
PERPLEXITY: Final = "lesion_perplexity"
"""The perplexity of a fixed text under the lesion."""
PERPLEXITY_REASON: Final = "lesion_perplexity_reason"
"""Why there is none."""
CHECK_TEXT: Final = "lesion_check_text"
"""The id of the fixed text."""
