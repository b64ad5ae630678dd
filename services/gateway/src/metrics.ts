import type { Logger } from '@quittance/shared/logger';
import { createMetrics, type Metrics } from '@quittance/shared/metrics';
import { type LimitName, limitNames } from './limits.ts';

export type GatewayMetrics = Metrics & { refused(limit: LimitName): void };

/** What the gateway knows of itself at this moment. */
type Looks = { isRedisUp(): boolean; openPageStreams(): number };

export function gatewayMetrics(logger: Logger, { isRedisUp, openPageStreams }: Looks): GatewayMetrics {
  const metrics = createMetrics({ logger });
  metrics.gauge({
    name: 'quittance_rate_limit_redis_up',
    help: '0: Redis does not answer, and each gateway counts limits alone.',
    look: () => [{ value: isRedisUp() ? 1 : 0 }],
  });
  metrics.gauge({
    name: 'quittance_page_streams',
    help: 'Open streams of payment pages.',
    look: () => [{ value: openPageStreams() }],
  });
  const refused = metrics.counter(
    {
      name: 'quittance_rate_limited_total',
      help: 'Requests that were refused because there were too many of the token, or of the peer without one.',
    },
    { limit: limitNames },
  );
  return { ...metrics, refused: (limit) => refused({ limit }) };
}
