import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@quittance/shared/logger';
import { clientAddress, clientKeyOf, isTrusted, parseNetworks } from '../domain/client-address.ts';

/** Anybody can say that he is a proxy: of more than so many the log says nothing. */
const WARNED_OF_MAX = 10;
const WARNING =
  'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name: it is not believed, and all who come from there count as one client';

export type TrustedProxies = ReturnType<typeof trustedProxies>;

/**
 * What stands between the gateway and its clients, and whose word on them is believed.
 * @param settings TRUSTED_PROXIES
 */
export function trustedProxies(settings: readonly string[], logger: Logger) {
  const trusted = settings.flatMap((text) => parseNetworks(text) ?? []);
  const warnedOf = new Set<string>();

  function warnOf(neighbour: string | undefined): void {
    if (neighbour === undefined || warnedOf.size >= WARNED_OF_MAX || warnedOf.has(neighbour)) return;
    if (isTrusted(neighbour, trusted)) return;
    warnedOf.add(neighbour);
    logger.warn(
      { address: neighbour },
      `${WARNING}. If a proxy or load balancer of yours has this address, name it in TRUSTED_PROXIES`,
    );
  }

  return {
    isTrusted: (address: string | undefined): boolean => isTrusted(address, trusted),
    /** The address of the client; undefined when it has gone. */
    clientOf({ headers, socket }: IncomingMessage): string | undefined {
      // Node joins several headers of this name to one text.
      const forwardedFor = headers['x-forwarded-for']?.toString();
      if (forwardedFor !== undefined) warnOf(socket.remoteAddress);
      return clientAddress(socket.remoteAddress, forwardedFor, trusted);
    },
    /** What an operator should know, for `/readyz`. */
    warnings: (): string[] => (warnedOf.size === 0 ? [] : [WARNING]),
  };
}

export type ConnectionRules = {
  /** Open at a time, per client. */
  max: number;
  /** Its connections are those of all its clients. */
  isTrusted: TrustedProxies['isTrusted'];
  /** Hears of each connection that was one too many; `isFirst` since this client had none open. */
  refused(client: string, isFirst: boolean): void;
};

export type Connections = {
  /** Whether one more is taken. */
  takes(socket: Socket): boolean;
  /** From now on it does not count: it carries the stream of a page, which has limits of its own. */
  release(socket: Socket): void;
};

/** Counts the open connections of each client. */
export function countConnections({ max, isTrusted, refused }: ConnectionRules): Connections {
  const open = new Map<string, number>();
  const refusedClients = new Set<string>();
  const counted = new WeakMap<Socket, string>();

  function release(socket: Socket): void {
    const client = counted.get(socket);
    if (client === undefined) return;
    counted.delete(socket);
    const left = (open.get(client) ?? 1) - 1;
    if (left === 0) {
      open.delete(client);
      refusedClients.delete(client);
    } else open.set(client, left);
  }

  return {
    takes(socket) {
      if (isTrusted(socket.remoteAddress)) return true;
      const client = clientKeyOf(socket.remoteAddress);
      const count = open.get(client) ?? 0;
      if (count >= max) {
        refused(client, !refusedClients.has(client));
        refusedClients.add(client);
        return false;
      }
      open.set(client, count + 1);
      counted.set(socket, client);
      socket.once('close', () => release(socket));
      return true;
    },
    release,
  };
}

export type PageStreamCounts = {
  /** Counts one more stream of a page for its client until it ends. False when the client has as many as it may have. */
  begins(res: ServerResponse, client: string | undefined): boolean;
  /** How many are open, of all clients. */
  count(): number;
};

/**
 * Counts the open streams of pages of each client: whoever knows many invoices does not take those of all others.
 * @param max open at a time, per client
 */
export function countPageStreams(max: number): PageStreamCounts {
  const open = new Map<string, number>();
  let all = 0;

  function end(client: string): void {
    all -= 1;
    const left = (open.get(client) ?? 1) - 1;
    if (left === 0) open.delete(client);
    else open.set(client, left);
  }

  return {
    begins(res, address) {
      // Its client has gone: `close` is not emitted again, and it would count for ever.
      if (res.destroyed) return true;
      const client = clientKeyOf(address);
      const count = open.get(client) ?? 0;
      if (count >= max) return false;
      open.set(client, count + 1);
      all += 1;
      res.once('close', () => end(client));
      return true;
    },
    count: () => all,
  };
}
