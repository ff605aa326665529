"""The closed lists of words that the rules use. They belong to the version of the rules."""

from __future__ import annotations

from tabwb.scoring.lexicon import FUNCTION_WORDS, POSSESSIVES
from tabwb.scoring.text import word_set

FILLERS = word_set("um uh er erm ah eh hm mm mhm")
"""Skipped wherever a rule tests adjacent words."""

EMPHATIC = word_set(
    "very really much ha haha no yes yeah yep nope okay ok well oh hey so too far long big never "
    "always blah bye knock wow yay hurray hooray la please ho hee tut"
)
"""Repeated for effect or by custom: their repetition alone is not a perseveration."""

REDUPLICATING = word_set("by after to upon for on")
"""*side by side by side*, *day after day after day*."""
COORDINATED = word_set(
    "again over on more round around up down out through less years days hours miles weeks months "
    "ages far deep in back forth many"
)
"""*again and again and again*; comparatives in -er too."""

LEFT_OPEN = word_set("the a an my your our their and but because")
"""No complete English utterance ends in one of these."""
OPEN_BEFORE_DOTS = word_set(
    "to of with from into or if when while which who whose its his am was were be will would can "
    "could should must very i he she we they so for at his no not as than like"
)
"""Before three dots these show that an utterance broke off."""
OPENING_AFTER_CONJUNCTION = word_set(
    "How What When Where Who Why Which Do Does Did Is Are Was Were Can Could Will Would Should "
    "He She It We They You This That There The"
)
OPENING_AFTER_DETERMINER = OPENING_AFTER_CONJUNCTION | {"I"}
"""*and I* is ordinary English, *the I* is not."""
LEFT_OPEN_CONJUNCTIONS = word_set("and but because")

SUSPENDED = word_set("and or to")
"""*two- to three-year*: a hyphen that waits for its second half."""
SHORT_WORDS = word_set(
    "a i o ok tv mr mrs ms dr pm am vs etc pc cd dvd uk eu nyc la de le el du uh um er oh ah hm mm "
    "eh aw yo lol mom mum ex ad app gps ceo lot ya em ie eg"
)
"""Real short words beside those of the common list."""

BARE_CONTRACTIONS = word_set(
    "dont didnt doesnt isnt wasnt arent werent havent hasnt hadnt couldnt wouldnt shouldnt youre "
    "theyre weve theyve youve thats whats heres theres youll theyll theyd itll"
)
"""Contractions without their apostrophe; they are not neologisms."""

LOAN_WORDS = word_set(
    "cortado macchiato gyoza sashimi udon matcha boba gelato bruschetta empanada shawarma masala "
    "biryani pierogi vlog covid airbnb chatbot pinata farfalle mascarpone"
)
"""Words of current English that neither list has; their plurals count too."""

ENDINGS = (
    *("s", "es", "ed", "d", "ing", "er", "ers", "r", "rs", "est", "ly", "ness", "less", "ful"),
    *("able", "y", "ish", "like", "ment", "ments", "ism", "ist", "ists", "ity", "al", "ally"),
    *("ization", "isation", "ize", "ise", "ized", "ised", "wise", "ward", "wards", "proof"),
    *("hood", "ship", "ships", "free", "worthy", "ier", "iest", "ily", "iness", "ies", "ied"),
)
BEGINNINGS = (
    *("un", "re", "non", "over", "under", "pre", "mis", "out", "anti", "co", "dis", "sub", "super"),
    *("inter", "multi", "semi", "mini", "micro", "mega", "self", "counter", "fore", "up", "down"),
    *("de", "bio", "eco", "tele", "auto", "ultra", "post", "pro", "ex", "mid", "cross", "grand"),
)
"""With these a common word makes another word."""

