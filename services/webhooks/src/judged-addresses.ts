import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress, literalOf } from './public-address.ts';

const DNS_TIMEOUT_MS = 2_500;
const DNS_TRIES = 2;
/** Attempts at one name that start together share an answer of this age; no attempt goes by an older one. */
const ANSWER_MS_MAX = 1_000;

/** Resolves a name to all its addresses. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

export type JudgeOptions = {
  /** Only public addresses. */
  publicOnly: boolean;
  resolve?: Resolve;
  /** Tests only: which addresses are public, and who is asked for them. */
  isPublic?: (address: string) => boolean;
  dnsServers?: readonly string[];
};

export class PrivateAddress extends Error {
  constructor(hostname: string) {
    super(`${hostname} is not on the public internet`);
    this.name = 'PrivateAddress';
  }
}

export class NotResolved extends Error {
  constructor(hostname: string, options?: ErrorOptions) {
    super(`${hostname} has no address`, options);
    this.name = 'NotResolved';
  }
}

/**
 * The addresses that the host of a URL leads to at this moment: at least one, and each of them may be connected to.
 * Throws PrivateAddress when a single one of them may not, NotResolved when there is none.
 */
export function judgeOf({
  publicOnly,
  resolve,
  isPublic = isPublicAddress,
  dnsServers,
}: JudgeOptions): Resolve {
  const resolveName =
    resolve ?? (publicOnly ? fromDns(dnsServers) : (hostname) => systemLookup(hostname, { all: true }));
  const answers = new Map<string, Promise<LookupAddress[]>>();
  const ask = (hostname: string) => {
    const known = answers.get(hostname);
    if (known !== undefined) return known;
    const asked = resolveName(hostname).catch((error: unknown) => {
      throw new NotResolved(hostname, { cause: error });
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
    if (addresses.length === 0) throw new NotResolved(hostname);
    if (publicOnly && !addresses.every(({ address }) => isPublic(address)))
      throw new PrivateAddress(hostname);
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
