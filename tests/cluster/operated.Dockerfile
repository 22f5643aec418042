# Postgres as CloudNativePG starts it: with TLS, as user and group 26 (which Debian gave to tapes), and
# with a tag that begins with Postgres' version.
# docker build -t aldebaran/postgres:15 -f tests/cluster/operated.Dockerfile tests/cluster
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-common \
 && sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-15 \
 && rm -rf /var/lib/apt/lists/* \
 && groupmod --non-unique --gid 26 postgres && usermod --uid 26 postgres
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 26:26
