"""Tags of languages (BCP 47): their syntax, the names of languages, and what is English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

_ISO_639: Final = """
aa aar Afar; ab abk Abkhazian; ae ave Avestan; af afr Afrikaans; ak aka Akan; am amh Amharic;
an arg Aragonese; ar ara Arabic; as asm Assamese; av ava Avaric; ay aym Aymara;
az aze Azerbaijani; ba bak Bashkir; be bel Belarusian; bg bul Bulgarian; bh bih Bihari;
bi bis Bislama; bm bam Bambara; bn ben Bengali; bo bod/tib Tibetan; br bre Breton;
bs bos Bosnian; ca cat Catalan; ce che Chechen; ch cha Chamorro; co cos Corsican; cr cre Cree;
cs ces/cze Czech; cu chu Church Slavic; cv chv Chuvash; cy cym/wel Welsh; da dan Danish;
de deu/ger German; dv div Divehi; dz dzo Dzongkha; ee ewe Ewe; el ell/gre Greek; en eng English;
eo epo Esperanto; es spa Spanish; et est Estonian; eu eus/baq Basque; fa fas/per Persian;
ff ful Fula; fi fin Finnish; fj fij Fijian; fo fao Faroese; fr fra/fre French;
fy fry Western Frisian; ga gle Irish; gd gla Scottish Gaelic; gl glg Galician; gn grn Guarani;
gu guj Gujarati; gv glv Manx; ha hau Hausa; he heb Hebrew; hi hin Hindi; ho hmo Hiri Motu;
hr hrv Croatian; ht hat Haitian Creole; hu hun Hungarian; hy hye/arm Armenian; hz her Herero;
ia ina Interlingua; id ind Indonesian; ie ile Interlingue; ig ibo Igbo; ii iii Sichuan Yi;
ik ipk Inupiaq; io ido Ido; is isl/ice Icelandic; it ita Italian; iu iku Inuktitut;
ja jpn Japanese; jv jav Javanese; ka kat/geo Georgian; kg kon Kongo; ki kik Kikuyu;
kj kua Kwanyama; kk kaz Kazakh; kl kal Greenlandic; km khm Khmer; kn kan Kannada; ko kor Korean;
kr kau Kanuri; ks kas Kashmiri; ku kur Kurdish; kv kom Komi; kw cor Cornish; ky kir Kyrgyz;
la lat Latin; lb ltz Luxembourgish; lg lug Ganda; li lim Limburgish; ln lin Lingala; lo lao Lao;
lt lit Lithuanian; lu lub Luba-Katanga; lv lav Latvian; mg mlg Malagasy; mh mah Marshallese;
mi mri/mao Māori; mk mkd/mac Macedonian; ml mal Malayalam; mn mon Mongolian; mr mar Marathi;
ms msa/may Malay; mt mlt Maltese; my mya/bur Burmese; na nau Nauru; nb nob Norwegian Bokmål;
nd nde North Ndebele; ne nep Nepali; ng ndo Ndonga; nl nld/dut Dutch; nn nno Norwegian Nynorsk;
no nor Norwegian; nr nbl South Ndebele; nv nav Navajo; ny nya Chichewa; oc oci Occitan;
oj oji Ojibwa; om orm Oromo; or ori Odia; os oss Ossetian; pa pan Punjabi; pi pli Pali;
pl pol Polish; ps pus Pashto; pt por Portuguese; qu que Quechua; rm roh Romansh; rn run Rundi;
ro ron/rum Romanian; ru rus Russian; rw kin Kinyarwanda; sa san Sanskrit; sc srd Sardinian;
sd snd Sindhi; se sme Northern Sami; sg sag Sango; si sin Sinhala; sk slk/slo Slovak;
sl slv Slovenian; sm smo Samoan; sn sna Shona; so som Somali; sq sqi/alb Albanian;
sr srp Serbian; ss ssw Swati; st sot Southern Sotho; su sun Sundanese; sv swe Swedish;
sw swa Swahili; ta tam Tamil; te tel Telugu; tg tgk Tajik; th tha Thai; ti tir Tigrinya;
tk tuk Turkmen; tl tgl Tagalog; tn tsn Tswana; to ton Tonga; tr tur Turkish; ts tso Tsonga;
tt tat Tatar; tw twi Twi; ty tah Tahitian; ug uig Uyghur; uk ukr Ukrainian; ur urd Urdu;
uz uzb Uzbek; ve ven Venda; vi vie Vietnamese; vo vol Volapük; wa wln Walloon; wo wol Wolof;
xh xho Xhosa; yi yid Yiddish; yo yor Yoruba; za zha Zhuang; zh zho/chi Chinese; zu zul Zulu
"""
"""ISO 639-1, ISO 639-2 (terminological/bibliographic) and the name of each language."""

_ISO_3166: Final = """
ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq
br bs bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm
do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs
gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn
kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq
mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm
pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv
sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi
vn vu wf ws xk ye yt za zm zw
"""
_REGIONS: Final = frozenset(_ISO_3166.split())

_OWN_NAMES: Final[Mapping[str, str]] = {
    "deutsch": "de", "schwyzerdutsch": "gsw", "espanol": "es", "castellano": "es",
    "castilian": "es", "francais": "fr", "italiano": "it", "nederlands": "nl", "flemish": "nl",
    "portugues": "pt", "polski": "pl", "cestina": "cs", "dansk": "da", "svenska": "sv",
    "norsk": "no", "suomi": "fi", "turkce": "tr", "magyar": "hu", "farsi": "fa", "romana": "ro",
    "mandarin": "zh", "cantonese": "yue", "hebraisch": "he", "swiss german": "gsw",
    "jp": "ja", "cn": "zh", "dk": "da", "cz": "cs", "gr": "el", "us": "en-US", "gb": "en-GB",
    "русский": "ru", "українська": "uk", "ελληνικα": "el", "日本語": "ja", "中文": "zh",
    "한국어": "ko", "العربية": "ar", "עברית": "he", "हिन्दी": "hi", "ไทย": "th",
}  # fmt: skip
"""What people write in place of a tag, besides the English names: own names, countries."""

_TAG: Final = re.compile(
    r"(?P<primary>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(?P<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)"
    r"(?P<extensions>(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*)(?:-x(?:-[a-z0-9]{1,8})+)?",
    re.ASCII,
)
"""RFC 5646, without extended subtags (``zh-yue`` is written ``yue``) and grandfathered tags."""


_Names = dict[str, str]


@cache
def _table() -> tuple[_Names, _Names, _Names]:
    """Return the name of each code, the code of each longer one, and that of each name."""
    names, longer = _Names(), _Names()
    for entry in " ".join(_ISO_639.split()).split("; "):
        code, others, name = entry.split(" ", 2)
        names[code] = name
        longer |= dict.fromkeys(others.split("/"), code)
    by_name = {_plain(name): code for code, name in names.items()}
    return names, longer, {**by_name, **_OWN_NAMES}


def _plain(name: str) -> str:
    """Return a name in small letters without accents."""
    spread = unicodedata.normalize("NFKD", name.strip().casefold())
    marks = "".join(one for one in spread if not "\u0300" <= one <= "\u036f")
    return unicodedata.normalize("NFC", marks)


@lru_cache(maxsize=256)
def primary_language(tag: str) -> str:
    """Return the language of a tag, without script, region and variants.

    What no tag is but names a language, as old batteries may have it, is that language.

    >>> primary_language("de-AT"), primary_language("EN_us"), primary_language("English")
    ('de', 'en', 'en')
    """
    first = re.split(r"[-_]", tag.strip().lower())[0]
    names, longer, by_name = _table()
    return first if first in names else longer.get(first) or by_name.get(_plain(tag), first)


def is_english(tag: str) -> bool:
    """Return whether a tag is of English; nothing said is not.

    >>> is_english("en-GB"), is_english("de"), is_english("enm"), is_english("")
    (True, False, False, False)
    """
    return primary_language(tag) == "en"


def reads_english(tag: str) -> bool:
    """Return whether rules for English may read a text: it is English, or its language not said."""
    return not tag or is_english(tag)


def not_available(tag: str) -> str:
    """Return the reason of whatever is undefined because it exists for English only.

    >>> not_available("de-AT")
    'not available in de'
    """
    return f"not available in {primary_language(tag) or 'an unnamed language'}"


NO_SPACES = "this script has no spaces between words"
"""The reason of what needs words where a script does not separate them."""
_UNSPACED: Final = frozenset({"zh", "yue", "wuu", "ja", "th", "lo", "km", "my", "bo", "dz"})


def is_unspaced_language(tag: str) -> bool:
    """Return whether a language is written without spaces between words."""
    return primary_language(tag) in _UNSPACED


def language_name(tag: str) -> str:
    """Return the English name of a tag's language, or the tag where it is not in the table.

    >>> language_name("de-CH"), language_name("gsw")
    ('German', 'gsw')
    """
    return _table()[0].get(primary_language(tag), tag)


def tag_problem(tag: str) -> tuple[str, str] | None:
    """Return what is wrong with a tag and the one that is meant, or empty.

    None where it is a BCP 47 tag of a known language, ``language[-Script][-REGION][-variant]``. A
    primary subtag of two letters is in ISO 639-1; one of three letters is not another name of one
    of two.

    >>> tag_problem("de-AT"), tag_problem("en-EN")
    (None, ('the same language is given twice', 'en'))
    """
    names, longer, _ = _table()
    lower = tag.lower()
    if match := _TAG.fullmatch(lower):
        primary, region = match["primary"], match["region"] or ""
        variants = [part for part in match["variants"].split("-") if part]
        if primary in longer:
            meant = _cased(longer[primary] + lower[len(primary) :])
            return "a language with a code of two letters is named by it", meant
        if len(primary) == 2 and primary not in names:
            return "there is no such language", _nearest(tag)
        if region not in _REGIONS and primary in (region, longer.get(region)):
            return "the same language is given twice", primary
        if region and not region.isdigit() and region not in _REGIONS:
            meant = f"{primary}-GB" if region in ("uk", "en") else primary
            return f"'{region.upper()}' is not a region", meant
        if len(set(variants)) < len(variants):
            return "a variant is given twice", primary
        return None
    if "_" in tag and _TAG.fullmatch(dashed := lower.replace("_", "-")):
        return "the parts of a tag are joined by hyphens", _cased(dashed)
    parts = [part for part in re.split(r"[\s,;/+&|_-]+", lower) if part]
    known = [_code(part) for part in parts]
    if len(parts) > 1 and known[0] and set(known) == {known[0]}:
        return "the same language is given twice", known[0]
    if len(parts) > 1 and all(known) and "-" not in tag:
        return "a battery has one language", known[0]
    if len(parts) == 2 and known[0] and re.fullmatch("[a-z]{3}", parts[1]):
        return "a language within a language is named by its own code", parts[1]
    return "this is not a BCP 47 tag", _nearest(tag)


def _code(word: str) -> str:
    names, longer, by_name = _table()
    return word if word in names else longer.get(word) or by_name.get(_plain(word), "")


def _cased(tag: str) -> str:
    first, *rest = tag.split("-")
    for part in rest:
        script = len(part) == 4 and part.isalpha()
        first += "-" + (part.title() if script else part.upper() if len(part) == 2 else part)
    return first


def _nearest(tag: str) -> str:
    """Return the tag of the language whose name is meant, or empty."""
    by_name, name = _table()[2], _plain(tag)
    if code := by_name.get(name) or _code(re.split(r"[\W_]+", name)[0]):
        return code
    from difflib import get_close_matches

    near = get_close_matches(name, by_name, n=1, cutoff=0.75)
    return by_name[near[0]] if near else ""
