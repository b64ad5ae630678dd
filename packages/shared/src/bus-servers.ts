import { lookup } from 'node:dns/promises';
import type { NatsConnection } from 'nats';

/** The addresses of a host. */
export type AddressesOf = (host: string) => Promise<readonly unknown[]>;

// Of IPv4 alone: a host that has an address of each kind is still one.
const addressesOfHost: AddressesOf = (host) => lookup(host, { all: true, family: 4 });

/**
 * What is wrong when several servers have one name and are no cluster, as after `docker compose up --scale nats=2`; undefined
 * otherwise. Also undefined where the name is not known to the resolver: then there is no connection either.
 */
export async function separateServers(
  { info }: Pick<NatsConnection, 'info'>,
  url: string,
  addressesOf: AddressesOf = addressesOfHost,
): Promise<string | undefined> {
  if (info?.cluster !== undefined) return undefined;
  const { length: servers } = await addressesOf(new URL(url).hostname).catch(() => []);
  return servers < 2
    ? undefined
    : `${servers} servers of NATS are no cluster: an event at one is not seen at the others`;
}

/** What to do about it. */
export const RUN_ONE = 'NATS is not scaled: run it without --scale, or as a cluster';
