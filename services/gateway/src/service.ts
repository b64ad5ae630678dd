import { readFileSync } from 'node:fs';
import { readSigningKey } from '@quittance/shared/gateway-keys';
import { throttledLog } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { type RunningService, startService } from '@quittance/shared/start-service';
import type { GatewayConfig } from './config.ts';
import { createFailedRequests } from './failed-requests.ts';
import { tell } from './http/authorize.ts';
import { countConnections, countPageStreams, trustedProxies } from './http/clients.ts';
import { createGatewayApp, createMetricsApp } from './http/gateway-app.ts';
import { openLimits } from './limits.ts';
import { createTokenUses, recentlySeen } from './memory.ts';
import { gatewayMetrics } from './metrics.ts';
import { writeFailedRequests } from './operations/failed-requests.ts';
import { writeTokenUses } from './operations/token-upkeep.ts';
import { passwordHashes } from './password-hashes.ts';
import type { Ports } from './ports.ts';
import { createProxy } from './proxy/proxy.ts';
import { callerReader } from './store/tokens.ts';
import { totpSecrets } from './totp-secrets.ts';
import { startWorkers, watchStreams } from './workers.ts';

export type GatewayService = RunningService<Ports>;

export type GatewayOptions = Partial<Ports> & {
  /** False in tests that step the workers themselves. */
  workers?: boolean;
};

/** See the licence beside it. */
const readCommonPasswords = (): ReadonlySet<string> =>
  new Set(
    readFileSync(new URL('../assets/common-passwords.txt', import.meta.url), 'utf8')
      .trim()
      .split('\n'),
  );

/** Of each about 10 MB. */
const SEEN_MAX = 50_000;

/**
 * Starts a gateway replica, in the order that `startService` gives. It serves as soon as it listens: requests that need the
 * database are answered 503 until it is there.
 */
export const startGateway = (
  config: GatewayConfig,
  { workers = true, ...given }: GatewayOptions = {},
): Promise<GatewayService> =>
  startService({
    name: 'gateway',
    config,
    given,
    migrations: new URL('../migrations/', import.meta.url),
    servesWithoutDatabase: true,
    open({ db, clock, logger }) {
      const metrics = gatewayMetrics(logger, {
        isRedisUp: () => ports.limits.isRedisUp(),
        openPageStreams: () => ports.pageStreams.count(),
      });
      const signingKey = readSigningKey(config.GATEWAY_PRIVATE_KEY.reveal());
      invariant(signingKey !== undefined, 'the configuration was checked');
      const { TOTP_SECRETS_KEY: totpKey } = config;
      const proxies = trustedProxies(config.TRUSTED_PROXIES, logger);
      const { INVOICES_URL: invoices, PAYOUTS_URL: payouts, LEDGER_URL: ledger } = config;
      const { WEBHOOKS_URL: webhooks, AUDITOR_URL: auditor, SANDBOX_URL: sandbox } = config;
      const ports: Ports = {
        settings: config,
        logger,
        clock,
        signingKey,
        db,
        callerOf: callerReader(db),
        limits: openLimits(config, logger, metrics.refused),
        tokenUses: createTokenUses(),
        tokensSeen: recentlySeen(SEEN_MAX),
        sessionsSeen: recentlySeen(SEEN_MAX),
        passwords: passwordHashes(),
        totpSecrets: totpKey === undefined ? undefined : totpSecrets(totpKey.reveal()),
        commonPasswords: readCommonPasswords(),
        ownOrigin: new URL(config.PUBLIC_URL).origin,
        invoicesSeen: recentlySeen(SEEN_MAX),
        refusals: throttledLog(logger),
        failedRequests: createFailedRequests(),
        proxy: createProxy({ invoices, payouts, ledger, webhooks, auditor, sandbox }, tell, logger),
        trustedProxies: proxies,
        connections: countConnections({
          max: config.CONNECTIONS_PER_CLIENT,
          isTrusted: proxies.isTrusted,
          refused(client, isFirst) {
            metrics.refused('connection');
            if (isFirst)
              logger.warn(
                { address: client },
                'a client has CONNECTIONS_PER_CLIENT connections open, and gets no more: if it is a proxy of yours, name it in TRUSTED_PROXIES',
              );
          },
        }),
        pageStreams: countPageStreams(config.PAGE_STREAMS_PER_CLIENT),
        metrics,
        ...given,
      };
      return {
        ports,
        metrics,
        watchers: [watchStreams(ports)],
        connections: [ports.proxy, ports.limits],
      };
    },
    http: createGatewayApp,
    metricsHttp: (ports, parts) =>
      config.METRICS_PORT === undefined
        ? undefined
        : { app: createMetricsApp(ports, parts), port: config.METRICS_PORT },
    listenOptions: ({ connections }) => ({ readMs: config.READ_TIMEOUT_MS, takes: connections.takes }),
    workers: workers ? startWorkers : undefined,
    endStreams: ({ proxy }) => proxy.streams.end(),
    leave: async (ports) => {
      await Promise.all([writeTokenUses(ports), writeFailedRequests(ports)]);
    },
  });
