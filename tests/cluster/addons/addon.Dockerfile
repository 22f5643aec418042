# An add-on of a test cluster: programs that were built beside it, and nothing of Aldebaran's.
# `make cluster-addons` builds it, in a folder whose files lie as they shall in the image.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
USER 0
ARG PACKAGES=""
RUN if [ -n "${PACKAGES}" ]; then apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${PACKAGES} \
 && rm -rf /var/lib/apt/lists/*; fi
COPY . /
ARG ENTRY
ARG FOLDER=.
WORKDIR ${FOLDER}
RUN ln -s "${ENTRY}" /entrypoint
ARG RUN_AS=65532
USER ${RUN_AS}:${RUN_AS}
ENTRYPOINT ["/entrypoint"]
