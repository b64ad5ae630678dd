import { type AddressInfo, connect, createServer } from 'node:net';
import {
  delivery,
  type Frame,
  frameReader,
  isAcknowledgement,
  isEvent,
  isFor,
  isProcessed,
  isQuestion,
  type Message,
  messageOf,
  nameIn,
  publication,
  publicationOf,
  unknownToTheBroker,
} from './bus-shim-frames.ts';
import { seeded } from './seeded.ts';

/**
 * What a bus may do to those who talk by it. Of events:
 * - `doubled publication`: it is stored two to five times, the copies without the name that doubles are known by.
 * - `lost publication`: it never arrives, and its sender hears nothing.
 * - `lost receipt`: it is stored, and its sender hears nothing.
 * - `false receipt`: its sender hears that it is stored, and it is not.
 * - `doubled delivery`: its receiver is handed it two to five times.
 * - `reordered delivery`: it comes up to a second and a half later, after others that were sent later.
 * - `lost delivery`: it is handed out and does not arrive.
 * - `lost acknowledgement`: NATS does not hear that it was processed.
 *
 * Of questions, which somebody waits for the answer of:
 * - `lost question`, `lost answer`: the one is not heard, or the other.
 * - `doubled question`: it is heard twice.
 * - `late question`: it is heard when its sender has long stopped waiting.
 */
export const busFaults = [
  'doubled publication',
  'lost publication',
  'lost receipt',
  'false receipt',
  'doubled delivery',
  'reordered delivery',
  'lost delivery',
  'lost acknowledgement',
  'lost question',
  'lost answer',
  'doubled question',
  'late question',
] as const;
export type BusFault = (typeof busFaults)[number];

export type BusShim = {
  /** The broker's URL by way of the shim, with its credentials. */
  url: string;
  /** Another URL of the same broker by way of the shim: other credentials. */
  through(url: string): string;
  /** With these probabilities from now on; what is not named does not happen. */
  set(shares: Partial<Record<BusFault, number>>): void;
  /** How often each fault happened, since the shim began. */
  fired(fault: BusFault): number;
  /**
   * A day later: every event that was published until now comes again, under the name of its sender and in another
   * order, when the broker has long forgotten that it knows it. Answers how many.
   */
  tomorrow(): number;
  /** How many of those the broker did store again and their receivers were handed. */
  cameAgain(): number;
  /** Says something on the connection of a service, with what that service may do. Answers whether it has one. */
  publish(service: string, subject: string, payload: Buffer | string): boolean;
  /** Hands something to a service as if the broker had let it through. Answers whether it takes events. */
  deliver(service: string, subject: string, payload: Buffer | string): boolean;
  close(): Promise<void>;
};

const COPIES_MIN = 2;
const COPIES_MAX = 5;
const REORDERED_WITHIN_MS = 1_500;
/** Longer than anybody waits for an answer. */
const LATE_MS = 6_000;

type Connection = {
  name: string;
  subscriptions: Map<string, string>;
  /** Where its last event was handed to it. */
  events: Message | undefined;
  toServer(bytes: Buffer): void;
  toClient(bytes: Buffer): void;
  cut(): void;
};
type Published = { service: string; subject: string; payload: Buffer };

/**
 * Stands between services and a NATS server, speaks its protocol and lies by it. The same seed chooses alike for
 * the same messages in the same order.
 */
