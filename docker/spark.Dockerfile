# The image of the Spark applications, for drivers and executors: `docker run IMAGE auditor`.
# Build it in the project's folder: docker build -f docker/spark.Dockerfile -t aldebaran/spark .
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
COPY requirements-spark.lock docker/sbom.lock ./
# What builds pyspark is there before, as the list names it: pip would fetch its newest by itself.
RUN python3 -m venv /opt/aldebaran/venv \
 && for name in setuptools pyspark; do \
      sed -n "/^$name==/,/# via/p" requirements-spark.lock > "$name.lock" \
   && /opt/aldebaran/venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
        --no-deps --no-build-isolation --use-pep517 --require-hashes -r "$name.lock" || exit 1; \
    done \
 && /opt/aldebaran/venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --require-hashes -r requirements-spark.lock \
 && python3 -m venv /build/sbom \
 && /build/sbom/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --require-hashes -r sbom.lock
# Only what fetches jars, so that a change of a service fetches none again.
COPY services/contracts ./services/contracts
COPY services/backbone ./services/backbone
COPY services/machine ./services/machine
COPY spark-apps/java ./spark-apps/java
# Driver and executors must find the same libraries, so they stand among Spark's own jars.
RUN spark=$(echo /opt/aldebaran/venv/lib/python3*/site-packages/pyspark) \
 && ln -s "$spark" /opt/aldebaran/spark \
 && ALDEBARAN_TOOLS=tools PYTHONPATH=. /opt/aldebaran/venv/bin/python -m services.machine jars \
 && cp tools/jars/spark/*.jar tools/jars/s3/*.jar "$spark/jars/" \
 && rm -rf "$spark/examples" "$spark/data" "$spark"/jars/spark-mllib* "$spark"/jars/breeze* \
 && /opt/aldebaran/venv/bin/pip uninstall --yes --quiet setuptools pip \
 && /build/sbom/bin/cyclonedx-py environment --output-reproducible \
      -o /opt/aldebaran/sbom.json /opt/aldebaran/venv

FROM ${BASE} AS system
# The name and home of the user are Hadoop's wish: without them no driver starts.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      python3 ca-certificates openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man \
 && useradd --uid 185 --gid 0 --home-dir /home/spark --create-home --shell /usr/sbin/nologin spark

FROM packages AS listed
COPY --from=system /var/lib/dpkg/status /system/var/lib/dpkg/status
COPY --from=system /usr/lib/os-release /system/usr/lib/os-release
RUN PYTHONPATH=. /opt/aldebaran/venv/bin/python -m services.machine.installation.inventory /opt/aldebaran/sbom.json \
      --jars /opt/aldebaran/spark/jars --system /system

FROM system
COPY --from=listed /opt/aldebaran /opt/aldebaran
COPY docker/spark/start /opt/aldebaran/start
COPY services /opt/aldebaran/services
COPY spark-apps /opt/aldebaran/spark-apps
ENV PYTHONPATH=/opt/aldebaran:/opt/aldebaran/spark-apps PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 SPARK_HOME=/opt/aldebaran/spark \
    PYSPARK_PYTHON=/opt/aldebaran/venv/bin/python
WORKDIR /opt/aldebaran
USER 185:0
ENTRYPOINT ["/opt/aldebaran/start"]
CMD ["auditor"]
