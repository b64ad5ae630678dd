import ipaddr from 'ipaddr.js';

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
export function literalOf(hostname: string): string | undefined {
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
export function mayBePublic(hostname: string): boolean {
  const literal = literalOf(hostname);
  if (literal !== undefined) return isPublicAddress(literal);
  if (!isHost(hostname)) return false;
  const name = hostname.replace(/\.$/, '').toLowerCase();
  return name.includes('.') && !privateEndings.some((ending) => name.endsWith(`.${ending}`));
}
