import { commandSubject, commands, type RequestOf } from '@quittance/shared/commands';
import { connect, type Msg, type NatsConnection } from 'nats';

export type Hold = RequestOf<'hold.place'>;
type Outcome = 'placed' | 'refused' | 'voided';

/**
 * How `hold.place` is answered: with an outcome, late, twice, or not at all. `before` runs before the answer.
 */
export type Reply = {
  outcome?: Outcome;
  because?: 'used_for_recovery' | 'not_asked_for' | 'link_in_use';
  available?: string;
  amount?: string;
  times?: number;
  before?: () => Promise<unknown>;
};

/** Answers commands in place of a service. */
export const answersOf =
  (nats: NatsConnection, service: string) =>
  (command: keyof typeof commands, answer: (message: Msg) => Promise<void>): void => {
    const callback = (error: Error | null, message: Msg) => {
      if (error !== null) throw error;
      void answer(message);
    };
    nats.subscribe(commandSubject(command), { queue: service, callback });
  };

/** A ledger whose answers to `hold.place` a test controls, and which keeps the requests. */
export async function scriptedLedger(url: string) {
  const nats = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  const ledger = {
    asked: [] as Hold[],
    reply: (_hold: Hold): Reply => ({ outcome: 'placed' }),
    /** The answer to `balance.read`; none when undefined. */
    available: undefined as string | undefined,
    /** The answers to `accepted.read`, by invoice: nothing for others. */
    accepted: new Map<string, bigint>(),
    /** Runs before the answer to `balance.read`. */
    beforeAvailable: async (): Promise<unknown> => undefined,
    close: () => nats.close(),
  };
  const answer = async (message: Msg): Promise<void> => {
    const hold = commands['hold.place'].request.parse(message.json());
    ledger.asked.push(hold);
    const { outcome, because, available, amount, times = 1, before } = ledger.reply(hold);
    await before?.();
    if (outcome === undefined) return;
    for (let i = 0; i < times; i++) message.respond(JSON.stringify({ outcome, because, available, amount }));
  };
  const answerBalance = async (message: Msg): Promise<void> => {
    await ledger.beforeAvailable();
    const { available } = ledger;
    if (available !== undefined) message.respond(JSON.stringify({ available }));
  };
  const on = answersOf(nats, 'ledger');
  on('hold.place', answer);
  on('balance.read', answerBalance);
  on('accepted.read', async (message) => {
    const { invoice_id } = commands['accepted.read'].request.parse(message.json());
    message.respond(JSON.stringify({ amount: String(ledger.accepted.get(invoice_id) ?? 0n) }));
  });
  await nats.flush();
  return ledger;
}
