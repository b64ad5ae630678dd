import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { TokenId } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { Callers } from './callers.ts';
import type { GatewayConfig } from './config.ts';
import type { TrustedProxies } from './http/trusted-proxies.ts';
import type { Limits } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ServiceProxy } from './proxy/proxy.ts';
import type { RecentlySeen } from './recently-seen.ts';
import type { TokenUses } from './token-uses.ts';

/** Everything the gateway reaches beyond itself; each operation names the few it needs. */
export type Ports = {
  settings: GatewayConfig;
  db: Db;
  clock: Clock;
  logger: Logger;
  callers: Callers;
  limits: Limits;
  tokenUses: TokenUses;
  /** Tokens that were let in here, by their hash: they decide which limit is asked first, and let nobody in. */
  tokensSeen: RecentlySeen<TokenId>;
  /** Invoices that were made through this gateway, or whose page was shown here. */
  invoicesSeen: RecentlySeen<true>;
  proxy: ServiceProxy;
  trustedProxies: TrustedProxies;
  metrics: GatewayMetrics;
};
