const V6_GROUPS = 8;
/** A network of this size is one household or one machine: each of its 2^64 addresses is the same peer. */
const V6_NETWORK_GROUPS = 4;

/** What counts as one peer for limits: an IPv4 address, or the /64 network of an IPv6 address. */
export function peerOf(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [plain = ''] = address.split('%');
  const [head = '', tail = ''] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, V6_GROUPS - before.length - after.length) }, () => '0');
  const groups = [...before, ...zeros, ...after].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
  return `${groups.slice(0, V6_NETWORK_GROUPS).join(':')}::/64`;
}
