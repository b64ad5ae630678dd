import type { Logger } from '@quittance/shared/logger';
import { createMetrics, type Metrics } from '@quittance/shared/metrics';
import { type LimitName, type Limits, limitNames } from './limits.ts';

export type GatewayMetrics = Metrics & {
  refused(limit: LimitName): void;
  watch(limits: Pick<Limits, 'isRedisAway'>): void;
};

export function gatewayMetrics(logger: Logger): GatewayMetrics {
  const metrics = createMetrics({ logger });
  return {
    ...metrics,
    refused: metrics.counter(
      {
        name: 'quittance_rate_limited_total',
        help: 'Requests that were refused because there were too many of the token, or of the peer without one.',
      },
      'limit',
      limitNames,
    ),
    watch(limits) {
      metrics.gauge({
        name: 'quittance_redis_away',
        help: 'Limits are counted by each gateway for itself although there is a Redis.',
        look: () => [{ value: limits.isRedisAway() ? 1 : 0 }],
      });
    },
  };
}
