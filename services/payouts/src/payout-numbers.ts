import { hash } from 'node:crypto';
import { type Db, statement } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { type Mix, payoutIdOf } from './domain/payout-id.ts';

const NUMBERS_AT_ONCE = 100;

const takeNumbers = statement(
  'payout_numbers_take',
  `select nextval('payout_numbers')::text as number from generate_series(1, $1)`,
);

const selectKey = statement('payout_number_key', `select key from payout_number_key`);

export type PayoutNumber = { seq: string; id: PayoutId };

/**
 * Hands out payout numbers with the ids that stand for them. Taken a hundred at a time, so that a request
 * need not ask for its own; those that a restart loses are missed by nobody.
 */
export type PayoutNumbers = { next(): Promise<PayoutNumber> };

export function payoutNumbers(db: Db): PayoutNumbers {
  const ready: string[] = [];
  let mix: Mix | undefined;
  let filling: Promise<void> | undefined;

  async function fill(): Promise<void> {
    mix ??= mixWith((await db.one<{ key: Buffer }>(selectKey)).key);
    const rows = await db.rows<{ number: string }>(takeNumbers, [NUMBERS_AT_ONCE]);
    ready.push(...rows.map((row) => row.number));
  }

  return {
    async next() {
      for (;;) {
        const seq = ready.shift();
        if (seq !== undefined && mix !== undefined) {
          return { seq, id: payoutIdOf(BigInt(seq), mix).toString() as PayoutId };
        }
        filling ??= fill().finally(() => {
          filling = undefined;
        });
        await filling;
      }
    },
  };
}

/** 32 bits of SHA-256 over the key, the round and the half, each of a fixed length; HMAC costs ten times as much. */
function mixWith(key: Buffer): Mix {
  const message = Buffer.alloc(key.length + 9);
  key.copy(message);
  return (round, half) => {
    message.writeUInt8(round, key.length);
    message.writeBigUInt64BE(half, key.length + 1);
    return BigInt(hash('sha256', message, 'buffer').readUInt32BE());
  };
}
