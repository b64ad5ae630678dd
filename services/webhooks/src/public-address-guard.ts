import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;
/** Attempts at one name that start together share an answer of this age; no attempt goes by an older one. */
const ANSWER_MS_MAX = 1_000;

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

export type AddressGuardOptions = {
  /** Only public addresses. */
  publicOnly: boolean;
  resolve?: Resolve;
  /** Tests only: which addresses are public, and who is asked for them. */
  isPublic?: (address: string) => boolean;
  dnsServers?: readonly string[];
};

export class PrivateAddressError extends Error {
  constructor(hostname: string) {
    super(`${hostname} is not on the public internet`);
    this.name = 'PrivateAddress';
  }
}

export class NotResolvedError extends Error {
  constructor(hostname: string, options?: ErrorOptions) {
    super(`${hostname} has no address`, options);
    this.name = 'NotResolved';
  }
}

/**
 * The addresses that the host of a URL leads to at this moment: at least one, and each of them may be connected to.
 * Throws PrivateAddressError when a single one of them may not, NotResolvedError when there is none.
 */
export function createAddressGuard({
  publicOnly,
  resolve,
  isPublic = isPublicAddress,
  dnsServers,
}: AddressGuardOptions): Resolve {
  const resolveName =
    resolve ?? (publicOnly ? fromDns(dnsServers) : (hostname) => systemLookup(hostname, { all: true }));
  const answers = new Map<string, Promise<LookupAddress[]>>();
  const ask = (hostname: string) => {
    const known = answers.get(hostname);
    if (known !== undefined) return known;
    const asked = resolveName(hostname).catch((error: unknown) => {
      throw new NotResolvedError(hostname, { cause: error });
    });
    answers.set(hostname, asked);
    const forgetSoon = () => void setTimeout(() => answers.delete(hostname), ANSWER_MS_MAX).unref();
    asked.then(forgetSoon, forgetSoon);
    return asked;
  };
  return async (hostname) => {
    const literal = literalOf(hostname);
    const addresses =
      literal === undefined ? await ask(hostname) : [{ address: literal, family: isIP(literal) }];
    if (addresses.length === 0) throw new NotResolvedError(hostname);
    if (publicOnly && !addresses.every(({ address }) => isPublic(address)))
      throw new PrivateAddressError(hostname);
    return addresses;
  };
}

/**
 * Asks DNS itself, not the system's resolver: that one knows names of this machine's network, and its few
 * threads would be taken by names whose servers do not answer.
 */
function fromDns(servers: readonly string[] | undefined): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    return found;
  };
}

/** Names that never lead out of the machine or its network (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`). */
const privateEndings = ['localhost', 'local', 'internal', 'home.arpa', 'localdomain', 'invalid', 'onion'];
/** The one block of IPv6 that is handed out; what IANA has not opened yet is nobody's public address. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address, in any of its written forms, is one that the public internet routes to one machine. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6 ? address.match(globalUnicast) : true;
}

/** The address that stands in a URL in place of a name, undefined when there is a name. */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** One spelling for each address; an IPv4 address that is wrapped in an IPv6 one is the IPv4 address. */
export const canonicalAddress = (address: string): string => ipaddr.process(address).toString();

const NAME_CHARACTERS_MAX = 253;
/** Letters, digits and hyphens, neither first nor last a hyphen (RFC 1123); names in other scripts come as such (`xn--`). */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a URL's host is one that DNS can know: an address, or a name without an empty or too long part. */
export function isHost(hostname: string): boolean {
  if (literalOf(hostname) !== undefined) return true;
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name.length <= NAME_CHARACTERS_MAX && name.split('.').every((part) => label.test(part));
}

/**
 * Whether a URL's host may be public, as far as that can be seen without asking DNS: what a name leads to is
 * judged at each attempt.
 */
export function canBePublic(hostname: string): boolean {
  const literal = literalOf(hostname);
  if (literal !== undefined) return isPublicAddress(literal);
  if (!isHost(hostname)) return false;
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name.includes('.') && !privateEndings.some((ending) => name.endsWith(`.${ending}`));
}