UNSPECIFIC = word_set("thing things stuff something somewhere someone whatever anything everything")
PROFORMS = word_set(
    "it they them he she him her we us this that these those there here one ones some any all do "
    "does did done doing went going go got get thing things stuff"
)
"""Words that refer to something said before, and verbs with little meaning."""
EXPLETIVES = word_set(
    "dammit damn damned goddamn goddamnit god gosh jesus christ hell shit fuck fucking crap bloody "
    "bugger darn shoot heck bullshit bastard"
)
STEREOTYPED = EXPLETIVES | word_set("yes yeah no okay ok well")
STEREOTYPED_PAIR = ("you", "know")

RESUMED = word_set("a an the my your his her our their its")
"""May be repeated between an attempt at a noun and the next one."""
EDITING_TERMS = (("i", "mean"), ("or", "rather"), ("no",), ("sorry",))
"""Said between an attempt and the next one, as fillers are."""

PERSONS = word_set(
    "boy girl man woman child kid dog cat baby lady guy horse bird teacher doctor student"
)
"""Nouns that need an article where they begin a sentence in the singular."""
RELATIVES = word_set(
    "mother father sister brother mom mum dad mommy daddy grandma grandpa aunt uncle"
)
"""Nouns that need no article."""
OBJECT_SUBJECTS = word_set("me him them")
"""Pronouns that begin no sentence before a content word: *me job*, *him want*."""
SUBJECT_PRONOUNS = word_set("i he she it we they you")
CLAUSE_OPENERS = word_set("so then because but when")
UTTERANCE_OPENERS = CLAUSE_OPENERS | word_set("and well yes no okay ok now")
NOT_PARTICIPLES = word_set(
    "during something nothing everything anything morning evening string king thing bring sing "
    "ring wing spring swing sting cling fling sling wring ping ding wedding being having"
)
"""Words in -ing that are not verbs after a pronoun, or need no *be* there."""

MOTION = word_set(
    "go goes going went gone come comes coming came walk walks walking walked drive drives driving "
    "drove"
)
PLACES_WITH_ARTICLE = word_set(
    "store bank beach library restaurant supermarket airport station mall museum zoo kitchen "
    "office bakery pharmacy cinema theater theatre"
)
"""These need an article after a verb of motion."""
FOLLOWS_PLACE = (FUNCTION_WORDS - word_set(POSSESSIVES)) - word_set(
    "the a an some any every each all many much more most few several such it them us him me these "
    "those"
)
"""What may follow such a place, so that *go to store it* and *bank on them* do not count."""

BARE_VERBS = word_set(
    "go want like come say see eat make take get live walk play run work give tell look know "
    "think buy drink sleep sit stand talk help love cry fall sing swim ride drive cook wash open "
    "close bring wear write call ask keep"
)
"""Verbs whose third person needs -s and whose past has another form."""
BARE_VERBS_AFTER_NOUN = word_set(
    "go want come see eat take get tell know think buy sit bring wear write ask keep climb give "
    "make say fall need reach steal sing swim"
)
"""The verbs of BARE_VERBS that cannot be nouns after a noun."""
MODALS_AND_DO = word_set(
    "can could will would shall should may might must do does did to let lets let's make makes "
    "made making help helps helped helping see sees saw seen seeing watch watches watched watching "
    "hear hears heard hearing have has had having feel felt didn't don't doesn't can't couldn't "
    "won't wouldn't shouldn't cannot i'd you'd he'd she'd we'd they'd he'll she'll it'll rather if "
    "whether what where when why who how which that suggest suggests suggested insist insisted "
    "insists demand demanded recommend recommended require required ask asked asks and or nor than"
)
"""Any of these within the window before *she go* may govern a bare verb."""
COUNTS = "two three four five six seven eight nine ten eleven twelve many several"
COUNTED_NOUNS = (
    "dog cat boy girl car house book apple egg carrot banana tree bird friend brother sister "
    "kid cousin horse cow kite cookie flower shoe chair table potato tomato onion toy student "
    "teacher"
)
"""Nouns that a number above one puts into the plural; measures (*five mile*) are left out."""

SUFFIXES = ("s", "es", "ed", "d", "ing", "ly", "er", "est")
"""Inflections (and -ly) whose loss in repetition is an omitted bound morpheme."""
