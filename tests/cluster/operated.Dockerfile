# Postgres as CloudNativePG starts it: user and group 26, which is a group of tapes too, and a tag that begins with Postgres' version.
# docker build -t aldebaran/postgres:18 -f tests/cluster/operated.Dockerfile tests/cluster
ARG POSTGRES=aldebaran/postgres:dev
FROM ${POSTGRES}
USER 0
RUN groupmod --non-unique --gid 26 postgres && usermod --uid 26 postgres
USER 26:26
