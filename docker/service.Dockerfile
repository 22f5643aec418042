# One image for every service; the argument says which: `docker run IMAGE services.gateway`.
# Build it in the project's folder: docker build -f docker/service.Dockerfile -t aldebaran/service .
# Name BASE by digest where images must be the same for ever: --build-arg BASE=debian@sha256:…
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS packages
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY requirements-service.lock docker/sbom.lock ./
RUN python3 -m venv /opt/aldebaran/venv \
 && /opt/aldebaran/venv/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --require-hashes -r requirements-service.lock \
 && python3 -m venv /build/sbom \
 && /build/sbom/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check \
      --require-hashes -r sbom.lock \
 && /opt/aldebaran/venv/bin/pip uninstall --yes --quiet setuptools pip \
 && /build/sbom/bin/cyclonedx-py environment --output-reproducible \
      -o /opt/aldebaran/sbom.json /opt/aldebaran/venv

FROM ${BASE} AS system
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      python3 ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man \
 && useradd --uid 10001 --user-group --home-dir /opt/aldebaran --shell /usr/sbin/nologin aldebaran

FROM packages AS listed
COPY --from=system /var/lib/dpkg/status /system/var/lib/dpkg/status
COPY --from=system /usr/lib/os-release /system/usr/lib/os-release
COPY services ./services
RUN PYTHONPATH=. /opt/aldebaran/venv/bin/python -m services.machine.installation.inventory /opt/aldebaran/sbom.json --system /system

FROM system
COPY --from=listed /opt/aldebaran /opt/aldebaran
COPY services /opt/aldebaran/services
COPY spark-apps/auditor/watches /opt/aldebaran/spark-apps/auditor/watches
ENV PYTHONPATH=/opt/aldebaran PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/aldebaran
USER 10001:10001
ENTRYPOINT ["/opt/aldebaran/venv/bin/python", "-m"]
CMD ["services.gateway"]
