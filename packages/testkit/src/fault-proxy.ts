import { type AddressInfo, connect, createServer } from 'node:net';
import { seeded } from './seeded.ts';

/**
 * What stands between a service and its node or engine, and how it fails:
 * - `pass`: as if it were not there.
 * - `latency`: every piece of an answer comes so much later.
 * - `black hole`: what is sent arrives nowhere, nothing comes back, and no connection is closed.
 * - `reset`: of its answers a connection gives so many bytes and is cut off.
 * - `lose answers`: of HTTP JSON-RPC. A request with one of these methods reaches the node, which does what it asks;
 *   with this probability the connection is cut off when its answer comes.
 */
export type Fault =
  | { kind: 'pass' }
  | { kind: 'latency'; ms: number }
  | { kind: 'black hole' }
  | { kind: 'reset'; afterBytes: number }
  | { kind: 'lose answers'; methods: Readonly<Record<string, number>> };

export type FaultProxy = {
  /** The target's URL by way of the proxy, with its credentials and path. */
  url: string;
  /** From now on, on the connections that are open as well. */
  set(fault: Fault): void;
  /** How many requests of each method went through, and how many of them lost their answer. */
  counted(method: string): { asked: number; lost: number };
  close(): Promise<void>;
};

/** Stands before `target`, an http:// or any other URL with host and port. The same seed loses the same answers. */
export async function startFaultProxy(target: string, seed = 1): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const random = seeded(seed);
  const counts = new Map<string, { asked: number; lost: number }>();
  const open = new Set<() => void>();
  const changed = new Set<() => void>();
  let fault: Fault = { kind: 'pass' };

  const countOf = (method: string) => {
    const known = counts.get(method) ?? { asked: 0, lost: 0 };
    counts.set(method, known);
    return known;
  };

  /** Whether the answer to a request with this body is to be lost. A batch is lost if one of its calls is. */
  function isLost(body: string): boolean {
    let lost = false;
    for (const method of methodsOf(body)) {
      const count = countOf(method);
      count.asked += 1;
      const share = fault.kind === 'lose answers' ? (fault.methods[method] ?? 0) : 0;
      if (share === 0 || random() >= share) continue;
      count.lost += 1;
      lost = true;
    }
    return lost;
  }

  const server = createServer((client) => {
    // tidy-allow number: a port
    const node = connect(Number(port), hostname);
    let answered = 0;
    let dropsAnswer = false;
    const end = () => {
      client.destroy();
      node.destroy();
      open.delete(end);
      changed.delete(adapt);
    };
    /** In a black hole nothing is read, so that it waits where it is and goes on afterwards. */
    const adapt = () => {
      for (const socket of [client, node]) fault.kind === 'black hole' ? socket.pause() : socket.resume();
    };
    open.add(end);
    changed.add(adapt);
    for (const socket of [client, node]) socket.on('error', end).on('close', end);

    const requests = requestReader((body) => {
      dropsAnswer = isLost(body);
    });
    client.on('data', (bytes) => {
      requests(bytes);
      node.write(bytes);
    });
    node.on('data', (bytes) => {
      if (dropsAnswer) return end();
      const left = fault.kind === 'reset' ? fault.afterBytes - answered : Number.POSITIVE_INFINITY;
      answered += bytes.length;
      if (bytes.length >= left) {
        node.pause();
        client.write(bytes.subarray(0, Math.max(0, left)), () => client.resetAndDestroy());
      } else if (fault.kind === 'latency') setTimeout(() => client.write(bytes), fault.ms);
      else client.write(bytes);
    });
    adapt();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    set(next) {
      fault = next;
      for (const adapt of changed) adapt();
    },
    counted: (method) => ({ ...countOf(method) }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const end of open) end();
      }),
  };
}

/** Takes the pieces of HTTP requests as they come and hands over each body, before its last piece is sent on. */
function requestReader(take: (body: string) => void): (bytes: Buffer) => void {
  let waiting = Buffer.alloc(0);
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
      const headEnd = waiting.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const length = /^content-length: *(\d+)/im.exec(waiting.toString('latin1', 0, headEnd))?.[1] ?? '0';
      // tidy-allow number: a length
      const end = headEnd + 4 + Number(length);
      if (waiting.length < end) return;
      take(waiting.toString('utf8', headEnd + 4, end));
      waiting = waiting.subarray(end);
    }
  };
}

function methodsOf(body: string): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  return [parsed].flat().flatMap((call) => {
    const method = (call as { method?: unknown } | null)?.method;
    return typeof method === 'string' ? [method] : [];
  });
}
