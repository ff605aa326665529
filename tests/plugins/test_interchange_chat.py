"""CHAT transcripts: what was said, what was dropped, and what the codes say of the features."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rustling.chat import CHAT
from tabwb_interchange.chat import Chat
from tabwb_interchange.chat_file import FEATURES, RULES, MainTierError, read_chat, said

from tabwb.battery.loader import load_battery
from tabwb.plugin_api import AnswerFile, AnswerProblems, TabwbError
from tabwb.records.errors import UsageError
from tabwb.testing import check_importer
from tests.builders import TAB

HEAD = """@UTF8
@Begin
@Languages:\teng
@Participants:\tPAR adler01 Participant, INV Margie Investigator
@ID:\teng|Adler|PAR|71;02.|male|Anomic||Participant||86.8|
@ID:\teng|Adler|INV|||||Investigator|||
@Date:\t15-MAR-2006
"""


def chat(folder: Path, body: str, head: str = HEAD, name: str = "adler01a.cha") -> Path:
    path = folder / name
    path.write_text(f"{head}{body}\n@End\n", encoding="utf-8")
    return path


def read(path: Path, **options: str) -> AnswerFile:
    return Chat().read(path, options)


@pytest.mark.parametrize(
    ("tier", "reads"),
    [
        ("dog [: cat] [* s:r] .", "dog."),
        ("<the dog> [//] the cat ran .", "the dog the cat ran."),
        ("<<I> [/] I want> [//] I need it .", "I I want I need it."),
        ("&-um he &+fr fell &~gaga &uh &sh .", "um he fr- fell gaga uh sh-."),
        ("I [x 3] want <a cat> [x 2] !", "I I I want a cat a cat!"),
        ("he (be)cause goin(g) (and) home ?", "he cause goin home?"),
        ("she (.) went (..) home (1.5) now (2:03.5) .", "she went home now."),
        ("I want the +...", "I want the..."),
        ("what is +..?", "what is...?"),
        ("I was +//.", "I was –"),
        ("but he +/.", "but he –"),
        ('he said +"/.', "he said:"),
        ('+" come here .', "come here."),
        ("+< yes +^ no .", "yes no."),
        ("“hello there” he said „ right ?", "“hello there” he said, right?"),
        ("Mary ‡ look , there .", "Mary, look, there."),
        ("0 [=! points] .", ""),
        ("0is he 0the man ?", "he man?"),
        ("xxx and yyy www .", "xxx and yyy."),
        ("slɪpɚ@u [: slipper] umfa@n b@l uhhuh@i hola@s:spa if@q-s .",
         "slɪpɚ umfa b uhhuh hola ifs."),
        ("New_York ice+cream le~ha no:: ye:s wo^rd ˈstress .",
         "New York ice-cream leha no yes word stress."),
        ("°soft° ∆fast talk∆ ↑up→ ⌈2 both ⌉2 Yeah⌋⌈2 ↫b-b-b↫boy →",
         "soft fast talk up both Yeah b-b-b-boy"),
        ("that [= the [red] ball] one [% points] [=! sings] is [!!] it [?] [^ c] <so> [>1] .",
         "that one is it so."),
        ("&=laughs hm &*INV:mhm ok &{l=sings la &}l=sings .", "hm ok la."),
        ("[- spa] ciao . \x15100_2000\x15 [+ exc]", "ciao."),
        ("one \x15%snd:\"a\"_0_1\x15 two \x15300_40 three .", "one two three."),
        ("dog, cat; no. yes", "dog, cat; no. yes"),
    ],
)  # fmt: skip
def test_the_main_tier_reads_as_it_was_said(tier: str, reads: str) -> None:
    assert said(tier).text == reads


def test_pauses_are_kept_where_that_is_asked() -> None:
    assert said("(.) she (..) went .", pauses=True).text == "... she... went."
    assert said("she (.) went .").dropped == {"pauses": 1}


def test_words_in_parentheses_are_uncertain_in_conversation_analysis() -> None:
    assert said("(ja) hel(lo) .", ca=True).text == "ja hel."


@pytest.mark.parametrize(
    ("tier", "message"),
    [
        ("a [: b", "'[' without a matching ']'"),
        ("a b] c", "']' without a matching"),
        ("<a b [//] c", "'<' without a matching"),
        ("a> b", "'>' without a matching"),
        ("<<<<a> [x 99]> [x 99]> [x 99]> [x 99]", "makes more than 100,000 words"),
    ],
)
def test_a_main_tier_that_cannot_be_read(tier: str, message: str) -> None:
    with pytest.raises(MainTierError, match=re.escape(message)):
        said(tier)


WORDS = st.sampled_from(["I", "the", "dog", "cat", "want", "it's", "going", "and", "umbrella"])
UNITS = st.one_of(
    WORDS,
    WORDS.map(lambda word: f"{word} [: target] [* s:r]"),
    WORDS.map(lambda word: f"{word} [/] {word}"),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda words: f"<{' '.join(words)}> [//]"),
    st.lists(WORDS, min_size=2, max_size=3).map(lambda words: f"<<{' '.join(words)}> [/] I> [//]"),
    WORDS.map(lambda word: f"<{word} it> [x 2]"),
    WORDS.map(lambda word: f"{word} [= a remark] [!]"),
    st.sampled_from(
        [
            *("&-um", "&-uh", "&+fr", "xxx", "(be)cause", "goin(g)", "sɪgɪ@u", "umfa@n", "b@l"),
            *("(.)", "(..)", "(1.5)", "&~gaga"),
        ]
    ),
)
ENDS = st.sampled_from(
    [".", "?", "!", "+...", "+//.", "+/.", "+..?", ". [+ gram]", ". [+ es] [+ jar]"]
)


@settings(max_examples=50, deadline=None)
@given(st.lists(UNITS, min_size=1, max_size=8), ENDS)
def test_rustling_hears_the_same_words(units: list[str], end: str) -> None:
    tier = f"{' '.join(units)} {end}"
    text = f"{HEAD}*PAR:\t{tier}\n@End\n"
    (utterance,) = CHAT.from_strs([text], parallel=False).utterances()
    theirs = re.findall(r"[\w']+", utterance.audible or "")
    assert re.findall(r"[\w']+", said(tier).text) == theirs


@given(st.text(st.sampled_from('ab.?!,+[]<>()0&@*:/=x3_-"“⌈→^#$~ \x15•'), max_size=60))
def test_any_tier_is_read_or_refused(tier: str) -> None:
    try:
        text = said(tier, pauses=True).text
    except MainTierError:
        return
    assert not set(text) & set("[]<>\x15⌈→")


LINES = st.text(st.sampled_from("@*%:\t |PARGID.[]<x3\r"), max_size=12)


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_any_file_is_read_with_its_problems(text: str) -> None:
    file = read_chat(text, "x.cha")
    lines = text.replace("\r", "\n").count("\n") + 1
    assert all(1 <= problem.line <= lines for problem in file.problems)
    assert all(tier.code.strip() for tier in file.tiers)


def test_each_gem_is_a_text_of_the_participant(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        "*INV:\thello [ there .\n"
        "*PAR:\thi .\n"
        "@G:\tImportant_Event\n"
        "*PAR:\twell I went\n\tto the sea .\n"
        "%mor:\tco|well\n\tpro|I\n"
        "*INV:\tmhm .\n"
        "@G:\tCat\n"
        "*PAR:\t0 .",
    )
    found = read(path)
    event, cat = found.answers
    assert (event.prompt, event.text) == ("Important Event", "well I went to the sea.")
    assert (cat.prompt, cat.text) == ("Cat", "")
    assert (event.run.participant, event.run.session_date) == ("adler01", "2006-03-15")
    assert event.run.tags == ("Anomic",)
    assert event.metadata == {
        "chat.file": "adler01a.cha", "chat.participant": "PAR", "chat.group": "Anomic",
        "chat.age": "71;02.", "chat.sex": "male", "chat.custom": "86.8",
        "source.id": "adler01a/Important Event",
    }  # fmt: skip
    assert found.left_out == {
        "utterance of other speakers": 1,
        "dependent tier (%mor, %com, ...)": 1,
        "utterance outside of gems": 1,
        "utterance without a word": 1,
        "action without speech (0)": 1,
    }
    assert (found.language, found.spoken, found.texts) == ("en", True, True)
    (whole,) = read(path, unit="file").answers
    assert (whole.prompt, whole.text) == ("", "hi.\nwell I went to the sea.")


def test_what_the_headers_say_of_the_participant_fills_the_record(tmp_path: Path) -> None:
    path = chat(tmp_path, "*PAR:\thello .")
    known = {
        "language": "eng", "corpus": "Adler", "sex": "male", "group": "Anomic",
        "role": "Participant", "age_years": "71.17", "AQ": "86.8",
    }  # fmt: skip
    assert dict(read(path).people) == {"adler01": known}
    group = known.pop("group")
    (mapped,) = read(path, aphasia_type="group").people
    assert mapped == ("adler01", {**known, "aphasia_type": group})
    with pytest.raises(UsageError, match=r"allowed: .*custom"):
        read(path, AQ="quotient")


def test_text_between_gems_is_left_out(tmp_path: Path) -> None:
    body = "@BG:\tFlood\n*PAR:\tit rained .\n@EG:\tFlood\n*PAR:\tdone .\n@BG:\tFlood\n*PAR:\tmore ."
    (flood,) = read(chat(tmp_path, body)).answers
    assert flood.text == "it rained.\nmore."


def test_a_name_without_a_digit_is_never_the_participant_code(tmp_path: Path) -> None:
    head = HEAD.replace("adler01", "Margaret")
    path = chat(tmp_path, "*PAR:\thi .", head, "my file.cha")
    (answer,) = read(path).answers
    assert answer.run.participant == "my-file"


def test_a_file_that_lacks_headers_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bare.cha"
    path.write_bytes(b"\xef\xbb\xbf*SUB: hello there .\r\n\thow are you ?\r\n")
    (answer,) = read(path).answers
    assert answer.text == "hello there. how are you?"
    assert "The transcript lacks @UTF8, @Begin, @Participants, @End." in answer.run.notes
    assert read(path).left_out == {"missing tab after a speaker's code": 1}


def test_every_line_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = chat(tmp_path, "*PAR:\tone [ two .\n*PAR three\nnoise\n*PAR:\t<a .\n*PAR:\tfine .")
    with pytest.raises(AnswerProblems) as caught:
        read(path)
    assert [problem.line for problem in caught.value.problems] == [8, 9, 10, 11]


def test_the_examined_speaker_is_found_by_role(tmp_path: Path) -> None:
    head = HEAD.replace("PAR adler01 Participant", "CHI k01 Target_Child, SIS Sibling, MOT Mother")
    path = chat(tmp_path, "*SIS:\tno .\n*CHI:\tyes .\n*MOT:\tgood .", head)
    (answer,) = read(path).answers
    assert (answer.text, answer.run.participant) == ("yes.", "k01")


def test_several_speakers_are_a_choice_of_the_user(tmp_path: Path) -> None:
    head = HEAD.replace("PAR adler01 Participant", "ANN Adult, BOB Adult")
    path = chat(tmp_path, "*ANN:\tone .\n*BOB:\ttwo .\n*BOB:\tthree .", head)
    with pytest.raises(AnswerProblems, match=re.escape("BOB (Adult, 2 utterances)")):
        read(path)
    (answer,) = read(path, participant="ANN").answers
    assert answer.text == "one."
    with pytest.raises(AnswerProblems, match="no utterances are by 'PAR'"):
        read(path, participant="PAR")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no utterances"),
        (b"@UTF8\n@Begin\n@End\n", "no utterances"),
        (b"*PAR:\tcaf\xe9 .", "is not UTF-8"),
        (b"*PAR:\ta\0b .", "NUL"),
        (b"\x7fELF\x02\x01\x01", "this line has no valid beginning"),
        (b"[" * 10_000, "this line has no valid beginning"),
    ],
)
def test_hostile_files_have_one_message(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.cha"
    path.write_bytes(content)
    with pytest.raises(TabwbError, match=message):
        read(path)


@pytest.mark.parametrize("tier", ["[" * 50_000, "<" * 50_000, "a." * 50_000, "(" * 50_000, "." * 9])
def test_long_lines_take_no_time(tier: str) -> None:
    began = process_time()
    with suppress(MainTierError):
        said(tier)
    assert process_time() - began < 10  # of the processor; a quadratic reader takes minutes


def test_codes_of_the_transcript_are_a_rater(tmp_path: Path) -> None:
    body = (
        "@G:\tFlood\n*PAR:\t<it is> [/] it is a house [: hospital] [* s:r] &+h +... [+ es]\n"
        "@G:\tCat\n*PAR:\the go [: goes] [* m:0es:a] 0to [/] slɪpɚ@u [* p:n] tan@n [* n:uk:s] .\n"
        "*PAR:\tthey [* s:r:gc:pro] was [: were] [* m:+s] there [* s:per] .\n"
        "@G:\tWindow\n*PAR:\tthe boy breaks it ."
    )
    found = read(chat(tmp_path, body))
    present = [
        {rating.measure for rating in answer.ratings if rating.value == 1.0}
        for answer in found.answers
    ]
    assert present == [
        {"retracing", "semantic-paraphasias", "false-starts", "abandoned-utterances",
         "empty-speech"},
        {"omission-of-bound-morphemes", "omission-of-function-words", "phonemic-paraphasias",
         "neologisms", "stereotypies-and-automatisms", "paragrammatism", "perseverations",
         "semantic-paraphasias"},
        set(),
    ]  # fmt: skip
    window = {rating.measure: rating for rating in found.answers[2].ratings}
    assert {m for m, rating in window.items() if rating.value == 0.0} == set(RULES)
    assert window["anomia"].reason == "CHAT has no code for it"
    reasons = {rating.measure: rating.reason for rating in found.answers[0].ratings}
    assert reasons["semantic-paraphasias"] == "house [* s:r]"


def test_without_codes_nothing_is_absent(tmp_path: Path) -> None:
    (answer,) = read(chat(tmp_path, "*PAR:\the went home .")).answers
    assert {rating.value for rating in answer.ratings} == {None}


def test_the_features_are_those_of_tab() -> None:
    assert set(FEATURES) == {feature.id for feature in load_battery(TAB).features}


def test_the_importer_keeps_the_contract(tmp_path: Path) -> None:
    chat(tmp_path, "*PAR:\thi .")
    chat(tmp_path, "*PAR:\tho .", name="adler01b.cha")
    check_importer("chat", tmp_path)
    with pytest.raises(TabwbError, match="allowed: dropped, kept"):
        read(tmp_path, pauses="some")
    with pytest.raises(TabwbError, match="did you mean 'pauses'"):
        read(tmp_path, pause="kept")


def test_our_own_export_has_no_problems() -> None:
    line = "*PAR:\tcat [: dog] [* s:r] [* p:w] [//] dog . \x150_1200\x15"
    file = read_chat(f"{HEAD}@G:\tdog\n{line}\n@End\n", "x.cha")
    assert (file.problems, file.lacks) == ([], [])
    assert said(file.tiers[0].text).text == "cat dog."


def test_the_only_speaker_is_the_examinee_whatever_the_role(tmp_path: Path) -> None:
    head = HEAD.replace("PAR adler01 Participant", "NAR Kim Narrator").replace("|PAR|", "|NAR|")
    source = read(chat(tmp_path, "*NAR:\tthe dog ran .", head))
    assert [answer.text for answer in source.answers] == ["the dog ran."]
