"""The twenty items of the battery, which are held out of the training text."""

from __future__ import annotations

CONNECTED = (
    "Tell me about the best trip you ever took.",
    "Describe a happy childhood memory.",
    "Tell me about your first job.",
    "What do you like about where you live?",
    "Describe the steps to make a simple meal.",
)
# question, options; the key comes first
CHOICE = (
    ("Which one is an animal with a mane?", "lion, drum, violin, giraffe, boot, boat"),
    (
        "Which object is typically used to make music?",
        "violin, giraffe, lion, door, boot, boat",
    ),
    (
        "Which item is usually worn on the feet?",
        "boot, boat, lion, drum, violin, giraffe",
    ),
    ("Which object is used for cutting?", "knife, kite, lion, drum, violin, giraffe"),
    (
        "Which one is a large mammal with a long neck?",
        "giraffe, horse, lion, drum, violin, boot",
    ),
)
YES_NO = (
    ("Are babies watched by babysitters?", "Yes"),
    ("Do you cut the grass with an axe?", "No"),
    ("If you're about to leave, have you left yet?", "No"),
    ("Are witnesses questioned by police?", "Yes"),
    ("If I was at the park when you arrived, did I get there first?", "Yes"),
)
REPETITION = (
    "house.",
    "breakfast.",
    "catastrophe.",
    "The sun rises in the East.",
    "The ambitious journalist discovered where we'd be going.",
)

TAB_TARGETS = REPETITION
TAB_OPTIONS = tuple(tuple(options.split(", ")) for _, options in CHOICE)
TAB_PROMPTS = (
    *CONNECTED,
    *(question for question, _ in CHOICE),
    *(question for question, _ in YES_NO),
    *(f"Please repeat exactly: {target}" for target in REPETITION),
)
