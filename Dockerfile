# Built with base images made by debootstrap under these names, by buildah with Python 3.11 (`make test-image`) and by Docker 28.5 with
# Python 3.13; never with the real ones.
# The image of the web server, the workers and beat. See docs/deployment.md.
ARG PYTHON=3.13-slim-bookworm
ARG NODE=24-bookworm-slim

# Installs the packages. Nothing of this stage but the virtual environment gets into the image.
FROM python:${PYTHON} AS packages
ARG UV_VERSION=0.13.8
# Each contains requirements.lock: requirements-s3.lock keeps photos in a bucket, requirements-observability.lock has traces
# and error reports, requirements-osm.lock reads extracts of OpenStreetMap. Several at once:
# LOCKS="requirements-s3.lock requirements-observability.lock".
ARG LOCKS=requirements.lock
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN pip install --no-cache-dir --disable-pip-version-check "uv==${UV_VERSION}"
WORKDIR /locks
COPY requirements.lock requirements-s3.lock requirements-observability.lock requirements-osm.lock ./
# Wheels only: nothing is built, so no compiler is needed. The hashes of the lock files are required.
# hadolint ignore=SC2086
RUN uv venv --python "$(command -v python)" /opt/rota \
    && uv pip sync --python /opt/rota/bin/python --require-hashes --only-binary :all: --no-cache --compile-bytecode ${LOCKS}

# JavaScript and CSS of the pages. The whole packages get into the image, with their licences; config/npm_files.py lists what is served.
FROM node:${NODE} AS scripts
WORKDIR /scripts
COPY package.json package-lock.json .npmrc ./
RUN npm ci

FROM python:${PYTHON}
# The account of the service. It owns nothing but the folder of its data.
RUN groupadd --system --gid 10001 rota \
    && useradd --system --uid 10001 --gid rota --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin rota \
    && install --directory --owner=rota --group=rota --mode=0700 /var/lib/rota \
    # Installs nothing at run time.
    && python -m pip uninstall --yes pip
COPY --from=packages /opt/rota /opt/rota
WORKDIR /srv/rota
COPY . .
COPY --from=scripts /scripts/node_modules node_modules
RUN /opt/rota/bin/python -m compileall -q .
ENV PATH=/opt/rota/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/var/lib/rota \
    HOST=0.0.0.0 \
    PORT=8000
USER 10001:10001
VOLUME /var/lib/rota
EXPOSE 8000
# The web server; `worker` and `beat` in its place are the other processes, and `python manage.py …` the commands.
# Each becomes process 1 and ends at SIGTERM when the requests or tasks under way have ended.
CMD ["python", "-m", "config.processes", "web"]
