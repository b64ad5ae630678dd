import { connect, createServer, type Socket } from 'node:net';
import { requestReader } from './fault-proxy-http.ts';
import { postgresReader } from './fault-proxy-postgres.ts';
import { localPort } from './local-port.ts';
import { seeded } from './seeded.ts';

/**
 * What stands between a service and its node or engine, and how it fails:
 * - `pass`: as if it were not there.
 * - `latency`: every piece of an answer comes so much later.
 * - `black hole`: what is sent arrives nowhere, nothing comes back, and no connection is closed.
 * - `refuse`: every connection is cut off, and so is each new one.
 * - `reset`: of its answers a connection gives so many bytes and is cut off. With `upTo` each connection gives another
 *   number of them: an answer that is larger than one connection gives would never get through, however often it is
 *   asked for.
 * - `half-close`: of its answers a connection gives so many bytes and says that no more will come; it still takes
 *   what is sent.
 * - `drip`: answers come in drops of so many bytes, one every so often.
 * - `lose answers`: of HTTP JSON-RPC. A request with one of these methods reaches the node, which does what it asks;
 *   with this probability the connection is cut off when its answer comes.
 * - `cut commits`: of Postgres. With this probability the connection is cut off in the middle of a commit: `before`
 *   Postgres got it, so that nothing stands, or `after` it was done, so that all stands and nobody was told.
 */
export type Fault =
  | { kind: 'pass' }
  | { kind: 'latency'; ms: number }
  | { kind: 'black hole' }
  | { kind: 'refuse' }
  | { kind: 'reset'; afterBytes: number; upTo?: number }
  | { kind: 'half-close'; afterBytes: number; upTo?: number }
  | { kind: 'drip'; bytes: number; everyMs: number }
  | { kind: 'lose answers'; methods: Readonly<Record<string, number>> }
  | { kind: 'cut commits'; when: 'before' | 'after'; share: number };

export type FaultProxy = {
  /** The target's URL by way of the proxy, with its credentials and path. */
  url: string;
  /** Another URL of the same target by way of the proxy: other credentials, another database. */
  through(url: string): string;
  /** From now on, on the connections that are open as well. */
  set(fault: Fault): void;
  /** New connections go to the host and port of this URL, and those that are open are cut off. */
  leadTo(url: string): void;
  /** Cuts off every connection that is open, and answers how many there were. */
  cut(): number;
  /** How often the fault that is set did something: connections held up or cut, answers slowed down or lost. */
  fired(): number;
  /** How many requests of each method went through, and how many of them lost their answer. */
  counted(method: string): { asked: number; lost: number };
  close(): Promise<void>;
};

