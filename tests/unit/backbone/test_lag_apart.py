"""What goes to the process that asks for the lag, and comes from it, arrives as it was."""

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from services.backbone.kafka.lag import Lag, Told
from services.backbone.kafka.lag_apart import laid_open
from services.backbone.kafka.lag_worker import ANSWERS, ERRANDS, Answer, Errand
from services.backbone.kafka.made_again import MadeAgain
from services.backbone.settings import KafkaSettings

TEXTS = st.text(max_size=20)
LAGS = st.builds(Lag, TEXTS, TEXTS, st.integers(0), st.booleans())
PAIRS = st.frozensets(st.tuples(TEXTS, TEXTS), max_size=5)
AGAIN = st.builds(MadeAgain, st.dictionaries(TEXTS, TEXTS, max_size=5), PAIRS, PAIRS)
TOLD = st.builds(Told, st.lists(LAGS, max_size=5).map(tuple), st.integers(0))


@given(st.builds(Answer, told=st.none() | TOLD, made_again=AGAIN, transient=TEXTS, refused=TEXTS))
def test_an_answer_is_one_line_and_arrives_as_it_was(answer: Answer) -> None:
    line = ANSWERS.dump_json(answer)
    assert b"\n" not in line
    assert ANSWERS.validate_json(line) == answer


@given(
    st.dictionaries(TEXTS, TEXTS, max_size=5),
    st.lists(TEXTS, max_size=5).map(tuple),
    TEXTS,
    AGAIN,
)
def test_an_errand_is_one_line_and_arrives_as_it_was(
    options: dict[str, str], own: tuple[str, ...], instance: str, again: MadeAgain
) -> None:
    secret = {name: SecretStr(value) for name, value in options.items()}
    settings = KafkaSettings(kafka_options=secret, instance=instance or "one", log_format="text")
    errand = Errand(laid_open(settings), "test", own, again)
    line = errand.line()
    assert line.count(b"\n") == 1
    arrived = ERRANDS.validate_json(line)
    assert arrived == errand
    assert KafkaSettings(**arrived.settings) == settings
