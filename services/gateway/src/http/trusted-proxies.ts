import type { IncomingMessage } from 'node:http';
import type { Logger } from '@quittance/shared/logger';
import { clientAddress, isTrusted, parseNetworks } from '../domain/client-address.ts';

/** What stands between the gateway and its clients, and whose word on them is believed. */
export type TrustedProxies = {
  isTrusted(address: string | undefined): boolean;
  /** The address of the client; undefined when it has gone. */
  clientOf(req: IncomingMessage): string | undefined;
  /** What an operator should know, for `/readyz`. */
  warnings(): string[];
};

/** Anybody can say that he is a proxy: of more than so many the log says nothing. */
const WARNED_OF_MAX = 10;
const WARNING =
  'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name: it is not believed, and all who come from there count as one client';

/** @param settings TRUSTED_PROXIES */
export function trustedProxies(settings: readonly string[], logger: Logger): TrustedProxies {
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
    isTrusted: (address) => isTrusted(address, trusted),
    clientOf({ headers, socket }) {
      // Node joins several headers of this name to one text.
      const given = headers['x-forwarded-for'];
      const forwardedFor = Array.isArray(given) ? given.join() : given;
      if (forwardedFor !== undefined) warnOf(socket.remoteAddress);
      return clientAddress(socket.remoteAddress, forwardedFor, trusted);
    },
    warnings: () => (warnedOf.size === 0 ? [] : [WARNING]),
  };
}
