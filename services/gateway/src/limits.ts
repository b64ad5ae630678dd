import { certificateLook, isCertificateRefused } from '@quittance/shared/certificate-problem';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { readTlsUrl } from '@quittance/shared/tls-url';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { GatewayConfig } from './config.ts';
import { type RateLimitResult, WINDOW_SECONDS } from './domain/rate-limit.ts';
import { recentlySeen } from './memory.ts';

/** Counts hits of a key in a fixed window that begins with its first one. Never fails. */
export type Limit = {
  hit(key: string): Promise<RateLimitResult>;
  /**
   * Whether a hit would be allowed. Until `done` it counts as one, so that many at once do not all find room; who calls
   * this decides by then whether it was one, and says so by `hit`.
   */
  begin(key: string): Promise<Begun>;
};

export type Begun = RateLimitResult & { done(): void };

export type Limits = {
  /** Authenticated requests, by token: so many a minute, or as many as the settings say. */
  tokens(perMinute: number | null): Limit;
  /** Requests that could not be authenticated, by client. */
  failures: Limit;
  /** Those of them whose token had to be looked up in the database, by client. */
  unknownTokens: Limit;
  /** Requests of people who have signed in, by session. */
  sessions: Limit;
  /** Everything that is done to sign in, by client. */
  signIns: Limit;
  /** Failures to sign in, by client. */
  signInsOfClient: Limit;
  /** The same of all clients together, by the hash of the e-mail address. */
  signInsOfEmail: Limit;
  /** Wrong codes of a second factor, by person. Those who come so far know the password. */
  codes: Limit;
  /** Payment pages and pages of links, by invoice or link and client. */
  pages: Limit;
  /** Payment pages of invoices that there are not, and files, by client. */
  unknownPages: Limit;
  /** Payments that are begun through payment links, by link and client: each is an invoice in the database. */
  linkPayments: Limit;
  /** The same of all clients together, by link. */
  linkPaymentsTotal: Limit;
  /** Limits are counted in memory although there is a Redis to count them in. */
  isRedisUp(): boolean;
  close(): void;
};

/** What Redis may cost a request when it hangs. */
const REDIS_TIMEOUT_MS = 200;
const RECONNECT_MS_MAX = 1_000;
/** How many different limits of accounts are kept. */
const TOKEN_LIMITS_MAX = 1_000;

/** All that is refused for its number; connections are counted by each gateway for itself. */
export const limitNames = [
  'token',
  'failure',
  'unknown_token',
  'session',
  'sign_in',
  'failed_sign_in',
  'failed_sign_in_of_email',
  'failed_code',
  'page',
  'unknown_page',
  'link_payment',
  'link_payment_total',
  'connection',
  'page_stream',
] as const;
export type LimitName = (typeof limitNames)[number];

/** @param refused hears of each hit that was one too many */
export function openLimits(
  config: GatewayConfig,
  logger: Logger,
  refused: (limit: LimitName) => void,
): Limits {
  const redis = config.REDIS_URL === undefined ? undefined : connectRedis(config.REDIS_URL.reveal(), logger);
  if (redis) logger.info('limits are counted in Redis, across all gateways');
  else logger.warn('limits are counted in memory: set REDIS_URL when there is more than one gateway');
  const limit = (name: LimitName, points: number, seconds = WINDOW_SECONDS) =>
    countIn(redis, { name, points, seconds, replicas: config.GATEWAY_REPLICAS, refused });
  const tokenLimits = recentlySeen<Limit>(TOKEN_LIMITS_MAX);
  return {
    // In Redis they count a token together: another limit for it starts from the requests that it has sent.
    tokens(perMinute) {
      const points = perMinute ?? config.RATE_LIMIT_PER_MINUTE;
      const known = tokenLimits.get(String(points)) ?? limit('token', points);
      tokenLimits.set(String(points), known);
      return known;
    },
    failures: limit('failure', config.FAILED_AUTH_PER_MINUTE),
    unknownTokens: limit('unknown_token', config.FAILED_AUTH_PER_MINUTE),
    sessions: limit('session', config.SESSION_REQUESTS_PER_MINUTE),
    signIns: limit('sign_in', config.SIGN_INS_PER_MINUTE),
    signInsOfClient: limit('failed_sign_in', config.FAILED_SIGN_INS_PER_MINUTE),
    signInsOfEmail: limit('failed_sign_in_of_email', config.FAILED_SIGN_INS_PER_EMAIL_PER_MINUTE),
    codes: limit('failed_code', config.FAILED_CODES_PER_HOUR, 3_600),
    pages: limit('page', config.PAGES_PER_MINUTE),
    unknownPages: limit('unknown_page', config.UNKNOWN_PAGES_PER_MINUTE),
    linkPayments: limit('link_payment', config.LINK_PAYMENTS_PER_MINUTE),
    linkPaymentsTotal: limit('link_payment_total', config.LINK_PAYMENTS_TOTAL_PER_MINUTE),
    isRedisUp: () => redis === undefined || redis.status === 'ready',
    close: () => redis?.removeAllListeners('close').disconnect(),
  };
}

