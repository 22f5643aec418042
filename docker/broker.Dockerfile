# Kafka from the same checksummed jars as on one machine, for clusters that cannot pull the
# official image; the chart starts both in the same way.
# The first stage begins as that of spark.Dockerfile does, so that it is built once for both.
# Build it in the project's folder: docker build -f docker/broker.Dockerfile -t aldebaran/broker .
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS packages
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      python3 python3-venv openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/*
# Where the base image names a bundle of authorities, Java is told of each: it reads no bundles.
RUN if [ -n "${SSL_CERT_FILE:-}" ]; then mkdir /tmp/authorities \
 && awk '/BEGIN CERT/ {n++} {print > ("/tmp/authorities/" n ".crt")}' "${SSL_CERT_FILE}" \
 && ls /tmp/authorities/*.crt | sed 's/^/+/' \
    | java -jar /usr/share/ca-certificates-java/ca-certificates-java.jar -storepass changeit; fi
WORKDIR /build
COPY requirements-spark.lock ./
# What builds pyspark is there before, as the list names it: pip would fetch its newest by itself.
RUN python3 -m venv /opt/aldebaran/venv \
 && for name in setuptools pyspark; do \
      sed -n "/^$name==/,/# via/p" requirements-spark.lock > "$name.lock" \
   && /opt/aldebaran/venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
        --no-deps --no-build-isolation --use-pep517 --require-hashes -r "$name.lock" || exit 1; \
    done \
 && /opt/aldebaran/venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --require-hashes -r requirements-spark.lock
# Only what fetches jars, so that a change of a service fetches none again.
COPY services/contracts ./services/contracts
COPY services/backbone ./services/backbone
COPY services/machine ./services/machine
COPY spark-apps/java ./spark-apps/java
RUN ALDEBARAN_TOOLS=tools PYTHONPATH=. /opt/aldebaran/venv/bin/python -m services.machine jars \
 && mkdir -p /opt/kafka \
 && mv tools/jars/broker /opt/kafka/libs \
 && echo '{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}' > /opt/kafka/sbom.json

FROM ${BASE} AS system
# Java installs pages of a manual, for which a slim base has no folder.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man \
 && useradd --uid 1000 --user-group --home-dir /opt/kafka --shell /usr/sbin/nologin appuser

FROM packages AS listed
COPY --from=system /var/lib/dpkg/status /system/var/lib/dpkg/status
COPY --from=system /usr/lib/os-release /system/usr/lib/os-release
RUN PYTHONPATH=. /opt/aldebaran/venv/bin/python -m services.machine.installation.inventory /opt/kafka/sbom.json \
      --jars /opt/kafka/libs --system /system

FROM system
COPY --from=listed /opt/kafka /opt/kafka
COPY docker/broker /opt/kafka/bin
# As the official image has it: what is tried with this one meets the same.
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"]
USER 1000:1000
