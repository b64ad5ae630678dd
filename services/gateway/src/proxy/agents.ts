import { randomInt } from 'node:crypto';
import { type LookupAddress, type LookupAllOptions, type LookupOptions, lookup } from 'node:dns';
import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';

/** Connections are not kept for longer: a replica that is added has its share within about this time. */
const KEPT_MS = 30_000;
/** Not all at once: those that were made together at a start would be renewed together for ever. */
const KEPT_MORE_MS = 10_000;
/** Node's own 250 ms are over on a busy machine before an address that is there has answered. */
const CONNECT_ATTEMPT_MS = 2_000;

/**
 * Connections to a service of several replicas that share a name. A resolver gives the addresses in the order that it
 * thinks best, the same one first every time; here any may be first, and those after it are tried when it refuses.
 */
export function renewingAgent(protocol: string, options: AgentOptions, resolve: Resolve = lookup): HttpAgent {
  const given = {
    ...options,
    autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS,
    lookup: inAnyOrder(resolve),
  };
  const agent = protocol === 'https:' ? new HttpsAgent(given) : new HttpAgent(given);
  const keep = agent.keepSocketAlive.bind(agent);
  const until = new WeakMap<Socket, number>();
  agent.keepSocketAlive = (stream) => {
    const socket = stream as Socket;
    const now = performance.now();
    const end = until.get(socket) ?? now + KEPT_MS + randomInt(KEPT_MORE_MS);
    until.set(socket, end);
    return now < end && keep(stream);
  };
  return agent;
}

/** dns.lookup, or in tests what answers in its place. */
type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const inAnyOrder =
  (resolve: Resolve): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...(options as LookupOptions), all: true }, (error, addresses) => {
      const order = error === null ? shuffled(addresses) : [];
      const [first] = order;
      if (error !== null || first === undefined) done(error ?? new Error(`${hostname} has no address`), []);
      else if (options.all === true) done(null, order);
      else done(null, first.address, first.family);
    });
  };

const shuffled = (addresses: readonly LookupAddress[]): LookupAddress[] =>
  addresses
    .map((address) => ({ address, at: randomInt(2 ** 32) }))
    .sort((a, b) => a.at - b.at)
    .map(({ address }) => address);
