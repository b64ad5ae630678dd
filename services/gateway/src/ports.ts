import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Encryption } from '@quittance/shared/encryption';
import type { GatewaySigningKey } from '@quittance/shared/gateway-keys';
import type { Logger, ThrottledLog } from '@quittance/shared/logger';
import type { GatewayConfig } from './config.ts';
import type { FailedRequests } from './failed-requests.ts';
import type { Connections, PageStreamCounts, TrustedProxies } from './http/clients.ts';
import type { Limits } from './limits.ts';
import type { RecentlySeen, TokenUses } from './memory.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { PasswordHashes } from './password-hashes.ts';
import type { ServiceProxy } from './proxy/proxy.ts';
import type { LimitedToken, TokenCaller } from './store/tokens.ts';

/** Everything the gateway reaches beyond itself; each operation names the few it needs. */
export type Ports = {
  settings: GatewayConfig;
  db: Db;
  clock: Clock;
  /** By it the gateway asserts whose request it passes on. */
  signingKey: GatewaySigningKey;
  logger: Logger;
  /** Whose token this is the hash of. Undefined when it is nobody's, or not valid any more. */
  callerOf: (hash: Buffer) => Promise<TokenCaller | undefined>;
  limits: Limits;
  tokenUses: TokenUses;
  /** Tokens that were let in here, by their hash: they decide which limit is asked first, and let nobody in. */
  tokensSeen: RecentlySeen<LimitedToken>;
  /** Sessions that were let in here, by the hash of their token: the same for them. */
  sessionsSeen: RecentlySeen<string>;
  passwords: PasswordHashes;
  /** Undefined where TOTP_SECRETS_KEY is not set. */
  totpSecrets: Encryption | undefined;
  /** What nobody may have as a password. */
  commonPasswords: ReadonlySet<string>;
  /** Of PUBLIC_URL: browsers send requests of our own pages with it. */
  ownOrigin: string;
  /** Invoices that were made through this gateway, or whose page was shown here. */
  invoicesSeen: RecentlySeen<true>;
  /** Of requests that were refused for their token, its address or its scopes, and of failed sign-ins. */
  refusals: ThrottledLog;
  /** Those of accounts, until they are written. */
  failedRequests: FailedRequests;
  proxy: ServiceProxy;
  trustedProxies: TrustedProxies;
  connections: Connections;
  pageStreams: PageStreamCounts;
  metrics: GatewayMetrics;
};
