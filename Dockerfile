# One file for every image of Quittance. SERVICE says which:
#
#   docker build --build-arg SERVICE=invoices --tag quittance/invoices .
#
# gateway, invoices, payouts, ledger, webhooks, signer, auditor; `cli` is the operator's command (`docker run …
# quittance/cli migrate`); `sandbox` is all of them in one, with databases and chain nodes for development, and is the only
# one that has these (`docker run -p 8400:8400 quittance/sandbox`).
#
# Plain enough for builders without BuildKit. NODE_IMAGE gives Node 24 and npm to the build and its Node to the image,
# which stands on BASE_IMAGE: any Debian 12 or newer, or another one with glibc, libstdc++ and bash. NATS_IMAGE gives the
# nats-server of the sandbox.
ARG NODE_IMAGE=node:24-slim
ARG BASE_IMAGE=debian:12-slim
ARG NATS_IMAGE=nats:2.12

# Only what an installation depends on, so that it is made again only when that has changed.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /manifests
COPY . .
RUN find . -type f ! -name package.json ! -name pnpm-lock.yaml ! -name pnpm-workspace.yaml -delete

FROM ${NODE_IMAGE} AS packages
WORKDIR /checkout
COPY --from=manifests /manifests ./
# No package's own scripts are run: none of those that the services need has any.
RUN HOME=/caches npx --yes pnpm@10.34.9 install --prod --frozen-lockfile --ignore-scripts && rm -rf /caches

FROM ${NATS_IMAGE} AS nats

FROM packages AS gathered
COPY --from=nats /nats-server /nats-server
COPY . .
ARG SERVICE
# One step, because each copies all that it changes into a layer of its own. A checkout may be readable to its owner only.
# What Node compiles is kept, so that a start takes half the time. Without settings a service names them and ends, with
# everything loaded. A command loads what it needs when it runs: all but backups, archives and certificates, which are run too
# seldom for their size, are loaded here. Node looks in the folder of its own user, and this is root's.
RUN node deploy/image/collect.ts . "${SERVICE}" /app && chmod -R a+rX /app && \
  cd /app && export NODE_COMPILE_CACHE=/app/.compiled && { node start.ts --help >/dev/null 2>&1 ; \
  if [ "${SERVICE}" = cli ]; then node --input-type=module --eval \
  "import { globSync } from 'node:fs'; for (const file of globSync('apps/cli/src/**/*.ts', { exclude: ['**/{main,certificates}.ts', '**/{archive,backup}/**'] })) await import('/app/' + file);" ; fi ; \
  if [ "${SERVICE}" = sandbox ]; then for main in services/*/src/main.ts apps/sandbox/src/image-health.ts; do node "$main" >/dev/null 2>&1 ; done ; fi ; \
  for compiled in .compiled/*-0; do mv "$compiled" "${compiled%-0}-10001"; done && chmod -R a+rX .compiled ; }

FROM ${NODE_IMAGE} AS node

FROM ${BASE_IMAGE}
COPY --from=node /usr/local/bin/node /usr/local/bin/node
# A user of its own. A volume at /data is that user's: the sandbox keeps its data there, nothing else keeps anything.
RUN echo 'quittance:x:10001:10001::/app:/usr/sbin/nologin' >> /etc/passwd && echo 'quittance:x:10001:' >> /etc/group \
  && mkdir /data && chown 10001:10001 /data
COPY --from=gathered /app /app
WORKDIR /app
USER 10001:10001
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/.compiled HOST=0.0.0.0
# Answers as /readyz does: while it waits for its database or the bus, it is not healthy.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["bash", "/app/health.sh"]
ENTRYPOINT ["node", "/app/start.ts"]
ARG SERVICE
LABEL org.opencontainers.image.title="Quittance ${SERVICE}" org.opencontainers.image.licenses="MIT"
