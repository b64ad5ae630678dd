import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import {
  AckPolicy,
  type ConsumerMessages,
  connect,
  type JsMsg,
  type NatsConnection,
  StorageType,
} from 'nats';
import { type BusShim, startBusShim } from '../src/bus-shim.ts';
import { type Frame, frameReader, publicationOf } from '../src/bus-shim-frames.ts';
import { eventually } from '../src/eventually.ts';

const TO_LEDGER = 'evt.payouts.ledger.hold.settle';

describe('the frames of the protocol', () => {
  const read = (text: string, cut: number) => {
    const frames: Frame[] = [];
    const reader = frameReader((frame) => frames.push(frame));
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += cut) reader(bytes.subarray(from, from + cut));
    return frames;
  };
  const headers = 'NATS/1.0\r\nNats-Msg-Id: 1\r\n\r\n';
  const said =
    `CONNECT {"name":"ledger"}\r\nPING\r\nPUB a.b 5\r\nab\r\nc\r\nPUB a.b reply 0\r\n\r\n` +
    `HPUB a.b reply ${headers.length} ${headers.length + 2}\r\n${headers}xy\r\nmsg a 7 2\r\nhi\r\n`;

  it.each([1, 2, 7, 1_000])('are the same however they are cut: %i bytes at once', (cut) => {
    const frames = read(said, cut);
    expect(frames.map(({ op }) => op)).toEqual(['CONNECT', 'PING', 'PUB', 'PUB', 'HPUB', 'MSG']);
    expect(Buffer.concat(frames.map(({ raw }) => raw)).toString()).toBe(said);
    expect(frames.map(({ payload }) => payload.toString())).toEqual(['', '', 'ab\r\nc', '', 'xy', 'hi']);
    expect(frames[4]?.headers).toBe(headers);
    expect(frames.slice(2, 5).map(publicationOf)).toEqual([
      { subject: 'a.b', reply: undefined },
      { subject: 'a.b', reply: 'reply' },
      { subject: 'a.b', reply: 'reply' },
    ]);
  });
});

