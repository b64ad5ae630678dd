import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network of this size is one household or one machine: each of its 2^64 addresses is the same client. */
const V6_NETWORK_GROUPS = 4;
const V4_MAPPED_BITS = 96;

/** The names that express gives to the networks load balancers usually stand in. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * An address in any form that a proxy writes: with a port, in brackets, with a zone. An IPv4 address that is wrapped in
 * an IPv6 one is the IPv4 address. Undefined when it is none.
 */
function parseAddress(text: string): Address | undefined {
  const bare = /^(?:\[(.+)\]|([\d.]+))(?::\d{1,5})?$/.exec(text.trim());
  const given = bare?.[1] ?? bare?.[2] ?? text.trim();
  // Not all that ipaddr.js takes: nobody means 0.0.0.1 by "1".
  if (ipaddr.IPv4.isValidFourPartDecimal(given)) return ipaddr.IPv4.parse(given);
  const [withoutZone = ''] = given.split('%');
  if (!ipaddr.IPv6.isValid(withoutZone)) return undefined;
  const address = ipaddr.IPv6.parse(withoutZone);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

export type Network = readonly [address: Address, bits: number];

/** An address, a network as address/bits, or one of express' names; undefined when it is none of them. */
export function parseNetworks(text: string): readonly Network[] | undefined {
  const known = Object.hasOwn(named, text) ? named[text] : undefined;
  if (known !== undefined) return known.flatMap((network) => parseNetworks(network) ?? []);
  const single = parseAddress(text);
  if (single !== undefined) return [[single, single.toByteArray().length * 8]];
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text) && !ipaddr.IPv6.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= V4_MAPPED_BITS
    ? [[address.toIPv4Address(), bits - V4_MAPPED_BITS]]
    : [[address, bits]];
}

/**
 * One address, or a network as address/bits: what the list of a token has. A name, a port, and a network whose address is not
 * its first one are none: 10.0.0.1/8 may mean the address or the network.
 */
export function readNetwork(text: string): Network | undefined {
  if (!/^[\da-f.:]+(?:\/\d{1,3})?$/i.test(text) || /^[\d.]+:\d/.test(text)) return undefined;
  const [network] = parseNetworks(text) ?? [];
  if (network === undefined) return undefined;
  const [address, bits] = network;
  const version = address instanceof ipaddr.IPv6 ? ipaddr.IPv6 : ipaddr.IPv4;
  return version.networkAddressFromCIDR(`${address}/${bits}`).toString() === address.toString()
    ? network
    : undefined;
}

/** Those of these texts that are networks. */
export const networksOf = (texts: readonly string[]): Network[] =>
  texts.map(readNetwork).filter((network) => network !== undefined);

/** As Postgres writes it. */
export const networkText = ([address, bits]: Network): string => `${address}/${bits}`;

/** Whether each address of the inner network is in the outer one. */
export const covers = ([outer, bits]: Network, [inner, innerBits]: Network): boolean =>
  outer.kind() === inner.kind() && innerBits >= bits && inner.match(outer, bits);

/**
 * Whether a client may use a token that has a list of networks.
 * @param address one spelling, as `clientAddress` returns it; undefined when the client has gone
 */
export const isAllowed = (address: string | undefined, allowed: readonly string[] | null): boolean =>
  allowed === null || isTrusted(address, networksOf(allowed));

const isIn = (address: Address, networks: readonly Network[]): boolean =>
  networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));

/** Whether the word of this address about its clients is believed. */
export function isTrusted(address: string | undefined, trusted: readonly Network[]): boolean {
  const parsed = address === undefined ? undefined : parseAddress(address);
  return parsed !== undefined && isIn(parsed, trusted);
}

/**
 * Whose request it is: the last address of X-Forwarded-For that no trusted proxy has, starting with the neighbour itself.
 * A word in it that is no address ends the search: the proxy that passed it on is the client.
 * @returns one spelling for each address; undefined when the neighbour has gone
 */
export function clientAddress(
  neighbour: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Network[],
): string | undefined {
  let client = neighbour === undefined ? undefined : parseAddress(neighbour);
  if (client === undefined) return undefined;
  for (const word of forwardedFor?.split(',').reverse() ?? []) {
    if (!isIn(client, trusted)) break;
    const next = parseAddress(word);
    if (next === undefined) break;
    client = next;
  }
  return client.toString();
}

/** What counts as one client for limits: an IPv4 address, or the /64 network of an IPv6 address. */
export function clientKeyOf(address: string | undefined): string {
  const parsed = address === undefined ? undefined : parseAddress(address);
  if (parsed === undefined) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, V6_NETWORK_GROUPS).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}