export async function startBusShim(target: string, seed = 1): Promise<BusShim> {
  const { hostname, port } = new URL(target);
  const random = seeded(seed);
  const counts = new Map<BusFault, number>();
  const connections = new Set<Connection>();
  const timers = new Set<NodeJS.Timeout>();
  const published: Published[] = [];
  /** What was said again and has not come yet, and how many times each. */
  const awaitedAgain = new Map<string, number>();
  let cameAgain = 0;
  let shares: Partial<Record<BusFault, number>> = {};

  const happens = (fault: BusFault): boolean => {
    const share = shares[fault] ?? 0;
    if (share === 0 || random() >= share) return false;
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    return true;
  };
  const noteAgain = (what: string) => {
    const left = awaitedAgain.get(what) ?? 0;
    if (left === 0) return;
    awaitedAgain.set(what, left - 1);
    cameAgain += 1;
  };
  const copies = () => COPIES_MIN + Math.floor(random() * (COPIES_MAX - COPIES_MIN + 1));
  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer);
  };

  const server = createServer((client) => {
    // eslint-disable-next-line no-restricted-syntax -- a port
    const broker = connect(Number(port), hostname);
    const cut = () => {
      client.destroy();
      broker.destroy();
      connections.delete(here);
    };
    const here: Connection = {
      name: '',
      subscriptions: new Map(),
      events: undefined,
      toServer: (bytes) => void (broker.writable && broker.write(bytes)),
      toClient: (bytes) => void (client.writable && client.write(bytes)),
      cut,
    };
    /** Where it awaits that an event is stored, and where answers to its questions. */
    const receipts = new Set<string>();
    const answers = new Set<string>();
    connections.add(here);
    for (const socket of [client, broker]) socket.setNoDelay(true).on('error', cut).on('close', cut);

    client.on(
      'data',
      frameReader((frame) => {
        switch (frame.op) {
          case 'CONNECT':
            here.name = nameIn(frame);
            break;
          case 'SUB':
            here.subscriptions.set(frame.args.at(-1) ?? '', frame.args[0] ?? '');
            break;
          case 'UNSUB':
            // With a number of messages it goes on until those have come.
            if (frame.args.length === 1) here.subscriptions.delete(frame.args[0] ?? '');
            break;
          case 'PUB':
          case 'HPUB':
            said(frame);
            return;
          default:
            break;
        }
        here.toServer(frame.raw);
      }),
    );
    broker.on(
      'data',
      frameReader((frame) => {
        if (frame.op === 'MSG' || frame.op === 'HMSG') heard(frame);
        else here.toClient(frame.raw);
      }),
    );

    function said(frame: Frame): void {
      const { subject, reply } = publicationOf(frame);
      if (isEvent(subject)) sayEvent(frame, subject, reply);
      else if (isQuestion(subject)) ask(frame, reply);
      else if (isAcknowledgement(subject) && isProcessed(frame) && happens('lost acknowledgement')) return;
      else here.toServer(frame.raw);
    }

    function sayEvent({ raw, payload }: Frame, subject: string, reply: string | undefined): void {
      published.push({ service: here.name, subject, payload: Buffer.from(payload) });
      if (happens('lost publication')) return;
      if (reply !== undefined && happens('false receipt')) {
        giveReceipt(reply);
        return;
      }
      if (reply !== undefined) receipts.add(reply);
      here.toServer(raw);
      if (!happens('doubled publication')) return;
      for (let n = copies(); n > 1; n--) here.toServer(publication(subject, payload));
    }

    function giveReceipt(reply: string): void {
      for (const [sid, pattern] of here.subscriptions) {
        if (!isFor(pattern, reply)) continue;
        const stored = JSON.stringify({ stream: 'EVT', seq: 1 });
        here.toClient(delivery({ subject: reply, sid, reply: undefined }, stored));
        return;
      }
    }

    function ask({ raw }: Frame, reply: string | undefined): void {
      if (happens('lost question')) return;
      if (happens('late question')) {
        later(LATE_MS, () => here.toServer(raw));
        return;
      }
      if (reply !== undefined) answers.add(reply);
      here.toServer(raw);
      if (happens('doubled question')) here.toServer(raw);
    }

    function heard(frame: Frame): void {
      const message = messageOf(frame);
      const { subject } = message;
      if (receipts.delete(subject)) {
        if (happens('lost receipt')) return;
      } else if (answers.delete(subject)) {
        if (happens('lost answer')) return;
      } else if (isEvent(subject)) {
        here.events = message;
        noteAgain(`${subject} ${frame.payload}`);
        handOver(frame);
        return;
      }
      here.toClient(frame.raw);
    }

    function handOver({ raw }: Frame): void {
      if (happens('lost delivery')) return;
      // The pieces of a connection's buffer are used again before a delay is over.
      const kept = Buffer.from(raw);
      const times = happens('doubled delivery') ? copies() : 1;
      for (let n = 0; n < times; n++) {
        if (happens('reordered delivery')) later(random() * REORDERED_WITHIN_MS, () => here.toClient(kept));
        else here.toClient(kept);
      }
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const through = (url: string) => {
    const by = new URL(url);
    by.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return by.href;
  };
  const connectionsOf = (service: string) => [...connections].filter(({ name }) => name === service);

  function publish(service: string, subject: string, payload: Buffer | string): boolean {
    const [connection] = connectionsOf(service);
    connection?.toServer(publication(subject, payload));
    return connection !== undefined;
  }

  return {
    url: through(target),
    through,
    set(next) {
      shares = next;
    },
    fired: (fault) => counts.get(fault) ?? 0,
    tomorrow() {
      const shuffled = published
        .splice(0)
        .map((one) => ({ ...one, at: random() }))
        .sort((a, b) => a.at - b.at);
      return shuffled.filter(({ service, subject, payload }) => {
        const what = `${subject} ${payload}`;
        awaitedAgain.set(what, (awaitedAgain.get(what) ?? 0) + 1);
        return publish(service, subject, payload);
      }).length;
    },
    cameAgain: () => cameAgain,
    publish,
    deliver(service, subject, payload) {
      const connection = connectionsOf(service).find(({ events }) => events !== undefined);
      if (connection?.events === undefined) return false;
      const { sid, reply } = connection.events;
      connection.toClient(delivery({ subject, sid, reply: unknownToTheBroker(reply) }, payload));
      return true;
    },
    close: () =>
      new Promise((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        server.close(() => resolve());
        for (const { cut } of [...connections]) cut();
      }),
  };
}