/**
 * One answer that takes too long cuts the connection. Until Redis greets on a new one, commands fail at
 * once and the limits are counted in memory: a Redis that hangs costs a few requests 200 ms, not all of them.
 */
function connectRedis(given: string, logger: Logger): Redis {
  const { url, tls } = readTlsUrl(given);
  const redis = new HastyRedis(url.href, {
    ...(tls === undefined ? {} : { tls }),
    enableOfflineQueue: false,
    commandTimeout: REDIS_TIMEOUT_MS,
    socketTimeout: REDIS_TIMEOUT_MS,
    connectTimeout: 1_000,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    enableAutoPipelining: false,
    retryStrategy: (tries) => Math.min(tries * 100, RECONNECT_MS_MAX),
  });
  const throttled = throttledLog(logger);
  const isAway = (why: string) =>
    throttled.log('warn', 'away', { reason: why }, 'Redis is away, limits are counted in memory');
  const lookAtCertificate = certificateLook(given, (problem) =>
    throttled.log('error', 'certificate', { reason: problem }, 'Redis cannot be connected to'),
  );
  redis.on('error', (error) => {
    isAway(reason(error));
    if (isCertificateRefused(error)) lookAtCertificate();
  });
  redis.on('close', () => isAway('it closed the connection'));
  redis.on('ready', () => throttled.ended('certificate', {}, 'the certificate of Redis is accepted again'));
  redis.on('ready', () => throttled.ended('away', {}, 'Redis is back, limits are counted there again'));
  return redis;
}

/**
 * Gives a connection up whose answer comes too late, though bytes of it do come: a Redis, or a way to it, that is slow
 * would cost every request its timeout.
 */
class HastyRedis extends Redis {
  override sendCommand(...given: Parameters<Redis['sendCommand']>): unknown {
    const [{ promise }] = given;
    promise.catch((error: unknown) => {
      if (reason(error) !== 'Command timed out' || this.status !== 'ready') return;
      this.emit('error', error);
      this.disconnect(true);
    });
    return super.sendCommand(...given);
  }
}

/**
 * Lets what is sent to Redis in one turn of the event loop leave in one write: requests come out of
 * authentication in batches. Measured at 10 % of the gateway's CPU. ioredis' own auto-pipelining does the same, but
 * holds further commands back while one batch is unanswered: with a Redis that hangs that is twice the timeout.
 */
function batchWrites({ stream }: { stream: Redis['stream'] | null | undefined }): void {
  // Not there before the first connection.
  if (!stream || stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

type Counting = {
  name: LimitName;
  points: number;
  seconds: number;
  replicas: number;
  refused: (limit: LimitName) => void;
};

function countIn(redis: Redis | undefined, { name, points, seconds, replicas, refused }: Counting): Limit {
  const window = { keyPrefix: `limit:${name}`, duration: seconds };
  const limiter =
    redis === undefined
      ? new RateLimiterMemory({ ...window, points })
      : new RateLimiterRedis({
          ...window,
          points,
          storeClient: redis,
          rejectIfRedisNotReady: true,
          // Who is over the limit stays so until the window ends: no need to ask again.
          inMemoryBlockOnConsumed: points,
          insuranceLimiter: new RateLimiterMemory({ ...window, points: Math.ceil(points / replicas) }),
        });
  const inFlight = new Map<string, number>();
  const begun = (key: string): (() => void) => {
    inFlight.set(key, (inFlight.get(key) ?? 0) + 1);
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      const left = (inFlight.get(key) ?? 1) - 1;
      if (left === 0) inFlight.delete(key);
      else inFlight.set(key, left);
    };
  };
  return {
    async begin(key) {
      if (redis !== undefined) batchWrites(redis);
      const so = await limiter.get(key);
      const remaining = (so?.remainingPoints ?? points) - (inFlight.get(key) ?? 0);
      const resetMs = so?.msBeforeNext ?? seconds * 1_000;
      if (remaining > 0) return { allowed: true, limit: points, remaining, resetMs, done: begun(key) };
      refused(name);
      return { allowed: false, limit: points, remaining: 0, resetMs, done: () => undefined };
    },
    async hit(key) {
      if (redis !== undefined) batchWrites(redis);
      try {
        const left = await limiter.consume(key);
        return { allowed: true, limit: points, remaining: left.remainingPoints, resetMs: left.msBeforeNext };
      } catch (over) {
        if (!(over instanceof RateLimiterRes)) throw over;
        refused(name);
        return { allowed: false, limit: points, remaining: 0, resetMs: over.msBeforeNext };
      }
    },
  };
}