describe('the NATS shim', () => {
  let nats: NatsHandle;
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-nats-'));
  let shim: BusShim;
  let sender: NatsConnection;
  let receiver: NatsConnection;
  let messages: ConsumerMessages;
  let taken: { id: string; stored: number; tries: number }[];
  let acknowledge: (message: JsMsg) => void;

  beforeAll(async () => {
    nats = await startNats({ dataDir, port: 0 });
  });
  afterAll(async () => {
    await nats?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  beforeEach(async () => {
    taken = [];
    acknowledge = (message) => message.ack();
    const admin = await connect({ servers: nats.url });
    const manager = await admin.jetstreamManager();
    await manager.streams.delete('EVT').catch(() => false);
    await manager.streams.add({ name: 'EVT', subjects: ['evt.>'], storage: StorageType.Memory });
    await manager.consumers.add('EVT', {
      durable_name: 'ledger',
      filter_subject: 'evt.*.ledger.>',
      ack_policy: AckPolicy.Explicit,
      ack_wait: 500_000_000,
    });
    await admin.close();
    shim = await startBusShim(nats.url, 5);
    sender = await connect({ servers: shim.url, name: 'payouts' });
    receiver = await connect({ servers: shim.url, name: 'ledger' });
    messages = await (await receiver.jetstream().consumers.get('EVT', 'ledger')).consume();
    void (async () => {
      for await (const message of messages) {
        taken.push({ id: message.string(), stored: message.seq, tries: message.info.deliveryCount });
        acknowledge(message);
      }
    })();
  });
  afterEach(async () => {
    await messages.close();
    await Promise.all([sender.close(), receiver.close()]);
    await shim.close();
  });

  /** How long a test waits for an answer that does not come. */
  const LOST_MS = 300;
  const say = (id: string, timeout = 20_000) =>
    sender.jetstream({ timeout }).publish(TO_LEDGER, id, { msgID: id });
  const ids = () => taken.map(({ id }) => id);

  it('passes on what is said, to those who are meant, and what was asked', async () => {
    for (const id of ['a', 'b', 'c']) await say(id);
    await eventually(() => expect(ids()).toEqual(['a', 'b', 'c']));
    receiver.subscribe('rpc.ledger.sum', {
      callback: (_error, message) => void message.respond(`${message.string()}!`),
    });
    await receiver.flush();
    expect((await sender.request('rpc.ledger.sum', 'two')).string()).toBe('two!');
  });

  it('stores an event several times, though it has one name', async () => {
    shim.set({ 'doubled publication': 1 });
    await say('a');
    await say('b');
    const stored = (name: string) =>
      new Set(taken.filter(({ id }) => id === name).map((one) => one.stored)).size;
    for (const name of ['a', 'b']) await eventually(() => expect(stored(name)).toBeGreaterThanOrEqual(2));
    expect(shim.fired('doubled publication')).toBe(2);
  });

  it('hands an event over several times', async () => {
    shim.set({ 'doubled delivery': 1 });
    await say('a');
    await eventually(() => expect(taken.length).toBeGreaterThanOrEqual(2));
    expect(taken.length).toBeLessThanOrEqual(5);
    expect(new Set(taken.map(({ stored }) => stored)).size).toBe(1);
    expect(shim.fired('doubled delivery')).toBe(1);
  });

  it('hands events over in another order', async () => {
    shim.set({ 'reordered delivery': 1 });
    const said = Array.from({ length: 10 }, (_, i) => `event ${i}`);
    for (const id of said) await say(id);
    await eventually(() => expect(new Set(ids())).toEqual(new Set(said)));
    expect([...new Set(ids())]).not.toEqual(said);
    expect(shim.fired('reordered delivery')).toBeGreaterThanOrEqual(10);
  });

  it('loses an event on its way in, or only the word that it is stored', async () => {
    shim.set({ 'lost publication': 1 });
    await expect(say('lost', LOST_MS)).rejects.toThrow();
    shim.set({ 'lost receipt': 1 });
    await expect(say('stored', LOST_MS)).rejects.toThrow();
    await eventually(() => expect(ids()).toEqual(['stored']));
    expect([shim.fired('lost publication'), shim.fired('lost receipt')]).toEqual([1, 1]);
  });

  it('says that an event is stored, and it is not', async () => {
    shim.set({ 'false receipt': 1 });
    expect((await say('lost')).stream).toBe('EVT');
    shim.set({});
    await say('after');
    await eventually(() => expect(ids()).toEqual(['after']));
    expect(shim.fired('false receipt')).toBe(1);
  });

  it('loses an event on its way out, and the acknowledgement: it comes again', async () => {
    shim.set({ 'lost delivery': 1 });
    await say('a');
    await eventually(() => expect(shim.fired('lost delivery')).toBe(1));
    shim.set({ 'lost acknowledgement': 1 });
    await eventually(() => expect(taken.length).toBeGreaterThanOrEqual(2));
    expect(taken.every(({ tries }) => tries > 1)).toBe(true);
    expect(shim.fired('lost acknowledgement')).toBeGreaterThanOrEqual(1);
  });

  it('leaves alone what is asked for again', async () => {
    shim.set({ 'lost acknowledgement': 1 });
    acknowledge = (message) => (message.info.deliveryCount === 1 ? message.nak() : message.ack());
    await say('a');
    await eventually(() => expect(taken.length).toBeGreaterThanOrEqual(2), 10_000);
    expect(taken[1]?.tries).toBe(2);
  });

  it('loses questions and answers, asks twice, and asks when nobody waits any more', async () => {
    const heard: string[] = [];
    receiver.subscribe('rpc.ledger.hold.place', {
      callback: (_error, message) => {
        heard.push(message.string());
        message.respond('placed');
      },
    });
    await receiver.flush();
    const ask = (text: string, timeout = LOST_MS) =>
      sender.request('rpc.ledger.hold.place', text, { timeout });
    shim.set({ 'lost question': 1 });
    await expect(ask('lost')).rejects.toThrow();
    shim.set({ 'lost answer': 1 });
    await expect(ask('unanswered')).rejects.toThrow();
    await eventually(() => expect(heard).toEqual(['unanswered']));
    shim.set({ 'doubled question': 1 });
    await ask('twice', 20_000);
    // Asked twice, it is heard twice, though the first answer is enough.
    await eventually(() => expect(heard).toHaveLength(3));
    shim.set({ 'late question': 1 });
    await expect(ask('late')).rejects.toThrow();
    expect(heard).toEqual(['unanswered', 'twice', 'twice']);
    await eventually(() => expect(heard.at(-1)).toBe('late'), 10_000);
  });

  it('a day later all comes again, for the first time as far as the broker knows', async () => {
    for (const id of ['a', 'b', 'c']) await say(id);
    await eventually(() => expect(taken).toHaveLength(3));
    expect([shim.tomorrow(), shim.cameAgain()]).toEqual([3, 0]);
    await eventually(() => expect(taken).toHaveLength(6));
    expect(shim.cameAgain()).toBe(3);
    expect(ids().slice(3).sort()).toEqual(['a', 'b', 'c']);
    expect(taken.slice(3).every(({ stored, tries }) => stored > 3 && tries === 1)).toBe(true);
  });

  it('forges, as a service on the wire and as the broker to a service', async () => {
    expect(shim.publish('payouts', TO_LEDGER, 'said for payouts')).toBe(true);
    await eventually(() => expect(ids()).toEqual(['said for payouts']));
    expect(shim.deliver('ledger', 'evt.webhooks.ledger.money', 'never stored')).toBe(true);
    await eventually(() => expect(ids()).toContain('never stored'));
    expect(shim.publish('nobody', TO_LEDGER, 'x')).toBe(false);
    expect(shim.deliver('payouts', TO_LEDGER, 'it takes none')).toBe(false);
  });

  it('does the same again for the same seed', async () => {
    const run = async () => {
      const again = await startBusShim(nats.url, 9);
      const one = await connect({ servers: again.url, name: 'payouts' });
      again.set({ 'lost publication': 0.5 });
      const lost: boolean[] = [];
      for (let i = 0; i < 12; i++) {
        const before = again.fired('lost publication');
        one.publish(TO_LEDGER, String(i));
        // Answered by the broker after all that was said before.
        await one.flush();
        lost.push(again.fired('lost publication') > before);
      }
      await one.close();
      await again.close();
      return lost;
    };
    const first = await run();
    expect(new Set(first).size).toBe(2);
    expect(await run()).toEqual(first);
  });
});
