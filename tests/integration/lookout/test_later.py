"""Messages made later are recorded whole, in statements that no database is too small for."""

import pytest

from services.backbone.ledger.alerts import later
from services.backbone.ledger.database import Pool, transaction
from tests.integration.lookout.later_rows import message, record, rows
from tests.unit.lookout.samples import sample

pytestmark = pytest.mark.postgres

COUNT_EACH_STATEMENT = """
CREATE TABLE statements (place serial, inserted bigint);
CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO statements (inserted) SELECT count(*) FROM fresh; RETURN NULL; END $$;
CREATE TRIGGER counting AFTER INSERT ON deliveries
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION count_statement();
"""


def test_many_large_messages_are_inserted_in_parts(pool: Pool, ledger_url: str) -> None:
    alert = sample(values={"large": "x" * (later.INSERT_LIMIT_BYTES // 3)})
    record(pool, alert)
    made = [message(alert, "email", f"{number}@example.com") for number in range(5)]
    with pool.connection() as connection:
        connection.execute(COUNT_EACH_STATEMENT)
    with transaction(pool) as connection:
        assert later.insert(connection, made) == {each.delivery.delivery_id for each in made}
        assert later.insert(connection, made) == set()
    counted = rows(ledger_url, "SELECT inserted FROM statements ORDER BY place")
    assert counted == [(2,), (2,), (1,), (0,), (0,), (0,)]
    assert rows(ledger_url, "SELECT count(*) FROM deliveries") == [(5,)]
