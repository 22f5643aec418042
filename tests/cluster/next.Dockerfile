# The version after this one, as the ledger sees it: a migration that programs of this one do not know.
# docker build -t aldebaran/service:next -f tests/cluster/next.Dockerfile tests/cluster

ARG SERVICE=aldebaran/service:dev
FROM ${SERVICE}
COPY tomorrow.sql /opt/aldebaran/services/backbone/ledger/migrations/9999_tomorrow.sql
