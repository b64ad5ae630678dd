import { type ConnectionOptions, connect, type NatsConnection } from 'nats';
import { NodeTransport } from 'nats/lib/src/node_transport.js';
import { certificateProblem, isCertificateRefused } from './certificate-problem.ts';
import { sleep } from './clock.ts';
import type { Service } from './events.ts';
import { type Logger, reason, throttledLog } from './logger.ts';
import { isOlder, StartRefused, tooOld } from './readiness.ts';
import { readTlsUrl } from './tls-url.ts';

/** The one stream; every event travels in it. */
export const STREAM = 'EVT';

/**
 * Values that are published again and again and of which only the newest counts: a key-value bucket of NATS each, with a key
 * per asset, and in `quotes` also one per currency. The service that writes a bucket does not read it: see docs/decisions/0014.
 */
export const buckets = {
  quotes: { writtenBy: 'ledger', readBy: ['invoices', 'payouts'] },
  fee_estimates: { writtenBy: 'payouts', readBy: ['ledger'] },
} as const satisfies Record<string, { writtenBy: Service; readBy: readonly Service[] }>;

export type BucketName = keyof typeof buckets;
export const bucketNames = Object.keys(buckets) as BucketName[];

/** The stream in which NATS keeps a bucket. */
export const bucketStream = (bucket: BucketName): string => `KV_${bucket}`;

/** Who makes stream, durables and buckets, and may do nothing else. */
export const PROVISIONER = 'provisioner';
export type BusUser = Service | typeof PROVISIONER;

/** Where a user hears answers, and nobody else does. */
export const inboxPrefix = (user: string): string => `_INBOX.${user}`;

/** Older ones may lose what they have acknowledged when the power goes, and let users read what is not theirs. */
const NATS_WANTED = [2, 10, 20];

/** A bus's URL with the user's name and password in it, as NATS_URL has it. */
export function busUrl(url: string, user: string, password: string): string {
  const own = new URL(url);
  own.username = encodeURIComponent(user);
  own.password = encodeURIComponent(password);
  return own.href;
}

/** The driver takes no credentials in a URL, and what it says of a server must not hold a password. */
function serverOf(text: string): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'tls'> {
  const { url, tls } = readTlsUrl(text);
  const user = decodeURIComponent(url.username);
  const pass = decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  return {
    servers: url.href,
    ...(user === '' ? {} : { user, pass }),
    // A server that offers no TLS is refused then.
    ...(tls === undefined ? {} : { tls }),
  };
}

/**
 * Connects and stays connected: a bus that is down at start or later is retried for ever, with a log line. Throws
 * StartRefused when it is too old.
 */
export async function connectPatiently(
  url: string,
  name: string,
  logger: Logger,
  stopping?: AbortSignal,
): Promise<NatsConnection> {
  const throttled = throttledLog(logger);
  for (;;) {
    try {
      const bus = await connect({
        ...serverOf(url),
        name,
        inboxPrefix: inboxPrefix(name),
        maxReconnectAttempts: -1,
        // A bus that does not know us yet may be told of us later.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: 500,
        pingInterval: 5_000,
        maxPingOut: 2,
        timeout: 3_000,
        // A stack trace made for every publication in case it fails is a seventh of the relay's work.
        noAsyncTraces: true,
      });
      await refuseOld(bus);
      return bus;
    } catch (error) {
      if (stopping?.aborted === true || error instanceof StartRefused) throw error;
      const why = isCertificateRefused(error)
        ? await certificateProblem(url, error, new Date())
        : reason(error);
      throttled.log('warn', why, { reason: why }, 'the bus is not there yet, trying again every second');
      await sleep(1_000, stopping);
    }
  }
}

async function refuseOld(bus: NatsConnection): Promise<void> {
  const version = bus.info?.version;
  if (version === undefined || !isOlder(version, NATS_WANTED)) return;
  await bus.close();
  throw tooOld('nats-server', version, NATS_WANTED);
}

/**
 * Closes the attempts to connect that the driver has given up. By itself (nats 2.29.3) it leaves their sockets open. A NATS
 * that hung answers them all when it goes on, and closes each, as nobody logs in on it. The driver takes each for the end
 * of its connection, opens another beside it, and reads what both bring as one stream. Then it stops reading, and hears nothing
 * until it misses the answers to its pings, and does so again and again.
 */
function closeAttemptsGivenUp(): void {
  const { close, dial } = NodeTransport.prototype;
  const givenUp = new WeakSet<NodeTransport>();
  Object.assign(NodeTransport.prototype, {
    // What has no connection yet is closed by the driver for one reason: its time is over.
    async close(this: NodeTransport, error?: Error): Promise<void> {
      if (!this.connected) {
        givenUp.add(this);
        // There is none before TCP has connected.
        (this.socket as typeof this.socket | undefined)?.destroy();
      }
      await close.call(this, error);
    },
    async dial(this: NodeTransport, server: Parameters<typeof dial>[0]): ReturnType<typeof dial> {
      const socket = await dial.call(this, server);
      if (!givenUp.has(this)) return socket;
      socket.destroy();
      throw new Error('the attempt was given up before NATS was connected to');
    },
  });
}
closeAttemptsGivenUp();
