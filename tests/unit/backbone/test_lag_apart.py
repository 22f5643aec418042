"""What goes to the process that asks for the lag, and comes from it, arrives as it was."""

import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from services.backbone.kafka.lag import Lag, Told
from services.backbone.kafka.lag_apart import laid_open
from services.backbone.kafka.lag_worker import ANSWERS, Answer, Errand
from services.backbone.settings import KafkaSettings

TEXTS = st.text(max_size=20)
LAGS = st.builds(Lag, TEXTS, TEXTS, st.integers(0), st.booleans())
TOLD = st.builds(Told, st.lists(LAGS, max_size=5).map(tuple), st.integers(0))


@given(st.builds(Answer, told=st.none() | TOLD, transient=TEXTS, refused=TEXTS))
def test_an_answer_is_one_line_and_arrives_as_it_was(answer: Answer) -> None:
    line = ANSWERS.dump_json(answer)
    assert b"\n" not in line
    assert ANSWERS.validate_json(line) == answer


@given(st.dictionaries(TEXTS, TEXTS, max_size=5), st.lists(TEXTS, max_size=5).map(tuple), TEXTS)
def test_an_errand_is_one_line_and_arrives_as_it_was(
    options: dict[str, str], own: tuple[str, ...], instance: str
) -> None:
    secret = {name: SecretStr(value) for name, value in options.items()}
    settings = KafkaSettings(kafka_options=secret, instance=instance or "one", log_format="text")
    line = Errand(laid_open(settings), "test", own).line()
    assert line.count(b"\n") == 1
    errand = json.loads(line)
    assert KafkaSettings(**errand["settings"]) == settings
    assert (errand["program"], tuple(errand["own"])) == ("test", own)