/** Stands before `target`, a URL with host and port. The same seed loses the same answers. */
export async function startFaultProxy(target: string, seed = 1): Promise<FaultProxy> {
  const { protocol } = new URL(target);
  let end = new URL(target);
  const isPostgres = protocol.startsWith('postgres');
  const isHttp = protocol.startsWith('http');
  const random = seeded(seed);
  const counts = new Map<string, { asked: number; lost: number }>();
  const open = new Set<{ cut(): void; adapt(): void }>();
  let fault: Fault = { kind: 'pass' };
  let fired = 0;

  const countOf = (method: string) => {
    const known = counts.get(method) ?? { asked: 0, lost: 0 };
    counts.set(method, known);
    return known;
  };

  /** Whether the answer to a request for these methods is to be lost. A batch is lost if one of its calls is. */
  function isLost(methods: readonly string[]): boolean {
    let lost = false;
    for (const method of methods) {
      const count = countOf(method);
      count.asked += 1;
      const share = fault.kind === 'lose answers' ? (fault.methods[method] ?? 0) : 0;
      if (share === 0 || random() >= share) continue;
      count.lost += 1;
      fired += 1;
      lost = true;
    }
    return lost;
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    // eslint-disable-next-line no-restricted-syntax -- a port
    const node = connect({ port: Number(end.port), host: end.hostname, allowHalfOpen: true });
    const [toNode, toClient] = [direction(node), direction(client)];
    const postgres = postgresReader();
    let answered = 0;
    let dropsAnswer = false;
    /** Where between the least and the most this connection ends. */
    let share: number | undefined;

    const cut = () => {
      // One that is on its way to its end already cannot be reset, and would keep its handle.
      if (client.readyState === 'open' && client.writableLength === 0) client.resetAndDestroy();
      else client.destroy();
      node.destroy();
      open.delete(connection);
    };
    const adapt = () => {
      if (fault.kind === 'refuse') {
        fired += 1;
        cut();
        return;
      }
      if (fault.kind === 'black hole') fired += 1;
      // In a black hole nothing is read, so that it waits where it is and goes on afterwards.
      for (const socket of [client, node]) fault.kind === 'black hole' ? socket.pause() : socket.resume();
    };
    const connection = { cut, adapt };
    open.add(connection);

    const requests = requestReader((methods) => {
      if (isLost(methods)) dropsAnswer = true;
    });
    const [fromClient, fromNode] = isPostgres ? [sentToPostgres, saidByPostgres] : [sent, said];
    client.on('data', fromClient).on('end', toNode.end);
    node.on('data', fromNode).on('end', toClient.end);
    for (const socket of [client, node]) socket.on('error', cut);
    client.on('close', () => {
      if (node.destroyed || toNode.isEmpty()) node.destroy();
      open.delete(connection);
    });
    node.on('close', () => {
      if (toClient.isEmpty()) client.end();
    });

    function sent(bytes: Buffer): void {
      if (isHttp) requests(bytes);
      toNode.give(bytes, 0);
    }

    function said(bytes: Buffer): void {
      if (dropsAnswer) cut();
      else answer(bytes);
    }

    function sentToPostgres(bytes: Buffer): void {
      const { before, commit } = postgres.sent(bytes);
      if (before.length > 0) toNode.give(before, 0);
      if (commit === undefined) return;
      if (fault.kind === 'cut commits' && random() < fault.share) {
        fired += 1;
        if (fault.when === 'before') {
          cut();
          return;
        }
        dropsAnswer = true;
      }
      toNode.give(commit, 0);
    }

    function saidByPostgres(bytes: Buffer): void {
      const done = postgres.answered(bytes);
      if (!dropsAnswer) answer(bytes);
      else if (done) cut();
    }

    function answer(bytes: Buffer): void {
      const before = answered;
      answered += bytes.length;
      if (fault.kind === 'latency') {
        fired += 1;
        toClient.give(bytes, fault.ms);
      } else if (fault.kind === 'drip') {
        fired += 1;
        for (let from = 0; from < bytes.length; from += fault.bytes) {
          toClient.give(bytes.subarray(from, from + fault.bytes), 0, fault.everyMs);
        }
      } else if ((fault.kind === 'reset' || fault.kind === 'half-close') && answered >= givenOf(fault)) {
        node.pause();
        fired += 1;
        toClient.give(bytes.subarray(0, Math.max(0, givenOf(fault) - before)), 0);
        if (fault.kind === 'half-close') toClient.end();
        else client.write('', cut);
      } else toClient.give(bytes, 0);
    }

    function givenOf({ afterBytes, upTo }: { afterBytes: number; upTo?: number }): number {
      if (upTo === undefined) return afterBytes;
      share ??= random();
      return Math.floor(afterBytes + share * (upTo - afterBytes));
    }

    adapt();
  });
  const port = await localPort(server);

  const through = (url: string) => {
    const here = new URL(url);
    here.host = `127.0.0.1:${port}`;
    return here.href;
  };
  return {
    url: through(target),
    through,
    set(next) {
      fault = next;
      fired = 0;
      for (const { adapt } of [...open]) adapt();
    },
    leadTo(url) {
      end = new URL(url);
      for (const { cut } of [...open]) cut();
    },
    cut() {
      const cuts = [...open];
      for (const { cut } of cuts) cut();
      return cuts.length;
    },
    fired: () => fired,
    counted: (method) => ({ ...countOf(method) }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { cut } of [...open]) cut();
      }),
  };
}

type Direction = {
  /** Goes out so many ms from now, and so many after what was given before; never before that. */
  give(bytes: Buffer, delayMs: number, afterLastMs?: number): void;
  /** Says that there is no more, when all has gone out. */
  end(): void;
  isEmpty(): boolean;
};

/** One direction of a connection: what is given goes out in its order, whatever the delays. */
function direction(to: Socket): Direction {
  const waiting: { bytes: Buffer; due: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastDue = 0;
  let ends = false;

  function flush(): void {
    timer = undefined;
    for (;;) {
      const [first] = waiting;
      if (first === undefined) break;
      const left = first.due - performance.now();
      if (left > 0) {
        timer = setTimeout(flush, Math.ceil(left));
        return;
      }
      waiting.shift();
      if (to.writable) to.write(first.bytes);
    }
    if (ends && to.writable) to.end();
  }

  return {
    give(bytes, delayMs, afterLastMs = 0) {
      lastDue = Math.max(performance.now() + delayMs, lastDue + afterLastMs);
      waiting.push({ bytes, due: lastDue });
      if (timer === undefined) flush();
    },
    end() {
      ends = true;
      if (timer === undefined) flush();
    },
    isEmpty: () => waiting.length === 0,
  };
}
