import type { Asked, Bus } from '@quittance/shared/bus';
import { commandSubject, commands } from '@quittance/shared/commands';
import { type EventKind, events, type Service, subjectOf } from '@quittance/shared/events';
import type { Message } from '@quittance/shared/process-messages';
import type { Chance } from './chance.ts';
import type { FaultInjector } from './faults.ts';
import type { Process } from './process.ts';
import type { Owner, Scheduler } from './scheduler.ts';

const ACK_WAIT_MS = 5_000;
const DAY_MS = 86_400_000;
const BATCH_MAX = 6;

type Stored = { subject: string; body: string; to: Service; deliveries: number; availableAt: number };

/** The parts of the world that the broker uses. */
type BusEnvironment = {
  readonly scheduler: Scheduler;
  readonly faults: FaultInjector;
  readonly chance: Chance;
  readonly outside: Owner;
  readonly processes: readonly Process[];
  tell(owner: Owner, what: string): void;
  step(process: Process, what?: string): Promise<void>;
  spawn(process: Process, name: string, work: () => Promise<unknown>): void;
  relayLater(service: Service): void;
};

/** A broker without memory of what it was told: it hands out in any order, and whatever faults are injected. */
export class SimBus {
  readonly #environment: BusEnvironment;
  readonly #stored = new Set<Stored>();

  constructor(environment: BusEnvironment) {
    this.#environment = environment;
  }

  /** Whether something can be handed out to a service now. */
  hasFor(service: Service): boolean {
    const { now } = this.#environment.scheduler;
    for (const one of this.#stored) if (one.to === service && one.availableAt <= now) return true;
    return false;
  }

  /** The next day has come: what was late until then is handed out. */
  nextDay(): boolean {
    let any = false;
    for (const one of this.#stored) {
      if (one.availableAt <= this.#environment.scheduler.now) continue;
      one.availableAt = 0;
      any = true;
    }
    return any;
  }

  /** How many messages somebody has not acknowledged. */
  get waiting(): number {
    return this.#stored.size;
  }

  /** The broker's data directory is gone, when that fault is injected while something is in it. */
  #maybeLoseAll(): void {
    if (this.#stored.size === 0 || !this.#environment.faults.strikes('broker emptied')) return;
    this.#environment.tell(
      this.#environment.outside,
      `the broker has lost all ${this.#stored.size} messages`,
    );
    this.#stored.clear();
  }

  /** Some of what can be handed out, in any order. */
  take(process: Process): Message[] {
    const { scheduler, chance } = this.#environment;
    this.#maybeLoseAll();
    const able = [...this.#stored].filter(
      (one) => one.to === process.service && one.availableAt <= scheduler.now,
    );
    const batch: Message[] = [];
    const size = chance.between(1, BATCH_MAX);
    while (able.length > 0 && batch.length < size) {
      const [one] = able.splice(chance.below(able.length), 1);
      if (one !== undefined) batch.push(this.#hand(process, one));
    }
    return batch;
  }

  #hand(process: Process, one: Stored): Message {
    const { scheduler, faults } = this.#environment;
    one.deliveries += 1;
    one.availableAt = scheduler.now + ACK_WAIT_MS;
    const end = () => {
      if (process.isAlive && !faults.strikes('acknowledgement lost')) this.#stored.delete(one);
    };
    return {
      subject: one.subject,
      data: Buffer.from(one.body),
      info: { deliveryCount: one.deliveries },
      json: <T>() => JSON.parse(one.body) as T,
      ack: end,
      term: end,
      nak: (afterMs = 0) => {
        one.availableAt = scheduler.now + afterMs;
      },
    };
  }

  #store(kind: EventKind, body: string): void {
    const { scheduler, faults } = this.#environment;
    for (const to of events[kind].to) {
      if (faults.strikes('message lost')) continue;
      const copies = faults.strikes('message doubled') ? 2 : 1;
      for (let i = 0; i < copies; i++) {
        const availableAt = scheduler.now + (faults.strikes('message a day late') ? DAY_MS : 0);
        this.#stored.add({ subject: subjectOf(kind, to), body, to, deliveries: 0, availableAt });
      }
    }
  }

  /** NATS as one process is connected to it. */
  of(process: Process): Bus {
    const environment = this.#environment;
    const { faults } = environment;
    const bus: Bus = {
      publish: async (messages) => {
        await environment.step(process, `publish ${messages.map(({ kind }) => kind).join(' ')}`);
        if (faults.strikes('bus away')) {
          environment.relayLater(process.service);
          return messages.map(() => false);
        }
        for (const { kind, body } of messages) this.#store(kind, body);
        this.#maybeLoseAll();
        const isHeard = !faults.strikes('answer of the broker lost');
        if (!isHeard) environment.relayLater(process.service);
        await environment.step(process);
        return messages.map(() => isHeard);
      },
      ask: (command, request) =>
        bus.request(
          commandSubject(command),
          request,
          commands[command].reply,
          commands[command].timeoutMs,
        ) as Promise<Asked<never>>,
      request: async (subject, request, reply, timeoutMs) => {
        await environment.step(process, `ask ${subject}`);
        const answer = await this.#ask(process, subject, request, timeoutMs);
        await environment.step(process);
        return answer === undefined
          ? { known: false, reason: 'TIMEOUT' }
          : { known: true, reply: reply.parse(answer) };
      },
      answer: (subject, handle) => void process.answers.set(subject, handle),
      consume: () => Promise.reject(new Error('batches are handed to processes here')),
      kv: () => Promise.reject(new Error('no buckets here')),
      connected: () => true,
      hasRoomFor: () => true,
      close: async () => {},
    };
    return bus;
  }

  /** Undefined when no answer is heard in time. */
  async #ask(asker: Process, subject: string, request: unknown, timeoutMs: number): Promise<unknown> {
    const { scheduler, faults, chance } = this.#environment;
    const able = this.#environment.processes.filter((one) => one.isAlive && one.answers.has(subject));
    const target = able.length === 0 ? undefined : chance.oneOf(able);
    const handle = target?.answers.get(subject);
    const isLost = faults.strikes('question lost');
    if (target === undefined || handle === undefined || isLost) {
      await scheduler.sleep(asker, timeoutMs);
      return undefined;
    }
    const body: unknown = JSON.parse(JSON.stringify(request));
    const lateMs = faults.strikes('question late') ? timeoutMs + chance.below(20_000) : 0;
    const isHeard = !faults.strikes('answer lost');
    const { slept, wake } = scheduler.nap(asker, timeoutMs);
    let answer: unknown;
    this.#environment.spawn(target, `answer ${subject}`, async () => {
      if (lateMs > 0) await scheduler.sleep(target, lateMs);
      const replied = await handle(body);
      if (!isHeard) return;
      answer = JSON.parse(JSON.stringify(replied));
      wake();
    });
    await slept;
    return answer;
  }
}
