import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;
/** Attempts that start within this time share a DNS answer. */
const ANSWER_MS_MAX = 1_000;

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

export type AddressGuardOptions = {
  /** Only public addresses. */
  publicOnly: boolean;
  resolve?: Resolve;
  /** Tests only: which addresses are public, and which DNS servers are used. */
  isPublic?: (address: string) => boolean;
  dnsServers?: readonly string[];
};

const problems = {
  private_address: 'is not on the public internet',
  not_resolved: 'has no address',
} as const;

/** A host that nothing is sent to. */
export class HostRefused extends Error {
  readonly failure: keyof typeof problems;

  constructor(hostname: string, failure: keyof typeof problems, options?: ErrorOptions) {
    super(`${hostname} ${problems[failure]}`, options);
    this.name = 'HostRefused';
    this.failure = failure;
  }
}

/**
 * Resolves the host of a URL to its current addresses: at least one, and all of them public.
 * Throws HostRefused when any of them is not public, and when there is none.
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
      throw new HostRefused(hostname, 'not_resolved', { cause: error });
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
    if (addresses.length === 0) throw new HostRefused(hostname, 'not_resolved');
    if (publicOnly && !addresses.every(({ address }) => isPublic(address)))
      throw new HostRefused(hostname, 'private_address');
    return addresses;
  };
}

/**
 * Queries DNS directly. The system's resolver also knows names of the local network, and names whose servers do not
 * answer would occupy its few threads.
 */
function fromDns(servers: readonly string[] | undefined): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const asked = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
}

/** Names that never resolve to a public address (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`). */
const privateEndings = ['localhost', 'local', 'internal', 'home.arpa', 'localdomain', 'invalid', 'onion'];
/** The only block of IPv6 that IANA allocates; other addresses are not public. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address, in any notation, is a public unicast address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6 ? address.match(globalUnicast) : true;
}

/** The address when the host of a URL is an IP literal; undefined for a name. */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** One notation per address. An IPv4-mapped IPv6 address is the IPv4 address. */
export const canonicalAddress = (address: string): string => ipaddr.process(address).toString();

const NAME_CHARACTERS_MAX = 253;
/** Letters, digits and hyphens, no hyphen first or last (RFC 1123). International names arrive in this form (`xn--`). */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a URL's host is an IP address or a valid DNS name. */
export function isHost(hostname: string): boolean {
  if (literalOf(hostname) !== undefined) return true;
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name.length <= NAME_CHARACTERS_MAX && name.split('.').every((part) => label.test(part));
}

/**
 * Whether a URL's host may be public, as far as that is known without DNS. The addresses of a name are checked at each
 * attempt.
 */
export function canBePublic(hostname: string): boolean {
  const literal = literalOf(hostname);
  if (literal !== undefined) return isPublicAddress(literal);
  if (!isHost(hostname)) return false;
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name.includes('.') && !privateEndings.some((ending) => name.endsWith(`.${ending}`));
}
