import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { unitsOf } from '@quittance/testkit/customer';
import type { ApiAnswer, Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';

/** The amount of each payout, in ETH. */
export const PAYOUT = '0.001';

/** A payout that was asked for, each to an address of its own, and how that was answered. */
export type Asked = { to: string; answer: ApiAnswer };

export const newAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

export async function askFor(shop: Merchant, to: string, key?: string): Promise<Asked> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return {
    to,
    answer: await shop.post('/api/payouts', { asset: 'ETH', amount: PAYOUT, address: to }, headers),
  };
}

export const accepted = (asked: readonly Asked[]): number =>
  asked.filter(({ answer }) => answer.status === 201).length;

/** The chain has paid it once where it was accepted, and nothing where it was refused. */
export async function paidExactly(
  { ethereum }: Pick<Quittance, 'ethereum'>,
  { to, answer }: Asked,
): Promise<void> {
  const amount = answer.status === 201 ? unitsOf('ETH', PAYOUT) : 0n;
  expect([to, await ethereum.balance('ETH', to)]).toEqual([to, amount]);
}

/** Every payout that was made to an address, oldest first. */
export const givenTo = ({ db }: Pick<Quittance, 'db'>, to: string) =>
  db.rows<{ id: string; status: string }>(
    'select id::text, status from payouts.payouts where address = $1 order by created_at',
    [to],
  );
