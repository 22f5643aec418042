"""What a watch costs, held against all that its jobs have used."""

from hypothesis import given
from hypothesis import strategies as st

from auditor.cost import Cost, Job
from tests.unit.auditor.fakes import FakeJobs

LOOKS = st.lists(
    st.tuples(
        st.floats(0.1, 60, allow_nan=False),
        st.lists(st.floats(0, 30, allow_nan=False), max_size=2),
        st.booleans(),
    ),
    max_size=30,
)


@given(LOOKS)
def test_each_job_is_counted_once_over_the_time_that_has_passed(
    looks: list[tuple[float, list[float], bool]],
) -> None:
    jobs, now, counted = FakeJobs(), 0.0, 0.0
    cost, since = Cost(jobs), 0.0
    cost.begin("run", now)
    for seconds, used, has_committed in [*looks, (1.0, [1.0], True), (1.0, [], False)]:
        now += seconds
        jobs.jobs += [Job(len(jobs.jobs) + at, each) for at, each in enumerate(used)]
        if (processors := cost.processors(has_committed, now)) is not None:
            counted, since = counted + processors * (now - since), now
    assert abs(counted - sum(job.processor_seconds for job in jobs.jobs)) < 1e-6


def test_it_is_measured_one_look_after_a_commit() -> None:
    jobs = FakeJobs()
    cost = Cost(jobs)
    cost.begin("run", 10.0)
    jobs.jobs.append(Job(0, 3.0))
    assert cost.processors(True, 15.0) is None
    assert cost.processors(False, 16.0) == 0.5
    assert cost.processors(False, 17.0) is None


def test_what_spark_has_not_added_up_yet_is_counted_with_the_next() -> None:
    jobs = FakeJobs()
    cost = Cost(jobs)
    cost.begin("run", 0.0)
    cost.processors(True, 4.0)
    assert cost.processors(False, 5.0) is None
    jobs.jobs += [Job(0, 3.0), Job(1, 2.0)]
    cost.processors(True, 9.0)
    assert cost.processors(False, 10.0) == 0.5


def test_a_new_run_counts_from_its_own_start() -> None:
    jobs = FakeJobs()
    cost = Cost(jobs)
    cost.begin("run", 0.0)
    jobs.jobs.append(Job(7, 3.0))
    cost.processors(True, 1.0)
    cost.processors(False, 2.0)
    cost.begin("next", 100.0)
    jobs.jobs[:] = [Job(0, 5.0)]
    cost.processors(True, 109.0)
    assert cost.processors(False, 110.0) == 0.5
